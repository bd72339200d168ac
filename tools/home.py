"""What the home is: floors, rooms, devices and groups, read once from the settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.config.tables import Key, Table, choice, read_table
from tools.device import ABILITIES, CLIMATE, LIGHTS, RISKY, SENSORS, Device, Kind, Mode
from tools.drivers import DriverType
from tools.drivers.gpio import GPIO
from tools.drivers.memory import MEMORY
from tools.drivers.mqtt import MQTT
from tools.drivers.serial import SERIAL
from tools.drivers.tasmota import TASMOTA
from tools.drivers.zigbee2mqtt import ZIGBEE2MQTT
from tools.names.phrases import names_nothing
from tools.names.words import fold, name_key

DRIVERS: dict[str, DriverType] = {
    "memory": MEMORY,
    "mqtt": MQTT,
    "zigbee2mqtt": ZIGBEE2MQTT,
    "tasmota": TASMOTA,
    "serial": SERIAL,
    "gpio": GPIO,
}
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
        house = Table.of(settings, "tools")
        tables = {kind: house.tables(kind) for kind in ("floor", "room", "device", "group")}
        floors = tuple(read_table(Floor, table) for table in tables["floor"])
        rooms = tuple(read_table(Room, table) for table in tables["room"])
        devices = tuple(map(_device, tables["device"]))
        groups = tuple(read_table(Group, table) for table in tables["group"])
        floor_names = _names(tables["floor"], floors, {})
        room_names = _names(tables["room"], rooms, floor_names)
        device_names = _names(tables["device"], devices, {})
        _names(tables["group"], groups, {**floor_names, **room_names, **device_names})
        _check_ids(tables["device"], devices)
        _check_addresses(tables["device"], devices)
        members = {**floor_names, **room_names, **device_names}  # a device may be called like a room, and goes first
        return cls(
            floors,
            tuple(
                _placed(table, room, "floor", floor_names) for table, room in zip(tables["room"], rooms, strict=True)
            ),
            tuple(_with_members(table, group, members) for table, group in zip(tables["group"], groups, strict=True)),
            tuple(
                _placed(table, device, "room", room_names)
                for table, device in zip(tables["device"], devices, strict=True)
            ),
        )


def _device(table: Table) -> Device:
    """A device; the table that is named for a driver says that it is that driver's."""
    named = [name for name in DRIVERS if name in table]
    if len(named) > 1:
        raise table.wrong(f"it has tables for {' and '.join(named)}; one driver moves a device", named[1])
    driver = named[0] if named else "memory"
    completed = Table({**_usual(table), **table}, table.at, table.folder, table.where)
    device = read_table(Device, completed, hidden=("driver", "options"), also=tuple(DRIVERS))
    if not _ID.fullmatch(device.id):
        raise table.wrong(f'id is {device.id!r}; allowed are 1 to 64 letters, digits, "_" and "-"', "id")
    _check_abilities(device, table)
    options = table.table(driver)
    device = replace(device, driver=driver, options=read_table(DRIVERS[driver].options, options))
    try:
        DRIVERS[driver].check(device)
    except ValueError as error:
        raise options.wrong(str(error)) from error
    return device


def _usual(table: Table) -> dict[str, Any]:
    """What holds for a device of this name and kind where its table says nothing."""
    usual: dict[str, Any] = {}
    name = table.get("name")
    if isinstance(name, str) and "id" not in table:
        usual["id"] = "_".join(re.findall(r"[a-z0-9]+", " ".join(fold(name))))
        if not usual["id"]:
            raise table.wrong('it needs the key "id", as its name has no letters from a to z', "name")
    for kind, (_, abilities) in ABILITIES.items():
        if table.get("kind") == kind.value:
            usual["can"] = list(abilities)
    for kind, modes in _MODES.items():
        if table.get("kind") == kind.value:
            usual["modes"] = list(modes)
    return usual


_MODES: dict[Kind, tuple[Mode, ...]] = {
    Kind.THERMOSTAT: ("off", "heat"),
    Kind.AIR_CONDITIONER: ("off", "cool", "heat", "dry", "fan", "auto"),
}
"""The modes of a device when nothing is said."""


def _check_abilities(device: Device, table: Table) -> None:
    possible = ABILITIES.get(device.kind, ((), ()))[0]
    kind = device.kind.value.replace("_", " ")
    if device.kind is Kind.DOOR and device.can:
        raise table.wrong("a door with a motor is of the kind garage_door, and is asked about before it moves", "can")
    for index, ability in enumerate(device.can):
        if ability not in possible:
            allowed = ", ".join(possible) or "nothing"
            raise table.wrong(f"can has {ability!r}; for a {kind} allowed is {allowed}", "can", index)
    only = {"effects": LIGHTS, "modes": CLIMATE, "measures": SENSORS, "unit": frozenset({Kind.SENSOR})}
    for key, kinds in only.items():
        if getattr(device, key) and device.kind not in kinds:
            raise table.wrong(f"{key} is not for a {kind}", key)
    if device.kind in SENSORS and device.measures is None:
        raise table.wrong('it needs the key "measures", such as "temperature" or "motion"')
    for (low, high), (lowest, highest) in _LIMITS.items():
        if not lowest <= getattr(device, low) < getattr(device, high) <= highest:
            key = low if low in table else high
            raise table.wrong(f"{low} and {high} must rise, within {lowest} to {highest}", key)


_LIMITS = {("min_kelvin", "max_kelvin"): (1000, 10000), ("min_temperature", "max_temperature"): (-30, 90)}
"""Keys that are the two ends of what a device can do, and what is possible at all."""


def _names(
    tables: Iterable[Table], named: Iterable[Floor | Room | Group | Device], others: Mapping[str, str]
) -> dict[str, str]:
    """The stored names of things of a kind, by the folded name and by each folded alias.

    Raises:
        SettingsError: Two of them have the same name, or one has a name of the others.
    """
    names: dict[str, str] = {}
    for table, each in zip(tables, named, strict=True):
        own: dict[str, str] = {}
        for number, name in enumerate((each.name, *each.aliases)):
            key = name_key(name)
            at: tuple[Key, ...] = ("aliases", number - 1) if number else ("name",)
            if not key:
                raise table.wrong(f"{name!r} has no letters or digits", *at)
            if names_nothing(fold(name)):
                raise table.wrong(f'"{name}" is said of other things, as "all" and "it" are; give another name', *at)
            if first := names.get(key) or others.get(key):
                raise table.wrong(
                    f'"{first}" has the name "{name}" already, as case, accents and spaces do not count; '
                    "give one another name",
                    *at,
                )
            own[key] = each.name  # a name may be given twice to one thing
        names |= own
    return names


def _check_ids(tables: Iterable[Table], devices: Iterable[Device]) -> None:
    names: dict[str, str] = {}
    for table, device in zip(tables, devices, strict=True):
        if device.id in names:
            key = "id" if "id" in table else "name"
            raise table.wrong(f'"{names[device.id]}" has the id {device.id!r} already; give one another id', key)
        names[device.id] = device.name


def _check_addresses(tables: Iterable[Table], devices: Iterable[Device]) -> None:
    """What is asked about before it moves is told so where nothing else is: turning on a switch unlocks no door."""
    told: dict[tuple[str, str], Device] = {}
    for table, device in zip(tables, devices, strict=True):
        address = DRIVERS[device.driver].address(device)
        if address is None:
            continue
        first = told.setdefault((device.driver, address), device)
        if first is not device and {first.kind, device.kind} & RISKY:
            raise table.wrong(f'"{first.name}" is told what to do on {address!r} too; neither may move the other')


def _placed(table: Table, each: Any, key: str, names: Mapping[str, str]) -> Any:
    """The room or device with the stored name of where it is."""
    given = getattr(each, key)
    if given is None:
        return each
    return replace(each, **{key: _stored(table, key, given, names, key)})


def _with_members(table: Table, group: Group, names: Mapping[str, str]) -> Group:
    members = (
        _stored(table, "device, room or floor", member, names, "members", number)
        for number, member in enumerate(group.members)
    )
    return replace(group, members=tuple(members))


def _stored(table: Table, what: str, given: str, names: Mapping[str, str], *at: Key) -> str:
    stored = names.get(name_key(given))
    if stored is None:
        known = choice(dict.fromkeys(names.values()), given)
        raise table.wrong(f"there is no {what} {given!r}; there are: {known}", *at)
    return stored
