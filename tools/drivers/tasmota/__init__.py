"""Tasmota devices, which announce themselves.

`discovery` reads what they announce, `payloads` is what they are sent and tell, `driver` moves them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tools.device import Device
from tools.drivers import Driver, DriverType, Report, beside
from tools.drivers.bridges import BridgedOptions, check
from tools.drivers.tasmota.driver import TasmotaDriver, TasmotaSettings


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: TasmotaSettings, report: Report) -> AsyncIterator[Driver]:
    driver = TasmotaDriver(devices, settings, report)
    async with beside(driver.run(), "tasmota"):
        yield driver


TASMOTA = DriverType(
    options=BridgedOptions,
    settings=TasmotaSettings,
    check=check,
    open=_open,
    check_settings=TasmotaSettings.password,
    address=lambda device: f"{device.options.device} {device.options.part or ''}",
    wanted=lambda settings: settings is not None,
    like="mqtt",
)
