"""Publishing with the broker's answer: MQTT 5 tells who may not write to a topic, and where nobody listens."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes

from agent.mqtt.connection import properties

NOBODY_LISTENS = 16
"""The broker took the message, and has nobody to give it to."""

REFUSED = 128
"""From here on the broker did not take the message."""

NOT_ALLOWED = 135
"""It did not, as its users and ACL do not let us write there."""


class Publisher:
    """Sends messages on one connection, of which the broker keeps none.

    None is retained. One for a client that is away for a while is kept for as long as its sender waits, and no
    longer. What is sent with MQTT 3.1.1 is sent once, at QoS 0, as that knows neither an end of a message nor
    a refusal.

    Args:
        client: A connection.
        newest: It speaks MQTT 5.
        expiry_s: How long the broker may keep a message, in seconds.
    """

    def __init__(self, client: aiomqtt.Client, newest: bool, expiry_s: float) -> None:
        self._client = client
        self._newest = newest
        self._expiry_s = max(1, math.ceil(expiry_s))
        self._waiting: dict[int, asyncio.Future[int]] = {}
        if newest:
            # aiomqtt waits for the acknowledgement, but does not tell what is in it.
            client._client.on_publish = self._acknowledged

    async def publish(self, topic: str, payload: str) -> int:
        """Sends a message.

        Returns:
            The broker's reason code; 0 where it gives none.

        Raises:
            aiomqtt.MqttError: Nothing was sent.
        """
        if not self._newest:
            await self._client.publish(topic, payload, qos=0, retain=False)
            return 0
        limit = properties(PacketTypes.PUBLISH, MessageExpiryInterval=self._expiry_s)
        sent = self._client._client.publish(topic, payload, qos=1, retain=False, properties=limit)
        if sent.rc:
            raise aiomqtt.MqttCodeError(sent.rc, "Could not publish message")
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[sent.mid] = answer
        try:
            return await answer
        finally:
            del self._waiting[sent.mid]

    def _acknowledged(self, client: Any, userdata: Any, mid: int, reason: Any, about: Any) -> None:
        answer = self._waiting.get(mid)
        if answer is not None and not answer.done():
            answer.set_result(int(reason.value))
