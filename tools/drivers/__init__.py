"""What a driver is: it moves devices and tells their states, in percent, kelvin and yes or no.

Every unit of a wire (254 steps, mireds, "ON") stays inside the driver that speaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from agent.errors import HearthError
from tools.device import Change, Device, State


class DeviceError(HearthError, RuntimeError):
    """A device did not do it. The text follows its name: "is not available"."""


class NotAvailableError(DeviceError):
    """Nothing was sent: the device or the way to it is gone."""


class NotConfirmedError(DeviceError):
    """It was sent, and the device did not report that it was done."""


Report = Callable[[str, State], None]
"""Called by a driver with a device's id whenever the device tells how it is."""


class Driver(Protocol):
    """Moves its devices, one command at a time for each."""

    async def move(self, device: Device, change: Change) -> State:
        """Does it, and returns what the device then tells, which is reported by now.

        Raises:
            NotAvailableError: Nothing was sent.
            NotConfirmedError: It was sent, and not confirmed in time.
        """
        ...

    def health(self) -> str:
        """One line for a person; "ok" when all is well."""
        ...

    async def probe(self) -> list[str]:
        """Tries what can be tried without moving anything, within 10 s.

        Returns:
            A sentence for each trouble, with its cause and its cure; none when all is well.
        """
        ...


@dataclass(frozen=True)
class DriverType:
    """A driver as the settings name it.

    Attributes:
        options: The dataclass of a device's table of the driver's name.
        settings: The dataclass of the house's table of the driver's name; None where it has none.
        check: Refuses a device that the driver cannot move, with a ValueError that says why.
        open: Opens the driver with its devices, its settings (None without a table) and where to report.
        check_settings: Raises a SettingsError for what only the use of its settings would show.
        address: Where a device is told what to do; None where no other device could be told there.
    """

    options: type[Any]
    settings: type[Any] | None
    check: Callable[[Device], None]
    open: Callable[[Sequence[Device], Any, Report], AbstractAsyncContextManager[Driver]]
    check_settings: Callable[[Any], object] = lambda settings: None
    address: Callable[[Device], str | None] = lambda device: None
