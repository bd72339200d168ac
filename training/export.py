"""From weights to the int8 `.tflite` that the device runs.

One file, several signatures over the same weights, each for every reading length:
`encode_L`, `fuse_L`, `fill_L`, and `decode_L` for one decision. Weights are int8,
activations float (dynamic range).
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

import torch
from torch import Tensor, nn

from agent.model.layout import DECISIONS, LAYERS, TEXT_LENGTHS, WIDTH
from agent.model.prompt import MAX_SLOTS, MAX_TOOLS
from training.network import Network, Shape
from training.train import OUT

PRODUCT = Path(__file__).parent.parent / "agent" / "model" / "files"


class Encode(nn.Module):
    """pieces, roles [L] int32, mask [1, L] -> states [L, D]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, pieces: Tensor, roles: Tensor, mask: Tensor) -> Tensor:
        return self.network.encode(pieces, roles, [mask])


class Fuse(nn.Module):
    """Words [L, D], tools [T, D], mask [1, L+T] -> fused [L+T, D], its pairs, relevance [1, T], modes [1, modes]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, text: Tensor, tools: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        fused = self.network.fuse([text.unsqueeze(0)], [tools.unsqueeze(0)], [mask])
        length = text.shape[0]
        relevance, modes = self.network.asked_for(fused[length:].unsqueeze(0), mask[:, length:])
        return fused, self.network.pairs(fused), relevance, modes


class Fill(nn.Module):
    """Fused words and words as read [L, D], slots [K, D], mask [1, L+K] -> filled [L+K, D], its pairs."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, words: Tensor, text: Tensor, slots: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        rows = [each.unsqueeze(0) for each in (words, text, slots)]
        filled = self.network.fill(*([row] for row in rows), [mask])
        return filled, self.network.pairs(filled)


class Decode(nn.Module):
    """One decision; see `Network.step`."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        kind: Tensor,
        previous: Tensor,
        subject: Tensor,
        chosen: Tensor,
        now: Tensor,
        mask: Tensor,
        cache: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        return self.network.step(kind, previous, subject, chosen, now, mask, cache, memory, memory_mask)


def convert(network: Network, path: Path) -> None:
    """Writes the float model with all signatures."""
    import litert_torch

    network.eval()
    built = None
    for length in TEXT_LENGTHS:
        # Every argument is a tensor of its own: the converter takes one given twice for one input.
        encode = (
            torch.zeros(length, dtype=torch.int32),
            torch.zeros(length, dtype=torch.int32),
            torch.ones(1, length),
        )
        fuse = (torch.zeros(length, WIDTH), torch.zeros(MAX_TOOLS, WIDTH), torch.ones(1, length + MAX_TOOLS))
        fill = (
            torch.zeros(length, WIDTH),
            torch.zeros(length, WIDTH),
            torch.zeros(MAX_SLOTS, WIDTH),
            torch.ones(1, length + MAX_SLOTS),
        )
        memory = length + MAX_TOOLS
        decode = (
            torch.zeros(1, dtype=torch.int32),
            torch.zeros(1, dtype=torch.int32),
            torch.zeros(1, WIDTH),
            torch.zeros(1, WIDTH),
            torch.zeros(DECISIONS, 1),
            torch.ones(1, DECISIONS),
            torch.zeros(LAYERS, DECISIONS, 2 * WIDTH),
            torch.zeros(LAYERS, memory, 2 * WIDTH),
            torch.ones(1, memory),
        )
        start = litert_torch if built is None else built
        built = start.signature(f"encode_{length}", Encode(network), encode)
        built = built.signature(f"fuse_{length}", Fuse(network), fuse)
        built = built.signature(f"fill_{length}", Fill(network), fill)
        built = built.signature(f"decode_{length}", Decode(network), decode)
    assert built is not None
    built.convert().export(str(path))


def quantize(path: Path, target: Path) -> None:
    """int8 weights with one scale a matrix, float activations.

    One scale a row would be a little finer, but tflite-runtime 2.14 computes nonsense from it.
    """
    from ai_edge_quantizer import qtyping, quantizer

    worker = quantizer.Quantizer(str(path))
    worker.update_quantization_recipe(
        regex=".*",
        operation_name=qtyping.TFLOperationName.ALL_SUPPORTED,
        op_config=qtyping.OpQuantizationConfig(
            weight_tensor_config=qtyping.TensorQuantizationConfig(
                num_bits=8, symmetric=True, granularity=qtyping.QuantGranularity.TENSORWISE
            ),
            compute_precision=qtyping.ComputePrecision.INTEGER,
        ),
    )
    if target.exists():
        target.unlink()
    worker.quantize().export_model(str(target))


def export(out: Path, product: Path) -> Path:
    """Best weights of a training run to the files that ship.

    Returns:
        The model's path; the tokenizer lies beside it.
    """
    saved = torch.load(out / "best.pt", map_location="cpu", weights_only=False)
    network = Network(Shape(**saved["shape"]))
    network.load_state_dict(saved["network"])
    floats = out / "hearth-float.tflite"
    convert(network, floats)
    product.mkdir(parents=True, exist_ok=True)
    part = product / "hearth.part.tflite"
    quantize(floats, part)
    os.replace(part, product / "hearth.tflite")
    shutil.copyfile(out / "tokenizer.model", product / "tokenizer.model")
    return product / "hearth.tflite"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--product", type=Path, default=PRODUCT)
    arguments = parser.parse_args()
    print(export(arguments.out, arguments.product))
