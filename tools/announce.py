"""Announcements to the people in the house."""

from __future__ import annotations

from typing import Any

from agent.due import DueItems
from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.devices import Devices


class Announcements:
    """The function that tells something to the people in the house."""

    def __init__(self, devices: Devices, due: DueItems) -> None:
        self._devices = devices
        self._due = due
        self.tools = (AgentTool(self.announce),)

    @tool
    async def announce(self, message: str, room: Name | None = None) -> dict[str, Any]:
        """Announces a message to the people in the house.

        Args:
            message: What is told, such as dinner is ready.
            room: Where; absent is everywhere.
        """
        raise NotImplementedError
