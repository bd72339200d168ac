"""The weather from a JSON file that something else keeps up to date."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from agent.threads import run_in_thread
from tools.names.words import name_key
from tools.temperature import Unit, is_number, unit_named
from tools.weather import ComingDay, Forecast, Observation, WeatherError


class WeatherFile:
    """Weather from a JSON file: `{"home"?: PLACE, "updated"?, "places": {PLACE: {"temperature", "unit"?,
    "condition"?, "updated"?, "forecast"?: [{"date", "low"?, "high"?, "condition"?, "rain_chance"?}]}}}`.

    Dates and times are ISO 8601, `rain_chance` is in percent, and `unit` is that of all temperatures of the place.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def current(self, location: str | None) -> Observation:
        """The weather at a place of the file; without a location at its `"home"` or its only place."""
        return self._observation(*await self._place(location))

    async def forecast(self, location: str | None) -> Forecast:
        """The coming days at such a place."""
        return self._forecast(*await self._place(location))

    def health(self) -> str:
        """ "ok", or why the file cannot be used."""
        try:
            self._read()
        except WeatherError as error:
            return str(error)
        return "ok"

    async def _place(self, location: str | None) -> tuple[str, dict[str, Any]]:
        """The name of a place and what the file has of it."""
        # In a thread: where the file lies may hang, a network's folder say, and the lamps are not to.
        data = await run_in_thread(self._read, "weather")
        places: dict[str, Any] = {name_key(name): (name, place) for name, place in data["places"].items()}
        if location is None:
            location = data.get("home") or (next(iter(data["places"])) if len(places) == 1 else None)
        if not isinstance(location, str):
            raise WeatherError(f"it was not said where; there is weather for {_names(data)}")
        if name_key(location) not in places:
            raise WeatherError(f"no weather data for {location}; there is weather for {_names(data)}")
        name, place = places[name_key(location)]
        if not isinstance(place, dict):
            raise WeatherError(f"no weather data for {name}: {self._path} has nothing of it")
        return name, {"updated": data.get("updated"), **place}

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except OSError as error:
            raise WeatherError(f"no weather data: {self._path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise WeatherError(f"no weather data: {self._path} is not JSON: {error}") from error
        if not isinstance(data, dict) or not isinstance(data.get("places"), dict):
            raise WeatherError(f'no weather data: {self._path} has no "places"')
        return data

    def _observation(self, name: str, place: dict[str, Any]) -> Observation:
        if not is_number(place.get("temperature")):
            raise WeatherError(f"no weather data for {name}: {self._path} has no temperature for it")
        temperature = float(place["temperature"])
        return Observation(name, temperature, self._unit(name, place), _text(place, "condition"), _updated(place))

    def _forecast(self, name: str, place: dict[str, Any]) -> Forecast:
        entries = place.get("forecast", [])
        try:
            days = [_coming_day(entry) for entry in entries]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise WeatherError(f"no forecast for {name}: {self._path} has a day of it that cannot be read") from error
        if not days:
            raise WeatherError(f"no forecast for {name}: {self._path} has none")
        days.sort(key=lambda day: day.date)
        return Forecast(name, tuple(days), self._unit(name, place), _updated(place))

    def _unit(self, name: str, place: dict[str, Any]) -> Unit | None:
        unit = place.get("unit")
        if unit is None:
            return None
        known = unit_named(str(unit))
        if known is None:
            raise WeatherError(f"no weather data for {name}: {self._path} has the unknown unit {unit!r}")
        return known


def _coming_day(entry: Any) -> ComingDay:
    """A day of a forecast.

    Raises:
        TypeError, ValueError, KeyError, AttributeError: It is none.
    """
    numbers = [entry.get(key) for key in ("low", "high", "rain_chance")]
    if any(number is not None and not is_number(number) for number in numbers):
        raise ValueError(f"not a number: {entry!r}")
    low, high, rain = (None if number is None else float(number) for number in numbers)
    if rain is not None and not 0 <= rain <= 100:
        raise ValueError(f"not in percent: {rain}")
    return ComingDay(date.fromisoformat(entry["date"]), low, high, _text(entry, "condition"), rain)


def _text(entry: Mapping[str, Any], key: str) -> str:
    text = entry.get(key)
    return text if isinstance(text, str) else ""


def _updated(place: Mapping[str, Any]) -> datetime | None:
    """When it was written, in local time; what is no time is as if it was not there."""
    try:
        at = datetime.fromisoformat(_text(place, "updated"))
        return at if at.tzinfo is None else at.astimezone().replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def _names(data: Mapping[str, Any]) -> str:
    return ", ".join(list(data["places"])[:5]) or "no place"
