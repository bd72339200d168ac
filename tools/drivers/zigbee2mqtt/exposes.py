"""What Zigbee2MQTT says that a device can do, its `exposes`, as parts of the house. No I/O.

The format is that of Zigbee2MQTT's own description (https://www.zigbee2mqtt.io/guide/usage/exposes.html), and was
read in zigbee-herdsman-converters 26. A payload's keys are each feature's `property`, never its `name`: `color_xy` and
`color_hs` are both told under `color`, and one of two relays is `state_left`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tools.device import Ability, Device, Kind, Mode
from tools.drivers.bridges import Part, contact_kind, cover_kind, relay_kind, unit_spoken
from tools.drivers.mqtt_payloads.climate import MODES
from tools.drivers.mqtt_payloads.wire import is_number
from tools.names.words import fold

_TOLD, _SET, _ASKED = 1, 2, 4
"""The bits of `access`: it is in the state, it can be set, it can be asked for."""


@dataclass(frozen=True)
class Choice:
    """A property with two words.

    Attributes:
        property: The key of a payload.
        on: What stands there for on, locked, open or detected; any JSON value.
        off: What stands for the other.
    """

    property: str
    on: Any
    off: Any


@dataclass(frozen=True)
class Number:
    """A property with a number.

    Attributes:
        property: The key of a payload.
        low: The least.
        high: The most.
    """

    property: str
    low: float = 0
    high: float = 100


@dataclass(frozen=True)
class Features:
    """What the properties of a part are for; None where it has none for that.

    Attributes:
        state: On and off, locked and unlocked, detected and clear, open and closed of a contact.
        motor: Where a cover is told OPEN, CLOSE and STOP.
        brightness: Of a lamp.
        white: Its warmth, in mireds.
        color: Where its colour is.
        mode: Where a climate device's mode is.
        modes: Zigbee2MQTT's words for its modes, by ours.
        target: The temperature that it is to reach, in Celsius, as are all of Zigbee2MQTT's.
        cooling: The same while it cools, where that is another one.
        temperature: The temperature that it measures.
        position: How far open a cover is, in percent.
        direction: Where a cover tells that it moves, beside its position.
        speed: A fan's speed as a number.
        speeds: A fan's speeds as words, the slowest first, and where they are.
        jam: Where a lock tells more than its state.
        value: What is measured.
        asked: The properties that can be asked for.
        suffix: What is behind the properties of one of several endpoints: "_left".
    """

    state: Choice | None = None
    motor: str | None = None
    brightness: Number | None = None
    white: Number | None = None
    color: str | None = None
    mode: str | None = None
    modes: Mapping[Mode, str] = field(default_factory=dict)
    target: Number | None = None
    cooling: Number | None = None
    temperature: str | None = None
    position: Number | None = None
    direction: str | None = None
    speed: Number | None = None
    speeds: tuple[str, tuple[str, ...]] | None = None
    jam: str | None = None
    value: str | None = None
    asked: tuple[str, ...] = ()
    suffix: str = ""


def parts_of(ieee_address: str, name: str, definition: Mapping[str, Any]) -> list[Part]:
    """What a device of `bridge/devices` is in the house.

    Args:
        ieee_address: Its address, from which the ids are made.
        name: Its friendly name.
        definition: Its `definition`.

    Returns:
        Its parts, the one that it is there for first; each device's `options` are its `Features`. What is a setting
        of the device itself, such as a child lock, is none of them.
    """
    exposes = [each for each in _list(definition.get("exposes")) if isinstance(each, Mapping)]
    description = f"{definition.get('description', '')}"
    found: list[Part] = []
    for expose in exposes:
        found += _part(expose, exposes, ieee_address, name, description)
    found.sort(key=lambda part: _rank(part.device))
    whole = [part for part in found if not part.name or len(found) == 1]
    said = set(fold(name))
    main = next((part for part in whole if part.called in said), whole[0] if whole and whole[0] is found[0] else None)
    return [replace(part, called="") if part is main else part for part in found]


def _part(
    expose: Mapping[str, Any], exposes: Sequence[Mapping[str, Any]], address: str, name: str, description: str
) -> Iterator[Part]:
    kind, endpoint = expose.get("type"), expose.get("endpoint")
    endpoint = endpoint if isinstance(endpoint, str) else ""
    suffix = f"_{endpoint}" if endpoint else ""
    make = _SPECIFIC.get(kind) if isinstance(kind, str) else None
    if make is not None:
        features = {each["name"]: each for each in _list(expose.get("features")) if _is_feature(each)}
        made = make(features, suffix, f"{name} {endpoint}", description, exposes)
        called = "" if endpoint else f"{kind}"
    elif _is_feature(expose) and expose.get("category") is None:
        made = _sensor(expose, name)
        called = f"{expose['name']}".replace("_", " ")
        called = "motion" if called == "occupancy" else called
    else:
        return
    if made is None:
        return
    device, features_of = made
    main = str(expose["type"]) if make is not None else str(expose["name"])
    spoken = endpoint.removeprefix("l") if endpoint[1:].isdigit() else endpoint
    yield Part(
        replace(device, id=f"{address}_{main}{suffix}", name=name, options=replace(features_of, suffix=suffix)),
        f"{called} {spoken}".strip(),
        endpoint,
    )


_Made = tuple[Device, Features] | None


def _light(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    state = _choice(features.get("state"))
    if state is None:
        return None
    brightness, white = _number(features.get("brightness")), _number(features.get("color_temp"))
    color = next((f["property"] for key in ("color_xy", "color_hs") if (f := features.get(key))), None)
    limits: dict[str, Any] = {}
    if white is not None and 0 < white.low < white.high:
        limits = {"min_kelvin": round(1e6 / white.high), "max_kelvin": round(1e6 / white.low)}
    else:
        white = None
    able: dict[Ability, Any] = {"brightness": brightness, "color": color, "white": white}
    can = tuple(ability for ability, has in able.items() if has is not None)
    asked = _asked(features.get(key) for key in ("state", "brightness", "color_temp", "color_xy", "color_hs"))
    made = Features(state, brightness=brightness, white=white, color=color, asked=asked)
    return Device("", "", Kind.LIGHT, can=can, **limits), made


def _switch(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    state = _choice(features.get("state"))
    # A thermostat's "away_mode" and "window_detection" are switches to Zigbee2MQTT, and to nobody else.
    if state is None or state.property != f"state{suffix}":
        return None
    made = Features(state, asked=_asked([features["state"]]))
    return Device("", "", relay_kind(name, description)), made


def _cover(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    state, position = features.get("state"), _number(features.get("position"))
    if state is None:
        return None
    directions = (each for each in all_of_it if each.get("name") in _DIRECTIONS and _is_feature(each))
    direction = next((each["property"] for each in directions), None)
    asked = _asked([features.get("position"), state])
    made = Features(motor=state["property"], position=position, direction=direction, asked=asked)
    return Device("", "", cover_kind(name, description, Kind.BLIND), can=("position",) if position else ()), made


_DIRECTIONS = ("motor_state", "moving")


def _lock(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    state, jam = _choice(features.get("state")), features.get("lock_state")
    if state is None or state.property != f"state{suffix}":  # a child lock
        return None
    made = Features(state, jam=jam["property"] if jam else None, asked=_asked([features["state"]]))
    return Device("", "", Kind.LOCK), made


def _climate(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    setpoints = [features[key] for key in features if key in _SETPOINTS] + [features.get(_COOLING)]
    mode, temperature = features.get("system_mode"), features.get("local_temperature")
    target, cooling = _number(setpoints[0]), _number(features.get(_COOLING))
    if target is None and mode is None:
        return None
    words = [word for word in _list(mode.get("values")) if isinstance(word, str)] if mode else []
    modes = {MODES[word]: word for word in reversed(words) if word in MODES}
    kind = Kind.AIR_CONDITIONER if "cool" in modes else Kind.THERMOSTAT
    made = Features(
        mode=mode["property"] if mode else None,
        modes=modes,
        target=target,
        cooling=cooling if cooling != target else None,
        temperature=temperature["property"] if temperature else None,
        asked=_asked([temperature, *setpoints, mode]),
    )
    limits: dict[str, Any] = {"min_temperature": target.low, "max_temperature": target.high} if target else {}
    return Device("", "", kind, modes=tuple(reversed(modes)), **limits), made


_SETPOINTS = ("current_heating_setpoint", "occupied_heating_setpoint")
_COOLING = "occupied_cooling_setpoint"


def _fan(features: Mapping[str, Any], suffix: str, name: str, description: str, all_of_it: Any) -> _Made:
    state, mode, speed = _choice(features.get("state")), features.get("mode"), _number(features.get("speed"))
    if state is None:
        return None
    told = _list(mode.get("values")) if mode else []
    words = tuple(word for word in ("low", "medium", "high") if word in told)
    speeds = (mode["property"], words) if mode and len(words) > 1 else None
    made = Features(state, speed=speed, speeds=speeds, asked=_asked([features["state"], mode, features.get("speed")]))
    return Device("", "", Kind.FAN, can=("speed",) if speed or speeds else ()), made


_SPECIFIC = {
    "light": _light,
    "switch": _switch,
    "cover": _cover,
    "lock": _lock,
    "climate": _climate,
    "fan": _fan,
}


def _sensor(expose: Mapping[str, Any], name: str) -> _Made:
    what, asked = expose["name"], _asked([expose])
    if expose.get("type") == "numeric" and what in _MEASURED:
        device = Device("", "", Kind.SENSOR, measures=what.replace("_", " "), unit=unit_spoken(expose.get("unit")))
        return device, Features(value=expose["property"], asked=asked)
    state = _choice(expose)
    if state is None:
        return None
    if what == "contact":
        return Device("", "", contact_kind(name)), Features(state, asked=asked)
    if what in _DETECTED:
        return Device("", "", Kind.DETECTOR, measures=_DETECTED[what]), Features(state, asked=asked)
    return None


_MEASURED = (
    "temperature", "humidity", "pressure", "illuminance", "co2", "pm25", "pm10", "voc", "soil_moisture", "power",
    "energy",
)  # fmt: skip
_DETECTED = {
    "occupancy": "motion", "presence": "presence", "smoke": "smoke", "gas": "gas", "water_leak": "water leak",
    "carbon_monoxide": "carbon monoxide", "vibration": "vibration", "rain": "rain",
}  # fmt: skip
"""What binary features detect, as it is spoken."""

_FIRST = (
    "occupancy", "presence", "motion", "smoke", "gas", "water leak", "carbon monoxide", "vibration", "rain",
    *(what.replace("_", " ") for what in _MEASURED),
)  # fmt: skip


def _rank(device: Device) -> int:
    """What a device is there for comes first: a plug is none for its power."""
    if device.measures is None:
        return -1 if device.moves or device.kind in (Kind.DOOR, Kind.WINDOW) else 0
    return _FIRST.index(device.measures)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_feature(value: Any) -> bool:
    """Whether it is something that a payload tells or is told."""
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        return False
    access = value.get("access", _TOLD)  # a composite may have none
    return isinstance(value.get("property"), str) and isinstance(access, int) and bool(access & _TOLD)


def _choice(value: Any) -> Choice | None:
    if not isinstance(value, Mapping) or "value_on" not in value or "value_off" not in value:
        return None
    return Choice(value["property"], value["value_on"], value["value_off"])


def _number(value: Any) -> Number | None:
    if not isinstance(value, Mapping):
        return None
    low, high = value.get("value_min", 0), value.get("value_max", 100)
    return Number(value["property"], low, high) if is_number(low) and is_number(high) and low < high else None


def _asked(features: Any) -> tuple[str, ...]:
    given = [each for each in features if isinstance(each, Mapping)]
    names = [each["property"] for each in given if isinstance(each.get("access"), int) and each["access"] & _ASKED]
    return tuple(dict.fromkeys(names))
