"""The garage door. It can hurt, so a person is asked first and nobody outside may call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from agent.errors import ArgumentError
from agent.schema import Name, Range
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tools import risky
from tools.covers import GARAGE_DOORS, to_position
from tools.device import Kind, State
from tools.devices import Devices
from tools.names.resolve import Found, PlaceError
from tools.results import cannot, say_moved
from tools.speech import listed, sentence, the
from tools.targets import of_devices

PLACES = dict.fromkeys(("open_garage_door", "close_garage_door", "set_garage_door_position"), ("door", GARAGE_DOORS))
"""For each function of one place: its parameter, and what it looks for."""


class GarageDoor:
    """The functions that move the garage door."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools: tuple[AgentTool, ...] = (
            ConfirmationTool(self.open_garage_door, lambda given: self._question(given, 100)),
            ConfirmationTool(self.close_garage_door, lambda given: self._question(given, 0)),
            ConfirmationTool(self.set_garage_door_position, lambda given: self._question(given, given["position"])),
        )

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str] | None:
        """As `agent.house.House.targets`; None for what is not of this file. No door named is the only one."""
        return of_devices(self._devices, arguments.get("door"), GARAGE_DOORS) if name in PLACES else None

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def open_garage_door(self, door: Name | None = None) -> dict[str, Any]:
        """Opens the garage door.

        Args:
            door: Which one, where there are several.
        """
        return await self._move(door, 100)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def close_garage_door(self, door: Name | None = None) -> dict[str, Any]:
        """Closes the garage door.

        Args:
            door: Which one, where there are several.
        """
        return await self._move(door, 0)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def set_garage_door_position(
        self, position: Annotated[int, Range(0, 100)], door: Name | None = None
    ) -> dict[str, Any]:
        """Moves the garage door to a position.

        Args:
            position: How far open, in percent; 0 is closed.
            door: Which one, where there are several.
        """
        return await self._move(door, position)

    async def _move(self, door: str | None, position: int) -> dict[str, Any]:
        place = self._find(door, position)
        return await risky.move(self._devices, place, to_position(position), lambda state: _is_at(state, position))

    def _question(self, given: dict[str, Any], position: int) -> str | None:
        place = self._find(given.get("door"), position)
        wish = {0: "close {}", 100: "open {}"}.get(position, f"move {{}} to {position} percent")
        return risky.question(self._devices, place, wish, lambda state: _is_at(state, position))

    def _find(self, door: str | None, position: int) -> Found:
        names = [each.name for each in self._devices.home.devices if each.kind is Kind.GARAGE_DOOR]
        if door is None and len(names) > 1:
            which = listed([the(name) for name in names], most=4, last="or")
            raise PlaceError(f"there is more than one garage door: say which, {which}", names[:4])
        place = self._devices.find_or_only(door, GARAGE_DOORS)
        plain = [each for each in place.devices if "position" not in each.can]
        if plain and 0 < position < 100:
            raise ArgumentError(sentence(cannot(plain, "be opened part of the way")))
        return place


def _is_at(state: State, position: int) -> bool:
    """Whether the door rests there. One that does not tell its position may be open only part of the way."""
    if state.position is None:
        return position == 0 and state.open is False and not state.moving
    return state.position == position and not state.moving
