"""What a driver is: it moves devices and tells their states, in percent, kelvin and yes or no.

Every unit of a wire (254 steps, mireds, "ON") stays inside the driver that speaks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from agent.ending import end
from agent.errors import HearthError
from agent.house_store import HouseStore
from tools.device import Change, Device, State


class DeviceError(HearthError, RuntimeError):
    """A device did not do it. The text follows its name: "is not available"."""


class NotAvailableError(DeviceError):
    """Nothing was sent: the device or the way to it is gone."""


class NotConfirmedError(DeviceError):
    """It was sent, and the device did not report that it was done."""


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Runs a driver's work as a task of a name, for as long as its house is open."""
    running = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        (failure,) = await end(running)
        if isinstance(failure, Exception):
            raise failure


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


Press = Literal["pressed", "released", "short", "long"]
"""What a button tells: that it goes down and up, and once for each time what that meant."""


@dataclass(frozen=True)
class WiredButton:
    """A button as its driver knows it.

    Attributes:
        id: One segment of a topic.
        name: As the owner wrote it.
        options: What the driver needs to know, in its `DriverType.button`.
    """

    id: str
    name: str
    options: Any


@runtime_checkable
class Starting(Protocol):
    """A driver that touches nothing before this; a house that is only looked at is not started."""

    async def start(self, store: HouseStore) -> None:
        """Brings its devices to how they are to be at the start, and listens."""
        ...


class FirstTry:
    """The first time that a driver tries to reach its devices. Right after the start a call waits for it, and later
    fails at once.
    """

    def __init__(self, within_s: float) -> None:
        """One that is not over.

        Args:
            within_s: How long it is waited for, in seconds; after that nobody waits any more.
        """
        self.over = asyncio.Event()
        self._within_s = within_s
        self._given_up = False

    async def wait(self) -> None:
        """Returns when it is over, or has taken too long."""
        if self._given_up:
            return
        try:
            async with asyncio.timeout(self._within_s):
                await self.over.wait()
        except TimeoutError:
            self._given_up = True


@runtime_checkable
class Connecting(Protocol):
    """A driver that takes a while to reach its devices, and until then knows nothing of them."""

    first_try: FirstTry


@runtime_checkable
class Listening(Protocol):
    """A driver that buttons can hang on."""

    def listen(self, buttons: Sequence[WiredButton], pressed: Callable[[str, Press], None]) -> None:
        """Is called before `start`. `pressed` gets a button's id and each press."""
        ...


@runtime_checkable
class Showing(Protocol):
    """A driver that can show what Hearth is doing."""

    async def show(self, status: str) -> None:
        """Takes "listening", "thinking" or "failed"; anything else is nothing to show."""
        ...


@runtime_checkable
class Noting(Protocol):
    """A driver of which something is worth knowing, however well it is."""

    def notes(self) -> Mapping[str, str]:
        """One line for a person each, under what it is about."""
        ...


@dataclass(frozen=True)
class FoundGroup:
    """Devices that a bridge moves as one.

    Attributes:
        name: As the bridge calls it.
        members: The ids of its devices.
    """

    name: str
    members: tuple[str, ...]


Found = Callable[[Sequence[Device], Sequence[FoundGroup]], None]
"""Called by a bridge's driver with all devices and groups that it has, whenever they are others than before.

A device of the settings is among them under its own id, with what the bridge tells of it; the name of another is the
bridge's."""


@runtime_checkable
class Bridging(Connecting, Protocol):
    """A driver that finds devices by itself: by the end of its first try those that there are."""

    def follow(self, found: Found) -> None:
        """Is called before the driver hears anything."""
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
        button: The dataclass of a button's table of the driver's name; None where no button can hang on it.
        check_button: Refuses a button's options, with a ValueError that says why.
        wanted: Whether its settings alone are a reason to open it, without a device or a button.
        like: The driver whose table says what its own leaves out, as both are at one broker; such a table is read
            only where it is there, or has devices.
    """

    options: type[Any]
    settings: type[Any] | None
    check: Callable[[Device], None]
    open: Callable[[Sequence[Device], Any, Report], AbstractAsyncContextManager[Driver]]
    check_settings: Callable[[Any], object] = lambda settings: None
    address: Callable[[Device], str | None] = lambda device: None
    button: type[Any] | None = None
    check_button: Callable[[Any], None] = lambda options: None
    wanted: Callable[[Any], bool] = lambda settings: False
    like: str = ""
