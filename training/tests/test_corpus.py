"""The hand-written text: all of it can be said, is grounded, differs, and stands in one split only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random

import pytest

from agent.model import grammar
from agent.model.generative import Outcome
from agent.model.grammar import Unfit
from agent.model.prompt import leaves_of
from agent.model.tokenizer import fold
from agent.schema import FunctionType
from training import markup
from training.corpus import HERE, Corpus, Entry, Tool, read_corpus
from training.datasheet import SHEET, patterns_of, shares, table, written
from training.distinct import distinct, skeleton
from training.generate import Example, Generator, Member, split_of

OUT_OF_RANGE = {"too_much", "too_hot"}
"""Classes of values that fit no range; what is right is the call, and the reader asks."""

APART = [HERE / "validation.jsonl", *sorted((HERE / "suites").glob("*.jsonl"))]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Everything that was written."""
    return read_corpus()


# Every pattern can be said, and its labels are there.


def examples_of_tools(generator: Generator, tools: Iterable[Tool]) -> Iterator[tuple[str, Tool, Example]]:
    """Each pattern with a label, as the generator makes an example of it."""
    for tool in tools:
        generator._shown = {tool.name: (tool, {})}
        for pattern in tool.says:
            outcome = Outcome.QUERY if tool.reads else Outcome.ACT
            yield pattern, tool, generator._finish(generator._say(tool, pattern), outcome, "do")
        for pattern in tool.asks:
            yield pattern, tool, generator._finish(generator._say(tool, pattern), Outcome.ASK, "ask")


def ungrounded(pattern: str, tools: Iterable[Tool], example: Example) -> Iterator[str]:
    """What is wrong with the values of an example."""
    by_name = {tool.name: tool for tool in tools}
    does = example.outcome in (Outcome.ACT, Outcome.QUERY)
    for call in example.calls:
        leaves = {leaf.path: leaf for leaf in leaves_of(by_name[call.name].declaration)}
        for leaf in leaves.values():
            # A place that is not said is the requester's room, or asked for.
            needed = leaf.required and leaf.schema.format != "place"
            if needed and does and example.values_known and not call.values.get(leaf.path):
                yield f"{pattern!r}: {call.name} without {'.'.join(leaf.path)}"
        for path, values in call.values.items():
            leaf = leaves[path]
            for value in values:
                if isinstance(value, Member):
                    if value.value not in leaf.members:
                        yield f"{pattern!r}: {value.value!r} is no member of {path}"
                    continue
                text = example.segments[value.segment].text
                words = text[value.start : value.end]
                around = text[max(value.start - 1, 0) : value.start] + "|" + text[value.end : value.end + 1]
                if not words or words != words.strip() or any(letter.isalnum() for letter in around):
                    yield f"{pattern!r}: {words!r} are no whole words of {text!r}"
                elif OUT_OF_RANGE & set(re.findall(r":(\w+)", pattern)) or not does:
                    continue
                elif isinstance(grammar.fitted(leaf, words), Unfit):
                    yield f"{pattern!r}: {words!r} is no fitting {'.'.join(path)}"


def test_every_pattern_of_every_tool_is_said_with_labels_that_are_in_it(corpus: Corpus) -> None:
    """Held-out tools among them; each value is whole words, a member, or a number within its range."""
    wrong = []
    for tools in (corpus.house + corpus.others, corpus.heldout):
        generator = Generator(corpus, seed=1, split=None)
        for pattern, tool, example in examples_of_tools(generator, tools):
            wrong += ungrounded(pattern, [tool], example)
        for tool in tools:
            wrong += [pattern for pattern in tool.declines if not generator._expand(tool, pattern).text]

    assert wrong == []


def test_every_entry_becomes_an_example_with_labels_that_are_in_it(corpus: Corpus) -> None:
    """With all tools of its house or file declared."""
    generator = Generator(corpus, seed=2, split=None)
    of_file = defaultdict(list)
    for tool in corpus.others:
        of_file[tool.domain].append(tool)
    cases = [(entry, corpus.house) for entry in corpus.entries]
    cases += [(entry, of_file[entry.domain]) for entry in corpus.other_entries]
    wrong = []
    for entry, tools in cases:
        generator._shown = {tool.name: (tool, {}) for tool in tools}
        example = generator._from_entry(tools, entry)
        assert example is not None, entry.text
        wrong += ungrounded(entry.text, tools, example)

    assert wrong == []


def test_a_variant_has_every_parameter_of_its_function(corpus: Corpus) -> None:
    """By another name each, of the same kind; its own name is no other function's of the domain."""
    for tool in corpus.house + corpus.others:
        own = tool.declaration.parameters
        for variant in tool.variants:
            theirs = variant.tool.declaration.parameters
            renamed = variant.parameters

            assert set(renamed) == set(own.properties)
            assert sorted(renamed.values()) == sorted(theirs.properties)
            assert [renamed[name] for name in own.required] == list(theirs.required)
            for name, schema in own.properties.items():
                other = theirs.properties[renamed[name]]
                assert (schema.type, schema.enum, schema.minimum, schema.maximum) == (
                    other.type,
                    other.enum,
                    other.minimum,
                    other.maximum,
                )
    names = [variant.tool.name for tool in corpus.house + corpus.others for variant in tool.variants]
    assert not set(names) & {tool.name for tool in corpus.house + corpus.heldout}


# How much there is.


def test_there_are_three_thousand_patterns_that_differ_in_more_than_their_slots(corpus: Corpus) -> None:
    """Of the house alone."""
    assert distinct(patterns_of(corpus.house, corpus.entries)) >= 3000


def test_what_differs_only_in_slots_case_and_stop_words_is_one() -> None:
    """And a word more in a long sentence does not count."""
    once = ["turn on the {room} light", "Turn on {room:lamp} light, please!", "could you turn on the light"]

    assert distinct(once) == 1
    assert distinct([*once, "turn off the {room} light"]) == 2
    assert distinct(["one two three four five", "one two three four five six", "one two three"]) == 2


def test_there_are_three_hundred_functions_of_thirty_domains_of_other_people(corpus: Corpus) -> None:
    """A file of another way to declare the same house is no domain."""
    tools = [tool for tool in corpus.others if not tool.domain.startswith("home_")]

    assert len({(tool.domain, tool.name) for tool in tools}) >= 300
    assert len({tool.domain.partition("_variants")[0] for tool in tools}) >= 30
    names = [tool.name for tool in corpus.others]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_about_half_of_the_examples_move_nothing(corpus: Corpus) -> None:
    """They read, answer, ask or decline; those to ask about and to decline are at least a fifth of all."""
    share = shares(corpus)

    assert 0.4 <= share["call what moves or keeps something"] <= 0.6
    assert share["decline"] + share["ask for what is missing"] >= 0.2


def test_the_datasheet_has_the_counts_of_today(corpus: Corpus) -> None:
    """After a change of the text: `python -m training.datasheet --write`."""
    assert table(corpus) in SHEET.read_text()


# What is kept apart.


def test_six_domains_are_seen_nowhere_in_training(corpus: Corpus) -> None:
    """Neither their functions, nor the skeletons of their sentences."""
    tools = corpus.house + corpus.others
    trained = {tool.name for tool in tools} | {variant.tool.name for tool in tools for variant in tool.variants}
    skeletons = {skeleton(pattern) for pattern in patterns_of(tools, corpus.entries + corpus.other_entries)}

    assert len({tool.domain for tool in corpus.heldout}) == 6
    assert not {tool.domain for tool in corpus.heldout} & {tool.domain for tool in tools}
    assert not {tool.name for tool in corpus.heldout} & trained
    assert [each for each in patterns_of(corpus.heldout) if skeleton(each) in skeletons] == []


def test_no_skeleton_stands_in_two_splits(corpus: Corpus) -> None:
    """Of all the patterns; how many of them are like one of training, the datasheet says."""
    seen = defaultdict(set)
    for pattern in patterns_of(corpus.house + corpus.others, corpus.entries + corpus.other_entries):
        seen[skeleton(pattern)].add(split_of(pattern))

    assert {split for splits in seen.values() for split in splits} == {"train", "validation", "test"}
    assert [each for each, splits in seen.items() if len(splits) > 1] == []


def plain(text: str) -> str:
    """The words alone."""
    return " ".join(re.findall(r"[a-z0-9']+", fold(text)[0]))


def apart() -> dict[str, list[str]]:
    """The written cases that need nothing said before, by their words, and the files they are of."""
    cases = defaultdict(list)
    for path in APART:
        for case in written(path):
            if not case.get("history"):
                cases[plain(case["text"])].append(path.name)
    return cases


def alone(corpus: Corpus) -> list[tuple[Tool | Entry, str]]:
    """Patterns that need nothing said before, each with what it stands in."""
    tools = corpus.house + corpus.others
    entries = [entry for entry in corpus.entries + corpus.other_entries if not entry.history]
    said = [(tool, pattern) for tool in tools for pattern in tool.says + tool.asks + tool.declines]
    return said + [(entry, entry.text) for entry in entries]


def test_no_case_is_a_pattern(corpus: Corpus) -> None:
    """Whichever of its alternatives is said, a pattern without slots is no sentence of a suite or of validation."""
    cases = apart()
    same = []
    for _, pattern in alone(corpus):
        spoken = re.sub(r"\{[^{}=]*=[^{}:]*:?([^{}]*)\}", r" \1 ", pattern)
        if "{" not in re.sub(r"\([^()]*\|[^()]*\)", "", spoken):
            same += [each for each in _every(spoken) if "{" not in each and plain(each) in cases]

    assert same == []


def _every(pattern: str) -> list[str]:
    """A pattern with each of its alternatives."""
    match = re.search(r"\(([^()]*\|[^()]*)\)", pattern)
    if match is None:
        return [pattern]
    before, after = pattern[: match.start()], _every(pattern[match.end() :])
    return [before + each + rest for each in match[1].split("|") for rest in after]


def test_no_case_is_what_a_pattern_gave_three_times(corpus: Corpus) -> None:
    """Each pattern with a seed of its own, so that a change of one tells about no other."""
    cases = apart()
    generator = Generator(corpus, seed=0, split=None)
    same = []
    for owner, pattern in alone(corpus):
        generator._rng = Random(zlib.crc32(pattern.encode()))
        for _ in range(3):
            text = _spoken(generator, owner, pattern)
            if plain(text) in cases:
                same.append((text, pattern, cases[plain(text)]))

    assert same == []


def _spoken(generator: Generator, owner: Tool | Entry, pattern: str) -> str:
    if isinstance(owner, Tool):
        return generator._expand(owner, pattern).text
    drawn: dict[str, str] = {}

    def fill(name: str, words: str | None) -> str:
        if name not in drawn:
            drawn[name] = generator._fill(None, None, name, words or name, owner.domain)
        return drawn[name]

    return markup.expand(pattern, generator._rng, fill).text


def test_no_case_of_validation_is_one_of_a_suite() -> None:
    """What is looked at while training is none of what is reported."""
    assert [text for text, files in apart().items() if "validation.jsonl" in files and len(set(files)) > 1] == []


# What it means.


def meaning_key(pattern: str) -> str:
    """The words of a pattern, and of its slots what fills them."""

    def slot(match: re.Match[str]) -> str:
        name, member, words = match.groups()
        return f" {words or ''} " if member is not None else f" slot_{words or name} "

    return " ".join(re.findall(r"[\w']+|\?", markup._SLOT.sub(slot, pattern.lower())))


def test_the_same_words_mean_the_same(corpus: Corpus) -> None:
    """In one house or file nothing is to be done and declined, or done by two functions; a "?" is a difference."""
    meant: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for tool in corpus.house + corpus.others:
        where = tool.domain.partition(".")[0]
        for kind in ("says", "asks", "declines"):
            for pattern in getattr(tool, kind):
                meant[where, meaning_key(pattern)].add((kind, tool.name if kind == "says" else ""))
    for where, entries in (("house", corpus.entries), ("", corpus.other_entries)):
        for entry in entries:
            if not entry.history and not entry.steps:
                kind = "asks" if entry.ask is not None else "says" if entry.calls else "declines"
                names = ",".join(call.name for call in entry.calls)
                meant[where or entry.domain, meaning_key(entry.text)].add((kind, names))

    assert {key: labels for key, labels in meant.items() if len(labels) > 1} == {}


# The same again.


def test_a_seed_gives_the_same_group_in_another_process() -> None:
    """Whatever order sets have there."""
    draw = (
        "from training.corpus import read_corpus; from training.generate import Generator; import zlib;"
        "generator = Generator(read_corpus(), seed=4);"
        "groups = [generator.group(32) for _ in range(8)];"
        "print(zlib.crc32(repr([([t.name for t in g.tools], g.examples, g.terse) for g in groups]).encode()))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", draw],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=HERE.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(printed) == 1


def test_only_numbers_are_read_as_numbers(corpus: Corpus) -> None:
    """Whatever fills a slot of a number fits it, each time that it is drawn."""
    generator = Generator(corpus, seed=7, split=None)
    wrong = set()
    for tool in corpus.house + corpus.others + corpus.heldout:
        for leaf in leaves_of(tool.declaration):
            name = ".".join(leaf.path)
            if leaf.schema.type not in (FunctionType.INTEGER, FunctionType.NUMBER) or leaf.members:
                continue
            slots = {slot for pattern in tool.says for slot in markup.slots_of(pattern)}
            for words in {words for slot, member, words in slots if slot == name and member is None}:
                for _ in range(50):
                    value = generator._fill(tool, leaf, name, words)
                    if isinstance(grammar.fitted(leaf, value), Unfit):
                        wrong.add((tool.name, name, value))

    assert wrong == set()
