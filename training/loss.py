"""From a batch to a loss, and to how many examples have every decision right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from agent.model.layout import ABSENT_CHOICE, END_CHOICE, FIRST_QUERY, LAST_QUERY, MEMBER_QUERY, MODES, TOOL_QUERY, Kind
from agent.model.prompt import MAX_MEMBERS, SegmentRole
from training.batch import NO_TARGET, Batch, Decks
from training.network import MASKED, Network

LIKENESS = 0.3  # the weight of what ranks the shortlist
RELEVANCE = 0.3  # the weight of "is this function asked for", for each function


@dataclass
class Outcomes:
    """What came of a batch.

    Attributes:
        loss: To be minimised: the sum over the examples.
        right: [B] whether every decision of the example is right.
    """

    loss: Tensor
    right: Tensor


def read_cards(network: Network, decks: Decks) -> Tensor:
    """The slots of all cards of a group [slots, D]; slot 0 is nothing."""
    parts = []
    for pieces, mask, means in zip(decks.pieces, decks.masks, decks.means, strict=True):
        states = network.encode(pieces, torch.full_like(pieces, int(SegmentRole.CARD)), mask)
        parts.append(means.to(states.dtype) @ states.reshape(-1, states.shape[-1]))
    return torch.cat([parts[0].new_zeros(1, parts[0].shape[1]), *parts])


def run(network: Network, slots: Tensor, tool_slots: Tensor, batch: Batch) -> Outcomes:
    """Reads, fuses, fills, decides and compares; see `batch.py` for the shapes.

    Args:
        network: The network.
        slots: From `read_cards`.
        tool_slots: [T] the slot of each function.
        batch: Examples of that group.
    """
    text = network.encode(batch.pieces, batch.roles, batch.mask)
    tools = slots[tool_slots]  # [T, D]
    size, length = batch.pieces.shape
    count, steps = tools.shape[0], batch.kinds.shape[1]
    tool_mask = torch.ones(size, count, device=batch.mask.device)
    mask = torch.cat([batch.mask, tool_mask], dim=1)
    memory = network.fuse(text, tools.unsqueeze(0).expand(size, -1, -1), mask)
    words, fused_tools = memory[:, :length], memory[:, length:]
    relevance, mode_logits = network.asked_for(fused_tools, tool_mask)

    fill_mask = torch.cat([batch.mask[batch.fill_examples], batch.fill_mask], dim=1)
    filled = network.fill(words[batch.fill_examples], slots[batch.fill_slots], fill_mask)  # [F, L+K, D]
    width = memory.shape[2]
    nothing = memory.new_zeros(1, width)
    subjects = torch.cat([nothing, filled[:, length:].reshape(-1, width)])[batch.subjects]
    bank = torch.cat([torch.zeros_like(memory[:, :1]), memory], dim=1)  # row 0 is "nothing"
    picked = bank.gather(1, batch.rows.reshape(size, -1, 1).expand(-1, -1, width)).reshape(size, steps, 2, -1)
    chosen = picked.mean(dim=2) + slots[batch.chosen_slots]

    x = network.asked(batch.kinds, batch.previous, subjects, chosen, network.order.weight[:steps])
    memories = [(memory, mask, batch.own), (filled, fill_mask, batch.values)]
    queries, choices = network.decode(x, memories, batch.place)
    queries = torch.cat([queries.reshape(size * steps, -1), queries.new_zeros(1, 4 * width)])
    queries = queries.reshape(-1, 4, width).float()
    choices = torch.cat([choices.reshape(size * steps, -1), choices.new_zeros(1, choices.shape[2])]).float()

    losses = torch.zeros(size, device=memory.device)
    right = torch.ones(size, dtype=torch.bool, device=memory.device)

    def judge(where: Tensor, logits: Tensor, targets: Tensor, examples: Tensor) -> None:
        """Adds what the decisions `where` [R, N] of some examples [R] contribute; logits [R, N, choices]."""
        chances = functional.log_softmax(logits[where], dim=-1)
        wanted = targets[where]
        owners = examples.unsqueeze(1).expand_as(where)[where]
        losses.index_add_(0, owners, functional.nll_loss(chances, wanted, reduction="none"))
        correct = chances.argmax(dim=-1) == wanted
        right[owners[~correct]] = False

    rows = torch.arange(size, device=memory.device)
    own_kinds = torch.cat([batch.kinds.reshape(-1), batch.kinds.new_full((1,), -1)])[batch.own]
    own_queries, own_choices = queries[batch.own], choices[batch.own]
    modes = own_choices[..., : len(MODES)] + mode_logits.float().unsqueeze(1)
    judge(own_kinds == int(Kind.MODE), modes, batch.own_targets, rows)
    tool_scores = own_queries[..., TOOL_QUERY, :] @ fused_tools.float().transpose(1, 2)
    tool_scores = tool_scores + relevance.float().unsqueeze(1)
    functions = torch.cat([tool_scores, own_choices[..., END_CHOICE : END_CHOICE + 1]], dim=-1)
    judge(own_kinds == int(Kind.FUNCTION), functions, batch.own_targets, rows)

    decided = batch.value_targets != NO_TARGET
    if decided.any():
        value_queries, value_choices = queries[batch.values], choices[batch.values]
        heard, offered = filled[:, :length].float(), filled[:, length:].float()
        offers = value_queries[..., MEMBER_QUERY, :] @ offered.transpose(1, 2)  # [F, V, K]
        offsets = torch.arange(1, MAX_MEMBERS + 1, device=memory.device)
        at = (batch.value_subjects.unsqueeze(-1) + offsets).clamp(max=offered.shape[1] - 1)
        member_scores = offers.gather(2, at).masked_fill(offsets > batch.value_members.unsqueeze(-1), MASKED)
        pointable = batch.pointable[batch.fill_examples].unsqueeze(1) == 0
        firsts = (value_queries[..., FIRST_QUERY, :] @ heard.transpose(1, 2)).masked_fill(pointable, MASKED)
        absent = value_choices[..., ABSENT_CHOICE : ABSENT_CHOICE + 1]
        judge(decided, torch.cat([absent, member_scores, firsts], dim=-1), batch.value_targets, batch.fill_examples)

        spans = batch.value_lasts != NO_TARGET
        if spans.any():
            lasts = value_queries[..., LAST_QUERY, :] @ heard.transpose(1, 2)  # [F, V, L]
            first = (batch.value_targets - 1 - MAX_MEMBERS).clamp(min=0).unsqueeze(-1)
            segments = batch.segment[batch.fill_examples].unsqueeze(1).expand_as(lasts)
            places = torch.arange(length, device=memory.device)
            allowed = (segments == segments.gather(2, first)) & (places >= first)
            judge(spans, lasts.masked_fill(~allowed, MASKED), batch.value_lasts, batch.fill_examples)

    asked = functional.binary_cross_entropy_with_logits(relevance.float(), batch.right_tools, reduction="none")
    loss = losses.sum() + RELEVANCE * asked.sum() + LIKENESS * size * _likeness(text, batch, tools)
    return Outcomes(loss, right)


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
