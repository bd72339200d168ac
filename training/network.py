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
filling, S decisions, D width. Examples of different lengths stand one after the other as
rows [N, D], in parts of one length each: linear layers see all rows at once, which a CPU
does best, and attention sees part after part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def apart(rows: Tensor, masks: Sequence[Tensor]) -> list[Tensor]:
    """Rows [N, D] as the parts [B, L, D] that stand one after the other in them, one for each mask [B, L].

    One split for all: taken part by part, each would cost a gradient as large as all rows.
    """
    # Of one part there is nothing to split, and the export knows no split.
    pieces = rows.split([mask.numel() for mask in masks]) if len(masks) > 1 else (rows,)
    return [piece.reshape(*mask.shape, -1) for piece, mask in zip(pieces, masks, strict=True)]


def attend(query: Tensor, key: Tensor, value: Tensor, added: Tensor, heads: int) -> Tensor:
    """Multi-head attention.

    Written out: for short sequences it trains several times faster than torch's fused attention on a CPU, and it
    converts.

    Args:
        query: [B, Q, D].
        key, value: [B, K, D].
        added: [B or 1, Q or 1, K], added to the scores.
        heads: Of which D is made.

    Returns:
        What was seen, [B, Q, D].
    """
    batch, queries, width = query.shape
    size = width // heads

    def split(t: Tensor) -> Tensor:
        return t.reshape(batch, -1, heads, size).transpose(1, 2)

    scores = split(query) @ split(key).transpose(2, 3) / math.sqrt(size) + added.unsqueeze(1).to(query.dtype)
    mixed = torch.softmax(scores, dim=-1).to(value.dtype) @ split(value)
    return mixed.transpose(1, 2).reshape(batch, queries, width)


class ReadingLayer(nn.Module):
    """A layer of BERT: attention, then feed-forward, normed after each."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.looks = nn.Linear(shape.width, 3 * shape.width)  # query, key, value
        self.seen = nn.Linear(shape.width, shape.width)
        self.seen_norm = nn.LayerNorm(shape.width, eps=1e-6)
        self.inner = nn.Linear(shape.width, shape.inner)
        self.outer = nn.Linear(shape.inner, shape.width)
        self.outer_norm = nn.LayerNorm(shape.width, eps=1e-6)

    def forward(self, x: Tensor, masks: Sequence[Tensor]) -> Tensor:
        """x [N, D], in parts [B, L]."""
        seen = []
        for looks, mask in zip(apart(self.looks(x), masks), masks, strict=True):
            query, key, value = looks.chunk(3, dim=-1)
            seen.append(attend(query, key, value, _added(mask), self.heads).reshape(-1, x.shape[1]))
        x = self.seen_norm(x + self.seen(_joined(seen)))
        return self.outer_norm(x + self.outer(functional.gelu(self.inner(x))))


class DecidingLayer(nn.Module):
    """A decoder layer, normed before each part: itself, the memory, feed-forward."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.own_norm = nn.LayerNorm(shape.width)
        self.own_looks = nn.Linear(shape.width, 3 * shape.width)  # query, key, value
        self.own_seen = nn.Linear(shape.width, shape.width)
        self.memory_norm = nn.LayerNorm(shape.width)
        self.memory_query = nn.Linear(shape.width, shape.width)
        self.memory = nn.Linear(shape.width, 2 * shape.width)  # key, value
        self.memory_seen = nn.Linear(shape.width, shape.width)
        self.inner_norm = nn.LayerNorm(shape.width)
        self.inner = nn.Linear(shape.width, shape.decoder_inner)
        self.outer = nn.Linear(shape.decoder_inner, shape.width)
        self.dropout = nn.Dropout(0.1)

    def think(self, x: Tensor) -> Tensor:
        """Feed-forward of x [..., D]."""
        return x + self.dropout(self.outer(functional.gelu(self.inner(self.inner_norm(x)))))


class Likeness(nn.Module):
    """How like each of some vectors the likest word is, as something that is added to them.

    A member or a function that no pattern holds is found by it: comparing is learned, and not what is compared.
    """

    HEADS, SIZE = 4, 48

    def __init__(self, width: int) -> None:
        super().__init__()
        self.words = nn.Linear(width, self.HEADS * self.SIZE, bias=False)
        self.others = nn.Linear(width, self.HEADS * self.SIZE, bias=False)
        self.before = nn.Linear(2 * self.HEADS, width)
        self.after = nn.Linear(2 * self.HEADS, width)
        with torch.no_grad():
            nn.init.orthogonal_(self.words.weight)
            self.others.weight.copy_(self.words.weight)

    def forward(self, words: Tensor, others: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Compares.

        Args:
            words: [B, L, D]; mask [B, L].
            others: [B, K, D].

        Returns:
            What is added to the others before they see the words, and after: [B, K, D] each.
        """
        batch = words.shape[0]

        def split(t: Tensor) -> Tensor:
            t = t.reshape(batch, -1, self.HEADS, self.SIZE).transpose(1, 2)
            return t * torch.rsqrt((t * t).sum(dim=-1, keepdim=True) + 1e-6)

        likeness = split(self.others(others)) @ split(self.words(words)).transpose(2, 3)  # [B, heads, K, L]
        here = mask.reshape(batch, 1, 1, -1).to(likeness.dtype)
        best = (likeness + (1.0 - here) * MASKED).max(dim=-1).values
        mean = (likeness * here).sum(dim=-1) / here.sum(dim=-1)
        found = torch.cat([best, mean], dim=1).transpose(1, 2)  # [B, K, 2 heads]
        return self.before(found), self.after(found)


def _added(mask: Tensor) -> Tensor:
    """A mask [B, K] as what is added to scores, [B, 1, K]."""
    return (1.0 - mask).unsqueeze(1) * MASKED


def _joined(rows: list[Tensor]) -> Tensor:
    return rows[0] if len(rows) == 1 else torch.cat(rows)


@dataclass(frozen=True)
class Lookers:
    """Which decisions look at one part of the memory.

    Attributes:
        memory: The number of the part.
        decisions: [B, N] their rows among all decisions; the number of all is none.
    """

    memory: int
    decisions: Tensor


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
        self.tool_likeness = Likeness(width)
        self.fusion = nn.ModuleList(ReadingLayer(shape) for _ in range(shape.fusion_layers))
        self.slot_mark = nn.Parameter(torch.zeros(width))
        self.slot_likeness = Likeness(width)
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

    def encode(self, pieces: Tensor, roles: Tensor, masks: Sequence[Tensor]) -> Tensor:
        """Reads. pieces, roles [N] int, in parts [B, L] -> states [N, D]."""
        own = self.piece(pieces)
        positions = [
            self.position.weight[: mask.shape[1]].expand(len(mask), -1, -1).reshape(-1, own.shape[1]) for mask in masks
        ]
        with torch.no_grad():
            # As MiniLM reads: what it knows of words that no pattern holds is not lost, and a step is quicker.
            x = self.embedding_norm(own + _joined(positions))
            for layer in self.encoder[: self.shape.frozen_layers]:
                x = layer(x, masks)
        x = self.dropout(x + self.role(roles))
        for layer in self.encoder[self.shape.frozen_layers :]:
            x = layer(x, masks)
        return x + self.lexical(own)

    def fuse(self, texts: Sequence[Tensor], tools: Sequence[Tensor], masks: Sequence[Tensor]) -> Tensor:
        """For each part its words [B, L, D] beside its tools [B, T, D] -> what modes and functions look at, [N, D]."""
        return _mixed(self.fusion, self.tool_likeness, self.tool_mark, texts, texts, tools, masks)

    def fill(
        self, words: Sequence[Tensor], texts: Sequence[Tensor], slots: Sequence[Tensor], masks: Sequence[Tensor]
    ) -> Tensor:
        """For each part its fused words [F, L, D] beside slots [F, K, D] -> what values look at, [N, D].

        The slots are compared with the words as they were read, `texts` [F, L, D].
        """
        return _mixed(self.filling, self.slot_likeness, self.slot_mark, words, texts, slots, masks)

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

    def asked(self, kinds: Tensor, previous: Tensor, subjects: Tensor, chosen: Tensor, order: Tensor) -> Tensor:
        """The decoder's input: what is asked now, what was chosen before. -> [N, D]."""
        return self.kind(kinds) + self.previous(previous) + self.subject(subjects) + self.chosen(chosen) + order

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Decoder output [N, D] -> queries [N, 4, D], choices [N, modes + 2]."""
        x = self.final_norm(x)
        queries = self.queries(x) / math.sqrt(self.shape.width)
        return queries.reshape(-1, 4, self.shape.width), self.choices(x)

    def decode(
        self,
        x: Tensor,
        sizes: Sequence[Tensor],
        memory: Tensor,
        masks: Sequence[Tensor],
        lookers: Sequence[Lookers],
        place: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """All decisions at once, the right ones given: for training.

        Args:
            x: [N, D] from `asked`, in parts like `sizes` [B, S].
            memory: [M, D] rows of what is looked at, all kinds of memory, in parts [B, L].
            masks: Of those.
            lookers: Who looks at which part of them.
            place: [N] where each decision stands among all lookers, in their order.

        Returns:
            As `heads`.
        """
        width = x.shape[1]
        x = self.dropout(x)
        for layer in self.decoder:
            own = []
            for looks in apart(layer.own_looks(layer.own_norm(x)), sizes):
                query, key, value = looks.chunk(3, dim=-1)
                steps = query.shape[1]
                causal = torch.full((1, steps, steps), MASKED, device=x.device, dtype=x.dtype).triu(1)
                own.append(attend(query, key, value, causal, layer.heads).reshape(-1, width))
            x = x + self.dropout(layer.own_seen(_joined(own)))
            query = layer.memory_query(layer.memory_norm(x))
            query = torch.cat([query, query.new_zeros(1, width)])
            pairs = apart(layer.memory(memory), masks)
            seen = []
            for each in lookers:
                key, value = pairs[each.memory].chunk(2, dim=-1)
                mixed = attend(query[each.decisions], key, value, _added(masks[each.memory]), layer.heads)
                seen.append(mixed.reshape(-1, width))
            x = layer.think(x + self.dropout(layer.memory_seen(_joined(seen)[place])))
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
            kind, previous: [1] int; subject, chosen [1, D].
            now: [S, 1] one-hot of this decision's place.
            mask: [1, S] 1 up to this decision.
            cache: [layers, S, 2 D], keys and values of earlier decisions.
            memory: [layers, M, 2 D] as from `pairs`; memory_mask [1, M].

        Returns:
            queries [1, 4, D], choices [1, modes + 2], the new cache.
        """
        x = self.asked(kind, previous, subject, chosen, now.transpose(0, 1) @ self.order.weight)
        caches = []
        for index, layer in enumerate(self.decoder):
            query, pair = layer.own_looks(layer.own_norm(x)).split([self.shape.width, 2 * self.shape.width], dim=-1)
            cached = cache[index] * (1.0 - now) + now * pair
            caches.append(cached)
            key, value = cached.unsqueeze(0).chunk(2, dim=-1)
            x = x + layer.own_seen(attend(query.unsqueeze(0), key, value, _added(mask), layer.heads)[0])
            query = layer.memory_query(layer.memory_norm(x)).unsqueeze(0)
            key, value = memory[index].unsqueeze(0).chunk(2, dim=-1)
            x = layer.think(x + layer.memory_seen(attend(query, key, value, _added(memory_mask), layer.heads)[0]))
        queries, choices = self.heads(x)
        return queries, choices, torch.stack(caches)

    def pairs(self, memory: Tensor) -> Tensor:
        """Keys and values of memory rows [M, D] for each decoder layer, [layers, M, 2 D]."""
        return torch.stack([layer.memory(memory) for layer in self.decoder])


def _mixed(
    layers: nn.ModuleList,
    likeness: Likeness,
    mark: Tensor,
    words: Sequence[Tensor],
    texts: Sequence[Tensor],
    others: Sequence[Tensor],
    masks: Sequence[Tensor],
) -> Tensor:
    """Words and others beside each other, what they are alike told to both ends of the layers."""
    rows, ends = [], []
    for word, text, other, mask in zip(words, texts, others, masks, strict=True):
        before, after = likeness(text, other, mask[:, : text.shape[1]])
        rows.append(torch.cat([word, other + mark + before], dim=1).reshape(-1, word.shape[2]))
        ends.append(torch.cat([torch.zeros_like(word), after], dim=1).reshape(-1, word.shape[2]))
    x = _joined(rows)
    for layer in layers:
        x = layer(x, masks)
    return x + _joined(ends)


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
            "looks": ("attention.self.query", "attention.self.key", "attention.self.value"),
            "seen": ("attention.output.dense",),
            "seen_norm": ("attention.output.LayerNorm",),
            "inner": ("intermediate.dense",),
            "outer": ("output.dense",),
            "outer_norm": ("output.LayerNorm",),
        }
        for index, layer in enumerate(network.encoder):
            for ours, theirs in names.items():
                for kind in ("weight", "bias"):
                    found = [source[f"encoder.layer.{index}.{each}.{kind}"] for each in theirs]
                    layer.get_parameter(f"{ours}.{kind}").copy_(torch.cat(found))
        # These start as MiniLM's last: a sensible mixing of states of that depth.
        for layer in (*network.fusion, *network.filling):
            layer.load_state_dict(network.encoder[-1].state_dict())
