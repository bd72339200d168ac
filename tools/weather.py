"""The weather, from whoever knows it: in the home's unit or the one that is asked for, converted once.

Nothing is made up from what the data leaves out: a unit that is missing is said to be, a day without data has no
forecast, and what was written more than three hours ago is told with its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from agent.due import DueItems
from agent.errors import HearthError
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.names.words import fold
from tools.speech import listed, sentence
from tools.temperature import HomeUnit, Unit, convert, degrees, rounded
from tools.times import parse_day
from tools.times.moments import NO_CLOCK, spoken_date, spoken_time

_FRESH = timedelta(hours=3)
"""How old data may be and still be told without its time."""

_MOST_DAYS = 7
"""How many days an answer tells."""


@dataclass(frozen=True)
class Observation:
    """The weather at a place now.

    Attributes:
        location: The place's name as the data has it.
        temperature: In `unit`.
        unit: None where the data does not say; it is never guessed from the number.
        condition: "sunny", "light rain" ...; "" where it is not known.
        updated: When the data was written, as naive local time; None where it does not say.
    """

    location: str
    temperature: float
    unit: Unit | None = None
    condition: str = ""
    updated: datetime | None = None


@dataclass(frozen=True)
class ComingDay:
    """What the weather of a day will be; what is not known of it is None or "".

    Attributes:
        date: Which day.
        low: The lowest temperature, in the forecast's unit.
        high: The highest.
        condition: As of an `Observation`.
        rain_chance: In percent.
    """

    date: date
    low: float | None = None
    high: float | None = None
    condition: str = ""
    rain_chance: float | None = None


@dataclass(frozen=True)
class Forecast:
    """The weather of the coming days at a place.

    Attributes:
        location: The place's name as the data has it.
        days: By date, the earliest first.
        unit: That of the temperatures; None where the data does not say.
        updated: As of an `Observation`.
    """

    location: str
    days: tuple[ComingDay, ...]
    unit: Unit | None = None
    updated: datetime | None = None


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

    async def forecast(self, location: str | None) -> Forecast:
        """The weather of the coming days at a place, or at home.

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


def _say_weather(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    told = degrees(result["temperature"], result.get("unit"))
    condition = f" and {result['condition']}" if result.get("condition") else ""
    doubt = "" if "unit" in result else _NO_UNIT
    if "as_of" in result:
        return sentence(f"In {result['location']} it was {told}{condition} as of {result['as_of']}", doubt)
    return sentence(f"In {result['location']} it's currently {told}{condition}", doubt)


def _say_forecast(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    days = result.get("days", [result])
    unit = result.get("unit")
    clauses = [_clause(day, unit, f" in {result['location']}" if day is days[0] else "") for day in days]
    warm = any("low" in day or "high" in day for day in days)
    as_of = f"that is as of {result['as_of']}" if "as_of" in result else ""
    return sentence(*clauses, _NO_UNIT if warm and unit is None else "", as_of)


def _clause(day: Mapping[str, Any], unit: Unit | None, where: str) -> str:
    """ "tomorrow in Hamburg it will be 3 to 8 degrees Celsius and cloudy, with a 60 percent chance of rain"."""
    low, high = day.get("low"), day.get("high")
    warmth = ""
    if low is not None and high is not None and low != high:
        warmth = f"{rounded(low):.15g} to {degrees(high, unit)}"
    elif high is not None:
        warmth = f"{'' if low is not None else 'at most '}{degrees(high, unit)}"
    elif low is not None:
        warmth = f"at least {degrees(low, unit)}"
    will = listed([phrase for phrase in (warmth, day.get("condition", "")) if phrase])
    rain = f"{day['rain_chance']:.15g} percent chance of rain" if "rain_chance" in day else ""
    if not will:
        return f"{day['day']}{where} there is a {rain}" if rain else f"{day['day']}{where} nothing is known"
    return f"{day['day']}{where} it will be {will}{f', with a {rain}' if rain else ''}"


_NO_UNIT = "the weather data does not say in which unit"


class Weather:
    """The functions that tell the weather."""

    def __init__(
        self,
        provider: WeatherProvider | None,
        unit: HomeUnit = "celsius",
        due: DueItems | None = None,
    ) -> None:
        """Weather from a provider, or none.

        Args:
            provider: Who knows it.
            unit: What temperatures are told in where no other unit is asked for.
            due: Knows what time it is, and whether the clock was set.
        """
        self._provider = provider
        self._unit: HomeUnit = unit
        self._due = due or DueItems(None)
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
        unit = unit or self._unit
        temperature = rounded(_in_unit(seen.temperature, seen.unit, unit))
        result: dict[str, Any] = {"location": seen.location, "temperature": temperature}
        if seen.unit is not None:
            result["unit"] = unit
        if seen.condition:
            result["condition"] = seen.condition
        return result | self._as_of(seen.updated)

    @tool(read_only=True, say=_say_forecast)
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
        if self._provider is None:
            return {"error": "no weather data: no provider is set up"}
        if not self._due.clock_is_set:
            return {"error": NO_CLOCK}
        today = self._due.now().date()
        wanted = _days(day, today)
        try:
            known = await self._provider.forecast(location)
        except WeatherError as error:
            return {"error": str(error)}
        days = [each for each in known.days if each.date in wanted][:_MOST_DAYS]
        unit = unit or self._unit
        if not days:
            return {"error": _no_forecast(wanted, known, today)}
        told = [_told(each, known.unit, unit, today) for each in days]
        result = {"location": known.location, **(told[0] if len(told) == 1 else {"days": told})}
        if known.unit is not None:
            result["unit"] = unit
        return result | self._as_of(known.updated)

    def health(self) -> str:
        """One line for a person."""
        return "ok" if self._provider is None else self._provider.health()  # a home without weather is well

    def probe(self) -> list[str]:
        """A sentence where there is a provider and its data cannot be used."""
        health = "ok" if self._provider is None else self._provider.health()
        return [] if health == "ok" else [f"{health.rstrip('.')}: mend that file, or correct [tools.weather]"]

    def _as_of(self, updated: datetime | None) -> dict[str, str]:
        """When data was written that is not of these hours."""
        if updated is None:
            return {}
        now = self._due.now() if self._due.clock_is_set else None
        if now is not None and now - updated < _FRESH:
            return {}
        today = date.min if now is None else now.date()  # far from every day, so its year is told too
        day = "" if updated.date() == today else f" {spoken_date(updated.date(), today)}"
        return {"as_of": spoken_time(updated.time()) + day}


def _days(words: str | None, today: date) -> list[date]:
    """The days that are asked about: one, both of a weekend, or those of a week.

    Raises:
        ArgumentError: It is no day.
    """
    if words is None:
        return [today]
    last = fold(words)[-1:]
    if fold(words) in (["week"], ["this", "week"], ["the", "week"], ["rest", "of", "the", "week"]):
        return [today + timedelta(number) for number in range(7 - today.weekday())]
    read = parse_day(words, today)
    if read.weekdays:
        return [each for each in (today + timedelta(number) for number in range(7)) if each.weekday() in read.weekdays]
    first = read.date or today
    if last == ["weekend"] and first.weekday() == 5:
        return [first, first + timedelta(1)]
    if last == ["week"] and fold(words)[:1] == ["next"]:
        return [first + timedelta(number) for number in range(7)]
    return [first]


def _told(day: ComingDay, source: Unit | None, unit: HomeUnit, today: date) -> dict[str, Any]:
    """A day as primitives, its temperatures in the unit that is wanted, if theirs is known."""
    told: dict[str, Any] = {"date": day.date.isoformat(), "day": spoken_date(day.date, today)}
    for name, temperature in (("low", day.low), ("high", day.high)):
        if temperature is not None:
            told[name] = rounded(_in_unit(temperature, source, unit))
    if day.condition:
        told["condition"] = day.condition
    if day.rain_chance is not None:
        told["rain_chance"] = rounded(day.rain_chance)
    return told


def _in_unit(temperature: float, source: Unit | None, unit: HomeUnit) -> float:
    """Converted, where the data's unit is known."""
    return temperature if source is None else convert(temperature, source, unit)


def _no_forecast(wanted: list[date], known: Forecast, today: date) -> str:
    which, last = _for(wanted[0], today), known.days[-1].date
    if last < wanted[0] and last >= today:
        return f"There is no forecast for {which}; it reaches until {_for(last, today)}."
    return f"There is no forecast for {which}."


def _for(day: date, today: date) -> str:
    return spoken_date(day, today).removeprefix("on ")
