"""The serial driver as it runs in a house, at a port of a test, and what it reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tools.device import Change, Device, State
from tools.drivers.serial.driver import SerialDriver
from tools.drivers.serial.finding import Candidate
from tools.drivers.serial.options import SerialSettings


class Bench:
    """A driver that runs, and what it reported."""

    def __init__(self, within_s: float) -> None:
        self.states: dict[str, State] = {}
        self.driver: SerialDriver
        self._within_s = within_s

    def report(self, device_id: str, state: State) -> None:
        self.states[device_id] = state

    async def move(self, device: Device, percent: int) -> State:
        """Brings a device to a brightness; one that is not dimmed takes 0 and 100."""
        change = Change(on=percent > 0)
        if percent and "brightness" in device.can:
            change = Change(on=True, brightness=percent)
        return await self.driver.move(device, change)

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until it is so."""
        async with asyncio.timeout(self._within_s):
            while not true():
                await asyncio.sleep(0.01)

    async def until_connected(self) -> None:
        """Waits for the board."""
        await self.until(lambda: self.driver.health().startswith(("ok", '"')))


@asynccontextmanager
async def bench(
    path: Path | Callable[[], Sequence[Candidate]],
    *devices: Device,
    look_s: float = 0.1,
    within_s: float = 10.0,
    **settings: Any,
) -> AsyncIterator[Bench]:
    """A driver that looks for its board more often than in a house.

    Args:
        path: The port, as the settings would name it; or the candidates.
        devices: Those that it moves.
        look_s: How often it asks the board how it is, in seconds.
        within_s: How long anything may take that is waited for, in seconds.
        settings: Of the table `[tools.serial]`.
    """
    made = Bench(within_s)
    find = path if callable(path) else lambda: [Candidate(str(path), named=True)]
    made.driver = SerialDriver(
        devices,
        SerialSettings(**{"reply_timeout_s": 2.0, **settings}),
        made.report,
        find,
        first_wait_s=0.05,
        longest_wait_s=0.2,
        look_s=look_s,
        hello_wait_s=3,
    )
    running = asyncio.create_task(made.driver.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
