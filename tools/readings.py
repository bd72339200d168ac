"""What thermometers, hygrometers and thermostats have measured. Nothing here moves anything.

Several rooms are told one by one: an average of them is nobody's temperature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tools.device import CLIMATE, Device, Kind, State
from tools.devices import Devices
from tools.names.areas import within
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.words import name_key
from tools.speech import listed, sentence, the, verb
from tools.temperature import HomeUnit, convert, degrees, rounded, unit_named

MEASURED = Wish(CLIMATE | {Kind.SENSOR}, CLIMATE | {Kind.SENSOR}, asking=True)

_MEASURE = (Kind.SENSOR, Kind.THERMOSTAT, Kind.AIR_CONDITIONER)
"""What measures, the best of a room first: an air conditioner feels mostly its own air."""

_MOST_READINGS = 8
"""How many readings an answer speaks; the rest is counted."""


@dataclass(frozen=True)
class Quantity:
    """What is measured.

    Attributes:
        name: As a sensor's `measures` has it, and the field of a thermostat's state.
        instrument: What there is none of where nothing measures it.
        opening: How the sentence begins.
    """

    name: Literal["temperature", "humidity"]
    instrument: str
    opening: str


TEMPERATURE = Quantity("temperature", "thermometer", "it's")
HUMIDITY = Quantity("humidity", "hygrometer", "the humidity is")


def read(devices: Devices, words: str, quantity: Quantity, unit: HomeUnit) -> dict[str, Any]:
    """What is measured in a place.

    Of each room its sensors are asked, where none knows its thermostats, and then its air conditioners.

    Args:
        devices: The devices as they are now.
        words: What the place is called, or what measures there.
        quantity: What is asked about.
        unit: That of the home's temperatures.

    Returns:
        `{"device", "room"?, "temperature" or "humidity", "unit"?}`, or `{"readings": [such, ...]}`, and
        `"unknown"`: the names of what has told nothing. Without `"room"` the device was asked about itself.

    Raises:
        PlaceError: The words stand for nothing, or nothing measures it there.
    """
    place = _place(devices, words, quantity)
    states = {device.id: devices.state(device) for device in place.devices}
    measuring = [device for device in place.devices if _measures(device, states[device.id], quantity)]
    if not measuring:
        raise _none(devices, words, place, quantity)
    known: list[Device] = []
    unknown: list[Device] = []
    for of_room in by_room(measuring):
        told = [device for device in of_room if _value(device, states[device.id], quantity) is not None]
        kinds = [[device for device in told if device.kind is kind] for kind in _MEASURE]
        known += next(filter(None, kinds), [])
        unknown += [] if told else of_room
    if not known:
        return {"error": _untold(unknown, states)}
    rooms = Counter(device.room for device in known)
    readings = []
    for device in known:
        reading: dict[str, Any] = {"device": device.name}
        # What was asked about by its own name answers by it, and so does one of two in a room.
        if device.room is not None and rooms[device.room] == 1 and (place.where or len(place.devices) > 1):
            reading["room"] = device.room
        readings.append(reading | _told(device, states[device.id], quantity, unit))
    result: dict[str, Any] = readings[0] if len(readings) == 1 else {"readings": readings}
    return result | ({"unknown": [device.name for device in unknown]} if unknown else {})


def say_readings(quantity: Quantity, result: Mapping[str, Any]) -> str:
    """ "It's 21 degrees in the living room and 18.5 degrees in the bedroom."."""
    readings: Sequence[Mapping[str, Any]] = result.get("readings", [result])
    of_rooms = [f"{_amount(each, quantity)} {within(each['room'])}" for each in readings if "room" in each]
    shown = [f"{the(each['device'])} shows {_amount(each, quantity)}" for each in readings if "room" not in each]
    told = f"{quantity.opening} {listed(of_rooms, _MOST_READINGS)}" if of_rooms else ""
    without = [the(each["device"]) for each in readings if "unit" not in each]
    doubt = f"{listed(without)} {verb(without, 'does', 'do')} not say in which unit" if without else ""
    unknown = [the(name) for name in result.get("unknown", ())]
    missing = f"I do not know about {listed(unknown, _MOST_READINGS)}" if unknown else ""
    return sentence(told, listed(shown, _MOST_READINGS), doubt, missing)


def _place(devices: Devices, words: str, quantity: Quantity) -> Found:
    try:
        return devices.find(words, MEASURED)
    except PlaceError as error:
        area = devices.area(words)
        if area is None:
            raise
        raise PlaceError(sentence(f"there is no {quantity.instrument} {within(area.name)}")) from error


def _none(devices: Devices, words: str, place: Found, quantity: Quantity) -> PlaceError:
    """Why nothing of what was found measures it."""
    area = devices.area(words)
    if not place.where and area is None and len(place.devices) == 1:
        return PlaceError(sentence(place.clause(f"not measure {quantity.name}", "does", "do")))
    where = within(area.name) if area is not None else place.where or "in this home"
    return PlaceError(sentence(f"there is no {quantity.instrument} {where}"))


def _measures(device: Device, state: State, quantity: Quantity) -> bool:
    """Whether it is a sensor of it, or a thermostat; other things only where they have told a number."""
    if device.kind is Kind.SENSOR:
        return name_key(device.measures or "") == quantity.name
    always = device.kind is Kind.THERMOSTAT and quantity is TEMPERATURE
    return always or getattr(state, quantity.name) is not None


def by_room(devices: Sequence[Device]) -> list[list[Device]]:
    """The devices of each room together; what is in none is by itself."""
    rooms: dict[str, list[Device]] = {}
    for device in devices:
        rooms.setdefault(f"room {device.room}" if device.room is not None else device.id, []).append(device)
    return list(rooms.values())


def _value(device: Device, state: State, quantity: Quantity) -> float | None:
    if not state.available:
        return None
    return state.value if device.kind is Kind.SENSOR else getattr(state, quantity.name)


def _told(device: Device, state: State, quantity: Quantity, unit: HomeUnit) -> dict[str, Any]:
    """The number with its unit: a temperature in the home's, anything else in the sensor's."""
    value = _value(device, state, quantity)
    assert value is not None
    if quantity is HUMIDITY:
        own = "percent" if device.kind in CLIMATE or device.unit == "%" else device.unit
    else:
        source = "celsius" if device.kind in CLIMATE else unit_named(device.unit or "")
        own = device.unit if source is None else unit
        value = value if source is None else convert(value, source, unit)
    return {quantity.name: rounded(value)} | ({"unit": own} if own is not None else {})


def _amount(reading: Mapping[str, Any], quantity: Quantity) -> str:
    number, unit = reading[quantity.name], reading.get("unit")
    if quantity is TEMPERATURE and (unit is None or unit_named(unit) is not None):
        return degrees(number, None)
    return f"{number:.15g} {unit}" if unit is not None else f"{number:.15g}"


def _untold(unknown: Sequence[Device], states: Mapping[str, State]) -> str:
    names = [the(device.name) for device in unknown]
    if len(unknown) == 1 and not states[unknown[0].id].available:
        return sentence(f"I do not know, as {names[0]} is not available")
    return sentence(f"I do not know, as {listed(names, _MOST_READINGS)} {verb(names, 'has', 'have')} told nothing yet")
