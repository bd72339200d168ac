"""The garage door. It can hurt, so a person is asked first and nobody outside may call it."""

from __future__ import annotations

from typing import Annotated, Any

from agent.schema import Name, Range
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tools.devices import Devices
from tools.drivers import Change, Kind
from tools.resolve import Found
from tools.results import moved, say_moved
from tools.speech import the


class GarageDoor:
    """The functions that move the garage door."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools: tuple[AgentTool, ...] = (
            ConfirmationTool(self.open_garage_door, "Shall I open the garage door?"),
            ConfirmationTool(self.close_garage_door, "Shall I close the garage door?"),
            ConfirmationTool(self.set_garage_door_position),
        )
        self._doors = [device for device in devices.home.devices if device.kind is Kind.GARAGE_DOOR]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the doors that would move."""
        return frozenset(door.id for door in self._doors)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def open_garage_door(self, door: Name | None = None) -> dict[str, Any]:
        """Opens the garage door.

        Args:
            door: Which one, where there are several.
        """
        return await self._move(open=True)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def close_garage_door(self, door: Name | None = None) -> dict[str, Any]:
        """Closes the garage door.

        Args:
            door: Which one, where there are several.
        """
        return await self._move(open=False)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def set_garage_door_position(
        self, position: Annotated[int, Range(0, 100)], door: Name | None = None
    ) -> dict[str, Any]:
        """Moves the garage door to a position.

        Args:
            position: How far open, in percent; 0 is closed.
            door: Which one, where there are several.
        """
        raise NotImplementedError

    async def _move(self, open: bool) -> dict[str, Any]:
        if not self._doors:
            return {"error": "There is no garage door in this home."}
        if len(self._doors) > 1:
            return {"error": "There is more than one garage door, and it was not said which."}
        [door] = self._doors
        outcomes = await self._devices.move([door], lambda device, state: Change(open=open))
        return moved(Found((door,), the(door.name)), outcomes)
