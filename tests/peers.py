"""The MQTT channel with a house behind it, and another client of the same broker."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiomqtt import Client, Message, ProtocolVersion

from agent.channels.mqtt import MqttChannel
from agent.command import Command
from agent.config import MqttSettings
from agent.due import Announcement
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage
from agent.house import HouseEvent
from tests.brokers import Mosquitto

COMMAND = "hearth/desk/command"
CONFIRM = "hearth/desk/confirm"
REPLY = "hearth/desk/reply"
AVAILABILITY = "hearth/desk/availability"


def lamp(state: str, **more: Any) -> HouseEvent:
    return HouseEvent("lamp", {"name": "lamp", "kind": "light", "state": state, **more})


class Lamps:
    """A house of which only the events are of interest."""

    tools = ()

    def __init__(self) -> None:
        self.happened: asyncio.Queue[HouseEvent] = asyncio.Queue()

    async def events(self) -> AsyncIterator[HouseEvent]:
        while True:
            yield await self.happened.get()

    def names(self) -> tuple[str, ...]:
        return ()

    def rooms(self) -> tuple[str, ...]:
        return ()

    async def show(self, status: str) -> None: ...

    def targets(self, name: str, arguments: Any) -> frozenset[str]:
        return frozenset()

    def health(self) -> dict[str, str]:
        return {}


class Desk:
    """What stands behind the channel: acts on a command, and remembers that it did."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.answers: list[tuple[str, bool]] = []
        self.house = Lamps()
        self.due: asyncio.Queue[Announcement] = asyncio.Queue()
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def handle(self, command: Command) -> AsyncIterator[AgentEvent]:
        self.commands.append(command)
        yield FunctionCall("c1", "turn_on_light", {"room": "desk"})
        await self.may_go_on.wait()
        if command.text == "break":
            raise RuntimeError("broken on purpose")
        if command.text == "too long":
            raise AgentError(ErrorCode.DEADLINE_EXCEEDED, "That took too long.")
        if command.text == "too many":
            raise AgentError(ErrorCode.BUSY, "16 commands are waiting already; try again in a moment.")
        yield FunctionResponse("c1", "turn_on_light", {"status": "ok"})
        yield TextMessage("The desk light is on.")

    async def announcements(self) -> AsyncIterator[Announcement]:
        while True:
            yield await self.due.get()

    def confirm(self, call_id: str, answer: bool) -> bool:
        self.answers.append((call_id, answer))
        return True

    @property
    def texts(self) -> list[str]:
        return [command.text for command in self.commands]


class Peer:
    """Another client of the same broker: it hears everything below `hearth/`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.passed: list[str] = []

    async def send(self, payload: str | bytes | dict[str, Any], topic: str = COMMAND, **options: Any) -> None:
        data = json.dumps(payload) if isinstance(payload, dict) else payload
        await self._client.publish(topic, data, qos=1, **options)

    async def hear(self, topic: str) -> Message:
        """The next message on a topic; those on others are passed over."""
        async with asyncio.timeout(20):  # mosquitto looks for silent clients every few seconds
            async for message in self._client.messages:
                if str(message.topic) == topic:
                    return message
                self.passed.append(str(message.topic))
        raise AssertionError("unreachable")

    async def reply(self, topic: str = REPLY) -> Any:
        return json.loads((await self.hear(topic)).payload)

    async def online(self) -> None:
        while (await self.hear(AVAILABILITY)).payload != b"online":
            pass

    async def offline(self) -> None:
        while (await self.hear(AVAILABILITY)).payload != b"offline":
            pass


@asynccontextmanager
async def peer_at(broker: Mosquitto, protocol: ProtocolVersion = ProtocolVersion.V5) -> AsyncIterator[Peer]:
    async with Client(broker.host, broker.port, protocol=protocol) as client:
        await client.subscribe("hearth/#", qos=1)
        yield Peer(client)


def settings_for(broker: Mosquitto, **changes: Any) -> MqttSettings:
    return dataclasses.replace(MqttSettings(broker=broker.host, port=broker.port), **changes)


@asynccontextmanager
async def running(desk: Desk, settings: MqttSettings) -> AsyncIterator[MqttChannel]:
    channel = MqttChannel(settings, "desk", desk.handle, desk.confirm, desk.house, desk.announcements())
    task = asyncio.create_task(channel.run())
    try:
        yield channel
    finally:
        task.cancel()
        await asyncio.wait({task})


async def until(condition: Callable[[], bool]) -> None:
    """For what has no event of its own: a line in the log, the status."""
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def lines(caplog: pytest.LogCaptureFixture, words: str) -> list[str]:
    return [each.getMessage() for each in caplog.records if words in each.getMessage()]
