"""Where something is, from the stored name of a room or a floor."""

from __future__ import annotations

from tools.speech import the

_ADVERBS = {"upstairs", "downstairs", "outside", "inside", "outdoors", "indoors"}


def within(area: str) -> str:
    """ "in the kitchen", "on the first floor", "upstairs", from the area's stored name."""
    last = area.casefold().split()[-1]
    if last in _ADVERBS:
        return area
    return f"{'on' if last in ('floor', 'level', 'storey') else 'in'} {the(area)}"
