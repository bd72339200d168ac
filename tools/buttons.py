"""Buttons on the wall: a short press or a long one toggles lamps or activates a scene, or one is held to talk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.config.tables import Table, choice, read_table
from agent.house import HouseEvent
from agent.tool import AgentTool, ToolCall
from tools.device import Change
from tools.devices import Devices
from tools.drivers import DriverType, Press, WiredButton
from tools.names.places import SWITCH_LIGHTS
from tools.names.resolve import PlaceError
from tools.scene_states import Scene
from tools.scripts import Script

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Button:
    """The table `[[tools.button]]`."""

    name: str
    """What it is called."""

    id: str
    """One segment of its topics."""

    toggle: str | None = None
    """What a short press turns on, or off where any of it is on: lamps, switches, a room or a group."""

    scene: str | None = None
    """The scene or script that a short press activates."""

    long_toggle: str | None = None
    """What a long press turns on or off."""

    long_scene: str | None = None
    """The scene or script that a long press activates."""

    talk: bool = False
    """Hearth listens while it is held."""

    driver: str = ""
    options: Any = None

    @property
    def wired(self) -> WiredButton:
        """The button as its driver knows it."""
        return WiredButton(self.id, self.name, self.options)


def read_buttons(
    tables: Iterable[Table], drivers: Mapping[str, DriverType], devices: Devices, named: Iterable[Scene | Script]
) -> tuple[Button, ...]:
    """Those of the tables `[[tools.button]]`.

    Raises:
        SettingsError: A key is wrong, or stands for nothing.
    """
    able = [name for name, driver in drivers.items() if driver.button is not None]
    scenes = [name for each in named for name in (each.name, *each.aliases)]
    ids = {device.id for device in devices.home.devices}
    buttons: list[Button] = []
    for table in tables:
        button = _button(table, drivers, able)
        if button.id in ids:
            raise table.wrong(f"a device or a button has the id {button.id!r} already; give it another id", "name")
        ids.add(button.id)
        for key in ("toggle", "long_toggle"):
            try:
                if words := getattr(button, key):
                    devices.find(words, SWITCH_LIGHTS)
            except PlaceError as error:
                raise table.wrong(f"{key}: {error}", key) from error
        for key in ("scene", "long_scene"):
            if (scene := getattr(button, key)) and scene not in scenes:
                raise table.wrong(f"there is no scene or script {scene!r}; there are: {choice(scenes, scene)}", key)
        buttons.append(button)
    return tuple(buttons)


def _button(table: Table, drivers: Mapping[str, DriverType], able: list[str]) -> Button:
    name = table.get("name")
    made = {"id": "_".join(name.lower().split())} if isinstance(name, str) and "id" not in table else {}
    completed = Table({**made, **table}, table.at, table.folder, table.where)
    button = read_table(Button, completed, hidden=("driver", "options"), also=able)
    on = [name for name in able if name in table]
    if len(on) != 1:
        raise table.wrong(f"it needs one table that says where it hangs: {' or '.join(able)}")
    for short, other in (("toggle", "scene"), ("long_toggle", "long_scene")):
        if getattr(button, short) and getattr(button, other):
            raise table.wrong(f"it has both {short} and {other}; a press does one thing", other)
    driver = drivers[on[0]]
    assert driver.button is not None
    options = read_table(driver.button, table.table(on[0]))
    try:
        driver.check_button(options)
    except ValueError as error:
        raise table.table(on[0]).wrong(str(error)) from error
    return Button(**{**vars(button), "driver": on[0], "options": options})


class Buttons:
    """Does what presses mean, one after another for each button."""

    def __init__(self, buttons: Iterable[Button], devices: Devices, activate_scene: AgentTool) -> None:
        """Buttons whose drivers call `press`.

        Args:
            buttons: Those of the house.
            devices: What they toggle, and where presses are told.
            activate_scene: The function of that name.
        """
        self.all = tuple(buttons)
        self._devices = devices
        self._activate_scene = activate_scene
        self._by_id = {button.id: button for button in self.all}
        self._doing: set[asyncio.Task[None]] = set()
        self._turns = {button.id: asyncio.Lock() for button in self.all}

    def press(self, button_id: str, press: Press) -> None:
        """Takes in what a button tells; returns at once."""
        button = self._by_id[button_id]
        state = {"state": press, "available": True, "name": button.name, "kind": "button", "talk": button.talk}
        self._devices.tell(HouseEvent(button_id, state))
        if press in ("short", "long"):
            task = asyncio.create_task(self._do(button, press), name=f"{button.name}: {press}")
            self._doing.add(task)  # the loop itself keeps none
            task.add_done_callback(self._doing.discard)

    async def _do(self, button: Button, press: Press) -> None:
        toggle, scene = (button.toggle, button.scene) if press == "short" else (button.long_toggle, button.long_scene)
        async with self._turns[button.id]:
            try:
                if toggle is not None:
                    await self._toggle(button, toggle)
                if scene is not None:
                    await self._activate(button, scene)
            except Exception:  # a wrong button must not end the house
                _log.exception("the %s: its %s press failed", button.name, press)

    async def _toggle(self, button: Button, words: str) -> None:
        found = self._devices.find(words, SWITCH_LIGHTS).devices
        await self._devices.reached([device.id for device in found])
        is_on = any(self._devices.state(device).on for device in found)
        for outcome in await self._devices.move(found, lambda device, state: Change(on=not is_on)):
            if outcome.failure:
                _log.warning("the %s: the %s %s", button.name, outcome.device.name, outcome.failure)

    async def _activate(self, button: Button, scene: str) -> None:
        async def nobody(question: str) -> bool:
            _log.warning("the %s: nobody can be asked %r, so it is not done", button.name, question)
            return False

        call = ToolCall(f"button-{button.id}", self._activate_scene.name, nobody)
        response = await self._activate_scene.call({"scene": scene}, call)
        if "error" in response:
            _log.warning("the %s: %s", button.name, response["error"])
