"""Heating and cooling: targets, modes, and how warm and humid it is.

A bare number means the home's unit, and the answer speaks it: "70" in a home of degrees Celsius is out of range
and never taken for degrees Fahrenheit. Inside, and on the wire, temperatures are degrees Celsius.

Where one room has several devices, those that are on are meant, or all of them where none is: an air conditioner
that stands off all winter is not spoken of each time that the heating is set. Setting a target turns nothing on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.device import CLIMATE, Change, Device, Kind, Mode, State
from tools.devices import Devices, Outcome
from tools.drivers import DeviceError
from tools.names.areas import within
from tools.names.places import by_names
from tools.names.resolve import Found, PlaceError, Wish
from tools.readings import HUMIDITY, MEASURED, TEMPERATURE, by_room, read, say_readings
from tools.results import being, say_told, told
from tools.speech import are_several, listed, sentence, the, verb
from tools.temperature import HomeUnit, convert, degrees, rounded

STEP: dict[HomeUnit, float] = {"celsius": 1.0, "fahrenheit": 2.0}
"""How much "a bit warmer" is."""

_CLIMATE = Wish(CLIMATE, CLIMATE)

_FUNCTIONS = ("set_temperature", "raise_temperature", "lower_temperature", "set_climate_mode")

PLACES = {
    **dict.fromkeys(_FUNCTIONS, ("room", _CLIMATE)),
    "get_temperature": ("room", MEASURED),
    "get_humidity": ("room", MEASURED),
}
"""For each function of one place: its parameter, and what it looks for."""


def _say_target(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    unit, named = result["unit"], result.get("foreign", False)
    return say_told(result, "target", lambda target: being(f"set to {degrees(target, unit, named)}"))


def _say_mode(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_told(result, "mode", lambda mode: being(mode if mode in ("off", "on") else f"set to {mode}"))


def _say_temperature(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_readings(TEMPERATURE, result)


def _say_humidity(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_readings(HUMIDITY, result)


class Climate:
    """The functions of thermostats, air conditioners and what measures the air.

    Args:
        devices: The devices of the home.
        unit: What temperatures are told in, and what a number without a unit means.
    """

    def __init__(self, devices: Devices, unit: HomeUnit = "celsius") -> None:
        self._devices = devices
        self._unit: HomeUnit = unit
        self.tools = (
            AgentTool(self.set_temperature),
            AgentTool(self.raise_temperature),
            AgentTool(self.lower_temperature),
            AgentTool(self.set_climate_mode),
            AgentTool(self.get_temperature),
            AgentTool(self.get_humidity),
        )

    @tool(say=_say_target)
    async def set_temperature(
        self,
        temperature: Annotated[float, Range(5, 95)],
        room: Place | None = None,
        unit: Literal["celsius", "fahrenheit"] | None = None,
    ) -> dict[str, Any]:
        """Sets the temperature that the heating or the air conditioning is to reach.

        Args:
            temperature: The target, in degrees.
            room: The room or the thermostat.
            unit: The unit; absent is that of the home.
        """
        place = self._find(room)
        spoken = unit or self._unit
        takes = {device.id: _limits(device, spoken) for device in place.devices}
        meant = self._meant(place)
        fit = [device for device in meant if _within(temperature, takes[device.id])]
        others = [device for device in meant if device not in fit]
        refused = listed([f"{the(each.name)} takes {self._range(takes[each.id], spoken)}" for each in others])
        if not fit:
            return {"error": sentence(refused)}

        def plan(device: Device, state: State) -> Change:
            return Change(target=_inside(temperature, takes[device.id], spoken, device))

        return self._told(place, fit, await self._devices.move(fit, plan), spoken, refused)

    @tool(say=_say_target)
    async def raise_temperature(
        self, room: Place | None = None, amount: Annotated[float, Range(0.5, 20)] | None = None
    ) -> dict[str, Any]:
        """Makes a room warmer: raises the target of the heating.

        Args:
            room: The room or the thermostat.
            amount: By how many degrees; absent is a bit.
        """
        return await self._change(room, amount or STEP[self._unit])

    @tool(say=_say_target)
    async def lower_temperature(
        self, room: Place | None = None, amount: Annotated[float, Range(0.5, 20)] | None = None
    ) -> dict[str, Any]:
        """Makes a room cooler: lowers the target of the heating.

        Args:
            room: The room or the thermostat.
            amount: By how many degrees; absent is a bit.
        """
        return await self._change(room, -(amount or STEP[self._unit]))

    @tool(say=_say_mode)
    async def set_climate_mode(self, mode: Mode, room: Place | None = None) -> dict[str, Any]:
        """Turns the heating or the air conditioning on or off, or sets its mode.

        Args:
            mode: What it is to do.
            room: The room, the thermostat or the air conditioner.
        """
        place = self._find(room)
        able: list[Device] = []
        unable: list[Device] = []
        for of_room in by_room(place.devices):
            have = [device for device in of_room if _has_mode(device, mode)]
            if mode == "heat":
                # The room's heating heats it; its air conditioner, which could too, is left alone.
                have = [device for device in have if device.kind is Kind.THERMOSTAT] or have
            if mode == "on" and len({device.kind for device in have}) > 1:
                names = listed([the(device.name) for device in have], last="or")
                return {"error": sentence(f"it was not said which is to be turned on: {names}")}
            able += have
            unable += [] if have else of_room
        lacking = "; ".join(f"{the(each.name)} has no {mode} mode, only {listed(each.modes)}" for each in unable)
        if not able:
            return {"error": sentence(lacking)}

        def plan(device: Device, state: State) -> Change:
            return Change(mode=_running(device, state) if mode == "on" else mode)

        outcomes = await self._devices.move(able, plan)
        # By their names: "the bedroom is off" would be said of its lights as well.
        return told(place, outcomes, "mode", lambda outcome: outcome.state.mode or mode, lacking)

    @tool(read_only=True, say=_say_temperature)
    async def get_temperature(self, room: Place) -> dict[str, Any]:
        """Tells how warm or cold it is in a room.

        Args:
            room: The room, or a thermometer.
        """
        return read(self._devices, room, TEMPERATURE, self._unit)

    @tool(read_only=True, say=_say_humidity)
    async def get_humidity(self, room: Place) -> dict[str, Any]:
        """Tells how humid the air in a room is.

        Args:
            room: The room, or a sensor.
        """
        return read(self._devices, room, HUMIDITY, self._unit)

    async def _change(self, room: str | None, step: float) -> dict[str, Any]:
        place = self._find(room)
        meant = self._meant(place)
        ends: set[str] = set()

        def plan(device: Device, state: State) -> Change:
            # Planned when its turn has come: two "warmer" at once are two steps.
            if state.target is None:
                raise DeviceError("has not told what it is set to" if state.available else "is not available")
            lowest, highest = _limits(device, self._unit)
            wanted = rounded(convert(state.target, "celsius", self._unit)) + step
            if not lowest <= wanted <= highest:
                ends.add(f"that is as {'warm' if step > 0 else 'cool'} as it goes")
            return Change(target=_inside(wanted, (lowest, highest), self._unit, device))

        outcomes = await self._devices.move(meant, plan)
        return self._told(place, meant, outcomes, self._unit, *ends)

    def _find(self, words: str | None) -> Found:
        """The devices that are meant. The only one of a home heats every room of it."""
        all_of_them = [device for device in self._devices.home.devices if device.kind in CLIMATE]
        if not all_of_them:
            raise PlaceError("There is no heating and no air conditioning in this home.")
        if words is None and len(all_of_them) == 1:
            return by_names(all_of_them)
        if words is None:
            names = [the(device.name) for device in all_of_them]
            raise PlaceError(sentence(f"it was not said which: {listed(names, most=5, last='or')}"), names[:5])
        try:
            return self._devices.find(words, _CLIMATE)
        except PlaceError as error:
            area = self._devices.area(words)
            if area is None:
                raise
            if len(all_of_them) == 1:
                return by_names(all_of_them)
            text = f"there is no heating and no air conditioning {within(area.name)}"
            raise PlaceError(sentence(text), error.candidates) from error

    def _meant(self, place: Found) -> list[Device]:
        """Of each room the devices that are on, or all where none is. Of an unknown mode is on."""
        meant: list[Device] = []
        for of_room in by_room(place.devices):
            meant += [device for device in of_room if self._devices.state(device).mode != "off"] or of_room
        return meant

    def _range(self, limits: tuple[float, float], unit: HomeUnit) -> str:
        lowest, highest = limits
        return f"{rounded(lowest):.15g} to {degrees(highest, unit, named=unit != self._unit)}"

    def _told(
        self, place: Found, moved: Sequence[Device], outcomes: Sequence[Outcome], unit: HomeUnit, *notes: str
    ) -> dict[str, Any]:
        """The result of a new target, in a unit."""
        outcomes = [
            replace(outcome, failure="did not tell what it is set to")
            if not outcome.failure and outcome.state.target is None
            else outcome
            for outcome in outcomes
        ]
        off = [outcome.device.name for outcome in outcomes if not outcome.failure and outcome.state.mode == "off"]
        which = "it" if len(moved) == 1 else listed([the(name) for name in off], most=4)
        note = "; ".join(filter(None, (*notes, f"{which} {verb(off)} off" if off else "")))
        if {device.room for device in moved} == {device.room for device in place.devices}:
            place = _as_area(place, moved)

        def target(outcome: Outcome) -> float | None:
            celsius = outcome.state.target
            return None if celsius is None else rounded(convert(celsius, "celsius", unit))

        result = told(place, outcomes, "target", target, note)
        if "error" not in result:
            result["unit"] = unit
            if unit != self._unit:
                result["foreign"] = True
        return result


def _as_area(place: Found, moved: Sequence[Device]) -> Found:
    """What was moved, called by its area, which is one whatever is in it: "the bedroom", "upstairs".

    Where devices were named themselves, or several areas, it is the place as it is.
    """
    if not place.where or " and " in place.where or "," in place.where:
        return place
    first, _, rest = place.where.partition(" ")
    if first not in ("in", "on"):
        return Found(tuple(moved), place.where, plural=False, where=place.where)
    return Found(tuple(moved), rest, are_several([rest]), place.where)


def _limits(device: Device, unit: HomeUnit) -> tuple[float, float]:
    return (
        rounded(convert(device.min_temperature, "celsius", unit)),
        rounded(convert(device.max_temperature, "celsius", unit)),
    )


def _within(temperature: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= temperature <= limits[1]


def _inside(temperature: float, limits: tuple[float, float], unit: HomeUnit, device: Device) -> float:
    """A target in degrees Celsius, within the device's limits, to the hundredth: a tenth of either unit survives."""
    wanted = round(convert(min(limits[1], max(limits[0], temperature)), unit, "celsius"), 2)
    return min(device.max_temperature, max(device.min_temperature, wanted))


def _has_mode(device: Device, mode: Mode) -> bool:
    return any(each != "off" for each in device.modes) if mode == "on" else mode in device.modes


def _running(device: Device, state: State) -> Mode:
    """The mode of a device that is turned on: that it is in, its only one, or the one that it had last."""
    if state.mode not in (None, "off"):
        return state.mode
    modes = [mode for mode in device.modes if mode != "off"]
    return modes[0] if len(modes) == 1 else "on"
