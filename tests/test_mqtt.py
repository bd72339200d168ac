"""The MQTT channel at a real mosquitto."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiomqtt import Client, MqttCodeError, MqttError, ProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from agent.channels import mqtt, mqtt_link
from agent.channels.mqtt import MqttChannel, publish
from agent.channels.mqtt_link import MqttLink
from agent.command import Command
from agent.config import MqttSettings
from agent.due import Announcement, DueItem
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent
from agent.house import HouseEvent
from agent.mqtt.connection import SESSION_TAKEN_OVER, Backoff, properties, reason_code
from agent.runner import Agent, AgentRunner
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tests import brokers
from tests.brokers import Mosquitto
from tests.fakes import ScriptedModel, act, call
from tests.fakes import answer as answer_of
from tests.peers import (
    AVAILABILITY,
    COMMAND,
    CONFIRM,
    Desk,
    Lamps,
    Peer,
    lamp,
    lines,
    peer_at,
    running,
    settings_for,
    until,
)

mosquitto = brokers.mosquitto  # a fixture


@pytest.fixture(autouse=True)
def quick_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backoff, "FIRST_S", 0.05)
    monkeypatch.setattr(Backoff, "LONGEST_S", 0.2)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def peer(mosquitto: Mosquitto) -> AsyncIterator[Peer]:
    async with peer_at(mosquitto) as peer:
        yield peer


@pytest.fixture
async def channel(desk: Desk, peer: Peer, mosquitto: Mosquitto) -> AsyncIterator[MqttChannel]:
    async with running(desk, settings_for(mosquitto)) as channel:
        await peer.online()
        yield channel


# A command and its reply


@pytest.mark.usefixtures("channel")
async def test_words_are_answered_with_one_reply_and_its_calls(desk: Desk, peer: Peer) -> None:
    await peer.send("turn on the desk light")

    answer = await peer.reply()

    assert answer == {
        "id": desk.commands[0].id,
        "session": "mqtt-desk-any",
        "text": "The desk light is on.",
        "calls": [{"id": "c1", "name": "turn_on_light", "arguments": {"room": "desk"}, "response": {"status": "ok"}}],
    }


@pytest.mark.usefixtures("channel")
async def test_id_session_and_room_are_those_of_the_sender(desk: Desk, peer: Peer) -> None:
    await peer.send({"text": "on", "id": "x1", "session": "mine", "room": "hall"})

    answer = await peer.reply()

    assert (answer["id"], answer["session"]) == ("x1", "mine")
    assert (desk.commands[0].room, desk.commands[0].channel) == ("hall", "mqtt")


@pytest.mark.usefixtures("channel")
async def test_without_a_session_there_is_one_for_each_room(desk: Desk, peer: Peer) -> None:
    await peer.send({"text": "on", "room": "hall"})
    await peer.send({"text": "on", "room": "attic"})

    assert [(await peer.reply())["session"] for _ in "12"] == ["mqtt-desk-hall", "mqtt-desk-attic"]


@pytest.mark.usefixtures("channel")
async def test_each_event_is_told_before_the_reply(peer: Peer) -> None:
    await peer.send("on")

    told = [json.loads((await peer.hear("hearth/desk/event")).payload)["type"] for _ in range(3)]
    await peer.reply()

    assert told == ["function_call", "function_response", "text_message"]


@pytest.mark.parametrize(("text", "name"), [("break", "NOT_AVAILABLE"), ("too long", "DEADLINE_EXCEEDED")])
@pytest.mark.usefixtures("channel")
async def test_a_run_that_fails_is_answered_with_its_error(peer: Peer, text: str, name: str) -> None:
    await peer.send({"text": text, "id": "x1"})

    answer = await peer.reply()

    assert (answer["id"], answer["error"]["name"]) == ("x1", name)


@pytest.mark.usefixtures("channel")
async def test_a_response_topic_below_the_prefix_gets_the_reply_and_its_mark_unchanged(peer: Peer) -> None:
    asked = properties(PacketTypes.PUBLISH, ResponseTopic="hearth/client/7", CorrelationData=b"\x00\xff")
    await peer.send({"text": "on", "id": "x1"}, properties=asked)

    message = await peer.hear("hearth/client/7")

    assert json.loads(message.payload)["id"] == "x1"
    assert message.properties is not None
    assert message.properties.CorrelationData == b"\x00\xff"


@pytest.mark.parametrize("topic", ["zigbee2mqtt/bridge/request/x", "hearth/other/command"])
@pytest.mark.usefixtures("channel")
async def test_a_response_topic_elsewhere_is_ignored_with_one_warning(
    peer: Peer, caplog: pytest.LogCaptureFixture, topic: str
) -> None:
    for id in ("x1", "x2"):
        await peer.send({"text": "on", "id": id}, properties=properties(PacketTypes.PUBLISH, ResponseTopic=topic))

    assert {(await peer.reply())["id"] for _ in "12"} == {"x1", "x2"}
    assert len(lines(caplog, topic)) == 1


async def test_a_prefix_of_the_settings_is_allowed(desk: Desk, mosquitto: Mosquitto, peer: Peer) -> None:
    async with running(desk, settings_for(mosquitto, reply_prefixes=("answers/",))):
        await peer.online()
        async with Client(mosquitto.host, mosquitto.port) as other:
            await other.subscribe("answers/#")
            await peer.send("on", properties=properties(PacketTypes.PUBLISH, ResponseTopic="answers/1"))

            message = await anext(aiter(other.messages))

    assert str(message.topic) == "answers/1"


@pytest.mark.usefixtures("channel")
async def test_a_client_of_mqtt_3_is_answered_too(mosquitto: Mosquitto) -> None:
    async with peer_at(mosquitto, ProtocolVersion.V311) as old:
        await old.send({"text": "on", "id": "x1"})

        assert (await old.reply())["id"] == "x1"


# Commands that must not act


async def test_a_retained_command_never_acts_not_even_after_lost_connections(
    desk: Desk, mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    async with peer_at(mosquitto) as peer:
        await peer.send("open the garage", retain=True)
        async with running(desk, settings_for(mosquitto)):
            await peer.online()
            await peer.send({"text": "hello", "id": "x0"})
            await peer.reply()
            for _ in range(2):
                mosquitto.kill()
                mosquitto.start()
                async with peer_at(mosquitto) as again:
                    await again.send("open the garage", retain=True)
                    await again.online()
                    await again.send("hello")
                    await again.reply()

            assert desk.texts == ["hello"] * 3
            assert len(lines(caplog, "retained")) == 1
            assert COMMAND in lines(caplog, "retained")[0]

            async with peer_at(mosquitto) as again:
                await again.send("open the garage")
                await again.reply()

            assert desk.texts[-1] == "open the garage"


@pytest.mark.usefixtures("channel")
async def test_a_retained_command_that_comes_live_does_not_act_either(desk: Desk, peer: Peer) -> None:
    await peer.send("open the garage", retain=True)
    await peer.send("hello")
    await peer.reply()

    assert desk.texts == ["hello"]


@pytest.mark.usefixtures("channel")
async def test_the_same_id_again_is_neither_acted_on_nor_answered(desk: Desk, peer: Peer) -> None:
    for id in ("x1", "x1", "x2"):
        await peer.send({"text": f"on {id}", "id": id})

    assert [(await peer.reply())["id"] for _ in "12"] == ["x1", "x2"]
    assert desk.texts == ["on x1", "on x2"]


@pytest.mark.parametrize(("clock_is_set", "acts"), [(True, False), (False, True)])
@pytest.mark.usefixtures("channel")
async def test_an_old_command_is_refused_if_the_clock_is_right(
    desk: Desk, peer: Peer, monkeypatch: pytest.MonkeyPatch, clock_is_set: bool, acts: bool
) -> None:
    monkeypatch.setattr(mqtt, "clock_is_synchronized", lambda: clock_is_set)
    await peer.send({"text": "open the garage", "id": "x1", "sent": time.time() - 3600})

    answer = await peer.reply()

    assert bool(desk.commands) == acts
    assert ("error" not in answer) == acts


@pytest.mark.usefixtures("channel")
async def test_a_command_sent_just_now_acts(desk: Desk, peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "clock_is_synchronized", lambda: True)
    await peer.send({"text": "on", "sent": time.time()})
    await peer.reply()

    assert desk.texts == ["on"]


UNREADABLE = [b"\xff\xfe", b"", b"{", b"x" * 1_000_000, b"null", b"[]", b'"NaN"', b"[" * 5000]


@pytest.mark.parametrize("topic", [COMMAND, CONFIRM])
@pytest.mark.usefixtures("channel")
async def test_what_cannot_be_read_costs_one_line_each_and_nothing_else(
    desk: Desk, peer: Peer, caplog: pytest.LogCaptureFixture, topic: str
) -> None:
    for payload in UNREADABLE:
        await peer.send(payload, topic)
    await peer.send("Tür")
    await peer.reply()

    assert desk.texts == ["Tür"]
    assert desk.answers == []
    for payload in UNREADABLE:
        assert lines(caplog, f"of {len(payload)} bytes on {topic}")
    assert len(lines(caplog, topic)) == len(UNREADABLE)


@pytest.mark.usefixtures("channel")
async def test_an_oversized_command_with_an_id_is_answered_with_an_error(desk: Desk, peer: Peer) -> None:
    await peer.send({"id": "x1", "text": "on " * 3000})

    answer = await peer.reply()

    assert (answer["id"], answer["error"]["name"]) == ("x1", "INVALID_REQUEST")
    assert desk.commands == []


@pytest.mark.usefixtures("channel")
async def test_who_names_a_response_topic_hears_of_the_error_without_an_id(peer: Peer) -> None:
    await peer.send(b"{", properties=properties(PacketTypes.PUBLISH, ResponseTopic="hearth/client/7"))

    assert (await peer.reply("hearth/client/7"))["error"]["name"] == "INVALID_REQUEST"


@pytest.mark.usefixtures("channel")
async def test_a_fault_of_our_own_does_not_end_the_reading(
    desk: Desk, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(payload: bytes) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(mqtt, "parse_confirm", fail)
        await peer.send({"id": "c1", "answer": True}, CONFIRM)
        await peer.send("hello")
        await peer.reply()

    assert desk.texts == ["hello"]


# Many at once


async def test_a_burst_is_answered_once_each_and_busy_beyond_the_bound(
    desk: Desk, channel: MqttChannel, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "MAX_RUNNING", 10)
    desk.may_go_on.clear()
    for number in range(50):
        await peer.send({"text": "on", "id": str(number)})
    refused = [await peer.reply() for _ in range(40)]
    desk.may_go_on.set()
    done = [await peer.reply() for _ in range(10)]

    assert {answer["error"]["name"] for answer in refused} == {"BUSY"}
    assert sorted(int(answer["id"]) for answer in refused + done) == list(range(50))
    assert [command.id for command in desk.commands] == [str(number) for number in range(10)]


@pytest.mark.parametrize("asked", [{}, {"CorrelationData": b"7"}])
async def test_a_command_that_was_busy_may_come_again_and_one_that_was_done_may_not(
    desk: Desk, channel: MqttChannel, peer: Peer, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    monkeypatch.setattr(mqtt, "MAX_RUNNING", 1)
    again: dict[str, Any] = {"text": "again", **({} if asked else {"id": "x1"})}
    options = {"properties": properties(PacketTypes.PUBLISH, **asked)} if asked else {}
    desk.may_go_on.clear()
    await peer.send({"text": "first", "id": "x0"})
    await peer.send(again, **options)
    assert (await peer.reply())["error"]["name"] == "BUSY"
    desk.may_go_on.set()
    await peer.reply()
    for _ in "123":
        await peer.send(again, **options)
    await peer.reply()
    await peer.send({"text": "last", "id": "x9"})
    await peer.reply()

    assert desk.texts == ["first", "again", "last"]


@pytest.mark.usefixtures("channel")
async def test_a_command_that_the_runner_was_too_busy_for_may_come_again(desk: Desk, peer: Peer) -> None:
    for _ in "12":
        await peer.send({"text": "too many", "id": "x1"})
        assert (await peer.reply())["error"]["name"] == "BUSY"

    assert desk.texts == ["too many"] * 2


# Confirmations


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.usefixtures("channel")
async def test_a_confirmation_reaches_its_call_while_the_command_waits(desk: Desk, peer: Peer, answer: bool) -> None:
    desk.may_go_on.clear()
    await peer.send("open the garage")
    await peer.hear("hearth/desk/event")
    await peer.send({"id": "c1", "answer": answer}, CONFIRM)
    await until(lambda: bool(desk.answers))
    desk.may_go_on.set()
    await peer.reply()

    assert desk.answers == [("c1", answer)]


async def test_a_retained_confirmation_confirms_nothing(desk: Desk, mosquitto: Mosquitto, peer: Peer) -> None:
    await peer.send({"id": "c1", "answer": True}, CONFIRM, retain=True)
    async with running(desk, settings_for(mosquitto)):
        await peer.online()
        await peer.send("hello")
        await peer.reply()

    assert desk.answers == []


# With the real runner


@asynccontextmanager
async def house_of(model: ScriptedModel, broker: Mosquitto, *tools: AgentTool) -> AsyncIterator[None]:
    async with AgentRunner(Agent("desk", tools=tools), model) as runner:

        async def handle(command: Command) -> AsyncIterator[AgentEvent]:
            assert command.session is not None
            async for event in runner.get_or_create_session(command.session).run(command.text, command.room):
                yield event

        channel = MqttChannel(settings_for(broker), "desk", handle, runner.confirm, Lamps())
        task = asyncio.create_task(channel.run())
        yield
        task.cancel()
        await asyncio.wait({task})


@pytest.mark.parametrize(("answer", "moves"), [(True, ["open"]), (False, [])])
async def test_the_garage_door_moves_only_after_a_yes_on_the_confirm_topic(
    mosquitto: Mosquitto, peer: Peer, answer: bool, moves: list[str]
) -> None:
    moved: list[str] = []

    @tool(access=AccessLevel.SELF, say="The garage door is open.")
    def open_garage_door() -> None:
        """Opens the garage door."""
        moved.append("open")

    model = ScriptedModel(act(call("open_garage_door")), always=answer_of("Well."))
    async with house_of(model, mosquitto, ConfirmationTool(open_garage_door)):
        await peer.online()
        await peer.send("open the garage")
        question = await peer.reply("hearth/desk/event")
        while question["type"] != "confirmation_request":
            question = await peer.reply("hearth/desk/event")
        await peer.send({"id": question["id"], "answer": answer}, CONFIRM)
        reply = await peer.reply()

    assert moved == moves
    assert [each["id"] for each in reply["calls"]] == [question["id"]]
    assert (reply["calls"][0]["response"].get("status") == "CANCELLED_BY_USER") != answer


async def test_two_commands_at_once_are_done_one_after_the_other_in_their_order(
    mosquitto: Mosquitto, peer: Peer
) -> None:
    done: list[str] = []

    @tool
    async def switch_lights(state: str) -> None:
        """Switches the lights.

        Args:
            state: On or off.
        """
        done.append(f"{state} begins")
        await asyncio.sleep(0)
        done.append(f"{state} ends")

    lines = [
        act(call("switch_lights", state="on")),
        answer_of("On."),
        act(call("switch_lights", state="off")),
    ]
    async with house_of(ScriptedModel(*lines, always=answer_of("Off.")), mosquitto, AgentTool(switch_lights)):
        await peer.online()
        await peer.send({"text": "lights on", "id": "x1"})
        await peer.send({"text": "lights off", "id": "x2"})
        replies = [await peer.reply() for _ in "12"]

    assert [each["id"] for each in replies] == ["x1", "x2"]
    assert done == ["on begins", "on ends", "off begins", "off ends"]


# Lights


async def test_the_state_of_a_light_is_retained_and_told_again_after_a_lost_connection(
    desk: Desk, channel: MqttChannel, peer: Peer, mosquitto: Mosquitto
) -> None:
    desk.house.happened.put_nowait(HouseEvent("door", {"kind": "door", "state": "open"}))
    desk.house.happened.put_nowait(lamp("on", brightness=80))

    assert await peer.reply("hearth/desk/light/lamp/state") == {"state": "ON", "brightness": 204}

    mosquitto.kill()
    mosquitto.start()
    async with peer_at(mosquitto) as again:
        await again.online()
    async with peer_at(mosquitto) as late:
        kept = await late.hear("hearth/desk/light/lamp/state")

    assert kept.retain
    assert json.loads(kept.payload) == {"state": "ON", "brightness": 204}


@pytest.mark.usefixtures("channel")
async def test_of_a_light_that_has_left_the_house_the_broker_keeps_nothing(
    desk: Desk, peer: Peer, mosquitto: Mosquitto
) -> None:
    for event in (HouseEvent("gone", {"name": "gone", "kind": "light", "state": "on"}), HouseEvent("gone", {})):
        desk.house.happened.put_nowait(event)
    assert (await peer.hear("hearth/desk/light/gone/state")).payload != b""
    assert (await peer.hear("hearth/desk/light/gone/state")).payload == b""

    desk.house.happened.put_nowait(lamp("off"))
    assert await peer.reply("hearth/desk/light/lamp/state") == {"state": "OFF"}
    async with Client(mosquitto.host, mosquitto.port) as late:
        await late.subscribe("hearth/desk/light/gone/state", qos=1)
        await late.subscribe("hearth/desk/light/lamp/state", qos=1)

        assert str((await anext(late.messages)).topic) == "hearth/desk/light/lamp/state"


@pytest.mark.usefixtures("channel")
async def test_a_lamp_whose_state_cannot_be_told_does_not_silence_the_others(
    desk: Desk, peer: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    desk.house.happened.put_nowait(HouseEvent("bad", {"name": "bad", "kind": "light", "state": "on", "kelvin": 0}))
    desk.house.happened.put_nowait(lamp("off"))

    assert await peer.reply("hearth/desk/light/lamp/state") == {"state": "OFF"}
    assert "the state of bad cannot be told" in caplog.text
    assert "broke off" not in caplog.text


# What is due


def announcement(text: str, late_s: float = 0.0) -> Announcement:
    return Announcement(DueItem("7f", "timer", "pizza", 60.0, room="kitchen"), text, late_s)


@pytest.mark.usefixtures("channel")
async def test_what_is_due_is_told_and_not_retained(desk: Desk, peer: Peer, mosquitto: Mosquitto) -> None:
    desk.due.put_nowait(announcement("The pizza timer was up 2 minutes ago.", 119.7))

    message = await peer.hear("hearth/desk/announcement")

    assert message.qos == 1
    assert json.loads(message.payload) == {
        "id": "7f",
        "kind": "timer",
        "text": "The pizza timer was up 2 minutes ago.",
        "room": "kitchen",
        "late_s": 120,
    }
    async with peer_at(mosquitto) as late:
        await late.send("hello")
        await late.reply()  # what is retained comes before it
        assert AVAILABILITY in late.passed
        assert "hearth/desk/announcement" not in late.passed


async def test_what_is_due_waits_a_little_for_a_broker_that_is_away_and_is_then_dropped_with_a_line(
    desk: Desk,
    channel: MqttChannel,
    mosquitto: Mosquitto,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    mosquitto.kill()
    await until(lambda: "not connected" in channel.status())
    with monkeypatch.context() as patched:
        patched.setattr(mqtt, "ANNOUNCEMENT_S", 0.0)
        desk.due.put_nowait(announcement("The pizza timer is up."))
        await until(desk.due.empty)
    desk.due.put_nowait(announcement("The cake timer is up."))
    await until(desk.due.empty)
    mosquitto.start()
    async with peer_at(mosquitto) as again:
        assert (await again.reply("hearth/desk/announcement"))["text"] == "The cake timer is up."

    assert len(lines(caplog, "waited too long for the broker and is dropped")) == 1
    assert "The pizza timer is up." not in caplog.text


# The connection


async def test_commands_work_again_after_the_broker_forgot_us(
    desk: Desk, channel: MqttChannel, mosquitto: Mosquitto
) -> None:
    mosquitto.stop()
    mosquitto.start()
    async with peer_at(mosquitto) as peer:
        await peer.online()
        await peer.send("turn on desk")
        await peer.reply()

    assert desk.texts == ["turn on desk"]


async def test_a_reply_waits_for_the_connection_to_come_back(
    desk: Desk, channel: MqttChannel, peer: Peer, mosquitto: Mosquitto
) -> None:
    desk.may_go_on.clear()
    await peer.send({"text": "on", "id": "x1"})
    await peer.hear("hearth/desk/event")
    mosquitto.kill()
    await until(lambda: "not connected" in channel.status())
    desk.may_go_on.set()
    mosquitto.start()
    async with peer_at(mosquitto) as again:
        assert (await again.reply())["id"] == "x1"


async def test_a_broker_that_comes_late_is_found(desk: Desk, mosquitto: Mosquitto) -> None:
    mosquitto.stop()
    async with running(desk, settings_for(mosquitto)) as channel:
        await until(lambda: "refused" in channel.status())
        mosquitto.start()
        async with peer_at(mosquitto) as peer:
            await peer.online()

            await until(lambda: channel.status() == f"connected to 127.0.0.1:{mosquitto.port} with MQTT 5")


async def test_a_broker_without_an_address_is_tried_on(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    async with running(desk, MqttSettings(broker="no-such-host.invalid")) as channel:
        await until(lambda: "next attempt" in caplog.text)

        assert channel.status().startswith("not connected to no-such-host.invalid:1883: ")


async def test_a_password_file_that_is_missing_is_tried_on(desk: Desk, mosquitto: Mosquitto, tmp_path: Path) -> None:
    settings = settings_for(mosquitto, username="hearth", password_file=tmp_path / "missing")
    async with running(desk, settings) as channel:
        await until(lambda: "missing" in channel.status())
        (tmp_path / "missing").touch(0o600)
        (tmp_path / "missing").write_text("secret\n")
        await until(lambda: channel.status().startswith("connected"))


async def test_a_reason_that_stays_is_logged_once(
    desk: Desk, mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger=mqtt_link.__name__)
    mosquitto.stop()
    async with running(desk, settings_for(mosquitto)):
        await until(lambda: len(lines(caplog, "next attempt")) >= 3)

    levels = [each.levelno for each in caplog.records if "next attempt" in each.getMessage()]
    assert levels[:3] == [logging.WARNING, logging.DEBUG, logging.DEBUG]


async def test_a_refused_subscription_shows_in_the_status(
    desk: Desk, mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Client, topics: list[Any]) -> list[ReasonCode]:
        no = ReasonCode(PacketTypes.SUBACK, "Not authorized")
        return [ReasonCode(PacketTypes.SUBACK, "Granted QoS 1"), no]

    monkeypatch.setattr(Client, "subscribe", refuse)
    async with running(desk, settings_for(mosquitto)) as channel:
        await until(lambda: channel.status().startswith("connected"))

        assert channel.status().endswith(f"the broker refuses {CONFIRM}")


async def test_of_two_with_one_id_the_first_recognises_it_and_leaves_the_second_alone(
    desk: Desk, mosquitto: Mosquitto, peer: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(desk, settings_for(mosquitto, client_id="twin")) as first:
        await peer.online()
        async with running(Desk(), settings_for(mosquitto, client_id="twin")) as second:
            await peer.offline()
            await peer.online()
            await until(lambda: "another client took our place" in first.status())

            (line,) = lines(caplog, "another client took our place")
            assert int(line.split()[-2]) >= 30
            assert second.status().startswith("connected")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(peer.hear(AVAILABILITY), 0.5)


def test_the_broker_s_reason_for_a_takeover_is_read_from_the_cause() -> None:
    lost = MqttError("Disconnected during message iteration")
    lost.__cause__ = MqttCodeError(ReasonCode(PacketTypes.DISCONNECT, identifier=142))

    assert reason_code(lost) == SESSION_TAKEN_OVER


def test_our_client_id_differs_between_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ids = []
    for machine in ("one", "two"):
        (tmp_path / machine).write_text(machine)
        monkeypatch.setattr("agent.config.MACHINE_ID", tmp_path / machine)
        ids.append(MqttLink(MqttSettings(), "desk", AVAILABILITY, (), lambda message: None, lambda: None).client_id)

    assert ids[0].startswith("hearth-desk-")
    assert ids[0] != ids[1]


def test_waits_double_up_to_a_minute_and_are_never_shorter_than_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    backoff = Backoff()
    waits = [backoff.delay() for _ in range(9)]
    backoff.reset()

    for wait, least in zip(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60], strict=True):
        assert least <= wait <= least * 1.25
    assert backoff.delay(at_least=30) >= 30


# The end


async def test_a_clean_stop_answers_what_runs_and_says_offline(desk: Desk, mosquitto: Mosquitto, peer: Peer) -> None:
    async with running(desk, settings_for(mosquitto)):
        await peer.online()
        desk.may_go_on.clear()
        await peer.send({"text": "on", "id": "x1"})
        await peer.hear("hearth/desk/event")

    answer = await peer.reply()
    await peer.offline()
    async with peer_at(mosquitto) as late:
        kept = await late.hear(AVAILABILITY)

    assert (answer["id"], answer["error"]["name"]) == ("x1", "NOT_AVAILABLE")
    assert answer["calls"][0]["name"] == "turn_on_light"
    assert (kept.payload, kept.retain) == (b"offline", True)


async def test_stopping_without_a_broker_is_quick(desk: Desk, mosquitto: Mosquitto) -> None:
    mosquitto.stop()
    async with running(desk, settings_for(mosquitto)) as channel:
        await until(lambda: "refused" in channel.status())
        began = time.monotonic()

    assert time.monotonic() - began < 1


SLEEPER = """
import asyncio, sys
from agent.channels.mqtt import MqttChannel
from agent.config import MqttSettings
from tests.peers import Desk

async def main():
    desk = Desk()
    settings = MqttSettings(broker=sys.argv[1], port=int(sys.argv[2]), keepalive_s=2)
    await MqttChannel(settings, "desk", desk.handle, desk.confirm, desk.house).run()

asyncio.run(main())
"""


async def test_a_process_that_slept_too_long_comes_back_online_by_itself(mosquitto: Mosquitto, peer: Peer) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SLEEPER, mosquitto.host, str(mosquitto.port), cwd=Path(__file__).parent.parent
    )
    try:
        await peer.online()
        process.send_signal(signal.SIGSTOP)
        await peer.offline()
        process.send_signal(signal.SIGCONT)
        await peer.online()
        await peer.send("hello")
        await peer.reply()
        process.kill()
        await peer.offline()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


# The other side


@pytest.mark.usefixtures("channel")
async def test_publish_returns_the_reply_to_its_own_command(desk: Desk, mosquitto: Mosquitto) -> None:
    first, second = await asyncio.gather(
        publish(mosquitto.host, mosquitto.port, "desk", "one", room="hall"),
        publish(mosquitto.host, mosquitto.port, "desk", "two", session="mine"),
    )

    assert (first["session"], second["session"]) == ("mqtt-desk-hall", "mine")
    assert sorted(desk.texts) == ["one", "two"]


async def test_publish_to_nobody_ends_in_time(mosquitto: Mosquitto) -> None:
    with pytest.raises(AgentError) as failed:
        await publish(mosquitto.host, mosquitto.port, "nobody", "on", timeout_s=0.2)

    assert failed.value.code is ErrorCode.DEADLINE_EXCEEDED


async def test_publish_without_a_broker_says_so(mosquitto: Mosquitto) -> None:
    mosquitto.stop()
    with pytest.raises(AgentError) as failed:
        await publish(mosquitto.host, mosquitto.port, "desk", "on")

    assert failed.value.code is ErrorCode.NOT_AVAILABLE
