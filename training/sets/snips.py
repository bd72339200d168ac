"""Snips' benchmark of 2017: intents that are no matter of a house, which nothing may be called for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from training.sets import HERE, Mapped, Placed, case, lines

FILE: Final = "snips_2017_validate.jsonl"

OURS: Final = frozenset({"GetWeather", "PlayMusic"})
"""Intents that have a function: they are not counted, as the set's values are those of other functions."""


def other_domains(path: Path) -> Mapped:
    """Restaurants, books, cinemas, works to look for and playlists of a service."""
    mapped = Mapped()
    for where, line in lines(path):
        if line["intent"] in OURS:
            mapped.left[f"{line['intent']}: it has a function"] += 1
        else:
            mapped.placed.append(Placed(case(where, line["text"], category=line["intent"], room=HERE.casefold())))
    return mapped
