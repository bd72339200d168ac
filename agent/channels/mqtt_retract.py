"""Takes back what a broker keeps of a node that is removed: its availability and the states of its lamps."""

from __future__ import annotations

import asyncio

from aiomqtt import MqttError

from agent.channels.mqtt_messages import Topics
from agent.errors import AgentError, ErrorCode
from agent.mqtt.connection import Endpoint

QUIET_S = 1.0
"""After so much silence the broker has sent all that it keeps, in seconds."""

TIMEOUT_S = 20.0
"""How long all of it may take, in seconds: a removal does not wait for a broker that is gone."""


async def retract(endpoint: Endpoint, node: str, unless_online: bool = False) -> list[str]:
    """Clears every retained message below `hearth/<node>/`.

    Args:
        endpoint: The broker, with a client id that the service does not have.
        node: The node, which is not to run meanwhile: it would say anew what is taken back.
        unless_online: Nothing is cleared where it does run, after all.

    Returns:
        The topics that were cleared.

    Raises:
        AgentError: NOT_AVAILABLE when the broker is not to be had, DEADLINE_EXCEEDED when it is too slow, BUSY when
            the node is online.
    """
    topics: list[str] = []
    availability = Topics(node).availability
    try:
        async with asyncio.timeout(TIMEOUT_S), endpoint.connect(await endpoint.protocol()) as client:
            await client.subscribe(f"hearth/{node}/#", qos=1)
            while True:
                try:
                    message = await asyncio.wait_for(anext(client.messages), QUIET_S)
                except TimeoutError:
                    break
                if message.retain and message.payload:
                    topics.append(str(message.topic))
                if unless_online and topics[-1:] == [availability] and message.payload == b"online":
                    raise AgentError(ErrorCode.BUSY, f"{node} is online at {endpoint.host}.")
            for topic in topics:
                await client.publish(topic, b"", qos=1, retain=True)
    except TimeoutError as error:
        raise AgentError(ErrorCode.DEADLINE_EXCEEDED, f"The broker did not answer in {TIMEOUT_S:g} seconds.") from error
    except (MqttError, OSError) as error:
        raise AgentError(ErrorCode.NOT_AVAILABLE, f"The broker at {endpoint.host}: {error}.") from error
    return topics
