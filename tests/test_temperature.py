"""Temperatures and their units."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.temperature import Unit, convert, degrees, is_number, rounded, unit_named

unhurried = settings(deadline=None)  # CI may be busy
UNITS = st.sampled_from(["celsius", "fahrenheit", "kelvin"])


@unhurried
@given(st.floats(-100, 100), UNITS, UNITS)
def test_a_conversion_there_and_back_is_the_same(temperature: float, one: Unit, other: Unit) -> None:
    assert convert(convert(temperature, one, other), other, one) == pytest.approx(temperature, abs=1e-9)


@pytest.mark.parametrize(
    ("celsius", "fahrenheit", "kelvin"), [(-40, -40, 233.15), (0, 32, 273.15), (37, 98.6, 310.15), (100, 212, 373.15)]
)
def test_known_temperatures_agree(celsius: float, fahrenheit: float, kelvin: float) -> None:
    assert convert(celsius, "celsius", "fahrenheit") == pytest.approx(fahrenheit)
    assert convert(fahrenheit, "fahrenheit", "kelvin") == pytest.approx(kelvin)
    assert convert(kelvin, "kelvin", "celsius") == pytest.approx(celsius)


@unhurried
@given(st.integers(410, 950))
def test_a_tenth_of_a_degree_fahrenheit_survives_a_hundredth_of_a_degree_celsius(tenths: int) -> None:
    celsius = round(convert(tenths / 10, "fahrenheit", "celsius"), 2)

    assert rounded(convert(celsius, "celsius", "fahrenheit")) == tenths / 10


@pytest.mark.parametrize(
    ("temperature", "unit", "named", "spoken"),
    [
        (21.0, "celsius", True, "21 degrees Celsius"),
        (19.54, "celsius", False, "19.5 degrees"),
        (1, "fahrenheit", True, "1 degree Fahrenheit"),
        (-1, None, True, "-1 degree"),
        (-0.04, "celsius", False, "0 degrees"),
        (286, "kelvin", False, "286 kelvin"),
        (25, None, True, "25 degrees"),
    ],
)
def test_a_temperature_is_spoken_to_a_tenth(temperature: float, unit: Unit, named: bool, spoken: str) -> None:
    assert degrees(temperature, unit, named) == spoken


@pytest.mark.parametrize(
    ("text", "unit"),
    [("Celsius", "celsius"), (" °F ", "fahrenheit"), ("K", "kelvin"), ("furlong", None), ("", None), ("degrees", None)],
)
def test_a_unit_is_known_by_its_name_or_sign(text: str, unit: Unit | None) -> None:
    assert unit_named(text) == unit


@pytest.mark.parametrize("value", [True, None, "3", math.nan, math.inf, -math.inf, 10**400, [3]])
def test_what_cannot_be_told_is_no_number(value: object) -> None:
    assert not is_number(value)
    assert is_number(-3.5)
