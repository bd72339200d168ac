"""Locks. They let people in or out, so a person is asked first and nobody outside may call them."""

from __future__ import annotations

from typing import Any

from agent.schema import Name
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tools.devices import Devices
from tools.drivers import LOCKS
from tools.resolve import Wish
from tools.results import say_moved

_LOCKS = Wish(LOCKS, LOCKS)

PLACES = {"lock_door": ("door", _LOCKS), "unlock_door": ("door", _LOCKS)}
"""For each function of one place: its parameter, and what it looks for."""


class Locks:
    """The functions that move locks."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools: tuple[AgentTool, ...] = (ConfirmationTool(self.lock_door), ConfirmationTool(self.unlock_door))

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def lock_door(self, door: Name) -> dict[str, Any]:
        """Locks a door.

        Args:
            door: The door or lock.
        """
        raise NotImplementedError

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def unlock_door(self, door: Name) -> dict[str, Any]:
        """Unlocks a door.

        Args:
            door: The door or lock.
        """
        raise NotImplementedError
