"""Blinds, curtains, shutters, awnings, and windows with a motor.

A room stands for all of these that are in it and can be moved. Garage doors are none of them: they are asked
about first, in `tools.garage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.device import COVERS, Change, Device, Kind
from tools.devices import Devices
from tools.names.resolve import Found, PlaceError, Wish
from tools.results import cannot, moved, part, say_moved, verb
from tools.speech import listed, sentence, the

_COVERS = Wish(COVERS | {Kind.WINDOW, Kind.DOOR}, COVERS | {Kind.WINDOW, Kind.DOOR})
GARAGE_DOORS = Wish(frozenset({Kind.GARAGE_DOOR}), frozenset({Kind.GARAGE_DOOR}))

PLACES = dict.fromkeys(("open_cover", "close_cover", "stop_cover", "set_cover_position"), ("cover", _COVERS))
"""For each function of one place: its parameter, and what it looks for."""


class Covers:
    """The functions that move covers."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.open_cover),
            AgentTool(self.close_cover),
            AgentTool(self.stop_cover),
            AgentTool(self.set_cover_position),
        )

    @tool(say=say_moved)
    async def open_cover(self, cover: Place) -> dict[str, Any]:
        """Opens or raises blinds, curtains, shutters or windows.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        return await self._move(cover, Change(open=True))

    @tool(say=say_moved)
    async def close_cover(self, cover: Place) -> dict[str, Any]:
        """Closes or lowers blinds, curtains, shutters or windows.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        return await self._move(cover, Change(open=False))

    @tool(say=say_moved)
    async def stop_cover(self, cover: Place) -> dict[str, Any]:
        """Stops blinds, curtains or shutters that are moving.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        return await self._move(cover, Change(stop=True))

    @tool(say=say_moved)
    async def set_cover_position(self, cover: Place, position: Annotated[int, Range(0, 100)]) -> dict[str, Any]:
        """Moves blinds, curtains or shutters to a position.

        Args:
            cover: The blind, curtain or shutter, or its room.
            position: How far open, in percent; 0 is closed.
        """
        return await self._move(cover, to_position(position))

    async def _move(self, words: str, change: Change) -> dict[str, Any]:
        place = self._find(words)
        covers = [device for device in place.devices if device.moves]
        still = _no_motor([device for device in place.devices if not device.moves])
        if not covers:
            return {"error": sentence(still)}
        # Who opens the kitchen means what can be opened; who names a window that cannot is to hear it.
        notes = [] if place.where else [still]
        if change.position is not None:
            plain = [device for device in covers if "position" not in device.can]
            notes.append(cannot(plain, "be opened part of the way"))
            covers = [device for device in covers if device not in plain]
            if not covers:
                return {"error": sentence(*notes)}
        outcomes = await self._devices.move(covers, lambda device, state: change)
        return moved(part(place, covers), outcomes, "; ".join(filter(None, notes)))

    def _find(self, words: str) -> Found:
        try:
            return self._devices.find(words, _COVERS)
        except PlaceError:
            try:
                door = self._devices.find(words, GARAGE_DOORS)
            except PlaceError:
                door = None
            if door is None:
                raise
            is_no = f"{verb([device.name for device in door.devices])} no blind or curtain"
            raise PlaceError(sentence(f"{door.label} {is_no}")) from None


def to_position(percent: int) -> Change:
    """The change that opens so far; its ends are "open" and "closed", which need no position."""
    return Change(position=percent) if 0 < percent < 100 else Change(open=percent == 100)


def _no_motor(devices: Sequence[Device]) -> str:
    names = [device.name for device in devices]
    return f"{listed([the(name) for name in names], most=4)} {verb(names, 'has', 'have')} no motor" if names else ""
