"""What the home is: floors, rooms, devices and groups, read once from the settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import SettingsError
from tools.drivers import CLIMATE, COVERS, LIGHTS, SENSORS, Ability, Device, DriverType, Kind, Mode
from tools.drivers.memory import MEMORY
from tools.drivers.mqtt import MQTT
from tools.settings import read_table, read_tables
from tools.words import fold, name_key

DRIVERS: dict[str, DriverType] = {"memory": MEMORY, "mqtt": MQTT}
"""The drivers by the name that the settings give them."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Floor:
    """The table `[[tools.floor]]`."""

    name: str
    """What it is called, and how it is spoken."""

    aliases: tuple[str, ...] = ()
    """What else it is called, such as "downstairs"."""


@dataclass(frozen=True)
class Room:
    """The table `[[tools.room]]`."""

    name: str
    """What it is called, and how it is spoken."""

    floor: str | None = None
    """The floor that it is on."""

    aliases: tuple[str, ...] = ()
    """What else it is called."""


@dataclass(frozen=True)
class Group:
    """The table `[[tools.group]]`: things that are spoken of as one."""

    name: str
    """What it is called, and how it is spoken."""

    members: tuple[str, ...]
    """Names of devices, rooms and floors."""

    aliases: tuple[str, ...] = ()
    """What else it is called."""


@dataclass(frozen=True)
class Home:
    """A home whose names are all known and all different.

    Attributes:
        floors: In the order of the settings, as are the others.
        rooms: Their `floor` is the floor's stored name.
        groups: Their `members` are stored names.
        devices: Their `room` is the room's stored name.
    """

    floors: tuple[Floor, ...] = ()
    rooms: tuple[Room, ...] = ()
    groups: tuple[Group, ...] = ()
    devices: tuple[Device, ...] = ()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Home:
        """Reads the arrays of tables `floor`, `room`, `device` and `group` of the house's table.

        Raises:
            SettingsError: A key, a type or a name is wrong; the text names the place and what is allowed.
        """
        floors = tuple(read_table(Floor, table, _where("floor", table)) for table in _tables(settings, "floor"))
        rooms = tuple(read_table(Room, table, _where("room", table)) for table in _tables(settings, "room"))
        devices = tuple(_device(table) for table in _tables(settings, "device"))
        groups = tuple(read_table(Group, table, _where("group", table)) for table in _tables(settings, "group"))
        floor_names = _unique("floor", floors)
        room_names = _unique("room", rooms)
        areas = _apart(floor_names, room_names)
        device_names = _unique("device", devices)
        _apart(device_names, _unique("group", groups))
        _unique_ids(devices)
        return cls(
            floors,
            tuple(_at(room, "room", "floor", floor_names) for room in rooms),
            tuple(_with_members(group, device_names, areas) for group in groups),
            tuple(_at(device, "device", "room", room_names) for device in devices),
        )


def _tables(settings: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return read_tables(settings.get(key, []), f"tools.{key}")


def _where(kind: str, table: Mapping[str, Any]) -> str:
    name = table.get("name")
    return f'[[tools.{kind}]] "{name}"' if isinstance(name, str) else f"a [[tools.{kind}]] without a name"


def _device(table: Mapping[str, Any]) -> Device:
    """A device; the table that is named for a driver says that it is that driver's."""
    where = _where("device", table)
    named = [name for name in DRIVERS if name in table]
    if len(named) > 1:
        raise SettingsError(f"{where} has tables for {' and '.join(named)}; one driver moves a device")
    driver = named[0] if named else "memory"
    common = {key: value for key, value in table.items() if key != driver}
    if "name" in common and "id" not in common:
        common["id"] = "_".join(re.findall(r"[a-z0-9]+", " ".join(fold(str(common["name"])))))
        if not common["id"]:
            raise SettingsError(f'{where} needs the key "id", as its name has no letters from a to z')
    for kind, (_, usual) in _ABILITIES.items():
        if common.get("kind") == kind.value:
            common.setdefault("can", list(usual))
    for kind, modes in _MODES.items():
        if common.get("kind") == kind.value:
            common.setdefault("modes", list(modes))
    try:
        device = read_table(Device, common, where, hidden=("driver", "options"))
    except SettingsError as error:
        if " has no key " in str(error):
            raise SettingsError(f"{error}; and one table of a driver: {', '.join(DRIVERS)}") from None
        raise
    if not _ID.fullmatch(device.id):
        raise SettingsError(f'{where}: id is {device.id!r}; allowed are 1 to 64 letters, digits, "_" and "-"')
    _check_abilities(device, where)
    if not 1000 <= device.min_kelvin < device.max_kelvin <= 10000:
        raise SettingsError(f"{where}: min_kelvin and max_kelvin must rise, within 1000 to 10000")
    options = read_table(DRIVERS[driver].options, table.get(driver, {}), f"{where}: {driver}")
    device = replace(device, driver=driver, options=options)
    try:
        DRIVERS[driver].check(device)
    except ValueError as error:
        raise SettingsError(f"{where}: {driver}: {error}") from error
    return device


_ABILITIES: dict[Kind, tuple[tuple[Ability, ...], tuple[Ability, ...]]] = {
    Kind.LIGHT: (("brightness", "color", "white"), ("brightness",)),
    Kind.FAN: (("speed",), ()),
    Kind.WINDOW: (("open", "position"), ()),
    Kind.DOOR: (("open", "position"), ()),
    Kind.GARAGE_DOOR: (("position",), ()),
    **dict.fromkeys(sorted(COVERS), (("position",), ("position",))),
}
"""What a kind of device may be able to do, and what it can when nothing is said."""

_MODES: dict[Kind, tuple[Mode, ...]] = {
    Kind.THERMOSTAT: ("off", "heat"),
    Kind.AIR_CONDITIONER: ("off", "cool", "heat", "dry", "fan", "auto"),
}
"""The modes of a device when nothing is said."""


def _check_abilities(device: Device, where: str) -> None:
    possible = _ABILITIES.get(device.kind, ((), ()))[0]
    kind = device.kind.value.replace("_", " ")
    for ability in device.can:
        if ability not in possible:
            allowed = ", ".join(possible) or "nothing"
            raise SettingsError(f"{where}: can has {ability!r}; for a {kind} allowed is {allowed}")
    only = {"effects": LIGHTS, "modes": CLIMATE, "measures": SENSORS, "unit": frozenset({Kind.SENSOR})}
    for key, kinds in only.items():
        if getattr(device, key) and device.kind not in kinds:
            raise SettingsError(f"{where}: {key} is not for a {kind}")
    if device.kind in SENSORS and device.measures is None:
        raise SettingsError(f'{where} needs the key "measures", such as "temperature" or "motion"')
    if not -30 <= device.min_temperature < device.max_temperature <= 90:
        raise SettingsError(f"{where}: min_temperature and max_temperature must rise, within -30 to 90")


def _unique(kind: str, named: Iterable[Floor | Room | Group | Device]) -> dict[str, str]:
    """The stored names by the folded name and by each folded alias."""
    names: dict[str, str] = {}
    for each in named:
        for key, name in {name_key(name): name for name in (each.name, *each.aliases)}.items():
            if not key:
                raise SettingsError(f'[[tools.{kind}]] "{each.name}": {name!r} has no letters or digits')
            if key in names:
                raise SettingsError(
                    f'two {kind}s are called "{name}" when case, accents and spaces do not count: '
                    f'"{names[key]}" and "{each.name}"; give one another name'
                )
            names[key] = each.name
    return names


def _apart(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Both, if no name is in both."""
    for key in first.keys() & second.keys():
        raise SettingsError(f'"{first[key]}" and "{second[key]}" have the same name; give one another name')
    return {**first, **second}


def _unique_ids(devices: Iterable[Device]) -> None:
    names: dict[str, str] = {}
    for device in devices:
        if device.id in names:
            both = f'"{names[device.id]}" and "{device.name}"'
            raise SettingsError(f"two devices have the id {device.id!r}: {both}; give one another id")
        names[device.id] = device.name


def _at(each: Any, kind: str, key: str, names: Mapping[str, str]) -> Any:
    """The room or device with the stored name of where it is."""
    given = getattr(each, key)
    if given is None:
        return each
    stored = names.get(name_key(given))
    if stored is None:
        known = ", ".join(dict.fromkeys(names.values())) or "none"
        raise SettingsError(f'[[tools.{kind}]] "{each.name}": there is no {key} {given!r}; there are: {known}')
    return replace(each, **{key: stored})


def _with_members(group: Group, devices: Mapping[str, str], areas: Mapping[str, str]) -> Group:
    members = []
    for member in group.members:
        key = name_key(member)
        stored = devices.get(key) or areas.get(key)
        if stored is None:
            raise SettingsError(f'[[tools.group]] "{group.name}": there is no device, room or floor {member!r}')
        members.append(stored)
    return replace(group, members=tuple(members))
