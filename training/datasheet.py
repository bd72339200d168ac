"""The counts of the datasheet: `python -m training.datasheet` prints them, `--write` puts them into DATASHEET.md."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent.model.generative import Outcome
from training.corpus import HERE, Corpus, Entry, Tool, read_corpus
from training.distinct import alike, distinct
from training.generate import SPLITS, Generator, split_of

SHEET = HERE / "DATASHEET.md"
DRAWN = 4000
"""Examples that the shares are counted on."""

_MARKS = re.compile(r"(<!-- counts -->\n)(.*?)(<!-- end of counts -->)", re.DOTALL)


def patterns_of(tools: Iterable[Tool], entries: Iterable[Entry] = ()) -> list[str]:
    """Everything that is said, in order."""
    said = [pattern for tool in tools for pattern in tool.says + tool.asks + tool.declines]
    return said + [entry.text for entry in entries]


def table(corpus: Corpus) -> str:
    """The counts, as Markdown."""
    house, others = patterns_of(corpus.house, corpus.entries), patterns_of(corpus.others, corpus.other_entries)
    entries = corpus.entries + corpus.other_entries
    rows = [
        ("functions of the house", len(corpus.house)),
        ("patterns for them", len(house)),
        ("of these different (Jaccard below 0.8)", distinct(house)),
        ("functions of other people", len(corpus.others)),
        ("their files, one a domain but for a few", len({tool.domain for tool in corpus.others})),
        ("patterns for them", len(others)),
        ("of these different", distinct(others)),
        ("functions held out", len(corpus.heldout)),
        ("their domains", len({tool.domain for tool in corpus.heldout})),
        ("patterns for them", len(patterns_of(corpus.heldout))),
        ("other declarations of a function (variants)", sum(len(t.variants) for t in corpus.house + corpus.others)),
        *((f"patterns of {kind}", count) for kind, count in _kinds(corpus).items()),
        ("free entries", len(entries)),
        ("with earlier turns", sum(bool(entry.history) for entry in entries)),
        ("with calls and results of this turn (runs)", sum(bool(entry.steps) for entry in entries)),
        ("with two or more calls", sum(len(entry.calls) > 1 for entry in entries)),
    ]
    everything = house + others
    split = {name: [each for each in everything if split_of(each) == name] for name in ("train", *SPLITS)}
    rows += [(f"patterns of the {name} split", len(each)) for name, each in split.items()]
    rows += [
        (f"left out of the {name} split, like one of train", len(alike(split[name], split["train"]))) for name in SPLITS
    ]
    rows += [(f"`{name}`", count) for name, count in _cases().items()]
    lines = ["| what | how many |", "|---|---:|", *(f"| {what} | {count:,} |" for what, count in rows)]
    lines += ["", "| of drawn examples | share |", "|---|---:|"]
    lines += [f"| {what} | {share:.0%} |" for what, share in shares(corpus).items()]
    return "\n".join(lines) + "\n"


def shares(corpus: Corpus) -> dict[str, float]:
    """What is right for the examples of training, by what it does."""
    generator = Generator(corpus, seed=3)
    counted: Counter[Outcome] = Counter()
    while counted.total() < DRAWN:
        counted.update(example.outcome for example in generator.group(32).examples)
    words = {
        Outcome.ACT: "call what moves or keeps something",
        Outcome.QUERY: "call what only tells",
        Outcome.ASK: "ask for what is missing",
        Outcome.DECLINE: "decline",
        Outcome.ANSWER: "answer from results",
    }
    return {phrase: counted[outcome] / counted.total() for outcome, phrase in words.items()}


def _kinds(corpus: Corpus) -> dict[str, int]:
    """Patterns by what is right for them; those of entries that go on from something are counted apart."""
    tools = corpus.house + corpus.others
    alone = [entry for entry in corpus.entries + corpus.other_entries if not entry.history and not entry.steps]
    return {
        "wishes and questions": sum(len(tool.says) for tool in tools) + sum(bool(entry.calls) for entry in alone),
        "what is to be asked about": sum(len(tool.asks) for tool in tools)
        + sum(entry.ask is not None for entry in alone),
        "what is to be declined": sum(len(tool.declines) for tool in tools)
        + sum(entry.ask is None and not entry.calls for entry in alone),
    }


def _cases() -> dict[str, int]:
    """Written cases that are never trained on, by their file."""
    files = [HERE / "validation.jsonl", *sorted((HERE / "suites").glob("*.jsonl"))]
    return {str(path.relative_to(HERE)): len(written(path)) for path in files}


def written(path: Path) -> list[dict[str, Any]]:
    """The cases of a file."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def main() -> None:
    """Prints the counts, or writes them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put them into DATASHEET.md")
    counts = table(read_corpus())
    if parser.parse_args().write:
        SHEET.write_text(_MARKS.sub(lambda match: match[1] + counts + match[3], SHEET.read_text()))
    else:
        print(counts, end="")


if __name__ == "__main__":
    main()
