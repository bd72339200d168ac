"""One sentence that several rooms heard is one command.

Two satellites that stand within earshot of a person both send what was said, each with its own id, session and
room. The first to arrive is carried out; the others are told where.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from agent.command import Command
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent, FunctionResponse, TextMessage
from agent.tool import CANCELLED_BY_USER

WINDOW_S: Final = 1.0
"""The same words from another room so soon are the same sentence, in seconds of the monotonic clock."""

REMEMBERED: Final = 64
"""How many sentences are known at once; one is forgotten when another comes more than `WINDOW_S` later."""

Run = Callable[[Command], AsyncGenerator[AgentEvent, None]]


class Overheard:
    """Runs commands, and those that several rooms heard only once.

    The same words again from the same room, or without a room, are another command: "brighter", "brighter".
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._sentences: deque[_Sentence] = deque(maxlen=REMEMBERED)

    async def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        """The events of a command; of one that another room heard first, only the answer.

        Raises:
            AgentError: It ended without an answer, or the one that came first did.
        """
        sentence = _Sentence(command)
        while self._sentences and not self._sentences[0].is_near(sentence):
            self._sentences.popleft()
        first = next((each for each in self._sentences if each.takes_in(sentence)), None)
        if first is not None:
            yield TextMessage(await first.outcome())
            return
        if command.room:
            self._sentences.append(sentence)
        try:
            async with aclosing(self._run(command)) as events:
                async for event in events:
                    sentence.follow(event)
                    yield event
        except AgentError as error:
            sentence.error = error
            raise
        finally:
            sentence.over.set()


class _Sentence:
    """What was said, and what became of it in the room that heard it first.

    Attributes:
        error: What ended its turn without an answer.
        over: Set when its turn has ended.
    """

    def __init__(self, command: Command) -> None:
        self.error: AgentError | None = None
        self.over = asyncio.Event()
        self._command = command
        self._words = _folded(command.text)
        self._room = _folded(command.room or "")
        self._rooms = {self._room}
        self._done = False
        self._answer: str | None = None

    def is_near(self, other: _Sentence) -> bool:
        """Whether it came so soon before or after another that they can be one."""
        return abs(self._command.received - other._command.received) <= WINDOW_S

    def takes_in(self, later: _Sentence) -> bool:
        """Whether another is this one, from a room that has not told of it yet."""
        if not later._room or later._room in self._rooms or later._words != self._words or not self.is_near(later):
            return False
        self._rooms.add(later._room)
        return True

    def follow(self, event: AgentEvent) -> None:
        """Notes what its turn comes to."""
        if isinstance(event, FunctionResponse):
            failed = "error" in event.response or event.response.get("status") == CANCELLED_BY_USER
            self._done = self._done or not failed
        elif isinstance(event, TextMessage) and not event.is_partial:
            self._answer = event.text

    async def outcome(self) -> str:
        """What another room is told when the turn has ended: where it was answered, or why nothing was done.

        Raises:
            AgentError: There was no answer.
        """
        await self.over.wait()
        room = re.sub(r"^the\s+", "", self._command.room or "", flags=re.IGNORECASE)
        if self.error is not None:
            raise AgentError(self.error.code, self.error.message)
        if self._answer is None:
            raise AgentError(ErrorCode.NOT_AVAILABLE, f"The {room} heard it first; it was not finished there.")
        return f"The {room} heard it first; it is answered there." if self._done else self._answer


def _folded(text: str) -> str:
    """Words without case and punctuation; signs alone stay as they are."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain)) or plain
