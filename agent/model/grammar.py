"""What may be said: the functions and values that the declarations in force allow.

A value is a member of its enum, a span of the words, a number in them, or absent.
Nothing else can come out, whatever the network prefers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.model.generative import Outcome
from agent.model.prompt import Card, Leaf, Rendering, SegmentRole
from agent.numbers import parse_number
from agent.schema import NUMERIC, FunctionType

LONGEST_SPAN = 24  # words
LONGEST_NUMBER = 8  # words
MOST_ITEMS = 8  # of a list


@dataclass(frozen=True)
class Unfit:
    """Something that was heard for a leaf and does not fit it.

    Attributes:
        leaf: The parameter.
        heard: The words, "" when nothing was said.
        value: The number, if it is one.
    """

    leaf: Leaf
    heard: str = ""
    value: float | None = None


def outcomes(cards: Sequence[Card], answered: bool) -> tuple[Outcome, ...]:
    """The first decisions that are possible.

    Args:
        cards: The functions declared.
        answered: There are results of this turn to answer from.
    """
    possible = [Outcome.ASK, Outcome.DECLINE]
    if cards:
        possible.append(Outcome.ACT)
    if any(may_be_called(card, Outcome.QUERY) for card in cards):
        possible.append(Outcome.QUERY)
    if answered:
        possible.append(Outcome.ANSWER)
    return tuple(possible)


def may_be_called(card: Card, outcome: Outcome) -> bool:
    """A question calls only what reads, or what does not say whether it does."""
    return outcome is not Outcome.QUERY or card.declaration.read_only is not False


def spans(leaf: Leaf, rendering: Rendering, first: int) -> Iterator[int]:
    """The last words of the spans that begin at word `first` and may fill a leaf."""
    words = rendering.words
    numeric = leaf.schema.type in NUMERIC
    longest = LONGEST_NUMBER if numeric else LONGEST_SPAN
    for last in range(first, min(len(words), first + longest)):
        if words[last].segment != words[first].segment:
            return
        if not numeric or number(leaf, rendering.span(first, last)) is not None:
            yield last


def first_words(leaf: Leaf, rendering: Rendering) -> Iterator[int]:
    """The words at which a span for a leaf may begin; an enum's value is never a span.

    What was said before may tell what is meant ("turn it off again") and what was asked for; it
    never adds something that need not be said: the brightness of the last wish is not that of the next.
    """
    if leaf.members:
        return
    sources = {SegmentRole.NOW, SegmentRole.RESULT}
    if leaf.required:
        sources |= {SegmentRole.USER, SegmentRole.MODEL}
    for index, word in enumerate(rendering.words):
        if rendering.segments[word.segment].role in sources:
            yield index


def number(leaf: Leaf, heard: str) -> float | None:
    """The number in a span, by the leaf's range."""
    return parse_number(heard, leaf.schema.minimum, leaf.schema.maximum, leaf.schema.lowest)


def fitted(leaf: Leaf, heard: str) -> Any | Unfit:
    """The value of a span in the leaf's type, or why it does not fit."""
    if leaf.schema.type not in NUMERIC:
        return heard
    value = number(leaf, heard)
    if value is None:
        return Unfit(leaf, heard)
    below = leaf.schema.minimum is not None and value < leaf.schema.minimum
    above = leaf.schema.maximum is not None and value > leaf.schema.maximum
    if below or above or (leaf.schema.type is FunctionType.INTEGER and value != int(value)):
        return Unfit(leaf, heard, value)
    return int(value) if leaf.schema.type is FunctionType.INTEGER else value
