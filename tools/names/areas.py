"""Rooms and floors by their stored names: where something is, and what else a floor is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tools.names.words import fold
from tools.speech import the

_ADVERBS = {"upstairs", "downstairs", "outside", "inside", "outdoors", "indoors"}


def within(area: str) -> str:
    """ "in the kitchen", "on the first floor", "upstairs", from the area's stored name."""
    last = area.casefold().split()[-1]
    if last in _ADVERBS:
        return area
    return f"{'on' if last in ('floor', 'level', 'storey') else 'in'} {the(area)}"


_ORDINALS = (("ground",), ("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"))
_FLOORS = {"floor", "storey", "story", "level"}


def floors_also_called(names: Sequence[str]) -> Iterator[tuple[str, Iterable[str]]]:
    """For each floor that is counted what else it is called: "1st floor", "floor one", and of two "upstairs"."""
    counted: list[tuple[int, str]] = []
    for name in names:
        tokens = fold(name)
        if len(tokens) == 2 and tokens[1] in _FLOORS:
            counted += [(number, name) for number, words in enumerate(_ORDINALS) if tokens[0] in words]
    counted.sort()
    for number, name in counted:
        yield name, [f"{word} {floor}" for word in _ORDINALS[number] for floor in _FLOORS]
        if number:
            yield name, [f"{floor} {number}" for floor in ("floor", "level")]
    if len(counted) == 2:
        (_, lower), (_, upper) = counted
        yield lower, ["downstairs"]
        yield upper, ["upstairs"]
