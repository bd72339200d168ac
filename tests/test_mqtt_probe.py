"""What is found out about a broker and the topics of its devices: one line with cause and cure for each trouble."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.mqtt import trouble as mqtt_trouble
from tests import brokers
from tests.brokers import Mosquitto
from tests.mqtt_bench import bench, mqtt_device
from tools.device import Kind
from tools.drivers import mqtt_probe as probe
from tools.drivers.broker import MqttBroker
from tools.drivers.mqtt import MqttDriver

mosquitto, guarded = brokers.mosquitto, brokers.guarded  # fixtures

LAMP = mqtt_device("lamp", Kind.LIGHT, {"availability_topic": "lamp/availability"}, can=("brightness",))
PLUG = mqtt_device("plug", Kind.PLUG)
LOCK = mqtt_device("lock", Kind.LOCK)
GARAGE = mqtt_device("garage", Kind.GARAGE_DOOR)

WELL = {
    "lamp/state": '{"state": "ON"}', "lamp/availability": "online", "plug/state": "ON", "lock/state": "LOCKED",
    "garage/state": "closed",
}  # fmt: skip
"""What is retained where all is well."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "CONNECTED_WITHIN_S", 1.0)
    monkeypatch.setattr(mqtt_trouble, "LOOKED_WITHIN_S", 1.0)
    monkeypatch.setattr(probe, "HEARD_WITHIN_S", 0.05)


async def test_without_trouble_nothing_is_said_and_nothing_moves(mosquitto: Mosquitto) -> None:
    """An empty message is sent, also to no lock and no garage door."""
    async with bench(mosquitto, LAMP, PLUG, LOCK, GARAGE, retained=WELL) as at:
        assert await at.driver.probe() == []

        sent = [await anext(at.client.messages) for _ in range(2)]
        assert {(str(message.topic), message.payload, message.retain) for message in sent} == {
            ("lamp/set", b"", False), ("plug/set", b"", False)}  # fmt: skip
        assert len(at.client.messages) == 0


async def test_f7_a_topic_that_may_not_be_written_or_read_is_named(guarded: Callable[[str], Mosquitto]) -> None:
    broker = guarded("topic readwrite #\ntopic deny lamp/set\ntopic deny plug/state")
    async with bench(broker, LAMP, PLUG, retained=WELL) as at, asyncio.timeout(10):
        assert await at.driver.probe() == [
            "the broker does not let us write to lamp/set: allow it in its ACL",
            "nothing was heard on plug/state yet: the device is silent, or the broker's ACL hides it",
        ]


async def test_f7_a_refused_subscription_is_named() -> None:
    async with refusing_broker() as broker:
        driver = MqttDriver([PLUG], broker, lambda *_: None)
        async with running(driver):
            assert await driver.probe() == ["the broker does not let us read plug/state: allow it in its ACL"]
            assert driver.health() == "the broker refuses to tell plug/state"


async def test_a_device_that_is_away_silent_or_garbled_is_named(mosquitto: Mosquitto) -> None:
    elsewhere = replace(PLUG, options=replace(PLUG.options, command_topic="plug/sett"))
    retained = {**WELL, "lamp/state": "on", "lamp/availability": "offline"}
    async with bench(mosquitto, LAMP, elsewhere, LOCK, retained=retained) as at:
        said = await at.driver.probe()

    assert said[0] == "nothing listens on plug/sett: switch on the plug, or correct its command_topic"
    assert said[1].startswith("what is said on lamp/state cannot be read (")
    assert said[1].endswith("): correct the device's table, or the device")
    assert said[2:] == ["the lamp is offline, says lamp/availability: switch it on, or look at its network"]


async def test_a_device_that_answers_to_the_empty_message_is_not_silent(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "HEARD_WITHIN_S", 5.0)
    async with bench(mosquitto, PLUG) as at:
        said = asyncio.create_task(at.driver.probe())
        await anext(at.client.messages)
        await at.client.publish("plug/state", "OFF")

        assert await said == []


async def test_a_port_that_nothing_listens_at_is_said(mosquitto: Mosquitto) -> None:
    mosquitto.stop()

    assert await said_of(MqttBroker(mosquitto.host, mosquitto.port)) == [
        f"{broker_at(mosquitto.port)} is not there, nothing listens: start it, or correct host and port"
    ]


async def test_a_wrong_password_is_said(guarded: Callable[..., Mosquitto], tmp_path: Path) -> None:
    broker = guarded(users={"hearth": "secret"})
    secret = tmp_path / "password"
    secret.touch(0o600)
    place = MqttBroker(broker.host, broker.port, username="hearth", password_file=secret)
    wrong = f"{broker_at(broker.port)} refuses our name or password: correct username and password_file"

    secret.write_text("guess\n")
    assert await said_of(place) == [wrong]
    assert await said_of(replace(place, username=None, password_file=None)) == [wrong]

    secret.write_text("secret\n")
    assert await said_of(place) == [
        "nothing listens on plug/set: switch on the plug, or correct its command_topic",
        "nothing was heard on plug/state yet: the device is silent, or the broker's ACL hides it",
    ]


async def test_an_unknown_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*arguments: Any, **options: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    assert await said_of(MqttBroker("broker.home")) == [
        "the broker of [tools.mqtt] at broker.home:1883 has an unknown name: "
        "correct host, or the network's name service"
    ]


async def test_a_broker_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that expects TLS."""
    monkeypatch.setattr(probe, "CONNECTED_WITHIN_S", 0.1)
    monkeypatch.setattr(mqtt_trouble, "LOOKED_WITHIN_S", 0.3)
    async with silent_server() as port:
        [line] = await said_of(MqttBroker("127.0.0.1", port))

    assert line.startswith(f"{broker_at(port)} says nothing: that may be its port for TLS")


async def test_tls_that_fails_is_said(mosquitto: Mosquitto, tmp_path: Path) -> None:
    place = MqttBroker(mosquitto.host, mosquitto.port, tls=True)
    [line] = await said_of(place)
    missing = await said_of(replace(place, ca_file=tmp_path / "ca.pem"))

    assert line.startswith(f"{broker_at(mosquitto.port)} is not reached with TLS (")
    assert line.endswith("): correct tls and ca_file")
    assert missing[0].endswith(f", as there is no file {tmp_path / 'ca.pem'}: correct ca_file")


async def test_a_broker_that_is_there_again_is_said(mosquitto: Mosquitto) -> None:
    """The driver waits a while before its next attempt."""
    mosquitto.stop()
    driver = MqttDriver([PLUG], MqttBroker(mosquitto.host, mosquitto.port), lambda *_: None, first_wait_s=60)
    async with running(driver):
        await driver.first_try.over.wait()
        mosquitto.start()
        [line] = await driver.probe()

    assert "was away (" in line and "is tried again within a minute" in line


def test_all_is_tried_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    assert probe.CONNECTED_WITHIN_S + mqtt_trouble.LOOKED_WITHIN_S <= 10
    assert probe.CONNECTED_WITHIN_S + probe.ANSWERED_WITHIN_S + probe.HEARD_WITHIN_S <= 10


def broker_at(port: int) -> str:
    return f"the broker of [tools.mqtt] at 127.0.0.1:{port}"


async def said_of(broker: MqttBroker) -> list[str]:
    """What is said where there is a broker, or none, and no device."""
    driver = MqttDriver([PLUG], broker, lambda *_: None, first_wait_s=60)
    async with running(driver):
        return await driver.probe()


@asynccontextmanager
async def running(driver: MqttDriver) -> AsyncIterator[None]:
    task = asyncio.create_task(driver.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def silent_server() -> AsyncIterator[int]:
    """A port that takes connections and says nothing."""
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        ended.set()
        server.close()


@asynccontextmanager
async def refusing_broker() -> AsyncIterator[MqttBroker]:
    """As much of MQTT 5 as it takes to refuse a subscription; mosquitto's ACL grants all of them."""
    answers = {
        1: lambda packet: b"\x20\x03\x00\x00\x00",  # CONNECT: welcome
        3: lambda packet: b"\x40\x02" + packet[2 + packet[1] :][:2],  # PUBLISH: taken
        8: lambda packet: b"\x90\x04" + packet[:2] + b"\x00\x87",  # SUBSCRIBE: not authorized
        10: lambda packet: b"\xb0\x04" + packet[:2] + b"\x00\x11",  # UNSUBSCRIBE: there was none
    }

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind, length = await reader.readexactly(2)  # no packet here is longer than 127 bytes
                packet = await reader.readexactly(length)
                if kind >> 4 in answers:
                    writer.write(answers[kind >> 4](packet))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield MqttBroker("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()
