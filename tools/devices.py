"""The devices as they are now: found by what people call them, moved in order, watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.house import HouseEvent
from agent.requester import requester_room
from tools.device import LOCKS, Change, Device, State
from tools.drivers import Connecting, DeviceError, Driver, FoundGroup, Noting, Showing
from tools.found import with_found
from tools.home import Floor, Home, Room
from tools.names.resolve import Found, Resolver, Wish
from tools.speech import listed

_log = logging.getLogger(__name__)

Plan = Callable[[Device, State], Change]
"""What to do to a device that is in a state."""

_MOST_NAMED = 8
"""How many devices a line names; the rest is counted."""

_QUEUED_EVENTS = 1_000
"""How far a watcher may fall behind before it misses the oldest events."""


@dataclass(frozen=True)
class Outcome:
    """What became of one device.

    Attributes:
        device: Which one.
        state: How it is afterwards.
        failure: Why it was not done, following the device's name ("is not available"); "" when it was.
    """

    device: Device
    state: State
    failure: str = ""


class Devices:
    """All devices of a home. Commands to one device run one after the other, in order of arrival."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._of_settings = home
        self._found: dict[str, tuple[tuple[Device, ...], tuple[FoundGroup, ...]]] = {}
        self._left_out: tuple[str, ...] = ()
        self._resolver = Resolver(home)
        self._drivers: dict[str, Driver] = {}
        self._devices = {device.id: device for device in home.devices}
        self._states = {device.id: State() for device in home.devices}
        # asyncio.Lock is fair: who waits first is served first.
        self._locks = {device.id: asyncio.Lock() for device in home.devices}
        self._watchers: set[asyncio.Queue[HouseEvent]] = set()

    def attach(self, name: str, driver: Driver) -> None:
        """Moves the devices of that driver's name with it from now on."""
        self._drivers[name] = driver

    def bring(self, name: str, devices: Sequence[Device], groups: Sequence[FoundGroup]) -> None:
        """Takes in all that the driver of that name has found; what it had found before and is gone leaves."""
        self._found[name] = (tuple(replace(device, driver=name) for device in devices), tuple(groups))
        found = [device for devices, _ in self._found.values() for device in devices]
        home, self._left_out = with_found(
            self._of_settings, found, [group for _, groups in self._found.values() for group in groups]
        )
        if home == self.home:
            return
        before, self._devices = self._devices, {device.id: device for device in home.devices}
        for device_id in self._devices:
            self._states.setdefault(device_id, State())
            self._locks.setdefault(device_id, asyncio.Lock())
        self._resolver = Resolver(home)
        self.home = home
        for device_id in before.keys() - self._devices.keys():
            self.tell(HouseEvent(device_id, {}))
        for device_id, device in self._devices.items():
            if before.get(device_id) != device:
                self.tell(HouseEvent(device_id, describe(device, self._states[device_id])))

    def find(self, words: str, wish: Wish) -> Found:
        """The devices that a person means; a kind alone, such as "the fan", is first that of the room they are in.

        Raises:
            PlaceError: They stand for nothing, or not for one thing.
        """
        return self._resolver.resolve(words, replace(wish, near=requester_room()))

    def find_or_only(self, words: str | None, wish: Wish) -> Found:
        """As `find`; without words the only device of the wished kinds.

        Raises:
            PlaceError: There is none, or there are several and it was not said which.
        """
        return self._resolver.only(wish) if words is None else self.find(words, wish)

    def area(self, words: str) -> Room | Floor | None:
        """The room or floor that a person means, whatever is in it; None where there is none, or it is not clear."""
        return self._resolver.area(words)

    def state(self, device: Device) -> State:
        """How it is, as far as it told."""
        return self._states[device.id]

    async def reached(self, ids: Collection[str]) -> None:
        """Right after the start: waits until the drivers of devices have tried to reach them, for some seconds."""
        names = {self._devices[each].driver for each in ids if each in self._devices}
        drivers = [driver for name, driver in self._drivers.items() if name in names]
        await asyncio.gather(*(driver.first_try.wait() for driver in drivers if isinstance(driver, Connecting)))

    def report(self, device_id: str, state: State) -> None:
        """Takes in what a device tells; for drivers."""
        if self._states.get(device_id) == state:
            return
        self._states[device_id] = state
        if device_id in self._devices:  # what was left out tells all the same
            self.tell(HouseEvent(device_id, describe(self._devices[device_id], state)))

    def tell(self, event: HouseEvent) -> None:
        """Tells all who watch."""
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(event)

    async def move(self, devices: Sequence[Device], plan: Plan) -> list[Outcome]:
        """Moves devices, all at once; each is planned when its turn has come.

        One that fails does not keep the others: its outcome says why.
        """
        return list(await asyncio.gather(*(self._move(device, plan) for device in devices)))

    async def _move(self, device: Device, plan: Plan) -> Outcome:
        async with self._locks[device.id]:
            await self.reached([device.id])  # it is planned from how the device is
            try:
                state = await self._drivers[device.driver].move(device, plan(device, self.state(device)))
            except DeviceError as error:
                return Outcome(device, self.state(device), str(error))
            except Exception:  # a driver's fault costs its own device, and is seen in the log
                _log.exception("%s: the driver %s failed", device.name, device.driver)
                return Outcome(device, self.state(device), "failed")
            return Outcome(device, state)

    async def events(self) -> AsyncIterator[HouseEvent]:
        """Every device as it is now, then each change of a device."""
        queue: asyncio.Queue[HouseEvent] = asyncio.Queue(_QUEUED_EVENTS)
        now = [HouseEvent(device.id, describe(device, self.state(device))) for device in self.home.devices]
        self._watchers.add(queue)
        try:
            for event in now:
                yield event
            while True:
                yield await queue.get()
        finally:
            self._watchers.discard(queue)

    async def show(self, status: str) -> None:
        """Shows what Hearth is doing, with each driver that can."""
        for driver in self._drivers.values():
            if isinstance(driver, Showing):
                await driver.show(status)

    def health(self) -> Mapping[str, str]:
        """One line for each driver; and "ok, ..." for each thing that is worth knowing, whether all is well or not."""
        lines = {name: driver.health() for name, driver in self._drivers.items()}
        for driver in self._drivers.values():
            if isinstance(driver, Noting):
                lines |= {about: f"ok, {note}" for about, note in driver.notes().items()}
        found = {device.id for devices, _ in self._found.values() for device in devices}
        homeless = [device.name for device in self.home.devices if device.id in found and device.room is None]
        if homeless:
            lines["rooms"] = f"ok, {len(homeless)} in no room: {listed(homeless, _MOST_NAMED)}"
        return lines

    async def probe(self) -> list[str]:
        """What is wrong with the drivers, a sentence for each trouble."""
        found = await asyncio.gather(*(driver.probe() for driver in self._drivers.values()))
        return [trouble for troubles in found for trouble in troubles] + list(self._left_out)


def describe(device: Device, state: State) -> dict[str, Any]:
    """A device and its state as primitives; what is not known is left out."""
    described: dict[str, Any] = {"state": state.word}
    for name in _DESCRIBED:
        value = getattr(state, name)
        if value is not None and value != "":
            described[name] = list(value) if name == "rgb" else value
    if state.value is not None and device.unit is not None:
        described["unit"] = device.unit
    if device.kind in LOCKS and state.open is not None:
        described["open"] = state.open  # that of the door; its word is about the bolt
    described |= {"available": state.available, "name": device.name, "kind": device.kind.value}
    if device.room is not None:
        described["room"] = device.room
    return described


_DESCRIBED = (
    "brightness", "rgb", "kelvin", "effect", "speed", "position", "temperature", "humidity", "target", "mode",
    "title", "volume", "muted", "value",
)  # fmt: skip
"""Fields of a state that its word does not tell."""
