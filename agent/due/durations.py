"""Lengths of time, put into words."""

from __future__ import annotations

from typing import Final

UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def spoken_duration(seconds: float) -> str:
    """A length of time to the second: "5 minutes", "1 hour and 30 minutes", "2 hours, 1 minute and 5 seconds".

    Args:
        seconds: How long; a part of a second is rounded, less than nothing is "0 seconds".
    """
    left = max(0, round(seconds))
    parts = []
    for unit, length in UNITS:
        count, left = divmod(left, length)
        if count:
            parts.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    if not parts:
        return "0 seconds"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def rough_duration(seconds: float) -> str:
    """A length of time as one says how long ago something was: to the second below a minute, to the minute below a
    day, to the hour beyond."""
    step = 1 if round(seconds) < 60 else 60 if round(seconds / 60) * 60 < 86_400 else 3_600
    return spoken_duration(round(seconds / step) * step)
