"""The weather from a file."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.homes import call, open_due, said
from tools import open_house
from tools.times.moments import NO_CLOCK
from tools.weather import Weather
from tools.weather_file import WeatherFile

NOW = datetime(2026, 12, 1, 18, 30)  # a Tuesday
HAMBURG = {
    "temperature": 4,
    "unit": "celsius",
    "forecast": [
        {"date": "2026-12-01", "low": 1, "high": 4.26, "condition": "cloudy", "rain_chance": 20},
        {"date": "2026-12-02", "low": 3, "high": 8, "condition": "light rain", "rain_chance": 60},
        {"date": "2026-12-03", "high": 9},
        {"date": "2026-12-05", "low": -2, "high": -2, "condition": "sunny"},
        {"date": "2026-12-06", "rain_chance": 70},
    ],
}


def weather(
    tmp_path: Path, places: dict[str, Any], home: str | None = None, unit: Any = "celsius", **more: Any
) -> Weather:
    """Weather from a file; `unit` is the home's."""
    file = tmp_path / "weather.json"
    file.write_text(json.dumps({"places": places, **more} | ({"home": home} if home else {})))
    return Weather(WeatherFile(file), unit, open_due(NOW)[0])


async def test_the_number_of_the_data_is_told_with_its_unit(tmp_path: Path) -> None:
    known = weather(tmp_path, {"San Francisco": {"temperature": 25, "unit": "celsius"}})

    assert await said(known.get_current_weather, location="san francisco", unit="celsius") == (
        "In San Francisco it's currently 25 degrees Celsius."
    )
    assert await said(known.get_current_weather) == "In San Francisco it's currently 25 degrees Celsius."


@pytest.mark.parametrize(
    ("temperature", "source", "unit", "told", "told_unit"),
    [
        (44, "fahrenheit", None, 6.7, "celsius"),
        (44, "°F", "celsius", 6.7, "celsius"),
        (44, "celsius", None, 44, "celsius"),
        (44, "C", "fahrenheit", 111.2, "fahrenheit"),
        (-40, "celsius", "fahrenheit", -40, "fahrenheit"),
        (-40, "fahrenheit", "celsius", -40, "celsius"),
        (286, "K", "celsius", 12.9, "celsius"),
        (286, "kelvin", None, 12.9, "celsius"),
        (25, None, None, 25, None),
        (25, None, "celsius", 25, None),
    ],
)
async def test_f17_a_unit_is_that_of_the_data_or_is_converted_once(
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


@pytest.mark.parametrize(
    ("home", "asked", "now", "today"),
    [
        ("celsius", None, "4 degrees Celsius", "1 to 4.3 degrees Celsius"),
        ("fahrenheit", None, "39.2 degrees Fahrenheit", "33.8 to 39.7 degrees Fahrenheit"),
        ("fahrenheit", "celsius", "4 degrees Celsius", "1 to 4.3 degrees Celsius"),
        ("celsius", "fahrenheit", "39.2 degrees Fahrenheit", "33.8 to 39.7 degrees Fahrenheit"),
    ],
)
async def test_the_weather_is_told_in_the_home_s_unit_or_in_the_one_that_was_named(
    tmp_path: Path, home: str, asked: str | None, now: str, today: str
) -> None:
    known = weather(tmp_path, {"Hamburg": HAMBURG}, unit=home)
    unit = {} if asked is None else {"unit": asked}

    assert now in await said(known.get_current_weather, **unit)
    assert today in await said(known.get_weather_forecast, **unit)


async def test_a_home_in_fahrenheit_has_its_weather_in_fahrenheit(tmp_path: Path) -> None:
    weather(tmp_path, {"Hamburg": HAMBURG})
    settings = {"unit": "fahrenheit", "weather": {"path": str(tmp_path / "weather.json")}}
    async with open_house(settings) as house:
        now = next(tool for tool in house.tools if tool.name == "get_current_weather")

        assert (await call(now))["temperature"] == 39.2


async def test_f17_a_missing_unit_is_said_and_not_guessed(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("day", "sentence"),
    [
        (
            None,
            "Today in Hamburg it will be 1 to 4.3 degrees Celsius and cloudy, with a 20 percent chance of rain.",
        ),
        (
            "tomorrow",
            "Tomorrow in Hamburg it will be 3 to 8 degrees Celsius and light rain, with a 60 percent chance of rain.",
        ),
        ("thursday", "On Thursday in Hamburg it will be at most 9 degrees Celsius."),
        ("on Saturday", "On Saturday in Hamburg it will be -2 degrees Celsius and sunny."),
        ("December 6", "On Sunday in Hamburg there is a 70 percent chance of rain."),
        (
            "this weekend",
            "On Saturday in Hamburg it will be -2 degrees Celsius and sunny;"
            " on Sunday there is a 70 percent chance of rain.",
        ),
    ],
)
async def test_the_weather_of_a_day_is_told(tmp_path: Path, day: str | None, sentence: str) -> None:
    known = weather(tmp_path, {"Hamburg": HAMBURG})

    assert await said(known.get_weather_forecast, **({"day": day} if day else {})) == sentence


async def test_the_days_of_a_week_are_told_as_far_as_they_are_known(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Hamburg": HAMBURG})
    result = await call(known.get_weather_forecast, day="this week")

    assert [day["date"][-2:] for day in result["days"]] == ["01", "02", "03", "05", "06"]


@pytest.mark.parametrize(
    ("day", "error"),
    [
        ("friday", "There is no forecast for Friday."),
        ("next week", "There is no forecast for Monday; it reaches until Sunday."),
        ("december 24", "There is no forecast for Thursday, December 24; it reaches until Sunday."),
        ("blursday", 'I do not understand "blursday" as a day'),
    ],
)
async def test_a_day_without_data_has_no_forecast(tmp_path: Path, day: str, error: str) -> None:
    known = weather(tmp_path, {"Hamburg": HAMBURG})

    assert error in (await call(known.get_weather_forecast, day=day))["error"]


@pytest.mark.parametrize(
    ("source", "unit", "low", "high", "told_unit"),
    [
        ("fahrenheit", None, 6.7, 10, "celsius"),
        ("°F", "celsius", 6.7, 10, "celsius"),
        ("C", "fahrenheit", 111.2, 122, "fahrenheit"),
        ("celsius", "celsius", 44, 50, "celsius"),
        ("kelvin", "celsius", -229.1, -223.1, "celsius"),
        (None, "celsius", 44, 50, None),
        (None, None, 44, 50, None),
    ],
)
async def test_f17_the_units_of_a_forecast_are_those_of_the_data_or_converted_once(
    tmp_path: Path, source: str | None, unit: Any, low: float, high: float, told_unit: str | None
) -> None:
    place = {"forecast": [{"date": "2026-12-02", "low": 44, "high": 50}]} | ({"unit": source} if source else {})
    known = weather(tmp_path, {"Rome": place})
    result = await call(known.get_weather_forecast, day="tomorrow", **({"unit": unit} if unit else {}))

    assert (result["low"], result["high"], result.get("unit")) == (low, high, told_unit)


async def test_f17_a_forecast_without_a_unit_says_so(tmp_path: Path) -> None:
    known = weather(tmp_path, {"Rome": {"forecast": [{"date": "2026-12-01", "low": 44, "high": 50}]}})

    assert await said(known.get_weather_forecast, unit="celsius") == (
        "Today in Rome it will be 44 to 50 degrees; the weather data does not say in which unit."
    )


@pytest.mark.parametrize(
    ("updated", "forecast", "current"),
    [
        ("2026-12-01T16:00:00", "", "it's currently 4 degrees Celsius."),
        ("2026-12-01T14:00:00", "; that is as of 14:00.", "it was 4 degrees Celsius as of 14:00."),
        (
            "2026-11-30T09:05:00",
            "; that is as of 9:05 yesterday.",
            "it was 4 degrees Celsius as of 9:05 yesterday.",
        ),
        ("some time ago", "", "it's currently 4 degrees Celsius."),
        (1764612000, "", "it's currently 4 degrees Celsius."),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
async def test_what_was_written_more_than_three_hours_ago_is_told_with_its_time(
    tmp_path: Path, updated: Any, forecast: str, current: str, inside: bool
) -> None:
    place = HAMBURG | ({"updated": updated} if inside else {})
    known = weather(tmp_path, {"Hamburg": place}, **({} if inside else {"updated": updated}))

    assert (await said(known.get_weather_forecast)).endswith(f"chance of rain{forecast or '.'}")
    assert await said(known.get_current_weather) == f"In Hamburg {current}"


async def test_a_time_with_a_zone_is_told_as_the_clock_on_the_wall_shows_it(tmp_path: Path) -> None:
    written = datetime(2026, 12, 1, 14, 0).astimezone().isoformat()
    known = weather(tmp_path, {"Hamburg": HAMBURG}, updated=written)

    assert (await call(known.get_current_weather))["as_of"] == "14:00"


@pytest.mark.parametrize(
    "forecast",
    [
        None, 7, {}, [], [3], [{}], [{"date": "soon"}], [{"date": 7}], [{"date": "2026-12-01", "low": "cold"}],
        [{"date": "2026-12-01", "high": True}], [{"date": "2026-12-01", "rain_chance": 101}],
        [{"date": "2026-12-01", "low": 10**400}],
    ],
)  # fmt: skip
async def test_a_broken_forecast_is_none(tmp_path: Path, forecast: Any) -> None:
    known = weather(tmp_path, {"Rome": {"temperature": 3, "forecast": forecast}})

    assert "no forecast for Rome" in (await call(known.get_weather_forecast))["error"]
    assert (await call(known.get_current_weather))["temperature"] == 3


async def test_without_a_provider_or_a_clock_there_is_no_forecast(tmp_path: Path) -> None:
    weather(tmp_path, {"Hamburg": HAMBURG})
    unset = Weather(WeatherFile(tmp_path / "weather.json"), due=open_due(datetime(1970, 1, 1, 0, 3))[0])

    assert await call(unset.get_weather_forecast) == {"error": NO_CLOCK}
    assert "no weather data" in (await call(Weather(None).get_weather_forecast))["error"]


async def test_without_a_clock_the_age_of_the_data_is_not_known_so_its_time_is_told(tmp_path: Path) -> None:
    weather(tmp_path, {"Rome": {"temperature": 4, "unit": "celsius", "updated": "2026-12-01T18:00:00"}})
    unset = Weather(WeatherFile(tmp_path / "weather.json"), due=open_due(datetime(1970, 1, 1, 0, 3))[0])

    assert await said(unset.get_current_weather) == (
        "In Rome it was 4 degrees Celsius as of 18:00 on Tuesday, December 1, 2026."
    )
