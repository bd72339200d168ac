"""Devices that listen and tell on topics of their own: one connection for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from tools.device import RISKY, Change, Device, State
from tools.drivers import Driver, DriverType, Report, beside
from tools.drivers.broker import BrokerDriver, MqttBroker, Read
from tools.drivers.confirm import Steps, confirmed
from tools.drivers.mqtt_payloads import (
    MqttOptions,
    check,
    command,
    read_availability,
    read_state,
)


class MqttDriver(BrokerDriver):
    """Moves the devices of the settings, each of which has topics there."""

    def __init__(
        self,
        devices: Sequence[Device],
        broker: MqttBroker,
        report: Report,
        first_wait_s: float = 1.0,
        longest_wait_s: float = 60.0,
    ) -> None:
        """A driver of these devices; the rest is as for `BrokerDriver`."""
        super().__init__(broker, report, first_wait_s, longest_wait_s)
        self._devices = tuple(devices)
        self._gone: set[str] = set()
        self._by_state: dict[str, list[Device]] = {}
        self._by_availability: dict[str, list[Device]] = {}
        for device in devices:
            self._by_state.setdefault(device.options.state_topic, []).append(device)
            if device.options.availability_topic is not None:
                self._by_availability.setdefault(device.options.availability_topic, []).append(device)
            # Nothing is known of a device before we are connected.
            self._set(device.id, State(available=False))

    def topics(self) -> Collection[str]:
        """Where the devices tell how they are, and whether they are there."""
        return (*self._by_state, *self._by_availability)

    def readers(self, topic: str) -> Iterator[Read]:
        """One for each device that tells there."""
        for device in (*self._by_availability.get(topic, ()), *self._by_state.get(topic, ())):
            yield partial(self._hear_of, device, topic)

    def absence(self, device_id: str) -> str | None:
        """That the device said so."""
        return "is not available" if device_id in self._gone else None

    def message(self, device: Device, change: Change) -> tuple[str, str] | None:
        """A word or JSON for its `command_topic`."""
        payload = command(device, change)
        return None if payload is None else (device.options.command_topic, payload)

    def confirmed(self, device: Device, change: Change, before: State, state: State) -> State | None:
        """By what it tells, in its own steps."""
        steps = Steps(device.options.speed_scale, device.options.volume_scale)
        return confirmed(device, change, before, state, steps)

    def forget(self) -> None:
        """Who is gone is told anew."""
        self._gone.clear()

    async def probe(self) -> list[str]:
        """Tries the connection and every topic.

        Each command topic is sent an empty message, which no device takes for a command; those of locks and
        garage doors are not, as one that takes it for a command all the same would let somebody in.
        """
        from tools.drivers import mqtt_probe

        troubles = await self.no_connection()
        if troubles or self._publisher is None:
            return troubles
        names = {device.options.command_topic: device.name for device in self._devices if device.kind not in RISKY}
        names.pop(None, None)
        troubles = [mqtt_probe.unreadable(topic) for topic in self._refused]
        troubles += await mqtt_probe.write_troubles(self._publisher, names)
        # A device may have answered to that.
        troubles += [mqtt_probe.silent(topic) for topic in await self.heard_all(self._silent)]
        troubles += [mqtt_probe.garbled(topic, why) for topic, why in self._unread.items()]
        gone = [device for device in self._devices if device.id in self._gone]
        return troubles + [mqtt_probe.gone(device.name, device.options.availability_topic) for device in gone]

    def _silent(self) -> list[str]:
        """Topics that nothing was ever heard on, though the broker did not refuse them."""
        return [topic for topic in self.topics() if topic not in self._told and topic not in self._refused]

    def _hear_of(self, device: Device, topic: str, payload: bytes, retained: bool) -> None:
        if topic == device.options.availability_topic:
            available = read_availability(payload, device.options)
            (self._gone.discard if available else self._gone.add)(device.id)
            self._set(device.id, replace(self._states[device.id], available=available))
            return
        state = read_state(device, payload, self._states[device.id])
        self._tell(device.id, replace(state, old=retained and device.options.availability_topic is None), retained)


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: MqttBroker | None, report: Report) -> AsyncIterator[Driver]:
    driver = MqttDriver(devices, settings or MqttBroker(), report)
    async with beside(driver.run(), "mqtt devices"):
        yield driver


MQTT = DriverType(
    options=MqttOptions,
    settings=MqttBroker,
    check=check,
    open=_open,
    check_settings=MqttBroker.password,
    address=lambda device: device.options.command_topic,
)
