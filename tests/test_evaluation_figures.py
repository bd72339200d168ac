"""What is counted, and how it is shown."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.evaluation.asking import Result, evaluate
from agent.evaluation.figures import Figures, as_json, as_text, by_category, percentile
from tests.fakes import ScriptedModel, act, ask, call, decline

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI may be busy

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
