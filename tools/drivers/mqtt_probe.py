"""What `hearth doctor` finds out about a broker and its topics: a sentence for each trouble, with its cure."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiomqtt import MqttError

from agent.mqtt import trouble
from agent.mqtt.connection import Endpoint
from agent.mqtt.publisher import NOBODY_LISTENS, NOT_ALLOWED, REFUSED, Publisher

CONNECTED_WITHIN_S = 3.0
"""How long the first connection is waited for, in seconds."""

ANSWERED_WITHIN_S = 3.0
"""How long the broker may take to answer messages."""

HEARD_WITHIN_S = 1.0
"""How long a device may take to tell how it is."""


async def connection_trouble(endpoint: Endpoint, last: str, table: str) -> str:
    """Why there is no connection.

    Args:
        endpoint: The broker.
        last: What the last attempt ended with.
        table: The table of the settings, in `[tools]`, that names it.
    """
    broker = f"the broker of [tools.{table}] at {endpoint.host}:{endpoint.port}"
    cause = await trouble.connection_trouble(endpoint, broker, "host")
    return cause or f"{broker} was away ({last}) and is there again: it is tried again within a minute"


async def write_troubles(
    publisher: Publisher,
    names: Mapping[str, str],
    nothing: str = "",
    cure: str = "switch on the {}, or correct its command_topic",
) -> list[str]:
    """Sends a message that moves nothing to each topic, and tells what the broker says to it.

    Args:
        publisher: The connection.
        names: The topics, and whose they are.
        nothing: The message.
        cure: What to do where nothing listens, with "{}" for whose it is.
    """

    async def write(topic: str, name: str) -> str:
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                answer = await publisher.publish(topic, nothing)
        except (TimeoutError, MqttError):
            return f"the broker does not answer a message to {topic}: see its log"
        if answer == NOT_ALLOWED:
            return f"the broker does not let us write to {topic}: allow it in its ACL"
        if answer >= REFUSED:
            return f"the broker refuses a message to {topic} (code {answer}): see its log"
        if answer == NOBODY_LISTENS:
            return f"nothing listens on {topic}: {cure.format(name)}"
        return ""

    found = await asyncio.gather(*(write(topic, name) for topic, name in names.items()))
    return [trouble for trouble in found if trouble]


def unreadable(topic: str) -> str:
    """Of a subscription that the broker refused."""
    return f"the broker does not let us read {topic}: allow it in its ACL"


def silent(topic: str) -> str:
    """Of a topic that tells nothing."""
    return f"nothing was heard on {topic} yet: the device is silent, or the broker's ACL hides it"


def garbled(topic: str, why: str) -> str:
    """Of a topic whose last message was no state."""
    return f"what is said on {topic} cannot be read ({why}): correct the device's table, or the device"


def gone(name: str, topic: str) -> str:
    """Of a device that is known to be away."""
    return f"the {name} is offline, says {topic}: switch it on, or look at its network"
