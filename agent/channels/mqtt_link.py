"""What keeps us at the broker: finds it, loses it, finds it again, and sends what waits meanwhile."""

from __future__ import annotations

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aiomqtt import Client, Message, MqttError, ProtocolVersion, Will
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions

from agent.channels.mqtt_loop_back import BACK_WITHIN_S, LoopBack, Way
from agent.channels.mqtt_messages import MAX_READ, probe_token
from agent.config import MqttSettings, default_node
from agent.ending import end
from agent.errors import SettingsError
from agent.mqtt.connection import SESSION_TAKEN_OVER, Backoff, Endpoint, properties, reason_code
from agent.mqtt.publisher import Publisher
from agent.progress import Progress

log = logging.getLogger(__name__)

LARGEST_PACKET = MAX_READ + 4_096
"""What is longer the broker keeps back, if it can: of a payload that long we would read nothing; in bytes."""

MAX_OUTBOX = 1_000
"""How many messages may wait to be sent before those that can be done without are left out."""

REFUSED = 128
"""From here on a broker's code for a subscription means no."""

STABLE_S = 120.0
"""A connection that lasted this long was a good one, and the next attempt comes soon; in seconds.

Longer than any wait: two clients of one id throw each other out after just that.
"""

TAKEOVER_S = 30.0
"""The least wait after another client took our id, in seconds: each attempt throws that one out."""

LOOK_S = 0.5
"""How long a retained message may take to come after its subscription, in seconds."""

GOODBYE_S = 3.0
"""How long stopping waits for the last messages to be sent, in seconds."""


@dataclass(frozen=True)
class Outgoing:
    """A message to be published.

    Attributes:
        correlation: The mark of the one who asked for it; MQTT 5 returns it.
        until: On the monotonic clock, when it is too old to be sent.
    """

    topic: str
    payload: bytes
    qos: int = 1
    retain: bool = False
    correlation: bytes | None = None
    until: float = math.inf


class TakenOverError(MqttError):
    """Another process is online under our name."""


class MqttLink:
    """A connection that comes and goes.

    Attributes:
        progress: Shows that what is sent gets out. A broker that is away is no lack of progress.

    Args:
        settings: Where the broker is.
        node: Our name.
        availability: The topic that tells whether we are there.
        subscriptions: The topics that we hear.
        receive: Called with each message; it is not to wait for anything.
        greeted: Called on each new connection, when it is ready.
    """

    def __init__(
        self,
        settings: MqttSettings,
        node: str,
        availability: str,
        subscriptions: Sequence[str],
        receive: Callable[[Message], None],
        greeted: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._node = node
        self._availability = availability
        self._subscriptions = subscriptions
        self._receive = receive
        self._greeted = greeted
        self._instance = uuid.uuid4().hex
        self._protocol: ProtocolVersion | None = None
        self._connected_at: float | None = None
        self._was_connected = False
        self._may_be_replaced = False
        self._trouble = "not tried yet"
        self._refused: list[str] = []
        self._hidden: list[str] = []
        self._loop_back = LoopBack(())
        self._outbox: asyncio.Queue[Outgoing] = asyncio.Queue()
        self._unsent: Outgoing | None = None
        self.progress = Progress("the MQTT connection")

    @property
    def client_id(self) -> str:
        """Who we are to the broker."""
        # Two machines with the same settings would throw each other out; so the machine is in it.
        return self._settings.client_id or f"hearth-{self._node}-{default_node().removeprefix('hearth-')}"

    def status(self) -> str:
        """How the connection stands, in one line."""
        broker = f"{self._settings.broker}:{self._settings.port}"
        if self._connected_at is None:
            return f"not connected to {broker}: {self._trouble}"
        version = "5" if self._protocol is ProtocolVersion.V5 else "3.1.1"
        refused = f"; the broker refuses {', '.join(self._refused)}" if self._refused else ""
        hidden = f"; what is sent to {', '.join(self._hidden)} does not reach us" if self._hidden else ""
        return f"connected to {broker} with MQTT {version}{refused}{hidden}"

    def send(self, message: Outgoing) -> None:
        """Sends it now, or when the connection is back."""
        self._outbox.put_nowait(message)

    def send_now(self, message: Outgoing) -> None:
        """Sends it unless that would mean to keep it: there is no connection, or it comes in a flood."""
        if self._connected_at is not None and self._outbox.qsize() < MAX_OUTBOX:
            self._outbox.put_nowait(message)

    async def say_goodbye(self) -> None:
        """Sends what waits, and that we are gone; the link is to run meanwhile."""
        if self._connected_at is None:
            return
        # A clean DISCONNECT makes the broker forget the will, so we say it ourselves.
        self.send(Outgoing(self._availability, b"offline", retain=True))
        try:
            await asyncio.wait_for(self._outbox.join(), GOODBYE_S)
        except TimeoutError:
            log.warning("%d messages could not be sent before the end", self._outbox.qsize())

    async def run(self) -> None:
        """Stays connected until cancelled; nothing else ends it."""
        backoff = Backoff()
        while True:
            at_least = 0.0
            trouble = "the broker closed the connection"
            try:
                await self._connection()
            except (MqttError, OSError, SettingsError) as error:
                cause = None if isinstance(error, SettingsError) else error.__cause__
                trouble = str(cause or error) or type(error).__name__
                if isinstance(error, TakenOverError) or reason_code(error) == SESSION_TAKEN_OVER:
                    at_least = TAKEOVER_S
                    trouble = f"another client took our place: its client_id is {self.client_id!r} too"
            except Exception as error:
                log.exception("the MQTT connection ended for a fault of our own")
                trouble = f"{type(error).__name__}: {error}"
            if self._connected_at is None:
                self._protocol = None  # it may be another broker, or a newer one, that comes back
            else:
                self._may_be_replaced = not at_least
                if time.monotonic() - self._connected_at > STABLE_S:
                    backoff.reset()
            self._connected_at = None
            wait = backoff.delay(at_least)
            # Once for each reason, not once a minute for as long as a broker is away.
            level = logging.DEBUG if trouble == self._trouble else logging.WARNING
            self._trouble = trouble
            log.log(level, "%s; the next attempt is in %.0f s", self.status(), wait)
            await asyncio.sleep(wait)

    async def _connection(self) -> None:
        """One connection, from its start to its loss."""
        endpoint = Endpoint.of(self._settings, self.client_id)
        if self._protocol is None:
            self._protocol = await endpoint.protocol()
        await self._look_for_another(endpoint)
        will = Will(self._availability, b"offline", qos=1, retain=True)
        async with endpoint.connect(self._protocol, will, LARGEST_PACKET) as client:
            with self.progress.at_work():
                await self._greet(client)
            reader = asyncio.create_task(self._read(client), name="mqtt reader")
            sender = asyncio.create_task(self._send_all(client), name="mqtt sender")
            trial = asyncio.create_task(self._try_topics(endpoint), name="mqtt loop-back")
            try:
                await asyncio.wait({reader, sender}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ends = await end(reader, sender, trial)
        for each in ends[:2]:
            if isinstance(each, Exception):
                raise each

    async def _look_for_another(self, endpoint: Endpoint) -> None:
        """Looks once after a loss, without our id, whether somebody else has it now.

        MQTT 5 has a reason code for this, which mosquitto 2.0.11 does not send. Who is online is told by
        the mark on the availability; that of a broker which did not miss us yet is our own.
        """
        if not self._may_be_replaced or self._protocol is not ProtocolVersion.V5:
            return
        self._may_be_replaced = False
        async with replace(endpoint, client_id=None).connect(self._protocol) as client:
            await client.subscribe(self._availability, qos=1)
            try:
                message = await asyncio.wait_for(anext(client.messages), LOOK_S)
            except TimeoutError:
                return
        marks = getattr(message.properties, "UserProperty", [])
        if message.payload == b"online" and ("instance", self._instance) not in marks:
            raise TakenOverError

    async def _greet(self, client: Client) -> None:
        """Everything that the broker forgot of us."""
        await self._subscribe(client)
        mark = None
        if self._protocol is ProtocolVersion.V5:
            mark = properties(PacketTypes.PUBLISH, UserProperty=("instance", self._instance))
        await client.publish(self._availability, b"online", qos=1, retain=True, properties=mark)
        self._connected_at = time.monotonic()
        log.info("%s%s", self.status(), " again" if self._was_connected else "")
        self._was_connected = True
        self._greeted()

    async def _subscribe(self, client: Client) -> None:
        topics = self._subscriptions
        if self._protocol is ProtocolVersion.V5:
            # A command is not heard by who sent it, and keeps its retain flag, so that a live one is known
            # too. Those that the broker kept are asked for once, to warn of them.
            again = self._was_connected
            kept = SubscribeOptions.RETAIN_DO_NOT_SEND if again else SubscribeOptions.RETAIN_SEND_ON_SUBSCRIBE
            options = SubscribeOptions(1, noLocal=True, retainAsPublished=True, retainHandling=kept)
            granted = await client.subscribe([(topic, options) for topic in topics])
        else:
            granted = await client.subscribe([(topic, 1) for topic in topics])
        self._refused = []
        codes: list[Any] = list(granted)
        for topic, code in zip(topics, codes, strict=True):
            if code.value >= REFUSED:
                self._refused.append(topic)
                log.error("the broker refuses our subscription to %s: %s", topic, code)

    async def _try_topics(self, endpoint: Endpoint) -> None:
        """Finds out, by a connection of its own, which of our subscriptions the broker's access list hides."""
        assert self._protocol is not None  # we are connected
        newest = self._protocol is ProtocolVersion.V5
        self._loop_back = LoopBack(topic for topic in self._subscriptions if topic not in self._refused)
        try:
            async with replace(endpoint, client_id=None).connect(self._protocol) as client:
                ways = await self._loop_back.run(Publisher(client, newest, BACK_WITHIN_S))
        except (MqttError, OSError) as error:
            log.debug("our topics could not be tried: %s", error)
            return
        except Exception:
            log.exception("our topics could not be tried for a fault of our own")
            return
        # Where we may not write, others may: whether we hear them cannot be known from here.
        self._hidden = [topic for topic, way in ways.items() if way is Way.LOST]
        for topic in self._hidden:
            log.error("what is sent to %s does not reach us: the broker's access list has to let us read it", topic)

    async def _read(self, client: Client) -> None:
        async for message in client.messages:
            if probe_token(bytes(message.payload)) is not None:
                self._loop_back.hear(bytes(message.payload))
                continue
            try:
                self._receive(message)
            except Exception:
                log.exception("a message on %s could not be dealt with", message.topic)

    async def _send_all(self, client: Client) -> None:
        while True:
            # What a lost connection left unacknowledged is sent again: rather twice than not at all.
            message = self._unsent = self._unsent or await self._outbox.get()
            if time.monotonic() > message.until:
                log.warning("a message on %s waited too long for the broker and is dropped", message.topic)
                self._unsent = None
                self._outbox.task_done()
                continue
            mark = None
            if message.correlation is not None and self._protocol is ProtocolVersion.V5:
                mark = properties(PacketTypes.PUBLISH, CorrelationData=message.correlation)
            with self.progress.at_work():
                await client.publish(message.topic, message.payload, message.qos, message.retain, mark)
            self._unsent = None
            self._outbox.task_done()
