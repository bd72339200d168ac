"""The MQTT channel: commands and confirmations in, events and one reply a command out.

What may reach the command topic is the broker's to say (its users and ACL). What the broker keeps or
sends twice is ours: a retained, old or repeated command is never acted on.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from aiomqtt import Message

from agent.channels.mqtt_link import MqttLink, Outgoing
from agent.channels.mqtt_messages import (
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
from agent.config import MqttSettings
from agent.due import Announcement
from agent.due.clocks import clock_is_synchronized
from agent.ending import end
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent
from agent.house import House, HouseEvent

__all__ = ["MqttChannel", "publish"]

log = logging.getLogger(__name__)

Handle = Callable[[Command], AsyncIterator[AgentEvent]]
Confirm = Callable[[str, bool], bool]

MAX_RUNNING = 64
"""How many commands may be with the runner or wait for it; the next one is answered BUSY here."""

REMEMBERED = 256
"""How many ids are known again; also of topics that were warned about."""

ANSWER_S = 3.0
"""How long stopping waits for what runs to end, in seconds."""

ANNOUNCEMENT_S = 300.0
"""How long an announcement waits for the broker; what is told later misleads, in seconds."""

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


class MqttChannel:
    """Hearth at a broker. The connection comes and goes; commands that run go on meanwhile.

    Args:
        settings: Where the broker is; an embedded one has its host and port put in by now.
        node: Our name in every topic.
        handle: Runs a command; its stream may end in an `AgentError`.
        confirm: Answers the question about a call; False when none waited.
        house: Tells of its lights.
        announcements: What is told when something is due; None where nothing becomes due.
    """

    def __init__(
        self,
        settings: MqttSettings,
        node: str,
        handle: Handle,
        confirm: Confirm,
        house: House,
        announcements: AsyncIterator[Announcement] | None = None,
    ) -> None:
        self._max_age_s = settings.max_age_s
        self._node = node
        self._topics = Topics(node)
        self._handle = handle
        self._confirm = confirm
        self._house = house
        self._announcements = announcements
        self._prefixes = (REPLY_PREFIX, *settings.reply_prefixes)
        subscriptions = (self._topics.command, self._topics.confirm)
        self._link = MqttLink(
            settings, node, self._topics.availability, subscriptions, self._receive, self._tell_lights
        )
        self.progress = self._link.progress
        self._stopping = False
        self._running: set[asyncio.Task[None]] = set()
        self._lights: dict[str, bytes] = {}
        self._seen: OrderedDict[str | bytes, None] = OrderedDict()
        self._warned: OrderedDict[tuple[str, str], None] = OrderedDict()

    def status(self) -> str:
        """How the connection stands, in one line."""
        return self._link.status()

    async def run(self) -> None:
        """Stays connected until cancelled; then what still runs is answered, and we say goodbye."""
        link = asyncio.create_task(self._link.run(), name="mqtt link")
        lights = asyncio.create_task(self._watch_lights(), name="mqtt lights")
        announcing = asyncio.create_task(self._announce(), name="mqtt announcements")
        try:
            await asyncio.wait({link})  # not awaited itself: it has to outlive us for the goodbye
        finally:
            await self._stop_commands()
            await self._link.say_goodbye()
            await end(link, lights, announcing)

    async def _stop_commands(self) -> None:
        self._stopping = True
        await asyncio.sleep(0)  # one that never began would end without its reply
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=ANSWER_S)

    # What comes in

    def _receive(self, message: Message) -> None:
        """Parses and hands over; nothing here waits for anything."""
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
        key = order.id or route.correlation
        if not self._is_new(key):
            log.warning("the command %r came again; it is not acted on twice", order.id)
            return
        session = order.session or f"mqtt-{self._node}-{order.room or 'any'}"
        command = Command(order.text, "mqtt", order.id or _new_id(), session, order.room)
        if (age := _age(order)) > self._max_age_s and clock_is_synchronized():
            log.warning("a command on %s was sent %.0f s ago; it is not acted on", self._topics.command, age)
            why = f"The command was sent {age:.0f} seconds ago; I did nothing."
            self._refuse(command.id, session, route, ErrorCode.INVALID_REQUEST, why)
        elif self._stopping:
            self._refuse(command.id, session, route, ErrorCode.NOT_AVAILABLE, "Hearth is stopping.")
        elif len(self._running) >= MAX_RUNNING:
            self._forget(key)
            why = f"There are {MAX_RUNNING} commands before this one; I did nothing."
            self._refuse(command.id, session, route, ErrorCode.BUSY, why)
        else:
            task = asyncio.create_task(self._answer(command, route, key), name=f"mqtt command {command.id}")
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

    def _forget(self, key: str | bytes | None) -> None:
        """What was answered BUSY was not done, so it may come again."""
        if key is not None:
            self._seen.pop(key, None)

    def _log_malformed(self, payload: bytes, topic: str, error: MalformedMessage) -> None:
        log.warning("a message of %d bytes on %s is ignored: %s", len(payload), topic, error)

    def _warn_once(self, text: str, topic: str) -> None:
        if (text, topic) not in self._warned:
            _remember(self._warned, (text, topic))
            log.warning(text, topic)

    # What goes out

    async def _answer(self, command: Command, route: Route, key: str | bytes | None) -> None:
        """Runs a command and replies once, whatever becomes of it; `key` is what it is known again by."""
        events: list[AgentEvent] = []
        error: AgentError | None = None
        try:
            async for event in self._handle(command):
                events.append(event)
                self._link.send_now(Outgoing(self._topics.event, encode(event.to_json()), qos=0))
        except AgentError as raised:
            error = raised
            if raised.code is ErrorCode.BUSY:
                self._forget(key)
        except asyncio.CancelledError:
            error = AgentError(ErrorCode.NOT_AVAILABLE, "Hearth is stopping.")
        except Exception:
            log.exception("the command %r ended for a fault of our own", command.id)
            error = AgentError(ErrorCode.NOT_AVAILABLE, "Something went wrong inside; the log says what.")
        self._reply(reply(command.id, command.session, events, error), route)

    def _reply(self, answer: dict[str, Any], route: Route) -> None:
        self._link.send(Outgoing(route.topic, encode(answer), correlation=route.correlation))

    def _refuse(self, id: str, session: str | None, route: Route, code: ErrorCode, why: str) -> None:
        answer = reply(id, session, (), AgentError(code, why))
        self._link.send_now(Outgoing(route.topic, encode(answer), correlation=route.correlation))

    async def _watch_lights(self) -> None:
        while True:
            try:
                async for event in self._house.events():
                    self._hear_light(event)
            except Exception:
                log.exception("the house's events broke off")
            await asyncio.sleep(1)

    def _hear_light(self, event: HouseEvent) -> None:
        if not event.state:
            if self._lights.pop(event.device, None) is not None:
                self._tell_light(event.device, b"")  # the broker keeps nothing of what has left
            return
        try:
            payload = light_state(event.state)
        except Exception:  # one lamp must not silence the others
            log.exception("the state of %s cannot be told", event.device)
            return
        if payload is not None and payload != self._lights.get(event.device):
            self._lights[event.device] = payload
            self._tell_light(event.device, payload)

    async def _announce(self) -> None:
        if self._announcements is None:
            return
        async for announcement in self._announcements:
            payload = encode(announcement.to_json())
            self._link.send(Outgoing(self._topics.announcement, payload, until=time.monotonic() + ANNOUNCEMENT_S))

    def _tell_lights(self) -> None:
        for device, payload in self._lights.items():
            self._tell_light(device, payload)

    def _tell_light(self, device: str, payload: bytes) -> None:
        # Not kept for a connection that is away: on the next one all of them are told.
        self._link.send_now(Outgoing(self._topics.light(device), payload, qos=0, retain=True))


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
