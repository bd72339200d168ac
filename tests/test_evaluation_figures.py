"""What is counted, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.content import FunctionCallPart
from agent.evaluation.asking import Result, StepResult
from agent.evaluation.cases import Case, Step
from agent.evaluation.figures import Figures, as_json, as_text, by_category, percentile
from agent.model.generative import Outcome
from tests.fakes import call

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI may be busy

ON = call("turn_on_light", room="kitchen")
ELSEWHERE = call("turn_on_light", room="hall")
WEATHER = call("get_current_weather")


def step(due: Sequence[FunctionCallPart], called: Sequence[FunctionCallPart]) -> StepResult:
    """As if every function changed something."""
    return StepResult(tuple(due), tuple(called), due == called, not due, not due and bool(called))


def result(
    text: str,
    category: str | None,
    due: Sequence[FunctionCallPart],
    called: Sequence[FunctionCallPart],
    outcome: Outcome = Outcome.ACT,
    confidence: float | None = None,
    answer: str = "",
) -> Result:
    case = Case("", text, (Step(tuple(due)),), category=category)
    return Result(case, (step(due, called),), outcome, confidence, float(text), answer)


RESULTS = (
    result("1", "light", [ON], [ON], confidence=0.9),
    result("2", "light", [ON], [ELSEWHERE]),
    result("3", "light", [ON], [], Outcome.ASK, answer="Which?"),
    result("4", "none", [], [ELSEWHERE]),
    result("5", None, [], [], Outcome.DECLINE, answer="No."),
)
"""Each took as many milliseconds as its text says."""


def test_figures_are_shares_of_the_cases_that_they_are_about() -> None:
    all_of_them = Figures(RESULTS)

    assert all_of_them.exact == 2 / 5
    assert all_of_them.function == 3 / 5
    assert all_of_them.arguments == 1 / 2
    assert all_of_them.wrongful == 1 / 2
    assert all_of_them.asked == 1 / 5
    assert all_of_them.declined == 1 / 5


def test_categories_are_counted_by_themselves() -> None:
    categories = by_category(RESULTS)

    assert list(categories) == ["light", "none"]
    assert categories["light"].exact == 1 / 3
    assert categories["light"].wrongful == 0
    assert categories["none"].wrongful == 1
    assert categories["none"].arguments is None


def test_json_holds_what_is_promised_in_the_order_of_the_file() -> None:
    data = as_json(RESULTS)

    assert list(data) == [
        "exact", "function", "arguments", "wrongful", "by_category", "p50_ms", "p95_ms", "cases",
    ]  # fmt: skip
    assert [case["text"] for case in data["cases"]] == ["1", "2", "3", "4", "5"]
    first, third = data["cases"][0], data["cases"][2]
    assert list(first) == ["text", "expected", "predicted", "outcome", "exact", "confidence", "ms"]
    assert first["expected"] == first["predicted"] == [{"name": "turn_on_light", "arguments": {"room": "kitchen"}}]
    assert (third["outcome"], third["answer"]) == ("ask", "Which?")
    assert (first["confidence"], third["confidence"]) == (0.9, None)
    assert (data["p50_ms"], data["p95_ms"], first["ms"]) == (3, 5, 1)
    json.dumps(data)


def test_json_of_a_run_has_its_steps_but_its_answer_beside_them() -> None:
    steps = (step([WEATHER], [WEATHER]), step([ON], [ON]), step([], []))
    case = Case("", "if it is cold", (Step((WEATHER,), ({},)), Step((ON,), ({},))), run=True)

    (data,) = as_json([Result(case, steps, Outcome.QUERY, None, 1, "It is on.")])["cases"]

    weather, light = {"name": "get_current_weather", "arguments": {}}, {"name": ON.name, "arguments": ON.arguments}
    assert data["expected"] == data["predicted"] == [weather, light]
    assert data["steps"] == [{"predicted": [weather], "exact": True}, {"predicted": [light], "exact": True}]
    assert data["answer"] == "It is on."


def test_json_of_a_run_that_went_wrong_has_the_steps_that_were_asked() -> None:
    case = Case("", "if it is cold", (Step((WEATHER,), ({},)), Step((ON,), ({},))), run=True)

    (data,) = as_json([Result(case, (step([WEATHER], [ON]),), Outcome.ACT, None, 1, "")])["cases"]

    assert [each["exact"] for each in data["steps"]] == [False]
    assert len(data["expected"]) == 2
    assert "answer" not in data


def test_text_shows_every_figure_by_category() -> None:
    lines = as_text(RESULTS).splitlines()

    assert lines[0].split() == [
        "cases", "exact", "function", "arguments", "wrongful", "asked", "declined",
    ]  # fmt: skip
    assert lines[1].split() == ["all", "5", "40.0%", "60.0%", "50.0%", "50.0%", "20.0%", "20.0%"]
    assert lines[2].split()[:3] == ["light", "3", "33.3%"]
    assert lines[3].split()[4] == "-"
    assert lines[-1] == "p50 3.0 ms, p95 5.0 ms"


def test_a_category_called_all_is_not_taken_for_all_cases() -> None:
    first, *others = RESULTS
    renamed = replace(first, case=replace(first.case, category="all"))

    lines = as_text([renamed, *others]).splitlines()

    assert [line.split()[:3] for line in lines[1:3]] == [["all", "5", "40.0%"], ["all", "1", "100.0%"]]


@unhurried
@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 100))
def test_a_percentile_is_one_of_the_values_and_holds_its_share(values: list[float], percent: float) -> None:
    found = percentile(values, percent)

    assert found in values
    assert sum(value <= found for value in values) >= len(values) * percent / 100 - 1e-6
