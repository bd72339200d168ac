"""What a driver is: it moves devices and tells their states, in percent, kelvin and yes or no.

Every unit of a wire (254 steps, mireds, "ON") stays inside the driver that speaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, Protocol

from agent.errors import HearthError

RGB = tuple[int, int, int]
"""Red, green and blue, each 0 to 255."""

Ability = Literal["brightness", "color", "white"]
"""What a lamp can do besides on and off; "white" is a white of a chosen warmth."""


class Kind(str, Enum):
    """What a device is."""

    LIGHT = "light"
    SWITCH = "switch"
    PLUG = "plug"
    FAN = "fan"
    DOOR = "door"
    WINDOW = "window"
    GARAGE_DOOR = "garage_door"


LIGHTS = frozenset({Kind.LIGHT})
SWITCHES = frozenset({Kind.SWITCH, Kind.PLUG, Kind.FAN})
DOORS = frozenset({Kind.DOOR, Kind.WINDOW, Kind.GARAGE_DOOR})
ON_OFF = LIGHTS | SWITCHES
ANY = frozenset(Kind)
MOVABLE = ON_OFF | {Kind.GARAGE_DOOR}
"""The others only tell whether they are open."""


@dataclass(frozen=True)
class Device:
    """A thing in the home. Its name is unique after folding, its id in every case.

    Attributes:
        id: One segment of a topic; stays when the name changes.
        name: As the owner wrote it, and as it is spoken.
        kind: What it is.
        room: The stored name of its room, if it has one.
        aliases: What else it is called.
        can: What a lamp can do besides on and off.
        min_kelvin: The warmest white of a lamp that has whites.
        max_kelvin: Its coolest white.
        driver: The name of the driver that moves it.
        options: What that driver needs to know, in the driver's own type.
    """

    id: str
    name: str
    kind: Kind
    room: str | None = None
    aliases: tuple[str, ...] = ()
    can: tuple[Ability, ...] = ()
    min_kelvin: int = 2200
    max_kelvin: int = 6500
    driver: str = "memory"
    options: Any = None


@dataclass(frozen=True)
class State:
    """How a device is, as it told itself. None is not known.

    Attributes:
        on: For lamps and switches.
        brightness: 1 to 100 percent; kept while the lamp is off.
        rgb: The colour, where one was set last.
        kelvin: The white, where one was set last.
        open: For doors and windows; for one that moves, where it is going.
        moving: A door on its way.
        available: False when the device or the way to it is known to be gone.
    """

    on: bool | None = None
    brightness: int | None = None
    rgb: RGB | None = None
    kelvin: int | None = None
    open: bool | None = None
    moving: bool = False
    available: bool = True

    @property
    def word(self) -> str:
        """One of on, off, open, closed, opening, closing, unknown."""
        if not self.available:
            return "unknown"
        if self.open is not None:
            words = ("closing", "opening") if self.moving else ("closed", "open")
            return words[self.open]
        return "unknown" if self.on is None else ("off", "on")[self.on]


@dataclass(frozen=True)
class Change:
    """What to do to a device; None leaves it as it is.

    Attributes:
        on: Off is always a change of its own, never a brightness of 0.
        brightness: 1 to 100 percent.
        rgb: A colour.
        kelvin: A white, within the lamp's limits.
        open: For a door.
    """

    on: bool | None = None
    brightness: int | None = None
    rgb: RGB | None = None
    kelvin: int | None = None
    open: bool | None = None

    def applied_to(self, state: State) -> State:
        """The state of a device that did as it was told."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        if self.rgb is not None:
            given["kelvin"] = None
        elif self.kelvin is not None:
            given["rgb"] = None
        return replace(state, **given)


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


@dataclass(frozen=True)
class DriverType:
    """A driver as the settings name it.

    Attributes:
        options: The dataclass of a device's table of the driver's name.
        settings: The dataclass of the house's table of the driver's name; None where it has none.
        check: Refuses a device that the driver cannot move, with a ValueError that says why.
        open: Opens the driver with its devices, its settings (None without a table) and where to report.
    """

    options: type[Any]
    settings: type[Any] | None
    check: Callable[[Device], None]
    open: Callable[[Sequence[Device], Any, Report], AbstractAsyncContextManager[Driver]]
