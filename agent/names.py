"""The names of functions and parameters as words."""

from __future__ import annotations

import re


def spoken_name(name: str) -> str:
    """`turn_on_light` and `turnOnLight` as "turn on light"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[_\W]+", " ", spaced).strip().lower()
