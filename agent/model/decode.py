"""From the network's scores to a decision: act, query, ask, decline or answer, and the calls.

Each decision is taken among what the grammar allows, by probability; the product of the
probabilities, for each call, is the decision's raw confidence.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from agent.grounding import FORMATS
from agent.model import grammar
from agent.model.generative import Outcome
from agent.model.grammar import MOST_ITEMS, Unfit
from agent.model.graphs import Filling, Floats, Memory
from agent.model.layout import (
    ABSENT_CHOICE,
    END_CHOICE,
    FIRST_QUERY,
    LAST_QUERY,
    MEMBER_QUERY,
    MODES,
    TOOL_QUERY,
    Kind,
    Previous,
)
from agent.model.prompt import Card, Leaf, Rendering

MOST_CALLS = 8  # in one step
_FIRSTS_TRIED = 6  # beginnings of spans that are looked at

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class ReadCard:
    """A card with what the network read: a vector for each slot, [slots, D]."""

    card: Card
    vectors: Floats


@dataclass
class DecidedCall:
    """A function and its arguments."""

    card: Card
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class Decision:
    """What a step came to.

    Attributes:
        outcome: The first decision.
        calls: For act and query, what is called; for ask, what was probably meant.
        unfit: What is missing or does not fit; then the outcome is ask.
        confidence: Product of the probabilities, 0 to 1, of several calls their geometric mean; not calibrated.
    """

    outcome: Outcome
    calls: list[DecidedCall]
    unfit: list[Unfit]
    confidence: float


@dataclass(frozen=True)
class _Option(Generic[Choice]):
    """Something that may be chosen, with what the decoder is told if it is."""

    choice: Choice
    probability: float
    previous: Previous
    vector: Floats | None = None
    words: tuple[int, int] | None = None
    """Of a span, its first and last word."""


class Decoder:
    """Decides about one read conversation."""

    def __init__(
        self,
        memory: Memory,
        rendering: Rendering,
        cards: Sequence[ReadCard],
        answered: bool,
        temperature: float = 0.0,
        rng: random.Random | None = None,
    ) -> None:
        """Takes what was read.

        Args:
            memory: The conversation fused with the cards, in their order.
            rendering: The same conversation in words.
            cards: The functions.
            answered: There are results of this turn.
            temperature: 0 takes the best of each decision.
            rng: For a temperature above 0.
        """
        self._memory = memory
        self._rendering = rendering
        self._cards = cards
        self._answered = answered
        self._temperature = temperature
        self._rng = rng or random.Random()
        self._confidence = 1.0
        self._own: Floats = np.zeros((0, 0), np.float32)  # the slots that are being filled, as the card has them
        self._last: _Option[Any] = _Option(None, 1.0, Previous.NOTHING)

    def decide(self) -> Decision:
        """The whole decision of a step."""
        outcome = self._mode()
        calls: list[DecidedCall] = []
        unfit: list[Unfit] = []
        while outcome in (Outcome.ACT, Outcome.QUERY, Outcome.ASK) and len(calls) < MOST_CALLS and self._memory.left:
            read = self._function(outcome, first=not calls)
            if read is None:
                break
            call = DecidedCall(read.card)
            calls.append(call)
            for leaf, values in self._filled(read):
                unfit += [value for value in values if isinstance(value, Unfit)]
                fits = [value for value in values if not isinstance(value, Unfit)]
                if leaf.repeated and fits:
                    _put(call.arguments, leaf.path, fits)
                elif fits:
                    _put(call.arguments, leaf.path, fits[0])
                elif not values and leaf.required and leaf.schema.format != "place":
                    unfit.append(Unfit(leaf))
            if outcome is Outcome.ASK:
                break
        if outcome in (Outcome.ACT, Outcome.QUERY) and unfit:
            outcome = Outcome.ASK
        # Two wishes are not half as sure as one: what is never acted on would be acted on twice as seldom.
        return Decision(outcome, calls, unfit, self._confidence ** (1 / max(1, len(calls))))

    def _mode(self) -> Outcome:
        _, choices = self._memory.ask(Kind.MODE, Previous.NOTHING)
        possible = grammar.outcomes([read.card for read in self._cards], self._answered)
        logits = (choices[: len(MODES)] + self._memory.modes)[[MODES.index(outcome) for outcome in possible]]
        options = [
            _Option(outcome, chance, Previous[outcome.name])
            for outcome, chance in zip(possible, _softmax(logits), strict=True)
        ]
        return self._choose(options)

    def _function(self, outcome: Outcome, first: bool) -> ReadCard | None:
        """The next function to call; None is no further one."""
        queries, choices = self._memory.ask(Kind.FUNCTION, self._last.previous, chosen=self._last.vector)
        scores = self._memory.tools @ queries[TOOL_QUERY] + self._memory.relevance
        allowed = [index for index, read in enumerate(self._cards) if grammar.may_be_called(read.card, outcome)]
        logits = [scores[index] for index in allowed]
        options: list[int | None] = list(allowed)
        if not first or outcome is Outcome.ASK:
            options.append(None)
            logits.append(choices[END_CHOICE])
        chosen = self._choose(
            [
                _Option(option, chance, Previous.FUNCTION, None if option is None else self._memory.tools[option])
                for option, chance in zip(options, _softmax(np.array(logits)), strict=True)
            ]
        )
        return None if chosen is None else self._cards[chosen]

    def _filled(self, read: ReadCard) -> Iterator[tuple[Leaf, list[Any]]]:
        """Each leaf of a chosen function with its values."""
        for stretch in read.card.fillings():
            slots = read.card.filling_slots(stretch)
            self._own = read.vectors[slots]
            filling = self._memory.fill(self._own)
            for index in stretch:
                leaf = read.card.leaves[index]
                yield leaf, self._values(filling, slots.index(read.card.leaf_slot(index)), leaf)

    def _values(self, filling: Filling, row: int, leaf: Leaf) -> list[Any]:
        """The values of a leaf, whose slot is a row of the filling: none is absent, several only for a list."""
        values: list[Any] = []
        while self._memory.left:
            chosen = self._value(filling, row, leaf)
            if chosen is None:
                break
            values.append(chosen[0])
            if not leaf.repeated or len(values) == MOST_ITEMS:
                break
        return values

    def _value(self, filling: Filling, row: int, leaf: Leaf) -> tuple[Any] | None:
        queries, choices = self._memory.ask(
            Kind.VALUE, self._last.previous, filling.slots[row], self._last.vector, filling
        )
        members = filling.slots[row + 1 : row + 1 + len(leaf.members)]
        firsts = list(grammar.first_words(leaf, self._rendering))
        rows = [self._rendering.words[word].position for word in firsts]
        words = filling.words
        logits = np.concatenate(
            [
                choices[ABSENT_CHOICE : ABSENT_CHOICE + 1],
                members @ queries[MEMBER_QUERY],
                words[rows] @ queries[FIRST_QUERY] if rows else np.zeros(0, np.float32),
            ]
        )
        chances = _softmax(logits)
        options: list[_Option[tuple[Any] | None]] = [_Option(None, chances[0], Previous.ABSENT)]
        own = self._own[row + 1 : row + 1 + len(leaf.members)]
        for member, (value, vector) in enumerate(zip(leaf.members, own, strict=True)):
            options.append(_Option((value,), chances[1 + member], Previous.MEMBER, vector))
        beginning = chances[1 + len(leaf.members) :]
        lasts = words @ queries[LAST_QUERY]
        for at in np.argsort(beginning)[::-1][:_FIRSTS_TRIED]:
            options += self._spans(leaf, firsts[at], float(beginning[at]), lasts)
        # "kitchen" and "the kitchen light" are the same place to the house: which of them it is puts nothing in doubt.
        return self._choose(options, _nested if leaf.schema.format in FORMATS else None)

    def _spans(self, leaf: Leaf, first: int, chance: float, scores: Floats) -> list[_Option[tuple[Any] | None]]:
        """The spans from a word, each with the chance of its end among the words of its segment."""
        words = self._rendering.words
        following = [index for index in range(first, len(words)) if words[index].segment == words[first].segment]
        ends = _softmax(np.array([scores[words[index].position] for index in following]))
        options: list[_Option[tuple[Any] | None]] = []
        for last in grammar.spans(leaf, self._rendering, first):
            value = grammar.fitted(leaf, self._rendering.span(first, last))
            vector = (self._memory.words[words[first].position] + self._memory.words[words[last].position]) / 2
            options.append(_Option((value,), chance * ends[last - first], Previous.SPAN, vector, (first, last)))
        return options

    def _choose(
        self,
        options: Sequence[_Option[Choice]],
        alike: Callable[[_Option[Choice], _Option[Choice]], bool] | None = None,
    ) -> Choice:
        """Takes the best, or at a temperature one by chance; remembers it for the next decision.

        Args:
            options: At least one.
            alike: Which of them mean the same; it is as sure as those are together.
        """
        total = sum(option.probability for option in options) or 1.0
        if self._temperature > 0:
            weights = [(option.probability / total) ** (1 / self._temperature) for option in options]
            option = self._rng.choices(options, weights)[0] if sum(weights) > 0 else options[0]
        else:
            option = max(options, key=lambda each: each.probability)
        meant = [each for each in options if alike(each, option)] if alike and option.words else [option]
        self._confidence *= sum(each.probability for each in meant) / total
        self._last = option
        return option.choice


def _nested(one: _Option[Any], other: _Option[Any]) -> bool:
    """Whether of two spans one holds the other."""
    if one.words is None or other.words is None:
        return False
    outer = min(one.words[0], other.words[0]), max(one.words[1], other.words[1])
    return outer in (one.words, other.words)


def _put(arguments: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        arguments = arguments.setdefault(name, {})
    arguments[path[-1]] = value


def _softmax(logits: Floats) -> list[float]:
    if not len(logits):
        return []
    shifted = np.exp(logits - logits.max())
    return [float(chance) for chance in shifted / shifted.sum()]


def log_odds(confidence: float) -> float:
    """The logit of a confidence, kept finite."""
    clipped = min(max(confidence, 1e-6), 1 - 1e-6)
    return math.log(clipped / (1 - clipped))
