"""From a group to a loss, and to how many examples have every decision right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from agent.model.layout import ABSENT_CHOICE, END_CHOICE, FIRST_QUERY, LAST_QUERY, MEMBER_QUERY, MODES, TOOL_QUERY, Kind
from agent.model.prompt import MAX_MEMBERS, SegmentRole
from training.batch import NO_TARGET, Batch, Decks
from training.network import MASKED, Lookers, Network, apart

LIKENESS = 0.3  # the weight of what ranks the shortlist
RELEVANCE = 0.3  # the weight of "is this function asked for", for each function


@dataclass
class Outcomes:
    """What came of a group.

    Attributes:
        loss: To be minimised: the mean over the examples.
        right: [examples] whether every decision of an example is right, in the order of the batches.
    """

    loss: Tensor
    right: Tensor


@dataclass
class _Decided:
    """What the network gave for the examples of one batch.

    Attributes:
        text: [B, L, D] as read.
        tools: [B, T, D] fused; `relevance` [B, T] and `modes` [B, modes] from them.
        filled: [F, L+K, D].
        queries: [B * S + 1, 4, D], a row of zeros at the end.
        choices: [B * S + 1, modes + 2].
    """

    text: Tensor
    tools: Tensor
    relevance: Tensor
    modes: Tensor
    filled: Tensor
    queries: Tensor
    choices: Tensor


def run(network: Network, decks: Decks, batches: Sequence[Batch]) -> Outcomes:
    """Reads, fuses, fills, decides and compares a group; see `batch.py` for the shapes."""
    slots, texts = _read(network, decks, batches)
    tools = slots[decks.tool_slots]
    decided = _decide(network, batches, slots, tools, texts)
    judged = [_judge(batch, each) for batch, each in zip(batches, decided, strict=True)]
    right = torch.cat([each.right for each in judged])
    like = [
        LIKENESS * len(batch.mask) * _likeness(text, batch, tools) for batch, text in zip(batches, texts, strict=True)
    ]
    return Outcomes(torch.stack([*(each.loss for each in judged), *like]).sum() / len(right), right)


def _read(network: Network, decks: Decks, batches: Sequence[Batch]) -> tuple[Tensor, list[Tensor]]:
    """The slots of all cards [slots, D], slot 0 is nothing; and the text of each batch [B, L, D]."""
    masks = [*decks.masks, *(batch.mask for batch in batches)]
    pieces = [*decks.pieces, *(batch.pieces for batch in batches)]
    roles = [
        *(torch.full_like(each, int(SegmentRole.CARD)) for each in decks.pieces),
        *(batch.roles for batch in batches),
    ]
    states = apart(network.encode(_rows(pieces), _rows(roles), masks), masks)
    cards, texts = states[: len(decks.masks)], states[len(decks.masks) :]
    means = [
        mean.to(card.dtype) @ card.reshape(-1, card.shape[2]) for mean, card in zip(decks.means, cards, strict=True)
    ]
    return torch.cat([means[0].new_zeros(1, means[0].shape[1]), *means]), texts


def _decide(
    network: Network, batches: Sequence[Batch], slots: Tensor, tools: Tensor, texts: Sequence[Tensor]
) -> list[_Decided]:
    """Every decision of every batch, the right earlier ones given."""
    width = tools.shape[1]
    tool_masks = [batch.mask.new_ones(len(batch.mask), len(tools)) for batch in batches]
    fuse_masks = [torch.cat(pair, dim=1) for pair in zip((batch.mask for batch in batches), tool_masks, strict=True)]
    fill_masks = [torch.cat([batch.mask[batch.fill_examples], batch.fill_mask], dim=1) for batch in batches]

    fused = network.fuse(texts, [tools.expand(len(text), -1, -1) for text in texts], fuse_masks)
    memories = apart(fused, fuse_masks)
    filled = network.fill(
        [
            memory[:, : batch.mask.shape[1]][batch.fill_examples]
            for batch, memory in zip(batches, memories, strict=True)
        ],
        [text[batch.fill_examples] for batch, text in zip(batches, texts, strict=True)],
        [slots[batch.fill_slots] for batch in batches],
        fill_masks,
    )
    fillings = apart(filled, fill_masks)

    subjects, chosen, orders, lookers, places = [], [], [], [], []
    total = sum(batch.kinds.numel() for batch in batches)
    started = placed = 0
    nothing = filled.new_zeros(1, width)
    for number, (batch, memory, filling) in enumerate(zip(batches, memories, fillings, strict=True)):
        size, steps = batch.kinds.shape
        offered = filling[:, batch.mask.shape[1] :].reshape(-1, width)
        subjects.append(torch.cat([nothing, offered])[batch.subjects])
        bank = torch.cat([torch.zeros_like(memory[:, :1]), memory], dim=1)  # row 0 is "nothing"
        picked = bank.gather(1, batch.rows.reshape(size, -1, 1).expand(-1, -1, width)).reshape(size, steps, 2, width)
        chosen.append(picked.mean(dim=2) + slots[batch.chosen_slots])
        orders.append(network.order.weight[:steps].expand(size, -1, -1))
        for looked_at, rows in ((number, batch.own), (len(batches) + number, batch.values)):
            lookers.append(Lookers(looked_at, torch.where(rows == size * steps, total, rows + started)))
        places.append(batch.place + placed)
        started += batch.kinds.numel()
        placed += batch.own.numel() + batch.values.numel()
    kinds, previous = _rows([batch.kinds for batch in batches]), _rows([batch.previous for batch in batches])
    asked = network.asked(kinds, previous, *(_rows(each, width) for each in (subjects, chosen, orders)))
    sizes = [batch.kinds for batch in batches]
    queries, choices = network.decode(
        asked, sizes, torch.cat([fused, filled]), [*fuse_masks, *fill_masks], lookers, _rows(places)
    )

    found = []
    for batch, memory, filling, text, tool_mask, query, choice in zip(
        batches,
        memories,
        fillings,
        texts,
        tool_masks,
        queries.float().split([size.numel() for size in sizes]),
        choices.float().split([size.numel() for size in sizes]),
        strict=True,
    ):
        fused_tools = memory[:, batch.mask.shape[1] :]
        relevance, modes = network.asked_for(fused_tools, tool_mask)
        found.append(
            _Decided(
                text,
                fused_tools.float(),
                relevance.float(),
                modes.float(),
                filling.float(),
                torch.cat([query, query.new_zeros(1, *query.shape[1:])]),
                torch.cat([choice, choice.new_zeros(1, choice.shape[1])]),
            )
        )
    return found


def _rows(parts: Sequence[Tensor], width: int = 0) -> Tensor:
    """Parts one after the other: [N], or [N, width]."""
    return torch.cat([part.reshape(-1, width) if width else part.reshape(-1) for part in parts])


def _judge(batch: Batch, decided: _Decided) -> Outcomes:
    """The summed loss of a batch, and which of its examples are right."""
    size, length = batch.pieces.shape
    losses = torch.zeros(size, device=batch.mask.device)
    right = torch.ones(size, dtype=torch.bool, device=batch.mask.device)

    def judge(where: Tensor, logits: Tensor, targets: Tensor, examples: Tensor) -> None:
        """Adds what the decisions `where` [R, N] of some examples [R] contribute; logits [R, N, choices]."""
        chances = functional.log_softmax(logits[where], dim=-1)
        wanted = targets[where]
        owners = examples.unsqueeze(1).expand_as(where)[where]
        losses.index_add_(0, owners, functional.nll_loss(chances, wanted, reduction="none"))
        right[owners[chances.argmax(dim=-1) != wanted]] = False

    rows = torch.arange(size, device=batch.mask.device)
    own_kinds = torch.cat([batch.kinds.reshape(-1), batch.kinds.new_full((1,), -1)])[batch.own]
    own_queries, own_choices = decided.queries[batch.own], decided.choices[batch.own]
    modes = own_choices[..., : len(MODES)] + decided.modes.unsqueeze(1)
    judge(own_kinds == int(Kind.MODE), modes, batch.own_targets, rows)
    tool_scores = own_queries[..., TOOL_QUERY, :] @ decided.tools.transpose(1, 2) + decided.relevance.unsqueeze(1)
    functions = torch.cat([tool_scores, own_choices[..., END_CHOICE : END_CHOICE + 1]], dim=-1)
    judge(own_kinds == int(Kind.FUNCTION), functions, batch.own_targets, rows)

    where = batch.value_targets != NO_TARGET
    if where.any():
        queries, choices = decided.queries[batch.values], decided.choices[batch.values]
        heard, offered = decided.filled[:, :length], decided.filled[:, length:]
        offers = queries[..., MEMBER_QUERY, :] @ offered.transpose(1, 2)  # [F, V, K]
        offsets = torch.arange(1, MAX_MEMBERS + 1, device=rows.device)
        at = (batch.value_subjects.unsqueeze(-1) + offsets).clamp(max=offered.shape[1] - 1)
        member_scores = offers.gather(2, at).masked_fill(offsets > batch.value_members.unsqueeze(-1), MASKED)
        pointable = batch.pointable[batch.fill_examples].unsqueeze(1) == 0
        firsts = (queries[..., FIRST_QUERY, :] @ heard.transpose(1, 2)).masked_fill(pointable, MASKED)
        absent = choices[..., ABSENT_CHOICE : ABSENT_CHOICE + 1]
        judge(where, torch.cat([absent, member_scores, firsts], dim=-1), batch.value_targets, batch.fill_examples)

        spans = batch.value_lasts != NO_TARGET
        if spans.any():
            lasts = queries[..., LAST_QUERY, :] @ heard.transpose(1, 2)  # [F, V, L]
            first = (batch.value_targets - 1 - MAX_MEMBERS).clamp(min=0).unsqueeze(-1)
            segments = batch.segment[batch.fill_examples].unsqueeze(1).expand_as(lasts)
            places = torch.arange(length, device=rows.device)
            allowed = (segments == segments.gather(2, first)) & (places >= first)
            judge(spans, lasts.masked_fill(~allowed, MASKED), batch.value_lasts, batch.fill_examples)

    asked = functional.binary_cross_entropy_with_logits(decided.relevance, batch.right_tools, reduction="none")
    return Outcomes(losses.sum() + RELEVANCE * asked.sum(), right)


def _likeness(text: Tensor, batch: Batch, tools: Tensor) -> Tensor:
    """The words' mean is to be like the functions they call: the shortlist ranks by this."""
    called = batch.right_tools.sum(dim=1) > 0
    if not called.any():
        return text.new_zeros(())
    now = (batch.mask * (batch.roles == int(SegmentRole.NOW))).unsqueeze(-1)
    mean = (text.float() * now).sum(dim=1) / now.sum(dim=1)
    likeness = 20 * functional.normalize(mean[called], dim=-1) @ functional.normalize(tools.float(), dim=-1).t()
    chances = functional.log_softmax(likeness, dim=-1)
    share = batch.right_tools[called] / batch.right_tools[called].sum(dim=1, keepdim=True)
    return -(chances * share).sum(dim=1).mean()
