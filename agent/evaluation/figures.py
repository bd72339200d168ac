"""Counting the results, and showing the figures to a program or to a person."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from agent.content import FunctionCallPart
from agent.evaluation.asking import Result
from agent.model.generative import Outcome


@dataclass(frozen=True)
class Figures:
    """Shares of some cases, 0 to 1."""

    results: tuple[Result, ...]

    @property
    def exact(self) -> float:
        """All calls right, and the answer where one is expected."""
        return _share(each.exact for each in self.results)

    @property
    def function(self) -> float:
        """The functions right; none called where none was due."""
        return _share(each.functions_right for each in self.results)

    @property
    def arguments(self) -> float | None:
        """The arguments right, of the cases with calls due whose functions are right; None without such."""
        judged = [each for each in self.results if each.functions_right and any(step.due for step in each.steps)]
        return _share(each.calls_right for each in judged) if judged else None

    @property
    def wrongful(self) -> float:
        """A function that is not read-only was called, of the cases in which none was due."""
        return _share(each.wrongful for each in self.results if each.none_due)

    @property
    def asked(self) -> float:
        """The model asked."""
        return _share(each.outcome is Outcome.ASK for each in self.results)

    @property
    def declined(self) -> float:
        """The model said that it cannot."""
        return _share(each.outcome is Outcome.DECLINE for each in self.results)


def _share(hits: Iterable[bool]) -> float:
    counted = list(hits)
    return fmean(counted) if counted else 0.0


def by_category(results: Iterable[Result]) -> dict[str, Figures]:
    """The figures of each category, in the order in which they come up."""
    groups: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        if result.case.category is not None:
            groups[result.case.category].append(result)
    return {category: Figures(tuple(group)) for category, group in groups.items()}


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest of at least one value that so many percent of them do not pass."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


# For a program


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """The figures and each case, as `--json` prints them."""
    times = [result.ms for result in results]
    categories = by_category(results).items()
    return {
        **_figures(Figures(tuple(results))),
        "by_category": {name: {"cases": len(each.results), **_figures(each)} for name, each in categories},
        "p50_ms": round(percentile(times, 50), 3),
        "p95_ms": round(percentile(times, 95), 3),
        "cases": [_case(result) for result in results],
    }


def _figures(figures: Figures) -> dict[str, float | None]:
    return {name: getattr(figures, name) for name in ("exact", "function", "arguments", "wrongful")}


def _case(result: Result) -> dict[str, Any]:
    """The calls of a run are those of its steps, one after the other."""
    data = {
        "text": result.case.text,
        "expected": _calls(call for step in result.case.steps for call in step.calls),
        "predicted": _calls(call for step in result.steps for call in step.called),
        "outcome": result.outcome.value,
        "exact": result.exact,
        "confidence": result.confidence,
        "ms": round(result.ms, 3),
    }
    if result.case.run:
        # The answer that follows the last step is not one of the case's steps.
        asked = result.steps[: len(result.case.steps)]
        data["steps"] = [{"predicted": _calls(step.called), "exact": step.exact} for step in asked]
    return {**data, "answer": result.answer} if result.answer else data


def _calls(calls: Iterable[FunctionCallPart]) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


# For a person

_COLUMNS: Final = ("exact", "function", "arguments", "wrongful", "asked", "declined")


def as_text(results: Sequence[Result]) -> str:
    """The figures as a table for a person."""
    rows = [("all", Figures(tuple(results))), *by_category(results).items()]
    width = max(len(name) for name, _ in rows)
    lines = [_row("", width, ["cases", *_COLUMNS])]
    for name, each in rows:
        shares = [getattr(each, column) for column in _COLUMNS]
        cells = ["-" if share is None else f"{share:.1%}" for share in shares]
        lines.append(_row(name, width, [str(len(each.results)), *cells]))
    times = [result.ms for result in results]
    lines += [
        "",
        "function: the functions right; arguments: of those, theirs right; wrongful: a function that is not",
        "read-only called, of the cases where none was due",
        f"p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms",
    ]
    return "\n".join(lines)


def _row(name: str, width: int, cells: Iterable[str]) -> str:
    return " ".join([f"{name:<{width}}", *(f"{cell:>9}" for cell in cells)])
