"""The light controller on a serial port: lamps and relays that it moves, inputs that it tells of.

`codec` has frames, `port` the serial port, `link` the conversation, `finding` looks for the board, `driver` moves
the devices; `protocol` is made from firmware/protocol.toml.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tools.device import Device
from tools.drivers import Driver, DriverType, Report, beside
from tools.drivers.serial.options import SerialButton, SerialOptions, SerialSettings, check, check_settings


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: SerialSettings | None, report: Report) -> AsyncIterator[Driver]:
    from tools.drivers.serial.driver import SerialDriver  # a house without a board does not need it

    driver = SerialDriver(devices, settings or SerialSettings(), report)
    async with beside(driver.run(), "serial board"):
        yield driver


SERIAL = DriverType(
    options=SerialOptions,
    settings=SerialSettings,
    check=check,
    open=_open,
    check_settings=check_settings,
    button=SerialButton,
)
