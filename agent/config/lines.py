"""The line of a settings file on which something stands. The TOML reader of Python does not tell it."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from agent.config.tables import Key

CLOSINGS = ("", "\n]", "\n]]", "\n]]]")
"""What ends arrays that go on over the end of a line."""

_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

_PLAINER = {"Cannot overwrite a value": "this key is there already"}
"""What Python's reader says in the words of its inside."""


def line_of(text: str, at: Sequence[Key]) -> int | None:
    """The line on which a key, a table or an entry of an array begins.

    That is the end of the smallest number of leading lines which hold it. One reading of the file is cheap and
    the search takes ten, so that nothing has to keep the lines of what is right.

    Args:
        text: A file that is TOML.
        at: The keys and indexes that lead there, from the top.

    Returns:
        The line, counted from 1; None where it is not in the text, or all of the text is meant.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found = bisect.bisect_left(range(1, len(lines) + 1), True, key=lambda count: _holds(lines, count, at))
    return found + 1 if at and found < len(lines) else None


def _holds(lines: list[str], count: int, at: Sequence[Key]) -> bool:
    """Whether the first lines hold it, with as many more as it takes to make TOML of them."""
    for end in range(count, len(lines) + 1):
        for closing in CLOSINGS:
            try:
                found: Any = tomllib.loads("\n".join(lines[:end]) + closing)
            except tomllib.TOMLDecodeError:
                continue
            for key in at:
                try:
                    found = found[key]
                except (KeyError, IndexError):
                    return False
            return True
    return False


def syntax_error(text: str, error: tomllib.TOMLDecodeError) -> tuple[int, str]:
    """The line of what is no TOML, and what is wrong there."""
    place = _PLACE.search(str(error))
    what = str(error)[: place.start()] if place else str(error)
    what = _PLAINER.get(what, what)
    if place and place[1]:
        return int(place[1]), f"{what} (column {place[2]})"
    return len(text.rstrip().split("\n")), f"{what} (at the end of the file)"
