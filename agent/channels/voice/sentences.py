"""The sentences that a house is talked to with: wordings filled with its names, and what its tools are for.

They teach the recogniser which words follow which; nothing limits a person to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from agent.channels.voice.phrases import CITIES, COLORS, EVERY, ONCE, SOME
from agent.grounding import FORMATS

TURNS = 12
"""How often a wording of `SOME` is said."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LIGHTS = {"light", "lights", "lamp", "lamps"}
_GAP = re.compile(r"{(\w+)}")
_WORD = re.compile(r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*")
_LONGEST_NUMBER = 4
"""Digits; a longer one is said digit by digit."""


def sentences(tools: Iterable[Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """The sentences, in words as they are said: lower case, no digits, no punctuation.

    The same tools and names always give the same sentences in the same order.

    Args:
        tools: Declarations as JSON: `{"name", "description", "parameters"}`.
        names: Of rooms, floors, devices, groups, scenes, scripts and lists, with all that they are also called.
    """
    places = list(dict.fromkeys(filter(None, map(spoken, names))))
    numbers = [spoken(str(number)) for number in range(101)]
    fillings = {
        "name": places,
        "other": places[len(places) // 2 :] + places[: len(places) // 2],
        "light": [light for place in places for light in _lights(place)],
        "number": [*numbers, "a hundred"],
        "step": numbers[5:55:5],
        "color": COLORS,
        "city": CITIES,
    }
    said = [sentence for wording in EVERY for sentence in _every(wording, fillings)]
    turns = {gap: cycle(values) for gap, values in fillings.items() if values}
    said += [sentence for wording in SOME for sentence in islice(_filled(wording, turns), TURNS)]
    said += ONCE
    for tool in tools:
        said += [sentence for wording in _asked(tool) for sentence in islice(_filled(wording, turns), TURNS)]
    return list(dict.fromkeys(said))


def spoken(text: str) -> str:
    """A text as it is said, for the recogniser: "Café 2" is "café two", "Mom & Dad's" is "mom and dad's"."""
    text = re.sub("[’`]", "'", text.casefold())
    for sign, word in (("&", " and "), ("+", " and "), ("%", " percent ")):
        text = text.replace(sign, word)
    return " ".join(_in_words(word) if word.isdecimal() else word for word in _WORD.findall(text))


def _in_words(digits: str) -> str:
    number = int(digits)
    if len(digits) > _LONGEST_NUMBER:
        return " ".join(_SMALL[int(digit)] for digit in digits)
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return " ".join([_TENS[tens - 2], *([_SMALL[rest]] if rest else [])])
    scale, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    count, rest = divmod(number, scale)
    return " ".join([_in_words(str(count)), name, *([_in_words(str(rest))] if rest else [])])


def _lights(place: str) -> tuple[str, ...]:
    if place.rsplit(maxsplit=1)[-1] in _LIGHTS:
        return (place,)
    return (place, f"{place} light", f"{place} lights")


def _every(wording: str, fillings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Every filling of the longest gap; the others take turns beside it."""
    gaps = {gap: fillings[gap] for gap in _GAP.findall(wording)}
    turns = {gap: cycle(values) for gap, values in gaps.items() if values}
    return islice(_filled(wording, turns), max(map(len, gaps.values())))


def _filled(wording: str, turns: Mapping[str, Iterator[str]]) -> Iterator[str]:
    """The wording again and again, with the next fillings; not once where a gap has none."""
    gaps = _GAP.findall(wording)
    while all(gap in turns for gap in gaps):
        yield wording.format_map({gap: next(turns[gap]) for gap in gaps})


def _asked(tool: Mapping[str, Any]) -> Iterator[str]:
    """Wordings made from a tool alone: its name, its description and what its parameters allow."""
    words = spoken(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tool["name"]).replace("_", " "))
    verb, _, rest = words.partition(" ")
    asked = [words, f"{verb} the {rest}"] if rest else [words]
    yield from asked
    for clause in re.split(r"[.,;:()]", tool.get("description", "")):
        if clause := spoken(clause):
            yield clause
    for name, parameter in tool.get("parameters", {}).get("properties", {}).items():
        called = spoken(name.replace("_", " "))
        for wording in asked:
            if parameter.get("format") in FORMATS:
                yield f"{wording} in the {{name}}"
                yield f"{wording} {{name}}"
                yield f"{verb} the {{name}}"
                yield f"{verb} {{name}}"
            elif "enum" in parameter:
                yield from (f"{wording} {spoken(str(value))}" for value in parameter["enum"])
            elif parameter.get("type") in ("integer", "number"):
                yield f"{wording} {{number}}"
                yield f"{wording} {called} {{number}}"
                yield f"{wording} to {{number}} percent"
