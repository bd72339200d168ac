"""One sentence that several rooms heard is one command.

Two satellites that stand within earshot of a person both send what was said, each with its own id, session and
room. The first to arrive is carried out; the others are told where.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import OrderedDict
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
        self._sentences: OrderedDict[str, _Sentence] = OrderedDict()

    async def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        """The events of a command; of one that another room heard first, only the answer.

        Raises:
            AgentError: It ended without an answer, or the one that came first did.
        """
        words = _folded(command.text)
        known = self._sentences.get(words)
        if known is not None and known.takes_in(command):
            yield TextMessage(await known.outcome())
            return
        sentence = _Sentence(command)
        if command.room is not None:
            self._remember(words, sentence)
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

    def _remember(self, words: str, sentence: _Sentence) -> None:
        self._sentences[words] = sentence
        self._sentences.move_to_end(words)
        while len(self._sentences) > REMEMBERED or not self._oldest().is_near(sentence.command):
            self._sentences.popitem(last=False)

    def _oldest(self) -> _Sentence:
        return next(iter(self._sentences.values()))


class _Sentence:
    """What was said, and what became of it in the room that heard it first.

    Attributes:
        command: The one that arrived first.
        error: What ended its turn without an answer.
        over: Set when its turn has ended.
    """

    def __init__(self, command: Command) -> None:
        self.command = command
        self.error: AgentError | None = None
        self.over = asyncio.Event()
        self._rooms = {_folded(command.room or "")}
        self._done = False
        self._answer: str | None = None

    def is_near(self, command: Command) -> bool:
        """Whether a command came so soon before or after it that it can be the same sentence."""
        return abs(command.received - self.command.received) <= WINDOW_S

    def takes_in(self, command: Command) -> bool:
        """Whether a command of the same words is this sentence, from a room that has not told of it yet."""
        room = _folded(command.room or "")
        if not room or room in self._rooms or not self.is_near(command):
            return False
        self._rooms.add(room)
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
        room = re.sub(r"^the\s+", "", self.command.room or "", flags=re.IGNORECASE)
        if self.error is not None:
            raise AgentError(self.error.code, self.error.message)
        if self._answer is None:
            raise AgentError(ErrorCode.NOT_AVAILABLE, f"The {room} heard it first; it was not finished there.")
        return f"The {room} heard it first; it is answered there." if self._done else self._answer


def _folded(text: str) -> str:
    """Words without case and punctuation; signs alone stay as they are."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", plain)) or plain
