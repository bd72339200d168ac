"""How a device of any kind is: as primitives, and as the words of an answer. Nothing here moves anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.device import CLIMATE, PLAYERS, Device, Kind, State
from tools.names.areas import within
from tools.results import appearance, look
from tools.temperature import HomeUnit, convert, degrees, rounded, unit_named

_DOING = {
    (Kind.VACUUM, "working"): "cleaning",
    (Kind.MOWER, "working"): "mowing",
    (Kind.VACUUM, "returning"): "on its way back",
    (Kind.MOWER, "returning"): "on its way back",
}
"""What robots do, as it is spoken."""


def tell(device: Device, state: State, unit: HomeUnit) -> dict[str, Any]:
    """What is known of a device.

    Args:
        device: Which one.
        state: How it is.
        unit: That of the home's temperatures.

    Returns:
        `{"device", "state"}` and what its kind has to tell; `"available"` where the state is unknown.
    """
    told: dict[str, Any] = {"device": device.name, **look(device, state)}
    if not state.available:
        return {**told, "available": False}
    details: dict[str, Any] = {}
    if device.kind in CLIMATE:
        details = _temperatures(state, unit)
    elif device.kind in PLAYERS:
        details = {"title": state.title, "volume": state.volume, "muted": state.muted}
    elif device.kind is Kind.SENSOR and state.value is not None:
        details = _measurement(device, state.value, unit)
    elif device.kind is Kind.DETECTOR and state.detected is not None:
        details = {"detects": device.measures, "room": device.room}
    told |= {key: value for key, value in details.items() if value is not None}
    told["state"] = _DOING.get((device.kind, told["state"]), told["state"])
    return {**told, "available": True} if told["state"] == "unknown" else told


def predicate(told: Mapping[str, Any]) -> tuple[str, str, str]:
    """What is said of a device.

    Returns:
        The verb for one and for several of them, and what follows: "is", "are", "off". Without a verb it is a
        clause of its own: "no motion in the garage".
    """
    if not told.get("available", True):
        return "is", "are", "not available"
    if "detects" in told:
        return _detection(told)
    if "value" in told:
        # "The washing machine power is 12 watts", but a thermometer is not 12 degrees: it shows them.
        is_itself = str(told["measures"]).casefold() in str(told["device"]).casefold()
        return *(("is", "are") if is_itself else ("shows", "show")), _amount(told)
    if "temperature" in told or "target" in told:
        return "is", "are", _climate(told)
    return "is", "are", _player(told) if "title" in told or "volume" in told else appearance(told)


def _temperatures(state: State, unit: HomeUnit) -> dict[str, Any]:
    celsius = {"target": state.target, "temperature": state.temperature}
    told: dict[str, Any] = {
        name: rounded(convert(value, "celsius", unit)) for name, value in celsius.items() if value is not None
    }
    if not told:
        return {}
    return {**told, "unit": unit} | ({"state": "known"} if state.word == "unknown" else {})


def _measurement(device: Device, value: float, unit: HomeUnit) -> dict[str, Any]:
    """The number with its unit: a temperature in the home's, anything else in the sensor's."""
    source = unit_named(device.unit or "") if device.measures == "temperature" else None
    if source is not None:
        return {"measures": device.measures, "value": rounded(convert(value, source, unit)), "unit": unit}
    own = "percent" if device.unit == "%" else device.unit
    return {"measures": device.measures, "value": rounded(value), "unit": own}


def _detection(told: Mapping[str, Any]) -> tuple[str, str, str]:
    detected = told["state"] == "detected"
    what = told["detects"] if detected else f"no {told['detects']}"
    if "room" not in told:
        return "detects", "detect", what
    return "", "", f"{'there is ' if detected else ''}{what} {within(told['room'])}"


def _amount(told: Mapping[str, Any]) -> str:
    value, unit = told["value"], told.get("unit")
    if told["measures"] == "temperature" and (unit is None or unit_named(unit) is not None):
        return degrees(value, None) if unit else f"{degrees(value, None)}, it does not say in which unit"
    return f"{value:.15g} {unit}" if unit else f"{value:.15g}"


def _climate(told: Mapping[str, Any]) -> str:
    """ "set to 21 degrees, and it is 19.5 degrees", "off", "in cool mode, set to 22 degrees"."""
    mode, words = told["state"], []
    if mode == "off":
        words.append("off")
    elif mode not in ("heat", "on", "known"):
        words.append(f"in {mode} mode")
    if mode != "off" and "target" in told:
        words.append(f"set to {degrees(told['target'], None)}")
    if "temperature" in told:
        words.append(f"{'and it is' if words else 'at'} {degrees(told['temperature'], None)}")
    return ", ".join(words)


def _player(told: Mapping[str, Any]) -> str:
    """ "playing Jazz FM at 30 percent", "paused", "on, muted"."""
    words = appearance({"state": told["state"]})
    if told["state"] not in ("playing", "on"):
        return words
    if told["state"] == "playing" and "title" in told:
        words += f" {told['title']}"
    if told.get("muted"):
        return f"{words}, muted"
    return f"{words} at {told['volume']} percent" if "volume" in told else words
