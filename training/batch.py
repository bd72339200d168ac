"""A group of examples as tensors: what the decoder is asked, and the right answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
PART = 64  # examples of about the same length that are read together, at most
PART_PIECES = 1500  # and at most so many pieces, padding included
CARD_PARTS = 2


@dataclass
class Decision:
    """One decision of one example, by row numbers.

    Attributes:
        kind: What is asked.
        previous: What was chosen before.
        filling: Which of the example's fillings it belongs to; for a value only.
        subject: Row of the leaf among the filling's slots.
        rows: Two rows of the memory that were chosen (equal for a tool); 0 is none, row r is r + 1.
        slot: Slot of the member that was chosen; 0 is none.
        target: The right mode, tool (or the number of tools: the end), or value: 0 is absent,
            1.. the members, then the places of first pieces.
        last: The place of the right span's last word, or NO_TARGET.
        members: How many members may be chosen.
    """

    kind: Kind
    previous: Previous
    filling: int = 0
    subject: int = 0
    rows: tuple[int, int] = (0, 0)
    slot: int = 0
    target: int = 0
    last: int = NO_TARGET
    members: int = 0


@dataclass
class Decks:
    """The cards of a group as tensors, the short ones apart from the long ones: less padding.

    Attributes:
        pieces, masks: For each part [C, P].
        means: For each part the weights [slots, C * P] that give its slots; slot 0 of all is "nothing".
        tool_slots: [T] the slot of each function, in the order of the group's tools.
    """

    pieces: list[Tensor]
    masks: list[Tensor]
    means: list[Tensor]
    tool_slots: Tensor


@dataclass
class Batch:
    """Tensors of examples of one group. B examples, L pieces, S decisions; F fillings, K slots of one.

    Of the decisions N belong to an example's own memory (modes and functions), V to a filling (values).
    """

    pieces: Tensor  # [B, L]
    roles: Tensor  # [B, L]
    mask: Tensor  # [B, L]
    pointable: Tensor  # [B, L] 1 where a word that may be pointed at begins
    segment: Tensor  # [B, L] the segment of each such word
    right_tools: Tensor  # [B, T] 1 for the functions that are called
    kinds: Tensor  # [B, S]
    previous: Tensor  # [B, S]
    subjects: Tensor  # [B, S] row of F * K, plus one; 0 is none
    rows: Tensor  # [B, S, 2]
    chosen_slots: Tensor  # [B, S]
    place: Tensor  # [B, S] where it stands among the B * N and F * V
    own: Tensor  # [B, N] number of B * S, B * S is none
    own_targets: Tensor  # [B, N]
    fill_examples: Tensor  # [F]
    fill_slots: Tensor  # [F, K]
    fill_mask: Tensor  # [F, K]
    values: Tensor  # [F, V] number of B * S
    value_subjects: Tensor  # [F, V] row of K
    value_members: Tensor  # [F, V]
    value_targets: Tensor  # [F, V]
    value_lasts: Tensor  # [F, V]


class UngroundedLabel(ValueError):
    """A label that is not in the words it should be copied from."""


Cards = dict[tuple[Tool, int], Card]


def shortened(declaration: FunctionDeclaration, terse: int) -> FunctionDeclaration:
    """A declaration as a terse developer writes it: 1 has no description, 2 a name that says nothing."""
    if terse == 1:
        return replace(declaration, description="")
    return replace(declaration, name="f") if terse == 2 else declaration


def deal(group: Group, tokenizer: Tokenizer, cards: Cards) -> tuple[Decks, list[Card], list[int]]:
    """The cards of a group: as tensors, as they are, and the slot of each function."""
    shown = []
    for tool, terse in zip(group.tools, group.terse or (0,) * len(group.tools), strict=True):
        if (tool, terse) not in cards:
            cards[tool, terse] = render_card(tokenizer, shortened(tool.declaration, terse))
        shown.append(cards[tool, terse])
    by_length = sorted(range(len(shown)), key=lambda index: len(shown[index].pieces))
    part = -(-len(shown) // CARD_PARTS)
    first_slots, total = [0] * len(shown), 1
    decks = Decks([], [], [], torch.zeros(0))
    for indices in [by_length[at : at + part] for at in range(0, len(shown), part)]:
        width = max(len(shown[index].pieces) for index in indices)
        pieces, mask = torch.zeros(len(indices), width, dtype=torch.long), torch.zeros(len(indices), width)
        means = torch.zeros(sum(len(shown[index].slots) for index in indices), len(indices) * width)
        begun = total
        for row, index in enumerate(indices):
            card = shown[index]
            first_slots[index] = total
            pieces[row, : len(card.pieces)] = torch.tensor(card.pieces)
            mask[row, : len(card.pieces)] = 1
            for number, (start, end) in enumerate(card.slots):
                means[total - begun + number, row * width + start : row * width + end] = 1 / (end - start)
            total += len(card.slots)
        decks.pieces.append(pieces)
        decks.masks.append(mask)
        decks.means.append(means)
    decks.tool_slots = torch.tensor(first_slots)
    return decks, shown, first_slots


def collate(group: Group, tokenizer: Tokenizer, cards: Cards) -> tuple[Decks, list[Batch]]:
    """Renders a group: its cards once, its examples in parts of about the same length.

    Args:
        group: Tools and examples.
        tokenizer: The vocabulary.
        cards: Rendered cards, kept between groups; filled here.

    Raises:
        UngroundedLabel: An example's value is not made of its words.
    """
    decks, shown, first_slots = deal(group, tokenizer, cards)
    names = {tool.name: index for index, tool in enumerate(group.tools)}
    kept: list[_Kept] = []
    for example in group.examples:
        rendering = render(tokenizer, example.segments)
        found = decide(example, rendering, names, shown, first_slots)
        if found is not None and len(found[0]) <= DECISIONS:
            kept.append((example, rendering, *found))
    kept.sort(key=lambda each: len(each[1].pieces))
    parts: list[list[_Kept]] = []
    for each in kept:
        if not parts or len(parts[-1]) == PART or (len(parts[-1]) + 1) * len(each[1].pieces) > PART_PIECES:
            parts.append([])
        parts[-1].append(each)
    batches = [_batch(part, names, first_slots, shown) for part in parts]
    return decks, batches


_Kept = tuple[Example, Rendering, list[Decision], list[list[int]]]


def _batch(kept: Sequence[_Kept], names: dict[str, int], first_slots: Sequence[int], cards: Sequence[Card]) -> Batch:
    size = len(kept)
    length = max(len(rendering.pieces) for _, rendering, _, _ in kept)
    steps = max(len(decisions) for _, _, decisions, _ in kept)
    fillings = [(row, slots) for row, (_, _, _, all_slots) in enumerate(kept) for slots in all_slots]
    count = max(1, len(fillings))
    width = max((len(slots) for _, slots in fillings), default=1)
    own = max(sum(each.kind is not Kind.VALUE for each in decisions) for _, _, decisions, _ in kept)
    wanted = [0] * count
    began = 0
    for _, _, decisions, all_slots in kept:
        for each in decisions:
            if each.kind is Kind.VALUE:
                wanted[began + each.filling] += 1
        began += len(all_slots)
    values = max(1, *wanted)

    def zeros(*shape: int, value: int = 0) -> Tensor:
        return torch.full(shape, value, dtype=torch.long)

    batch = Batch(
        pieces=zeros(size, length),
        roles=zeros(size, length),
        mask=torch.zeros(size, length),
        pointable=torch.zeros(size, length),
        segment=zeros(size, length, value=-1),
        right_tools=torch.zeros(size, len(cards)),
        kinds=zeros(size, steps),
        previous=zeros(size, steps),
        subjects=zeros(size, steps),
        rows=zeros(size, steps, 2),
        chosen_slots=zeros(size, steps),
        place=zeros(size, steps),
        own=zeros(size, own, value=size * steps),
        own_targets=zeros(size, own, value=NO_TARGET),
        fill_examples=zeros(count),
        fill_slots=zeros(count, width),
        fill_mask=torch.zeros(count, width),
        values=zeros(count, values, value=size * steps),
        value_subjects=zeros(count, values),
        value_members=zeros(count, values),
        value_targets=zeros(count, values, value=NO_TARGET),
        value_lasts=zeros(count, values, value=NO_TARGET),
    )
    for number, (row, slots) in enumerate(fillings):
        batch.fill_examples[number] = row
        batch.fill_slots[number, : len(slots)] = torch.tensor(slots)
        batch.fill_mask[number, : len(slots)] = 1
    began = 0
    filled = [0] * count
    for row, (example, rendering, decisions, all_slots) in enumerate(kept):
        batch.pieces[row, : len(rendering.pieces)] = torch.tensor(rendering.pieces)
        batch.roles[row, : len(rendering.roles)] = torch.tensor(rendering.roles)
        batch.mask[row, : len(rendering.pieces)] = 1
        for word in rendering.words:
            if rendering.segments[word.segment].role is not SegmentRole.CALL:
                batch.pointable[row, word.position] = 1
                batch.segment[row, word.position] = word.segment
        number = 0
        for step, decision in enumerate(decisions):
            batch.kinds[row, step] = decision.kind
            batch.previous[row, step] = decision.previous
            # Rows of the memory: places in the text stand as they are, tools come after the padded text.
            first, last = (at if at < TOOL_ROWS else length + at - TOOL_ROWS for at in decision.rows)
            batch.rows[row, step, 0], batch.rows[row, step, 1] = first, last
            batch.chosen_slots[row, step] = decision.slot
            if decision.kind is Kind.VALUE:
                filling = began + decision.filling
                at = filled[filling]
                filled[filling] += 1
                batch.subjects[row, step] = 1 + filling * width + decision.subject
                batch.place[row, step] = size * own + filling * values + at
                batch.values[filling, at] = row * steps + step
                batch.value_subjects[filling, at] = decision.subject
                batch.value_members[filling, at] = decision.members
                batch.value_targets[filling, at] = decision.target
                batch.value_lasts[filling, at] = decision.last
            else:
                batch.place[row, step] = row * own + number
                batch.own[row, number] = row * steps + step
                batch.own_targets[row, number] = decision.target
                number += 1
        began += len(all_slots)
        for call in example.calls:
            batch.right_tools[row, names[call.name]] = 1
    return batch


TOOL_ROWS = 10_000  # stands for "after the text" until its padded length is known


def decide(
    example: Example, rendering: Rendering, names: dict[str, int], cards: Sequence[Card], first_slots: Sequence[int]
) -> tuple[list[Decision], list[list[int]]] | None:
    """The right decisions of an example and the slots of its fillings; None when a word it needs did not fit."""
    decisions = [Decision(Kind.MODE, Previous.NOTHING, target=MODES.index(example.outcome))]
    fillings: list[list[int]] = []
    if example.outcome in (Outcome.DECLINE, Outcome.ANSWER):
        return decisions, fillings
    previous: tuple[Previous, tuple[int, int], int] = (Previous[example.outcome.name], (0, 0), 0)

    def ask(kind: Kind, target: int, subject: int = 0, last: int = NO_TARGET, members: int = 0) -> None:
        filling = max(0, len(fillings) - 1)
        decisions.append(Decision(kind, previous[0], filling, subject, previous[1], previous[2], target, last, members))

    for call in example.calls:
        index = names[call.name]
        card = cards[index]
        ask(Kind.FUNCTION, index)
        previous = (Previous.FUNCTION, (TOOL_ROWS + index + 1, TOOL_ROWS + index + 1), 0)
        if not example.values_known:
            return decisions, fillings
        for stretch in card.fillings():
            slots = card.filling_slots(stretch)
            fillings.append([first_slots[index] + slot for slot in slots])
            for leaf in (card.leaves[number] for number in stretch):
                subject = slots.index(card.leaf_slot(card.leaves.index(leaf)))
                values = call.values.get(leaf.path, ())
                for value in values:
                    if isinstance(value, Member):
                        member = leaf.members.index(value.value)
                        ask(Kind.VALUE, 1 + member, subject, members=len(leaf.members))
                        previous = (Previous.MEMBER, (0, 0), fillings[-1][subject + 1 + member])
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
    return decisions, fillings


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
