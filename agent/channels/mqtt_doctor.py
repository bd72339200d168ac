"""Tries a broker and each of our topics, and tells what is denied: a denial looks like success to everybody else."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass

from aiomqtt import Client, MqttError, ProtocolVersion

from agent.channels.mqtt_loop_back import BACK_WITHIN_S, LoopBack, Way
from agent.channels.mqtt_messages import Topics
from agent.mqtt.connection import Endpoint
from agent.mqtt.publisher import Publisher


@dataclass(frozen=True)
class TopicReport:
    """What was found out about our topics.

    Attributes:
        troubles: A sentence for each that does not work, with what to add to the broker's access list.
        unknown: Those of which it could not be found out whether we hear what others send there.
    """

    troubles: tuple[str, ...]
    unknown: tuple[str, ...]


async def try_topics(endpoint: Endpoint, node: str, online: bool) -> TopicReport:
    """Sends to each of our topics what nobody acts on, and looks whether it comes back.

    It is done by two more connections of the same user. They have ids of their own, so that a service which runs
    keeps its place. Whoever listens gets one `{"probe": ...}` a topic.

    Args:
        endpoint: The broker.
        node: Our name in every topic.
        online: The service runs and is connected, so its availability has to be there.

    Raises:
        MqttError: The broker went away.
    """
    protocol = await endpoint.protocol()
    newest = protocol is ProtocolVersion.V5
    topics = Topics(node)
    heard = (topics.command, topics.confirm)
    light = topics.light(uuid.uuid4().hex)
    told = (topics.reply, topics.event, topics.announcement, light)
    loop_back = LoopBack((*heard, *told))
    availability = _Retained()
    async with endpoint.connect(protocol) as reader, endpoint.connect(protocol) as writer:
        await reader.subscribe([(topic, 1) for topic in (*heard, *told, topics.availability)])
        reading = asyncio.create_task(_read(reader, loop_back, topics.availability, availability))
        try:
            ways = await loop_back.run(Publisher(writer, newest, BACK_WITHIN_S))
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, MqttError):
                await reading
    user = f" under `user {endpoint.username}`" if endpoint.username else ""

    def add(rights: str, topic: str) -> str:
        return f"add `topic {rights} {topic}` to its access list{user}"

    troubles = [
        f"what is sent to {topic} does not reach us: {add('read', topic)}" for topic in heard if ways[topic] is Way.LOST
    ]
    for topic in told:
        shown = topics.light("+") if topic == light else topic
        if ways[topic] is Way.REFUSED:
            troubles.append(f"the broker does not let us write to {shown}: {add('write', shown)}")
        elif ways[topic] is Way.LOST and not newest:  # MQTT 3.1.1 does not tell which of the two it is
            troubles.append(f"what we write to {shown} does not come back: {add('readwrite', shown)}")
    if online and availability.payload != b"online":
        topic = topics.availability
        troubles.append(f"{topic} does not say that the service is online: {add('readwrite', topic)}")
    return TopicReport(tuple(troubles), tuple(topic for topic in heard if ways[topic] is Way.REFUSED))


class _Retained:
    """What a topic told, the last of it."""

    payload = b""


async def _read(client: Client, loop_back: LoopBack, availability: str, told: _Retained) -> None:
    async for message in client.messages:
        if str(message.topic) == availability:
            told.payload = bytes(message.payload)
        else:
            loop_back.hear(bytes(message.payload))
