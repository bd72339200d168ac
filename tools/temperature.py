"""Temperatures: their units, one conversion, and how they are spoken. Pure functions.

A number has the unit that its data says; none is ever guessed from how large it is.
"""

from __future__ import annotations

import sys
from typing import Any, Literal

Unit = Literal["celsius", "fahrenheit", "kelvin"]

HomeUnit = Literal["celsius", "fahrenheit"]
"""What a home may speak in."""

_UNITS: dict[str, Unit] = {
    "celsius": "celsius", "c": "celsius", "°c": "celsius",
    "fahrenheit": "fahrenheit", "f": "fahrenheit", "°f": "fahrenheit",
    "kelvin": "kelvin", "k": "kelvin",
}  # fmt: skip


def unit_named(text: str) -> Unit | None:
    """The unit that data means by "celsius", "C" or "°C"; None is none of those that are known."""
    return _UNITS.get(text.strip().casefold())


def convert(temperature: float, source: Unit, target: Unit) -> float:
    """A temperature in another unit, not rounded."""
    if source == target:
        return temperature
    kelvin = {
        "celsius": temperature + 273.15,
        "fahrenheit": (temperature - 32) / 1.8 + 273.15,
        "kelvin": temperature,
    }[source]
    return {"celsius": kelvin - 273.15, "fahrenheit": (kelvin - 273.15) * 1.8 + 32, "kelvin": kelvin}[target]


def rounded(number: float) -> float:
    """To a tenth, and whole where it is."""
    tenths = round(number, 1)
    return int(tenths) if tenths == int(tenths) else tenths


def degrees(temperature: float, unit: Unit | None, named: bool = True) -> str:
    """How it is spoken: "19.5 degrees Celsius", "286 kelvin".

    Args:
        temperature: In that unit.
        unit: None where it is not known: then it is only "degrees".
        named: Whether the unit is named; in a home everybody knows which one it is.
    """
    if unit == "kelvin":
        return f"{rounded(temperature):.15g} kelvin"
    word = "degree" if abs(rounded(temperature)) == 1 else "degrees"
    return f"{rounded(temperature):.15g} {word}{f' {unit.capitalize()}' if unit and named else ''}"


def is_number(value: Any) -> bool:
    """Whether data holds a number that can be told: no bool, no NaN, none that no float can hold."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max  # also of a whole number, and of NaN
    )
