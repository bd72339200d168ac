"""What each part of the recipe is worth, in short runs: `python -m training.ablate`.

Every run begins anew with the same seed and differs from "base" in one thing. What is
compared is the share of held-apart examples with every decision right after the same
number of steps, and the time they took. The steps are few and small: about five minutes
of an idle machine, far from enough to learn the house, but enough to see what helps.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from training import generate, loss, train
from training.corpus import Corpus, Tool
from training.generate import Example, Generator
from training.network import Likeness, Shape

GROUP = 48  # smaller steps than a full run: there are few minutes for many of them


def _shape(**changes: int) -> list[Any]:
    def shape(vocabulary: int) -> Shape:
        return Shape(vocabulary, **changes)

    return [patch.object(train, "Shape", shape)]


def _without_asks_and_declines(self: Generator, tools: list[Tool]) -> Example | None:
    """Draws until something is to be done."""
    while True:
        example = _EXAMPLE(self, tools)
        if example is None or example.calls:
            return example


_EXAMPLE: Callable[[Generator, list[Tool]], Example | None] = Generator._example
_READ: Callable[[], Corpus] = train.read_corpus


def _few_declarations() -> Corpus:
    """A fifth of the other people's domains."""
    corpus = _READ()
    kept = set(sorted({tool.domain for tool in corpus.others})[::5])
    others = [tool for tool in corpus.others if tool.domain in kept]
    return Corpus(corpus.house, others, corpus.heldout, corpus.entries)


def _no_likeness(self: Likeness, words: Tensor, others: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Nothing is told."""
    return torch.zeros_like(others), torch.zeros_like(others)


RUNS: dict[str, list[Any]] = {
    "base": [],
    "base with another seed": [],
    "no likeness of words to functions and slots": [patch.object(Likeness, "forward", _no_likeness)],
    "decoder of one layer": _shape(decoder_layers=1),
    "decoder of three layers": _shape(decoder_layers=3),
    "one fusion layer": _shape(fusion_layers=1),
    "no filling layer": _shape(filling_layers=0),
    "all of MiniLM moves": _shape(frozen_layers=0),
    "four layers of MiniLM stay": _shape(frozen_layers=4),
    "no loss for relevance": [patch.object(loss, "RELEVANCE", 0.0)],
    "declarations never varied": [patch.object(generate, "VARIED", 0.0)],
    "a fifth of the declarations": [patch.object(train, "read_corpus", _few_declarations)],
    "the house in nine groups of ten": [patch.object(generate, "HOUSE_GROUPS", 0.9)],
    "no free entries": [patch.object(generate, "ENTRIES", 0.0)],
    "no group made for a free entry": [patch.object(generate, "ANCHORED", 0.0)],
    "twice the learning rate": [patch.object(train, "ENCODER_RATE", 2e-4), patch.object(train, "NEW_RATE", 1e-3)],
    "nothing asked or declined": [patch.object(Generator, "_example", _without_asks_and_declines)],
    "no slips of finger and ear": [patch.object(generate, "SLIPS", 0.0)],
}


def ablate(steps: int, out: Path, names: list[str]) -> None:
    """Adds a line for each run to `out/ablations.csv`."""
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        folder = out / name.replace(" ", "-")
        patches = [patch.object(train, "GROUP", GROUP), *RUNS[name]]
        for each in patches:
            each.start()
        train.train(steps, folder, seed=1 + (name == "base with another seed"), threads=1)
        for each in patches:
            each.stop()
        last = (folder / "losses.csv").read_text().splitlines()[-1].split(",")
        with (out / "ablations.csv").open("a", newline="") as file:
            csv.writer(file).writerow([name, *last])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--out", type=Path, default=train.OUT / "ablations")
    parser.add_argument("runs", nargs="*", default=list(RUNS), help="some of: " + ", ".join(RUNS))
    arguments = parser.parse_args()
    ablate(arguments.steps, arguments.out, arguments.runs)
