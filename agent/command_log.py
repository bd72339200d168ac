"""One record in the log for each command: where it came from, what was called, how long it took, how it ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any, Final

from agent import journal
from agent.command import Command
from agent.errors import AgentError
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage

log = logging.getLogger(__name__)

Drivers = Callable[[str, Mapping[str, Any]], Iterable[str]]
"""The names of what moves the devices that a call is about."""

CANCELLED: Final = "CANCELLED"
"""In the place of an error's name: who asked went away, or the service stopped."""


async def logged(
    command: Command, events: AsyncGenerator[AgentEvent, None], drivers: Drivers
) -> AsyncGenerator[AgentEvent, None]:
    """The events of a command as they come, and its record at their end, whatever ends them."""
    record = _Record(command, drivers)
    error = ""
    try:
        async with aclosing(events):
            async for event in events:
                record.follow(event)
                yield event
    except AgentError as failure:
        error = failure.code.name
        raise
    except (GeneratorExit, asyncio.CancelledError):
        error = CANCELLED
        raise
    except BaseException as failure:
        error = type(failure).__name__
        raise
    finally:
        record.write(error)


class _Record:
    def __init__(self, command: Command, drivers: Drivers) -> None:
        self._command = command
        self._drivers_of = drivers
        self._tools: list[str] = []
        self._drivers: dict[str, None] = {}
        self._failed: dict[str, None] = {}
        self._answer = ""

    def follow(self, event: AgentEvent) -> None:
        if isinstance(event, FunctionCall):
            self._tools.append(event.name)
            try:
                self._drivers |= dict.fromkeys(self._drivers_of(event.name, event.arguments))
            except Exception:  # the house's; a command does not fail for its record
                log.exception("the drivers of %s are not known", event.name)
        elif isinstance(event, FunctionResponse) and "error" in event.response:
            self._failed[event.name] = None
        elif isinstance(event, TextMessage) and not event.is_partial:
            self._answer = event.text

    def write(self, error: str) -> None:
        command = self._command
        milliseconds = round((time.monotonic() - command.received) * 1e3)
        fields = {
            journal.COMMAND: command.id,
            journal.CHANNEL: command.channel,
            journal.SESSION: command.session,
            journal.TOOL: " ".join(self._tools),
            journal.DRIVER: " ".join(self._drivers),
            journal.FAILED: " ".join(self._failed),
            journal.MILLISECONDS: milliseconds,
            journal.ERROR: error,
            journal.WORDS: command.text,
            journal.ANSWER: self._answer,
        }
        what = ", ".join(self._tools) or "nothing called"
        by = f" by {', '.join(self._drivers)}" if self._drivers else ""
        failed = f", {', '.join(self._failed)} failed" if self._failed else ""
        log.info(
            "command %r from %s: %s%s%s, %s in %d ms",
            command.id,
            command.channel,
            what,
            by,
            failed,
            error or "answered",
            milliseconds,
            extra={
                "MESSAGE_ID": journal.COMMAND_RECORD,
                **{name: value for name, value in fields.items() if value not in (None, "")},
            },
        )
