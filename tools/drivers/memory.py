"""Devices that live in memory: without hardware everything runs, and is seen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tools.drivers import LIGHTS, ON_OFF, Change, Device, Driver, DriverType, Report, State


@dataclass(frozen=True)
class MemoryOptions:
    """How a device in memory is at the start."""

    on: bool = False
    """For lamps and switches."""

    brightness: int = 100
    """For lamps that can be dimmed, 1 to 100 percent: how bright when they are on."""

    open: bool = False
    """For doors and windows."""


class MemoryDriver:
    """Does as it is told, at once."""

    def __init__(self, devices: Sequence[Device], report: Report) -> None:
        self._report = report
        self._states = {device.id: _first_state(device) for device in devices}
        for device in devices:
            report(device.id, self._states[device.id])

    async def move(self, device: Device, change: Change) -> State:
        """Changes the state; what a lamp cannot do is not kept."""
        state = change.applied_to(self._states[device.id])
        self._states[device.id] = state
        self._report(device.id, state)
        return state

    def health(self) -> str:
        """Memory is always well."""
        return "ok"


def _first_state(device: Device) -> State:
    options = device.options or MemoryOptions()
    if device.kind not in ON_OFF:
        return State(open=options.open)
    dims = device.kind in LIGHTS and "brightness" in device.can
    return State(on=options.on, brightness=options.brightness if dims else None)


def _check(device: Device) -> None:
    if device.options and not 1 <= device.options.brightness <= 100:
        raise ValueError(f"brightness is {device.options.brightness}; allowed is 1 to 100")


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: None, report: Report) -> AsyncIterator[Driver]:
    yield MemoryDriver(devices, report)


MEMORY = DriverType(options=MemoryOptions, settings=None, check=_check, open=_open)
