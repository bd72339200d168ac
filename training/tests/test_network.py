"""The network: what the device computes step by step is what training computed at once."""

from __future__ import annotations

import torch

from agent.model.layout import DECISIONS, LAYERS, WIDTH
from training.network import Network, Shape


def test_decisions_with_a_cache_equal_decisions_at_once() -> None:
    """The exported step and the training pass agree, whichever memory a decision looks at."""
    torch.manual_seed(0)
    network = Network(Shape(vocabulary=50, encoder_layers=1)).eval()
    memory, mask = torch.randn(1, 9, WIDTH), torch.tensor([[1.0] * 7 + [0.0] * 2])
    filled, fill_mask = torch.randn(1, 9, WIDTH), torch.tensor([[1.0] * 5 + [0.0] * 4])
    kinds, previous = torch.tensor([[0, 1, 2, 2]]), torch.tensor([[0, 1, 6, 7]])
    subjects, chosen = torch.randn(1, 4, WIDTH), torch.randn(1, 4, WIDTH)

    asked = network.asked(kinds, previous, subjects, chosen, network.order.weight[:4])
    memories = [(memory, mask, torch.tensor([[0, 1]])), (filled, fill_mask, torch.tensor([[2, 3]]))]
    queries, choices = network.decode(asked, memories, place=torch.tensor([[0, 1, 2, 3]]))
    cache = torch.zeros(LAYERS, 2, DECISIONS, WIDTH)
    for step in range(4):
        rows, row_mask = (memory, mask) if step < 2 else (filled, fill_mask)
        pairs = torch.stack([torch.cat(pair, dim=0) for pair in network.memory_of(rows)])
        now = torch.zeros(1, DECISIONS, 1)
        now[0, step] = 1
        seen = torch.zeros(1, 1, DECISIONS)
        seen[..., : step + 1] = 1
        at = slice(step, step + 1)
        one_queries, one_choices, cache = network.step(
            kinds[:, at], previous[:, at], subjects[:, at], chosen[:, at], now, seen, cache, pairs, row_mask
        )

        torch.testing.assert_close(one_queries[0, 0], queries[0, step], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(one_choices[0, 0], choices[0, step], atol=1e-4, rtol=1e-4)
