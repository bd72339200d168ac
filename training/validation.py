"""The written validation cases as examples: sentences of people, no template."""

from __future__ import annotations

import json
from typing import Any

from agent.content import Content
from agent.model.generative import Outcome
from agent.model.prompt import Leaf, Segment, leaves_of, segments_of
from agent.model.tokenizer import fold
from agent.numbers import parse_number
from agent.schema import FunctionType
from training.corpus import HERE, Corpus
from training.generate import Example, Group, LabelledCall, Member, Span, Value

CASES = HERE / "validation.jsonl"


def written_cases(corpus: Corpus) -> list[Group]:
    """The cases, all under the house's declarations.

    A case that may ask or decline counts as either: its first decision is all that is judged.
    """
    tools = tuple(corpus.house)
    by_name = {tool.name: tool for tool in tools}
    examples = []
    for line in CASES.read_text().splitlines():
        case = json.loads(line)
        history = [
            Content.user(turn["text"]) if turn["role"] == "user" else Content.model(turn["text"])
            for turn in case.get("history", [])
        ]
        segments = segments_of((*history, Content.user(case["text"])))
        calls = []
        for call in case["calls"]:
            tool = by_name[call["name"]]
            values = {}
            for leaf in leaves_of(tool.declaration):
                given = call["arguments"].get(leaf.path[0])
                if given is None:
                    continue
                value = find_value(leaf, given, segments)
                if value is not None:
                    values[leaf.path] = (value,)
                elif leaf.schema.format != "place":
                    raise ValueError(f"{case['text']!r}: {given!r} is not in the words")
            calls.append(LabelledCall(tool.name, values))
        if calls:
            outcome = Outcome.QUERY if all(by_name[call.name].reads for call in calls) else Outcome.ACT
        else:
            outcome = Outcome.ASK if case.get("category") == "ask" else Outcome.DECLINE
        examples.append(Example(segments, outcome, tuple(calls), case.get("category", "")))
    return [Group(tools, tuple(examples[at : at + 64])) for at in range(0, len(examples), 64)]


def find_value(leaf: Leaf, given: Any, segments: tuple[Segment, ...]) -> Value | None:
    """Where a value stands in the words, or its member; None when it is not there."""
    for member in leaf.members:
        if str(member).lower() == str(given).lower():
            return Member(member)
    for index, segment in enumerate(segments):
        if leaf.schema.type in (FunctionType.INTEGER, FunctionType.NUMBER):
            span = _number(segment.text, float(given), leaf)
            if span is not None:
                return Span(index, *span)
            continue
        folded, offsets = fold(segment.text)
        wanted = fold(str(given))[0]
        at = folded.find(wanted)
        if at >= 0:
            return Span(index, offsets[at], offsets[at + len(wanted) - 1] + 1)
    return None


def _number(text: str, wanted: float, leaf: Leaf) -> tuple[int, int] | None:
    """The shortest stretch of words that is this number, with a unit that follows it."""
    words, place = [], 0
    for word in text.split():
        start = text.index(word, place)
        place = start + len(word)
        words.append((start, start + len(word.rstrip(".,!?"))))
    for length in range(1, 6):
        for first in range(len(words) - length + 1):
            start, end = words[first][0], words[first + length - 1][1]
            if parse_number(text[start:end], leaf.schema.minimum, leaf.schema.maximum) == wanted:
                if first + length < len(words):
                    following = text[slice(*words[first + length])]
                    if following.lower() in ("percent", "%", "degrees"):
                        end = words[first + length][1]
                return start, end
    return None
