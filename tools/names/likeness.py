"""The words of a home's names, found by words that are misspelt or misheard for them.

Each word is kept under all that it is without a letter or two, and under its sound, so that a look-up costs the
same with ten words and ten thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tools.names.slips import LONG, LONGEST, SHORTEST, distance, slip, sound

MOST_READINGS = 8
"""How many ways to read some words are looked at."""

_MOST_UNKNOWN = 3
"""More words than this that are no names are no slip."""

_MOST_ALIKE = 60
"""Of more words that are like one none is it."""


class Reading(NamedTuple):
    """A way to read words.

    Attributes:
        cost: How far a slip it is.
        tokens: The words as they may be meant.
    """

    cost: int
    tokens: list[str]


class _Instead(NamedTuple):
    """What may be meant by one word, or by two."""

    cost: int
    tokens: list[str]
    width: int = 1


class Likeness:
    """Reads words of which some are not known as words that are."""

    def __init__(self, names: Collection[str], neighbours: Collection[tuple[str, str]], kinds: Collection[str]) -> None:
        """Indexes the words that may be meant.

        Args:
            names: Those of all names.
            neighbours: Those that follow each other in a name.
            kinds: Those for kinds of device.
        """
        self._names = names
        self._kinds = kinds
        self._neighbours = neighbours
        self._shortened: dict[str, list[str]] = {}
        self._sounding: dict[str, list[str]] = {}
        for word in {*names, *kinds}:
            if word.isascii() and word.isalpha() and SHORTEST <= len(word) <= LONGEST:
                self._sounding.setdefault(sound(word), []).append(word)
                for shorter in _shortened(word):
                    self._shortened.setdefault(shorter, []).append(word)

    def readings(self, tokens: Sequence[str], small: Collection[str], loosely: bool = False) -> list[Reading]:
        """The ways to read words of which some are not known, the likeliest first.

        Args:
            tokens: Folded words.
            small: Words that are no slips, besides those that may be meant.
            loosely: Also ways that are not believed, but may be asked about.

        Returns:
            Nothing where all words are known, or where one of them is like none.
        """
        known = [token in small or self._is_known(token) or not token.isalpha() for token in tokens]
        if all(known) or known.count(False) > _MOST_UNKNOWN:
            return []
        # From the last word to the first: what follows each word is read already.
        following = [[Reading(0, [])]]
        for index in reversed(range(len(tokens))):
            if known[index]:
                options = [_Instead(0, [tokens[index]])]
            else:
                options = [*self._like(tokens, index, loosely), *self._run_together(tokens[index])]
            if index + 1 < len(tokens) and not (known[index] and known[index + 1]):
                options += self._torn_apart(tokens[index], tokens[index + 1])
            # Of an unknown word only what is likest: another thing that is less like it was not meant.
            least = min((option.cost for option in options), default=0)
            readings = [
                Reading(option.cost + rest.cost, [*option.tokens, *rest.tokens])
                for option in options
                if known[index] or option.cost == least
                for rest in following[option.width - 1]
            ]
            following.insert(0, sorted(readings)[:MOST_READINGS])
        return following[0]

    def _is_known(self, token: str) -> bool:
        return token in self._names or token in self._kinds

    def _follow(self, first: str, second: str) -> bool:
        """Whether they do in a name. That a lamp is called "desk light" does not tell a desk from a deck."""
        return (first, second) in self._neighbours and first not in self._kinds and second not in self._kinds

    def _like(self, tokens: Sequence[str], index: int, loosely: bool) -> Iterator[_Instead]:
        before, after = self._meant(tokens[max(0, index - 1) : index]), self._meant(tokens[index + 1 : index + 2])
        named = any(each in self._names and each not in self._kinds for each in tokens)
        for word in self._near(tokens[index]):
            if word in self._kinds:
                beside = named  # "kitchen blends" are no drink
            else:
                beside = any(self._follow(each, word) for each in before)
                beside = beside or any(self._follow(word, each) for each in after)
            cost = slip(tokens[index], word, beside, loosely)
            if cost is not None:
                yield _Instead(cost, [word])

    def _meant(self, neighbour: Sequence[str]) -> list[str]:
        """What a word's neighbour, if it has one, may be."""
        return [each for token in neighbour for each in ([token] if self._is_known(token) else self._near(token))]

    def _run_together(self, token: str) -> Iterator[_Instead]:
        """Two words of a name written as one, one of them wrong: "livingrom"."""
        for cut in range(SHORTEST - 1, len(token) - SHORTEST + 2):
            first, second = token[:cut], token[cut:]
            pairs = [(first, word) for word in self._near(second)] if first in self._names else []
            pairs += [(word, second) for word in self._near(first)] if second in self._names else []
            for pair in pairs:
                cost = slip(token, "".join(pair), beside=True) if self._follow(*pair) else None
                if cost is not None:
                    yield _Instead(cost, list(pair))

    def _torn_apart(self, first: str, second: str) -> Iterator[_Instead]:
        """One word written as two, one of them wrong: "bad room" is a bedroom."""
        for word in self._near(first + second):
            if slip(first + second, word) is not None or self._has_one(first, second, word):
                yield _Instead(1, [word], 2)

    def _has_one(self, first: str, second: str, word: str) -> bool:
        """Whether a word is one of the two, and the other but for a letter."""
        for whole, other, rest in (
            (second, first, word.removesuffix(second)),
            (first, second, word.removeprefix(first)),
        ):
            if rest != word and whole not in self._kinds and min(len(whole), len(rest)) >= SHORTEST - 1:
                return other[0] == rest[0] and distance(other, rest, 1) == 1
        return False

    def _near(self, token: str) -> list[str]:
        """The words that share with it what is left without a letter or two, or its sound."""
        if not (token.isascii() and token.isalpha() and SHORTEST - 1 <= len(token) <= LONGEST):
            return []
        near = set(self._sounding.get(sound(token), ()))
        for shorter in _shortened(token):
            near.update(self._shortened.get(shorter, ()))
            if len(near) > _MOST_ALIKE:
                return []
        return sorted(near)


@lru_cache(512)
def _shortened(word: str) -> frozenset[str]:
    """The word, and all that it is without one letter, or without two where it is long."""
    shorter = {word}
    for _ in range(2 if len(word) >= LONG else 1):
        shorter |= {each[:index] + each[index + 1 :] for each in shorter for index in range(len(each))}
    return frozenset(shorter)
