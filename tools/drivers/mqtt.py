"""Devices that listen and tell on topics of their own: one connection for all of them.

A command is sent once, never retained, at QoS 0 and only while connected, so that no broker keeps it for a
lamp that comes back hours later. It is done when the device itself says so on its state topic.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import SettingsError
from tools.drivers import (
    LIGHTS,
    Change,
    Device,
    Driver,
    DriverType,
    NotAvailableError,
    NotConfirmedError,
    Report,
    State,
)
from tools.drivers.mqtt_payloads import (
    MqttOptions,
    command,
    confirms,
    read_availability,
    read_state,
    speaks_json,
)

if TYPE_CHECKING:
    import aiomqtt

_log = logging.getLogger(__name__)

_FENCE = "hearth/fence"


@dataclass(frozen=True)
class MqttBroker:
    """The table `[tools.mqtt]`: the broker that the devices are at."""

    host: str = "127.0.0.1"
    """Its name or address."""

    port: int = 1883
    """Its port."""

    username: str | None = None
    """Who we are there."""

    password_file: Path | None = None
    """A file with the password; without it systemd's credential "mqtt-password" is tried."""

    tls: bool = False
    """Encrypt the connection; most brokers have port 8883 for it."""

    ca_file: Path | None = None
    """The authority that signed the broker's certificate; without it those of the system."""

    confirm_timeout_s: float = 2.0
    """How long a device may take to say that it is done, in seconds."""

    def password(self) -> str | None:
        """The password, read when it is needed.

        Raises:
            SettingsError: `password_file` cannot be read.
        """
        path = self.password_file
        if path is None:
            path = Path(os.environ.get("CREDENTIALS_DIRECTORY", "/nonexistent"), "mqtt-password")
            if not path.is_file():
                return None
        try:
            return path.read_text().removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"tools.mqtt: the password file {path} cannot be read: {error}") from error


class MqttDriver:
    """Moves devices over MQTT, and hears how they are."""

    def __init__(
        self,
        devices: Sequence[Device],
        broker: MqttBroker,
        report: Report,
        first_wait_s: float = 1.0,
        longest_wait_s: float = 60.0,
    ) -> None:
        """A driver that is not connected yet; `run` connects it.

        Args:
            devices: Those that it moves.
            broker: Where they are.
            report: Called with each state.
            first_wait_s: How long to wait before the second try to connect; doubles each time.
            longest_wait_s: Where the doubling ends.
        """
        self._broker = broker
        self._password = broker.password()
        self._report = report
        self._waits = (first_wait_s, longest_wait_s)
        self._client: aiomqtt.Client | None = None
        self._tried = asyncio.Event()
        self._trouble = "not connected yet"
        self._refused: list[str] = []
        # Nothing is known of a device before we are connected.
        self._states = {device.id: State(available=False) for device in devices}
        self._gone: set[str] = set()
        self._heard: dict[str, asyncio.Queue[State]] = {}
        self._by_state: dict[str, list[Device]] = {}
        self._by_availability: dict[str, list[Device]] = {}
        for device in devices:
            self._by_state.setdefault(device.options.state_topic, []).append(device)
            if device.options.availability_topic is not None:
                self._by_availability.setdefault(device.options.availability_topic, []).append(device)
            report(device.id, self._states[device.id])

    async def move(self, device: Device, change: Change) -> State:
        """Sends the command, and waits for the device to say that it is done."""
        await self._first_try()
        if self._client is None:
            raise NotAvailableError(f"is not available: {self.health()}")
        if device.id in self._gone:
            raise NotAvailableError("is not available")
        heard = self._heard[device.id] = asyncio.Queue()
        last: State | None = None
        try:
            await self._publish(device.options.command_topic, command(device, change))
            async with asyncio.timeout(self._broker.confirm_timeout_s):
                while last is None or not confirms(last, change):
                    last = await heard.get()
            return last
        except TimeoutError:
            raise NotConfirmedError(_unconfirmed(last, self._broker.confirm_timeout_s)) from None
        finally:
            del self._heard[device.id]

    def health(self) -> str:
        """ "ok", or why the devices cannot be reached or heard."""
        if self._client is None:
            return f"no connection to the MQTT broker at {self._broker.host}:{self._broker.port} ({self._trouble})"
        return f"the broker refuses to tell {', '.join(self._refused)}" if self._refused else "ok"

    async def run(self) -> None:
        """Keeps connected until cancelled."""
        import aiomqtt  # costs a while, and a house without MQTT devices does not need it

        first, longest = self._waits
        wait = first
        while True:
            try:
                async with self._new_client() as client:
                    await self._subscribe(client)
                    wait = first
                    self._connected(client)
                    async for message in client.messages:
                        self._hear(message)
            except aiomqtt.MqttError as error:
                self._disconnected(str(error))
            except Exception as error:  # one that nobody thought of must not end the connection for good
                _log.exception("the devices' MQTT connection failed")
                self._disconnected(f"{type(error).__name__}: {error}")
            finally:
                self._client = None
            self._tried.set()
            # Many houses lose one broker at the same moment; they should not all come back at one.
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            wait = min(longest, wait * 2)

    async def _first_try(self) -> None:
        """Right after the start a command waits for the connection; later it fails at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._broker.confirm_timeout_s):
                await self._tried.wait()

    async def _publish(self, topic: str, payload: str) -> None:
        import aiomqtt

        assert self._client is not None
        try:
            await self._client.publish(topic, payload, qos=0, retain=False)
        except aiomqtt.MqttError as error:
            raise NotAvailableError(f"is not available: {error}") from error

    def _new_client(self) -> aiomqtt.Client:
        import aiomqtt

        tls = None
        if self._broker.tls:
            ca_file = self._broker.ca_file
            tls = aiomqtt.TLSParameters(ca_certs=str(ca_file) if ca_file else None)
        # Without an identifier the broker makes a new one each time, so no two houses can have the same.
        return aiomqtt.Client(
            self._broker.host,
            self._broker.port,
            username=self._broker.username,
            password=self._password,
            tls_params=tls,
            keepalive=30,
        )

    async def _subscribe(self, client: aiomqtt.Client) -> None:
        """Subscribes, and hears what is retained before the first command is sent."""
        topics = [*self._by_state, *self._by_availability]
        self._gone.clear()
        self._refused = []
        for start in range(0, len(topics), 100):
            some = topics[start : start + 100]
            codes = await client.subscribe([(topic, 1) for topic in some])
            self._refused += [
                topic for topic, code in zip(some, codes, strict=False) if getattr(code, "is_failure", code == 128)
            ]
        if self._refused:
            _log.warning("the broker refuses subscriptions to %s", ", ".join(self._refused))
        # The answer to this comes after all retained messages.
        await client.unsubscribe(_FENCE)
        while len(client.messages):
            self._hear(await anext(client.messages))

    def _connected(self, client: aiomqtt.Client) -> None:
        _log.info("connected to the devices' broker at %s:%d", self._broker.host, self._broker.port)
        self._client = client
        self._tried.set()
        for device_id, state in list(self._states.items()):
            self._set(device_id, replace(state, available=device_id not in self._gone))

    def _disconnected(self, reason: str) -> None:
        if self._client is not None or not self._tried.is_set():
            _log.warning("no connection to the devices' broker: %s; trying again", reason)
        self._client = None
        self._trouble = reason
        for device_id, state in list(self._states.items()):
            self._set(device_id, replace(state, available=False))

    def _hear(self, message: aiomqtt.Message) -> None:
        topic = str(message.topic)
        payload = message.payload if isinstance(message.payload, bytes) else b""
        try:
            for device in self._by_availability.get(topic, ()):
                self._hear_availability(device, read_availability(payload, device.options))
            for device in self._by_state.get(topic, ()):
                state = read_state(device, payload, self._states[device.id])
                self._set(device.id, state)
                # What is retained was true before the command that may be waiting here.
                if not message.retain and device.id in self._heard:
                    self._heard[device.id].put_nowait(state)
        except ValueError as error:
            _log.warning("%s: cannot read %d bytes: %s", topic, len(payload), error)

    def _hear_availability(self, device: Device, available: bool) -> None:
        (self._gone.discard if available else self._gone.add)(device.id)
        self._set(device.id, replace(self._states[device.id], available=available))

    def _set(self, device_id: str, state: State) -> None:
        if self._states[device_id] != state:
            self._states[device_id] = state
            self._report(device_id, state)


def _unconfirmed(last: State | None, seconds: float) -> str:
    if last is None:
        return f"did not confirm it within {seconds:g} s"
    level = f" at {last.brightness} percent" if last.on and last.brightness is not None else ""
    return f"did not confirm it: it reports {last.word}{level}"


def _check(device: Device) -> None:
    options: MqttOptions = device.options
    for topic in (options.state_topic, options.command_topic, options.availability_topic):
        if topic is not None and (set(topic) & set("+#\0") or len(topic.encode()) > 65535):
            raise ValueError(f'{topic!r} is no topic of one device: "+" and "#" are not allowed')
    if device.moves and options.command_topic is None:
        raise ValueError("command_topic is missing")
    if device.kind in LIGHTS and not speaks_json(device) and device.can:
        raise ValueError('schema "plain" only switches; set can = [], or schema = "json"')


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: MqttBroker | None, report: Report) -> AsyncIterator[Driver]:
    driver = MqttDriver(devices, settings or MqttBroker(), report)
    running = asyncio.create_task(driver.run(), name="mqtt devices")
    try:
        yield driver
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


MQTT = DriverType(options=MqttOptions, settings=MqttBroker, check=_check, open=_open)
