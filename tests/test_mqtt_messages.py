"""What is said over MQTT, without a broker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.channels.mqtt_messages import (
    MAX_NAME,
    MAX_PAYLOAD,
    CommandMessage,
    MalformedMessage,
    Topics,
    encode,
    light_state,
    may_reply_to,
    parse_command,
    parse_confirm,
    reply,
)
from agent.command import MAX_COMMAND_LENGTH
from agent.errors import AgentError, ErrorCode
from agent.events import FunctionCall, FunctionResponse, TextMessage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=MAX_NAME)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=200).map(str.strip).filter(bool)


@pytest.mark.parametrize("payload", ["turn on the light", "  turn on the light\n", '{"text": "turn on the light"}'])
def test_words_are_a_command_plain_or_in_json(payload: str) -> None:
    assert parse_command(payload.encode()) == CommandMessage("turn on the light")


def test_words_beyond_ascii_are_kept_as_they_are() -> None:
    assert parse_command("Tür auf".encode()).text == "Tür auf"


@pytest.mark.parametrize("payload", ["50", "half"])
def test_a_bare_number_is_words_because_it_may_answer_a_question(payload: str) -> None:
    assert parse_command(payload.encode()).text == payload


@given(WORDS, st.none() | NAMES, st.none() | NAMES, st.none() | NAMES, st.none() | st.integers(0, 2**33))
def test_a_command_that_was_written_is_read_back_the_same(
    text: str, id: str | None, session: str | None, room: str | None, sent: int | None
) -> None:
    message = CommandMessage(text, id, session, room, sent)

    assert parse_command(message.to_payload()) == message


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"  \n",
        b"\xff\xfe",
        b"{",
        b"null",
        b"true",
        b"[]",
        b'"NaN"',
        b"{}",
        b'{"text": null}',
        b'{"text": 5}',
        b'{"text": ""}',
        b'{"text": "on", "sent": NaN}',
        b'{"text": "on", "sent": "now"}',
        b'{"text": "on", "room": 7}',
        b'{"text": "\\ud800"}',
        b"[" * 7000,
        b'{"a":' * 1500,
        b"x" * (MAX_PAYLOAD + 1),
        b"x" * (MAX_COMMAND_LENGTH + 1),
        b"x" * 1_000_000,
    ],
    ids=lambda payload: repr(payload[:30]),
)
def test_what_is_no_command_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedMessage):
        parse_command(payload)


@given(st.binary(max_size=300) | JSON.map(lambda data: json.dumps(data).encode()))
def test_any_bytes_are_a_command_or_refused(payload: bytes) -> None:
    for parse in (parse_command, parse_confirm):
        try:
            parse(payload)
        except MalformedMessage as error:
            assert str(error)


@pytest.mark.parametrize(
    "data",
    [
        {"id": "a", "text": 5},
        {"id": "a", "text": "on", "session": []},
        {"id": "a", "text": "on", "sent": True},
        {"id": "a", "text": "on", "sent": 10**400},
        {"id": "a", "text": "x" * (MAX_COMMAND_LENGTH + 1)},
        {"id": "a", "text": "x" * 1_000_000},
    ],
    ids=lambda data: str(data)[:40],
)
def test_a_refusal_names_the_id_where_one_could_be_read(data: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage) as refused:
        parse_command(encode(data))

    assert refused.value.id == "a"


@pytest.mark.parametrize("payload", [b'{"id": 5, "text": "on"}', b'{"id": "", "text": "on"}', b"{" * 9_000])
def test_a_refusal_names_no_id_that_is_none(payload: bytes) -> None:
    with pytest.raises(MalformedMessage) as refused:
        parse_command(payload)

    assert refused.value.id is None


@pytest.mark.parametrize("answer", [True, False])
def test_a_confirmation_is_an_id_and_an_answer(answer: bool) -> None:
    assert parse_confirm(encode({"id": "call-1", "answer": answer})) == ("call-1", answer)


@pytest.mark.parametrize(
    "payload",
    [
        b"yes",
        b"true",
        b'{"id": "c"}',
        b'{"answer": true}',
        b'{"id": "c", "answer": "yes"}',
        b'{"id": "c", "answer": 1}',
    ],
)
def test_only_true_is_a_yes(payload: bytes) -> None:
    with pytest.raises(MalformedMessage):
        parse_confirm(payload)


def test_a_reply_has_the_answer_and_each_call_with_its_response() -> None:
    events = [
        FunctionCall("c1", "turn_on_light", {"room": "kitchen"}),
        FunctionCall("c2", "get_time", {}),
        FunctionResponse("c1", "turn_on_light", {"status": "ok"}),
        TextMessage("The kitchen light is on.", is_partial=True),
        TextMessage("The kitchen light is on. It's noon."),
    ]

    assert reply("id-1", "s", events) == {
        "id": "id-1",
        "session": "s",
        "text": "The kitchen light is on. It's noon.",
        "calls": [
            {
                "id": "c1",
                "name": "turn_on_light",
                "arguments": {"room": "kitchen"},
                "response": {"status": "ok"},
            },
            {"id": "c2", "name": "get_time", "arguments": {}, "response": None},
        ],
    }


def test_a_reply_without_an_answer_says_what_went_wrong() -> None:
    answer = reply("id-1", None, [], AgentError(ErrorCode.BUSY, "There are too many."))

    assert answer["text"] == "There are too many."
    assert answer["error"] == {"code": 9, "name": "BUSY", "message": "There are too many."}


@given(JSON)
def test_whatever_a_tool_returns_becomes_json_in_utf8(data: Any) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    json.loads(encode(data).decode(), parse_constant=refuse)


def test_what_json_has_no_form_for_is_told_as_text() -> None:
    assert json.loads(encode({"at": ErrorCode.BUSY, "t": float("nan")})) == {
        "at": "ErrorCode.BUSY",
        "t": None,
    }


@pytest.mark.parametrize("topic", ["hearth/client/answers/1", "hearth/desk/reply", "hearth/x"])
def test_a_reply_may_go_below_the_prefix(topic: str) -> None:
    assert may_reply_to(topic, ["hearth/"])


@pytest.mark.parametrize(
    "topic",
    [
        "zigbee2mqtt/bridge/request/permit_join",
        "",
        "hearth",
        "hearth/+/reply",
        "hearth/#",
        "hearth/\0",
        "$SYS/x",
    ],
)
def test_a_reply_may_not_go_elsewhere(topic: str) -> None:
    assert not may_reply_to(topic, ["hearth/"])


@pytest.mark.parametrize("level", ["command", "confirm", "event", "availability", "announcement", "light/desk/state"])
def test_a_reply_may_not_go_where_a_node_listens_or_tells_its_state(level: str) -> None:
    assert not may_reply_to(f"hearth/other/{level}", ["hearth/"])


def test_topics_are_those_of_the_node() -> None:
    topics = Topics("desk")

    assert topics.command == "hearth/desk/command"
    assert topics.light("lamp") == "hearth/desk/light/lamp/state"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"state": "on"}, {"state": "ON"}),
        ({"state": "off", "brightness": 80}, {"state": "OFF", "brightness": 204}),
        ({"state": "on", "brightness": 1}, {"state": "ON", "brightness": 3}),
        ({"state": "on", "brightness": 100}, {"state": "ON", "brightness": 255}),
        ({"state": "unknown", "available": False}, {"state": None}),
        (
            {"state": "on", "rgb": [255, 0, 10]},
            {"state": "ON", "color_mode": "rgb", "color": {"r": 255, "g": 0, "b": 10}},
        ),
        ({"state": "on", "kelvin": 2700}, {"state": "ON", "color_mode": "color_temp", "color_temp": 370}),
    ],
)
def test_a_light_is_told_as_home_assistant_reads_it(state: dict[str, Any], told: dict[str, Any]) -> None:
    payload = light_state({"kind": "light", "name": "desk", **state})

    assert payload is not None
    assert json.loads(payload) == told


def test_every_percent_is_read_back_from_255_steps() -> None:
    for percent in range(1, 101):
        payload = light_state({"kind": "light", "state": "on", "brightness": percent})

        assert payload is not None
        assert round(json.loads(payload)["brightness"] * 100 / 255) == percent


def test_what_is_no_light_has_no_light_state() -> None:
    assert light_state({"kind": "garage_door", "state": "open"}) is None
