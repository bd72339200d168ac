"""The network: MiniLM reads, a small decoder decides.

    pieces ──encode──▶ states ──fuse with the tools──▶ memory ──decode──▶ which mode, which functions
                                     └──fill with one tool's parts──▶ memory ──decode──▶ its values

`encode` reads a conversation or a card. A card's slots (function, parameters, enum
members) are means over its states. `fuse` lets the words and the tools see each other;
`fill` does the same for the words and the slots of one function that was chosen.
`decode` is a transformer over decisions: which mode, which function, what value for
each parameter, the next function or the end. A decision is a dot product of the
decoder's query with what may be chosen (a tool, a member, the first and the last word
of a span), so nothing has a fixed output vocabulary.

Shapes: B examples, L pieces, T tools, F fillings (a chosen function each), K slots of a
filling, S decisions, D width.
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
    frozen_layers: int = 2  # of those: they stay as they come, see `Network.encode`
    fusion_layers: int = 2
    filling_layers: int = 1
    decoder_layers: int = 2
    inner: int = 1536
    decoder_inner: int = 768


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
        self.inner = nn.Linear(shape.width, shape.decoder_inner)
        self.outer = nn.Linear(shape.decoder_inner, shape.width)
        self.dropout = nn.Dropout(0.1)

    def own(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of decisions [B, S, D], for the cache."""
        normed = self.self_norm(x)
        return self.self_attention.key(normed), self.self_attention.value(normed)

    def attend(self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """x [B, S, D] looks at itself and what was decided before."""
        return x + self.dropout(self.self_attention(self.self_norm(x), keys, values, mask))

    def think(self, x: Tensor, seen: Tensor) -> Tensor:
        """x [B, S, D] with what it saw in its memory; then feed-forward."""
        x = x + self.dropout(seen)
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
        # What a piece is in itself, beside what it means in its sentence: an unseen word of a
        # card is found again in a command by it.
        self.lexical = nn.Linear(width, width, bias=False)
        self.tool_mark = nn.Parameter(torch.zeros(width))
        self.fusion = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.fusion_layers))
        self.slot_mark = nn.Parameter(torch.zeros(width))
        self.filling = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.filling_layers))
        # Whether a function is asked for, from its fused vector; and what the best of them means for each mode.
        self.relevance = nn.Linear(width, 1)
        self.mode_of_relevance = nn.Parameter(torch.tensor([1.0, 1.0, 0.5, 0.0, 0.0]))
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
        fresh = (self.fusion, self.filling, self.decoder, self.subject, self.chosen, self.queries, self.choices)
        for module in (*fresh, self.relevance):
            for parameter in module.parameters():
                if parameter.dim() > 1:
                    nn.init.normal_(parameter, std=0.02)
        for embedding in (self.kind, self.previous, self.order, self.role):
            nn.init.normal_(embedding.weight, std=0.02)
        with torch.no_grad():
            self.lexical.weight.copy_(0.25 * torch.eye(width))

    def encode(self, pieces: Tensor, roles: Tensor, mask: Tensor) -> Tensor:
        """Reads. pieces, roles [B, L] int, mask [B, L] 1 or 0 -> states [B, L, D]."""
        length = pieces.shape[1]
        own = self.piece(pieces)
        added = (1.0 - mask).unsqueeze(1) * MASKED
        with torch.no_grad():
            # As MiniLM reads: what it knows of words that no pattern holds is not lost, and a step is quicker.
            x = self.embedding_norm(own + self.position.weight[:length])
            for layer in self.encoder[: self.shape.frozen_layers]:
                x = layer(x, added)
        x = self.dropout(x + self.role(roles))
        for layer in self.encoder[self.shape.frozen_layers :]:
            x = layer(x, added)
        return x + self.lexical(own)

    def fuse(self, text: Tensor, tools: Tensor, mask: Tensor) -> Tensor:
        """text [B, L, D], tools [B, T, D], mask [B, L+T] -> memory [B, L+T, D]."""
        x = torch.cat([text, tools + self.tool_mark], dim=1)
        added = (1.0 - mask).unsqueeze(1) * MASKED
        for layer in self.fusion:
            x = layer(x, added)
        return x

    def asked_for(self, tools: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Whether each function is asked for at all.

        Args:
            tools: [B, T, D] fused; mask [B, T].

        Returns:
            relevance [B, T], the log odds of each; [B, modes] what that adds to each mode.
        """
        relevance = self.relevance(tools).squeeze(-1)
        best = (relevance + (1.0 - mask) * MASKED).max(dim=1, keepdim=True).values.clamp(-8.0, 8.0)
        return relevance, best * self.mode_of_relevance

    def fill(self, text: Tensor, slots: Tensor, mask: Tensor) -> Tensor:
        """Fused text [F, L, D], slots [F, K, D], mask [F, L+K] -> memory [F, L+K, D]."""
        x = torch.cat([text, slots + self.slot_mark], dim=1)
        added = (1.0 - mask).unsqueeze(1) * MASKED
        for layer in self.filling:
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

    def decode(self, x: Tensor, memories: list[tuple[Tensor, Tensor, Tensor]], place: Tensor) -> tuple[Tensor, Tensor]:
        """All decisions at once, the right ones given: for training.

        Args:
            x: [B, S, D] from `asked`.
            memories: For each kind of memory its rows [R, M, D], their mask [R, M], and for each
                of the R the decisions that look at it, [R, N]: numbers of B * S, or B * S for none.
            place: [B, S] where each decision stands among all the R * N.

        Returns:
            As `heads`.
        """
        _, steps, width = x.shape
        x = self.dropout(x)
        causal = torch.full((1, steps, steps), MASKED, device=x.device, dtype=x.dtype).triu(1)
        masks = [(1.0 - mask).unsqueeze(1) * MASKED for _, mask, _ in memories]
        for layer in self.decoder:
            x = layer.attend(x, *layer.own(x), causal)
            attention = layer.memory_attention
            normed = layer.memory_norm(x).reshape(-1, width)
            normed = torch.cat([normed, normed.new_zeros(1, width)])
            seen = [
                attention(normed[lookers], attention.key(rows), attention.value(rows), mask).reshape(-1, width)
                for (rows, _, lookers), mask in zip(memories, masks, strict=True)
            ]
            x = layer.think(x, torch.cat(seen)[place])
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
            x = layer.attend(x, keys, values, added_own)
            looked = memory[index, 0].unsqueeze(0), memory[index, 1].unsqueeze(0)
            x = layer.think(x, layer.memory_attention(layer.memory_norm(x), *looked, added))
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
        # MiniLM saw one token type.
        network.position.weight.copy_(
            source["embeddings.position_embeddings.weight"][:TEXT_LENGTH]
            + source["embeddings.token_type_embeddings.weight"][0]
        )
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
        # These start as MiniLM's last: a sensible mixing of states of that depth.
        for layer in (*network.fusion, *network.filling):
            layer.load_state_dict(network.encoder[-1].state_dict())
