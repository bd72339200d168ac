"""What a broker keeps of a node is taken back when the node is removed."""

from __future__ import annotations

import aiomqtt
import pytest

from agent.channels.mqtt_retract import retract
from agent.errors import AgentError, ErrorCode
from agent.mqtt.connection import Endpoint
from tests import brokers
from tests.brokers import Mosquitto

mosquitto = brokers.mosquitto  # a fixture


async def retained(mosquitto: Mosquitto) -> list[str]:
    """The topics of all that the broker keeps, up to a mark of our own that comes last."""
    topics = []
    async with aiomqtt.Client(mosquitto.host, mosquitto.port) as client:
        await client.subscribe("hearth/#")
        await client.publish("hearth/mark")
        async for message in client.messages:
            if str(message.topic) == "hearth/mark":
                break
            topics.append(str(message.topic))
    return sorted(topics)


async def test_what_is_kept_of_the_node_is_cleared_and_of_others_stays(mosquitto: Mosquitto) -> None:
    """Only below its own name."""
    async with aiomqtt.Client(mosquitto.host, mosquitto.port) as client:
        for topic in ("hearth/node/availability", "hearth/node/light/desk_lamp/state", "hearth/node2/availability"):
            await client.publish(topic, b"x", qos=1, retain=True)
    cleared = await retract(Endpoint(mosquitto.host, mosquitto.port), "node")

    assert sorted(cleared) == ["hearth/node/availability", "hearth/node/light/desk_lamp/state"]
    assert await retained(mosquitto) == ["hearth/node2/availability"]


async def test_a_broker_that_is_gone_is_an_error_that_says_so(mosquitto: Mosquitto) -> None:
    """A removal goes on without it."""
    mosquitto.stop()
    with pytest.raises(AgentError) as caught:
        await retract(Endpoint(mosquitto.host, mosquitto.port), "node")

    assert caught.value.code is ErrorCode.NOT_AVAILABLE
