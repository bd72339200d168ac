"""A person at a terminal: one question and its answer, or a conversation line by line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from contextlib import aclosing
from typing import TextIO

from agent.channels.local import Appliance
from agent.command import Command
from agent.errors import AgentError
from agent.events import ConfirmationRequest, FunctionCall, TextMessage

YES = frozenset({"y", "yes"})
NO = frozenset({"n", "no"})


class Lines:
    """Lines of a file descriptor, read by a thread of their own so that waiting for one can be given up.

    A blocked `sys.stdin.readline()` can neither be cancelled nor left behind at exit; `os.read` can.
    """

    def __init__(self, descriptor: int = 0) -> None:
        self.is_terminal = os.isatty(descriptor)
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._kept: list[str] = []
        self._reading = False

    async def next(self) -> str | None:
        """The next line without its end; None at the end of input."""
        if self._kept:
            return self._kept.pop()
        if not self._reading:
            self._reading = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def put_back(self, line: str) -> None:
        """Makes this the next line again."""
        self._kept.append(line)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            while block := self._block():
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    loop.call_soon_threadsafe(self._lines.put_nowait, _decoded(line))
            if rest:
                loop.call_soon_threadsafe(self._lines.put_nowait, _decoded(rest))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _block(self) -> bytes:
        try:
            return os.read(self._descriptor, 4096)
        except OSError:
            return b""


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


async def ask(
    appliance: Appliance, command: Command, lines: Lines, *, as_json: bool = False, out: TextIO | None = None
) -> None:
    """Runs one command: its answer, or each event as JSON, goes to `out`; questions go to standard error.

    Raises:
        AgentError: It ended without an answer.
    """
    out = out or sys.stdout
    question: asyncio.Task[None] | None = None
    try:
        async with aclosing(appliance.handle(command)) as events:
            async for event in events:
                if question:
                    question.cancel()
                    question = None
                if as_json:
                    print(json.dumps(event.to_json(), ensure_ascii=False), file=out, flush=True)
                elif isinstance(event, TextMessage) and not event.is_partial:
                    print(printable(event.text), file=out, flush=True)
                if isinstance(event, ConfirmationRequest):
                    question = asyncio.create_task(_answer(appliance, event, lines))
    finally:
        if question:
            question.cancel()


async def _answer(appliance: Appliance, request: ConfirmationRequest, lines: Lines) -> None:
    print(f"{printable(request.question)} [y/N] ", end="", file=sys.stderr, flush=True)
    line = await lines.next()
    said = (line or "").strip().lower()
    if line and said and said not in YES | NO:
        lines.put_back(line)  # Whoever goes on with something else has not agreed, and is still heard.
    with contextlib.suppress(AgentError):  # Where the service went away, the command itself says so.
        if not await appliance.confirm(request.id, said in YES):
            print("The question is no longer open.", file=sys.stderr)


def printable(text: str) -> str:
    """Without what a terminal would obey: words may be from a weather file, or from anybody over MQTT."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


class NoLines(Lines):
    """Nobody to ask: every question is answered no."""

    async def next(self) -> str | None:
        return None


def one_shot_lines() -> Lines:
    """Standard input for a single question: a script's input is not ours to read."""
    lines = Lines()
    return lines if lines.is_terminal else NoLines()


async def chat(appliance: Appliance, lines: Lines, *, session: str, room: str | None = None) -> None:
    """A conversation: a line is a command, until the end of input; what is due meanwhile is told."""
    listening = asyncio.create_task(_print_announcements(appliance, lines.is_terminal))
    try:
        await _converse(appliance, lines, session, room)
    finally:
        listening.cancel()


async def _print_announcements(appliance: Appliance, at_terminal: bool) -> None:
    before, after = ("\n", "> ") if at_terminal else ("", "")  # the line of the prompt has begun already
    with contextlib.suppress(AgentError):  # Where the service went away, the next command says so.
        async for announcement in appliance.announcements():
            print(f"{before}{printable(announcement.text)}\n{after}", end="", flush=True)


async def _converse(appliance: Appliance, lines: Lines, session: str, room: str | None) -> None:
    while True:
        if lines.is_terminal:
            print("> ", end="", flush=True)
        line = await lines.next()
        if line is None:
            break
        if not line.strip():
            continue
        try:
            await ask(appliance, Command(line, "cli", session=session, room=room), lines)
        except AgentError as error:
            print(error_line(error), file=sys.stderr)


def call_line(event: FunctionCall) -> str:
    """A call as a person reads it: `turn_on_light(room="kitchen", brightness=80)`."""
    arguments = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in event.arguments.items())
    return f"{event.name}({', '.join(arguments)})"


def error_line(error: AgentError) -> str:
    """An error by name, as all commands print it."""
    return f"{error.code.name}: {error.message}"
