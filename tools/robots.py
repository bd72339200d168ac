"""Robots that clean the floor and mow the lawn."""

from __future__ import annotations

from typing import Any

from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import Kind
from tools.resolve import Wish
from tools.results import say_moved

_VACUUMS = Wish(frozenset({Kind.VACUUM}), frozenset({Kind.VACUUM}))
_MOWERS = Wish(frozenset({Kind.MOWER}), frozenset({Kind.MOWER}))

PLACES = {
    **dict.fromkeys(("start_vacuum", "stop_vacuum", "dock_vacuum"), ("vacuum", _VACUUMS)),
    **dict.fromkeys(("start_mower", "stop_mower", "dock_mower"), ("mower", _MOWERS)),
}
"""For each function of one place: its parameter, and what it looks for."""


class Robots:
    """The functions of vacuum cleaners and mowers."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.start_vacuum),
            AgentTool(self.stop_vacuum),
            AgentTool(self.dock_vacuum),
            AgentTool(self.start_mower),
            AgentTool(self.stop_mower),
            AgentTool(self.dock_mower),
        )

    @tool(say=say_moved)
    async def start_vacuum(self, area: Name | None = None, vacuum: Name | None = None) -> dict[str, Any]:
        """Lets the vacuum robot clean the floor, everywhere or in a room.

        Args:
            area: The room to be cleaned; absent is everywhere.
            vacuum: Which robot.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def stop_vacuum(self, vacuum: Name | None = None) -> dict[str, Any]:
        """Stops or pauses the vacuum robot where it is.

        Args:
            vacuum: Which robot.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def dock_vacuum(self, vacuum: Name | None = None) -> dict[str, Any]:
        """Sends the vacuum robot back to its dock.

        Args:
            vacuum: Which robot.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def start_mower(self, area: Name | None = None, mower: Name | None = None) -> dict[str, Any]:
        """Lets the mower robot mow the lawn.

        Args:
            area: The part of the lawn; absent is everywhere.
            mower: Which robot.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def stop_mower(self, mower: Name | None = None) -> dict[str, Any]:
        """Stops or pauses the mower robot where it is.

        Args:
            mower: Which robot.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def dock_mower(self, mower: Name | None = None) -> dict[str, Any]:
        """Sends the mower robot back to its dock.

        Args:
            mower: Which robot.
        """
        raise NotImplementedError
