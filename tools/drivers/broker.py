"""What every driver at a broker does alike: it stays connected, sends one message, and waits for the device's word.

A command is never retained, and sent only while connected, so that no broker keeps it for a lamp that comes back
hours later. A broker that speaks MQTT 5 tells when it refuses one. It is done when the device itself says so.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from agent.config.secrets import read_password
from agent.schema import Range
from tools.device import Change, Device, State
from tools.drivers import DeviceError, FirstTry, NotAvailableError, NotConfirmedError, Report, beside
from tools.drivers.confirm import confirmed, reported
from tools.drivers.modes import LastModes

if TYPE_CHECKING:
    import aiomqtt

    from agent.mqtt.connection import Endpoint
    from agent.mqtt.publisher import Publisher

_log = logging.getLogger(__name__)

_FENCE = "hearth/fence"

ASK_GAP_S = 0.05
"""How long a question to a device waits for the one before, in seconds."""

ASK_AGAIN_S = 5.0
"""How long the same question waits before it is put again, in seconds."""

Read = Callable[[bytes, bool], None]
"""Takes in a payload, and whether the broker had kept it; raises a ValueError where it cannot be understood."""


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


class BrokerDriver(ABC):
    """Moves devices over MQTT, and hears how they are.

    A driver says which topics it hears, what of them tells of which device, and what a device is sent.
    """

    table: ClassVar[str] = "mqtt"
    """The table of the settings that it has its broker from."""

    def __init__(
        self, broker: MqttBroker, report: Report, first_wait_s: float = 1.0, longest_wait_s: float = 60.0
    ) -> None:
        """A driver that is not connected yet; `run` connects it.

        Args:
            broker: Where the devices are.
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
        self._subscribed: set[str] = set()
        self._refused: list[str] = []
        self._told: set[str] = set()
        self._unread: dict[str, str] = {}
        self._news = asyncio.Event()
        self._modes = LastModes()
        self._states: dict[str, State] = {}
        self._heard: dict[str, asyncio.Queue[State]] = {}
        self._questions: dict[tuple[str, str], float] = {}
        self._asked: dict[tuple[str, str], float] = {}
        self._asking = asyncio.Event()

    @abstractmethod
    def topics(self) -> Collection[str]:
        """What is to be subscribed to, as far as it is known by now; more may come with each message."""

    @abstractmethod
    def readers(self, topic: str) -> Iterable[Read]:
        """Who takes in what is said on a topic."""

    @abstractmethod
    def absence(self, device_id: str) -> str | None:
        """Why a device is known to be away, following its name ("is not available"); None where it is not."""

    @abstractmethod
    def message(self, device: Device, change: Change) -> tuple[str, str] | None:
        """The topic and the payload that make a change; None where the device cannot do it."""

    def confirmed(self, device: Device, change: Change, before: State, state: State) -> State | None:
        """The state, if it is that of a device which did as it was told; None where it is not."""
        return confirmed(device, change, before, state)

    @abstractmethod
    def forget(self) -> None:
        """Is called before what the broker keeps is heard anew."""

    async def move(self, device: Device, change: Change) -> State:
        """Sends the command, and waits for the device to say that it is done, or on its way."""
        import aiomqtt

        from agent.mqtt.publisher import NOBODY_LISTENS, REFUSED

        await self.first_try.wait()
        if self._publisher is None:
            raise NotAvailableError(f"is not available: {self.health()}")
        absence = self.absence(device.id)
        if absence is not None:
            raise NotAvailableError(absence)
        change = self._modes.resolve(device, change)
        message = self.message(device, change)
        if message is None:
            raise DeviceError("cannot do that")
        topic, payload = message
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
                    done = self.confirmed(device, change, before, last)
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

    async def run(self) -> None:
        """Keeps connected until cancelled."""
        import aiomqtt  # costs a while, and a house without MQTT devices does not need it

        first, longest = self._waits
        wait = first
        while True:
            try:
                async with self._connection() as (client, newest):
                    wait = first
                    async with beside(self._ask(), "questions to devices"):
                        async for message in client.messages:
                            self._hear(message)
                            if self._wanted():
                                await self._subscribe(client, newest)
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

    def ask(self, topic: str, payload: str) -> None:
        """Asks a device how it is, as soon as there is a connection.

        What is asked again soon, as a bridge comes back several times, is asked once, some seconds after the last time.
        """
        question, now = (topic, payload), time.monotonic()
        self._questions.setdefault(question, max(now, self._asked.get(question, -math.inf) + ASK_AGAIN_S))
        self._asking.set()

    async def no_connection(self) -> list[str]:
        """Why there is no connection, for `probe`; nothing where there is one."""
        from tools.drivers import mqtt_probe

        with suppress(TimeoutError):
            async with asyncio.timeout(mqtt_probe.CONNECTED_WITHIN_S):
                await self.first_try.over.wait()
        if self._publisher is not None:
            return []
        return [await mqtt_probe.connection_trouble(self._endpoint(), self._trouble, self.table)]

    async def heard_all(self, silent: Callable[[], Collection[str]]) -> Collection[str]:
        """Waits a moment for topics that nothing was heard on yet, and returns those that stay silent."""
        from tools.drivers import mqtt_probe

        with suppress(TimeoutError):
            async with asyncio.timeout(mqtt_probe.HEARD_WITHIN_S):
                while silent():
                    self._news.clear()
                    await self._news.wait()
        return silent()

    async def _ask(self) -> None:
        """Puts the questions, a few in a second: a radio network of many devices has no room for all at once."""
        import aiomqtt

        while True:
            question = min(self._questions, key=self._questions.__getitem__, default=None)
            now = time.monotonic()
            wait = None if question is None else self._questions[question] - now
            if question is None or (wait is not None and wait > 0) or self._publisher is None:
                self._asking.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._asking.wait()
                continue
            del self._questions[question]
            self._asked[question] = now
            with suppress(aiomqtt.MqttError):  # the connection is lost, and says so itself
                await self._publisher.publish(*question)
            await asyncio.sleep(ASK_GAP_S)

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
    async def _connection(self) -> AsyncIterator[tuple[aiomqtt.Client, bool]]:
        """A connection on which all is heard that the broker knows, and whether it speaks MQTT 5."""
        from aiomqtt import ProtocolVersion

        from agent.mqtt.publisher import Publisher

        endpoint = self._endpoint()
        if self._protocol is None:
            self._protocol = await endpoint.protocol()
        newest = self._protocol is ProtocolVersion.V5
        async with endpoint.connect(self._protocol) as client:
            self._questions.clear()
            self._asked.clear()
            self.forget()
            self._refused = []
            self._subscribed.clear()
            await self._subscribe(client, newest)
            self._connected(Publisher(client, newest, self._broker.confirm_timeout_s))
            yield client, newest

    def _wanted(self) -> list[str]:
        return [topic for topic in self.topics() if topic not in self._subscribed]

    async def _subscribe(self, client: aiomqtt.Client, newest: bool) -> None:
        """Subscribes, and hears what is retained before the first command is sent."""
        from paho.mqtt.subscribeoptions import SubscribeOptions

        quality: Any = SubscribeOptions(1, noLocal=True) if newest else 1
        while topics := self._wanted():
            self._subscribed.update(topics)
            refused: list[str] = []
            for start in range(0, len(topics), 100):
                some = topics[start : start + 100]
                codes = await client.subscribe([(topic, quality) for topic in some])
                refused += [
                    topic for topic, code in zip(some, codes, strict=False) if getattr(code, "is_failure", code == 128)
                ]
            if refused:
                _log.warning("the broker refuses subscriptions to %s", ", ".join(refused))
            self._refused += refused
            # The answer to this comes after all retained messages.
            await client.unsubscribe(_FENCE)
            while len(client.messages):
                self._hear(await anext(client.messages))

    def _connected(self, publisher: Publisher) -> None:
        _log.info("connected to the devices' broker at %s:%d", self._broker.host, self._broker.port)
        self._publisher = publisher
        self.first_try.over.set()
        self._look_who_is_there(list(self._states))

    def _disconnected(self, reason: str) -> None:
        if self._publisher is not None or not self.first_try.over.is_set():
            _log.warning("no connection to the devices' broker: %s; trying again", reason)
        if self._publisher is None:
            self._protocol = None  # it may be another broker, or a newer one, that comes back
        self._publisher = None
        self._trouble = reason
        self._look_who_is_there(list(self._states))

    def _look_who_is_there(self, device_ids: Sequence[str]) -> None:
        """Reports which devices can be reached; none without a connection."""
        for device_id in device_ids:
            there = self._publisher is not None and self.absence(device_id) is None
            self._set(device_id, replace(self._states[device_id], available=there))

    def _hear(self, message: aiomqtt.Message) -> None:
        topic = str(message.topic)
        payload = message.payload if isinstance(message.payload, bytes) else b""
        self._told.add(topic)
        self._unread.pop(topic, None)
        self._news.set()
        for read in list(self.readers(topic)):
            self._read(read, topic, payload, bool(message.retain))

    def _read(self, read: Read, topic: str, payload: bytes, retained: bool) -> None:
        try:
            read(payload, retained)
        except (ValueError, ArithmeticError) as error:  # costs this device only, and not the connection
            self._unread[topic] = str(error)
            _log.warning("%s: cannot read %d bytes: %s", topic, len(payload), error)
        except Exception as error:  # one message that nobody thought of must not cost all others
            self._unread[topic] = f"{type(error).__name__}: {error}"
            _log.exception("%s: %d bytes could not be taken in", topic, len(payload))

    def _tell(self, device_id: str, state: State, retained: bool) -> None:
        """Takes in what a device told. What is retained was true before the command that may be waiting here."""
        self._set(device_id, state)
        if not retained and device_id in self._heard:
            self._heard[device_id].put_nowait(state)

    def _set(self, device_id: str, state: State) -> None:
        if self._states.get(device_id) != state:
            self._states[device_id] = state
            self._modes.hear(device_id, state)
            self._report(device_id, state)
