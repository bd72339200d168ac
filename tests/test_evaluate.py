"""`hearth eval`: what it asks, what it counts, and what it says of files that are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import agent.evaluate
from agent.cli import main
from agent.content import Content, FunctionResponsePart, Role
from agent.errors import AgentError, ErrorCode
from agent.evaluate import (
    Case,
    Figures,
    MalformedError,
    Result,
    as_json,
    as_text,
    by_category,
    evaluate,
    percentile,
    read_cases,
    read_tools,
)
from agent.model.generative import Candidate, Outcome, UnavailableModel
from agent.schema import FunctionDeclaration
from tests.fakes import ScriptedModel, act, answer, ask, call, decline, prose, query
from tests.homes import SETTINGS
from tools.house import declarations, open_house

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI may be busy

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
    (result,) = await evaluate([case], model, options.pop("tools", TOOLS), **options)
    return result


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
    assert result.to_json()["answer"] == words.text


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
    assert result.to_json()["predicted"] == [ON]


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
    assert result.to_json()["steps"] == [
        {"predicted": [{"name": "get_current_weather", "arguments": {}}], "exact": True},
        {"predicted": [ON], "exact": True},
    ]
    assert result.to_json()["answer"] == "The KITCHEN light is ON."
    assert len(result.to_json()["expected"]) == len(result.to_json()["predicted"]) == 2


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
    assert result.to_json()["steps"] == [{"predicted": [ON], "exact": False}]
    assert "answer" not in result.to_json()


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
    assert [step["exact"] for step in result.to_json()["steps"]] == [True, True]


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
    assert [step["exact"] for step in result.to_json()["steps"]] == [True, True]


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


async def test_with_a_house_calls_are_compared_by_what_they_move(read: Read) -> None:
    (case,) = read({"text": "x", "calls": [{"name": "turn_on_light", "arguments": {"room": "the lounge"}}]})
    said = act(call("turn_on_light", room="living room"))

    async with open_house(SETTINGS) as house:
        assert (await one(case, ScriptedModel(said), house=house)).exact
    assert not (await one(case, ScriptedModel(said))).exact


# Figures


async def figures(read: Read) -> list[Result]:
    cases = read(
        {"text": "1", "calls": [ON], "category": "light"},
        {"text": "2", "calls": [ON], "category": "light"},
        {"text": "3", "calls": [ON], "category": "light"},
        {"text": "4", "calls": [], "category": "none"},
        {"text": "5", "calls": []},
    )
    model = ScriptedModel(
        act(call("turn_on_light", room="kitchen")),
        act(call("turn_on_light", room="hall")),
        ask("Which?"),
        act(call("turn_on_light", room="hall")),
        decline("No."),
    )
    return await evaluate(cases, model, TOOLS)


async def test_figures_are_shares_of_the_cases_that_they_are_about(read: Read) -> None:
    all_of_them = Figures(tuple(await figures(read)))

    assert all_of_them.exact == 2 / 5
    assert all_of_them.function == 3 / 5
    assert all_of_them.arguments == 1 / 2
    assert all_of_them.wrongful == 1 / 2
    assert all_of_them.asked == 1 / 5
    assert all_of_them.declined == 1 / 5


async def test_categories_are_counted_by_themselves(read: Read) -> None:
    categories = by_category(await figures(read))

    assert list(categories) == ["light", "none"]
    assert categories["light"].exact == 1 / 3
    assert categories["light"].wrongful == 0
    assert categories["none"].wrongful == 1
    assert categories["none"].arguments is None


async def test_json_holds_what_is_promised_in_the_order_of_the_file(read: Read) -> None:
    data = as_json(await figures(read))

    assert list(data) == [
        "exact", "function", "arguments", "wrongful", "by_category", "p50_ms", "p95_ms", "cases",
    ]  # fmt: skip
    assert [case["text"] for case in data["cases"]] == ["1", "2", "3", "4", "5"]
    first, third = data["cases"][0], data["cases"][2]
    assert list(first) == ["text", "expected", "predicted", "outcome", "exact", "confidence", "ms"]
    assert first["expected"] == first["predicted"] == [ON]
    assert (third["outcome"], third["answer"]) == ("ask", "Which?")
    assert 0 <= first["ms"] < 1000
    json.dumps(data)


async def test_text_shows_every_figure_by_category(read: Read) -> None:
    lines = as_text(await figures(read)).splitlines()

    assert lines[0].split() == [
        "cases", "exact", "function", "arguments", "wrongful", "asked", "declined",
    ]  # fmt: skip
    assert lines[1].split() == ["all", "5", "40.0%", "60.0%", "50.0%", "50.0%", "20.0%", "20.0%"]
    assert lines[2].split()[:3] == ["light", "3", "33.3%"]
    assert lines[3].split()[4] == "-"
    assert lines[-1].startswith("p50 ")


@unhurried
@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 100))
def test_a_percentile_is_one_of_the_values_and_holds_its_share(values: list[float], percent: float) -> None:
    found = percentile(values, percent)

    assert found in values
    assert sum(value <= found for value in values) >= len(values) * percent / 100 - 1e-6


# Files


MALFORMED = {
    "no JSON": "it is no JSON: Expecting value at column 1",
    "[1]": "a case is [1]; it is to be an object",
    '{"calls": []}': "text is missing",
    '{"text": 5, "calls": []}': "text is 5; it is to be a text",
    '{"text": " ", "calls": []}': "text has no words",
    '{"text": "x"}': "a case has either calls or steps",
    '{"text": "x", "calls": [], "steps": []}': "a case has either calls or steps",
    '{"text": "x", "calls": {}}': "calls is {}; it is to be a list",
    '{"text": "x", "calls": ["f"]}': "calls[0] is 'f'; it is to be an object",
    '{"text": "x", "calls": [{"name": "f"}]}': "calls[0].arguments is missing",
    '{"text": "x", "calls": [{"arguments": {}}]}': "calls[0].name is missing",
    '{"text": "x", "calls": [], "room": 1}': "room is 1; it is to be a text",
    '{"text": "x", "calls": [], "history": [{"role": "agent", "text": "x"}]}': (
        "history[0].role is 'agent'; allowed are user and model"
    ),
    '{"text": "x", "calls": [], "tools": [{"name": "a b"}]}': "'a b' cannot be the name of a function",
    '{"text": "x", "calls": [], "tools": [{"name": "f"}, {"name": "f"}]}': "f: two functions have this name",
    '{"text": "x", "steps": []}': "steps is empty",
    '{"text": "x", "steps": [{"calls": [{"name": "f", "arguments": {}}]}]}': (
        "steps[0] has 1 calls and 0 responses"
    ),
    '{"text": "x", "steps": [{"calls": []}, {"calls": []}]}': "steps[0] has no calls, so no step can follow it",
    '{"text": "x", "steps": [{"calls": []}], "answer_contains": [1]}': (
        "each of answer_contains is 1; it is to be a text"
    ),
    '{"text": "\\ud800", "calls": []}': "it holds characters that are no text",
    "[" * 100_000: "it is nested too deeply",
    "1" * 5_000: "Exceeds the limit",
}


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: line[:60])
def test_a_malformed_case_is_named_by_file_and_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f'{{"text": "fine", "calls": []}}\n\n{line}\n')

    with pytest.raises(MalformedError) as caught:
        read_cases(path)

    assert str(caught.value).startswith(f"{path}, line 3: {MALFORMED[line]}")
    assert "\n" not in str(caught.value)


def test_every_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"text": 1}\n\xff\n{"text": "fine", "calls": []}\n{}')

    with pytest.raises(MalformedError) as caught:
        read_cases(path)

    assert str(caught.value).splitlines() == [
        f"{path}, line 1: text is 1; it is to be a text",
        f"{path}, line 2: it is no text in UTF-8",
        f"{path}, line 4: text is missing",
    ]


@unhurried
@given(st.binary() | st.text().map(str.encode))
def test_whatever_is_in_a_file_is_cases_or_a_sentence(raw: bytes) -> None:
    for reader in (read_cases, read_tools):
        try:
            reader(_File(raw))  # type: ignore[arg-type]
        except MalformedError as error:
            assert str(error).startswith("a file, line ")


class _File:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def read_bytes(self) -> bytes:
        return self._raw

    def __str__(self) -> str:
        return "a file"


def test_a_line_may_hold_other_separators_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes("\ufeff".encode() + '{"text": "a\u2028b", "calls": []}\r\n'.encode())

    assert [case.text for case in read_cases(path)] == ["a\u2028b"]


def test_tools_are_declarations(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([APP, {**APP, "name": "other", "read_only": True}]))

    first, second = read_tools(path)

    assert (first.name, first.read_only) == ("open_app", None)
    assert (second.name, second.read_only) == ("other", True)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("{}", ["line 1: it is to be a list of declarations"]),
        ('[\n{"name": "f"},\n', ["line 3: it is no JSON"]),
        ('[\n\n{"name": "f"},\n{"name":\n"f"}]', ["line 4: f: two functions have this name"]),
        (
            '[{"name": "f", "parameters": {"oneOf": []}},\n{"description": "x"}]',
            ["line 1: f: oneOf is not supported", "line 2: a declaration is an object with a name"],
        ),
    ],
)
def test_a_malformed_declaration_is_named_by_file_and_line(
    text: str, sentences: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)

    with pytest.raises(MalformedError) as caught:
        read_tools(path)

    found = str(caught.value).splitlines()
    assert len(found) == len(sentences)
    for line, sentence in zip(found, sentences, strict=True):
        assert line.startswith(f"{path}, {sentence}")


# The command


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """What `hearth eval` loads."""
    model = ScriptedModel(always=act(call("turn_on_light", room="living room")))
    monkeypatch.setattr(agent.evaluate, "load_model", lambda config: model)
    return model


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.jsonl"
    lounge = {"name": "turn_on_light", "arguments": {"room": "lounge"}}
    path.write_text(json.dumps({"text": "lounge light", "calls": [lounge]}))
    return str(path)


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["eval", *arguments, "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_without_tools_the_example_house_is_asked(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = evaluated(capsys, cases)

    assert data["exact"] == 0
    assert {tool.name for tool in scripted.requests[-1].tools} >= {"turn_on_light", "get_state"}
    assert scripted.closed == 1


def test_home_compares_by_what_would_move(
    scripted: ScriptedModel, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home.toml"
    home.write_text(
        '[agent]\ninstructions = "Be brief."\n'
        '[[tools.room]]\nname = "living room"\naliases = ["lounge"]\n'
        '[[tools.device]]\nname = "lamp"\nkind = "light"\nroom = "living room"\n'
    )

    assert evaluated(capsys, cases, "--home", str(home))["exact"] == 1
    assert scripted.requests[-1].system_instruction == "Be brief."


def test_tools_from_a_file_are_what_is_asked_with(
    scripted: ScriptedModel, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([APP]))

    assert main(["eval", cases, "--tools", str(tools), "--json"]) == 0

    assert [tool.name for tool in scripted.requests[-1].tools] == ["open_app"]
    assert "there is no function turn_on_light; there are open_app" in capsys.readouterr().err


def test_the_declarations_are_read_before_anything_is_timed(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluated(capsys, cases)

    assert [request.contents[0].text for request in scripted.requests] == ["hello", "lounge light"]


def test_without_json_a_table_is_printed(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", cases]) == 0

    assert "wrongful" in capsys.readouterr().out


def test_malformed_files_end_with_2_and_a_sentence_for_each_line(
    scripted: ScriptedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, tools = tmp_path / "cases.jsonl", tmp_path / "tools.json"
    cases.write_text("{}\n{")
    tools.write_text("[1]")

    assert main(["eval", str(cases), "--tools", str(tools)]) == 2

    captured = capsys.readouterr()
    assert [line.partition(": ")[0] for line in captured.err.splitlines()] == [
        f"{tools}, line 1",
        f"{cases}, line 1",
        f"{cases}, line 2",
    ]
    assert captured.out == ""
    assert not scripted.requests


@pytest.mark.parametrize("option", ["--tools", "--home"])
def test_an_absent_file_ends_with_2(
    option: str, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = str(tmp_path / "absent")

    for arguments in ([absent], [cases, option, absent]):
        with pytest.raises(SystemExit) as caught:
            main(["eval", *arguments])

        assert caught.value.code == 2
        assert absent in capsys.readouterr().err


def test_settings_that_are_wrong_end_with_2(
    cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home.toml"
    home.write_text("[tools]\nroof = 1\n")

    assert main(["eval", cases, "--home", str(home)]) == 2
    error = capsys.readouterr().err
    assert str(home) in error and "roof" in error


def test_a_model_that_is_not_available_is_an_error_by_name(
    cases: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agent.evaluate, "load_model", lambda config: UnavailableModel("the file is broken"))

    assert main(["eval", cases]) == 1
    assert capsys.readouterr().err == "NOT_AVAILABLE: There is no model: the file is broken\n"
