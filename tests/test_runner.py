"""The loop with a scripted model: calls, limits, order, and what field-faults.md asks of a runner."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any

import pytest

from agent.content import Content, FunctionResponsePart, Role
from agent.errors import AgentError, DeclarationError, ErrorCode
from agent.events import (
    AgentEvent,
    ConfirmationRequest,
    FunctionCall,
    FunctionResponse,
    TextMessage,
    text_tokens,
)
from agent.model.generative import (
    GenerateContentRequest,
    GenerativeModel,
    ModelConfig,
    ModelPreference,
    Outcome,
    load_model,
)
from agent.runner import Agent, AgentRunner, Limits
from agent.schema import Place, Range
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, ToolCall, tool
from agent.truth import NOTHING
from tests.fakes import HOLD, Line, ScriptedModel, act, answer, ask, call, decline, prose, query


class Lamps:
    """What the tools of these tests move, and in which order."""

    def __init__(self) -> None:
        self.moves: list[str] = []
        self.failures = 0
        self.entered = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()

    @tool(say="The {room} light is on.")
    async def turn_on_light(self, room: Place, brightness: Annotated[int, Range(0, 100)] | None = None) -> None:
        """Turns on a light.

        Args:
            room: Which.
            brightness: In percent.
        """
        self.entered.set()
        await self.go.wait()
        self.moves.append(f"{room} on" if brightness is None else f"{room} {brightness}")

    @tool
    def turn_off_light(self, room: Place) -> None:
        """Turns off a light.

        Args:
            room: Which.
        """
        self.moves.append(f"{room} off")

    @tool(read_only=True, say="The {device} is {state}.")
    def get_state(self, device: Place) -> dict[str, str]:
        """Tells how a device is.

        Args:
            device: Which.
        """
        return {"device": device, "state": "on"}

    @tool
    def fail(self, times: int) -> str:
        """Fails so many times.

        Args:
            times: How often.
        """
        self.failures += 1
        if self.failures <= times:
            raise RuntimeError(f"no bus {self.failures}")
        return "well"

    @tool(access=AccessLevel.SELF)
    def open_garage_door(self) -> None:
        """Opens the garage door."""
        self.moves.append("garage open")

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        plain: tuple[Callable[..., Any], ...] = (
            self.turn_on_light,
            self.turn_off_light,
            self.get_state,
            self.fail,
        )
        return *map(AgentTool, plain), ConfirmationTool(self.open_garage_door, "Open the garage door?")


@pytest.fixture
def lamps() -> Lamps:
    return Lamps()


RunnerOf = Callable[..., AgentRunner]


@pytest.fixture
def runner_of(lamps: Lamps) -> RunnerOf:
    def runner_of(model: GenerativeModel, *, max_turns: int = 10, **limits: Any) -> AgentRunner:
        agent = Agent("hearth", "Be brief.", tools=lamps.tools, max_turns=max_turns)
        return AgentRunner(agent, model, limits=Limits(**limits))

    return runner_of


async def _events(runner: AgentRunner, text: str = "do it", room: str | None = None) -> list[AgentEvent]:
    return [event async for event in runner.run_single_turn(text, room)]


async def _failure(runner: AgentRunner, text: str = "do it") -> tuple[AgentError, list[AgentEvent]]:
    events: list[AgentEvent] = []
    with pytest.raises(AgentError) as failure:
        async for event in runner.run_single_turn(text):
            events.append(event)
    return failure.value, events


def _of(kind: type[Any], events: list[AgentEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


# Calls


async def test_single_call_carries_its_id_through_and_ends_with_the_whole_answer(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    model = ScriptedModel(act(call("turn_on_light", room="hall", brightness=80)), "The hall light is on.")
    async with runner_of(model) as runner:
        called, responded, text = await _events(runner)

    assert isinstance(called, FunctionCall) and called.arguments == {"room": "hall", "brightness": 80}
    assert responded == FunctionResponse(called.id, "turn_on_light", {"status": "ok"})
    assert text == TextMessage("The hall light is on.")
    assert lamps.moves == ["hall 80"]
    assert model.requests[1].contents[1:] == (
        Content(Role.MODEL, model.requests[1].contents[1].calls),
        Content(Role.USER, (FunctionResponsePart(called.id, "turn_on_light", {"status": "ok"}),)),
    )


async def test_several_calls_of_one_step_are_made_in_order(runner_of: RunnerOf, lamps: Lamps) -> None:
    calls = [
        call("turn_on_light", room="hall"),
        call("turn_off_light", room="attic"),
        call("get_state", device="fan"),
    ]
    async with runner_of(ScriptedModel(act(*calls), "Done.")) as runner:
        events = await _events(runner)

    assert [event.type for event in events] == ["function_call", "function_response"] * 3 + ["text_message"]
    assert lamps.moves == ["hall on", "attic off"]
    assert [event.id for event in _of(FunctionCall, events)] == [event.id for event in _of(FunctionResponse, events)]


async def test_ids_are_unique_in_a_runner_and_differ_between_runners(runner_of: RunnerOf) -> None:
    ids: list[str] = []
    for _ in range(2):
        line = act(call("turn_on_light", room="hall"), call("turn_off_light", room="hall"))
        async with runner_of(ScriptedModel(line, "Done.", line, "Done.")) as runner:
            for _ in range(2):
                ids += [event.id for event in _of(FunctionCall, await _events(runner))]

    assert len(set(ids)) == len(ids) == 8


async def test_run_of_several_steps_goes_on_until_the_answer(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(
        query(call("get_state", device="hall")),
        act(call("turn_off_light", room="hall")),
        "The hall light is off.",
    )
    async with runner_of(model) as runner:
        events = await _events(runner)

    assert [event.name for event in _of(FunctionCall, events)] == ["get_state", "turn_off_light"]
    assert [len(request.contents) for request in model.requests] == [1, 3, 5]
    assert events[-1] == TextMessage("The hall light is off.")


async def test_model_is_given_declarations_instructions_temperature_and_seed(lamps: Lamps) -> None:
    model = ScriptedModel("Hello.")
    async with AgentRunner(Agent("hearth", "Be brief.", lamps.tools), model, 0.7, seed=3) as runner:
        await _events(runner)

    (request,) = model.requests
    assert [each.name for each in request.tools] == [each.name for each in runner.tools]
    assert (request.system_instruction, request.temperature, request.seed) == ("Be brief.", 0.7, 3)


@pytest.mark.parametrize("line", [ask("Which lamp?"), decline("I can't do that."), answer("It is late.")])
async def test_question_refusal_and_answer_end_the_turn_with_their_words(runner_of: RunnerOf, line: Any) -> None:
    async with runner_of(ScriptedModel(line)) as runner:
        assert await _events(runner) == [TextMessage(line.text)]


async def test_words_that_decline_call_nothing_even_with_a_call_beside_them(runner_of: RunnerOf, lamps: Lamps) -> None:
    both = prose("I can't.", [call("turn_on_light", room="hall")])
    line = type(both)(both.content, Outcome.DECLINE)
    async with runner_of(ScriptedModel(line)) as runner:
        assert await _events(runner) == [TextMessage("I can't.")]
    assert lamps.moves == []


async def test_model_without_outcomes_may_call_and_answer(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(prose("Let me see.", [call("turn_on_light", room="hall")]), prose("I turned it on."))
    async with runner_of(model) as runner:
        assert (await _events(runner))[-1] == TextMessage("I turned it on.")
    assert lamps.moves == ["hall on"]


async def test_wrong_argument_goes_back_to_the_model_which_corrects_itself(runner_of: RunnerOf, lamps: Lamps) -> None:
    wrong, right = (act(call("turn_on_light", room="hall", brightness=percent)) for percent in (800, 80))
    async with runner_of(ScriptedModel(wrong, right, "Done.")) as runner:
        responses = _of(FunctionResponse, await _events(runner))

    assert "brightness" in responses[0].response["error"] and "0 to 100" in responses[0].response["error"]
    assert lamps.moves == ["hall 80"]


# Streaming


async def test_clauses_of_a_stream_are_partial_and_the_last_message_is_whole(runner_of: RunnerOf) -> None:
    line = act(call("turn_on_light", room="hall"), call("turn_on_light", room="attic"))
    model = ScriptedModel(line, ["The hall light is on.", " The attic light is on."])
    async with runner_of(model) as runner:
        texts = _of(TextMessage, await _events(runner))

    assert texts == [
        TextMessage("The hall light is on.", is_partial=True),
        TextMessage(" The attic light is on.", is_partial=True),
        TextMessage("The hall light is on. The attic light is on."),
    ]


async def test_text_tokens_are_the_answer_said_once(runner_of: RunnerOf) -> None:
    lines: tuple[Line, ...] = ("It is late. Good night.", ["It", " is late.", " Good", " night."])
    for line in lines:
        async with runner_of(ScriptedModel(line)) as runner:
            tokens = [token async for token in text_tokens(runner.run_single_turn("hello"))]
        assert "".join(tokens) == "It is late. Good night."


async def test_calls_of_a_stream_come_whole_and_words_beside_them_are_not_said(runner_of: RunnerOf) -> None:
    line: Line = [
        "I'll turn it on",
        act(call("turn_on_light", room="hall")),
        act(call("turn_off_light", room="hall")),
    ]
    async with runner_of(ScriptedModel(line, "Done.")) as runner:
        events = await _events(runner)

    assert [event.name for event in _of(FunctionCall, events)] == ["turn_on_light", "turn_off_light"]
    assert _of(TextMessage, events) == [TextMessage("Done.")]


# Places


async def test_absent_place_is_the_requesters_room(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(act(call("turn_on_light")), "Done.")) as runner:
        events = await _events(runner, room="hall")

    assert events[0].to_json()["arguments"] == {"room": "hall"}
    assert lamps.moves == ["hall on"]


async def test_absent_place_without_a_room_is_asked_for_and_nothing_is_called(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    line = act(call("turn_on_light", room="hall"), call("turn_off_light"))
    async with runner_of(ScriptedModel(line, act(call("turn_off_light", room="attic")), "Done.")) as runner:
        session = runner.get_or_create_session("a")
        assert [event async for event in session.run("off")] == [TextMessage("Which room?")]
        assert lamps.moves == []
        assert [event async for event in session.run("the attic")][-1] == TextMessage("Done.")

    assert lamps.moves == ["attic off"]


# Tools that go wrong


async def test_result_of_a_hundred_kilobytes_is_cut_before_it_is_told_kept_and_said() -> None:
    @tool(read_only=True)
    def read_page() -> dict[str, str]:
        """Reads a page."""
        return {"title": "a long one", "page": "word " * 20_000}

    model = ScriptedModel(query(call("read_page")), answer(""))
    runner = AgentRunner(Agent("hearth", tools=(read_page,)), model)
    session = runner.get_or_create_session("s")
    events = [event async for event in session.run("read the page")]

    [response] = [event for event in events if isinstance(event, FunctionResponse)]
    assert response.response["title"] == "a long one"
    assert len(str(session.history)) < 20_000
    [said] = [event.text for event in events if isinstance(event, TextMessage) and not event.is_partial]
    assert said.endswith("word …. The answer of 100035 characters was cut to 16000.")


async def test_tool_that_raises_is_logged_with_its_traceback_and_told_to_the_model_once(
    runner_of: RunnerOf, caplog: pytest.LogCaptureFixture
) -> None:
    async with runner_of(ScriptedModel(act(call("fail", times=1)), act(call("fail", times=1)), "Done.")) as runner:
        first, second = _of(FunctionResponse, await _events(runner))

    assert first.response == {"error": "fail failed: RuntimeError: no bus 1"}
    assert second.response == {"result": "well"}
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.exc_info is not None and "no bus 1" in str(record.exc_info[1])


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()])
async def test_tool_that_exits_or_cancels_itself_has_failed_and_nothing_else_ends(error: BaseException) -> None:
    @tool
    async def leave() -> None:
        """Leaves."""
        raise error

    agent = Agent("hearth", tools=(leave,))
    async with AgentRunner(agent, ScriptedModel(act(call("leave")), "Well.")) as runner:
        (response,) = _of(FunctionResponse, await _events(runner))

    assert response.response["error"].startswith(f"leave failed: {type(error).__name__}")


async def test_tool_that_raises_again_from_the_same_call_ends_the_run(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(always=act(call("fail", times=9)))) as runner:
        error, events = await _failure(runner)

    assert error.code is ErrorCode.REPEATED_CALL and "no bus 2" in error.message
    assert lamps.failures == 2
    assert len(_of(FunctionResponse, events)) == 2


async def test_unknown_tool_is_never_executed_and_the_model_is_told_what_there_is(
    runner_of: RunnerOf,
) -> None:
    async with runner_of(ScriptedModel(act(call("unlock_door")), decline("I can't do that."))) as runner:
        events = await _events(runner)

    assert _of(FunctionResponse, events)[0].response["error"] == (
        "there is no tool unlock_door; there are turn_on_light, turn_off_light, get_state, fail, open_garage_door"
    )
    assert events[-1] == TextMessage("I can't do that.")


async def test_question_moves_nothing_even_if_the_model_calls_for_it(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(query(call("turn_off_light", room="fridge"), call("get_state", device="fridge")), "Well.")
    async with runner_of(model) as runner:
        refused, told = _of(FunctionResponse, await _events(runner, "what if I turn off the fridge?"))

    assert "would change something" in refused.response["error"]
    assert told.response["state"] == "on"
    assert lamps.moves == []


async def test_plain_function_runs_off_the_event_loop(runner_of: RunnerOf) -> None:
    threads: list[threading.Thread] = []

    @tool
    def look() -> None:
        """Looks."""
        threads.append(threading.current_thread())

    async with AgentRunner(Agent("hearth", tools=(look,)), ScriptedModel(act(call("look")), "Done.")) as runner:
        await _events(runner)

    assert threads[0] is not threading.main_thread()


# Limits and error codes


async def test_model_that_never_answers_ends_with_max_turns_exceeded(runner_of: RunnerOf, lamps: Lamps) -> None:
    percents = iter(range(100))

    def brighter(_: GenerateContentRequest) -> Any:
        return act(call("turn_on_light", room="hall", brightness=next(percents)))

    model = ScriptedModel(always=brighter)
    async with runner_of(model, max_turns=3) as runner:
        error, _ = await _failure(runner)

    assert (error.code, error.code.value) == (ErrorCode.MAX_TURNS_EXCEEDED, -112)
    assert len(model.requests) == 3
    assert len(lamps.moves) == 3


async def test_model_that_hangs_ends_with_deadline_exceeded(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel(HOLD), deadline_s=0.01) as runner:
        error, _ = await _failure(runner)

    assert error.code is ErrorCode.DEADLINE_EXCEEDED


async def test_deadline_holds_in_a_tool_too_and_its_call_gets_a_response(runner_of: RunnerOf, lamps: Lamps) -> None:
    lamps.go.clear()
    async with runner_of(ScriptedModel(act(call("turn_on_light", room="hall"))), deadline_s=0.01) as runner:
        error, events = await _failure(runner)

    assert error.code is ErrorCode.DEADLINE_EXCEEDED
    assert "not finished" in _of(FunctionResponse, events)[0].response["error"]


async def test_tool_that_hangs_ends_with_tool_timeout_and_the_next_turn_works(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    lamps.go.clear()
    line = act(call("turn_on_light", room="hall"))
    async with runner_of(ScriptedModel(line, line, "The hall light is on."), tool_timeout_s=0.01) as runner:
        error, _ = await _failure(runner)
        lamps.go.set()
        events = await _events(runner)

    assert error.code is ErrorCode.TOOL_TIMEOUT and "turn_on_light" in error.message
    assert events[-1] == TextMessage("The hall light is on.")


async def test_time_out_of_a_tools_own_is_an_error_like_any_other() -> None:
    @tool
    async def ping() -> None:
        """Pings."""
        raise TimeoutError("no echo")

    model = ScriptedModel(act(call("ping")), answer("There was no echo."))
    async with AgentRunner(Agent("hearth", tools=(ping,)), model) as runner:
        events = await _events(runner)

    assert _of(FunctionResponse, events)[0].response == {"error": "ping failed: TimeoutError: no echo"}


@pytest.mark.parametrize("cause", [RuntimeError("bad weights"), TimeoutError("slow")])
async def test_model_that_breaks_answers_not_available_and_the_runner_stays_up(
    runner_of: RunnerOf, cause: Exception
) -> None:
    async with runner_of(ScriptedModel(cause, "Hello.")) as runner:
        error, _ = await _failure(runner)

        assert (error.code, error.code.value) == (ErrorCode.NOT_AVAILABLE, 8)
        assert await _events(runner) == [TextMessage("Hello.")]


async def test_model_that_is_missing_answers_not_available(runner_of: RunnerOf, tmp_path: Path) -> None:
    for config in (ModelConfig(path=tmp_path / "no.tflite"), ModelConfig(ModelPreference.FULL)):
        model = load_model(config)
        async with runner_of(model) as runner:
            error, _ = await _failure(runner)
        assert error.code is ErrorCode.NOT_AVAILABLE
        assert getattr(model, "unavailable", None)
        await model.close()


async def test_error_that_a_model_raises_by_name_keeps_its_name(runner_of: RunnerOf) -> None:
    limit = AgentError(ErrorCode.INVALID_REQUEST, "At most 64 tools.")
    async with runner_of(ScriptedModel(limit)) as runner:
        error, _ = await _failure(runner)

    assert error is limit


async def test_model_that_says_nothing_at_all_answers_not_available(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel([])) as runner:
        error, _ = await _failure(runner)

    assert error.code is ErrorCode.NOT_AVAILABLE


# F14, F18, F20


async def test_f14_claim_without_an_action_is_replaced_by_i_did_nothing(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel("Done, the light is on")) as runner:
        assert await _events(runner, "turn on the light") == [TextMessage(NOTHING)]


async def test_f14_claim_after_failed_calls_in_history_is_replaced_too(runner_of: RunnerOf) -> None:
    failed = [line for times in (7, 8, 9) for line in (act(call("fail", times=times)), answer("It failed."))]
    async with runner_of(ScriptedModel(*failed, "Done, the light is on")) as runner:
        session = runner.get_or_create_session("a")
        for _ in range(3):
            async for _event in session.run("do it"):
                pass

        assert [event async for event in session.run("do it")] == [TextMessage(NOTHING)]
        assert session.history[-1] == Content.model(NOTHING)


async def test_f14_claim_after_a_call_that_failed_is_replaced(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel(act(call("fail", times=9)), "I turned on the light.")) as runner:
        assert (await _events(runner))[-1] == TextMessage(NOTHING)


async def test_f14_claim_after_a_question_only_is_replaced_and_its_answer_is_not(runner_of: RunnerOf) -> None:
    look = query(call("get_state", device="hall light"))
    async with runner_of(ScriptedModel(look, "I turned it on.", look, "The hall light is on.")) as runner:
        assert (await _events(runner))[-1] == TextMessage(NOTHING)
        assert (await _events(runner))[-1] == TextMessage("The hall light is on.")


@pytest.mark.parametrize(
    "raw",
    [
        '```json\n{"name": "turn_on_light", "arguments": {"room": "hall"}}\n```',
        "{'name': 'turn_on_light', 'arguments': {'room': 'hall'},}",
        'Sure: {"name": "turn_on_light", "arguments": {"room": "k\\u00fcche"}}',
        '{"name": "turn_on_li',
        'turn_on_light(room="hall")',
    ],
)
async def test_f18_call_that_comes_out_as_words_is_neither_spoken_nor_made(
    runner_of: RunnerOf, lamps: Lamps, raw: str
) -> None:
    action = act(call("turn_off_light", room="attic"))
    async with runner_of(ScriptedModel(raw, action, raw, list(raw))) as runner:
        assert await _events(runner) == [TextMessage(NOTHING)]
        assert (await _events(runner))[-1] == TextMessage("Turn off light: ok.")
        spoken = "".join(event.text for event in _of(TextMessage, await _events(runner)))

    assert not {"{", "`", "("} & set(spoken)
    assert lamps.moves == ["attic off"]


@pytest.mark.parametrize(
    "arguments", [{"room": ["hall"]}, {"room": "hall", "brightness": "50%"}, {"room": "hall", "x": 1}]
)
async def test_f18_argument_of_a_wrong_kind_is_refused_by_name(
    runner_of: RunnerOf, lamps: Lamps, arguments: dict[str, Any]
) -> None:
    async with runner_of(ScriptedModel(act(call("turn_on_light", **arguments)), ask("What?"))) as runner:
        (response,) = _of(FunctionResponse, await _events(runner))

    assert list(arguments)[-1] in response.response["error"]
    assert lamps.moves == []


async def test_f18_arguments_that_are_no_object_are_refused(runner_of: RunnerOf, lamps: Lamps) -> None:
    odd = type(call("x"))("", "turn_on_light", "hall")  # type: ignore[arg-type]
    async with runner_of(ScriptedModel(act(odd), ask("What?"))) as runner:
        (response,) = _of(FunctionResponse, await _events(runner))

    assert "error" in response.response
    assert lamps.moves == []


async def test_f20_call_that_is_asked_for_again_is_made_once_and_the_session_stays_usable(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    again = act(call("turn_on_light", room="hall"))
    async with runner_of(ScriptedModel(again, again, "Hello.")) as runner:
        session = runner.get_or_create_session("a")
        with pytest.raises(AgentError) as failure:
            async for _ in session.run("on"):
                pass

        assert failure.value.code is ErrorCode.REPEATED_CALL and "turn_on_light" in failure.value.message
        assert lamps.moves == ["hall on"]
        assert [event async for event in session.run("hello")] == [TextMessage("Hello.")]


async def test_f20_calls_that_alternate_are_made_once_each(runner_of: RunnerOf, lamps: Lamps) -> None:
    a, b = act(call("turn_on_light", room="hall")), act(call("turn_off_light", room="hall"))
    async with runner_of(ScriptedModel(a, b, a, b)) as runner:
        error, _ = await _failure(runner)

    assert error.code is ErrorCode.REPEATED_CALL
    assert lamps.moves == ["hall on", "hall off"]


async def test_f20_same_call_twice_in_one_step_is_made_once(runner_of: RunnerOf, lamps: Lamps) -> None:
    line = act(call("turn_on_light", room="hall"), call("turn_on_light", room="hall"))
    async with runner_of(ScriptedModel(line, "Done.")) as runner:
        assert (await _events(runner))[-1] == TextMessage("Done.")
    assert lamps.moves == ["hall on"]


async def test_f20_same_call_with_a_counter_in_it_stops_long_before_the_step_limit(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    lines = [act(call("turn_on_light", room=f"hall {number}")) for number in range(9)]
    async with runner_of(ScriptedModel(*lines)) as runner:
        error, _ = await _failure(runner)

    assert error.code is ErrorCode.REPEATED_CALL
    assert lamps.moves == ["hall 0 on", "hall 1 on"]


async def test_f20_limit_says_how_often_a_call_may_come(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(always=act(call("turn_off_light", room="hall"))), max_same_call=3) as runner:
        await _failure(runner)
    assert lamps.moves == ["hall off"] * 2


# F21: order, isolation, the queue


async def test_f21_turns_of_one_session_run_one_at_a_time_in_order_of_arrival(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    lamps.go.clear()
    model = ScriptedModel(
        act(call("turn_on_light", room="hall")), "On.", act(call("turn_off_light", room="hall")), "Off."
    )
    async with runner_of(model) as runner:
        session = runner.get_or_create_session("a")
        turns = [asyncio.create_task(_all(session.run(text))) for text in ("lights on", "lights off")]
        await lamps.entered.wait()
        assert len(model.requests) == 1
        assert runner.waiting == 1
        lamps.go.set()
        on, off = await asyncio.gather(*turns)

    assert lamps.moves == ["hall on", "hall off"]
    assert (on[-1], off[-1]) == (TextMessage("On."), TextMessage("Off."))
    assert [each.text for each in session.history if each.text.startswith("lights")] == [
        "lights on",
        "lights off",
    ]


async def test_f21_actions_of_two_sessions_come_in_order_of_arrival_although_the_first_is_slow(
    runner_of: RunnerOf, lamps: Lamps
) -> None:
    lamps.go.clear()

    def by_text(request: GenerateContentRequest) -> Any:
        if request.contents[-1].responses:
            return "Done."
        name = "turn_on_light" if request.contents[-1].text == "lights on" else "turn_off_light"
        return act(call(name, room="hall"))

    model = ScriptedModel(always=by_text)
    async with runner_of(model) as runner:
        turns = [
            asyncio.create_task(_all(runner.get_or_create_session(name).run(text)))
            for name, text in (("a", "lights on"), ("b", "lights off"))
        ]
        await lamps.entered.wait()
        async with asyncio.timeout(5):
            while len(model.requests) < 2:  # the second is thought about meanwhile
                await asyncio.sleep(0)
        lamps.go.set()
        await asyncio.gather(*turns)

    assert lamps.moves == ["hall on", "hall off"]


async def test_question_of_another_session_does_not_wait_for_a_slow_action(runner_of: RunnerOf, lamps: Lamps) -> None:
    lamps.go.clear()
    model = ScriptedModel(
        act(call("turn_on_light", room="hall")),
        query(call("get_state", device="hall")),
        "The hall is on.",
        "The hall light is on.",
    )
    async with runner_of(model) as runner:
        slow = asyncio.create_task(_all(runner.get_or_create_session("a").run("light")))
        await lamps.entered.wait()
        events = await _events(runner, "is it on?")
        lamps.go.set()
        await slow

    assert events[-1] == TextMessage("The hall is on.")


async def test_model_is_asked_by_one_turn_at_a_time_in_order_of_arrival(runner_of: RunnerOf) -> None:
    model = ScriptedModel(always="Hello.")
    model.go.clear()
    async with runner_of(model) as runner:
        turns = [asyncio.create_task(_all(runner.get_or_create_session(f"{n}").run(f"{n}"))) for n in range(5)]
        await model.holding.wait()
        assert len(model.requests) == 1
        assert runner.waiting == 4
        model.go.set()
        await asyncio.gather(*turns)

    assert [request.contents[-1].text for request in model.requests] == ["0", "1", "2", "3", "4"]


async def test_f21_burst_is_answered_once_each_and_beyond_the_queue_busy(runner_of: RunnerOf) -> None:
    model = ScriptedModel(always="Hello.")
    model.go.clear()
    async with runner_of(model, max_waiting=16) as runner:
        session = runner.get_or_create_session("a")
        turns = [asyncio.create_task(_all(session.run(f"{n}"))) for n in range(50)]
        await model.holding.wait()
        model.go.set()
        results = await asyncio.gather(*turns, return_exceptions=True)
        assert await _events(runner) == [TextMessage("Hello.")]

    answered, refused = results[:17], results[17:]
    assert answered == [[TextMessage("Hello.")]] * 17
    assert all(isinstance(each, AgentError) and each.code is ErrorCode.BUSY for each in refused)
    assert ErrorCode.BUSY.value == 9
    assert len(model.requests) == 18


async def test_f21_cancelling_a_turn_that_waits_costs_the_others_nothing(runner_of: RunnerOf) -> None:
    model = ScriptedModel(always="Hello.")
    model.go.clear()
    async with runner_of(model) as runner:
        session = runner.get_or_create_session("a")
        turns = [asyncio.create_task(_all(session.run(f"{n}"))) for n in range(3)]
        await model.holding.wait()
        turns[1].cancel()
        await asyncio.wait([turns[1]])
        assert runner.waiting == 1
        model.go.set()
        await asyncio.gather(turns[0], turns[2])

    assert [request.contents[-1].text for request in model.requests] == ["0", "2"]


async def test_f21_cancelling_mid_action_frees_the_order_for_the_next(runner_of: RunnerOf, lamps: Lamps) -> None:
    lamps.go.clear()
    model = ScriptedModel(act(call("turn_on_light", room="hall")), act(call("turn_off_light", room="hall")), "Off.")
    async with runner_of(model) as runner:
        async with aclosing(runner.run_single_turn("on")) as stream:
            await anext(stream)
            await lamps.entered.wait()

        assert (await _events(runner))[-1] == TextMessage("Off.")
    assert lamps.moves == ["hall off"]


class DeafTool(AgentTool):
    """Goes on although it is told to end, until the test lets go; then it would like to ask."""

    def __init__(self, delegate: Callable[..., Any]) -> None:
        super().__init__(delegate)
        self.entered = asyncio.Event()
        self.let_go = asyncio.Event()
        self.over = asyncio.Event()
        self.confirmed: bool | None = None

    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
        self.entered.set()
        while not self.let_go.is_set():
            with suppress(asyncio.CancelledError):
                await self.let_go.wait()
        self.confirmed = await call.confirm("Are you still there?")
        self.over.set()
        return {}


@pytest.mark.parametrize("how", ["timed out", "cancelled"])
async def test_f21_tool_that_does_not_end_when_it_is_told_to_holds_up_nobody(
    lamps: Lamps, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    deaf = DeafTool(lamps.open_garage_door)
    lines = (act(call("open_garage_door")), act(call("turn_off_light", room="hall")), "Off.")
    limits = Limits(tool_timeout_s=0.05, confirm_timeout_s=60)
    async with AgentRunner(
        Agent("hearth", tools=(deaf, lamps.turn_off_light)), ScriptedModel(*lines), limits=limits
    ) as runner:
        if how == "timed out":
            assert (await _failure(runner))[0].code is ErrorCode.TOOL_TIMEOUT
        else:
            async with aclosing(runner.run_single_turn("open it")) as stream:
                await anext(stream)
                await deaf.entered.wait()
        events = await _events(runner)
        deaf.let_go.set()
        await deaf.over.wait()

    assert events[-1] == TextMessage("Off.")
    assert lamps.moves == ["hall off"]
    assert deaf.confirmed is False
    assert "open_garage_door goes on although it was told to end" in caplog.text


async def test_result_of_a_tool_that_ends_after_its_time_is_lost(lamps: Lamps) -> None:
    @tool
    async def catch() -> str:
        """Catches."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "caught"
        return "never"

    async with AgentRunner(
        Agent("hearth", tools=(catch,)), ScriptedModel(act(call("catch"))), limits=Limits(tool_timeout_s=0.01)
    ) as runner:
        error, _ = await _failure(runner)

    assert error.code is ErrorCode.TOOL_TIMEOUT


async def test_turns_that_wait_to_act_count_as_waiting(runner_of: RunnerOf, lamps: Lamps) -> None:
    lamps.go.clear()

    def by_text(request: GenerateContentRequest) -> Any:
        return "On." if request.contents[-1].responses else act(call("turn_on_light", room="hall"))

    async with runner_of(ScriptedModel(always=by_text), max_waiting=2) as runner:
        turns = [asyncio.create_task(_all(runner.get_or_create_session(f"{n}").run("on"))) for n in range(4)]
        await lamps.entered.wait()
        await asyncio.wait([turns[3]])
        assert runner.waiting == 2
        lamps.go.set()
        *done, refused = await asyncio.gather(*turns, return_exceptions=True)

    assert isinstance(refused, AgentError) and refused.code is ErrorCode.BUSY
    assert [events[-1] for events in done if isinstance(events, list)] == [TextMessage("On.")] * 3


async def test_turn_that_acts_at_last_waits_no_longer(runner_of: RunnerOf, lamps: Lamps) -> None:
    lamps.go.clear()
    async with runner_of(ScriptedModel(always=act(call("turn_on_light", room="hall")))) as runner:
        first, second = (asyncio.create_task(_all(runner.get_or_create_session(name).run("on"))) for name in "ab")
        await lamps.entered.wait()
        assert runner.waiting == 1
        lamps.entered.clear()
        first.cancel()
        await lamps.entered.wait()

        assert runner.waiting == 0
        second.cancel()


async def test_turn_that_is_cancelled_before_it_began_leaves_no_trace(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel("Hello.")) as runner:
        session = runner.get_or_create_session("a")
        turn = asyncio.create_task(_all(session.run("hello")))
        await asyncio.sleep(0)
        await session.close()
        with pytest.raises(AgentError):
            await turn

        assert await _events(runner) == [TextMessage("Hello.")]
        assert runner.waiting == 0


async def test_sessions_know_nothing_of_each_other(runner_of: RunnerOf) -> None:
    model = ScriptedModel(always="Hello.")
    async with runner_of(model) as runner:
        for name in ("a", "b", "a"):
            await _all(runner.get_or_create_session(name).run(f"I am {name}"))

    assert [each.text for each in model.requests[1].contents] == ["I am b"]
    assert [each.text for each in model.requests[2].contents] == ["I am a", "Hello.", "I am a"]


async def test_closing_the_runner_ends_every_turn_and_refuses_new_ones(runner_of: RunnerOf) -> None:
    model = ScriptedModel(HOLD)
    async with runner_of(model) as runner:
        session = runner.get_or_create_session("a")
        turns = [
            asyncio.create_task(_all(stream))
            for stream in (session.run("1"), session.run("2"), runner.run_single_turn("3"))
        ]
        await model.holding.wait()
    results = await asyncio.gather(*turns, return_exceptions=True)

    assert [each.code for each in results if isinstance(each, AgentError)] == [ErrorCode.NOT_AVAILABLE] * 3
    assert (await _failure(runner))[0].code is ErrorCode.NOT_AVAILABLE
    with pytest.raises(AgentError):
        runner.get_or_create_session("a")
    assert model.closed == 0
    await runner.close()


# Confirmation


async def _all(stream: Any) -> list[AgentEvent]:
    return [event async for event in stream]


async def _confirmed(runner: AgentRunner, answer: bool) -> list[AgentEvent]:
    events: list[AgentEvent] = []
    async for event in runner.run_single_turn("open the garage"):
        events.append(event)
        if isinstance(event, ConfirmationRequest):
            assert runner.confirm(event.id, answer)
            assert not runner.confirm(event.id, not answer)
    return events


async def test_confirmed_call_is_made(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(act(call("open_garage_door")), "The garage door is open.")) as runner:
        called, asked, responded, text = await _confirmed(runner, True)

    assert asked == ConfirmationRequest(called.id, "open_garage_door", {}, "Open the garage door?")  # type: ignore[attr-defined]
    assert responded.response == {"status": "ok"}  # type: ignore[attr-defined]
    assert text == TextMessage("The garage door is open.")
    assert lamps.moves == ["garage open"]


async def test_refused_call_is_not_made_and_counts_as_no_action(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(act(call("open_garage_door")), "I opened it.")) as runner:
        events = await _confirmed(runner, False)

    assert _of(FunctionResponse, events)[0].response["status"] == "CANCELLED_BY_USER"
    assert events[-1] == TextMessage(NOTHING)
    assert lamps.moves == []


async def test_person_who_said_no_is_not_asked_again_in_the_same_run(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel(always=act(call("open_garage_door")))) as runner:
        with pytest.raises(AgentError) as failure:
            await _confirmed(runner, False)

    assert failure.value.code is ErrorCode.REPEATED_CALL
    assert lamps.moves == []


async def test_question_without_an_answer_is_a_no_after_its_time(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(act(call("open_garage_door")), "Okay, I left it as it is.")
    async with runner_of(model, confirm_timeout_s=0.01) as runner:
        events = await _events(runner)
        assert not runner.confirm(_of(ConfirmationRequest, events)[0].id, True)

    assert _of(FunctionResponse, events)[0].response["status"] == "CANCELLED_BY_USER"
    assert events[-1] == TextMessage("Okay, I left it as it is.")
    assert lamps.moves == []


async def test_time_a_person_takes_counts_for_no_limit(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(act(call("open_garage_door")), "The garage door is open.")
    async with runner_of(model, deadline_s=0.3, tool_timeout_s=0.05) as runner:
        events = []
        async for event in runner.run_single_turn("open the garage"):
            events.append(event)
            if isinstance(event, ConfirmationRequest):
                asyncio.get_running_loop().call_later(0.4, runner.confirm, event.id, True)

    assert events[-1] == TextMessage("The garage door is open.")
    assert lamps.moves == ["garage open"]


async def test_others_act_while_a_person_is_asked(runner_of: RunnerOf, lamps: Lamps) -> None:
    model = ScriptedModel(
        act(call("open_garage_door")),
        act(call("turn_off_light", room="hall")),
        "Off.",
        "The garage door is open.",
    )
    async with runner_of(model) as runner:
        async for event in runner.run_single_turn("open the garage"):
            if isinstance(event, ConfirmationRequest):
                assert (await _events(runner, "off"))[-1] == TextMessage("Off.")
                runner.confirm(event.id, True)

    assert lamps.moves == ["hall off", "garage open"]


async def test_answer_to_no_question_is_told_apart(runner_of: RunnerOf) -> None:
    async with runner_of(ScriptedModel()) as runner:
        assert not runner.confirm("nothing", True)


# Calls from outside of the loop


async def test_tool_is_called_directly_within_the_callers_access(runner_of: RunnerOf, lamps: Lamps) -> None:
    async with runner_of(ScriptedModel()) as runner:
        done = await runner.call_tool("turn_on_light", {"room": "hall"}, AccessLevel.TRUSTED)
        wrong = await runner.call_tool("turn_on_light", {}, AccessLevel.TRUSTED)
        with pytest.raises(AgentError) as hidden:
            await runner.call_tool("open_garage_door", {}, AccessLevel.SYSTEM)

    assert done == {"status": "ok"}
    assert "room" in wrong["error"]
    assert hidden.value.code is ErrorCode.INVALID_REQUEST
    assert hidden.value.message.endswith("there are turn_on_light, turn_off_light, get_state, fail.")
    assert lamps.moves == ["hall on"]


async def test_tool_called_directly_asks_its_caller_or_is_not_made(runner_of: RunnerOf, lamps: Lamps) -> None:
    def nod(question: ConfirmationRequest) -> None:
        asyncio.get_running_loop().call_soon(runner.confirm, question.id, True)

    async with runner_of(ScriptedModel()) as runner:
        nobody = await runner.call_tool("open_garage_door", {}, AccessLevel.SELF)
        asked = await runner.call_tool("open_garage_door", {}, AccessLevel.SELF, nod)

    assert nobody["status"] == "CANCELLED_BY_USER"
    assert asked == {"status": "ok"}
    assert lamps.moves == ["garage open"]


# Direct access to a model: the application runs the loop


async def test_application_runs_the_loop_itself(lamps: Lamps) -> None:
    model: GenerativeModel = ScriptedModel(act(call("turn_on_light", room="hall")), "The hall light is on.")
    declarations = tuple(each.declaration for each in lamps.tools)
    contents = [Content.user("light in the hall")]

    response = await model.generate_content(GenerateContentRequest(tuple(contents), declarations))
    (wanted,) = response.candidates[0].function_calls
    assert lamps.moves == []  # the model executes nothing
    await lamps.turn_on_light(**wanted.arguments)
    contents.append(response.candidates[0].content)
    contents.append(Content(Role.USER, (FunctionResponsePart(wanted.id, wanted.name, {"status": "ok"}),)))
    response = await model.generate_content(GenerateContentRequest(tuple(contents), declarations))

    assert response.candidates[0].text == "The hall light is on."
    assert response.candidates[0].function_calls == ()
    assert lamps.moves == ["hall on"]


# The agent and its tools


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "some_house"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "bells.py").write_text(
        "from agent.tool import tool\n"
        "@tool\ndef ring() -> None:\n    '''Rings.'''\n"
        "@tool\ndef knock() -> None:\n    '''Knocks.'''\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "some_house"
    for name in [each for each in sys.modules if each.split(".")[0] == "some_house"]:
        del sys.modules[name]


@tool
def ring() -> None:
    """Rings another bell."""


def test_tools_of_a_package_are_found_and_ids_narrow_them(package: str) -> None:
    assert [each.name for each in Agent("hearth", discover=package).all_tools] == ["ring", "knock"]
    assert [each.name for each in Agent("hearth", discover=package, ids=("knock",)).all_tools] == ["knock"]
    with pytest.raises(DeclarationError, match="bark"):
        Agent("hearth", discover=package, ids=("bark",))


def test_tool_that_is_found_and_handed_over_is_kept_once_with_a_warning(package: str) -> None:
    from some_house.bells import ring as bell  # type: ignore[import-not-found]

    handed = ConfirmationTool(bell)
    with pytest.warns(UserWarning, match="ring: .*some_house.bells.*handed over"):
        agent = Agent("hearth", tools=(handed,), discover=package)

    assert [each.name for each in agent.all_tools] == ["ring", "knock"]
    assert agent.all_tools[0] is handed


def test_two_tools_of_one_name_are_a_wrong_declaration(package: str) -> None:
    with pytest.raises(DeclarationError, match="ring"):
        Agent("hearth", tools=(ring,), discover=package)
    with pytest.raises(DeclarationError, match="ring"):
        Agent("hearth", tools=(ring, AgentTool(ring)))


def test_agent_without_turns_is_refused() -> None:
    with pytest.raises(ValueError, match="max_turns"):
        Agent("hearth", max_turns=0)
