"""Spoken names, folded for comparison. Pure functions."""

from __future__ import annotations

import re
import unicodedata

# Letters that Unicode does not decompose into a base and a mark.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h", "ŋ": "n", "ŧ": "t"}
)
_SPELT = {("t", "v"): "tv", ("a", "c"): "ac"}
"""Letters that are spoken one by one, as a recogniser writes them down."""

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_SMALL_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_DETERMINERS = {"the", "a", "an", "my", "our", "your", "this", "that", "these", "those"}


def fold(text: str) -> list[str]:
    """The words of a name for comparison.

    Case, accents, apostrophes and punctuation do not count, "two" is "2", and a comma or an ampersand
    is "and": "Küche", "KÜCHE" and "kuche" are the same, as are "Mom & Dad's" and "mom and dads". "T.V.",
    "T V" and "TV" are one word, as are "A/C" and "AC".
    """
    plain = re.sub("['’‘`´ʼ′]", "", text)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", plain).casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter)).translate(_LETTERS)
    plain = re.sub(r"[,;&+]", " and ", plain)
    words: list[str] = []
    for word in re.findall(r"[^\W_]+", plain):
        if words and (words[-1], word) in _SPELT:
            words[-1] = _SPELT[words[-1], word]
        elif not (word == "and" and words[-1:] == ["and"]):
            words.append(_SMALL_NUMBERS.get(word, word))
    return words


def without_determiner(words: list[str]) -> list[str]:
    """The words without a leading "the", "my" ... ("lamp a" keeps its a)."""
    start = 0
    while start < len(words) and words[start] in _DETERMINERS:
        start += 1
    return words[start:]


def name_key(text: str) -> str:
    """What two names that mean the same have in common; spaces do not count ("bed room", "bedroom")."""
    return key_of(fold(text))


def key_of(words: list[str]) -> str:
    """The key of folded words."""
    return "".join(word for word in without_determiner(words) if word != "the")
