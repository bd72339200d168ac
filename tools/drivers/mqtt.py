"""Devices that listen and tell on topics of their own: one connection for all of them.

A command is never retained, and sent only while connected, so that no broker keeps it for a lamp that comes back
hours later. A broker that speaks MQTT 5 tells when it refuses one. It is done when the device itself says so on
its state topic.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agent.config.secrets import read_password
from agent.schema import Range
from tools.device import RISKY, Change, Device, State
from tools.drivers import (
    DeviceError,
    Driver,
    DriverType,
    FirstTry,
    NotAvailableError,
    NotConfirmedError,
    Report,
    beside,
)
from tools.drivers.modes import LastModes
from tools.drivers.mqtt_payloads import (
    MqttOptions,
    check,
    command,
    confirmed,
    read_availability,
    read_state,
    reported,
)

if TYPE_CHECKING:
    import aiomqtt

    from agent.mqtt.connection import Endpoint
    from agent.mqtt.publisher import Publisher

_log = logging.getLogger(__name__)

_FENCE = "hearth/fence"


@dataclass(frozen=True)
class MqttBroker:
    """The table `[tools.mqtt]`: the broker that the devices are at."""

    host: str = "127.0.0.1"
    """Its name or address."""

    port: Annotated[int, Range(1, 65535)] = 1883
    """Its port."""

    username: str | None = None
    """Who we are there."""

    password_file: Path | None = None
    """A file with the password; without it systemd's credential "mqtt-password" is tried."""

    tls: bool = False
    """Encrypt the connection; most brokers have port 8883 for it."""

    ca_file: Path | None = None
    """The authority that signed the broker's certificate; without it those of the system."""

    confirm_timeout_s: Annotated[float, Range(0.1, 60)] = 2.0
    """How long a device may take to say that it is done, in seconds."""

    def password(self) -> str | None:
        """The password, read when it is needed.

        Raises:
            SettingsError: `password_file` cannot be read, or others may read it as well.
        """
        return read_password(self.password_file, "tools", "mqtt")


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
        self._publisher: Publisher | None = None
        self._protocol: aiomqtt.ProtocolVersion | None = None
        self.first_try = FirstTry(broker.confirm_timeout_s)
        self._trouble = "not connected yet"
        self._refused: list[str] = []
        self._told: set[str] = set()
        self._unread: dict[str, str] = {}
        self._news = asyncio.Event()
        self._modes = LastModes()
        self._devices = tuple(devices)
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
        """Sends the command, and waits for the device to say that it is done, or on its way."""
        import aiomqtt

        from agent.mqtt.publisher import NOBODY_LISTENS, REFUSED

        await self.first_try.wait()
        if self._publisher is None:
            raise NotAvailableError(f"is not available: {self.health()}")
        if device.id in self._gone:
            raise NotAvailableError("is not available")
        topic = device.options.command_topic
        change = self._modes.resolve(device, change)
        payload = command(device, change)
        if payload is None:
            raise DeviceError("cannot do that")
        before = self._states[device.id]
        heard = self._heard[device.id] = asyncio.Queue()
        last, answer = None, 0
        try:
            async with asyncio.timeout(self._broker.confirm_timeout_s):
                answer = await self._publisher.publish(topic, payload)
                if answer >= REFUSED:
                    _log.warning("%s: the broker refuses a command on %s (code %d)", device.name, topic, answer)
                    raise NotConfirmedError("did not get it: the broker refused it")
                while True:
                    last = await heard.get()
                    done = confirmed(device, change, before, last)
                    if done is not None:
                        return done
        except aiomqtt.MqttError as error:
            raise NotAvailableError(f"is not available: {error}") from error
        except TimeoutError:
            if last is not None:
                text = f"did not confirm it: it reports {reported(device, change, last)}"
            else:
                text = "did not confirm it in time"
                # Some brokers do not know of all who listen, so the device was waited for all the same.
                if answer == NOBODY_LISTENS:
                    _log.warning("%s: nothing listens on %s", device.name, topic)
            raise NotConfirmedError(text) from None
        finally:
            del self._heard[device.id]

    def health(self) -> str:
        """ "ok", or why the devices cannot be reached or heard."""
        if self._publisher is None:
            return f"no connection to the MQTT broker at {self._broker.host}:{self._broker.port} ({self._trouble})"
        return f"the broker refuses to tell {', '.join(self._refused)}" if self._refused else "ok"

    async def probe(self) -> list[str]:
        """Tries the connection and every topic.

        Each command topic is sent an empty message, which no device takes for a command; those of locks and
        garage doors are not, as one that takes it for a command all the same would let somebody in.
        """
        from tools.drivers import mqtt_probe

        with suppress(TimeoutError):
            async with asyncio.timeout(mqtt_probe.CONNECTED_WITHIN_S):
                await self.first_try.over.wait()
        if self._publisher is None:
            return [await mqtt_probe.connection_trouble(self._endpoint(), self._trouble)]
        names = {device.options.command_topic: device.name for device in self._devices if device.kind not in RISKY}
        names.pop(None, None)
        troubles = [mqtt_probe.unreadable(topic) for topic in self._refused]
        troubles += await mqtt_probe.write_troubles(self._publisher, names)
        # A device may have answered to that.
        with suppress(TimeoutError):
            async with asyncio.timeout(mqtt_probe.HEARD_WITHIN_S):
                while self._silent():
                    self._news.clear()
                    await self._news.wait()
        troubles += [mqtt_probe.silent(topic) for topic in self._silent()]
        troubles += [mqtt_probe.garbled(topic, why) for topic, why in self._unread.items()]
        gone = [device for device in self._devices if device.id in self._gone]
        return troubles + [mqtt_probe.gone(device.name, device.options.availability_topic) for device in gone]

    def _silent(self) -> list[str]:
        """Topics that nothing was ever heard on, though the broker did not refuse them."""
        topics = (*self._by_state, *self._by_availability)
        return [topic for topic in topics if topic not in self._told and topic not in self._refused]

    async def run(self) -> None:
        """Keeps connected until cancelled."""
        import aiomqtt  # costs a while, and a house without MQTT devices does not need it

        first, longest = self._waits
        wait = first
        while True:
            try:
                async with self._connection() as client:
                    wait = first
                    async for message in client.messages:
                        self._hear(message)
            except (aiomqtt.MqttError, OSError) as error:
                self._disconnected(str(error))
            except Exception as error:  # one that nobody thought of must not end the connection for good
                _log.exception("the devices' MQTT connection failed")
                self._disconnected(f"{type(error).__name__}: {error}")
            finally:
                self._publisher = None
            self.first_try.over.set()
            # Many houses lose one broker at the same moment; they should not all come back at one.
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            wait = min(longest, wait * 2)

    def _endpoint(self) -> Endpoint:
        from agent.mqtt.connection import Endpoint

        broker = self._broker
        # Without an identifier the broker makes a new one each time, so no two houses can have the same.
        return Endpoint(
            broker.host,
            broker.port,
            username=broker.username,
            password=self._password,
            keepalive_s=30,
            tls=broker.tls,
            ca_file=broker.ca_file,
        )

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[aiomqtt.Client]:
        """A connection on which all is heard that the broker knows."""
        from aiomqtt import ProtocolVersion

        from agent.mqtt.publisher import Publisher

        endpoint = self._endpoint()
        if self._protocol is None:
            self._protocol = await endpoint.protocol()
        newest = self._protocol is ProtocolVersion.V5
        async with endpoint.connect(self._protocol) as client:
            await self._subscribe(client, newest)
            self._connected(Publisher(client, newest, self._broker.confirm_timeout_s))
            yield client

    async def _subscribe(self, client: aiomqtt.Client, newest: bool) -> None:
        """Subscribes, and hears what is retained before the first command is sent."""
        from paho.mqtt.subscribeoptions import SubscribeOptions

        quality: Any = SubscribeOptions(1) if newest else 1
        topics = [*self._by_state, *self._by_availability]
        self._gone.clear()
        self._refused = []
        for start in range(0, len(topics), 100):
            some = topics[start : start + 100]
            codes = await client.subscribe([(topic, quality) for topic in some])
            self._refused += [
                topic for topic, code in zip(some, codes, strict=False) if getattr(code, "is_failure", code == 128)
            ]
        if self._refused:
            _log.warning("the broker refuses subscriptions to %s", ", ".join(self._refused))
        # The answer to this comes after all retained messages.
        await client.unsubscribe(_FENCE)
        while len(client.messages):
            self._hear(await anext(client.messages))

    def _connected(self, publisher: Publisher) -> None:
        _log.info("connected to the devices' broker at %s:%d", self._broker.host, self._broker.port)
        self._publisher = publisher
        self.first_try.over.set()
        for device_id, state in list(self._states.items()):
            self._set(device_id, replace(state, available=device_id not in self._gone))

    def _disconnected(self, reason: str) -> None:
        if self._publisher is not None or not self.first_try.over.is_set():
            _log.warning("no connection to the devices' broker: %s; trying again", reason)
        if self._publisher is None:
            self._protocol = None  # it may be another broker, or a newer one, that comes back
        self._publisher = None
        self._trouble = reason
        for device_id, state in list(self._states.items()):
            self._set(device_id, replace(state, available=False))

    def _hear(self, message: aiomqtt.Message) -> None:
        topic = str(message.topic)
        payload = message.payload if isinstance(message.payload, bytes) else b""
        self._told.add(topic)
        self._unread.pop(topic, None)
        self._news.set()
        for device in (*self._by_availability.get(topic, ()), *self._by_state.get(topic, ())):
            try:
                self._hear_of(device, topic, payload, bool(message.retain))
            except (ValueError, ArithmeticError) as error:  # costs this device only, and not the connection
                self._unread[topic] = str(error)
                _log.warning("%s: cannot read %d bytes: %s", topic, len(payload), error)

    def _hear_of(self, device: Device, topic: str, payload: bytes, retained: bool) -> None:
        if topic == device.options.availability_topic:
            available = read_availability(payload, device.options)
            (self._gone.discard if available else self._gone.add)(device.id)
            self._set(device.id, replace(self._states[device.id], available=available))
            return
        state = read_state(device, payload, self._states[device.id])
        state = replace(state, old=retained and device.options.availability_topic is None)
        self._set(device.id, state)
        # What is retained was true before the command that may be waiting here.
        if not retained and device.id in self._heard:
            self._heard[device.id].put_nowait(state)

    def _set(self, device_id: str, state: State) -> None:
        if self._states[device_id] != state:
            self._states[device_id] = state
            self._modes.hear(device_id, state)
            self._report(device_id, state)


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
