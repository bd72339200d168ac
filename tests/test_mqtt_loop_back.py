"""What a broker's access list hides is found out: what we send to a topic has to come back to us."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

import pytest
from aiomqtt import Client
from hypothesis import given
from hypothesis import strategies as st

from agent.channels import mqtt_loop_back
from agent.channels.mqtt_messages import MAX_NAME, probe, probe_token
from agent.mqtt.connection import Backoff
from tests import brokers
from tests.brokers import Mosquitto
from tests.peers import COMMAND, CONFIRM, Desk, Peer, lines, running, settings_for, until

mosquitto, guarded = brokers.mosquitto, brokers.guarded  # fixtures


@given(st.text(max_size=20))
def test_a_probe_is_known_again_by_its_token(token: str) -> None:
    if len(probe(token)) <= MAX_NAME:
        assert probe_token(probe(token)) == token


@pytest.mark.parametrize(
    "payload",
    [b"", b"turn on the light", b'{"text": "x"}', b'{"probe": 5}', b'{"probe": "a", "text": "turn on"}', b'{"probe"',
     b'{"probe": "' + b"x" * MAX_NAME + b'"}', b'{"probe": "\xff"}'],
)  # fmt: skip
def test_nothing_else_is_a_probe(payload: bytes) -> None:
    assert probe_token(payload) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_a_probe_or_are_not(payload: bytes) -> None:
    probe_token(b'{"probe"' + payload)


async def test_a_probe_is_no_command_and_has_no_answer(mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture) -> None:
    """On both of our topics."""
    desk = Desk()
    async with running(desk, settings_for(mosquitto)) as channel:
        await until(lambda: channel.status().startswith("connected"))
        async with Client(mosquitto.host, mosquitto.port) as client:
            await client.subscribe("hearth/desk/#")
            peer = Peer(client)
            for topic in (COMMAND, CONFIRM):
                await peer.send(probe("x"), topic)
            await peer.send({"text": "hello", "id": "1"})

            assert (await peer.reply())["id"] == "1"
            assert desk.texts == ["hello"]
            assert desk.answers == []
            assert lines(caplog, "ignored") == []


async def test_where_all_comes_back_nothing_is_said(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(mqtt_loop_back, "BACK_WITHIN_S", 60)
    caplog.set_level(logging.DEBUG)
    async with running(Desk(), settings_for(mosquitto)) as channel:
        link = channel._link
        await until(lambda: channel.status().startswith("connected"))
        await until(lambda: not link._loop_back._missing and bool(link._loop_back._tokens))

        assert "does not reach us" not in channel.status()
    assert lines(caplog, "does not reach us") == []


@pytest.mark.parametrize("denied", [COMMAND, CONFIRM])
async def test_f7_a_topic_that_the_access_list_hides_is_said_at_the_start(
    guarded: Callable[..., Mosquitto], caplog: pytest.LogCaptureFixture, denied: str
) -> None:
    """In the log and in the status, within ten seconds; the broker granted the subscription."""
    broker = guarded(_all_but(denied))
    async with running(Desk(), settings_for(broker)) as channel, asyncio.timeout(10):
        while "does not reach us" not in channel.status():
            await asyncio.sleep(0.05)

        assert channel.status().endswith(f"; what is sent to {denied} does not reach us")
        assert lines(caplog, "does not reach us") == [
            f"what is sent to {denied} does not reach us: the broker's access list has to let us read it"
        ]


def _all_but(denied: str) -> str:
    """An access list under which we may write everything, and read everything but one topic."""
    others = [topic for topic in (COMMAND, CONFIRM) if topic != denied]
    return "\n".join(["topic write #", *(f"topic read {topic}" for topic in others)])


async def test_what_we_may_not_write_ourselves_is_not_said_to_be_hidden(
    guarded: Callable[..., Mosquitto], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The best access list: others command, and we only listen."""
    monkeypatch.setattr(mqtt_loop_back, "BACK_WITHIN_S", 0.3)
    broker = guarded(
        f"topic read {COMMAND}\ntopic read {CONFIRM}\ntopic write hearth/desk/reply\n"
        "topic readwrite hearth/desk/availability"
    )
    tried = asyncio.Event()
    run = mqtt_loop_back.LoopBack.run

    async def watched(*arguments: object) -> object:
        try:
            return await run(*arguments)  # type: ignore[arg-type]
        finally:
            asyncio.get_running_loop().call_soon(tried.set)

    monkeypatch.setattr(mqtt_loop_back.LoopBack, "run", watched)
    async with running(Desk(), settings_for(broker)) as channel, asyncio.timeout(10):
        await tried.wait()
        await asyncio.sleep(0)

        assert "does not reach us" not in channel.status()
    assert lines(caplog, "does not reach us") == []


async def test_it_is_tried_again_on_each_connection(
    guarded: Callable[..., Mosquitto], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An access list that was mended, and a broker that was started again."""
    monkeypatch.setattr(Backoff, "FIRST_S", 0.05)
    monkeypatch.setattr(mqtt_loop_back, "BACK_WITHIN_S", 1.0)
    broker = guarded(_all_but(COMMAND))
    async with running(Desk(), settings_for(broker)) as channel, asyncio.timeout(20):
        while "does not reach us" not in channel.status():
            await asyncio.sleep(0.05)
        broker.stop()
        (broker._settings.parent / "acl").write_text("topic readwrite #\n")
        broker.start()
        while not channel.status().endswith("with MQTT 5"):
            await asyncio.sleep(0.05)


def test_a_probe_is_what_the_documents_say() -> None:
    assert json.loads(probe("a")) == {"probe": "a"}
