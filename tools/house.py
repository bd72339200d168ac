"""The house as the agent sees it: its functions, its events, its health."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from agent.config.tables import Table, read_table
from agent.house import HouseEvent
from agent.house_store import HouseStore
from agent.schema import FunctionDeclaration
from agent.tool import AgentTool, ConfirmationTool
from tools import climate, covers, fans, garage, lights, locks, media, robots, state, switches
from tools.alarms import Alarms
from tools.announce import Announcements
from tools.buttons import Button, Buttons, read_buttons
from tools.climate import Climate
from tools.clock import Clock
from tools.covers import Covers
from tools.device import Device
from tools.devices import Devices
from tools.drivers import Bridging, Listening, Starting
from tools.fans import Fans
from tools.garage import GarageDoor
from tools.home import DRIVERS, Floor, Group, Home, Room
from tools.later import Later
from tools.lights import Lights
from tools.lists import SHOPPING, TO_DO, Lists, ListSettings, read_lists
from tools.locks import Locks
from tools.media import Media
from tools.names.resolve import Wish
from tools.reached_first import ReachedFirst
from tools.reminders import Reminders
from tools.robots import Robots
from tools.scene_states import Scene
from tools.scenes import Scenes, read_scenes_and_scripts
from tools.scripts import Script
from tools.state import Questions
from tools.switches import Switches
from tools.targets import of_devices
from tools.temperature import HomeUnit
from tools.timers import Timers
from tools.weather import Weather, WeatherProvider, WeatherSettings
from tools.weather_file import WeatherFile

_log = logging.getLogger(__name__)

_TABLES = ("floor", "room", "device", "group", "weather", "list", "scene", "script", "button")

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


@dataclass(frozen=True)
class HouseSettings:
    """The keys of the table `[tools]` itself."""

    unit: HomeUnit = "celsius"
    """What temperatures are told in, and what a number without a unit means."""


class House:
    """An open home. See `agent.house.House` for what the agent asks of it."""

    def __init__(
        self,
        devices: Devices,
        weather: WeatherProvider | None,
        store: HouseStore,
        unit: HomeUnit = "celsius",
        lists: Sequence[ListSettings] = (SHOPPING, TO_DO),
        scenes: Sequence[Scene] = (),
        scripts: Sequence[Script] = (),
        buttons: Sequence[Button] = (),
    ) -> None:
        """A house; its devices are moved once their drivers are attached.

        Args:
            devices: Its devices.
            weather: Who knows the weather.
            store: Where timers and lists are kept.
            unit: What temperatures are told in, and what a number without a unit means.
            lists: Its lists.
            scenes: Its scenes.
            scripts: Its scripts.
            buttons: Its buttons.

        Raises:
            SettingsError: A script calls what there is not.
        """
        self._devices = devices
        self._status = ""
        self._weather = Weather(weather, unit, store.due)
        self._lists = Lists(store, lists)
        self._scenes = Scenes(devices, scenes, scripts)
        self.buttons = Buttons(buttons, devices, self._scenes.tools[0])
        doors, vacuums = GarageDoor(devices), Robots(devices)
        lamps, later = Lights(devices), Later(store.due)
        announcements, questions = Announcements(devices, store.due), Questions(devices, unit)
        self._special = (doors, vacuums, self._scenes, announcements, questions)
        subjects = (
            lamps,
            Switches(devices),
            Fans(devices),
            Covers(devices),
            doors,
            Locks(devices),
            Climate(devices, unit),
            Clock(store.due),
            self._weather,
            Timers(store.due),
            Alarms(store.due),
            Reminders(store.due),
            later,
            Media(devices),
            vacuums,
            self._lists,
            self._scenes,
            announcements,
            questions,
        )
        functions = tuple(tool for subject in subjects for tool in subject.tools)
        self.tools: tuple[AgentTool, ...] = tuple(ReachedFirst(each, devices, self.targets) for each in functions)
        checks: dict[str, Callable[[Mapping[str, Any]], object]] = {
            "announce": lambda given: announcements.areas(given.get("room")),
            "do_later": later.check,
            "set_light_effect": lamps.check_effect,
            **dict.fromkeys(
                ("add_to_list", "remove_from_list", "complete_list_item"),
                lambda given: self._lists.meant(given.get("list")),
            ),
        }
        # A script asks what its steps would ask by itself, before it begins.
        pairs = zip(functions, self.tools, strict=True)
        steps = [each if isinstance(each, ConfirmationTool) else waiting for each, waiting in pairs]
        self._scenes.bind(steps, _PLACES, checks)

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
        """Shows it with each driver that can, such as a LED on a pin."""
        if status != self._status:
            self._status = status
            _log.debug("the agent is %s", status)
            await self._devices.show(status)

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """What a call is about; nothing where a place was not said, as it depends on who asks."""
        for subject in self._special:
            about = subject.targets(name, arguments)
            if about is not None:
                return about
        parameter, wish = _PLACES.get(name, ("", None))
        if wish is None or arguments.get(parameter) is None:
            return frozenset()
        return of_devices(self._devices, arguments[parameter], wish)

    def drivers(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the drivers of the devices that a call is about."""
        about = self.targets(name, arguments)
        return tuple(sorted({device.driver for device in self._devices.home.devices if device.id in about}))

    def health(self) -> dict[str, str]:
        """One line for each driver, for what is worth knowing of it, and for the weather; "ok" where all is well."""
        return {**self._devices.health(), "weather": self._weather.health()}

    async def probe(self) -> list[str]:
        """Tries what can be tried without moving anything: a sentence for each trouble, with its cure."""
        return [*await self._devices.probe(), *self._weather.probe()]


@asynccontextmanager
async def open_house(settings: Mapping[str, Any], store: HouseStore | None = None) -> AsyncIterator[House]:
    """Opens the home of the settings: its drivers first, its functions then.

    Args:
        settings: The table `[tools]`: arrays of tables `floor`, `room`, `device`, `group`, `list`, `scene`,
            `script`; tables `weather` and one of the name of each driver that needs it; the keys of `HouseSettings`.
        store: Where timers and lists are kept; None keeps them in memory. Where nothing is kept the house
            is only looked at, and no output moves at the start.

    Raises:
        SettingsError: A key or a value is wrong; the text names it and what is allowed.
    """
    house, devices, tables = _read(settings, store or HouseStore())
    async with AsyncExitStack() as stack:
        bridges: list[Bridging] = []
        for name, driver in DRIVERS.items():
            moved_by_it = [device for device in devices.home.devices if device.driver == name]
            buttons = [button.wired for button in house.buttons.all if button.driver == name]
            if moved_by_it or buttons or driver.wanted(tables.get(name)):
                opened = await stack.enter_async_context(driver.open(moved_by_it, tables.get(name), devices.report))
                devices.attach(name, opened)
                if isinstance(opened, Listening):
                    opened.listen(buttons, house.buttons.press)
                if store is not None and store.keeps and isinstance(opened, Starting):
                    await opened.start(store)
                if isinstance(opened, Bridging):
                    opened.follow(partial(devices.bring, name))
                    bridges.append(opened)
        await asyncio.gather(*(bridge.first_try.wait() for bridge in bridges))
        yield house


def check_settings(settings: Mapping[str, Any]) -> None:
    """Reads the home of the settings and opens nothing, so that it may be done beside a running service.

    Raises:
        SettingsError: As for `open_house`.
    """
    _, _, tables = _read(settings, HouseStore())
    for name, table in tables.items():
        DRIVERS[name].check_settings(table)


def _read(settings: Mapping[str, Any], store: HouseStore) -> tuple[House, Devices, dict[str, Any]]:
    """The house, its devices that no driver moves yet, and the tables of the drivers by their names."""
    table = Table.of(settings, "tools")
    with_tables = {name: driver.settings for name, driver in DRIVERS.items() if driver.settings is not None}
    own = read_table(HouseSettings, table, also=(*_TABLES, *with_tables))
    devices = Devices(Home.from_settings(table))
    scenes, scripts = read_scenes_and_scripts(table, devices.home)
    weather = None
    if "weather" in table:
        weather = WeatherFile(read_table(WeatherSettings, table.table("weather")).path)
    house = House(
        devices,
        weather,
        store,
        own.unit,
        read_lists(table.tables("list")),
        scenes,
        scripts,
        read_buttons(table.tables("button"), DRIVERS, devices, (*scenes, *scripts)),
    )
    read = {name: read_table(kind, _whole(table, name)) for name, kind in with_tables.items() if _is_used(table, name)}
    return house, devices, read


def _is_used(table: Table, name: str) -> bool:
    """Whether a driver's settings are read: those of a bridge only where there is something to open it for."""
    return not DRIVERS[name].like or name in table or any(name in device for device in table.tables("device"))


def _whole(table: Table, name: str) -> Table:
    """A driver's settings with what they leave to those of another."""
    own, other = table.table(name), DRIVERS[name].like
    return Table({**table.table(other), **own}, own.at, own.folder, own.where) if other else own


def declarations() -> tuple[FunctionDeclaration, ...]:
    """The functions of every house, for the model's training."""
    return tuple(tool.declaration for tool in House(Devices(Home()), None, HouseStore()).tools)
