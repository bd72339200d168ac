"""Making a call: in order, within a time, and after a person's yes where one is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from agent.capping import capped
from agent.content import FunctionCallPart
from agent.errors import AgentError, ErrorCode
from agent.events import ConfirmationRequest
from agent.tool import AccessLevel, AgentTool, ToolCall

log = logging.getLogger(__name__)

Tell = Callable[[ConfirmationRequest], None]
"""Shows a question to the person it is for."""

ENDING_S: Final = 1.0
"""How long a call that is given up may take to end, in seconds; then the others no longer wait for it."""


class Permit:
    """Leave to act: one at a time has it, in order of asking. It is given up while a person is asked."""

    def __init__(self, order: asyncio.Lock) -> None:
        self._order = order
        self._held = False

    async def take(self) -> None:
        """Waits until those who came before are done."""
        await self._order.acquire()
        self._held = True

    def give_up(self) -> bool:
        """Lets the next one act; False if it was not held."""
        held, self._held = self._held, False
        if held:
            self._order.release()
        return held


class ToolCaller:
    """Calls tools for many turns at once."""

    def __init__(self, tool_timeout_s: float, confirm_timeout_s: float) -> None:
        self._tool_timeout_s = tool_timeout_s
        self._confirm_timeout_s = confirm_timeout_s
        self._acting = asyncio.Lock()
        self._questions: dict[str, asyncio.Future[bool]] = {}
        self._calls: set[asyncio.Task[dict[str, Any]]] = set()  # also those that were given up

    @asynccontextmanager
    async def in_order(self, changes: bool) -> AsyncIterator[Permit]:
        """The permit for calls that belong together; those that change nothing wait for nobody."""
        permit = Permit(self._acting)
        if changes:
            await permit.take()
        try:
            yield permit
        finally:
            permit.give_up()

    async def call(
        self,
        tool: AgentTool,
        call: FunctionCallPart,
        permit: Permit,
        tell: Tell | None,
        deadline: asyncio.Timeout | None = None,
        level: AccessLevel = AccessLevel.SELF,
    ) -> dict[str, Any]:
        """Makes a call.

        Args:
            tool: What is called.
            call: The call; its id is that of a question about it.
            permit: That of `in_order`.
            tell: Shows a question; None where there is nobody to ask, which is a no.
            deadline: Stands still while a person is asked.
            level: Who asks for the call.

        Returns:
            What the tool answered, cut where it is too long; `{"error": ...}` if it raised, which is logged
            with its traceback.

        Raises:
            AgentError: TOOL_TIMEOUT.
        """

        async def confirm(question: str) -> bool:
            if tell is None or _is_cancelled():  # a call that was given up asks nobody any more
                return False
            with _stopped(clock), _stopped(deadline):
                held = permit.give_up()
                tell(ConfirmationRequest(call.id, call.name, call.arguments, question))
                answer = await self._answer(call.id)
                if held:
                    await permit.take()
            return answer

        clock = asyncio.timeout(self._tool_timeout_s)
        # In a task of its own: a tool that goes on when it is told to end must not hold up everybody else.
        asked = ToolCall(call.id, call.name, confirm, level)
        making = asyncio.create_task(_make(tool, call, asked), name=call.name)
        self._calls.add(making)
        making.add_done_callback(self._calls.discard)
        try:
            async with clock:
                return await self._result(making)
        except TimeoutError as error:
            message = f"{call.name} took longer than {self._tool_timeout_s:g} seconds."
            raise AgentError(ErrorCode.TOOL_TIMEOUT, message) from error

    def limit(self, tool_timeout_s: float, confirm_timeout_s: float) -> None:
        """Other times than before, for the calls that begin from now on."""
        self._tool_timeout_s = tool_timeout_s
        self._confirm_timeout_s = confirm_timeout_s

    async def _result(self, making: asyncio.Task[dict[str, Any]]) -> dict[str, Any]:
        """What a call returns. When nobody waits for it any more it is told to end, and has a moment to do so."""
        try:
            await asyncio.wait({making})
        finally:
            if not making.done():
                await self._end(making)
        return making.result()

    async def _end(self, making: asyncio.Task[dict[str, Any]]) -> None:
        making.cancel()
        try:
            await asyncio.wait({making}, timeout=min(ENDING_S, self._tool_timeout_s))
        finally:
            if not making.done():
                log.error("%s goes on although it was told to end; others act meanwhile", making.get_name())

    def confirm(self, call_id: str, answer: bool) -> bool:
        """Answers the question about a call; False when none is waiting (any more)."""
        question = self._questions.get(call_id)
        if question is None or question.done():
            return False
        question.set_result(answer)
        return True

    async def _answer(self, call_id: str) -> bool:
        question: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._questions[call_id] = question
        try:
            async with asyncio.timeout(self._confirm_timeout_s):  # `wait_for` of 3.11 may lose a cancellation
                return await question
        except TimeoutError:
            return False
        finally:
            del self._questions[call_id]


async def _make(tool: AgentTool, call: FunctionCallPart, asked: ToolCall) -> dict[str, Any]:
    try:
        return capped(await tool.call(call.arguments, asked))
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and _is_cancelled():
            raise
        log.exception("%s raised, called with %s", call.name, ", ".join(call.arguments) or "nothing")
        return {"error": f"{call.name} failed: {type(error).__name__}: {error}"}


def _is_cancelled() -> bool:
    """Whether this call was given up; a tool may also raise a CancelledError of its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def _stopped(clock: asyncio.Timeout | None) -> Iterator[None]:
    """Time that does not count."""
    if clock is None or (when := clock.when()) is None:
        yield
        return
    loop = asyncio.get_running_loop()
    left = when - loop.time()
    clock.reschedule(None)
    try:
        yield
    finally:
        clock.reschedule(loop.time() + left)
