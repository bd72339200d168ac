"""The house as the agent sees it: its functions, its events, its health."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from agent.config.tables import Table, read_table
from agent.house import HouseEvent
from agent.house_store import HouseStore
from agent.schema import FunctionDeclaration
from agent.tool import AgentTool
from tools import climate, covers, fans, garage, lights, locks, media, robots, state, switches
from tools.alarms import Alarms
from tools.announce import Announcements
from tools.climate import Climate, ClimateSettings
from tools.clock import Clock
from tools.covers import Covers
from tools.devices import Devices
from tools.drivers import Device
from tools.drivers.mqtt import MqttBroker
from tools.fans import Fans
from tools.garage import GarageDoor
from tools.home import DRIVERS, Floor, Group, Home, Room
from tools.later import Later
from tools.lights import Lights
from tools.lists import SHOPPING, TO_DO, Lists, ListSettings, read_lists
from tools.locks import Locks
from tools.media import Media
from tools.names.resolve import PlaceError, Wish
from tools.names.words import name_key
from tools.reminders import Reminders
from tools.robots import Robots
from tools.scene_states import Scene
from tools.scenes import FUNCTIONS as SCENE_FUNCTIONS
from tools.scenes import Scenes, read_scenes_and_scripts
from tools.scripts import Script
from tools.state import KINDS, Questions
from tools.switches import Switches
from tools.timers import Timers
from tools.weather import Weather, WeatherFile, WeatherSettings

_log = logging.getLogger(__name__)

_KEYS = ("floor", "room", "device", "group", "weather", "climate", "list", "scene", "script")

_PLACES: dict[str, tuple[str, Wish]] = {
    **lights.PLACES,
    **switches.PLACES,
    **fans.PLACES,
    **covers.PLACES,
    **garage.PLACES,
    **locks.PLACES,
    **climate.PLACES,
    **media.PLACES,
    **robots.PLACES,
    **state.PLACES,
}
"""For each function of one place: its parameter, and what it looks for."""


class House:
    """An open home. See `agent.house.House` for what the agent asks of it."""

    def __init__(
        self,
        devices: Devices,
        weather: Weather,
        store: HouseStore,
        climate: ClimateSettings | None = None,
        lists: Sequence[ListSettings] = (SHOPPING, TO_DO),
        scenes: Sequence[Scene] = (),
        scripts: Sequence[Script] = (),
    ) -> None:
        """A house; its devices are moved once their drivers are attached.

        Raises:
            SettingsError: A script calls what there is not.
        """
        self._devices = devices
        self._weather = weather
        self._status = ""
        self._garage = GarageDoor(devices)
        self._lists = Lists(store, lists)
        self._scenes = Scenes(devices, scenes, scripts)
        subjects = (
            Lights(devices),
            Switches(devices),
            Fans(devices),
            Covers(devices),
            self._garage,
            Locks(devices),
            Climate(devices, climate),
            Clock(),
            weather,
            Timers(store.due),
            Alarms(store.due),
            Reminders(store.due),
            Later(store.due),
            Media(devices),
            Robots(devices),
            self._lists,
            self._scenes,
            Announcements(devices, store.due),
            Questions(devices, (climate or ClimateSettings()).unit),
        )
        self.tools: tuple[AgentTool, ...] = tuple(tool for subject in subjects for tool in subject.tools)
        self._scenes.bind(self.tools, _PLACES)

    def names(self) -> tuple[str, ...]:
        """What floors, rooms, devices, groups, scenes, scripts and lists are called, in all their names."""
        home = self._devices.home
        named: list[Floor | Room | Device | Group] = [*home.floors, *home.rooms, *home.devices, *home.groups]
        names = tuple(name for each in named for name in (each.name, *each.aliases))
        return (*names, *self._scenes.names, *self._lists.names)

    def rooms(self) -> tuple[str, ...]:
        """What the rooms are called, in all their names."""
        return tuple(name for room in self._devices.home.rooms for name in (room.name, *room.aliases))

    def events(self) -> AsyncIterator[HouseEvent]:
        """Every device as it is now, then each change of a device."""
        return self._devices.events()

    async def show(self, status: str) -> None:
        """Nothing in this home shows it yet, so it is only logged."""
        if status != self._status:
            self._status = status
            _log.debug("the agent is %s", status)

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The ids of the devices that a call would move or ask about; none for a function without devices."""
        if name in garage.PLACES and arguments.get("door") is None:
            return self._garage.ids
        if name == "list_devices":
            return self._listed(arguments)
        if name in SCENE_FUNCTIONS:
            return self._scenes.targets(arguments.get(SCENE_FUNCTIONS[name]), self.targets)
        if name not in _PLACES:
            return frozenset()
        parameter, wish = _PLACES[name]
        return self._found(arguments.get(parameter), wish)

    def health(self) -> dict[str, str]:
        """One line for each driver and for the weather; "ok" where all is well."""
        return {**self._devices.health(), "weather": self._weather.health()}

    async def probe(self) -> list[str]:
        """Tries what can be tried without moving anything: a sentence for each trouble, with its cure."""
        return [*await self._devices.probe(), *self._weather.probe()]

    def _listed(self, arguments: Mapping[str, Any]) -> frozenset[str]:
        kinds = KINDS.get(str(arguments.get("kind")), KINDS["any"])
        if arguments.get("room") is None:
            return frozenset(device.id for device in self._devices.home.devices if device.kind in kinds)
        return self._found(arguments["room"], Wish(kinds, kinds, asking=True))

    def _found(self, words: Any, wish: Wish) -> frozenset[str]:
        if not isinstance(words, str):
            return frozenset()
        try:
            return frozenset(device.id for device in self._devices.find(words, wish).devices)
        except PlaceError:
            # No id has a space, so unknown words are equal to themselves only.
            return frozenset({f"? {name_key(words)}"})


@asynccontextmanager
async def open_house(settings: Mapping[str, Any], store: HouseStore | None = None) -> AsyncIterator[House]:
    """Opens the home of the settings: its drivers first, its functions then.

    Args:
        settings: The table `[tools]`: arrays of tables `floor`, `room`, `device`, `group`, `list`, `scene`,
            `script`; tables `weather`, `climate` and one of the name of each driver that needs it.
        store: Where timers and lists are kept; None keeps them in memory.

    Raises:
        SettingsError: A key or a value is wrong; the text names it and what is allowed.
    """
    house, devices, tables = _read(settings, store or HouseStore())
    async with AsyncExitStack() as stack:
        for name, driver in DRIVERS.items():
            moved_by_it = [device for device in devices.home.devices if device.driver == name]
            if moved_by_it:
                opening = driver.open(moved_by_it, tables.get(name), devices.report)
                devices.attach(name, await stack.enter_async_context(opening))
        yield house


def check_settings(settings: Mapping[str, Any]) -> None:
    """Reads the home of the settings and opens nothing, so that it may be done beside a running service.

    Raises:
        SettingsError: As for `open_house`.
    """
    _, _, tables = _read(settings, HouseStore())
    for table in tables.values():
        if isinstance(table, MqttBroker):
            table.password()


def _read(settings: Mapping[str, Any], store: HouseStore) -> tuple[House, Devices, dict[str, Any]]:
    """The house, its devices that no driver moves yet, and the tables of the drivers by their names."""
    table = Table.of(settings, "tools")
    with_tables = {name: driver.settings for name, driver in DRIVERS.items() if driver.settings is not None}
    table.check_keys((*_KEYS, *with_tables))
    devices = Devices(Home.from_settings(table))
    scenes, scripts = read_scenes_and_scripts(table, devices.home)
    weather = None
    if "weather" in table:
        weather = WeatherFile(read_table(WeatherSettings, table.table("weather")).path)
    house = House(
        devices,
        Weather(weather),
        store,
        read_table(ClimateSettings, table.table("climate")),
        read_lists(table.tables("list")),
        scenes,
        scripts,
    )
    return house, devices, {name: read_table(kind, table.table(name)) for name, kind in with_tables.items()}


def declarations() -> tuple[FunctionDeclaration, ...]:
    """The functions of every house, for the model's training."""
    return tuple(tool.declaration for tool in House(Devices(Home()), Weather(None), HouseStore()).tools)
