"""MiniLM's vocabulary, trimmed to English, as a SentencePiece unigram model.

A SentencePiece model can hold a WordPiece vocabulary: `▁word` stands for a whole
word or the start of one, `word` for a `##word`. WordPiece takes the longest piece
first; unigram takes the best sum of scores. Equal scores would prefer few pieces
but leave ties open, so a longer first piece scores a little better.
"""

from __future__ import annotations

import re
from pathlib import Path

from sentencepiece import sentencepiece_model_pb2 as model_pb2

# Pieces after this rank are rare words, kept only as word endings.
MOST_COMMON = 17_000
_ENGLISH = re.compile(r"(##)?([a-z]+|[0-9]+)|[!-/:-@\[-`{-~]")
SPECIAL = {"<pad>": "[PAD]", "<unk>": "[UNK]", "<s>": "[CLS]", "</s>": "[SEP]"}


def kept_pieces(vocabulary: list[str]) -> list[str]:
    """The WordPiece entries that stay, in their order.

    Args:
        vocabulary: The lines of MiniLM's `vocab.txt`.
    """
    return [
        piece
        for rank, piece in enumerate(vocabulary)
        if _ENGLISH.fullmatch(piece) and (rank < MOST_COMMON or piece.startswith("##"))
    ]


def build(vocabulary: list[str], path: Path) -> list[int | None]:
    """Writes the SentencePiece model.

    Returns:
        For each of its pieces the row of MiniLM's embeddings to start from; None for
        the byte pieces, which MiniLM does not have.
    """
    rank = {piece: row for row, piece in enumerate(vocabulary)}
    model = model_pb2.ModelProto()
    rows: list[int | None] = []

    def add(piece: str, score: float, kind: int, row: int | None) -> None:
        model.pieces.add(piece=piece, score=score, type=kind)
        rows.append(row)

    kinds = model_pb2.ModelProto.SentencePiece
    for special, ours in SPECIAL.items():
        kind = kinds.UNKNOWN if special == "<unk>" else kinds.CONTROL
        add(special, 0.0, kind, rank[ours])
    for byte in range(256):
        add(f"<0x{byte:02X}>", -50.0, kinds.BYTE, None)
    for piece in kept_pieces(vocabulary):
        bare = piece.removeprefix("##")
        # Few pieces first; among equals the longest first piece, as WordPiece takes it.
        score = -10.0 + (0.02 if piece.startswith("##") else 0.4) * len(bare)
        add(bare if piece.startswith("##") else "▁" + bare, score, kinds.NORMAL, rank[piece])
    # Alone, so that a word that WordPiece cannot start still has its first letter.
    add("▁", -30.0, kinds.NORMAL, None)

    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    model.trainer_spec.vocab_size = len(model.pieces)
    model.trainer_spec.byte_fallback = True
    model.trainer_spec.pad_id, model.trainer_spec.unk_id = 0, 1
    model.trainer_spec.bos_id, model.trainer_spec.eos_id = 2, 3
    model.trainer_spec.pad_piece = "<pad>"
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.remove_extra_whitespaces = False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return rows
