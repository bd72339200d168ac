"""A driver at a broker, and a client that plays its devices."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import aiomqtt

from agent.channels.broker import Broker
from tests.brokers import Mosquitto
from tools.device import Device, Kind, State
from tools.drivers import Report
from tools.drivers.broker import MqttBroker
from tools.drivers.mqtt import MqttDriver
from tools.drivers.mqtt_payloads import MqttOptions


def mqtt_device(name: str, kind: Kind, table: dict[str, Any] | None = None, **fields: Any) -> Device:
    """A device with the topics `<name>/state` and, if it moves, `<name>/set`."""
    device = Device(name, name, kind, driver="mqtt", **fields)
    topics = {"state_topic": f"{name}/state", "command_topic": f"{name}/set" if device.moves else None}
    return replace(device, options=MqttOptions(**{**topics, **(table or {})}))


class Bench:
    """A driver at a broker, its reports, and a client that plays the devices."""

    def __init__(
        self, client: aiomqtt.Client, devices: tuple[Device, ...], broker: MqttBroker, also: Report | None
    ) -> None:
        self.client = client
        self._also = also
        self.states: dict[str, State] = {}
        self.reports: list[State] = []
        self.changed = asyncio.Event()
        self.driver = MqttDriver(devices, broker, self.report, first_wait_s=0.05, longest_wait_s=0.2)

    def report(self, device_id: str, state: State) -> None:
        self.states[device_id] = state
        self.reports.append(state)
        if self._also is not None:
            self._also(device_id, state)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for reports until it is so."""
        async with asyncio.timeout(10):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def bench(
    broker: Mosquitto | Broker,
    *devices: Device,
    retained: dict[str, str] | None = None,
    confirm_timeout_s: float = 5.0,
    connected: bool = True,
    report: Report | None = None,
) -> AsyncIterator[Bench]:
    """A driver that is connected, unless that is not to be waited for, and hears what is retained.

    What it reports is handed to `report` as well.
    """
    place = MqttBroker(broker.host, broker.port, confirm_timeout_s=confirm_timeout_s)
    at_once = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    async with aiomqtt.Client(broker.host, broker.port, socket_options=at_once) as client:
        for topic, payload in (retained or {}).items():
            await client.publish(topic, payload, qos=1, retain=True)
        await client.subscribe("+/set", qos=1)
        made = Bench(client, devices, place, report)
        running = asyncio.create_task(made.driver.run())
        try:
            if connected:
                await made.driver.first_try.over.wait()
            yield made
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def answer(made: Bench, topic: str, *payloads: str | bytes) -> aiomqtt.Message:
    """Plays a device: takes one command, then says these."""
    message = await anext(made.client.messages)
    for payload in payloads:
        await made.client.publish(topic, payload, qos=1)
    return message
