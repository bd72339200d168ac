"""The network: what the device computes step by step is what training computed at once."""

from __future__ import annotations

import torch

from agent.model.layout import DECISIONS, LAYERS, WIDTH
from training.network import Lookers, Network, Shape, apart


def test_decisions_with_a_cache_equal_decisions_at_once() -> None:
    """The exported step and the training pass agree, whichever memory a decision looks at."""
    torch.manual_seed(0)
    network = Network(Shape(vocabulary=50, encoder_layers=1)).eval()
    rows = torch.randn(18, WIDTH)
    masks = [torch.tensor([[1.0] * 7 + [0.0] * 2]), torch.tensor([[1.0] * 5 + [0.0] * 4])]
    kinds, previous = torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 6, 7])
    subjects, chosen = torch.randn(4, WIDTH), torch.randn(4, WIDTH)

    asked = network.asked(kinds, previous, subjects, chosen, network.order.weight[:4])
    lookers = [Lookers(0, torch.tensor([[0, 1]])), Lookers(1, torch.tensor([[2, 3]]))]
    queries, choices = network.decode(asked, [torch.ones(1, 4)], rows, masks, lookers, place=torch.tensor([0, 1, 2, 3]))
    cache = torch.zeros(LAYERS, DECISIONS, 2 * WIDTH)
    for step in range(4):
        looked_at = 0 if step < 2 else 1
        now = torch.zeros(DECISIONS, 1)
        now[step] = 1
        seen = torch.zeros(1, DECISIONS)
        seen[:, : step + 1] = 1
        at = slice(step, step + 1)
        pairs = network.pairs(apart(rows, masks)[looked_at][0])
        one_queries, one_choices, cache = network.step(
            kinds[at], previous[at], subjects[at], chosen[at], now, seen, cache, pairs, masks[looked_at]
        )

        torch.testing.assert_close(one_queries[0], queries[step], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(one_choices[0], choices[step], atol=1e-4, rtol=1e-4)
