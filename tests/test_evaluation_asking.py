"""What the model is asked, and what of its answers is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.content import Content, FunctionResponsePart, Role
from agent.errors import AgentError, ErrorCode
from agent.evaluation.asking import Result, evaluate
from agent.evaluation.cases import Case, read_cases
from agent.model.generative import Candidate, Outcome, UnavailableModel
from agent.schema import FunctionDeclaration
from tests.fakes import ScriptedModel, act, answer, ask, call, decline, prose, query
from tests.homes import SETTINGS
from tools.house import declarations, open_house

TOOLS = declarations()
APP = {
    "name": "open_app",
    "description": "Opens an app.",
    "parameters": {
        "type": "object",
        "properties": {"appName": {"type": "string"}, "loud": {"type": "boolean", "default": False}},
        "required": ["appName"],
    },
}
ON = {"name": "turn_on_light", "arguments": {"room": "kitchen"}}
STATE = {"name": "get_state", "arguments": {"device": "hall light"}}

Read = Callable[..., list[Case]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Cases as a file would give them."""

    def read(*cases: dict[str, Any]) -> list[Case]:
        path = tmp_path / "cases.jsonl"
        path.write_text("\n".join(json.dumps(case) for case in cases))
        return read_cases(path)

    return read


async def one(case: Case, model: ScriptedModel, **options: Any) -> Result:
    (result,) = await evaluate([case], model, TOOLS, **options)
    return result


def predicted(result: Result) -> list[list[dict[str, Any]]]:
    """What was called step by step, as a case has it."""
    return [[{"name": each.name, "arguments": each.arguments} for each in step.called] for step in result.steps]


# What is asked, and what is right


async def test_the_right_call_is_exact_and_nothing_is_executed(read: Read) -> None:
    (case,) = read({"text": "kitchen light", "calls": [ON]})
    model = ScriptedModel(Candidate(act(call("turn_on_light", room="the Kitchen")).content, Outcome.ACT, 0.9))

    result = await one(case, model)

    assert result.exact
    assert result.outcome is Outcome.ACT
    assert result.confidence == 0.9
    (request,) = model.requests
    assert request.contents == (Content.user("kitchen light"),)
    assert request.tools == TOOLS


async def test_calls_are_a_set(read: Read) -> None:
    on, off = call("turn_on_light", room="hall"), call("turn_off_light", room="kitchen")
    due = [{"name": each.name, "arguments": each.arguments} for each in (on, off)]
    (case,) = read({"text": "hall on, kitchen off", "calls": due})

    assert (await one(case, ScriptedModel(act(off, on)))).exact
    assert (await one(case, ScriptedModel(act(on, off, on)))).exact
    assert not (await one(case, ScriptedModel(act(on)))).exact
    assert not (await one(case, ScriptedModel(act(on, off, call("get_time"))))).exact


async def test_a_right_function_with_wrong_arguments_is_told_apart(read: Read) -> None:
    (case,) = read({"text": "kitchen light", "calls": [ON]})

    result = await one(case, ScriptedModel(act(call("turn_on_light", room="hall"))))

    assert result.functions_right
    assert not result.calls_right


@pytest.mark.parametrize("words", [ask("Which room?"), decline("I can't do that.")])
async def test_words_where_nothing_is_due_are_exact(read: Read, words: Candidate) -> None:
    (case,) = read({"text": "don't", "calls": []})

    result = await one(case, ScriptedModel(words))

    assert result.exact
    assert result.outcome is words.outcome
    assert result.answer == words.text


async def test_calls_beside_a_question_are_not_made(read: Read) -> None:
    (case,) = read({"text": "light", "calls": []})
    model = ScriptedModel(Candidate(act(call("turn_on_light", room="hall")).content, Outcome.ASK))

    assert (await one(case, model)).exact


async def test_history_comes_before_what_is_said(read: Read) -> None:
    turns = [{"role": "user", "text": "kitchen light on"}, {"role": "model", "text": "It is on."}]
    (case,) = read({"text": "off again", "calls": [], "history": turns})
    model = ScriptedModel(decline("No."))

    await one(case, model)

    contents = model.requests[0].contents
    assert contents == (
        Content.user("kitchen light on"),
        Content.model("It is on."),
        Content.user("off again"),
    )


async def test_tools_of_a_case_stand_in_for_the_others(read: Read) -> None:
    (case,) = read(
        {"text": "camera", "calls": [{"name": "open_app", "arguments": {"appName": "camera"}}], "tools": [APP]}
    )
    model = ScriptedModel(act(call("open_app", appName="Camera", loud=False)))

    assert (await one(case, model)).exact
    assert model.requests[0].tools == (FunctionDeclaration.from_json(APP),)


async def test_no_tools_of_its_own_is_different_from_an_empty_list(read: Read) -> None:
    first, second = read({"text": "x", "calls": []}, {"text": "x", "calls": [], "tools": []})
    model = ScriptedModel(always=decline("No."))

    await evaluate([first, second], model, TOOLS)

    assert [request.tools for request in model.requests] == [TOOLS, ()]


# Places


@pytest.mark.parametrize("said", [{}, {"room": "here"}])
async def test_a_place_that_is_not_said_is_the_requesters_room(read: Read, said: dict[str, str]) -> None:
    (case,) = read({"text": "light", "calls": [ON], "room": "kitchen"})

    result = await one(case, ScriptedModel(act(call("turn_on_light", **said))))

    assert result.exact
    assert predicted(result) == [[ON]]


async def test_an_expected_place_that_is_left_out_is_the_requesters_room(read: Read) -> None:
    (case,) = read({"text": "light", "calls": [{"name": "turn_on_light", "arguments": {}}], "room": "hall"})

    assert (await one(case, ScriptedModel(act(call("turn_on_light", room="hall"))))).exact


async def test_a_required_place_that_nobody_knows_is_asked_for(read: Read) -> None:
    (case,) = read({"text": "light", "calls": []})

    result = await one(case, ScriptedModel(act(call("turn_on_light"))))

    assert result.exact
    assert result.outcome is Outcome.ASK
    assert result.answer == "Which room?"
    assert not result.wrongful


# Runs

RUN = {
    "text": "if it is cold outside, turn on the kitchen light",
    "steps": [
        {
            "calls": [{"name": "get_current_weather", "arguments": {}}],
            "responses": [{"temperature": 3, "unit": "celsius"}],
        },
        {"calls": [ON], "responses": [{"status": "ok"}]},
    ],
    "answer_contains": ["Kitchen", "on"],
}


async def test_a_run_is_fed_its_responses_and_its_answer_checked(read: Read) -> None:
    (case,) = read(RUN)
    model = ScriptedModel(
        query(call("get_current_weather")),
        act(call("turn_on_light", room="kitchen")),
        answer("The KITCHEN light is ON."),
    )

    result = await one(case, model)

    assert result.exact
    assert result.outcome is Outcome.QUERY
    assert len(model.requests) == 3
    asked, called, responded = model.requests[1].contents
    assert asked == Content.user(RUN["text"])
    assert (called.role, responded.role) == (Role.MODEL, Role.USER)
    (made,) = called.calls
    assert responded.parts == (
        FunctionResponsePart(made.id, "get_current_weather", {"temperature": 3, "unit": "celsius"}),
    )
    assert len(model.requests[2].contents) == 5
    assert predicted(result) == [[{"name": "get_current_weather", "arguments": {}}], [ON], []]
    assert result.answer == "The KITCHEN light is ON."


async def test_an_answer_that_lacks_something_is_not_exact_though_the_calls_are(read: Read) -> None:
    (case,) = read(RUN)
    model = ScriptedModel(
        query(call("get_current_weather")), act(call("turn_on_light", room="kitchen")), answer("Done.")
    )

    result = await one(case, model)

    assert not result.exact
    assert result.calls_right


async def test_a_run_ends_at_the_first_wrong_step(read: Read) -> None:
    (case,) = read(RUN)
    model = ScriptedModel(act(call("turn_on_light", room="kitchen")))

    result = await one(case, model)

    assert not result.exact
    assert len(model.requests) == 1
    assert predicted(result) == [[ON]]
    assert result.answer == ""


async def test_a_run_that_goes_on_calling_is_not_exact(read: Read) -> None:
    (case,) = read({**RUN, "answer_contains": []})
    model = ScriptedModel(
        query(call("get_current_weather")),
        act(call("turn_on_light", room="kitchen")),
        act(call("turn_off_light", room="kitchen")),
    )

    result = await one(case, model)

    assert not result.exact
    assert result.wrongful
    assert [step.exact for step in result.steps] == [True, True, False]


async def test_each_call_of_a_step_gets_its_own_response_whatever_their_order(read: Read) -> None:
    calls = [{"name": "get_state", "arguments": {"device": name}} for name in ("hall light", "kettle")]
    step = {"calls": calls, "responses": [{"state": "on"}, {"state": "off"}]}
    (case,) = read({"text": "hall light and kettle?", "steps": [step], "answer_contains": []})
    model = ScriptedModel(
        query(call("get_state", device="the kettle"), call("get_state", device="hall light")), answer("So.")
    )

    await one(case, model)

    called, responded = model.requests[1].contents[1:]
    assert [each.response for each in responded.responses] == [{"state": "off"}, {"state": "on"}]
    assert [each.id for each in responded.responses] == [each.id for each in called.calls]
    assert len({each.id for each in called.calls}) == 2


async def test_it_means_the_place_of_an_earlier_step(read: Read) -> None:
    off = {"name": "turn_off_light", "arguments": {"room": "hall light"}}
    steps = [{"calls": [STATE], "responses": [{"state": "on"}]}, {"calls": [off], "responses": [{}]}]
    (case,) = read({"text": "if the hall light is on, turn it off", "steps": steps, "answer_contains": []})
    model = ScriptedModel(
        query(call("get_state", device="hall light")), act(call("turn_off_light", room="it")), answer("Done.")
    )

    assert (await one(case, model)).exact


async def test_a_last_step_without_calls_is_where_words_are_due(read: Read) -> None:
    failed = {"calls": [ON], "responses": [{"error": "there is no kitchen"}]}
    (case,) = read(
        {"text": "kitchen", "steps": [failed, {"calls": [], "responses": []}], "answer_contains": ["no kitchen"]}
    )
    model = ScriptedModel(act(call("turn_on_light", room="kitchen")), answer("There is no kitchen."))

    result = await one(case, model)

    assert result.exact
    assert [step.exact for step in result.steps] == [True, True]


async def test_a_response_that_is_no_object_is_a_result(read: Read) -> None:
    steps = [{"calls": [{"name": "get_time", "arguments": {}}], "responses": ["10:15"]}]
    (case,) = read({"text": "time?", "steps": steps})
    model = ScriptedModel(query(call("get_time")), answer("It is 10:15."))

    await one(case, model)

    assert model.requests[1].contents[-1].responses[0].response == {"result": "10:15"}


async def test_the_confidence_of_a_run_is_the_lowest(read: Read) -> None:
    (case,) = read({"text": "hall?", "steps": [{"calls": [STATE], "responses": [{"state": "on"}]}]})
    first = Candidate(query(call("get_state", device="hall light")).content, Outcome.QUERY, 0.6)
    model = ScriptedModel(first, Candidate(Content.model("On."), Outcome.ANSWER, 0.9))

    assert (await one(case, model)).confidence == 0.6


# Wrongful calls


@pytest.mark.parametrize(
    ("due", "called", "wrongful"),
    [
        ([], act(call("turn_on_light", room="hall")), True),
        ([], query(call("get_time")), False),
        ([STATE], act(call("turn_on_light", room="hall light")), True),
        ([ON], act(call("turn_off_light", room="kitchen")), False),
        ([], decline("No."), False),
        ([], act(call("no_such_function")), False),
    ],
)
async def test_a_function_that_may_change_something_is_wrongful_where_none_was_due(
    read: Read, due: list[dict[str, Any]], called: Candidate, wrongful: bool
) -> None:
    (case,) = read({"text": "x", "calls": due})

    assert (await one(case, ScriptedModel(called))).wrongful is wrongful


@pytest.mark.parametrize(("read_only", "wrongful"), [(None, True), (False, True), (True, False)])
async def test_a_function_that_does_not_say_whether_it_changes_something_counts(
    read: Read, read_only: bool | None, wrongful: bool
) -> None:
    data = APP if read_only is None else {**APP, "read_only": read_only}
    (case,) = read({"text": "x", "calls": [], "tools": [data]})

    assert (await one(case, ScriptedModel(act(call("open_app", appName="x"))))).wrongful is wrongful


# Models that tell less, and limits


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (prose("", [call("get_time")]), Outcome.QUERY),
        (prose("", [call("turn_on_light", room="hall")]), Outcome.ACT),
        (prose("Which one?"), Outcome.ASK),
        (prose("I can't."), Outcome.DECLINE),
        (answer("It is late."), Outcome.DECLINE),
    ],
)
async def test_a_model_that_does_not_tell_its_outcome_is_judged_by_what_it_does(
    read: Read, said: Candidate, outcome: Outcome
) -> None:
    (case,) = read({"text": "x", "calls": []})

    result = await one(case, ScriptedModel(said))

    assert result.outcome is outcome
    assert result.confidence is None


async def test_a_case_beyond_a_limit_of_the_model_calls_nothing_and_is_told(read: Read) -> None:
    first, second = read({"text": "x " * 500, "calls": []}, {"text": "time", "calls": []})
    model = ScriptedModel(AgentError(ErrorCode.INVALID_REQUEST, "That is too long for me."), decline("No."))
    told: list[str] = []

    results = await evaluate([first, second], model, TOOLS, warn=told.append)

    assert [result.outcome for result in results] == [Outcome.DECLINE, Outcome.DECLINE]
    assert told == [f"{first.where}: INVALID_REQUEST: That is too long for me."]


async def test_without_a_model_there_are_no_figures(read: Read) -> None:
    with pytest.raises(AgentError, match="no file"):
        await evaluate(read({"text": "x", "calls": []}), UnavailableModel("no file"), TOOLS)


async def test_an_expectation_that_cannot_come_true_is_told(read: Read) -> None:
    calls = [{"name": "turn_on_lamp", "arguments": {}}, {"name": "get_time", "arguments": {"zone": "UTC"}}]
    (case,) = read({"text": "x", "calls": calls})
    told: list[str] = []

    await one(case, ScriptedModel(decline("No.")), warn=told.append)

    assert told[0].startswith(f"{case.where}: there is no function turn_on_lamp; there are turn_on_light,")
    assert told[1] == f"{case.where}: get_time has no parameter zone"


async def test_a_kind_alone_is_compared_as_that_of_the_requesters_room(read: Read) -> None:
    calls = [{"name": "turn_on_light", "arguments": {"room": "the hall"}}]
    here, elsewhere = read(*({"text": "x", "room": room, "calls": calls} for room in ("hall", "office")))
    said = act(call("turn_on_light", room="the lamps"))

    async with open_house(SETTINGS) as house:
        assert (await one(here, ScriptedModel(said), house=house)).exact
        assert not (await one(elsewhere, ScriptedModel(said), house=house)).exact


async def test_with_a_house_calls_are_compared_by_what_they_move(read: Read) -> None:
    (case,) = read({"text": "x", "calls": [{"name": "turn_on_light", "arguments": {"room": "the lounge"}}]})
    said = act(call("turn_on_light", room="living room"))

    async with open_house(SETTINGS) as house:
        assert (await one(case, ScriptedModel(said), house=house)).exact
    assert not (await one(case, ScriptedModel(said))).exact
