"""Devices that live in memory: without hardware everything runs, and is seen."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from tools.device import LOCKS, Activity, Change, Device, Mode, State
from tools.drivers import Driver, DriverType, Report
from tools.drivers.modes import LastModes


@dataclass(frozen=True)
class MemoryOptions:
    """How a device in memory is at the start; a key is for those kinds only that can be so."""

    on: bool | None = None
    """For lamps, switches, plugs, fans and players; false when nothing is said."""

    brightness: int | None = None
    """For lamps that can be dimmed, 1 to 100 percent: how bright when they are on; else 100."""

    open: bool | None = None
    """For doors, windows and covers; else false. For a lock that knows whether its door is open."""

    position: int | None = None
    """For covers, doors and windows that can stop half-way: how far open, 0 to 100 percent."""

    speed: int | None = None
    """For fans that have a speed, 1 to 100 percent: how fast when they are on; else 100."""

    locked: bool | None = None
    """For locks; true when nothing is said."""

    temperature: float | None = None
    """For thermostats and air conditioners: how warm it is, in degrees Celsius; else 20."""

    humidity: float | None = None
    """For them as well: how humid it is, in percent; not known when nothing is said."""

    target: float | None = None
    """For them as well: how warm it is to be, in degrees Celsius; else 20."""

    mode: Mode | None = None
    """For them as well: one of the device's modes; "off" when nothing is said."""

    playing: bool | None = None
    """For players: true plays, false is paused; either is on."""

    title: str | None = None
    """For players: what is played."""

    volume: int | None = None
    """For players, 0 to 100 percent; else 30."""

    muted: bool | None = None
    """For players; false when nothing is said."""

    activity: Activity | None = None
    """For robots: what they do; "docked" when nothing is said."""

    value: float | None = None
    """For sensors: what is measured, in the device's unit; not known when nothing is said."""

    detected: bool | None = None
    """For detectors; false when nothing is said."""


class MemoryDriver:
    """Does as it is told, at once."""

    def __init__(self, devices: Sequence[Device], report: Report) -> None:
        self._report = report
        self._modes = LastModes()
        self._states: dict[str, State] = {}
        for device in devices:
            self._set(device.id, _first_state(device))

    async def move(self, device: Device, change: Change) -> State:
        """Changes the state; what the device cannot do is not kept."""
        before = self._states[device.id]
        state = _settled(device, self._modes.resolve(device, change), before)
        self._set(device.id, state)
        return state

    def health(self) -> str:
        """Memory is always well."""
        return "ok"

    async def probe(self) -> list[str]:
        """Memory has no trouble."""
        return []

    def _set(self, device_id: str, state: State) -> None:
        self._states[device_id] = state
        self._modes.hear(device_id, state)
        self._report(device_id, state)


def _settled(device: Device, change: Change, before: State) -> State:
    """How the device is when it is done; nothing here takes time, so a robot that returns is back."""
    state = change.applied_to(before)
    if change.stop:
        state = replace(state, moving=False)
    if change.activity == "returning":
        state = replace(state, activity="docked")
    if change.rgb is not None or change.kelvin is not None:
        state = replace(state, effect=change.effect or "")
    if state.on is False and before.playing is not None:
        state = replace(state, playing=None, title=None)
    return _with_fields(device, vars(state))


def _with_fields(device: Device, values: Mapping[str, Any]) -> State:
    """Only those that a device of its kind and abilities has."""
    return State(**{name: value for name, value in values.items() if name in device.tells and value is not None})


def _first_state(device: Device) -> State:
    options = device.options or MemoryOptions()
    given = {name: value for name, value in vars(options).items() if value is not None}
    position = 100 if given.get("open") else 0
    usual: dict[str, Any] = {
        "on": "playing" in given,
        "brightness": 100,
        "speed": 100,
        "effect": "",
        # A lock knows of its door only where that is said.
        "open": None if device.kind in LOCKS else given.get("position", position) > 0,
        "position": position,
        "locked": True,
        "temperature": 20.0,
        "target": min(device.max_temperature, max(device.min_temperature, 20.0)),
        "mode": "off" if "off" in device.modes or not device.modes else device.modes[0],
        "volume": 30,
        "muted": False,
        "activity": "docked",
        "detected": False,
    }
    return _with_fields(device, {**usual, **given})


_RANGES = {"brightness": (1, 100), "speed": (1, 100), "position": (0, 100), "humidity": (0, 100), "volume": (0, 100)}


def _check(device: Device) -> None:
    given = {name: value for name, value in vars(device.options).items() if value is not None} if device.options else {}
    tells = device.tells
    allowed = [name for name in vars(MemoryOptions()) if name in tells]
    for key, value in given.items():
        if key not in allowed:
            kind = device.kind.value.replace("_", " ")
            raise ValueError(f"{key} is not for this {kind}; allowed are {', '.join(allowed)}")
        low, high = _RANGES.get(key, (-math.inf, math.inf))
        if key == "target":
            low, high = device.min_temperature, device.max_temperature
        if isinstance(value, (int, float)) and not (math.isfinite(value) and low <= value <= high):
            raise ValueError(f"{key} is {value}; allowed is {low:g} to {high:g}")
    if given.get("mode", "off") not in (*device.modes, "off"):
        raise ValueError(f"mode is {given['mode']!r}; the device's modes are {', '.join(device.modes)}")
    if "open" in given and "position" in given and given["open"] is not (given["position"] > 0):
        raise ValueError(f"open is {str(given['open']).lower()} and position is {given['position']}")
    if given.get("on") is False and given.get("playing"):
        raise ValueError("playing is true and on is false; what plays is on")


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: None, report: Report) -> AsyncIterator[Driver]:
    yield MemoryDriver(devices, report)


MEMORY = DriverType(options=MemoryOptions, settings=None, check=_check, open=_open)
