"""Words that come from outside, as they may be kept, shown and spoken: nothing unseen in them, and not without end."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from agent.errors import ArgumentError

_JOINERS: Final = "\u200c\u200d"
"""Unseen as well, but they belong to Persian words and to emoji."""


def plain_text(text: str) -> str:
    """The text in one line: without escape codes, marks that turn the direction of reading, and the like."""
    shown = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)  # a terminal's code is more than its first letter
    return " ".join("".join(map(_seen, shown)).split())


def shortened(text: str, most: int) -> str:
    """The plain text, cut where it is longer than `most` characters."""
    plain = plain_text(text)
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def within(text: str, most: int, what: str) -> str:
    """The plain text of something that a person said, and that is kept whole or not at all.

    Args:
        text: What was said.
        most: How many characters it may have.
        what: What it is, as the error begins: "The name of a timer".

    Raises:
        ArgumentError: It is longer.
    """
    plain = plain_text(text)
    if len(plain) > most:
        raise ArgumentError(f"{what} has {len(plain)} characters; at most {most} are taken.")
    return plain


def _seen(letter: str) -> str:
    category = unicodedata.category(letter)
    if category in ("Cc", "Zl", "Zp"):
        return " " if letter.isspace() else ""
    unseen = category in ("Cf", "Cs") and letter not in _JOINERS
    return "" if unseen else letter
