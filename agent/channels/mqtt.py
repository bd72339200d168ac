"""The MQTT channel: commands and confirmations in, events and one reply a command out.

What may reach the command topic is the broker's to say (its users and ACL). What the broker keeps or
sends twice is ours: a retained, old or repeated command is never acted on.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aiomqtt import Client, Message, MqttError, ProtocolVersion, Will
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions

from agent.channels.mqtt_connection import SESSION_TAKEN_OVER, Backoff, Endpoint, properties, reason_code
from agent.channels.mqtt_messages import (
    MAX_READ,
    CommandMessage,
    MalformedMessage,
    Topics,
    encode,
    light_state,
    may_reply_to,
    parse_command,
    parse_confirm,
    reply,
)
from agent.channels.mqtt_publish import publish
from agent.command import Command
from agent.config import MqttSettings, default_node
from agent.errors import AgentError, ErrorCode, SettingsError
from agent.events import AgentEvent
from agent.house import House

__all__ = ["MqttChannel", "publish"]

log = logging.getLogger(__name__)

Handle = Callable[[Command], AsyncIterator[AgentEvent]]
Confirm = Callable[[str, bool], bool]

MAX_RUNNING = 64
"""How many commands may be with the runner or wait for it; the next one is answered BUSY here."""

LARGEST_PACKET = MAX_READ + 4_096
"""What is longer the broker keeps back, if it can: of a payload that long we would read nothing; in bytes."""

MAX_OUTBOX = 1_000
"""How many messages may wait to be sent before events and refusals are left out."""

REFUSED = 128
"""From here on a broker's code for a subscription means no."""

REMEMBERED = 256
"""How many ids are known again; also of topics that were warned about."""

STABLE_S = 120.0
"""A connection that lasted this long was a good one, and the next attempt comes soon; in seconds.

Longer than any wait: two clients of one id throw each other out after just that.
"""

TAKEOVER_S = 30.0
"""The least wait after another client took our id, in seconds: each attempt throws that one out."""

LOOK_S = 0.5
"""How long a retained message may take to come after its subscription, in seconds."""

GOODBYE_S = 3.0
"""How long stopping waits for the last replies to be sent, in seconds."""

REPLY_PREFIX = "hearth/"
"""Where a reply may be asked to go without a word in the settings."""


@dataclass(frozen=True)
class Route:
    """Where the reply to a message goes.

    Attributes:
        correlation: The sender's own mark, returned as it came.
        asked: The sender named the topic, so it waits for an answer, with or without an id.
    """

    topic: str
    correlation: bytes | None = None
    asked: bool = False


@dataclass(frozen=True)
class Outgoing:
    """A message to be published."""

    topic: str
    payload: bytes
    qos: int = 1
    retain: bool = False
    correlation: bytes | None = None


class TakenOverError(MqttError):
    """Another process is online under our name."""


class MqttChannel:
    """Hearth at a broker. The connection comes and goes; commands that run go on meanwhile.

    Args:
        settings: Where the broker is; an embedded one has its host and port put in by now.
        node: Our name in every topic.
        handle: Runs a command; its stream may end in an `AgentError`.
        confirm: Answers the question about a call; False when none waited.
        house: Tells of its lights.
    """

    def __init__(
        self, settings: MqttSettings, node: str, handle: Handle, confirm: Confirm, house: House
    ) -> None:
        self._settings = settings
        self._node = node
        self._topics = Topics(node)
        self._handle = handle
        self._confirm = confirm
        self._house = house
        self._prefixes = (REPLY_PREFIX, *settings.reply_prefixes)
        self._protocol: ProtocolVersion | None = None
        self._connected_at: float | None = None
        self._was_connected = False
        self._instance = _new_id()
        self._may_be_replaced = False
        self._trouble = "not tried yet"
        self._refused: list[str] = []
        self._stopping = False
        self._running: set[asyncio.Task[None]] = set()
        self._outbox: asyncio.Queue[Outgoing] = asyncio.Queue()
        self._unsent: Outgoing | None = None
        self._lights: dict[str, bytes] = {}
        self._seen: OrderedDict[str | bytes, None] = OrderedDict()
        self._warned: OrderedDict[tuple[str, str], None] = OrderedDict()

    def status(self) -> str:
        """How the connection stands, in one line."""
        broker = f"{self._settings.broker}:{self._settings.port}"
        if self._connected_at is None:
            return f"not connected to {broker}: {self._trouble}"
        version = "5" if self._protocol is ProtocolVersion.V5 else "3.1.1"
        refused = f"; the broker refuses {', '.join(self._refused)}" if self._refused else ""
        return f"connected to {broker} with MQTT {version}{refused}"

    async def run(self) -> None:
        """Stays connected until cancelled; then what still runs is answered, and we say goodbye."""
        link = asyncio.create_task(self._stay_connected(), name="mqtt link")
        lights = asyncio.create_task(self._watch_lights(), name="mqtt lights")
        try:
            await asyncio.wait({link})  # not awaited itself: it has to outlive us for the goodbye
        finally:
            await self._say_goodbye()
            link.cancel()
            lights.cancel()
            await asyncio.gather(link, lights, return_exceptions=True)

    # The connection

    async def _stay_connected(self) -> None:
        backoff = Backoff()
        while True:
            at_least = 0.0
            trouble = "the broker closed the connection"
            try:
                await self._connection()
            except (MqttError, OSError, SettingsError) as error:
                trouble = str(error.__cause__ or error) or type(error).__name__
                if isinstance(error, TakenOverError) or reason_code(error) == SESSION_TAKEN_OVER:
                    at_least = TAKEOVER_S
                    trouble = f"another client took our place: its client_id is {self._client_id()!r} too"
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
        endpoint = self._endpoint()
        if self._protocol is None:
            self._protocol = await endpoint.protocol()
        await self._look_for_another(endpoint)
        will = Will(self._topics.availability, b"offline", qos=1, retain=True)
        async with endpoint.connect(self._protocol, will, LARGEST_PACKET) as client:
            await self._greet(client)
            reader = asyncio.create_task(self._read(client), name="mqtt reader")
            sender = asyncio.create_task(self._send(client), name="mqtt sender")
            try:
                await asyncio.wait({reader, sender}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                reader.cancel()
                sender.cancel()
                ends = await asyncio.gather(reader, sender, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _look_for_another(self, endpoint: Endpoint) -> None:
        """Looks once after a loss, without our id, whether somebody else has it now.

        MQTT 5 has a reason code for this, which mosquitto 2.0.11 does not send. Who is online is told by
        the mark on the availability; that of a broker which did not miss us yet is our own.
        """
        if not self._may_be_replaced or self._protocol is not ProtocolVersion.V5:
            return
        self._may_be_replaced = False
        async with replace(endpoint, client_id=None).connect(self._protocol) as client:
            await client.subscribe(self._topics.availability, qos=1)
            try:
                message = await asyncio.wait_for(anext(client.messages), LOOK_S)
            except TimeoutError:
                return
        marks = getattr(message.properties, "UserProperty", [])
        if message.payload == b"online" and ("instance", self._instance) not in marks:
            raise TakenOverError

    def _endpoint(self) -> Endpoint:
        settings = self._settings
        return Endpoint(
            settings.broker,
            settings.port,
            self._client_id(),
            settings.username,
            settings.password(),
            settings.keepalive_s,
            settings.tls,
            settings.ca_file,
        )

    def _client_id(self) -> str:
        # Two machines with the same settings would throw each other out; so the machine is in it.
        return self._settings.client_id or f"hearth-{self._node}-{default_node().removeprefix('hearth-')}"

    async def _greet(self, client: Client) -> None:
        """Everything that the broker forgot of us: subscriptions, availability, the lights."""
        await self._subscribe(client)
        mark = None
        if self._protocol is ProtocolVersion.V5:
            mark = properties(PacketTypes.PUBLISH, UserProperty=("instance", self._instance))
        await client.publish(self._topics.availability, b"online", qos=1, retain=True, properties=mark)
        self._connected_at = time.monotonic()
        log.info("%s%s", self.status(), " again" if self._was_connected else "")
        self._was_connected = True
        for device, payload in self._lights.items():
            self._put_light(device, payload)

    async def _subscribe(self, client: Client) -> None:
        topics = [self._topics.command, self._topics.confirm]
        if self._protocol is ProtocolVersion.V5:
            # A command is not heard by who sent it, and keeps its retain flag, so that a live one is known
            # too. Those that the broker kept are asked for once, to warn of them.
            kept = (
                SubscribeOptions.RETAIN_DO_NOT_SEND
                if self._was_connected
                else (SubscribeOptions.RETAIN_SEND_ON_SUBSCRIBE)
            )
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

    async def _send(self, client: Client) -> None:
        while True:
            # What a lost connection left unacknowledged is sent again: rather twice than not at all.
            message = self._unsent = self._unsent or await self._outbox.get()
            mark = None
            if message.correlation is not None and self._protocol is ProtocolVersion.V5:
                mark = properties(PacketTypes.PUBLISH, CorrelationData=message.correlation)
            await client.publish(message.topic, message.payload, message.qos, message.retain, mark)
            self._unsent = None
            self._outbox.task_done()

    # What comes in

    async def _read(self, client: Client) -> None:
        """Parses and hands over; nothing here waits for anything but the next message."""
        async for message in client.messages:
            try:
                self._receive(message)
            except Exception:
                log.exception("a message on %s could not be dealt with", message.topic)

    def _receive(self, message: Message) -> None:
        topic, payload = str(message.topic), bytes(message.payload)
        if message.retain:
            if payload:  # an empty one is how a retained message is taken away
                self._warn_once("a retained message on %s is not acted on; publish it without retain", topic)
        elif topic == self._topics.confirm:
            self._receive_confirm(payload)
        else:
            self._receive_command(payload, self._route(message))

    def _receive_confirm(self, payload: bytes) -> None:
        try:
            id, answer = parse_confirm(payload)
        except MalformedMessage as error:
            self._log_malformed(payload, self._topics.confirm, error)
            return
        if not self._confirm(id, answer):
            log.info("nothing was asked about the call %r; the answer is ignored", id)

    def _receive_command(self, payload: bytes, route: Route) -> None:
        try:
            order = parse_command(payload)
        except MalformedMessage as error:
            self._log_malformed(payload, self._topics.command, error)
            if (error.id or route.asked) and self._is_new(error.id or route.correlation):
                self._refuse(error.id or _new_id(), None, route, ErrorCode.INVALID_REQUEST, _sentence(error))
            return
        if not self._is_new(order.id or route.correlation):
            log.warning("the command %r came again; it is not acted on twice", order.id)
            return
        session = order.session or f"mqtt-{self._node}-{order.room or 'any'}"
        command = Command(order.text, "mqtt", order.id or _new_id(), session, order.room)
        if (age := _age(order)) > self._settings.max_age_s and clock_is_set():
            log.warning("a command on %s was sent %.0f s ago; it is not acted on", self._topics.command, age)
            why = f"The command was sent {age:.0f} seconds ago; I did nothing."
            self._refuse(command.id, session, route, ErrorCode.INVALID_REQUEST, why)
        elif self._stopping:
            self._refuse(command.id, session, route, ErrorCode.NOT_AVAILABLE, "Hearth is stopping.")
        elif len(self._running) >= MAX_RUNNING:
            why = f"There are {MAX_RUNNING} commands before this one; I did nothing."
            self._refuse(command.id, session, route, ErrorCode.BUSY, why)
        else:
            task = asyncio.create_task(self._answer(command, route), name=f"mqtt command {command.id}")
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _route(self, message: Message) -> Route:
        topic = getattr(message.properties, "ResponseTopic", None)
        correlation = getattr(message.properties, "CorrelationData", None)
        if topic is None:
            return Route(self._topics.reply, correlation)
        if may_reply_to(topic, self._prefixes):
            return Route(topic, correlation, asked=True)
        self._warn_once("the response topic %s is outside of the allowed prefixes; it is ignored", topic)
        return Route(self._topics.reply, correlation, asked=True)

    def _is_new(self, key: str | bytes | None) -> bool:
        """Remembers an id; one that the sender did not give is always new."""
        if key is None:
            return True
        if key in self._seen:
            return False
        _remember(self._seen, key)
        return True

    def _log_malformed(self, payload: bytes, topic: str, error: MalformedMessage) -> None:
        log.warning("a message of %d bytes on %s is ignored: %s", len(payload), topic, error)

    def _warn_once(self, text: str, topic: str) -> None:
        if (text, topic) not in self._warned:
            _remember(self._warned, (text, topic))
            log.warning(text, topic)

    # What goes out

    async def _answer(self, command: Command, route: Route) -> None:
        """Runs a command and replies once, whatever becomes of it."""
        events: list[AgentEvent] = []
        error: AgentError | None = None
        try:
            async for event in self._handle(command):
                events.append(event)
                self._put_dispensable(Outgoing(self._topics.event, encode(event.to_json()), qos=0))
        except AgentError as raised:
            error = raised
        except asyncio.CancelledError:
            error = AgentError(ErrorCode.NOT_AVAILABLE, "Hearth is stopping.")
        except Exception:
            log.exception("the command %r ended for a fault of our own", command.id)
            error = AgentError(ErrorCode.NOT_AVAILABLE, "Something went wrong inside; the log says what.")
        self._reply(reply(command.id, command.session, events, error), route)

    def _reply(self, answer: dict[str, Any], route: Route) -> None:
        self._outbox.put_nowait(Outgoing(route.topic, encode(answer), correlation=route.correlation))

    def _refuse(self, id: str, session: str | None, route: Route, code: ErrorCode, why: str) -> None:
        answer = reply(id, session, (), AgentError(code, why))
        self._put_dispensable(Outgoing(route.topic, encode(answer), correlation=route.correlation))

    def _put_dispensable(self, message: Outgoing) -> None:
        """For events and refusals: not kept until the connection comes back, nor for a flood."""
        if self._connected_at is not None and self._outbox.qsize() < MAX_OUTBOX:
            self._outbox.put_nowait(message)

    async def _watch_lights(self) -> None:
        while True:
            try:
                async for event in self._house.events():
                    payload = light_state(event.state)
                    if payload is not None and payload != self._lights.get(event.device):
                        self._lights[event.device] = payload
                        if self._connected_at is not None:  # else the next greeting tells it
                            self._put_light(event.device, payload)
            except Exception:
                log.exception("the house's events broke off")
            await asyncio.sleep(1)

    def _put_light(self, device: str, payload: bytes) -> None:
        self._outbox.put_nowait(Outgoing(self._topics.light(device), payload, qos=0, retain=True))

    async def _say_goodbye(self) -> None:
        self._stopping = True
        if self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(self._running, timeout=GOODBYE_S)
        if self._connected_at is None:
            return
        # A clean DISCONNECT makes the broker forget the will, so we say it ourselves.
        self._outbox.put_nowait(Outgoing(self._topics.availability, b"offline", retain=True))
        try:
            await asyncio.wait_for(self._outbox.join(), GOODBYE_S)
        except TimeoutError:
            log.warning("%d messages could not be sent before the end", self._outbox.qsize())


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _remember(known: OrderedDict[Any, None], key: Any) -> None:
    known[key] = None
    if len(known) > REMEMBERED:
        known.popitem(last=False)


def _sentence(error: MalformedMessage) -> str:
    return f"The command cannot be read: {error}."


def _age(order: CommandMessage) -> float:
    return 0.0 if order.sent is None else time.time() - order.sent


SYNCHRONIZED = Path("/run/systemd/timesync/synchronized")
CLOCK_IS_UNSYNCHRONIZED = 5


def clock_is_set() -> bool:
    """Whether the clock is known to be right: a board without one starts in the past, and then leaps.

    systemd-timesyncd leaves a file; of chrony and ntpd the kernel knows.
    """
    if SYNCHRONIZED.exists():
        return True
    try:
        # `struct timex` of zeros only asks, and its size differs from board to board: 512 is enough for all.
        state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    except (OSError, AttributeError):
        return False
    return 0 <= state < CLOCK_IS_UNSYNCHRONIZED
