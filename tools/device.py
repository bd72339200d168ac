"""What a device is, how it is, and what can be done to it: in percent, kelvin, degrees Celsius and yes or no."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

RGB = tuple[int, int, int]
"""Red, green and blue, each 0 to 255."""

Ability = Literal["brightness", "color", "white", "speed", "position", "open"]
"""What a device can do besides on and off, open and closed; "white" is a white of a chosen warmth, "open" is a
window with a motor; a door with one is a garage door, which is asked about."""

Mode = Literal["off", "on", "heat", "cool", "auto", "dry", "fan", "eco"]
"""What a thermostat or an air conditioner does; "on" stands for whichever of its modes it had last."""

Activity = Literal["working", "returning", "docked", "stopped", "stuck"]
"""What a robot does."""


class Kind(str, Enum):
    """What a device is."""

    LIGHT = "light"
    SWITCH = "switch"
    PLUG = "plug"
    FAN = "fan"
    DOOR = "door"
    WINDOW = "window"
    GARAGE_DOOR = "garage_door"
    BLIND = "blind"
    CURTAIN = "curtain"
    SHUTTER = "shutter"
    AWNING = "awning"
    LOCK = "lock"
    THERMOSTAT = "thermostat"
    AIR_CONDITIONER = "air_conditioner"
    TELEVISION = "television"
    SPEAKER = "speaker"
    VACUUM = "vacuum"
    MOWER = "mower"
    SENSOR = "sensor"
    DETECTOR = "detector"


LIGHTS = frozenset({Kind.LIGHT})
FANS = frozenset({Kind.FAN})
SWITCHES = frozenset({Kind.SWITCH, Kind.PLUG, Kind.FAN})
COVERS = frozenset({Kind.BLIND, Kind.CURTAIN, Kind.SHUTTER, Kind.AWNING})
DOORS = frozenset({Kind.DOOR, Kind.WINDOW, Kind.GARAGE_DOOR})
LOCKS = frozenset({Kind.LOCK})
CLIMATE = frozenset({Kind.THERMOSTAT, Kind.AIR_CONDITIONER})
PLAYERS = frozenset({Kind.TELEVISION, Kind.SPEAKER})
ROBOTS = frozenset({Kind.VACUUM, Kind.MOWER})
SENSORS = frozenset({Kind.SENSOR, Kind.DETECTOR})
ON_OFF = LIGHTS | SWITCHES | PLAYERS
OPENING = COVERS | DOORS
ANY = frozenset(Kind)
RISKY = frozenset({Kind.LOCK, Kind.GARAGE_DOOR})
"""A misheard name never reaches these, and a person is asked before they move."""

ABILITIES: dict[Kind, tuple[tuple[Ability, ...], tuple[Ability, ...]]] = {
    Kind.LIGHT: (("brightness", "color", "white"), ("brightness",)),
    Kind.FAN: (("speed",), ()),
    Kind.WINDOW: (("open", "position"), ()),
    Kind.GARAGE_DOOR: (("position",), ()),
    **dict.fromkeys(sorted(COVERS), (("position",), ("position",))),
}
"""What a kind of device may be able to do, and what it can when nothing is said."""


@dataclass(frozen=True)
class Device:
    """A thing in the home. Its name is unique after folding, its id in every case.

    Attributes:
        id: One segment of a topic; stays when the name changes.
        name: As the owner wrote it, and as it is spoken.
        kind: What it is.
        room: The stored name of its room, if it has one.
        aliases: What else it is called.
        can: What it can do besides on and off, open and closed.
        min_kelvin: The warmest white of a lamp that has whites.
        max_kelvin: Its coolest white.
        effects: The names of a lamp's effects.
        min_temperature: The lowest target of a thermostat or air conditioner, in degrees Celsius.
        max_temperature: Its highest target.
        modes: What a thermostat or air conditioner can do.
        measures: What a sensor measures ("temperature", "humidity", "power") or a detector detects ("motion").
        unit: That of what a sensor measures, as it is spoken: "percent", "watts"; of a temperature "celsius",
            "fahrenheit" or "kelvin".
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
    effects: tuple[str, ...] = ()
    min_temperature: float = 5.0
    max_temperature: float = 30.0
    modes: tuple[Mode, ...] = ()
    measures: str | None = None
    unit: str | None = None
    driver: str = "memory"
    options: Any = None

    @property
    def moves(self) -> bool:
        """Whether it can be told anything; the others only tell."""
        if self.kind is Kind.WINDOW:
            return "open" in self.can
        return self.kind not in SENSORS | {Kind.DOOR}

    def nearest_white(self, kelvin: int) -> int:
        """The white of a lamp's range that is nearest to one, in kelvin."""
        return min(self.max_kelvin, max(self.min_kelvin, kelvin))

    @property
    def tells(self) -> frozenset[str]:
        """The fields of a state that it can have; what a device cannot do is never kept of it."""
        own = [name for kinds, names in _TOLD if self.kind in kinds for name in names]
        own += [_TOLD_BY.get(ability, ability) for ability in self.can]
        return frozenset([*own, "effect"] if self.effects else own)


_TOLD_BY = {"color": "rgb", "white": "kelvin"}
"""The field that comes with an ability, where it is called otherwise."""

_TOLD: tuple[tuple[frozenset[Kind], tuple[str, ...]], ...] = (
    (ON_OFF, ("on",)),
    (OPENING | LOCKS, ("open", "moving")),
    (LOCKS, ("locked",)),
    (CLIMATE, ("temperature", "humidity", "target", "mode")),
    (PLAYERS, ("playing", "title", "volume", "muted")),
    (ROBOTS, ("activity",)),
    (frozenset({Kind.SENSOR}), ("value",)),
    (frozenset({Kind.DETECTOR}), ("detected",)),
)
"""The fields of a state that all devices of these kinds have."""


@dataclass(frozen=True)
class State:
    """How a device is, as it told itself. None is not known.

    Attributes:
        on: For lamps, switches, fans, players.
        brightness: 1 to 100 percent; kept while the lamp is off.
        rgb: The colour, where one was set last.
        kelvin: The white, where one was set last.
        effect: A lamp's effect; "" is none.
        speed: Of a fan, 1 to 100 percent; kept while it is off.
        open: For doors, windows, covers, and a lock that knows of its door; for one that moves, where it is going.
        position: How far a cover or garage door is open, 0 (closed) to 100 percent.
        moving: A door, a cover or a lock on its way.
        locked: For locks.
        temperature: Measured by a thermostat or air conditioner, in degrees Celsius.
        humidity: Measured by one, in percent.
        target: The temperature that it is to reach, in degrees Celsius.
        mode: What it does.
        playing: For players: True plays, False pauses.
        title: What is played.
        volume: 0 to 100 percent.
        muted: For players.
        activity: For robots.
        value: What a sensor measured, in the device's own unit.
        detected: For detectors.
        available: False when the device or the way to it is known to be gone.
        old: True when a broker had kept this of a device that does not tell whether it is there.
    """

    on: bool | None = None
    brightness: int | None = None
    rgb: RGB | None = None
    kelvin: int | None = None
    effect: str | None = None
    speed: int | None = None
    open: bool | None = None
    position: int | None = None
    moving: bool = False
    locked: bool | None = None
    temperature: float | None = None
    humidity: float | None = None
    target: float | None = None
    mode: Mode | None = None
    playing: bool | None = None
    title: str | None = None
    volume: int | None = None
    muted: bool | None = None
    activity: Activity | None = None
    value: float | None = None
    detected: bool | None = None
    available: bool = True
    old: bool = False

    @property
    def word(self) -> str:
        """How it is in one word.

        One of on, off, open, closed, opening, closing, locked, unlocked, locking, unlocking, playing, paused,
        detected, clear, a `Mode`, an `Activity`, known (a sensor that has measured) or unknown.
        """
        if not self.available:
            return "unknown"
        if self.locked is not None:
            return (("unlocking", "locking") if self.moving else ("unlocked", "locked"))[self.locked]
        if self.open is not None:
            return (("closing", "opening") if self.moving else ("closed", "open"))[self.open]
        if self.playing is not None and self.on is not False:
            return ("paused", "playing")[self.playing]
        if self.on is not None:
            return ("off", "on")[self.on]
        if self.detected is not None:
            return ("clear", "detected")[self.detected]
        known = "unknown" if self.value is None else "known"
        return self.mode or self.activity or known


@dataclass(frozen=True)
class Change:
    """What to do to a device; None leaves it as it is.

    Attributes:
        on: Off is always a change of its own, never a brightness or a speed of 0.
        brightness: 1 to 100 percent.
        rgb: A colour.
        kelvin: A white, within the lamp's limits.
        effect: The name of one of the lamp's effects; "" ends it.
        speed: Of a fan, 1 to 100 percent.
        open: For a door or a cover.
        position: How far open, 1 to 99 percent; the ends are `open`.
        stop: Stops a door or a cover where it is.
        locked: For a lock.
        target: Degrees Celsius, within the device's limits.
        mode: One of the device's modes.
        playing: Goes on playing, or pauses.
        play: What to look for and to play.
        skip: 1 is the next track, -1 the one before.
        volume: 0 to 100 percent.
        muted: For a player.
        activity: "working", "returning" or "stopped".
        area: For a robot that is to work: the stored name of a room, or what a garden's area is called.
    """

    on: bool | None = None
    brightness: int | None = None
    rgb: RGB | None = None
    kelvin: int | None = None
    effect: str | None = None
    speed: int | None = None
    open: bool | None = None
    position: int | None = None
    stop: bool | None = None
    locked: bool | None = None
    target: float | None = None
    mode: Mode | None = None
    playing: bool | None = None
    play: str | None = None
    skip: Literal[1, -1] | None = None
    volume: int | None = None
    muted: bool | None = None
    activity: Activity | None = None
    area: str | None = None

    def applied_to(self, state: State) -> State:
        """The state of a device that did as it was told."""
        wishes = ("stop", "play", "skip", "area")
        given = {name: value for name, value in vars(self).items() if value is not None and name not in wishes}
        if self.rgb is not None:
            given["kelvin"] = None
        elif self.kelvin is not None:
            given["rgb"] = None
        if self.position is not None:
            given["open"] = self.position > 0
        elif self.open is not None and state.position is not None:
            given["position"] = 100 if self.open else 0
        if self.play is not None:
            given |= {"playing": True, "title": self.play}
        if given.get("playing") and state.on is not None:
            given["on"] = True
        return replace(state, **given)
