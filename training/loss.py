"""From a batch to a loss, and to how many examples have every decision right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from agent.model.layout import ABSENT_CHOICE, END_CHOICE, FIRST_QUERY, LAST_QUERY, MEMBER_QUERY, MODES, TOOL_QUERY, Kind
from agent.model.prompt import MAX_MEMBERS, SegmentRole
from training.batch import NO_TARGET, Batch
from training.network import MASKED, Network


@dataclass
class Outcomes:
    """What came of a batch.

    Attributes:
        loss: To be minimised.
        right: [B] whether every decision of the example is right.
    """

    loss: Tensor
    right: Tensor


def run(network: Network, batch: Batch, learn_cards: bool = False) -> Outcomes:
    """Reads, fuses, decides and compares; see `batch.py` for the shapes.

    Args:
        network: The network.
        batch: A group.
        learn_cards: The reading of the cards learns too. It is a third of a step's work, and
            every second step is enough: text and cards are read by the same weights.
    """
    text = network.encode(batch.pieces, batch.roles, batch.mask)
    card_roles = torch.full_like(batch.cards, int(SegmentRole.CARD))
    with torch.set_grad_enabled(learn_cards and torch.is_grad_enabled()):
        card_states = network.encode(batch.cards, card_roles, batch.card_mask)
    slots = batch.slots.to(card_states.dtype) @ card_states.reshape(-1, card_states.shape[-1])  # [slots, D]
    tools = slots[batch.tool_slots]  # [C, D]
    size, length = batch.pieces.shape
    count = tools.shape[0]
    mask = torch.cat([batch.mask, torch.ones(size, count, device=batch.mask.device)], dim=1)
    memory = network.fuse(text, tools.unsqueeze(0).expand(size, -1, -1), mask)

    bank = torch.cat([torch.zeros_like(memory[:, :1]), memory], dim=1)  # row 0 is "nothing"
    steps = batch.kinds.shape[1]
    picked = bank.gather(1, batch.rows.reshape(size, -1, 1).expand(-1, -1, bank.shape[2]))
    picked = picked.reshape(size, steps, 2, -1).mean(dim=2)
    chosen = picked + slots[batch.chosen_slots]
    queries, choices = network.decode(memory, mask, batch.kinds, batch.previous, slots[batch.subjects], chosen)
    queries, choices = queries.float(), choices.float()
    memory = memory.float()
    words, fused_tools = memory[:, :length], memory[:, length:]

    decided = batch.targets != NO_TARGET  # [B, S]
    losses = torch.zeros(size, steps, device=memory.device)
    right = torch.ones(size, steps, dtype=torch.bool, device=memory.device)

    def judge(kind: Kind, logits: Tensor) -> None:
        """Adds what one kind of decision contributes; logits [B, S, choices]."""
        where = decided & (batch.kinds == kind)
        if not where.any():
            return
        chances = functional.log_softmax(logits[where], dim=-1)
        targets = batch.targets[where]
        losses[where] = losses[where] + functional.nll_loss(chances, targets, reduction="none")
        right[where] = right[where] & (chances.argmax(dim=-1) == targets)

    judge(Kind.MODE, choices[..., : len(MODES)])
    tool_scores = queries[..., TOOL_QUERY, :] @ fused_tools.transpose(1, 2)
    judge(Kind.FUNCTION, torch.cat([tool_scores, choices[..., END_CHOICE : END_CHOICE + 1]], dim=-1))

    # Members are the slots after their leaf.
    all_slots = queries[..., MEMBER_QUERY, :] @ slots.float().t()  # [B, S, slots]
    offsets = torch.arange(1, MAX_MEMBERS + 1, device=memory.device)
    member_slots = (batch.subjects.unsqueeze(-1) + offsets).clamp(max=slots.shape[0] - 1)
    member_scores = all_slots.gather(2, member_slots)
    member_scores = member_scores.masked_fill(offsets > batch.members.unsqueeze(-1), MASKED)
    firsts = queries[..., FIRST_QUERY, :] @ words.transpose(1, 2)
    firsts = firsts.masked_fill(batch.pointable.unsqueeze(1) == 0, MASKED)
    judge(Kind.VALUE, torch.cat([choices[..., ABSENT_CHOICE : ABSENT_CHOICE + 1], member_scores, firsts], dim=-1))

    spans = batch.lasts != NO_TARGET
    if spans.any():
        lasts = (queries[..., LAST_QUERY, :] @ words.transpose(1, 2))[spans]  # [spans, L]
        rows = spans.nonzero()[:, 0]
        first = batch.targets[spans] - 1 - MAX_MEMBERS
        segments = batch.segment[rows]
        places = torch.arange(length, device=memory.device).unsqueeze(0)
        allowed = (segments == segments.gather(1, first.unsqueeze(1))) & (places >= first.unsqueeze(1))
        chances = functional.log_softmax(lasts.masked_fill(~allowed, MASKED), dim=-1)
        losses[spans] = losses[spans] + functional.nll_loss(chances, batch.lasts[spans], reduction="none")
        right[spans] = right[spans] & (chances.argmax(dim=-1) == batch.lasts[spans])

    loss = losses.sum() / size + 0.3 * _likeness(text, batch, tools)
    return Outcomes(loss, right.all(dim=1))


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
