"""The loop: observe, reason, act, evaluate, until there is an answer or a limit."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
import secrets
import warnings
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import Any, Final
from weakref import WeakValueDictionary

from agent.answer import Result
from agent.calls import Permit, Tell, ToolCaller
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.errors import AgentError, DeclarationError, ErrorCode
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage
from agent.grounding import fill_places, spoken_places, which
from agent.model.generative import Candidate, GenerateContentRequest, GenerativeModel, Outcome
from agent.requester import asked_in
from agent.session import AgentSession
from agent.store import SessionStore
from agent.tool import AccessLevel, AgentTool, discover, visible
from agent.turn import Turn

log = logging.getLogger(__name__)

MAX_SESSION_ID_LENGTH: Final = 200

SESSIONS_IN_MEMORY: Final = 100
"""Beyond so many a session that nobody holds leaves the memory, the last used one last; the store has it."""


@dataclass(frozen=True)
class Agent:
    """Who answers, and what it can do.

    Attributes:
        name: Its name.
        instructions: What the model is told about its task.
        tools: Its tools: `AgentTool`s, or functions and bound methods declared with `@tool`.
        discover: A package whose declared tools are found by themselves.
        ids: Only these of the package's tools; None is all.
        max_turns: How often the model is asked in one run, 1 or more.

    Raises:
        DeclarationError: Two tools have the same name, or one is not declared.
    """

    name: str
    instructions: str = ""
    tools: tuple[AgentTool | Callable[..., Any], ...] = ()
    discover: str | None = None
    ids: tuple[str, ...] | None = None
    max_turns: int = 10

    def __post_init__(self) -> None:
        if self.max_turns < 1:
            raise ValueError(f"max_turns is {self.max_turns}; it is 1 or more")
        object.__setattr__(self, "tools", tuple(self.tools))
        _ = self.all_tools  # wrong ones fail now

    @cached_property
    def all_tools(self) -> tuple[AgentTool, ...]:
        """The tools handed over, then those found. One that comes both ways is kept as it was handed over."""
        given = [each if isinstance(each, AgentTool) else AgentTool(each) for each in self.tools]
        found = discover(self.discover, self.ids) if self.discover else ()
        all_tools: dict[str, AgentTool] = {}
        for each in given:
            if each.name in all_tools:
                raise DeclarationError(f"{each.name}: two tools have this name, {all_tools[each.name]!r} and {each!r}")
            all_tools[each.name] = each
        for each in found:
            first = all_tools.setdefault(each.name, each)
            if first is each:
                continue
            both = f"{first!r} of {first.module} was handed over, {each!r} of {each.module} was found"
            if not f"{first.module}.".startswith(f"{self.discover}."):
                raise DeclarationError(f"{each.name}: two tools have this name: {both}")
            warnings.warn(f"{each.name}: {both}; the one that was handed over is kept", stacklevel=2)
        return tuple(all_tools.values())


@dataclass(frozen=True)
class Limits:
    """What ends a run, and what a conversation remembers.

    Attributes:
        deadline_s: The longest run, in seconds; the time that a person takes to confirm does not count.
        tool_timeout_s: The longest call of a tool, in seconds; likewise.
        confirm_timeout_s: How long a question waits for a yes; then it is a no, in seconds.
        max_same_call: The same call, asked for so often in a run, ends it with REPEATED_CALL. It is not made
            that last time if it had succeeded, so at 2 nothing is done twice; a failed one is tried again.
        max_waiting: How many turns may wait; the next one is BUSY.
        history_turns: How many turns of a conversation the model sees, this one among them.
        idle_s: After so much silence "it" means nothing any more, in seconds.
    """

    deadline_s: float = 60.0
    tool_timeout_s: float = 10.0
    confirm_timeout_s: float = 30.0
    max_same_call: int = 2
    max_waiting: int = 16
    history_turns: int = 20
    idle_s: float = 300.0


class AgentRunner:
    """Runs an agent: many sessions at once, each isolated, one turn at a time in each.

    The model is asked in the order in which turns arrive. Tools that may change something are called in the
    order in which the model decided on them, also across sessions, so that what was said last about a lamp is
    what stays; whoever waits for a person's yes lets the others pass.
    """

    def __init__(
        self,
        agent: Agent,
        model: GenerativeModel,
        temperature: float | None = None,
        *,
        store: SessionStore | None = None,
        limits: Limits = Limits(),
        seed: int | None = None,
    ) -> None:
        """Takes the parts; store and model stay their owner's to close.

        Args:
            agent: Who answers.
            model: Who decides.
            temperature: None and 0.0 are greedy.
            store: Keeps the sessions; None keeps them in memory.
            limits: What ends a run.
            seed: Makes a temperature above 0 repeatable.
        """
        self.agent = agent
        self.limits = limits
        self.tools = agent.all_tools
        self._model = model
        self._temperature = temperature
        self._store = store
        self._seed = seed
        self._by_name = {each.name: each for each in self.tools}
        self._declarations = tuple(each.declaration for each in self.tools)
        # A session that somebody holds, or whose turn goes on, is known for as long as that lasts.
        self._sessions: WeakValueDictionary[str, AgentSession] = WeakValueDictionary()
        self._recent: OrderedDict[str, AgentSession] = OrderedDict()
        self._turns: set[Turn] = set()
        self._reasoning = asyncio.Lock()
        self._caller = ToolCaller(limits.tool_timeout_s, limits.confirm_timeout_s)
        self.store_trouble = ""  # why the last turn could not be kept, "" where it was
        # Unlike those of an earlier process: a late yes must not meet another question.
        self._ids = (f"{secrets.token_hex(4)}-{number}" for number in itertools.count(1))
        self._closed = False

    async def __aenter__(self) -> AgentRunner:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all sessions; turns that are not finished end with NOT_AVAILABLE. Twice is fine."""
        self._closed = True
        await _together(each.close() for each in {*self._sessions.values(), *(turn.session for turn in self._turns)})

    def change(self, instructions: str, max_turns: int, limits: Limits) -> None:
        """Goes on with other settings; conversations stay, and a turn that goes on may still end by the old ones."""
        self.agent = replace(self.agent, instructions=instructions, max_turns=max_turns)
        self.limits = limits
        self._caller.limit(limits.tool_timeout_s, limits.confirm_timeout_s)

    # Sessions

    def get_or_create_session(self, id: str) -> AgentSession:
        """The conversation of this id; its history is read when it is needed.

        Raises:
            AgentError: INVALID_REQUEST for an id that is empty, not printable or longer than
                `MAX_SESSION_ID_LENGTH`; NOT_AVAILABLE after `close`.
        """
        self._refuse_if_closed()
        if not id or not id.isprintable() or len(id) > MAX_SESSION_ID_LENGTH:
            raise AgentError(
                ErrorCode.INVALID_REQUEST,
                f"The id of a session is 1 to {MAX_SESSION_ID_LENGTH} printable characters, not {id[:40]!r}.",
            )
        session = self._sessions.get(id)
        if session is None:
            session = self._sessions[id] = AgentSession(id, self, self._store)
        self._recent[id] = session
        self._recent.move_to_end(id)
        if self._store and len(self._recent) > SESSIONS_IN_MEMORY:
            self._recent.popitem(last=False)
        return session

    async def run_single_turn(
        self, content: str | Content, room: str | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Runs one turn in a session of its own that leaves nothing; otherwise as `AgentSession.run`."""
        session = AgentSession("single turn", self, None)
        events = session.run(content, room)
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()

    async def delete_session(self, id: str) -> None:
        """Closes a session and erases it; one that is not there is fine.

        Raises:
            StoreError: It could not be erased.
        """
        if session := self._sessions.get(id):
            await session.delete()
        elif self._store:
            await asyncio.to_thread(self._store.delete, id)

    async def clear_all_sessions(self) -> None:
        """Closes all sessions and erases them, also those that only the store knows.

        Raises:
            StoreError: They could not be erased.
        """
        await _together(each.close() for each in tuple(self._sessions.values()))
        if self._store:
            await asyncio.to_thread(self._store.clear)

    def forget(self, session: AgentSession) -> None:
        """A session has closed."""
        if self._sessions.get(session.id) is session:
            del self._sessions[session.id]
            self._recent.pop(session.id, None)

    # Calls from outside of the loop

    def confirm(self, call_id: str, answer: bool) -> bool:
        """Answers a `ConfirmationRequest`; False when no question of this id is waiting (any more)."""
        return self._caller.confirm(call_id, answer)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], level: AccessLevel, tell: Tell | None = None
    ) -> dict[str, Any]:
        """Calls one tool directly, for a channel whose caller decides itself.

        Args:
            name: The tool.
            arguments: Checked against its declaration; nothing is filled in.
            level: The caller's: tools with less access are not there for it.
            tell: Shows a question to the caller, who answers by `confirm`; None where nobody can be asked,
                which is a no.

        Returns:
            What the tool answered; `{"error": ...}` for wrong arguments or a failure.

        Raises:
            AgentError: INVALID_REQUEST when the caller has no such tool; TOOL_TIMEOUT; NOT_AVAILABLE after
                `close`.
        """
        self._refuse_if_closed()
        tools = {each.name: each for each in visible(self.tools, level)}
        if name not in tools:
            message = f"There is no tool {name}; there are {', '.join(tools) or 'none'}."
            raise AgentError(ErrorCode.INVALID_REQUEST, message)
        call = FunctionCallPart(next(self._ids), name, dict(arguments))
        async with self._caller.in_order(self._may_change(call)) as permit:
            return await self._caller.call(tools[name], call, permit, tell, level=level)

    # The queue

    @property
    def waiting(self) -> int:
        """How many turns came while others went on, and have not acted yet."""
        return sum(turn.waiting for turn in self._turns)

    def admit(self, turn: Turn) -> None:
        """Takes a turn in.

        Raises:
            AgentError: BUSY when `Limits.max_waiting` turns wait already; NOT_AVAILABLE after `close`.
        """
        self._refuse_if_closed()
        turn.waiting = bool(self._turns)
        if turn.waiting and self.waiting >= self.limits.max_waiting:
            raise AgentError(ErrorCode.BUSY, f"{self.waiting} commands are waiting already; try again in a moment.")
        self._turns.add(turn)

    def release(self, turn: Turn) -> None:
        """A turn has ended."""
        self._turns.discard(turn)

    # The loop

    async def run(self, turn: Turn) -> None:
        """Steps until there is an answer.

        Raises:
            AgentError: There is none: a limit, or the model failed.
        """
        try:
            async with asyncio.timeout(self.limits.deadline_s) as turn.clock:
                while not await self.step(turn):
                    pass
        except TimeoutError as error:
            message = f"It took longer than {self.limits.deadline_s:g} seconds."
            raise AgentError(ErrorCode.DEADLINE_EXCEEDED, message) from error

    async def step(self, turn: Turn) -> bool:
        """Asks the model once and does what it says; True when that was the answer."""
        candidate = await self.query(turn)
        if candidate.outcome in _WORDS or not candidate.function_calls:
            self._conclude(turn, candidate.outcome)
            return True
        turn.answer.drop()  # words beside calls are thought, not said
        calls = self._grounded(turn, candidate.function_calls)
        if isinstance(calls, str):
            turn.answer.hear(calls, turn.facts)
            self._conclude(turn, Outcome.ASK)
            return True
        await self.execute(turn, calls, candidate.outcome)
        return False

    async def query(self, turn: Turn) -> Candidate:
        """Asks the model, in the order of arrival; what it says becomes partial texts.

        Raises:
            AgentError: MAX_TURNS_EXCEEDED, or NOT_AVAILABLE when the model failed.
        """
        if turn.queries >= self.agent.max_turns:
            message = f"There was no answer after {self.agent.max_turns} steps."
            raise AgentError(ErrorCode.MAX_TURNS_EXCEEDED, message)
        turn.queries += 1
        async with self._reasoning:
            request = GenerateContentRequest(
                await turn.session.request_contents(turn),
                self._declarations,
                self.agent.instructions or None,
                self._temperature,
                self._seed,
            )
            try:
                return await self._hear(turn, request)
            except AgentError:
                raise
            except Exception as error:
                log.exception("the model failed")
                raise AgentError(ErrorCode.NOT_AVAILABLE, f"The model failed: {error}") from error

    async def execute(self, turn: Turn, calls: list[FunctionCallPart], outcome: Outcome | None) -> None:
        """Makes the calls of one step, in order; each gets a response, whatever happens.

        Raises:
            AgentError: REPEATED_CALL or TOOL_TIMEOUT.
        """
        self._refuse_repeated(turn, calls)
        results: list[Result] = []
        try:
            async with self._caller.in_order(any(self._may_change(call) for call in calls)) as permit:
                turn.waiting = False
                for call in calls:
                    turn.tell(FunctionCall(call.id, call.name, call.arguments))
                    response: dict[str, Any] = {"error": "It was not finished; what it did is not known."}
                    try:
                        response = await self._respond(turn, call, outcome, permit)
                    finally:
                        tool = self._by_name.get(call.name)
                        answered = FunctionResponsePart(call.id, call.name, response)
                        results.append(Result(call, answered, tool.declaration if tool else None))
                        turn.tell(FunctionResponse(call.id, call.name, response))
        finally:
            turn.add_step(results)
        self._evaluate(turn, results)

    # What the steps are made of

    async def _hear(self, turn: Turn, request: GenerateContentRequest) -> Candidate:
        """The calls and the outcome of an answer; its words go to the turn, piece by piece."""
        calls: list[FunctionCallPart] = []
        outcome: Outcome | None = None
        heard = False
        async for response in self._model.generate_content_stream(request):
            for piece in response.candidates[:1]:
                heard = True
                calls += piece.function_calls
                outcome = piece.outcome or outcome
                if ready := turn.answer.hear(piece.text, turn.facts):
                    turn.tell(TextMessage(ready, is_partial=True))
        if not heard:
            raise AgentError(ErrorCode.NOT_AVAILABLE, "The model gave no answer.")
        return Candidate(Content(Role.MODEL, tuple(calls)), outcome)

    def _conclude(self, turn: Turn, outcome: Outcome | None) -> None:
        """Says what is left to say; words that ask or decline claim nothing."""
        harmless = outcome in (Outcome.ASK, Outcome.DECLINE)
        facts = replace(turn.facts, acted=True, told=True) if harmless else turn.facts
        rest = turn.answer.finish(facts)
        if turn.answer.partial and rest:
            turn.tell(TextMessage(rest, is_partial=True))
        turn.tell(TextMessage(turn.answer.text))
        turn.contents.append(Content.model(turn.answer.text))

    def _grounded(self, turn: Turn, asked: Iterable[FunctionCallPart]) -> list[FunctionCallPart] | str:
        """The calls with ids of their own and their places filled in, or the question that has to come first.

        The same call twice in one step is one call.
        """
        earlier = [*turn.session.earlier_places, *turn.places]
        spoken = list(turn.places)
        calls: dict[str, FunctionCallPart] = {}
        for each in asked:
            arguments = each.arguments
            tool = self._by_name.get(each.name)
            if tool and isinstance(arguments, dict):
                together = spoken or turn.session.places_together
                filled = fill_places(tool.declaration, arguments, turn.room, earlier, together)
                if filled is None:
                    return which(tool.declaration)
                arguments = filled
                spoken += spoken_places(tool.declaration, arguments)
                earlier += spoken_places(tool.declaration, arguments)
            call = FunctionCallPart(next(self._ids), each.name, arguments)
            calls.setdefault(_what(call), call)
        return list(calls.values())

    async def _respond(
        self, turn: Turn, call: FunctionCallPart, outcome: Outcome | None, permit: Permit
    ) -> dict[str, Any]:
        tool = self._by_name.get(call.name)
        if tool is None:
            return {"error": f"there is no tool {call.name}; there are {', '.join(self._by_name) or 'none'}"}
        if outcome is Outcome.QUERY and tool.declaration.read_only is False:
            return {"error": f"{call.name} would change something, and this was a question"}
        with asked_in(turn.room):
            return await self._caller.call(tool, call, permit, turn.tell, turn.clock)

    def _evaluate(self, turn: Turn, results: Iterable[Result]) -> None:
        """Remembers what went well; the model sees a failure of the same call only so often."""
        for each in results:
            if each.succeeded and each.declaration:
                turn.places += spoken_places(each.declaration, each.call.arguments)
        for each in results:
            failures = sum(other.failed for other in turn.results if _what(other.call) == _what(each.call))
            if failures >= self.limits.max_same_call:
                message = f"{each.call.name} failed {failures} times: {each.response.response['error']}"
                raise AgentError(ErrorCode.REPEATED_CALL, message)

    def _refuse_repeated(self, turn: Turn, calls: Iterable[FunctionCallPart]) -> None:
        """What was done, or not confirmed, is not done again because a model says so again."""
        allowed = max(1, self.limits.max_same_call - 1)
        for call in calls:
            before = sum(not each.failed for each in turn.results if _what(each.call) == _what(call))
            if before >= allowed:
                message = f"{call.name} was asked for again and again; it was called {before} times."
                raise AgentError(ErrorCode.REPEATED_CALL, message)
        # Nor again and again with a number counting up in its words.
        for call in calls:
            alike = sum(any(_alike(call, other) for other in content.calls) for content in turn.contents)
            if self._may_change(call) and alike >= self.limits.max_same_call:
                message = f"{call.name} was asked for again and again; it was called in {alike} steps."
                raise AgentError(ErrorCode.REPEATED_CALL, message)

    def places_of(self, contents: Iterable[Content]) -> list[list[str]]:
        """The places that a conversation's calls which succeeded spoke of, in order: a list for each turn."""
        turns: list[list[str]] = [[]]
        calls: dict[str, FunctionCallPart] = {}
        for content in contents:
            if content.role is Role.USER and not content.responses:
                turns.append([])
            calls |= {call.id: call for call in content.calls}
            for response in content.responses:
                call, tool = calls.get(response.id), self._by_name.get(response.name)
                if call and tool and Result(call, response, tool.declaration).succeeded:
                    turns[-1] += spoken_places(tool.declaration, call.arguments)
        return [places for places in turns if places]

    def _may_change(self, call: FunctionCallPart) -> bool:
        tool = self._by_name.get(call.name)
        return tool is not None and not tool.declaration.read_only

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise AgentError(ErrorCode.NOT_AVAILABLE, "The runner is closed.")


_WORDS: Final = (Outcome.ASK, Outcome.DECLINE, Outcome.ANSWER)


def _what(call: FunctionCallPart) -> str:
    """What a call would do: the same text for equal names and arguments."""
    return json.dumps([call.name, call.arguments], sort_keys=True, default=str)


def _alike(call: FunctionCallPart, other: FunctionCallPart) -> bool:
    """The calls differ at most in digits inside of texts."""
    return call.name == other.name and _without_digits(call.arguments) == _without_digits(other.arguments)


def _without_digits(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"\d+", "#", value)
    if isinstance(value, dict):
        return {key: _without_digits(each) for key, each in value.items()}
    return [_without_digits(each) for each in value] if isinstance(value, list) else value


async def _together(work: Iterable[Awaitable[None]]) -> None:
    await asyncio.gather(*work)
