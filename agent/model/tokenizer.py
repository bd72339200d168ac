"""Text to pieces and back to the user's own letters.

The vocabulary is MiniLM's WordPiece kept in a SentencePiece unigram model (see
`training/vocabulary.py`). Text is folded (case, accents) one character at a time
with an offset for each, so that a span of words can be given back exactly as it
was written.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

PAD, UNKNOWN, START, SEPARATOR = 0, 1, 2, 3

# Runs of digits and runs of letters are words of their own ("5pm" is two), any other mark is one.
_WORD = re.compile(r"\d+|[^\W\d_]+|[^\s]")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


@dataclass(frozen=True)
class Word:
    """A word of a text: where its letters are (`text[start:end]`) and its pieces."""

    start: int
    end: int
    pieces: tuple[int, ...]


def fold(text: str) -> tuple[str, list[int]]:
    """Lower case without accents.

    Returns:
        The folded text, and for each of its characters the offset in `text` of the
        character it came from.
    """
    folded: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        for letter in unicodedata.normalize("NFD", character.translate(_TYPOGRAPHIC).casefold()):
            if not unicodedata.combining(letter):
                folded.append(letter)
                offsets.append(offset)
    return "".join(folded), offsets


class Tokenizer:
    """Splits text into words and words into pieces of the vocabulary."""

    def __init__(self, path: Path) -> None:
        """Reads a SentencePiece model.

        Raises:
            OSError: The file is missing or no SentencePiece model.
        """
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self._pieces: dict[str, tuple[int, ...]] = {}

    @property
    def size(self) -> int:
        """How many pieces the vocabulary has."""
        return int(self._processor.vocab_size())

    def words(self, text: str) -> list[Word]:
        """The words of a text in order, with their places in it."""
        folded, offsets = fold(text)
        words = []
        for match in _WORD.finditer(folded):
            start, last = offsets[match.start()], offsets[match.end() - 1]
            end = last + 1
            # A combining mark after the last letter belongs to the word.
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            words.append(Word(start, end, self._split(match.group())))
        return words

    def _split(self, word: str) -> tuple[int, ...]:
        pieces = self._pieces.get(word)
        if pieces is None:
            # An outsider may send any number of new words: the cache must not grow without end.
            if len(self._pieces) > 20_000:
                self._pieces.clear()
            pieces = self._pieces[word] = tuple(self._processor.encode(word))
        return pieces
