"""A group of examples as tensors: what the decoder is asked, and the right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from agent.model.generative import Outcome
from agent.model.layout import DECISIONS, MODES, Kind, Previous
from agent.model.prompt import MAX_MEMBERS, Card, Rendering, SegmentRole, render, render_card
from agent.model.tokenizer import Tokenizer
from agent.schema import FunctionDeclaration
from training.corpus import Tool
from training.generate import Example, Group, Member, Span

NO_TARGET = -100


@dataclass
class Decision:
    """One decision of one example, by row numbers.

    Attributes:
        kind: What is asked.
        previous: What was chosen before.
        subject: Slot of the leaf that is asked about; 0 is none.
        rows: Two rows of the memory that were chosen (equal for a tool); 0 is none, row r is r + 1.
        slot: Slot of the member that was chosen; 0 is none.
        target: The right mode, tool (or the number of tools: the end), or value: 0 is absent,
            1.. the members, then the places of first pieces.
        last: The place of the right span's last word, or NO_TARGET.
        members: How many members may be chosen.
    """

    kind: Kind
    previous: Previous
    subject: int = 0
    rows: tuple[int, int] = (0, 0)
    slot: int = 0
    target: int = 0
    last: int = NO_TARGET
    members: int = 0


@dataclass
class Batch:
    """Tensors of a group. B examples, L pieces, C cards, P card pieces, S decisions."""

    pieces: Tensor  # [B, L]
    roles: Tensor  # [B, L]
    mask: Tensor  # [B, L]
    pointable: Tensor  # [B, L] 1 where a word that may be pointed at begins
    segment: Tensor  # [B, L] the segment of each such word
    cards: Tensor  # [C, P]
    card_mask: Tensor  # [C, P]
    slots: Tensor  # [slots + 1, C * P] weights that give each slot as a mean; row 0 is zero
    tool_slots: Tensor  # [C] the slot of each function
    kinds: Tensor  # [B, S]
    previous: Tensor  # [B, S]
    subjects: Tensor  # [B, S]
    rows: Tensor  # [B, S, 2]
    chosen_slots: Tensor  # [B, S]
    targets: Tensor  # [B, S]
    lasts: Tensor  # [B, S]
    members: Tensor  # [B, S]
    right_tools: Tensor  # [B, C] 1 for the functions that are called
    categories: list[str] = field(default_factory=list)


class UngroundedLabel(ValueError):
    """A label that is not in the words it should be copied from."""


Cards = dict[tuple[Tool, int], Card]


def shortened(declaration: FunctionDeclaration, terse: int) -> FunctionDeclaration:
    """A declaration as a terse developer writes it: 1 has no description, 2 a name that says nothing."""
    if terse == 1:
        return replace(declaration, description="")
    return replace(declaration, name="f") if terse == 2 else declaration


def collate(group: Group, tokenizer: Tokenizer, cards: Cards) -> Batch:
    """Renders a group.

    Args:
        group: Tools and examples.
        tokenizer: The vocabulary.
        cards: Rendered cards, kept between groups; filled here.

    Raises:
        UngroundedLabel: An example's value is not made of its words.
    """
    shown = []
    for tool, terse in zip(group.tools, group.terse or (0,) * len(group.tools), strict=True):
        if (tool, terse) not in cards:
            cards[tool, terse] = render_card(tokenizer, shortened(tool.declaration, terse))
        shown.append(cards[tool, terse])
    first_slots, total = [], 1
    for card in shown:
        first_slots.append(total)
        total += len(card.slots)
    width = max(len(card.pieces) for card in shown)
    card_pieces = torch.zeros(len(shown), width, dtype=torch.long)
    card_mask = torch.zeros(len(shown), width)
    slots = torch.zeros(total, len(shown) * width)
    for index, card in enumerate(shown):
        card_pieces[index, : len(card.pieces)] = torch.tensor(card.pieces)
        card_mask[index, : len(card.pieces)] = 1
        for number, (start, end) in enumerate(card.slots):
            slots[first_slots[index] + number, index * width + start : index * width + end] = 1 / (end - start)

    names = {tool.name: index for index, tool in enumerate(group.tools)}
    kept: list[tuple[Example, Rendering, list[Decision]]] = []
    for example in group.examples:
        rendering = render(tokenizer, example.segments)
        decisions = decide(example, rendering, names, shown, first_slots)
        if decisions is not None and len(decisions) <= DECISIONS:
            kept.append((example, rendering, decisions))
    length = max(len(rendering.pieces) for _, rendering, _ in kept)
    steps = max(len(decisions) for _, _, decisions in kept)
    size = len(kept)

    def zeros(*shape: int) -> Tensor:
        return torch.zeros(*shape, dtype=torch.long)

    batch = Batch(
        zeros(size, length),
        zeros(size, length),
        torch.zeros(size, length),
        torch.zeros(size, length),
        zeros(size, length) - 1,
        card_pieces,
        card_mask,
        slots,
        torch.tensor(first_slots),
        zeros(size, steps),
        zeros(size, steps),
        zeros(size, steps),
        zeros(size, steps, 2),
        zeros(size, steps),
        zeros(size, steps) + NO_TARGET,
        zeros(size, steps) + NO_TARGET,
        zeros(size, steps),
        torch.zeros(size, len(shown)),
        [example.category for example, _, _ in kept],
    )
    for row, (example, rendering, decisions) in enumerate(kept):
        batch.pieces[row, : len(rendering.pieces)] = torch.tensor(rendering.pieces)
        batch.roles[row, : len(rendering.roles)] = torch.tensor(rendering.roles)
        batch.mask[row, : len(rendering.pieces)] = 1
        for word in rendering.words:
            if rendering.segments[word.segment].role is not SegmentRole.CALL:
                batch.pointable[row, word.position] = 1
                batch.segment[row, word.position] = word.segment
        for step, decision in enumerate(decisions):
            batch.kinds[row, step] = decision.kind
            batch.previous[row, step] = decision.previous
            batch.subjects[row, step] = decision.subject
            # Rows of the memory: places in the text stand as they are, tools come after the padded text.
            batch.rows[row, step] = torch.tensor(
                [at if at < TOOL_ROWS else length + at - TOOL_ROWS for at in decision.rows]
            )
            batch.chosen_slots[row, step] = decision.slot
            batch.targets[row, step] = decision.target
            batch.lasts[row, step] = decision.last
            batch.members[row, step] = decision.members
        for call in example.calls:
            batch.right_tools[row, names[call.name]] = 1
    return batch


TOOL_ROWS = 10_000  # stands for "after the text" until its padded length is known


def decide(
    example: Example, rendering: Rendering, names: dict[str, int], cards: Sequence[Card], first_slots: Sequence[int]
) -> list[Decision] | None:
    """The right decisions of an example; None when a word it needs did not fit the rendering."""
    after_mode = {
        Outcome.ACT: Previous.ACT,
        Outcome.QUERY: Previous.QUERY,
        Outcome.ASK: Previous.ASK,
        Outcome.DECLINE: Previous.DECLINE,
        Outcome.ANSWER: Previous.ANSWER,
    }
    decisions = [Decision(Kind.MODE, Previous.NOTHING, target=MODES.index(example.outcome))]
    if example.outcome in (Outcome.DECLINE, Outcome.ANSWER):
        return decisions
    previous: tuple[Previous, tuple[int, int], int] = (after_mode[example.outcome], (0, 0), 0)

    def ask(kind: Kind, target: int, subject: int = 0, last: int = NO_TARGET, members: int = 0) -> None:
        decisions.append(Decision(kind, previous[0], subject, previous[1], previous[2], target, last, members))

    for call in example.calls:
        index = names[call.name]
        card = cards[index]
        ask(Kind.FUNCTION, index)
        previous = (Previous.FUNCTION, (TOOL_ROWS + index + 1, TOOL_ROWS + index + 1), 0)
        if not example.values_known:
            return decisions
        for number, leaf in enumerate(card.leaves):
            subject = first_slots[index] + card.leaf_slot(number)
            values = call.values.get(leaf.path, ())
            for value in values:
                if isinstance(value, Member):
                    member = leaf.members.index(value.value)
                    ask(Kind.VALUE, 1 + member, subject, members=len(leaf.members))
                    previous = (Previous.MEMBER, (0, 0), subject + 1 + member)
                else:
                    places = _places(value, rendering)
                    if places is None:
                        return None
                    first, last = places
                    ask(Kind.VALUE, 1 + MAX_MEMBERS + first, subject, last, len(leaf.members))
                    previous = (Previous.SPAN, (first + 1, last + 1), 0)
            if not values or leaf.repeated:
                ask(Kind.VALUE, 0, subject, members=len(leaf.members))
                previous = (Previous.ABSENT, (0, 0), 0)
    if example.outcome is not Outcome.ASK or not example.calls:
        ask(Kind.FUNCTION, len(cards))
    return decisions


def _places(span: Span, rendering: Rendering) -> tuple[int, int] | None:
    """Places of the first and the last word of a span; None when they were cut off."""
    if span.segment >= len(rendering.segments):
        return None
    inside = [
        index
        for index, word in enumerate(rendering.words)
        if word.segment == span.segment and word.start < span.end and word.end > span.start
    ]
    if not inside:
        return None
    wanted = rendering.segments[span.segment].text[span.start : span.end]
    given = rendering.span(inside[0], inside[-1])
    if given.strip() != wanted.strip():
        raise UngroundedLabel(f"{wanted!r} would be copied as {given!r} from {rendering.segments[span.segment].text!r}")
    return rendering.words[inside[0]].position, rendering.words[inside[-1]].position
