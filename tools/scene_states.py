"""Scenes as the settings describe them: each device with how it is to be, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

from agent.config.tables import Table, choice, read_table
from agent.schema import Range
from tools.colors import parse_color
from tools.device import RISKY, Change, Device, Mode
from tools.home import Home
from tools.names.words import name_key


@dataclass(frozen=True)
class SceneState:
    """One of the `states` of a table `[[tools.scene]]`; what is left out stays as it is."""

    device: str
    """The name of a device, or an alias. Locks and garage doors are moved by scripts only, which ask."""

    on: bool | None = None
    """For lamps, switches, plugs, fans and players; a lamp or fan with any other key is turned on."""

    brightness: Annotated[int, Range(0, 100)] | None = None
    """0 to 100 percent; 0 is off."""

    color: str | None = None
    """A colour or a white, such as "red", "warm white" or "2700 K"."""

    effect: str | None = None
    """The name of one of the lamp's effects."""

    speed: Annotated[int, Range(0, 100)] | None = None
    """Of a fan, 0 to 100 percent; 0 is off."""

    position: Annotated[int, Range(0, 100)] | None = None
    """How far open a cover or a window is, 0 to 100 percent."""

    target: float | None = None
    """Of a thermostat or an air conditioner, in degrees Celsius."""

    mode: Mode | None = None
    """One of its modes."""

    play: str | None = None
    """What a player plays."""

    playing: bool | None = None
    """Whether it goes on playing, or pauses."""

    volume: Annotated[int, Range(0, 100)] | None = None
    """How loud it is, 0 to 100 percent."""

    muted: bool | None = None
    """Whether it is muted."""


@dataclass(frozen=True)
class Scene:
    """The table `[[tools.scene]]`."""

    name: str
    """What it is called, and how it is spoken."""

    states: tuple[tuple[Device, Change], ...]
    """What is done, each device once."""

    aliases: tuple[str, ...] = ()
    """What else it is called."""


@dataclass(frozen=True)
class _Names:
    """What a scene is called."""

    name: str
    aliases: tuple[str, ...] = ()


def read_scene(table: Table, home: Home) -> Scene:
    """A scene from its table.

    Raises:
        SettingsError: A key is wrong, or a device is unknown or cannot be so; the text names the scene.
    """
    read = read_table(_Names, table, also=("states",))
    by_key = {name_key(called): device for device in home.devices for called in (device.name, *device.aliases)}
    moves: dict[str, tuple[Device, Change]] = {}
    for state in table.tables("states"):
        wanted = read_table(SceneState, state)
        device = by_key.get(name_key(wanted.device))
        if device is None:
            known = [each.name for each in home.devices]
            raise state.wrong(
                f"there is no device {wanted.device!r}; there are {choice(known, wanted.device)}", "device"
            )
        if device.id in moves:
            raise state.wrong(f'"{device.name}" is in this scene twice', "device")
        try:
            moves[device.id] = (device, _change(device, wanted))
        except ValueError as error:  # also an ArgumentError, of a colour
            raise state.wrong(f'"{device.name}": {error}') from error
    if not moves:
        raise table.wrong("the key 'states' is missing: how each device is to be")
    return Scene(read.name, tuple(moves.values()), read.aliases)


def _change(device: Device, wanted: SceneState) -> Change:
    """What is to be done to a device.

    Raises:
        ValueError: It cannot be so; the text follows its name.
    """
    if device.kind in RISKY:
        kind = device.kind.value.replace("_", " ")
        raise ValueError(f"a scene cannot move a {kind}; a script can, and asks")
    given = {each.name: getattr(wanted, each.name) for each in fields(wanted) if each.name != "device"}
    given = {key: value for key, value in given.items() if value is not None}
    possible = [each.name for each in fields(wanted) if each.name != "device" and _has(device, each.name)]
    for key in given:
        if key not in possible:
            there = f"it has {', '.join(possible)}" if possible else "a scene cannot move it"
            raise ValueError(f"it has no {key}; {there}")
    if not given:
        raise ValueError(f"it was not said how it is to be; it has {', '.join(possible) or 'nothing'}")
    return Change(**_fields(device, given))


def _has(device: Device, key: str) -> bool:
    """Whether a scene may say this of a device."""
    if not device.moves:
        return False
    told_as = {"color": ("rgb", "kelvin"), "position": ("open",), "play": ("playing",)}
    return any(name in device.tells for name in told_as.get(key, (key,)))


def _fields(device: Device, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a change: off and 0 are one thing, and so are open and 100 percent."""
    change = dict(given)
    level = change.get("brightness", change.get("speed"))
    if level == 0:
        if change.get("on"):
            raise ValueError("on is true, and 0 percent is off")
        change = {key: value for key, value in change.items() if key not in ("brightness", "speed")} | {"on": False}
    if change.get("on") is False and len(change) > 1:
        other = next(key for key in change if key != "on")
        raise ValueError(f"it is off, and has a {other}")
    if "on" in device.tells and set(change) & {"brightness", "color", "effect", "speed"}:
        change["on"] = True
    if "color" in change:
        shade = parse_color(change.pop("color"))
        shown = shade.on(device)
        if "rgb" in shown and "color" not in device.can:
            raise ValueError(f"it cannot show {shade.name}")
        change |= shown
    if "effect" in change and change["effect"] not in device.effects:
        raise ValueError(f"it has no effect {change['effect']!r}; there are {', '.join(device.effects)}")
    if change.get("position") in (0, 100):
        change["open"] = change.pop("position") == 100
    elif "position" in change and "position" not in device.can:
        raise ValueError(f"position is {change['position']}; it can be 0 or 100 only")
    if "target" in change and not device.min_temperature <= change["target"] <= device.max_temperature:
        allowed = f"{device.min_temperature:g} to {device.max_temperature:g}"
        raise ValueError(f"target is {change['target']:g}; allowed is {allowed}")
    if change.get("mode") is not None and change["mode"] not in device.modes:
        raise ValueError(f"it has no mode {change['mode']!r}; there are {', '.join(device.modes)}")
    return change
