"""Fits how sure the shipped model is, and from where on it acts: `python -m training.calibrate`.

On the recipe's held-apart text only. Platt's scaling (J. Platt, "Probabilistic outputs
for support vector machines", 1999) turns the product of a decision's probabilities into
the chance that its calls are right; the threshold is the lowest at which at most 1 % of
the sentences for which nothing is to be done are acted on.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.model import grammar
from agent.model.decode import Decision, log_odds
from agent.model.generative import Outcome
from agent.model.prompt import leaves_of
from agent.model.tflite import Calibration, TfliteModel
from training.corpus import Corpus, Tool, read_corpus
from training.export import PRODUCT
from training.generate import Example, Generator, Group, Member
from training.train import GROUP, OUT
from training.validation import written_cases

MOST_WRONGFUL = 0.01
ACTING = (Outcome.ACT, Outcome.QUERY)


@dataclass(frozen=True)
class Judged:
    """One decision beside what was right."""

    acts: bool
    moves: bool  # it would call something that does not only read
    right: bool
    due: bool  # something was to be called
    product: float


def expected_calls(example: Example, tools: dict[str, Tool]) -> list[tuple[str, dict[str, Any]]]:
    """The right calls of an example with their values."""
    calls = []
    for call in example.calls:
        arguments: dict[str, Any] = {}
        for leaf in leaves_of(tools[call.name].declaration):
            values = [
                value.value
                if isinstance(value, Member)
                else grammar.fitted(leaf, example.segments[value.segment].text[value.start : value.end])
                for value in call.values.get(leaf.path, ())
            ]
            if values:
                arguments[".".join(leaf.path)] = values if leaf.repeated else values[0]
        calls.append((call.name, arguments))
    return calls


def judge(decision: Decision, example: Example, tools: dict[str, Tool]) -> Judged:
    """Compares a decision with the right one."""
    given = [(call.card.declaration.name, _flat(call.arguments)) for call in decision.calls]
    expected = expected_calls(example, tools)
    acts = decision.outcome in ACTING
    due = example.outcome in ACTING and not any(
        isinstance(value, grammar.Unfit) for _, arguments in expected for value in arguments.values()
    )
    right = sorted(map(repr, given)) == sorted(map(repr, expected)) if due else False
    moves = acts and any(not tools[call.card.declaration.name].reads for call in decision.calls)
    return Judged(acts, moves, acts and due and right, due, decision.confidence)


def _flat(arguments: dict[str, Any], path: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{path}{name}."))
        else:
            flat[path + name] = value
    return flat


def judge_all(model: TfliteModel, groups: list[Group]) -> list[Judged]:
    """Runs the model over groups; answers after results are left out, they call nothing new."""
    judged = []
    for group in groups:
        tools = {tool.name: tool for tool in group.tools}
        declarations = [tool.declaration for tool in group.tools]
        for example in group.examples:
            if example.outcome is Outcome.ANSWER:
                continue
            decision = model.decide_segments(example.segments, declarations, answered=False)
            judged.append(judge(decision, example, tools))
    return judged


def fit(judged: list[Judged]) -> tuple[float, float]:
    """Slope and offset by Newton's method on the log-likelihood, lightly damped."""
    acting = [each for each in judged if each.acts]
    odds = np.array([[log_odds(each.product), 1.0] for each in acting])
    right = np.array([each.right for each in acting], float)
    weights = np.array([1.0, 0.0])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-odds @ weights))
        gradient = odds.T @ (chances - right) + 1e-3 * weights
        curvature = (odds * (chances * (1 - chances))[:, None]).T @ odds + 1e-3 * np.eye(2)
        weights -= np.linalg.solve(curvature, gradient)
    return float(weights[0]), float(weights[1])


def expected_error(judged: list[Judged], calibration: Calibration, bins: int = 10) -> float:
    """Expected calibration error over equal bins of the confidence of acting decisions."""
    acting = [each for each in judged if each.acts]
    confidence = np.array([calibration.confidence(each.product) for each in acting])
    right = np.array([each.right for each in acting], float)
    places = np.minimum((confidence * bins).astype(int), bins - 1)
    return float(
        sum(
            abs(confidence[places == each].mean() - right[places == each].mean()) * (places == each).mean()
            for each in range(bins)
            if (places == each).any()
        )
    )


def curve(judged: list[Judged], calibration: Calibration) -> list[tuple[float, float, float]]:
    """For each threshold: the share of due sentences done right, and of others acted on wrongfully."""
    due = [each for each in judged if each.due]
    idle = [each for each in judged if not each.due]
    rows = []
    for threshold in [at / 100 for at in range(0, 100, 2)]:

        def acted(each: Judged, at: float = threshold) -> bool:
            return each.acts and calibration.confidence(each.product) >= at

        rows.append(
            (
                threshold,
                sum(acted(each) and each.right for each in due) / max(1, len(due)),
                sum(acted(each) and each.moves for each in idle) / max(1, len(idle)),
            )
        )
    return rows


def calibrate(product: Path, out: Path) -> dict[str, float]:
    """Fits on one half of the held-apart examples and reports on the other; writes `calibration.json`."""
    (product / "calibration.json").write_text(json.dumps({"slope": 1.0, "offset": 0.0, "act": 0.0}))
    model = TfliteModel(product / "hearth.tflite", threads=2)
    corpus = read_corpus()
    apart = Generator(corpus, seed=77, split="validation")
    unseen = Generator(Corpus(others=corpus.heldout), seed=78)
    groups = [apart.group(GROUP) for _ in range(16)] + [unseen.group(GROUP) for _ in range(4)] + written_cases(corpus)
    judged = judge_all(model, groups)
    fitted, checked = judged[::2], judged[1::2]
    slope, offset = fit(fitted)
    calibration = Calibration(slope, offset, 0.0)
    rows = curve(fitted, calibration)
    act = next((row[0] for row in rows if row[2] <= MOST_WRONGFUL), rows[-1][0])
    (product / "calibration.json").write_text(
        json.dumps(
            {
                "slope": round(slope, 4),
                "offset": round(offset, 4),
                "act": act,
            }
        )
        + "\n"
    )
    out.mkdir(parents=True, exist_ok=True)
    with (out / "calibration.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["threshold", "right of due", "wrongful of idle"])
        writer.writerows(curve(checked, calibration))
    chosen = next(row for row in curve(checked, calibration) if row[0] >= act)
    return {
        "slope": slope,
        "offset": offset,
        "act": act,
        "expected calibration error": expected_error(checked, calibration),
        "right of due": chosen[1],
        "wrongful of idle": chosen[2],
        "decisions": len(judged),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", type=Path, default=PRODUCT)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    for name, value in calibrate(arguments.product, arguments.out).items():
        print(f"{name}: {value:.4g}")
