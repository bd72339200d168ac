"""How much work a command is for a 64-bit ARM, for the estimates of docs/boards.md: `make bench-arm`.

Instructions are counted by a plug-in of QEMU's (instructions.c), graph by graph and for three whole commands. How often
each graph runs, and how many bytes of weights it reads, is the same on every machine and is counted on this one.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from unittest.mock import patch

import numpy as np

from agent.model.graphs import Graphs
from agent.model.tflite import TfliteModel
from agent.schema import FunctionDeclaration
from tests.arm.decide import chosen
from tests.arm.emulated import PARTS, EmulatedArm
from tests.arm.work import SENTENCES, decide, wanted
from tests.trees import run
from tools.house import declarations

COMMANDS = 200
EMBEDDINGS = 1 << 22
"""A table of words is larger than this many bytes, all other weights are smaller; of it a run reads a few rows."""

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Prints all figures."""
    model = TfliteModel()
    graphs = sorted(model._graphs._runners)
    cards = runs_of(model, declarations(), None)
    each = [runs_of(model, declarations(), case.text) for case in chosen(COMMANDS)]
    usual = {name: mean(runs[name] for runs in each) for name in graphs}
    weights = {name: weight_bytes(model, name) for name in graphs}
    print(f"runs of a graph: in a command (mean of {COMMANDS} sentences), to read the {cards.total()} declarations")
    print("once; MB of weights that a run reads")
    for name in graphs:
        print(f"  {name:<12}{usual[name]:7.2f}{cards[name]:6}{weights[name] / 1e6:8.2f}")
    most = max(runs.total() for runs in each)
    print(f"  MB of weights in a command: {work(usual, weights) / 1e6:.1f}; for the declarations: "
          f"{work(cards, weights) / 1e6:.0f}; most runs in a command: {most}")  # fmt: skip
    same = [runs_of(model, wanted(), sentence) for sentence in SENTENCES]
    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder) / "instructions.so"
        strict = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared")
        run("cc", *strict, "-o", plugin, HERE / "instructions.c")
        for processor in PARTS:
            load, *counts = counted(EmulatedArm("bookworm", processor, plugin).python("-m", "tests.arm.work"))
            graph = dict(zip(graphs, counts, strict=False))
            whole = counts[len(graphs) + 1 :: 2]
            python = [all_of_it - work(runs, graph) for all_of_it, runs in zip(whole, same, strict=True)]
            print(f"{processor}, millions of instructions: load {load / 1e6:.0f}, "
                  f"{', '.join(f'{name} {count / 1e6:.1f}' for name, count in graph.items())}")  # fmt: skip
            print(f"  three commands {million(whole)}, of it outside of graphs {million(python)}")
            print(f"  a command {(work(usual, graph) + median(python)) / 1e6:.0f}; "
                  f"the declarations {work(cards, graph) / 1e6:.0f}")  # fmt: skip


def runs_of(model: TfliteModel, tools: tuple[FunctionDeclaration, ...], sentence: str | None) -> Counter[str]:
    """How often each graph runs for a sentence whose declarations are read, or to read those."""
    counts: Counter[str] = Counter()
    if sentence is not None:
        for tool in tools:
            model.card(tool)
    with counted_in(counts):
        if sentence is None:
            for tool in tools:
                model.card(tool)
        else:
            asyncio.run(decide(model, tools, sentence))
    return counts


@contextmanager
def counted_in(counts: Counter[str]) -> Iterator[None]:
    """Counts runs of graphs by their names."""
    run_graph = Graphs._run

    def running(self: Graphs, name: str, *inputs: object) -> list[object]:
        counts[name] += 1
        return run_graph(self, name, *inputs)

    with patch.object(Graphs, "_run", running):
        yield


def weight_bytes(model: TfliteModel, graph: str) -> int:
    """The bytes of weights that each run of a graph reads: its int8 tensors, as activations are floats."""
    runner = model._graphs._runners[graph]
    tensors = model._graphs._interpreter.get_tensor_details(runner._subgraph_index)
    sizes = [int(np.prod(tensor["shape"])) for tensor in tensors if tensor["dtype"] is np.int8]
    return sum(size for size in sizes if size < EMBEDDINGS)


def work(runs: Mapping[str, float], cost: Mapping[str, float]) -> float:
    """What so many runs cost together."""
    return sum(runs[name] * cost[name] for name in cost)


def counted(done: subprocess.CompletedProcess[str]) -> list[int]:
    """The instructions between one mark and the next."""
    assert done.returncode == 0, done.stderr[-4000:]
    lines = [line.split() for line in done.stderr.splitlines() if line.startswith("@instructions ")]
    marks = [int(count) for _, count in lines]
    return [after - before for before, after in pairwise(marks)]


def million(counts: Iterable[float]) -> str:
    return ", ".join(f"{count / 1e6:.0f}" for count in counts)


if __name__ == "__main__":
    main()
