"""Blinds, curtains, shutters, awnings, and windows with a motor.

A room stands for all covers that are in it. A window is moved only where it is named, or its kind is said: who
closes the bedroom means its blinds. A door is never moved here: what lets somebody in is asked about. Garage doors
are only stopped, which is safe; to move they are asked about first, in `tools.garage`.
"""

from __future__ import annotations

from typing import Annotated, Any

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.device import COVERS, Change, Kind
from tools.devices import Devices
from tools.names.places import by_names
from tools.names.resolve import Found, Wish
from tools.results import cannot, moved, say_moved
from tools.speech import sentence

_COVERS = Wish(COVERS, COVERS | {Kind.WINDOW})
_MOVING = Wish(COVERS, COVERS | {Kind.WINDOW, Kind.GARAGE_DOOR})
GARAGE_DOORS = Wish(frozenset({Kind.GARAGE_DOOR}), frozenset({Kind.GARAGE_DOOR}))

PLACES = {
    **dict.fromkeys(("open_cover", "close_cover", "set_cover_position"), ("cover", _COVERS)),
    "stop_cover": ("cover", _MOVING),
}
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
        return await self._move(self._devices.find(cover, _COVERS), Change(open=True))

    @tool(say=say_moved)
    async def close_cover(self, cover: Place) -> dict[str, Any]:
        """Closes or lowers blinds, curtains, shutters or windows.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        return await self._move(self._devices.find(cover, _COVERS), Change(open=False))

    @tool(say=say_moved)
    async def stop_cover(self, cover: Place) -> dict[str, Any]:
        """Stops blinds, curtains or shutters that are moving.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        return await self._move(self._devices.find(cover, _MOVING), Change(stop=True))

    @tool(say=say_moved)
    async def set_cover_position(self, cover: Place, position: Annotated[int, Range(0, 100)]) -> dict[str, Any]:
        """Moves blinds, curtains or shutters to a position.

        Args:
            cover: The blind, curtain or shutter, or its room.
            position: How far open, in percent; 0 is closed.
        """
        return await self._move(self._devices.find(cover, _COVERS), to_position(position))

    async def _move(self, place: Found, change: Change) -> dict[str, Any]:
        covers = [device for device in place.devices if device.moves]
        still = [device for device in place.devices if not device.moves]
        notes = [by_names(still).clause("no motor", "has", "have")] if still else []
        if not covers:
            return {"error": sentence(*notes)}
        if change.position is not None:
            plain = [device for device in covers if "position" not in device.can]
            notes.append(cannot(plain, "be opened part of the way"))
            covers = [device for device in covers if device not in plain]
            if not covers:
                return {"error": sentence(*notes)}
        outcomes = await self._devices.move(covers, lambda device, state: change)
        return moved(place, outcomes, "; ".join(filter(None, notes)))


def to_position(percent: int) -> Change:
    """The change that opens so far; its ends are "open" and "closed", which need no position."""
    return Change(position=percent) if 0 < percent < 100 else Change(open=percent == 100)
