"""How words, JSON and numbers of a wire are read, and percent in the steps of a device."""

from __future__ import annotations

import json
import math
from typing import Any, TypeGuard

MAX_PAYLOAD = 16_384
"""A longer state is not looked into, in bytes."""


def text_of(payload: bytes) -> str:
    """The text of a payload.

    Raises:
        ValueError: It is none, or a long one.
    """
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"longer than {MAX_PAYLOAD} bytes")
    return payload.decode().strip()  # a UnicodeDecodeError is a ValueError


def object_of(text: str) -> dict[str, Any]:
    """The object that a text is in JSON.

    Raises:
        ValueError: It is none.
    """
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("JSON, but no object")
    return data


def word_of(text: str, key: str = "state") -> str:
    """The word that a text is, or has under a key where it is a JSON object.

    Raises:
        ValueError: The key is missing.
    """
    if not text.startswith("{"):
        return text
    value = object_of(text).get(key)
    if value is None:
        raise ValueError(f'JSON without "{key}"')
    return value if isinstance(value, str) else json.dumps(value)


def number_of(text: str) -> float:
    """The number that a text is.

    Raises:
        ValueError: It is none, or no finite one.
    """
    value = float(text)
    # Python takes "1_000" for a number.
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{text[:40]!r} is no number")
    return value


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value from JSON is a finite number."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**63  # a longer one cannot be made a float
    return isinstance(value, float) and math.isfinite(value)


def one_of(word: str, words: dict[str, Any]) -> Any:
    """What a word stands for; case does not count.

    Raises:
        ValueError: It is none of them.
    """
    if word.casefold() not in words:
        raise ValueError(f"{word[:40]!r} is none of {', '.join(words)}")
    return words[word.casefold()]


def to_scale(percent: int, scale: int) -> int:
    """Percent (1 to 100) in the steps of a device; never 0, which some take for off."""
    return max(1, round(percent * scale / 100))


def from_scale(value: float, scale: int) -> int:
    """The reverse of `to_scale`; for scales from 100 up of every percent."""
    return min(100, max(1, round(min(value, scale) * 100 / scale)))


def to_volume(percent: int, scale: int) -> int:
    """Percent of a volume in the steps of a player; 0 is 0."""
    return to_scale(percent, scale) if percent else 0


def from_volume(value: float, scale: int) -> int:
    """The reverse of `to_volume`; only silence is 0."""
    return from_scale(value, scale) if value > 0 else 0


def to_position(percent: int, opened: int, closed: int) -> int:
    """Percent in the steps of a cover; only 0 is closed, and only 100 is open."""
    steps = abs(opened - closed)
    moved = {0: 0, 100: steps}.get(percent, min(steps - 1, to_scale(percent, steps)))
    return closed + moved if opened > closed else closed - moved


def from_position(value: float, opened: int, closed: int) -> int:
    """The reverse of `to_position`."""
    steps = abs(opened - closed)
    moved = value - closed if opened > closed else closed - value
    if moved <= 0 or moved >= steps:
        return 0 if moved <= 0 else 100
    return min(99, from_scale(moved, steps))
