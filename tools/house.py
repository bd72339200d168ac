"""The house as the agent sees it: its functions, its events, its health."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from agent.errors import SettingsError
from agent.house import HouseEvent
from agent.schema import FunctionDeclaration
from agent.tool import AgentTool, ConfirmationTool
from tools.clock import Clock
from tools.devices import Devices
from tools.drivers import Device
from tools.garage import GarageDoor
from tools.home import DRIVERS, Floor, Group, Home, Room
from tools.lights import Lights
from tools.resolve import ASK, DIM_LIGHTS, SWITCH_LIGHTS, SWITCH_PLUGS, PlaceError, Wish
from tools.settings import read_table
from tools.state import KINDS, Questions
from tools.switches import Switches
from tools.weather import Weather, WeatherFile, WeatherSettings
from tools.words import name_key

_log = logging.getLogger(__name__)

_KEYS = ("floor", "room", "device", "group", "weather")

_PLACES: dict[str, tuple[str, Wish]] = {
    "turn_on_light": ("room", SWITCH_LIGHTS),
    "turn_off_light": ("room", SWITCH_LIGHTS),
    "brighten_light": ("room", DIM_LIGHTS),
    "dim_light": ("room", DIM_LIGHTS),
    "turn_on_switch": ("device", SWITCH_PLUGS),
    "turn_off_switch": ("device", SWITCH_PLUGS),
    "get_state": ("device", ASK),
}
"""For each function of one place: its parameter, and what it looks for."""


class House:
    """An open home. See `agent.house.House` for what the agent asks of it."""

    def __init__(self, devices: Devices, weather: Weather) -> None:
        self._devices = devices
        self._weather = weather
        self._status = ""
        self._garage = GarageDoor(devices)
        lights, switches, clock, questions = Lights(devices), Switches(devices), Clock(), Questions(devices)
        self.tools: tuple[AgentTool, ...] = (
            AgentTool(lights.turn_on_light),
            AgentTool(lights.turn_off_light),
            AgentTool(lights.brighten_light),
            AgentTool(lights.dim_light),
            AgentTool(switches.turn_on_switch),
            AgentTool(switches.turn_off_switch),
            ConfirmationTool(self._garage.open_garage_door, "Shall I open the garage door?"),
            ConfirmationTool(self._garage.close_garage_door, "Shall I close the garage door?"),
            AgentTool(clock.get_time),
            AgentTool(clock.get_date),
            AgentTool(weather.get_current_weather),
            AgentTool(questions.get_state),
            AgentTool(questions.list_devices),
        )

    def names(self) -> tuple[str, ...]:
        """What floors, rooms, devices and groups are called, in all their names."""
        home = self._devices.home
        named: list[Floor | Room | Device | Group] = [*home.floors, *home.rooms, *home.devices, *home.groups]
        return tuple(name for each in named for name in (each.name, *each.aliases))

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
        if name in ("open_garage_door", "close_garage_door"):
            return self._garage.ids
        if name == "list_devices":
            return self._listed(arguments)
        if name not in _PLACES:
            return frozenset()
        parameter, wish = _PLACES[name]
        return self._found(arguments.get(parameter), wish)

    def health(self) -> dict[str, str]:
        """One line for each driver and for the weather; "ok" where all is well."""
        return {**self._devices.health(), "weather": self._weather.health()}

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
async def open_house(settings: Mapping[str, Any], store: object = None) -> AsyncIterator[House]:
    """Opens the home of the settings: its drivers first, its functions then.

    Args:
        settings: The table `[tools]`: arrays of tables `floor`, `room`, `device`, `group`; tables `weather`
            and one of the name of each driver that needs it.
        store: The agent's store; nothing is kept in it yet.

    Raises:
        SettingsError: A key or a value is wrong; the text names it and what is allowed.
    """
    own_tables = {name: driver for name, driver in DRIVERS.items() if driver.settings is not None}
    for key in settings:
        if key not in (*_KEYS, *own_tables):
            allowed = ", ".join((*_KEYS, *own_tables))
            raise SettingsError(f"[tools] has no key {key!r}; allowed are {allowed}")
    home = Home.from_settings(settings)
    weather = _weather(settings)
    tables = {
        name: read_table(driver.settings, settings[name], f"[tools.{name}]")
        for name, driver in own_tables.items()
        if name in settings and driver.settings is not None
    }
    devices = Devices(home)
    async with AsyncExitStack() as stack:
        for name, driver in DRIVERS.items():
            moved_by_it = [device for device in home.devices if device.driver == name]
            if moved_by_it:
                opening = driver.open(moved_by_it, tables.get(name), devices.report)
                devices.attach(name, await stack.enter_async_context(opening))
        yield House(devices, weather)


def _weather(settings: Mapping[str, Any]) -> Weather:
    if "weather" not in settings:
        return Weather(None)
    read = read_table(WeatherSettings, settings["weather"], "[tools.weather]")
    return Weather(WeatherFile(read.path))


def declarations() -> tuple[FunctionDeclaration, ...]:
    """The functions of every house, for the model's training."""
    return tuple(tool.declaration for tool in House(Devices(Home()), Weather(None)).tools)
