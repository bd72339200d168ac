"""What a bridge has, as devices of the house: by themselves, or as a table of the settings has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tools.device import ABILITIES, CLIMATE, COVERS, LOCKS, SENSORS, Device, Kind
from tools.names.words import fold


@dataclass(frozen=True)
class BridgedOptions:
    """A device's table that is named for a bridge: which of the bridge's devices it is."""

    device: str
    """Its name at the bridge, or its address there, which stays when it is renamed."""

    part: str | None = None
    """Which one of several that it has: "left", "l1", "2"; without it the first that is of the device's kind."""


@dataclass(frozen=True)
class Part:
    """One of the things that a bridge's device is: a lamp, one of two relays, the thermometer in a plug.

    Attributes:
        device: It as it is in the house by itself; its name is that of the whole.
        called: What is said behind that name; "" for what the whole is there for.
        name: What the settings call it among its like: "left"; "" where there is no need to.
    """

    device: Device
    called: str = ""
    name: str = ""


_ALIKE: tuple[frozenset[Kind], ...] = (
    frozenset({Kind.LIGHT, Kind.SWITCH, Kind.PLUG, Kind.FAN}),
    COVERS | {Kind.GARAGE_DOOR},
    frozenset({Kind.DOOR, Kind.WINDOW}),
    CLIMATE,
    LOCKS,
    frozenset({Kind.SENSOR}),
    frozenset({Kind.DETECTOR}),
)
"""Kinds that may stand for one another: what hangs at a relay, only its owner knows."""

BRIDGED = frozenset().union(*_ALIKE)
"""The kinds of what a bridge may have."""


def check(device: Device) -> None:
    """Refuses a table that is not for this device.

    Raises:
        ValueError: A bridge has no device of its kind.
    """
    if device.kind not in BRIDGED:
        raise ValueError(f"a bridge has no {device.kind.value.replace('_', ' ')}; use the table mqtt")


def merged(parts: Sequence[Part], names: Sequence[str], declared: Sequence[Device]) -> list[Device]:
    """One device of a bridge as devices of the house.

    Args:
        parts: All that it is.
        names: What the settings may call it: its name and its address.
        declared: The devices of the settings that are at this bridge.

    Returns:
        A device for each part: with name, room, kind and id of the settings where they have it; the others are in
        the same room.
    """
    wanted = [device for device in declared if device.options.device in names]
    mine: dict[int, Device] = {}
    for device in wanted:
        index = next((i for i, part in enumerate(parts) if i not in mine and _is(device, part)), None)
        if index is not None:
            mine[index] = device
    # What is declared of the whole is what the rest is called after.
    whole = next((device for index, device in mine.items() if not parts[index].called), None)
    room = next((device.room for device in mine.values() if device.room), None)
    devices = []
    for index, part in enumerate(parts):
        if index in mine:
            devices.append(_as_declared(mine[index], part.device))
        else:
            base = part.device.name if whole is None else whole.name
            devices.append(replace(part.device, name=f"{base} {part.called}".strip(), room=room))
    return devices


def _is(declared: Device, part: Part) -> bool:
    wanted = declared.options.part
    if wanted is not None and wanted.casefold() != part.name.casefold():
        return False
    if declared.kind in SENSORS:
        return declared.kind is part.device.kind and declared.measures == part.device.measures
    return any({declared.kind, part.device.kind} <= alike for alike in _ALIKE)


def _as_declared(declared: Device, found: Device) -> Device:
    """What the bridge tells of it, under the name that the settings give."""
    possible = ABILITIES.get(declared.kind, ((), ()))[0]
    return replace(
        found,
        id=declared.id,
        name=declared.name,
        kind=declared.kind,
        room=declared.room,
        aliases=declared.aliases,
        can=tuple(ability for ability in found.can if ability in possible),
        unit=declared.unit or found.unit,
    )


_COVERS = {
    "curtain": Kind.CURTAIN, "curtains": Kind.CURTAIN, "drapes": Kind.CURTAIN, "drape": Kind.CURTAIN,
    "blind": Kind.BLIND, "blinds": Kind.BLIND, "shade": Kind.BLIND, "shades": Kind.BLIND,
    "awning": Kind.AWNING, "sunshade": Kind.AWNING,
}  # fmt: skip
_SHUTTERS = {"shutter", "shutters", "roller"}
_GARAGE = {"garage", "gate", "carport"}
_PLUGS = {"plug", "plugs", "socket", "outlet"}
_WINDOWS = {"window", "windows", "skylight"}


def cover_kind(name: str, description: str, usual: Kind) -> Kind:
    """What a motor moves, by its name, else by what its maker calls it; the gate of a garage is asked about first."""
    for words in (fold(name), fold(description)):
        for word in words:
            if word in _COVERS:
                return _COVERS[word]
        if _GARAGE & set(words):
            return Kind.GARAGE_DOOR
        if _SHUTTERS & set(words):
            return Kind.SHUTTER
    return usual


def contact_kind(name: str) -> Kind:
    """What a contact is at: a window where its name says so, else a door, as Home Assistant has it."""
    return Kind.WINDOW if _WINDOWS & set(fold(name)) else Kind.DOOR


def relay_kind(name: str, description: str = "") -> Kind:
    """What a relay is: a plug where its name or its maker says so, else a switch."""
    return Kind.PLUG if _PLUGS & set(fold(f"{name} {description}")) else Kind.SWITCH


def unit_spoken(unit: Any) -> str | None:
    """A unit as the house has it: "celsius", "percent"; one that is not known stays as it is."""
    return _UNITS.get(unit, unit) if isinstance(unit, str) and unit.strip() else None


_UNITS = {
    "°C": "celsius", "C": "celsius", "°F": "fahrenheit", "F": "fahrenheit", "K": "kelvin", "%": "percent",
    "W": "watts", "kWh": "kilowatt hours", "lx": "lux", "hPa": "hectopascals", "mmHg": "millimetres of mercury",
    "ppm": "parts per million", "ppb": "parts per billion", "µg/m³": "micrograms per cubic metre",
}  # fmt: skip
