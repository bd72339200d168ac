"""Fits how sure the shipped model is, and from where on it acts: `python -m training.calibrate`.

On the recipe's held-apart text only. Platt's scaling (J. Platt, "Probabilistic outputs
for support vector machines", 1999) turns the product of a decision's probabilities into
the chance that its calls are right. There are two thresholds: one for what moves
something, one for what only reads. Fitted on the validation split and on the written
sentences; what is printed was measured on the test split.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from agent.model import grammar
from agent.model.decode import Decision, log_odds
from agent.model.generative import Outcome
from agent.model.prompt import SegmentRole, leaves_of
from agent.model.tflite import Calibration, TfliteModel
from training.corpus import Corpus, Tool, read_corpus
from training.export import PRODUCT
from training.generate import Example, Generator, Group, values_of
from training.train import OUT
from training.validation import written_cases

MOST_WRONGFUL = 0.01  # of the sentences that want nothing moved: those that move something
MOST_CALLED = 0.025  # of the sentences that want nothing: those that call anything
LEAST_SURE = 0.3  # whatever the shares are
GROUP = 64  # examples that share their tools
FITTED, CHECKED = 80, 60  # groups
TIMES = 2  # a pattern is judged at most: of some kinds a split has few, and they would decide a threshold alone

ACTING = (Outcome.ACT, Outcome.QUERY)


@dataclass(frozen=True)
class Judged:
    """One decision beside what was right."""

    acts: bool
    queries: bool  # as a question: the threshold of those counts
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
            values = values_of(example, call, leaf)
            if values:
                arguments[".".join(leaf.path)] = values if leaf.repeated else values[0]
        calls.append((call.name, arguments))
    return calls


def judge(decision: Decision, example: Example, tools: dict[str, Tool]) -> Judged:
    """Compares a decision with the right one."""
    given = [(call.card.declaration.name, _flat(call.arguments)) for call in decision.calls]
    expected = expected_calls(example, tools)
    # A call without the place it needs is asked about by the loop, unless it knows the requester's room.
    placeless = any(
        leaf.required and leaf.schema.format == "place" and leaf.path[0] not in call.arguments
        for call in decision.calls
        for leaf in call.card.leaves
    )
    acts = decision.outcome in ACTING and not (placeless and example.outcome is Outcome.ASK)
    due = example.outcome in ACTING and not any(
        isinstance(value, grammar.Unfit) for _, arguments in expected for value in arguments.values()
    )
    right = sorted(map(repr, given)) == sorted(map(repr, expected)) if due else False
    moves = acts and any(not tools[call.card.declaration.name].reads for call in decision.calls)
    queries = decision.outcome is Outcome.QUERY
    return Judged(acts, queries, moves, acts and due and right, due, decision.confidence)


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
    times: Counter[str] = Counter()
    for group in groups:
        tools = {tool.name: tool for tool in group.tools}
        declarations = [tool.declaration for tool in group.tools]
        for example in group.examples:
            if example.outcome is Outcome.ANSWER or not example.values_known:
                continue
            times[example.pattern] += 1
            if example.pattern and times[example.pattern] > TIMES:
                continue
            answered = any(segment.role is SegmentRole.RESULT for segment in example.segments)
            decision = model.decide_segments(example.segments, declarations, answered)
            judged.append(judge(decision, example, tools))
    return judged


def fit(judged: list[Judged]) -> tuple[float, float]:
    """Slope and offset by Newton's method on the log-likelihood, in short steps so that it cannot run away."""
    acting = [each for each in judged if each.acts]
    odds = np.array([[log_odds(each.product), 1.0] for each in acting])
    right = np.array([each.right for each in acting], float)
    weights = np.array([1.0, 0.0])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-odds @ weights))
        gradient = odds.T @ (chances - right) + 1e-3 * weights
        curvature = (odds * (chances * (1 - chances))[:, None]).T @ odds + 1e-3 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        weights -= step * min(1.0, 0.5 / np.linalg.norm(step))
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


def curve(judged: list[Judged], calibration: Calibration) -> list[tuple[float, float, float, float]]:
    """For each threshold: the share of due sentences done right, and of others that call or move something."""
    due = [each for each in judged if each.due]
    idle = [each for each in judged if not each.due]
    rows = []
    for threshold in [at / 100 for at in range(0, 100, 2)]:
        at = replace(calibration, act=threshold, query=threshold)
        rows.append((threshold, share(due, at, "right"), share(idle, at, "acts"), share(idle, at, "moves")))
    return rows


def share(judged: list[Judged], calibration: Calibration, what: str) -> float:
    """The share of decisions that are sure enough and are `what`: "right", "acts" or "moves"."""

    def counts(each: Judged) -> bool:
        least = calibration.query if each.queries else calibration.act
        return each.acts and getattr(each, what) and calibration.confidence(each.product) >= least

    return sum(map(counts, judged)) / max(1, len(judged))


def thresholds(judged: list[Judged], calibration: Calibration) -> tuple[float, float]:
    """The lowest for acting and for asking a tool at which the most that is allowed is not passed."""
    idle = [each for each in judged if not each.due]
    steps = [at / 100 for at in range(round(LEAST_SURE * 100), 100)]
    never = 2.0
    act = next(at for at in steps if share(idle, replace(calibration, act=at, query=never), "moves") <= MOST_WRONGFUL)
    query = next(at for at in steps if share(idle, replace(calibration, act=act, query=at), "acts") <= MOST_CALLED)
    return act, query


def calibrate(product: Path, out: Path) -> dict[str, float]:
    """Fits, writes `calibration.json`, and reports on text that had no part in it."""
    calibration = Calibration(act=0.0, query=0.0)

    def write() -> None:
        numbers = {name: round(value, 4) for name, value in vars(calibration).items()}
        (product / "calibration.json").write_text(json.dumps(numbers) + "\n")

    write()
    model = TfliteModel(product / "hearth.tflite", threads=2)
    corpus = read_corpus()
    written = judge_all(model, written_cases(corpus))
    validation = Generator(corpus, seed=77, split="validation")
    fitted = judge_all(model, [validation.group(GROUP) for _ in range(FITTED)]) + written
    slope, offset = fit(fitted)
    calibration = Calibration(slope, offset, 0.0, 0.0)
    act, query = thresholds(fitted, calibration)
    calibration = Calibration(slope, offset, act, query)
    write()

    test = Generator(corpus, seed=79, split="test")
    unseen = Generator(Corpus(others=corpus.heldout), seed=78, split=None)
    groups = [test.group(GROUP) for _ in range(CHECKED)]
    sets = {
        "test patterns": judge_all(model, groups),
        "unseen tools": judge_all(model, [unseen.group(GROUP) for _ in range(CHECKED // 3)]),
        "written sentences": written,
    }
    checked = sets["test patterns"]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "calibration.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["threshold", "right of due", "called of idle", "moved of idle"])
        rows.writerows(curve(checked, calibration))
    figures = {**vars(calibration), "expected calibration error": expected_error(checked, calibration)}
    for name, judged in sets.items():
        due, idle = [each for each in judged if each.due], [each for each in judged if not each.due]
        figures[f"{name}: right of due"] = share(due, calibration, "right")
        figures[f"{name}: right of due, without a threshold"] = share(
            due, replace(calibration, act=0, query=0), "right"
        )
        figures[f"{name}: called of idle"] = share(idle, calibration, "acts")
        figures[f"{name}: wrongful of idle"] = share(idle, calibration, "moves")
        figures[f"{name}: decisions"] = len(judged)
    floats = out / "hearth-float.tflite"
    if floats.exists():
        figures["test patterns, float weights: right of due, without a threshold"] = _float_share(
            floats, product, groups
        )
    return figures


def _float_share(floats: Path, product: Path, groups: list[Group]) -> float:
    """What the weights before their rounding reach, beside the same tokenizer."""
    with TemporaryDirectory() as folder:
        for name in ("tokenizer.model", "calibration.json"):
            shutil.copyfile(product / name, Path(folder) / name)
        shutil.copyfile(floats, Path(folder) / "hearth.tflite")
        judged = judge_all(TfliteModel(Path(folder) / "hearth.tflite", threads=2), groups)
    return share([each for each in judged if each.due], Calibration(act=0, query=0), "right")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", type=Path, default=PRODUCT)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    for name, value in calibrate(arguments.product, arguments.out).items():
        print(f"{name}: {value:.4g}")
