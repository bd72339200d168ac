"""One conversation: what was said in it, and one turn of it at a time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

from agent.command import words_of
from agent.content import Content, Role, TextPart
from agent.errors import AgentError, ErrorCode, StoreError
from agent.events import AgentEvent
from agent.store import SessionStore
from agent.turn import Turn

if TYPE_CHECKING:
    from agent.runner import AgentRunner

log = logging.getLogger(__name__)

MAX_EARLIER: Final = 20
"""How many places a conversation remembers for "it"."""


class AgentSession:
    """A conversation, isolated from all others. Made by `AgentRunner.get_or_create_session`.

    Its history holds finished turns. A turn that failed or was cancelled is kept if a tool was called in it,
    with its whole call and response pairs and a note of how it ended; else nothing happened, and it is not.

    Attributes:
        id: Its id.
    """

    def __init__(self, id: str, runner: AgentRunner, store: SessionStore | None) -> None:
        self.id = id
        self._runner = runner
        self._store = store
        self._history: list[Content] | None = None if store else []
        self._earlier: list[str] = []
        self._together: tuple[str, ...] = ()
        self._seen_from = 0  # what of the history is before a long silence; the model does not see it
        self._last_used = time.monotonic()
        self._one_at_a_time = asyncio.Lock()
        self._turns: set[asyncio.Task[None]] = set()
        self._writes: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def history(self) -> tuple[Content, ...]:
        """The last finished turns, oldest first; read from the store where that was not needed before."""
        self._load()
        return tuple(self._history or ())

    async def run(self, content: str | Content, room: str | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Runs one turn and tells what happens in it; the last event is the whole answer.

        The turn takes its place in the order of arrival when its first event is asked for. Closing the stream
        cancels it; a plain function that runs in its thread then cannot be stopped, and its result is lost.

        Args:
            content: What the person said: words, or a USER turn of words; at most `MAX_COMMAND_LENGTH`
                characters.
            room: Where they said it, for "here" and for an absent place.

        Raises:
            AgentError: It ended without an answer; with BUSY, INVALID_REQUEST or NOT_AVAILABLE at once.
        """
        turn = Turn(self, _checked(content), room)
        if self._closed:
            raise self._gone()
        self._runner.admit(turn)
        task = _started(self._take(turn), self._turns)
        # As a callback: a task that is cancelled before it begins runs no `finally` of its own.
        task.add_done_callback(lambda _: self._end(turn))
        try:
            while (event := await turn.events.get()) is not None:
                yield event
            if task.cancelled():
                raise self._gone()
            task.result()
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """Leaves the memory; the store keeps it. Turns that are not finished end with NOT_AVAILABLE."""
        self._closed = True
        for turn in self._turns:
            turn.cancel()
        while unfinished := self._turns | self._writes:
            await asyncio.wait(unfinished)
        self._runner.forget(self)

    async def delete(self) -> None:
        """Closes it and erases it from the store.

        Raises:
            StoreError: It could not be erased.
        """
        await self.close()
        if self._store:
            await asyncio.to_thread(self._store.delete, self.id)

    def _load(self) -> None:
        """Reads the history from the store, once. Blocking; a failure is logged, and there is none then."""
        if self._history is None and self._store:
            try:
                self._history = self._store.load(self.id, self._runner.limits.history_turns)
                said = self._store.last_said(self.id)
            except StoreError as error:
                log.warning("session %s goes on without its history: %s", self.id, error)
                self._history, said = [], None
            # Across a restart only the wall clock knows the silence. One that has run backwards is not believed.
            if said is not None and 0 <= time.time() - said <= self._runner.limits.idle_s:
                turns = self._runner.places_of(self._history)
                self._earlier = [place for places in turns for place in places][-MAX_EARLIER:]
                self._together = tuple(turns[-1][-MAX_EARLIER:]) if turns else ()
            else:
                self._seen_from = len(self._history)

    async def request_contents(self, turn: Turn) -> tuple[Content, ...]:
        """What the model is to see: the last turns since the last long silence, this one among them."""
        if self._history is None:
            await asyncio.to_thread(self._load)
        seen = (self._history or [])[self._seen_from :]
        return tuple(last_turns([*seen, *turn.contents], self._runner.limits.history_turns))

    @property
    def earlier_places(self) -> tuple[str, ...]:
        """The places that were spoken of, the last one at the end; none after `Limits.idle_s` of silence."""
        return tuple(self._earlier)

    @property
    def places_together(self) -> tuple[str, ...]:
        """The places of the last turn that spoke of any, for "them"; none after `Limits.idle_s` of silence."""
        return self._together

    def remember_places(self, turn: Turn) -> None:
        """Keeps the places of the calls of a turn that succeeded, for "it" and "them"."""
        self._earlier = [*self._earlier, *turn.places][-MAX_EARLIER:]
        self._together = tuple(turn.places[-MAX_EARLIER:])

    async def _take(self, turn: Turn) -> None:
        note = "This was not finished."
        async with self._one_at_a_time:
            if time.monotonic() - self._last_used > self._runner.limits.idle_s:
                self._earlier.clear()
                self._together = ()
                self._seen_from = len(self._history or ())
            try:
                await self._runner.run(turn)
            except AgentError as error:
                note = f"This was not finished: {error.message}"
                raise
            finally:
                self._last_used = time.monotonic()
                if turn.places:
                    self.remember_places(turn)
                await self._keep(turn, note)

    def _end(self, turn: Turn) -> None:
        self._runner.release(turn)
        turn.events.put_nowait(None)

    async def _keep(self, turn: Turn, note: str) -> None:
        if turn.contents[-1].role is Role.USER:  # it has no answer
            if not turn.results:
                return
            turn.contents.append(Content.model(note))
        if self._history is None:
            await asyncio.to_thread(self._load)
        whole = [*(self._history or ()), *turn.contents]
        self._history = list(last_turns(whole, self._runner.limits.history_turns))
        self._seen_from = max(0, self._seen_from - (len(whole) - len(self._history)))
        if self._store:
            # On its own, so that cancelling the turn leaves no write behind that `delete` knows nothing of.
            write = self._write(self._store, tuple(turn.contents))
            await asyncio.shield(_started(write, self._writes))

    async def _write(self, store: SessionStore, contents: Sequence[Content]) -> None:
        try:
            await asyncio.to_thread(store.append, self.id, contents)
        except StoreError as error:
            # Once for each reason, not once a turn for as long as a disk is full.
            level = logging.DEBUG if str(error) == self._runner.store_trouble else logging.WARNING
            self._runner.store_trouble = str(error)
            log.log(level, "session %s: a turn is kept in memory only: %s", self.id, error)
        else:
            if self._runner.store_trouble:
                log.warning("turns are kept again")
            self._runner.store_trouble = ""

    def _gone(self) -> AgentError:
        return AgentError(ErrorCode.NOT_AVAILABLE, f"The session {self.id} is closed.")


def last_turns(contents: Sequence[Content], turns: int) -> Sequence[Content]:
    """The end of a conversation, from the border of a turn on: a call and its response stay together.

    Args:
        contents: A conversation, oldest first.
        turns: How many turns of the person, 1 or more.
    """
    borders = [index for index, each in enumerate(contents) if each.role is Role.USER and not each.responses]
    return contents[borders[-turns] :] if len(borders) > turns else contents


def _checked(content: str | Content) -> Content:
    if isinstance(content, str):
        return Content.user(words_of(content))
    if content.role is not Role.USER or not all(isinstance(part, TextPart) for part in content.parts):
        message = "A run starts with what a person says: a USER turn of words."
        raise AgentError(ErrorCode.INVALID_REQUEST, message)
    words_of(content.text)
    return content


def _started(work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> asyncio.Task[None]:
    """A task that is among the others until it is done, and whose failure is known to whoever asks for it."""
    task = asyncio.create_task(work)
    among.add(task)

    def done(task: asyncio.Task[None]) -> None:
        among.discard(task)
        if not task.cancelled():
            task.exception()  # a consumer that has left does not ask

    task.add_done_callback(done)
    return task
