"""The garage door. It can hurt, so a person is asked first and nobody outside may call it."""

from __future__ import annotations

from typing import Any

from agent.tool import AccessLevel, tool
from tools.devices import Devices
from tools.drivers import Change, Kind
from tools.resolve import Found
from tools.results import moved, say_moved
from tools.speech import the


class GarageDoor:
    """The functions that move the garage door."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._doors = [device for device in devices.home.devices if device.kind is Kind.GARAGE_DOOR]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the doors that would move."""
        return frozenset(door.id for door in self._doors)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def open_garage_door(self) -> dict[str, Any]:
        """Opens the garage door."""
        return await self._move(open=True)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def close_garage_door(self) -> dict[str, Any]:
        """Closes the garage door."""
        return await self._move(open=False)

    async def _move(self, open: bool) -> dict[str, Any]:
        if not self._doors:
            return {"error": "There is no garage door in this home."}
        if len(self._doors) > 1:
            return {"error": "There is more than one garage door, and it was not said which."}
        [door] = self._doors
        outcomes = await self._devices.move([door], lambda device, state: Change(open=open))
        return moved(Found((door,), the(door.name)), outcomes)
