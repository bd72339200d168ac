"""A small home for the tests of the house, and drivers that do not do as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from agent.due import DueItems
from agent.tool import AgentTool, ToolCall
from tests.boards import Board
from tools.device import Change, Device, State
from tools.devices import Devices
from tools.drivers import NotAvailableError, NotConfirmedError
from tools.drivers.memory import MemoryDriver
from tools.home import Home

SETTINGS: dict[str, Any] = {
    "floor": [
        {"name": "ground floor", "aliases": ["downstairs"]},
        {"name": "first floor", "aliases": ["upstairs"]},
        {"name": "attic"},
    ],
    "room": [
        {"name": "living room", "floor": "ground floor", "aliases": ["lounge"]},
        {"name": "Küche", "floor": "ground floor", "aliases": ["kitchen"]},
        {"name": "hall", "floor": "ground floor"},
        {"name": "bedroom", "floor": "first floor"},
        {"name": "bathroom", "floor": "first floor"},
        {"name": "mom and dad's room", "floor": "attic"},
        {"name": "garage"},
        {"name": "office"},
        {"name": "den"},
        {"name": "utility room"},
    ],
    "device": [
        {"name": "reading lamp", "kind": "light", "room": "living room", "aliases": ["lamp by the couch"],
         "can": ["brightness", "white", "color"], "memory": {"on": True, "brightness": 40}},
        {"name": "floor lamp", "kind": "light", "room": "living room"},
        {"name": "TV", "kind": "switch", "room": "living room", "aliases": ["television"]},
        {"name": "fairy lights", "kind": "plug", "room": "living room"},
        {"name": "ceiling light", "kind": "light", "room": "Küche", "memory": {"on": True, "brightness": 70}},
        {"name": "worktop light", "kind": "light", "room": "Küche"},
        {"name": "coffee machine", "kind": "switch", "room": "kitchen"},
        {"name": "kettle", "kind": "plug", "room": "kitchen"},
        {"name": "kitchen window", "kind": "window", "room": "kitchen"},
        {"name": "hall light", "kind": "light", "room": "hall", "can": [], "memory": {"on": True}},
        {"name": "front door", "kind": "door", "room": "hall", "memory": {"open": True}},
        {"name": "bedroom light", "kind": "light", "room": "bedroom"},
        {"name": "bedroom fan", "kind": "fan", "room": "bedroom"},
        {"name": "mirror lamp", "kind": "light", "room": "bathroom"},
        {"name": "attic lamp 2", "kind": "light", "room": "mom and dad's room"},
        {"name": "garage door", "kind": "garage_door", "room": "garage"},
        {"name": "desk lamp", "kind": "light", "room": "office"},
        {"name": "office blind", "kind": "blind", "room": "office"},
        {"name": "office curtain", "kind": "curtain", "room": "office", "can": []},
        {"name": "projector", "kind": "television", "room": "den"},
        {"name": "den speaker", "kind": "speaker", "room": "den"},
        {"name": "den thermostat", "kind": "thermostat", "room": "den"},
        {"name": "back door", "kind": "lock", "room": "utility room", "memory": {"open": False}},
        {"name": "washing machine power", "kind": "sensor", "room": "utility room", "measures": "power",
         "unit": "watts", "memory": {"value": 12}},
        {"name": "robbie", "kind": "vacuum", "room": "utility room"},
        {"name": "garage motion detector", "kind": "detector", "room": "garage", "measures": "motion"},
    ],
    "group": [
        {"name": "movie lights", "members": ["floor lamp", "fairy lights"]},
        {"name": "sleeping rooms", "members": ["bedroom", "mom and dad's room"]},
    ],
}  # fmt: skip


class Stubborn(MemoryDriver):
    """Devices in memory, of which some are gone, some silent, and all slow while it is held."""

    def __init__(self, devices: Devices, gone: Iterable[str] = (), silent: Iterable[str] = ()) -> None:
        super().__init__(devices.home.devices, devices.report)
        self.gone, self.silent = set(gone), set(silent)
        self._ids = {device.name: device.id for device in devices.home.devices}
        self.moves: list[tuple[str, Change]] = []
        self.free = asyncio.Event()
        self.free.set()

    async def move(self, device: Device, change: Change) -> State:
        if device.name in self.gone:
            raise NotAvailableError("is not available")
        self.moves.append((device.name, change))
        await self.free.wait()
        if device.name in self.silent:
            raise NotConfirmedError("did not confirm it in time")
        return await super().move(device, change)

    def tell(self, name: str, **fields: Any) -> None:
        """Lets a device tell that it is otherwise now, as one that was moved by hand."""
        self._set(self._ids[name], replace(self._states[self._ids[name]], **fields))

    @property
    def moved(self) -> list[str]:
        """The names of the devices that were sent something, in order."""
        return [name for name, _ in self.moves]


def with_devices(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the small home with more devices."""
    return {**SETTINGS, "device": [*SETTINGS["device"], *tables]}


def open_devices(settings: Mapping[str, Any] = SETTINGS, **trouble: Iterable[str]) -> tuple[Devices, Stubborn]:
    """A home in memory and its driver. `trouble` is `gone` or `silent`, names of devices."""
    devices = Devices(Home.from_settings(settings))
    driver = Stubborn(devices, **trouble)
    devices.attach("memory", driver)
    return devices, driver


def named(devices: Devices, name: str) -> State:
    """How the device of that name is."""
    return next(devices.state(device) for device in devices.home.devices if device.name == name)


def open_due(now: datetime = datetime(2026, 3, 5, 14, 7)) -> tuple[DueItems, Board]:
    """What becomes due, kept in memory, and the board with its clocks; it is a Thursday in March."""
    board = Board(now)
    return DueItems(None, board), board


async def call(function: Any, confirmed: bool = True, **arguments: Any) -> dict[str, Any]:
    """The response of a tool, as the agent gets it."""

    async def confirm(question: str) -> bool:
        return confirmed

    tool = function if isinstance(function, AgentTool) else AgentTool(function)
    return await tool.call(arguments, ToolCall("1", tool.name, confirm))


async def said(function: Any, **arguments: Any) -> str:
    """The sentence of a tool's response."""
    response = await call(function, **arguments)
    if "error" in response:
        return str(response["error"])
    say = AgentTool(function).declaration.say
    assert callable(say)
    return say(arguments, response)


_ROOMS = (
    "kitchen", "living room", "dining room", "bedroom", "bathroom", "office", "guest room", "nursery", "library",
    "pantry", "workshop", "gallery", "studio", "laundry room", "sauna", "playroom", "music room", "storeroom",
    "conservatory", "dressing room",
)  # fmt: skip
_WINGS = (
    "", "north", "south", "east", "west", "upper", "lower", "garden", "corner", "attic", "street", "tower", "yellow",
    "green", "blue", "red", "white", "old", "new", "summer", "winter", "little", "grand", "inner", "outer", "marble",
)  # fmt: skip
_THINGS = (
    ("ceiling light", "light"), ("reading lamp", "light"), ("left wall light", "light"), ("right wall light", "light"),
    ("floor lamp", "light"), ("spotlights", "light"), ("blind", "blind"), ("curtains", "curtain"),
    ("thermostat", "thermostat"), ("speaker", "speaker"), ("window", "window"), ("fan", "fan"),
    ("heater plug", "plug"), ("television", "television"), ("thermometer", "sensor"), ("motion detector", "detector"),
    ("door", "door"), ("lock", "lock"), ("coffee machine", "switch"), ("fairy lights", "plug"),
)  # fmt: skip
_MEASURES = {"sensor": {"measures": "temperature"}, "detector": {"measures": "motion"}}


def large_home(devices: int) -> Home:
    """A home of so many devices with names that people give, at most 10,400.

    Args:
        devices: How many; there is a room for each 20 of them, and a floor for each 5 rooms.
    """
    of_rooms = [divmod(number, len(_ROOMS)) for number in range(-(-devices // len(_THINGS)))]
    names = [f"{_WINGS[(wing + room) % len(_WINGS)]} {_ROOMS[room]}".strip() for wing, room in of_rooms]
    things = [
        {"name": f"{room} {thing}", "kind": kind, "room": room, **_MEASURES.get(kind, {})}
        for room in names
        for thing, kind in _THINGS
    ]
    return Home.from_settings(
        {
            "floor": [{"name": f"level {number}"} for number in range(1, -(-len(names) // 5) + 1)],
            "room": [{"name": name, "floor": f"level {index // 5 + 1}"} for index, name in enumerate(names)],
            "device": things[:devices],
        }
    )
