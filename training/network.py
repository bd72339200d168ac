"""The network: MiniLM reads, a small decoder decides.

    pieces ──encode──▶ states ──fuse with the tools' vectors──▶ memory ──decode──▶ decisions

`encode` reads a conversation or a card. A card's slots (function, parameters, enum
members) are means over its states. `fuse` lets the words and the tools see each other.
`decode` is a transformer over decisions: which mode, which function, what value for
each parameter, the next function or the end. A decision is a dot product of the
decoder's query with what may be chosen (a tool, a member, the first and the last word
of a span), so nothing has a fixed output vocabulary.

Shapes: B examples, L pieces, T tools, S decisions, D width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from agent.model.layout import DECISIONS, KINDS, MODES, PREVIOUS
from agent.model.prompt import TEXT_LENGTH, SegmentRole

MASKED = -1e4  # small enough for softmax, large enough for bf16


@dataclass(frozen=True)
class Shape:
    """The sizes of the network. Width and heads are MiniLM's."""

    vocabulary: int
    width: int = 384
    heads: int = 12
    encoder_layers: int = 6
    fusion_layers: int = 1
    decoder_layers: int = 2
    inner: int = 1536


class Attention(nn.Module):
    """Multi-head attention with keys and values that may be given ready-made."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """x [B, Q, D], keys and values [B, K, D], mask [B, Q or 1, K] added to the scores."""
        batch, queries, width = x.shape
        size = width // self.heads

        def split(t: Tensor) -> Tensor:
            return t.reshape(batch, -1, self.heads, size).transpose(1, 2)

        q, k, v = split(self.query(x)), split(keys), split(values)
        # Written out: for short sequences it trains several times faster than torch's fused attention
        # on a CPU, and it converts.
        scores = q @ k.transpose(2, 3) / math.sqrt(size) + mask.unsqueeze(1).to(q.dtype)
        mixed = torch.softmax(scores, dim=-1).to(v.dtype) @ v
        return self.output(mixed.transpose(1, 2).reshape(batch, queries, width))


class ReadingLayer(nn.Module):
    """A layer of BERT: attention, then feed-forward, normed after each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Attention(shape.width, shape.heads)
        self.attention_norm = nn.LayerNorm(shape.width, eps=1e-6)
        self.inner = nn.Linear(shape.width, shape.inner)
        self.outer = nn.Linear(shape.inner, shape.width)
        self.outer_norm = nn.LayerNorm(shape.width, eps=1e-6)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B, L, D], mask [B, 1, L]."""
        attention = self.attention
        mixed = attention(x, attention.key(x), attention.value(x), mask)
        x = self.attention_norm(x + mixed)
        return self.outer_norm(x + self.outer(functional.gelu(self.inner(x))))


class DecidingLayer(nn.Module):
    """A decoder layer, normed before each part: itself, the memory, feed-forward."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_norm = nn.LayerNorm(shape.width)
        self.self_attention = Attention(shape.width, shape.heads)
        self.memory_norm = nn.LayerNorm(shape.width)
        self.memory_attention = Attention(shape.width, shape.heads)
        self.inner_norm = nn.LayerNorm(shape.width)
        self.inner = nn.Linear(shape.width, shape.inner)
        self.outer = nn.Linear(shape.inner, shape.width)
        self.dropout = nn.Dropout(0.1)

    def own(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of decisions [B, S, D], for the cache."""
        normed = self.self_norm(x)
        return self.self_attention.key(normed), self.self_attention.value(normed)

    def forward(
        self,
        x: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        memory_keys: Tensor,
        memory_values: Tensor,
        memory_mask: Tensor,
    ) -> Tensor:
        """x [B, S, D]; keys, values, mask of earlier decisions; the same of the memory."""
        mixed = self.self_attention(self.self_norm(x), keys, values, mask)
        x = x + self.dropout(mixed)
        mixed = self.memory_attention(self.memory_norm(x), memory_keys, memory_values, memory_mask)
        x = x + self.dropout(mixed)
        return x + self.dropout(self.outer(functional.gelu(self.inner(self.inner_norm(x)))))


class Network(nn.Module):
    """Encoder, fusion and decoder; see the head of this file."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.piece = nn.Embedding(shape.vocabulary, width)
        self.position = nn.Embedding(TEXT_LENGTH, width)
        self.role = nn.Embedding(len(SegmentRole), width)
        self.embedding_norm = nn.LayerNorm(width, eps=1e-6)
        self.encoder = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.encoder_layers))
        self.tool_mark = nn.Parameter(torch.zeros(width))
        self.fusion = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.fusion_layers))
        self.kind = nn.Embedding(len(KINDS), width)
        self.previous = nn.Embedding(len(PREVIOUS), width)
        self.subject = nn.Linear(width, width)
        self.chosen = nn.Linear(width, width)
        self.order = nn.Embedding(DECISIONS, width)
        self.decoder = nn.ModuleList(DecidingLayer(shape) for _ in range(shape.decoder_layers))
        self.final_norm = nn.LayerNorm(width)
        # Queries for a tool, a member, the first and the last word of a span.
        self.queries = nn.Linear(width, 4 * width)
        # Modes, "no further function", "no value".
        self.choices = nn.Linear(width, len(MODES) + 2)
        self.dropout = nn.Dropout(0.1)
        for module in (self.fusion, self.decoder, self.subject, self.chosen, self.queries, self.choices):
            for parameter in module.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.02)
        for embedding in (self.kind, self.previous, self.order):
            nn.init.normal_(embedding.weight, std=0.02)

    def encode(self, pieces: Tensor, roles: Tensor, mask: Tensor) -> Tensor:
        """Reads. pieces, roles [B, L] int, mask [B, L] 1 or 0 -> states [B, L, D]."""
        length = pieces.shape[1]
        x = self.piece(pieces) + self.position.weight[:length] + self.role(roles)
        x = self.dropout(self.embedding_norm(x))
        added = (1.0 - mask).unsqueeze(1) * MASKED
        for layer in self.encoder:
            x = layer(x, added)
        return x

    def fuse(self, text: Tensor, tools: Tensor, mask: Tensor) -> Tensor:
        """text [B, L, D], tools [B, T, D], mask [B, L+T] -> memory [B, L+T, D]."""
        x = torch.cat([text, tools + self.tool_mark], dim=1)
        added = (1.0 - mask).unsqueeze(1) * MASKED
        for layer in self.fusion:
            x = layer(x, added)
        return x

    def memory_of(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of the memory for each decoder layer, [B, L+T, D] each."""
        return [(layer.memory_attention.key(memory), layer.memory_attention.value(memory)) for layer in self.decoder]

    def asked(self, kinds: Tensor, previous: Tensor, subjects: Tensor, chosen: Tensor, order: Tensor) -> Tensor:
        """The decoder's input: what is asked now, what was chosen before. -> [B, S, D]."""
        return self.kind(kinds) + self.previous(previous) + self.subject(subjects) + self.chosen(chosen) + order

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Decoder output [B, S, D] -> queries [B, S, 4, D], choices [B, S, modes + 2]."""
        x = self.final_norm(x)
        queries = self.queries(x) / math.sqrt(self.shape.width)
        return queries.reshape(*x.shape[:2], 4, self.shape.width), self.choices(x)

    def decode(
        self,
        memory: Tensor,
        memory_mask: Tensor,
        kinds: Tensor,
        previous: Tensor,
        subjects: Tensor,
        chosen: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """All decisions at once, the right ones given: for training.

        Args:
            memory: [B, M, D]; memory_mask [B, M].
            kinds, previous: [B, S] int; subjects, chosen [B, S, D].

        Returns:
            As `heads`.
        """
        steps = kinds.shape[1]
        x = self.dropout(self.asked(kinds, previous, subjects, chosen, self.order.weight[:steps]))
        causal = torch.full((1, steps, steps), MASKED, device=x.device, dtype=x.dtype).triu(1)
        added = (1.0 - memory_mask).unsqueeze(1) * MASKED
        for layer, (keys, values) in zip(self.decoder, self.memory_of(memory), strict=True):
            x = layer(x, *layer.own(x), causal, keys, values, added)
        return self.heads(x)

    def step(
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
        """One decision with a cache: for the device.

        Args:
            kind, previous: [1, 1] int; subject, chosen [1, 1, D].
            now: [1, S, 1] one-hot of this decision's place.
            mask: [1, 1, S] 1 up to this decision.
            cache: [layers, 2, S, D], what `own` gave for earlier decisions.
            memory: [layers, 2, M, D] as from `memory_of`; memory_mask [1, M].

        Returns:
            queries [1, 1, 4, D], choices [1, 1, modes + 2], the new cache.
        """
        order = now.transpose(1, 2) @ self.order.weight.unsqueeze(0)
        x = self.asked(kind, previous, subject, chosen, order)
        added_own = (1.0 - mask) * MASKED
        added = (1.0 - memory_mask).unsqueeze(1) * MASKED
        caches = []
        for index, layer in enumerate(self.decoder):
            key, value = layer.own(x)
            keys = cache[index, 0].unsqueeze(0) * (1.0 - now) + now * key
            values = cache[index, 1].unsqueeze(0) * (1.0 - now) + now * value
            caches.append(torch.cat([keys, values], dim=0))
            x = layer(x, keys, values, added_own, memory[index, 0].unsqueeze(0), memory[index, 1].unsqueeze(0), added)
        queries, choices = self.heads(x)
        return queries, choices, torch.stack(caches)


def start_from_minilm(network: Network, weights: Path, rows: list[int | None]) -> None:
    """Copies MiniLM's embeddings and layers into the encoder.

    Args:
        network: A fresh network.
        weights: MiniLM's `model.safetensors`.
        rows: For each piece the row of MiniLM's embeddings, None for new ones, which get
            the mean of all (from `training.vocabulary.build`).
    """
    from safetensors.torch import load_file

    source = load_file(weights)
    with torch.no_grad():
        words = source["embeddings.word_embeddings.weight"]
        mean = words[[row for row in rows if row is not None]].mean(dim=0)
        network.piece.weight.copy_(torch.stack([mean if row is None else words[row] for row in rows]))
        network.position.weight.copy_(source["embeddings.position_embeddings.weight"][:TEXT_LENGTH])
        # MiniLM saw one token type; every role starts as that one.
        network.role.weight.copy_(source["embeddings.token_type_embeddings.weight"][:1].expand_as(network.role.weight))
        network.embedding_norm.weight.copy_(source["embeddings.LayerNorm.weight"])
        network.embedding_norm.bias.copy_(source["embeddings.LayerNorm.bias"])
        names = {
            "attention.query": "attention.self.query",
            "attention.key": "attention.self.key",
            "attention.value": "attention.self.value",
            "attention.output": "attention.output.dense",
            "attention_norm": "attention.output.LayerNorm",
            "inner": "intermediate.dense",
            "outer": "output.dense",
            "outer_norm": "output.LayerNorm",
        }
        for index, layer in enumerate(network.encoder):
            for ours, theirs in names.items():
                for kind in ("weight", "bias"):
                    target = layer.get_parameter(f"{ours}.{kind}")
                    target.copy_(source[f"encoder.layer.{index}.{theirs}.{kind}"])
        # The fusion layer starts as MiniLM's last: a sensible mixing of states of that depth.
        for layer in network.fusion:
            layer.load_state_dict(network.encoder[-1].state_dict())
