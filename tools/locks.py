"""Locks. They let people in or out, so a person is asked first and nobody outside may call them."""

from __future__ import annotations

from typing import Any

from agent.schema import Name
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tools import risky
from tools.device import LOCKS, Change, State
from tools.devices import Devices
from tools.names.resolve import Wish
from tools.results import say_moved

_LOCKS = Wish(LOCKS, LOCKS)

PLACES = {"lock_door": ("door", _LOCKS), "unlock_door": ("door", _LOCKS)}
"""For each function of one place: its parameter, and what it looks for."""


class Locks:
    """The functions that move locks."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools: tuple[AgentTool, ...] = (
            ConfirmationTool(self.lock_door, lambda given: self._question(given["door"], True)),
            ConfirmationTool(self.unlock_door, lambda given: self._question(given["door"], False)),
        )

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def lock_door(self, door: Name) -> dict[str, Any]:
        """Locks a door.

        Args:
            door: The door or lock.
        """
        return await self._move(door, True)

    @tool(access=AccessLevel.SELF, say=say_moved)
    async def unlock_door(self, door: Name) -> dict[str, Any]:
        """Unlocks a door.

        Args:
            door: The door or lock.
        """
        return await self._move(door, False)

    async def _move(self, door: str, locked: bool) -> dict[str, Any]:
        place = self._devices.find(door, _LOCKS)
        return await risky.move(self._devices, place, Change(locked=locked), lambda state: _is(state, locked))

    def _question(self, door: str, locked: bool) -> str | None:
        place = self._devices.find(door, _LOCKS)
        wish = "lock {}" if locked else "unlock {}"
        return risky.question(self._devices, place, wish, lambda state: _is(state, locked))


def _is(state: State, locked: bool) -> bool:
    return state.locked is locked and not state.moving
