"""The weather from a file."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.homes import call, said
from tools import open_house
from tools.weather import Unit, Weather, WeatherFile, convert


def weather(tmp_path: Path, places: dict[str, Any], home: str | None = None) -> Weather:
    file = tmp_path / "weather.json"
    file.write_text(json.dumps({"places": places} | ({"home": home} if home else {})))
    return Weather(WeatherFile(file))


async def test_the_number_of_the_data_is_told_with_its_unit(tmp_path: Path) -> None:
    known = weather(tmp_path, {"San Francisco": {"temperature": 25, "unit": "celsius"}})

    assert await said(known.get_current_weather, location="san francisco", unit="celsius") == (
        "In San Francisco it's currently 25 degrees Celsius."
    )
    assert await said(known.get_current_weather) == "In San Francisco it's currently 25 degrees Celsius."


@pytest.mark.parametrize(
    ("temperature", "source", "unit", "told", "told_unit"),
    [
        (44, "fahrenheit", None, 44, "fahrenheit"),
        (44, "°F", "celsius", 6.7, "celsius"),
        (44, "celsius", None, 44, "celsius"),
        (44, "C", "fahrenheit", 111.2, "fahrenheit"),
        (-40, "celsius", "fahrenheit", -40, "fahrenheit"),
        (-40, "fahrenheit", "celsius", -40, "celsius"),
        (286, "K", "celsius", 12.9, "celsius"),
        (286, "kelvin", None, 286, "kelvin"),
        (25, None, None, 25, None),
        (25, None, "celsius", 25, None),
    ],
)
async def test_a_unit_is_that_of_the_data_or_is_converted_once(
    tmp_path: Path,
    temperature: float,
    source: str | None,
    unit: Any,
    told: float,
    told_unit: str | None,
) -> None:
    place = {"temperature": temperature} | ({"unit": source} if source else {})
    known = weather(tmp_path, {"Rome": place})
    result = await call(known.get_current_weather, location="Rome", **({"unit": unit} if unit else {}))

    assert (result["temperature"], result.get("unit")) == (told, told_unit)


async def test_a_missing_unit_is_said_and_not_guessed(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Rome": {"temperature": 25}})

    assert await said(known.get_current_weather, unit="celsius") == (
        "In Rome it's currently 25 degrees; the weather data does not say in which unit."
    )


async def test_the_condition_is_told(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Rome": {"temperature": 1.5, "unit": "celsius", "condition": "raining"}})

    assert await said(known.get_current_weather) == "In Rome it's currently 1.5 degrees Celsius and raining."


async def test_home_is_where_the_file_says(tmp_path: Path) -> None:
    places = {"Rome": {"temperature": 1}, "Köln": {"temperature": 2}}

    assert (await call(weather(tmp_path, places, "Köln").get_current_weather))["location"] == "Köln"
    assert (await call(weather(tmp_path, places).get_current_weather, location="koln"))["location"] == "Köln"
    assert "it was not said where" in (await call(weather(tmp_path, places).get_current_weather))["error"]


async def test_the_file_is_read_at_each_question(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Rome": {"temperature": 1}})
    weather(tmp_path, {"Rome": {"temperature": 2}})

    assert (await call(known.get_current_weather))["temperature"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"places": []}', '{"places": {"Rome": 7}}', '{"places": {"Rome": {}}}',
        '{"places": {"Rome": {"temperature": "warm"}}}', '{"places": {"Rome": {"temperature": NaN}}}',
        '{"places": {"Rome": {"temperature": true}}}', '{"places": {"Rome": {"temperature": 3, "unit": "furlong"}}}',
        "[" * 100_000, f'{{"places": {{"Rome": {{"temperature": 1{"0" * 400}}}}}}}',
    ],
)  # fmt: skip
async def test_a_broken_file_is_no_data(tmp_path: Path, text: str) -> None:
    file = tmp_path / "weather.json"
    file.write_text(text)

    assert "no weather data" in (await call(Weather(WeatherFile(file)).get_current_weather, location="Rome"))["error"]


async def test_a_file_that_hangs_holds_nobody_else_up(tmp_path: Path) -> None:
    file = tmp_path / "weather.json"
    os.mkfifo(file)
    asking = asyncio.create_task(call(Weather(WeatherFile(file)).get_current_weather))

    await asyncio.sleep(0)  # it asks now; if the event loop waited for the file, nothing below would happen
    await asyncio.to_thread(file.write_bytes, b'{"places": {"Rome": {"temperature": 3}}}')
    assert (await asking)["temperature"] == 3


async def test_a_place_without_data_is_said_with_those_that_have_some(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Rome": {"temperature": 1}})

    assert await call(known.get_current_weather, location="Paris") == {
        "error": "no weather data for Paris; there is weather for Rome"
    }


async def test_without_a_provider_there_is_no_data() -> None:
    assert "no weather data" in (await call(Weather(None).get_current_weather, location="Rome"))["error"]


async def test_the_settings_name_the_file(tmp_path: Path) -> None:
    weather(tmp_path, {"Rome": {"temperature": 7}})
    settings = {"weather": {"provider": "file", "path": str(tmp_path / "weather.json")}}
    async with open_house(settings) as house:
        tool = next(tool for tool in house.tools if tool.name == "get_current_weather")

        assert (await call(tool))["temperature"] == 7
        assert house.health()["weather"] == "ok"


@given(st.floats(-100, 100), st.sampled_from(["celsius", "fahrenheit", "kelvin"]),
       st.sampled_from(["celsius", "fahrenheit", "kelvin"]))  # fmt: skip
def test_a_conversion_there_and_back_is_the_same(temperature: float, one: Unit, other: Unit) -> None:
    assert convert(convert(temperature, one, other), other, one) == pytest.approx(temperature, abs=1e-9)
