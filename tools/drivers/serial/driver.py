"""Moves what hangs on the board, keeps it as it is to be, and hears its inputs."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from tools.device import Change, Device, State
from tools.drivers import DeviceError, FirstTry, NotAvailableError, NotConfirmedError, Press, Report, WiredButton
from tools.drivers.serial import protocol
from tools.drivers.serial.finding import Candidate, Finder, NoBoardError, candidates
from tools.drivers.serial.levels import level_of, percent_of
from tools.drivers.serial.link import HELLO_WAIT_S, Link, LinkError, LinkFailedError, RefusedError
from tools.drivers.serial.options import SerialOptions, SerialSettings
from tools.drivers.serial.port import Port
from tools.drivers.serial.protocol import MAX_LEVEL, BootLevel, InputEvent, SafeRequest, SilenceRequest

_log = logging.getLogger(__name__)

_LOOK_S = 2.0
"""How often the board is asked how it is: by this a hung one is found, and one that was reset unheard."""

_FIRST_TRY_S = 6.0
"""How long a call waits for the board right after the start; a board that the opening resets takes 2 s."""

_PRESSES: dict[int, Press] = {
    protocol.Press.PRESSED: "pressed",
    protocol.Press.RELEASED: "released",
    protocol.Press.SHORT: "short",
    protocol.Press.LONG: "long",
}


class SerialDriver:
    """The devices at one board."""

    def __init__(
        self,
        devices: Sequence[Device],
        settings: SerialSettings,
        report: Report,
        find: Callable[[], Sequence[Candidate]] | None = None,
        first_wait_s: float = 0.5,
        longest_wait_s: float = 2.0,
        look_s: float = _LOOK_S,
        hello_wait_s: float = HELLO_WAIT_S,
    ) -> None:
        """A driver that has not found its board yet; `run` finds it.

        Args:
            devices: Those that it moves.
            settings: Where the board is.
            report: Called with each state.
            find: The ports that may be tried; None for those that the settings and the USB ids allow.
            first_wait_s: How long to wait before the second try to connect; doubles each time.
            longest_wait_s: Where the doubling ends.
            look_s: How often the board is asked how it is.
            hello_wait_s: How long a board may take to say who it is.
        """
        self._settings = settings
        self._report = report
        self._waits = (first_wait_s, longest_wait_s)
        # The board must hear us well before it takes us for silent.
        self._look_s = min(look_s, settings.silence_s / 3) if settings.silence_s else look_s
        self._finder = Finder(find or self._candidates, settings.board, self._make_link, hello_wait_s)
        self._link: Link | None = None
        self._trouble = "not connected yet"
        self.first_try = FirstTry(_FIRST_TRY_S)
        self._look = asyncio.Event()
        # A move and what is sent after a reset must not overtake each other.
        self._order = asyncio.Lock()
        self._boots: int | None = None
        self._levels: dict[int, int] = {}
        """What each channel is to have, as it was confirmed last; none where that is not known."""
        self._bright: dict[str, int] = {}
        self._devices = tuple(devices)
        self._buttons: list[tuple[WiredButton, Callable[[str, Press], None]]] = []
        self._held: set[str] = set()
        self._events = 0
        self._states = {device.id: State(available=False) for device in devices}
        for device in devices:
            report(device.id, self._states[device.id])

    def _candidates(self) -> Sequence[Candidate]:
        return candidates(self._settings.port)

    def _make_link(self, port: Port) -> Link:
        return Link(port, self._pressed, self._look.set, self._settings.reply_timeout_s)

    def listen(self, buttons: Sequence[WiredButton], pressed: Callable[[str, Press], None]) -> None:
        """Listens to buttons from now on.

        Args:
            buttons: Those on the board's inputs.
            pressed: Called with a button's id and each press.
        """
        self._buttons += [(button, pressed) for button in buttons]

    async def move(self, device: Device, change: Change) -> State:
        """Sets the channel, and reads back that the board has it so."""
        await self.first_try.wait()
        if device.options.input is not None or not any((change.on is not None, change.brightness)):
            raise DeviceError("cannot do that")
        async with self._order:
            link = self._link
            if link is None or link.failed:
                raise NotAvailableError(f"is not available: {self.health()}")
            channel = self._channel(link, device.options)
            if channel is None:
                raise NotAvailableError(f"is not available: {_missing(link, device.options)}")
            level = self._level(device, change)
            # Until it is confirmed it is not known whether it was done, also where the caller waits no longer: then
            # neither the old level nor the new one is sent again later.
            before = self._levels.pop(channel, None)
            try:
                told = await link.set(channel, level, device.options.fade)
            except RefusedError as error:
                if before is not None:
                    self._levels[channel] = before
                raise DeviceError(f"was not moved: {error}") from error
            except LinkError as error:
                raise NotConfirmedError(f"did not confirm it: {error}") from error
            self._levels[channel] = told.target
            self._tell(link, channel, told.target)
            return self._states[device.id]

    def _level(self, device: Device, change: Change) -> int:
        """The level that a change asks for, in per mille."""
        if change.on is False:
            return 0
        if "brightness" not in device.can:
            return MAX_LEVEL
        return level_of(change.brightness or self._bright.get(device.id, 100))

    def health(self) -> str:
        """ "ok", or why the devices cannot be reached."""
        if self._link is None or self._link.failed:
            return f"no connection to the board ({self._link.failed if self._link else self._trouble})"
        wrong = self._wrong(self._link)
        return "; ".join(wrong) or "ok"

    def _wrong(self, link: Link) -> list[str]:
        """Devices and buttons that hang on what the board does not have."""
        hung: list[tuple[str, SerialOptions]] = [(each.name, each.options) for each in self._devices]
        hung += [(each.name, SerialOptions(input=each.options.input)) for each, _ in self._buttons]
        return [f'"{name}": {_missing(link, at)}' for name, at in hung if not self._is_there(link, at)]

    async def probe(self) -> list[str]:
        """Whether the board is found and has all that the devices hang on; nothing moves."""
        await self.first_try.wait()
        return [] if self.health() == "ok" else [f"{self.health()}: see docs/serial.md"]

    async def run(self) -> None:
        """Keeps connected until cancelled."""
        first, longest = self._waits
        wait = first
        while True:
            try:
                link = await self._finder.open()
                try:
                    async with self._order:
                        await self._take_over(link)
                    wait = first
                    await self._watch(link)
                except LinkError as error:
                    self._disconnected(str(error))  # before the port is closed, which may take a while
                    raise
                finally:
                    await link.close()
            except (NoBoardError, LinkError, OSError) as error:
                self._disconnected(str(error))
            except Exception as error:  # one that nobody thought of must not end the connection for good
                _log.exception("the connection to the board failed")
                self._disconnected(f"{type(error).__name__}: {error}")
            finally:
                self._link = None
            self.first_try.over.set()
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            wait = min(longest, wait * 2)

    async def _take_over(self, link: Link) -> None:
        """Makes a board that has said hello ours, and every channel as it is to be."""
        if not any(link.hello.board_id):
            await link.name(secrets.token_bytes(8))
        await self._configure(link)
        await self._synchronize(link)
        self._link = link
        self.first_try.over.set()
        hello = link.hello
        _log.info(
            "the board %s with firmware %d.%d is at %s", hello.board_id.hex(), hello.major, hello.minor, link.path
        )
        for trouble in self._wrong(link):
            _log.warning("%s", trouble)

    async def _configure(self, link: Link) -> None:
        """What the board does without us; it writes to its EEPROM only what is new."""
        await link.set_silence(SilenceRequest(self._settings.silence))
        for device in self._devices:
            channel = self._channel(link, device.options)
            if channel is not None:
                options: SerialOptions = device.options
                await link.set_safe(SafeRequest(channel, options.safe_level, options.boot_level(device.kind)))

    async def _watch(self, link: Link) -> None:
        """Looks how the board is, again and again, until the link fails.

        Raises:
            LinkFailedError: Then.
        """
        while not link.failed:
            self._look.clear()
            looking = [asyncio.ensure_future(event.wait()) for event in (self._look, link.ended)]
            try:
                await asyncio.wait(looking, timeout=self._look_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in looking:
                    each.cancel()
            async with self._order:
                await link.say_hello()
                await self._synchronize(link)
        raise LinkFailedError(link.failed)

    async def _synchronize(self, link: Link) -> None:
        """Brings each channel of ours to what it is to have, and tells how all of it is.

        After a reset the board has restored its levels itself, as its boot policy says. It may have lost the last
        seconds of them, and fallen to its safe levels when we were silent: what was confirmed is sent again, but not
        over a policy that wants something else after a reset.
        """
        boots = link.hello.boots
        rebooted = self._boots is not None and boots != self._boots
        if rebooted:
            _log.warning("the board was reset (%s)", _cause(link.hello.reset_cause))
            await self._configure(link)
        levels = await link.levels()
        for device in self._devices:
            channel = self._channel(link, device.options)
            if channel is None:
                continue
            wanted, told = self._levels.get(channel), levels[channel].target
            lasts = device.options.boot_level(device.kind) is BootLevel.LAST
            if wanted is not None and wanted != told and (lasts or not rebooted):
                told = (await link.set(channel, wanted, device.options.fade)).target
            self._levels[channel] = told
            self._tell(link, channel, told)
        await self._read_inputs(link)
        # Last, so that a reset is still one if this failed half-way.
        self._boots = boots

    async def _read_inputs(self, link: Link) -> None:
        """How the inputs are, as an event of one may have been lost."""
        if not link.hello.inputs:
            return
        events = self._events
        bits = await link.inputs()
        if self._events != events:
            return  # an event came meanwhile, and may be newer
        for device in self._devices:
            if device.options.input is not None and self._is_there(link, device.options):
                self._set(device.id, State(detected=bool(bits >> device.options.input & 1)))
        self._release(bits)

    def _tell(self, link: Link, channel: int, level: int) -> None:
        """Reports the devices of a channel."""
        for device in self._devices:
            if self._channel(link, device.options) != channel:
                continue
            state = State(on=level > 0)
            if "brightness" in device.can:
                if level:
                    self._bright[device.id] = percent_of(level)
                state = replace(state, brightness=self._bright.get(device.id))
            self._set(device.id, state)

    def _pressed(self, event: InputEvent) -> None:
        self._events += 1
        press = _PRESSES.get(event.press)
        if press is None:
            return
        for device in self._devices:
            if device.options.input == event.input and press in ("pressed", "released"):
                self._set(device.id, State(detected=press == "pressed"))
        for button, pressed in self._buttons:
            if button.options.input == event.input:
                if press == "pressed":
                    self._held.add(button.id)
                elif press == "released":
                    self._held.discard(button.id)
                pressed(button.id, press)

    def _release(self, bits: int) -> None:
        """Tells of buttons whose release was lost on the way: who holds one to talk must not be heard for ever."""
        for button, pressed in self._buttons:
            if button.id in self._held and not bits >> button.options.input & 1:
                self._held.discard(button.id)
                pressed(button.id, "released")

    def _disconnected(self, reason: str) -> None:
        if self._link is not None or reason != self._trouble:
            _log.warning("no connection to the board: %s; trying again", reason)
        self._link = None
        self._trouble = reason
        self._release(0)
        for device_id, state in list(self._states.items()):
            self._set(device_id, replace(state, available=False))

    def _set(self, device_id: str, state: State) -> None:
        if self._states[device_id] != state:
            self._states[device_id] = state
            self._report(device_id, state)

    def _is_there(self, link: Link, options: SerialOptions) -> bool:
        if options.input is not None:
            return options.input < link.hello.inputs
        return self._channel(link, options) is not None

    @staticmethod
    def _channel(link: Link, options: SerialOptions) -> int | None:
        """The board's number of what a device hangs on: relays come after the dimmable channels."""
        hello = link.hello
        if options.channel is not None:
            return options.channel if options.channel < hello.dim_channels else None
        if options.relay is not None:
            return hello.dim_channels + options.relay if options.relay < hello.relay_channels else None
        return None


def _missing(link: Link, options: SerialOptions) -> str:
    hello = link.hello
    if options.channel is not None:
        return f"the board has no channel {options.channel}, but {hello.dim_channels} from 0 on"
    if options.relay is not None:
        return f"the board has no relay {options.relay}, but {hello.relay_channels} from 0 on"
    return f"the board has no input {options.input}, but {hello.inputs} from 0 on"


def _cause(bits: int) -> str:
    """What began the board's run, in words."""
    return " and ".join((each.name or "").lower().replace("_", " ") for each in protocol.ResetCause(bits)) or "unknown"
