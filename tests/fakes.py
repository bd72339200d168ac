"""Tiny stand-ins for the parts that a test is not about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from agent.content import Content, FunctionCallPart, Role
from agent.model.generative import Candidate, GenerateContentRequest, GenerateContentResponse, Outcome

Line = Candidate | str | Sequence[Candidate | str] | Exception
"""A candidate; words that answer; pieces of a stream, words or candidates; or what is raised."""


HOLD = "held"
"""An answer that comes only when the test sets `go`."""


class ScriptedModel:
    """A model that plays a script, line by line, and writes down what it was asked.

    Attributes:
        requests: What it was asked, in order.
        go: Cleared by a test, it holds the model until it is set.
        holding: Set as soon as the model holds.
        closed: How often it was closed.
    """

    def __init__(self, *lines: Line, always: Line | Callable[[GenerateContentRequest], Line] | None = None) -> None:
        """Takes the script; when it is played to its end, `always` is played again and again."""
        self._lines = list(lines)
        self._always = always
        self.requests: list[GenerateContentRequest] = []
        self.go = asyncio.Event()
        self.go.set()
        self.holding = asyncio.Event()
        self.closed = 0

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        pieces = [response.candidates[0] async for response in self.generate_content_stream(request)]
        parts = tuple(part for piece in pieces for part in piece.content.parts)
        whole = Candidate(Content(Role.MODEL, parts), pieces[-1].outcome, pieces[-1].confidence)
        return GenerateContentResponse((whole,))

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        self.requests.append(request)
        line = self._next(request)
        if line is HOLD:
            self.go.clear()
        if not self.go.is_set():
            self.holding.set()
            await self.go.wait()
        if isinstance(line, Exception):
            raise line
        for piece in [line] if isinstance(line, (str, Candidate)) else line:
            yield GenerateContentResponse((answer(piece) if isinstance(piece, str) else piece,))
            await asyncio.sleep(0)

    def _next(self, request: GenerateContentRequest) -> Line:
        if self._lines:
            return self._lines.pop(0)
        assert self._always is not None, "the script is over, and the model was asked again"
        return self._always(request) if callable(self._always) else self._always

    async def close(self) -> None:
        self.closed += 1


def call(name: str, **arguments: Any) -> FunctionCallPart:
    """A call as a model asks for it; the runner gives it an id of its own."""
    return FunctionCallPart("", name, arguments)


def act(*calls: FunctionCallPart) -> Candidate:
    """The model calls functions that may change something."""
    return Candidate(Content(Role.MODEL, calls), Outcome.ACT)


def query(*calls: FunctionCallPart) -> Candidate:
    """The model calls functions that only look."""
    return Candidate(Content(Role.MODEL, calls), Outcome.QUERY)


def answer(text: str) -> Candidate:
    """The model answers."""
    return Candidate(Content.model(text), Outcome.ANSWER)


def ask(text: str) -> Candidate:
    """The model asks the person."""
    return Candidate(Content.model(text), Outcome.ASK)


def decline(text: str) -> Candidate:
    """The model says that it cannot."""
    return Candidate(Content.model(text), Outcome.DECLINE)


def prose(text: str, calls: Iterable[FunctionCallPart] = ()) -> Candidate:
    """What a language model says, which does not tell its outcome."""
    return Candidate(Content(Role.MODEL, (*Content.model(text).parts, *calls)))
