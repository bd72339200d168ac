"""Moves what hangs on the board's own pins, and confirms it by reading back.

No line is touched before `start` or the first command: `hearth doctor` opens a house to look at it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from agent.errors import StoreError
from agent.house_store import HouseStore
from tools.device import LIGHTS, Change, Device, Kind, State
from tools.drivers import (
    DeviceError,
    Driver,
    DriverType,
    NotAvailableError,
    NotConfirmedError,
    Press,
    Report,
    WiredButton,
)
from tools.drivers.gpio.fade import STEP_S, steps
from tools.drivers.gpio.inputs import Listener, PressListener
from tools.drivers.gpio.led import StatusLed
from tools.drivers.gpio.lines import LineName
from tools.drivers.gpio.lines import examine as examine_line
from tools.drivers.gpio.options import (
    TOLD,
    GpioButton,
    GpioOptions,
    GpioSettings,
    check,
    check_button,
    check_settings,
)
from tools.drivers.gpio.outlets import Outlet, examine, open_outlet

_log = logging.getLogger(__name__)

DOCUMENT = "gpio"
"""What the house store calls our record of how outputs were left."""


class GpioDriver:
    """Moves devices on lines and PWM channels, and hears those on inputs."""

    def __init__(self, devices: Sequence[Device], settings: GpioSettings, report: Report) -> None:
        """A driver that has not touched any line.

        Args:
            devices: Those on our pins.
            settings: Where the status LED is, if there is one.
            report: Called with each state.
        """
        self._devices = tuple(devices)
        self._report = report
        self._outlets: dict[str, Outlet] = {}
        self._listeners: dict[str, Listener] = {}
        self._buttons: dict[str, WiredButton] = {}
        self._presses: dict[str, PressListener] = {}
        self._pressed: Callable[[str, Press], None] = lambda button, press: None
        self._troubles: dict[str, str] = {}
        self._states: dict[str, State] = {}
        self._left: dict[str, Any] = {}
        # How bright, or fast, each was when it was on last, in percent.
        self._usual: dict[str, int] = {}
        self._store: HouseStore | None = None
        self._led = None
        if settings.led is not None:
            self._led = StatusLed(LineName(settings.led, settings.led_chip), settings.led_active_low)
        for device in devices:
            self._set(device, State())

    async def start(self, store: HouseStore) -> None:
        """Brings outputs to what their `boot` says, and listens to the inputs. What fails costs its own device."""
        try:
            found = await store.read(DOCUMENT)
            self._store = store
        except StoreError as error:  # what cannot be read must not be written over
            _log.warning("nobody knows how the outputs were left: %s", error)
            found = None
        self._left = found if isinstance(found, dict) else {}
        moved = [device for device in self._devices if device.kind not in TOLD]
        await asyncio.gather(*map(self._boot, moved))
        await self._keep()
        for device in self._devices:
            if device.kind in TOLD:
                self._listen_to(device)
        for button in self._buttons.values():
            self._presses[button.id] = PressListener(button.options, partial(self._pressed, button.id))
        # Ready, and with nothing to show.
        await self.show("")

    def listen(self, buttons: Sequence[WiredButton], pressed: Callable[[str, Press], None]) -> None:
        """Listens to buttons from `start` on.

        Args:
            buttons: Those on our pins.
            pressed: Called with a button's id and each press.
        """
        self._buttons = {button.id: button for button in buttons}
        self._pressed = pressed

    async def move(self, device: Device, change: Change) -> State:
        """Moves it in steps, and reads back what it then is at."""
        if device.kind in TOLD:
            raise DeviceError("only tells how it is")
        level = self._level(device, change)
        if level is None:
            raise DeviceError("cannot do that")
        outlet = self._outlets.get(device.id) or await self._open(device, None)
        if outlet is None:
            raise NotAvailableError(f"is not available: {self._troubles[device.id]}")
        try:
            await self._fade(outlet, level, device.options.fade_s if device.can else 0.0)
        except OSError as error:
            await self._lost(device, str(error))
            raise NotConfirmedError(f"did not confirm it: {error}") from error
        finally:
            # Also where a time-out ended it half-way.
            if device.id in self._outlets:
                await self._read(device)
        state = self._states[device.id]
        if not state.available:
            raise NotConfirmedError(f"did not confirm it: {self._troubles[device.id]}")
        if _percent(level) != self._shown(state):
            raise NotConfirmedError(f"did not confirm it: its pin is at {_said(device, self._shown(state))}")
        await self._keep()
        return state

    def health(self) -> str:
        """ "ok", or what is wrong."""
        found = [f"the {self._name(each)}: {why}" for each, why in self._all_troubles().items()]
        if self._led and self._led.trouble:
            found.append(f"the status LED: {self._led.trouble}")
        return "; ".join(found) or "ok"

    def notes(self) -> Mapping[str, str]:
        """Which lamps may flicker."""
        dimmed = [device.name for device in self._devices if device.options.software_pwm]
        return {"software PWM": f"it may flicker while the processor is busy: {', '.join(dimmed)}"} if dimmed else {}

    async def probe(self) -> list[str]:
        """Looks at every line and channel that is not ours yet, and asks for none."""
        troubles = self._all_troubles()
        looks: dict[str, Callable[[], None]] = {each.id: partial(examine, each.options) for each in self._devices}
        for button in self._buttons.values():
            looks[button.id] = partial(examine_line, LineName(button.options.line, button.options.chip))
        for id, look in looks.items():
            if id in self._outlets or id in self._listeners or id in self._presses:
                continue
            try:
                look()
                troubles.pop(id, None)  # the next command will find it
            except OSError as error:
                troubles[id] = str(error)
        found = [f"the {self._name(each)} is not available: {why}" for each, why in troubles.items()]
        return found + (self._led.probe() if self._led else [])

    async def show(self, status: str) -> None:
        """Shows it on the status LED, if there is one."""
        if self._led is not None:
            self._led.show(status)

    def close(self) -> None:
        """Gives all lines back; most chips leave them as they are. Twice is fine."""
        for outlet in self._outlets.values():
            outlet.close()
        for listener in self._listeners.values():
            listener.close()
        for button in self._presses.values():
            button.close()
        if self._led is not None:
            self._led.close()
        self._outlets, self._listeners, self._presses = {}, {}, {}

    async def _boot(self, device: Device) -> None:
        """Opens an output at the level that its policy wants, in one request."""
        level: float | None = 0.0
        left = self._left.get(device.id)
        if isinstance(left, Mapping):
            percent = left.get("percent")
            if type(percent) is int and 1 <= percent <= 100:
                self._usual[device.id] = percent
                if device.options.boot == "last" and left.get("on") is True:
                    level = percent / 100 if device.can else 1.0
        if device.options.boot == "keep":
            level = None
        if await self._open(device, level) is not None:
            await self._read(device)

    async def _open(self, device: Device, level: float | None) -> Outlet | None:
        """Asks for what it hangs on; None where that is not to be had, and then `_troubles` says why."""
        try:
            outlet = await open_outlet(device.options, device.kind in LIGHTS, level)
        except OSError as error:
            await self._lost(device, str(error))
            return None
        self._troubles.pop(device.id, None)
        self._outlets[device.id] = outlet
        return outlet

    def _listen_to(self, device: Device) -> None:
        options: GpioOptions = device.options
        assert options.line is not None

        def tell(active: bool | None) -> None:
            if active is None:
                self._set(device, State(available=False))
            elif device.kind is Kind.DETECTOR:
                self._set(device, State(detected=active))
            else:
                self._set(device, State(open=active))

        name = LineName(options.line, options.chip)
        self._listeners[device.id] = Listener(name, options, tell, lambda edge: tell(edge.active))

    async def _fade(self, outlet: Outlet, level: float, duration_s: float) -> None:
        loop = asyncio.get_running_loop()
        start = await asyncio.to_thread(outlet.read)
        begun = loop.time()
        for number, step in enumerate(steps(start, level, duration_s), 1):
            if duration_s:
                # From the beginning on, so that a busy processor costs steps their evenness, and no time.
                await asyncio.sleep(begun + number * STEP_S - loop.time())
            outlet.set(step)

    async def _read(self, device: Device) -> None:
        """Takes in what it is at."""
        try:
            level = await asyncio.to_thread(self._outlets[device.id].read)
        except OSError as error:
            await self._lost(device, str(error))
            return
        percent = _percent(level)
        state, ability = State(on=percent > 0), _ability(device)
        if ability and percent:
            self._usual[device.id] = percent
        usual = self._usual.get(device.id, 100)
        if ability == "brightness":
            state = replace(state, brightness=usual)
        elif ability == "speed":
            state = replace(state, speed=usual)
        self._set(device, state)

    async def _lost(self, device: Device, why: str) -> None:
        """It is gone; the next command asks for it anew."""
        if self._troubles.get(device.id) != why:
            _log.warning("%s: %s", device.name, why)
        self._troubles[device.id] = why
        outlet = self._outlets.pop(device.id, None)
        if outlet is not None:
            await asyncio.to_thread(outlet.close)
        self._set(device, State(available=False))

    async def _keep(self) -> None:
        """Records how all outputs are, for the next start; one that is not to be had is as it was left."""
        record: dict[str, Any] = {}
        for device in self._devices:
            state = self._states[device.id]
            if state.on is not None:
                record[device.id] = {"on": state.on, "percent": self._usual.get(device.id, 100)}
            elif device.id in self._left:
                record[device.id] = self._left[device.id]
        if self._store is not None and record != self._left:
            self._left = record
            await self._store.write(DOCUMENT, record)

    def _level(self, device: Device, change: Change) -> float | None:
        """What a change comes to, 0.0 to 1.0; None where it is none of ours."""
        if change.on is False:
            return 0.0
        ability = _ability(device)
        if ability is None:
            return 1.0 if change.on else None
        percent = change.brightness if ability == "brightness" else change.speed
        if percent is not None:
            return percent / 100
        return self._usual.get(device.id, 100) / 100 if change.on else None

    @staticmethod
    def _shown(state: State) -> int:
        """What a state comes to, in percent."""
        if not state.on:
            return 0
        return state.brightness or state.speed or 100

    def _all_troubles(self) -> dict[str, str]:
        """Of devices and buttons, by their ids."""
        deaf = {each: listener.trouble for each, listener in self._listeners.items() if listener.trouble}
        buttons = {each: button.trouble for each, button in self._presses.items() if button.trouble}
        return {**self._troubles, **deaf, **buttons}

    def _name(self, id: str) -> str:
        if id in self._buttons:
            return self._buttons[id].name
        return next(device.name for device in self._devices if device.id == id)

    def _set(self, device: Device, state: State) -> None:
        if self._states.get(device.id) != state:
            self._states[device.id] = state
            self._report(device.id, state)


def _ability(device: Device) -> Literal["brightness", "speed"] | None:
    if "brightness" in device.can:
        return "brightness"
    return "speed" if "speed" in device.can else None


def _percent(level: float) -> int:
    """The nearest percentage; what is not off is at 1 percent at least."""
    return max(1, round(level * 100)) if level > 0 else 0


def _said(device: Device, percent: int) -> str:
    return f"{percent} percent" if device.can and percent else ("on" if percent else "off")


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: GpioSettings | None, report: Report) -> AsyncIterator[Driver]:
    driver = GpioDriver(devices, settings or GpioSettings(), report)
    try:
        yield driver
    finally:
        driver.close()


GPIO = DriverType(
    options=GpioOptions,
    settings=GpioSettings,
    check=check,
    open=_open,
    check_settings=check_settings,
    button=GpioButton,
    check_button=check_button,
    wanted=lambda settings: settings.led is not None,
)
