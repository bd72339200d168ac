"""A node that was renamed leaves nothing under its old name."""

from __future__ import annotations

import asyncio

import aiomqtt
import pytest
from test_mqtt_retract import mosquitto, retained  # noqa: F401  # a fixture

from agent.channels import mqtt_renamed
from agent.channels.mqtt_renamed import DOCUMENT, leave_old_name
from agent.config import MqttSettings
from agent.house_store import HouseStore
from tests.brokers import Mosquitto


async def keep(mosquitto: Mosquitto, **topics: str) -> None:  # noqa: F811
    async with aiomqtt.Client(mosquitto.host, mosquitto.port) as client:
        for topic, payload in topics.items():
            await client.publish(f"hearth/{topic.replace('__', '/')}", payload, qos=1, retain=True)


def broker(mosquitto: Mosquitto) -> MqttSettings:  # noqa: F811
    return MqttSettings(mosquitto.host, mosquitto.port)


async def test_a_first_start_remembers_the_name_and_takes_back_nothing(mosquitto: Mosquitto) -> None:  # noqa: F811
    """Others may have topics there."""
    kept = HouseStore()
    await keep(mosquitto, other__availability="offline")
    await leave_old_name(broker(mosquitto), "new", kept)

    assert await kept.read(DOCUMENT) == "new"
    assert await retained(mosquitto) == ["hearth/other/availability"]


async def test_after_a_rename_the_old_names_topics_are_gone(mosquitto: Mosquitto) -> None:  # noqa: F811
    """And no other node's, and not those of the new name."""
    kept = HouseStore()
    await kept.write(DOCUMENT, "old")
    await keep(mosquitto, old__availability="offline", old__light__lamp__state="{}", older__availability="offline")
    await keep(mosquitto, new__availability="online")
    await leave_old_name(broker(mosquitto), "new", kept)

    assert await retained(mosquitto) == ["hearth/new/availability", "hearth/older/availability"]
    assert await kept.read(DOCUMENT) == "new"


async def test_a_name_that_somebody_else_has_now_is_left_alone(mosquitto: Mosquitto) -> None:  # noqa: F811
    """A home that moved to another board, and the first board goes on under a new name."""
    kept = HouseStore()
    await kept.write(DOCUMENT, "home")
    await keep(mosquitto, home__light__lamp__state="{}", home__availability="online")
    await leave_old_name(broker(mosquitto), "spare", kept)

    assert await retained(mosquitto) == ["hearth/home/availability", "hearth/home/light/lamp/state"]
    assert await kept.read(DOCUMENT) == "spare"


async def test_a_broker_that_is_away_is_waited_for(
    mosquitto: Mosquitto,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is forgotten meanwhile, so that the next start can do it too."""
    kept = HouseStore()
    await kept.write(DOCUMENT, "old")
    await keep(mosquitto, old__availability="offline")
    monkeypatch.setattr(mqtt_renamed.Backoff, "FIRST_S", 0.05)
    monkeypatch.setattr(mqtt_renamed.Backoff, "LONGEST_S", 0.2)
    tried = asyncio.Event()
    retract = mqtt_renamed.retract

    async def retract_and_tell(*arguments, **more):
        try:
            return await retract(*arguments, **more)
        finally:
            tried.set()

    monkeypatch.setattr(mqtt_renamed, "retract", retract_and_tell)
    mosquitto.stop()
    leaving = asyncio.create_task(leave_old_name(broker(mosquitto), "new", kept))
    async with asyncio.timeout(60):
        await tried.wait()
        assert await kept.read(DOCUMENT) == "old"
        mosquitto.start()
        await keep(mosquitto, old__availability="offline")
        await leaving

    assert await retained(mosquitto) == []
    assert await kept.read(DOCUMENT) == "new"
