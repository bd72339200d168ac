"""What Hearth is doing, in one word, for a house with a LED to show it."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from agent.errors import AgentError
from agent.events import AgentEvent, FunctionResponse

_log = logging.getLogger(__name__)


class Activity:
    """Who listens goes before who thinks; when all that is over, it shows how the last turn went."""

    def __init__(self, show: Callable[[str], Awaitable[None]]) -> None:
        """Nothing to show yet.

        Args:
            show: Is given "listening", "thinking", "failed" or "", whenever that changes.
        """
        self._show = show
        self._listeners: set[str] = set()
        self._turns = 0
        self._failed = False
        self._shown = ""

    async def listen(self, who: str, listening: bool) -> None:
        """A button to talk, or a microphone, begins to listen or ends it."""
        (self._listeners.add if listening else self._listeners.discard)(who)
        await self._update()

    async def follow(self, events: AsyncGenerator[AgentEvent, None]) -> AsyncGenerator[AgentEvent, None]:
        """Hands on the events of a turn. It failed if its last call did, or where it ends in an `AgentError`."""
        failed = False
        self._turns += 1
        await self._update()
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, FunctionResponse):
                        failed = "error" in event.response
                    yield event
        except AgentError:
            failed = True
            raise
        finally:
            self._turns -= 1
            self._failed = failed
            await self._update()

    async def _update(self) -> None:
        status = "listening" if self._listeners else "thinking" if self._turns else "failed" if self._failed else ""
        if status == self._shown:
            return
        self._shown = status
        try:
            await self._show(status)
        except Exception:  # a LED is no reason to fail a command
            _log.exception("the house could not show %r", status)
