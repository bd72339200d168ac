"""Colours and whites, read from words and named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent.errors import ArgumentError
from agent.numbers import parse_number
from tools.device import RGB, Device
from tools.names.words import fold, without_determiner


@dataclass(frozen=True)
class Color:
    """A colour or a white.

    Attributes:
        name: How it is spoken.
        rgb: For a lamp that has colours.
        kelvin: For a lamp that has whites; None for a colour.
    """

    name: str
    rgb: RGB
    kelvin: int | None = None

    def on(self, device: Device) -> dict[str, Any]:
        """The fields of a change that show it on a lamp: a white as a white, if the lamp has whites."""
        if self.kelvin is not None and "white" in device.can:
            return {"kelvin": device.nearest_white(self.kelvin)}
        return {"rgb": self.rgb}


_COLORS: dict[str, RGB] = {
    "red": (255, 0, 0),
    "orange": (255, 120, 0),
    "amber": (255, 160, 0),
    "yellow": (255, 220, 0),
    "lime": (160, 255, 0),
    "green": (0, 255, 0),
    "mint": (90, 255, 160),
    "turquoise": (0, 220, 190),
    "teal": (0, 150, 140),
    "cyan": (0, 255, 255),
    "light blue": (110, 180, 255),
    "sky blue": (80, 170, 255),
    "blue": (0, 0, 255),
    "dark blue": (0, 0, 140),
    "navy": (0, 0, 120),
    "indigo": (75, 0, 160),
    "violet": (140, 0, 255),
    "purple": (150, 0, 220),
    "lavender": (190, 150, 255),
    "magenta": (255, 0, 255),
    "pink": (255, 80, 170),
    "hot pink": (255, 20, 140),
    "coral": (255, 110, 80),
    "salmon": (255, 130, 110),
    "peach": (255, 180, 130),
    "gold": (255, 190, 40),
    "dark red": (140, 0, 0),
    "dark green": (0, 110, 0),
    "light green": (130, 255, 130),
    "crimson": (220, 20, 60),
    "brown": (150, 75, 20),
}
_WHITES: dict[str, tuple[int, RGB]] = {
    "candlelight": (1900, (255, 131, 0)),
    "warm white": (2700, (255, 169, 87)),
    "soft white": (3000, (255, 180, 107)),
    "neutral white": (3500, (255, 196, 137)),
    "white": (4000, (255, 255, 255)),
    "cool white": (4000, (255, 209, 163)),
    "daylight": (6500, (255, 249, 253)),
}
_SAME = {
    "warm": "warm white",
    "warm light": "warm white",
    "warmwhite": "warm white",
    "soft": "soft white",
    "incandescent": "warm white",
    "neutral": "neutral white",
    "natural white": "neutral white",
    "cool": "cool white",
    "cool light": "cool white",
    "cold": "cool white",
    "cold white": "cool white",
    "bright white": "cool white",
    "daylight white": "daylight",
    "day light": "daylight",
    "candle": "candlelight",
    "candle light": "candlelight",
    "rose": "pink",
    "aqua": "cyan",
    "navy blue": "navy",
    "golden": "gold",
    "lilac": "lavender",
    "aquamarine": "turquoise",
    "scarlet": "crimson",
}
_KELVIN = re.compile(r"(.+?)\s*(?:k|kelvins?|degrees? kelvin)", re.IGNORECASE)
_KELVIN_RANGE = (1000, 10000)


def parse_color(text: str) -> Color:
    """The colour or white that a person means.

    Args:
        text: Their words: "red", "a warm white", "2700 K", "2700", "twenty-seven hundred kelvin".

    Raises:
        ArgumentError: It is no colour that is known, or no white from 1000 to 10000 K.
    """
    measured = _KELVIN.fullmatch(text.strip())
    number = _hundreds(measured[1] if measured else text)
    lowest, highest = _KELVIN_RANGE
    # Without its unit too: "set the colour temperature to 2700".
    if number is not None and (measured or lowest <= number <= highest):
        if not lowest <= number <= highest:
            raise ArgumentError(f"{text.strip()} is no white; allowed are {lowest} to {highest} K")
        nearest = min(_WHITES.values(), key=lambda white: abs(white[0] - number))
        return Color(f"{number} kelvin", nearest[1], number)
    name = _named([word for word in without_determiner(fold(text)) if word not in _BESIDE])
    if name in _WHITES:
        kelvin, rgb = _WHITES[name]
        return Color(name, rgb, kelvin)
    if name in _COLORS:
        return Color(name, _COLORS[name])
    raise ArgumentError(
        f"{text.strip() or 'nothing'} is not a colour I know; try red, orange, yellow, green, blue, purple, pink,"
        " warm white or cool white"
    )


_BESIDE = {"color", "colour", "temperature", "tone"}
"""Words beside the name of a colour that do not change it."""

_LIGHT = {"light", "lights", "lighting"}
"""The same, where the name is not one with them: "red light", but "light blue", "day light"."""


def _named(words: list[str]) -> str:
    """The known name of a colour or a white; the words as they are where it has none."""
    plain = [word for word in words if word not in _LIGHT]
    names = [_SAME.get(name, name) for name in (" ".join(words), " ".join(plain))]
    return next((name for name in names if name in _WHITES or name in _COLORS), names[0])


def parse_warmth(text: str) -> int | None:
    """How much cooler a white is to be, in steps: "cooler" is 1, "much cooler" 2, "a bit warmer" -1.

    Returns:
        None where the words do not compare, as in "warm white".
    """
    words = fold(text)
    steps = [_WARMTHS[word] for word in words if word in _WARMTHS]
    if len(steps) != 1 or not set(words) <= _WARMTHS.keys() | _LITTLE | _MUCH:
        return None
    return steps[0] * (2 if _MUCH & set(words) else 1)


_WARMTHS = {"warmer": -1, "cooler": 1, "colder": 1}
_LITTLE = set("a bit little tad touch slightly somewhat tiny smidge white light color colour tone".split())
_MUCH = set("much lot lots far way considerably significantly".split())


def _hundreds(text: str) -> int | None:
    """A whole number, also as "twenty seven hundred"."""
    tail = re.fullmatch(r"(.+?)[\s-]hundred", text.strip(), re.IGNORECASE)
    value = parse_number(tail[1]) if tail else None
    if value is not None:
        return round(value * 100)
    value = parse_number(text)
    return None if value is None else round(value)


def color_name(rgb: RGB) -> str:
    """The known name that is nearest to a colour."""

    def distance(name: str) -> int:
        return sum((ours - theirs) ** 2 for ours, theirs in zip(_COLORS[name], rgb, strict=True))

    if min(rgb) >= 200:
        return "white"
    return min(_COLORS, key=distance)
