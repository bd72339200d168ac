"""How many patterns differ in more than their slots.

Two patterns count as one if, without slots, signs, case and stop words, they share at least
four fifths of their words (Jaccard). So "turn on the {room} light" and "Turn the light on
in the {room}, please" are one, and "the {room} is dark" is another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from math import ceil

ALIKE = 0.8

# Words that change nothing about what is meant. What does stays: not, on, off, up, down, all, too ...
_STOP_WORDS = frozenset(
    "a an the please could can would will you i me my our your we us it its it's that this these those is are be "
    "to of for in at with and or so just some there here do does".split()
)


def skeleton(pattern: str) -> str:
    """The words of a pattern without its slots and signs: patterns that share them are one but for their slots."""
    bare = re.sub(r"\{[^{}=]*(?:=[^{}:]*:?([^{}]*))?\}", r" \1 ", pattern.lower())
    return " ".join(re.findall(r"[a-z0-9']+", bare))


def words_of(pattern: str) -> frozenset[str]:
    """The words of a pattern that tell it from others."""
    return frozenset(skeleton(pattern).split()) - _STOP_WORDS


def distinct(patterns: Iterable[str]) -> int:
    """How many patterns there are, each counted with its likes as one: greedy, in their order."""
    every = list(patterns)
    unlike = _Patterns(every)
    for pattern in every:
        if unlike.like(pattern) is None:
            unlike.add(pattern)
    return len(unlike)


def alike(patterns: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Those of the patterns that count as one with another one, and with which."""
    every = list(others)
    known = _Patterns(every)
    for pattern in every:
        known.add(pattern)
    found = {pattern: known.like(pattern) for pattern in patterns}
    return {pattern: other for pattern, other in found.items() if other is not None}


class _Patterns:
    """Patterns, found by their likes.

    Sets that share four fifths of their words share one of their rarest: only by those they are looked up.
    """

    def __init__(self, every: Iterable[str]) -> None:
        """Empty still.

        Args:
            every: What tells which words are rare.
        """
        self._common = Counter(word for pattern in every for word in words_of(pattern))
        self._by_word: dict[str, list[tuple[frozenset[str], str]]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, pattern: str) -> None:
        words = words_of(pattern)
        for word in self._rarest(words):
            self._by_word.setdefault(word, []).append((words, pattern))
        self._count += 1

    def like(self, pattern: str) -> str | None:
        """One that counts as the same, if there is one."""
        words = words_of(pattern)
        for word in self._rarest(words):
            for others, other in self._by_word.get(word, ()):
                if len(words & others) >= ALIKE * len(words | others):
                    return other
        return None

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """Of each set that is like this one, at least one of these; patterns without words are all alike."""
        if not words:
            return [""]
        shared = ceil(ALIKE * len(words) - 1e-9)
        return sorted(words, key=lambda word: (self._common[word], word))[: len(words) - shared + 1]
