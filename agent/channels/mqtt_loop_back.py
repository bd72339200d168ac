"""Finds out what a broker's access list hides: what we send to a topic has to come back to us.

A subscription that the list forbids is granted all the same, and then nothing arrives (mosquitto); what may not be
sent is refused by MQTT 5 alone.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from contextlib import suppress
from enum import Enum

from agent.channels.mqtt_messages import probe, probe_token
from agent.mqtt.publisher import REFUSED, Publisher

BACK_WITHIN_S = 3.0
"""How long a message may take to come back, in seconds."""


class Way(Enum):
    """What became of a message."""

    BACK = "it came back"
    REFUSED = "the broker did not take it"
    LOST = "it was taken, and did not come back"


class LoopBack:
    """One message to each of some topics; whoever reads them hands over what it hears."""

    def __init__(self, topics: Iterable[str]) -> None:
        self._tokens = {uuid.uuid4().hex: topic for topic in topics}
        self._missing = set(self._tokens.values())
        self._news = asyncio.Event()

    def hear(self, payload: bytes) -> None:
        """Takes in a probe; another one's is none of ours."""
        topic = self._tokens.get(probe_token(payload) or "")
        self._missing.discard(topic or "")
        self._news.set()

    async def run(self, publisher: Publisher) -> dict[str, Way]:
        """Sends them, and waits for them to come back.

        Raises:
            MqttError: The connection to send them by was lost.
        """
        answers = await asyncio.gather(
            *(publisher.publish(topic, probe(token).decode()) for token, topic in self._tokens.items())
        )
        refused = {topic for topic, answer in zip(self._tokens.values(), answers, strict=True) if answer >= REFUSED}
        with suppress(TimeoutError):
            async with asyncio.timeout(BACK_WITHIN_S):
                while self._missing - refused:
                    self._news.clear()
                    await self._news.wait()
        return {
            topic: Way.REFUSED if topic in refused else Way.LOST if topic in self._missing else Way.BACK
            for topic in self._tokens.values()
        }
