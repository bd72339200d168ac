"""Rooms and floors by what people call them: for words that may stand for a place where no device is found."""

from __future__ import annotations

from tools.home import Floor, Home, Room
from tools.names.words import fold, key_of, name_key
from tools.speech import the

_BEFORE = {"in", "on", "at", "inside"}
_ADVERBS = {"upstairs", "downstairs", "outside", "inside", "outdoors", "indoors"}


def area_named(home: Home, words: str) -> Room | Floor | None:
    """The room or floor of that name or alias, also as "in the kitchen"; None where there is none."""
    tokens = fold(words)
    keys = {key_of(tokens)}
    if tokens[:1] and tokens[0] in _BEFORE:
        keys.add(key_of(tokens[1:]))
    areas: tuple[Room | Floor, ...] = (*home.rooms, *home.floors)
    for area in areas:
        if keys & {name_key(name) for name in (area.name, *area.aliases)}:
            return area
    return None


def within(area: str) -> str:
    """ "in the kitchen", "on the first floor", "upstairs", from the area's stored name."""
    last = area.casefold().split()[-1]
    if last in _ADVERBS:
        return area
    return f"{'on' if last in ('floor', 'level', 'storey') else 'in'} {the(area)}"
