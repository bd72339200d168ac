"""A result that is too long is cut before anybody reads, keeps or speaks it, and says that it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

MAX_RESULT_LENGTH: Final = 16_000
"""How long a result may be as JSON, in characters."""

CUT: Final = "was_cut"
"""The field of a result that was cut: it says by how much."""

_SHORTEST: Final = 100  # characters, items: less of them tells nothing


def capped(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result as it is, or with its longest texts and lists cut to fit `MAX_RESULT_LENGTH`.

    Args:
        result: Made of what JSON has.

    Returns:
        The result; one that was cut has the field `CUT`, a clause.
    """
    length = _length(result)
    if length <= MAX_RESULT_LENGTH:
        return dict(result)
    note = f"the answer of {length} characters was cut to {MAX_RESULT_LENGTH}"
    most = MAX_RESULT_LENGTH
    while most >= _SHORTEST:
        most //= 2
        shorter = {**_shortened(result, most), CUT: note}
        if _length(shorter) <= MAX_RESULT_LENGTH:
            return shorter
    return {CUT: note}  # it is all structure, with nothing long in it


def _shortened(value: Any, most: int) -> Any:
    """The value with at most so many characters in each text and so many items in each list and object."""
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + "…"
    if isinstance(value, Mapping):
        return {str(key)[:most]: _shortened(each, most) for key, each in list(value.items())[:most]}
    if isinstance(value, (list, tuple)):
        return [_shortened(each, most) for each in value[:most]]
    return value


def _length(value: Any) -> int:
    return len(json.dumps(value, default=str, ensure_ascii=False))
