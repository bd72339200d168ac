"""What the model decides about sentences of the suites, and how narrowly: `python -m tests.arm.decide COUNT`.

Run twice, on this machine and emulated on an ARM: a JSON line a sentence on standard output, after a first one that
says what it ran on. The sentences are every so many of training/suites; with `--wanted` the declarations are only
those of the functions that one of them wants, as an emulated processor takes seconds to read each.
"""

from __future__ import annotations

import asyncio
import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent.content import Content
from agent.evaluation import Case, Result, evaluate, read_cases
from agent.model.decode import Decoder
from agent.model.generative import GenerateContentRequest, Outcome
from agent.model.tflite import TfliteModel
from tools.house import declarations

SUITES = Path(__file__).resolve().parents[2] / "training" / "suites"


def chosen(count: int) -> list[Case]:
    """So many cases for the functions of the house, evenly from all suites in their order."""
    cases = [case for suite in sorted(SUITES.glob("*.jsonl")) for case in read_cases(suite) if case.tools is None]
    return [cases[len(cases) * number // count] for number in range(count)]


@contextmanager
def leads() -> Iterator[list[float]]:
    """By how much probability each choice of the model was before the next one."""
    found: list[float] = []
    choose = Decoder._choose

    def choosing(self: Decoder, options: Sequence[Any], *more: Any) -> Any:
        total = sum(option.probability for option in options) or 1.0
        best, following = sorted([*(option.probability for option in options), 0.0])[:-3:-1]
        found.append((best - following) / total)
        return choose(self, options, *more)

    with patch.object(Decoder, "_choose", choosing):
        yield found


def margin(model: TfliteModel, result: Result, found: Sequence[float]) -> float:
    """How narrow a decision was: its closest choice, or how near its confidence came to the threshold."""
    if result.confidence is None:
        return 1.0
    calibration = model._calibration
    threshold = calibration.query if result.outcome is Outcome.QUERY else calibration.act
    return min([*found, abs(result.confidence - threshold)])


async def main(count: int, only_wanted: bool) -> None:
    """Asks about so many sentences."""
    cases = chosen(count)
    wanted = {call.name for case in cases for step in case.steps for call in step.calls}
    tools = tuple(each for each in declarations() if each.name in wanted or not only_wanted)
    started = time.perf_counter()
    model = TfliteModel()
    loaded = time.perf_counter()
    # As in a service that runs: the declarations are read before anything is asked.
    await model.generate_content(GenerateContentRequest((Content.user("hello"),), tools))
    libraries = {name: version(name) for name in ("ai-edge-litert", "numpy", "sentencepiece")}
    ran_on = {"machine": platform.machine(), "python": platform.python_version(), **libraries}
    tell({**ran_on, "load_s": loaded - started, "declarations_s": time.perf_counter() - loaded})
    for case in cases:
        with leads() as found:
            (result,) = await evaluate([case], model, tools)
        calls = [[[call.name, call.arguments] for call in step.called] for step in result.steps]
        decided = {"calls": calls, "outcome": result.outcome.value, "answer": result.answer}
        tell({"text": case.text, **decided, "confidence": result.confidence, "margin": margin(model, result, found),
              "ms": result.ms})  # fmt: skip
    await model.close()


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), "--wanted" in sys.argv))
