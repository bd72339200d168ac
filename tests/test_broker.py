"""The embedded broker, of both kinds."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from aiomqtt import Client, ProtocolVersion

from agent.channels import broker as broker_module
from agent.channels.broker import BrokerError, embedded_broker
from agent.channels.mqtt import publish
from agent.mqtt.connection import Endpoint
from tests.peers import AVAILABILITY, COMMAND, Desk, Peer, lamp, lines, running, settings_for, until

KINDS = ["mosquitto", "amqtt"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind that is to be found: without a program called mosquitto it is amqtt."""
    if request.param == "amqtt":
        monkeypatch.setattr(broker_module.shutil, "which", lambda name, path=None: None)
    return str(request.param)


async def test_the_broker_is_of_the_kind_that_is_there_and_listens_on_loopback(kind: str) -> None:
    async with embedded_broker() as broker:
        socket.create_connection((broker.host, broker.port)).close()

    assert (broker.kind, broker.host) == (kind, "127.0.0.1")


async def test_nothing_listens_after_the_end(kind: str) -> None:
    async with embedded_broker() as broker:
        pass

    with pytest.raises(OSError):
        socket.create_connection((broker.host, broker.port))


async def test_two_at_once_have_ports_of_their_own(kind: str) -> None:
    async with embedded_broker() as one, embedded_broker() as other:
        assert one.port != other.port


@pytest.mark.parametrize(
    ("kind", "version"),
    list(zip(KINDS, [ProtocolVersion.V5, ProtocolVersion.V311], strict=True)),
    indirect=["kind"],
)
async def test_the_newest_protocol_is_found_out_at_once(kind: str, version: ProtocolVersion) -> None:
    async with embedded_broker() as broker, asyncio.timeout(3):
        assert await Endpoint(broker.host, broker.port).protocol() is version


async def test_a_command_is_answered_and_a_light_told(kind: str) -> None:
    desk = Desk()
    desk.house.happened.put_nowait(lamp("on", brightness=80))
    async with embedded_broker() as broker, running(desk, settings_for(broker)) as channel:
        await until(lambda: channel.status().startswith("connected"))
        reply = await publish(broker.host, broker.port, "desk", "turn on the light", room="hall")
        async with Client(broker.host, broker.port) as late:
            await late.subscribe("hearth/desk/light/+/state")
            state = await anext(aiter(late.messages))

    assert (reply["text"], reply["session"]) == ("The desk light is on.", "mqtt-desk-hall")
    assert (bytes(state.payload), state.retain) == (b'{"state": "ON", "brightness": 204}', True)


async def test_a_retained_command_does_not_act(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    async with embedded_broker() as broker, Client(broker.host, broker.port) as other:
        await other.publish(COMMAND, "open the garage", qos=1, retain=True)
        async with running(desk, settings_for(broker)):
            await until(lambda: bool(lines(caplog, "retained")))
            await publish(broker.host, broker.port, "desk", "hello")

    assert desk.texts == ["hello"]
    assert len(lines(caplog, "retained")) == 1


async def test_availability_comes_and_goes(kind: str) -> None:
    async with embedded_broker() as broker, Client(broker.host, broker.port) as client:
        await client.subscribe("hearth/#", qos=1)
        peer = Peer(client)
        async with running(Desk(), settings_for(broker)):
            await peer.online()
        await peer.offline()
        async with Client(broker.host, broker.port) as late:
            await late.subscribe(AVAILABILITY)

            assert (await anext(aiter(late.messages))).payload == b"offline"


async def test_what_amqtt_lacks_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(broker_module.shutil, "which", lambda name, path=None: None)
    async with embedded_broker():
        pass

    (line,) = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert "MQTT 3.1.1" in line.getMessage()


async def test_mosquitto_that_ends_by_itself_is_started_again_on_its_port(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(broker_module, "RESTART_S", 0.01)
    async with embedded_broker() as broker:
        os.kill(_pid_on(broker.port), signal.SIGKILL)
        await until(lambda: "started again" in caplog.text)
        await until(lambda: _listens(broker.port))


async def test_a_broker_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "mosquitto"
    broken.write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    broken.chmod(0o755)
    found = {"mosquitto": str(broken)}
    monkeypatch.setattr(broker_module.shutil, "which", lambda name, path=None: found.get(name))

    with pytest.raises(BrokerError, match="ended with 3: it is broken"):
        async with embedded_broker():
            pass


PARENT = """
import asyncio
from agent.channels.broker import embedded_broker

async def main():
    async with embedded_broker() as broker:
        print(broker.port, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_mosquitto_does_not_outlive_a_parent_that_was_killed() -> None:
    root = Path(__file__).parent.parent
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, stdout=PIPE, cwd=root)
    assert parent.stdout is not None
    port = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await until(lambda: not _listens(port))


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _pid_on(port: int) -> int:
    """The child of ours that was told to listen there: the newest, as each test has one."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(children[-1])
