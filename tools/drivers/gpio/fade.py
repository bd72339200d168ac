"""The way from one level to another, in even steps; `lightness` makes them look even."""

from __future__ import annotations

from collections.abc import Iterator

STEP_S = 0.02
"""The time between two steps: below it, nobody sees them."""


def steps(start: float, end: float, duration_s: float) -> Iterator[float]:
    """The levels on the way, one each `STEP_S`; the last is the end itself.

    Args:
        start: 0.0 to 1.0.
        end: 0.0 to 1.0.
        duration_s: How long it takes, in seconds.
    """
    count = round(duration_s / STEP_S) if start != end else 0
    for number in range(1, count):
        yield start + (end - start) * number / count
    yield end
