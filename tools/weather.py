"""The weather, from whoever knows it. Units are those of the data, converted once where others are asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from agent.errors import HearthError
from agent.schema import Format
from agent.threads import run_in_thread
from agent.tool import AgentTool, tool
from tools.speech import sentence
from tools.words import name_key

Unit = Literal["celsius", "fahrenheit", "kelvin"]

_UNITS: dict[str, Unit] = {
    "celsius": "celsius", "c": "celsius", "°c": "celsius",
    "fahrenheit": "fahrenheit", "f": "fahrenheit", "°f": "fahrenheit",
    "kelvin": "kelvin", "k": "kelvin",
}  # fmt: skip


@dataclass(frozen=True)
class Observation:
    """The weather at a place now.

    Attributes:
        location: The place's name as the data has it.
        temperature: In `unit`.
        unit: None where the data does not say; it is never guessed from the number.
        condition: "sunny", "light rain" ...; "" where it is not known.
    """

    location: str
    temperature: float
    unit: Unit | None = None
    condition: str = ""


class WeatherError(HearthError, LookupError):
    """There is no weather; the text says why, for a person."""


class WeatherProvider(Protocol):
    """Knows the weather."""

    async def current(self, location: str | None) -> Observation:
        """The weather at a place, or at home.

        Raises:
            WeatherError: It is not known.
        """
        ...

    def health(self) -> str:
        """One line for a person; "ok" when all is well."""
        ...


@dataclass(frozen=True)
class WeatherSettings:
    """The table `[tools.weather]`; without it there is no weather."""

    path: Path
    """A JSON file that something else keeps up to date; it is read at each question."""

    provider: Literal["file"] = "file"
    """Where the weather is from."""


class WeatherFile:
    """Weather from a JSON file: `{"home"?: PLACE, "places": {PLACE: {"temperature", "unit"?, "condition"?}}}`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def current(self, location: str | None) -> Observation:
        """The weather at a place of the file; without a location at its `"home"` or its only place."""
        # In a thread: where the file lies may hang, a network's folder say, and the lamps are not to.
        data = await run_in_thread(self._read, "weather")
        places: dict[str, Any] = {name_key(name): (name, place) for name, place in data["places"].items()}
        if location is None:
            location = data.get("home") or (next(iter(data["places"])) if len(places) == 1 else None)
        if not isinstance(location, str):
            raise WeatherError(f"it was not said where; there is weather for {_names(data)}")
        if name_key(location) not in places:
            raise WeatherError(f"no weather data for {location}; there is weather for {_names(data)}")
        return self._observation(*places[name_key(location)])

    def health(self) -> str:
        """ "ok", or why the file cannot be used."""
        try:
            self._read()
        except WeatherError as error:
            return str(error)
        return "ok"

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

    def _observation(self, name: str, place: Any) -> Observation:
        temperature = place.get("temperature") if isinstance(place, dict) else None
        if (
            isinstance(temperature, bool)
            or not isinstance(temperature, (int, float))
            or not abs(temperature) <= sys.float_info.max  # also of a whole number, and of NaN
        ):
            raise WeatherError(f"no weather data for {name}: {self._path} has no temperature for it")
        unit = place.get("unit")
        if unit is not None and str(unit).casefold() not in _UNITS:
            raise WeatherError(f"no weather data for {name}: {self._path} has the unknown unit {unit!r}")
        condition = place.get("condition")
        return Observation(
            name,
            float(temperature),
            None if unit is None else _UNITS[str(unit).casefold()],
            condition if isinstance(condition, str) else "",
        )


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


def _names(data: Mapping[str, Any]) -> str:
    return ", ".join(list(data["places"])[:5]) or "no place"


def _say_weather(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    place = f"In {result['location']} it's currently {result['temperature']:g}"
    condition = f" and {result['condition']}" if result.get("condition") else ""
    if "unit" not in result:
        return sentence(f"{place} degrees{condition}", "the weather data does not say in which unit")
    unit = result["unit"]
    return sentence(f"{place} {'kelvin' if unit == 'kelvin' else f'degrees {unit.capitalize()}'}{condition}")


class Weather:
    """The function that tells the weather."""

    def __init__(self, provider: WeatherProvider | None) -> None:
        self._provider = provider
        self.tools = (AgentTool(self.get_current_weather), AgentTool(self.get_weather_forecast))

    @tool(read_only=True, say=_say_weather)
    async def get_current_weather(
        self, location: str | None = None, unit: Literal["celsius", "fahrenheit"] | None = None
    ) -> dict[str, Any]:
        """Tells the current weather and temperature outside, at home or in a city.

        Args:
            location: The city or place; absent is at home.
            unit: The unit of the temperature; absent is that of the data.
        """
        if self._provider is None:
            return {"error": "no weather data: no provider is set up"}
        try:
            seen = await self._provider.current(location)
        except WeatherError as error:
            return {"error": str(error)}
        temperature = seen.temperature
        if unit is not None and seen.unit is not None:
            temperature = convert(temperature, seen.unit, unit)
        result: dict[str, Any] = {"location": seen.location, "temperature": _rounded(temperature)}
        if seen.unit is not None:
            result["unit"] = unit or seen.unit
        if seen.condition:
            result["condition"] = seen.condition
        return result

    @tool(read_only=True)
    async def get_weather_forecast(
        self,
        day: Annotated[str, Format("day")] | None = None,
        location: str | None = None,
        unit: Literal["celsius", "fahrenheit"] | None = None,
    ) -> dict[str, Any]:
        """Tells what the weather will be: rain, temperatures and sky of a coming day.

        Args:
            day: The day, such as tomorrow or Saturday; absent is today.
            location: The city or place; absent is at home.
            unit: The unit of the temperatures; absent is that of the data.
        """
        raise NotImplementedError

    def health(self) -> str:
        """One line for a person."""
        return "no provider is set up" if self._provider is None else self._provider.health()


def _rounded(temperature: float) -> float:
    """To a tenth, and whole where it is."""
    tenths = round(temperature, 1)
    return int(tenths) if tenths == int(tenths) else tenths
