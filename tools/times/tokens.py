"""The words and numbers of a spoken time. Numbers are read in one place only, `agent.numbers`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from agent.errors import ArgumentError
from agent.numbers import parse_number

_MOST_CHARACTERS, _MOST_WORDS = 200, 24
"""A longer text is no time; reading one would take long."""

_TOO_LONG = "That is too long for a time."
_SPELLED_FRACTIONS = {"½": " 1/2 ", "¼": " 1/4 ", "¾": " 3/4 "}
_TOKEN = re.compile(
    r"\d+:\d+(?::\d+)?"  # 19:05
    r"|\d+/\d+"  # 1/2
    r"|\d+(?:st|nd|rd|th)(?![a-z])"  # 3rd
    r"|\d+(?:[.,]\d+)*"  # 5, 1.5, 1,500
    r"|[a-z]+|\S",
    re.ASCII,
)


def tokens_of(text: str) -> list[str]:
    """The words, numbers and other marks of a text, folded; a mark without a meaning stays, and fits nothing."""
    if len(text) > _MOST_CHARACTERS:
        raise ArgumentError(_TOO_LONG)
    for mark, spelled in _SPELLED_FRACTIONS.items():
        text = text.replace(mark, spelled)
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    plain = re.sub(r"\bo'? ?clock\b", "oclock", plain)
    plain = re.sub(r"'s\b", "", plain).replace("'", "")
    plain = re.sub(r"(?<![a-z])([ap])\.? ?m\b\.?", r" \1m ", plain)  # 7 a.m.
    plain = re.sub(r"(?<=[a-z0-9])-(?=[a-z])", " ", plain)  # twenty-five, 5-minute
    plain = re.sub(r"(?<=[a-z0-9])[.!?]+(?=\s|$)", " ", plain)  # 5 min.
    tokens = _TOKEN.findall(plain)
    if len(tokens) > _MOST_WORDS:
        raise ArgumentError(_TOO_LONG)
    return tokens


def shown(text: str) -> str:
    """The text as an error quotes it."""
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:60]}..."


JOINED = {"and", ","}
_IN_NUMBERS = {"a", "an", "and", "point", "hundred", "thousand"}
"""Words of numbers that alone are none."""


def read_number(tokens: Sequence[str]) -> float | None:
    """The number that all of the words together are."""
    if not tokens or tokens[0] in ("and", "point") or tokens[-1] in ("a", "an", "and", "point"):
        return None
    if any(token not in _IN_NUMBERS and (token == "-" or parse_number(token) is None) for token in tokens):
        return None
    return parse_number(" ".join(tokens))


def read_whole_number(tokens: Sequence[str]) -> int | None:
    number = read_number(tokens)
    return int(number) if number is not None and number == int(number) else None


_IRREGULAR = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve", "twentieth": "twenty", "thirtieth": "thirty",
}  # fmt: skip


def parse_ordinal(tokens: Sequence[str]) -> int | None:
    """The number of "first", "twenty second" or "3rd"; None where it is none."""
    if not tokens:
        return None
    last = tokens[-1]
    if last[0].isdigit():
        cardinal = re.sub(r"(?:st|nd|rd|th)$", "", last)
    else:
        cardinal = _IRREGULAR.get(last) or last.removesuffix("th")
    return None if cardinal == last else read_whole_number([*tokens[:-1], cardinal])


def without(tokens: Sequence[str], before: set[str], after: set[str] | None = None) -> list[str]:
    """The words without some at the beginning and at the end."""
    start, end = 0, len(tokens)
    while start < end and tokens[start] in before:
        start += 1
    while end > start and tokens[end - 1] in (after or ()):
        end -= 1
    return list(tokens[start:end])
