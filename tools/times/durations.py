"""Lengths of time, read from words.

A sum of falling units: "1 hour 5 minutes", "an hour and a half", "two and a half hours", "three quarters of an hour",
"1.5 h". A bare number at the end counts the next smaller unit ("an hour thirty"). "1:30" could be hours or minutes, and
is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.due.durations import spoken_duration
from agent.errors import ArgumentError
from tools.times.tokens import JOINED, read_number, read_whole_number, shown, tokens_of, without

SHORTEST, LONGEST = 1, 30 * 86_400
"""The bounds of a length of time, in seconds."""


def parse_duration(text: str) -> int:
    """A length of time, in whole seconds.

    Args:
        text: What was said: "ten minutes", "an hour and a half", "1.5 h", "5 more minutes".

    Raises:
        ArgumentError: It is none, or not within 1 second and 30 days.
    """
    tokens = tokens_of(text)
    seconds = read_duration([token for token in tokens if token not in AROUND_DURATION])
    if seconds is None:
        raise ArgumentError(_no_duration(text, tokens))
    if not SHORTEST <= round(seconds) <= LONGEST:
        raise ArgumentError("A length of time is from 1 second to 30 days.")
    return round(seconds)


_UNITS = {
    word: size
    for words, size in (
        ("second seconds sec secs s", 1),
        ("minute minutes min mins m", 60),
        ("hour hours hr hrs h", 3_600),
        ("day days d", 86_400),
        ("week weeks", 604_800),
    )
    for word in words.split()
}
_SINGLE = {"second", "minute", "hour", "day", "week"}
_SMALLER = {3_600: 60, 60: 1}
_SHARES = {"half": 0.5, "quarter": 0.25, "quarters": 0.25, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75}
AROUND_DURATION = {
    "for", "in", "after", "by", "about", "exactly", "more", "extra", "additional", "full", "whole", "longer",
    "later", "from", "now", "time", "please",
}  # fmt: skip
"""Words around a length of time that do not change it."""


def read_duration(tokens: Sequence[str]) -> float | None:
    total, unit, position = 0.0, float("inf"), 0
    while position < len(tokens):
        if position and tokens[position] in JOINED:
            position += 1
            if position == len(tokens):
                return None
            continue
        end = next((index for index in range(position, len(tokens)) if tokens[index] in _UNITS), None)
        if end is None:
            rest = _rest(tokens[position:], unit, joined=tokens[position - 1] == "and")
            return None if rest is None else total + rest
        count, size = _count(tokens[position:end], tokens[end]), _UNITS[tokens[end]]
        if count is None or size >= unit:
            return None
        total, unit, position = total + count * size, size, end + 1
    return total if tokens else None


def _rest(tokens: Sequence[str], unit: float, joined: bool) -> float | None:
    """What follows a unit without one of its own: "and a half" of it, or "thirty" of the next smaller one."""
    if joined and tokens[-1] in _SHARES:
        share = _share(tokens)
        return None if share is None or unit == float("inf") else share * unit
    number, smaller = read_whole_number(tokens), _SMALLER.get(int(unit) if unit != float("inf") else 0)
    return number * smaller if number is not None and smaller is not None and 0 < number < 60 else None


def _count(tokens: Sequence[str], unit: str) -> float | None:
    """How many of a unit: "ten", "a", "half an", "two and a half", "three quarters of an", "1 1/2"."""
    words = ["a" if token == "another" else token for token in tokens]
    of_a = without(words, set(), {"a", "an", "of"})
    if of_a and of_a[-1] in (*_SHARES, "couple"):
        words = of_a
    if not words:
        return 1 if unit in _SINGLE else None
    if words in (["a"], ["an"]):
        return 1
    if words in (["a", "couple"], ["couple"]):
        return 2
    if words[-1] not in _SHARES:
        return read_number(words)
    cut = max((index for index, word in enumerate(words) if word == "and"), default=0)
    whole, share = words[:cut], words[cut + 1 if cut else 0 :]
    if not cut and len(words) > 1 and "/" in words[-1]:
        whole, share = words[:-1], words[-1:]
    count, part = read_number(whole) if whole else 0.0, _share(share)
    return None if count is None or part is None else count + part


def _share(tokens: Sequence[str]) -> float | None:
    """ "half", "a quarter", "three quarters"."""
    above = tokens[:-1]
    count = 1 if list(above) in ([], ["a"], ["an"]) else read_whole_number(above)
    share = _SHARES[tokens[-1]] * (count or 0)
    return share if 0 < share < 1 else None


def _no_duration(text: str, tokens: Sequence[str]) -> str:
    said = shown(text)
    if len(tokens) == 1 and re.fullmatch(r"\d+:\d\d", tokens[0]):
        first, second = (int(part) for part in tokens[0].split(":"))
        small = first * 60 + second
        return f'"{said}" could be {spoken_duration(small * 60)}, or {spoken_duration(small)}; say which.'
    if read_number(tokens) is not None:
        return f'It was not said whether "{said}" is in seconds, minutes or hours; say it like "10 minutes".'
    return f'I do not understand "{said}" as a length of time; say it like "10 minutes" or "an hour and a half".'
