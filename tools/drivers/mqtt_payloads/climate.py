"""Thermostats and air conditioners. What they count in is converted here, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tools.device import Change, Device, Mode, State
from tools.drivers.mqtt_payloads.wire import is_number, object_of

MODES: dict[str, Mode] = {
    "off": "off", "heat": "heat", "cool": "cool", "auto": "auto", "heat_cool": "auto", "dry": "dry",
    "fan_only": "fan", "fan": "fan", "eco": "eco", "on": "on",
}  # fmt: skip
"""Home Assistant's modes, and ours where it has none."""


def command(device: Device, change: Change) -> str | None:
    """`{"target": 21.5, "mode": "heat"}` with either of the two."""
    data: dict[str, Any] = {}
    if change.target is not None:
        data["target"] = _to_unit(change.target, device)
    if change.mode is not None:
        data["mode"] = "fan_only" if change.mode == "fan" else change.mode
    return json.dumps(data) if data else None


def read(device: Device, text: str, before: State) -> State:
    """`{"target", "mode", "temperature", "humidity"}` with any of the four."""
    data = object_of(text)
    told: dict[str, Any] = {}
    for key in ("target", "temperature"):
        if is_number(data.get(key)) and abs(data[key]) < 1000:
            told[key] = _from_unit(data[key], device)
    humidity, mode = data.get("humidity"), data.get("mode")
    if is_number(humidity) and 0 <= humidity <= 100:
        told["humidity"] = humidity
    if isinstance(mode, str):
        told["mode"] = MODES.get(mode.casefold())  # an unknown one is no longer the one before
    if not told:
        raise ValueError('none of "target", "mode", "temperature" and "humidity"')
    return replace(before, **told)


def _to_unit(celsius: float, device: Device) -> float:
    fahrenheit = device.options.temperature_unit == "fahrenheit"
    return round(celsius * 9 / 5 + 32 if fahrenheit else celsius, 1)


def _from_unit(value: float, device: Device) -> float:
    # Two places are enough to come back to every tenth of a degree of Fahrenheit.
    return round((value - 32) * 5 / 9, 2) if device.options.temperature_unit == "fahrenheit" else float(value)
