"""The local socket, with the smallest appliance behind it."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.channels import local
from agent.channels.local import MAX_LINE, MAX_WAITING, LocalClient, LocalServer
from agent.command import Command
from agent.due import Announcement, DueItem
from agent.errors import AgentError, ErrorCode, HearthError, StoreError
from agent.events import ConfirmationRequest, FunctionCall, FunctionResponse, TextMessage
from agent.house import HouseEvent
from agent.tool import AccessLevel


class Parrot:
    """Says what it hears; "ask" asks first, "fail" fails, "wait" waits for `go_on`."""

    def __init__(self) -> None:
        self.heard: list[Command] = []
        self.go_on = asyncio.Event()
        self.started = asyncio.Event()
        self.ended = asyncio.Event()
        self.house: asyncio.Queue[HouseEvent] = asyncio.Queue()
        self.due: asyncio.Queue[Announcement] = asyncio.Queue()
        self._answer: asyncio.Future[bool] | None = None

    async def handle(self, command):
        self.heard.append(command)
        self.started.set()
        try:
            if command.text == "fail":
                raise AgentError(ErrorCode.NOT_AVAILABLE, "There is no model.")
            if command.text == "wait":
                await self.go_on.wait()
            if command.text == "ask":
                yield FunctionCall("c1", "open_garage_door", {})
                self._answer = asyncio.get_running_loop().create_future()
                yield ConfirmationRequest("c1", "open_garage_door", {}, "Open the garage door?")
                answer = await self._answer
                yield FunctionResponse("c1", "open_garage_door", {"opened": answer})
            yield TextMessage(f"{command.text} ü")
        finally:
            self.ended.set()

    async def confirm(self, call_id, answer):
        if call_id != "c1" or self._answer is None or self._answer.done():
            return False
        self._answer.set_result(answer)
        return True

    async def tools(self, level):
        return [{"name": "tool", "access": int(level)}]

    async def status(self):
        return {"node": "parrot", "broker": None, "model": "ready"}

    async def watch(self):
        while True:
            yield await self.house.get()

    async def announcements(self):
        while True:
            yield await self.due.get()

    async def sessions(self):
        return [{"id": "one", "created": 0.0, "updated": 0.0, "turns": 1}]

    async def export(self, session):
        return {"id": session, "turns": []} if session == "one" else None

    async def delete(self, session):
        return session == "one"

    async def expire(self):
        return 3

    async def compact(self):
        return 4096


@pytest.fixture
async def parrot():
    return Parrot()


@pytest.fixture
async def path(parrot, tmp_path):
    path = tmp_path / "hearth.sock"
    async with LocalServer(parrot, path):
        yield path


class Wire:
    """A connection as another program would make it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, line: bytes | dict) -> None:
        self.writer.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        await self.writer.drain()

    async def hear(self) -> dict:
        return json.loads(await self.reader.readline())


@pytest.fixture
async def wire(path):
    reader, writer = await asyncio.open_unix_connection(path)
    yield Wire(reader, writer)
    writer.close()


async def test_a_command_is_answered_with_its_events_and_an_end(wire, parrot):
    """Every field arrives, and the end carries the id."""
    await wire.say({"type": "command", "text": "hello", "id": "7", "session": "s", "room": "attic"})

    assert await wire.hear() == {"type": "text_message", "text": "hello ü", "is_partial": False}
    assert await wire.hear() == {"type": "end", "id": "7"}
    (heard,) = parrot.heard
    assert (heard.text, heard.id, heard.session, heard.room) == ("hello", "7", "s", "attic")


async def test_a_command_that_fails_ends_with_its_error_by_name(wire):
    """And then the end, as always."""
    await wire.say({"type": "command", "text": "fail", "id": "7"})

    assert await wire.hear() == {
        "type": "error",
        "code": 8,
        "name": "NOT_AVAILABLE",
        "message": "There is no model.",
    }
    assert await wire.hear() == {"type": "end", "id": "7"}


async def test_commands_of_one_connection_are_answered_in_their_order(wire):
    """One after the other."""
    for each in ("1", "2", "3"):
        await wire.say({"type": "command", "text": each, "id": each})

    heard = [await wire.hear() for _ in range(6)]
    assert [each["id"] for each in heard if each["type"] == "end"] == ["1", "2", "3"]


async def test_a_question_is_answered_on_the_same_connection(wire):
    """While its command runs."""
    await wire.say({"type": "command", "text": "ask", "id": "7"})
    assert (await wire.hear())["type"] == "function_call"
    assert (await wire.hear())["question"] == "Open the garage door?"
    await wire.say({"type": "confirm", "id": "c1", "answer": True})

    heard = [await wire.hear() for _ in range(4)]
    assert {"type": "confirm", "id": "c1", "accepted": True} in heard
    assert [each["response"] for each in heard if each["type"] == "function_response"] == [{"opened": True}]


async def test_an_answer_that_no_question_waits_for_is_not_accepted(wire):
    """Too late is no agreement."""
    await wire.say({"type": "confirm", "id": "old", "answer": True})

    assert await wire.hear() == {"type": "confirm", "id": "old", "accepted": False}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{\n", "one JSON object"),
        (b"[]\n", "one JSON object"),
        (b"null\n", "one JSON object"),
        (b"\xff\xfe\n", "one JSON object"),
        (b"[" * 60_000 + b"\n", "one JSON object"),
        (b'{"type": 1}\n', 'with a "type"'),
        (b'{"type": "dance"}\n', "type is 'dance'; there are command, confirm"),
        (b'{"type": "command"}\n', "text is None"),
        (b'{"type": "command", "text": 1}\n', "text is 1"),
        (b'{"type": "command", "text": "a", "room": []}\n', "room is []"),
        (b'{"type": "confirm", "id": "c1", "answer": "yes"}\n', "answer is 'yes'; allowed is true or false"),
        (b'{"type": "tools", "level": 150}\n', "level is 150; allowed are 100, 200, 300"),
        (b'{"type": "tools", "level": true}\n', "level is True"),
    ],
)
async def test_a_malformed_line_is_refused_and_the_next_one_works(wire, parrot, line, said):
    """Malformed is not closed."""
    await wire.say(line)
    refusal = await wire.hear()
    await wire.say({"type": "status"})
    answer = await wire.hear()
    if answer["type"] == "end":
        answer = await wire.hear()

    assert refusal["name"] == "INVALID_REQUEST"
    assert said in refusal["message"]
    assert answer["node"] == "parrot"
    assert not parrot.heard


async def test_a_store_that_cannot_be_written_is_said_and_the_connection_goes_on(wire, parrot, caplog):
    """A full disk is no fault of ours: no traceback."""

    async def delete(session):
        raise StoreError("the session store is full")

    parrot.delete = delete
    await wire.say({"type": "delete", "session": "s"})
    said = await wire.hear()
    await wire.say({"type": "status"})

    assert (said["name"], said["message"]) == ("NOT_AVAILABLE", "the session store is full")
    assert (await wire.hear())["node"] == "parrot"
    assert not caplog.records


async def test_a_line_without_an_end_is_refused_and_closed(wire):
    """What follows it could be anything."""
    await wire.say(b"x" * (MAX_LINE + 1))

    assert (await wire.hear())["name"] == "INVALID_REQUEST"
    assert await wire.reader.read() == b""


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
async def test_any_bytes_leave_the_service_answering(path, data):
    """A connection of nonsense harms no other."""
    _, writer = await asyncio.open_unix_connection(path)
    writer.write(data + b"\n")
    writer.close()

    assert (await LocalClient(path).status())["node"] == "parrot"


async def test_more_commands_than_may_wait_are_answered_busy(wire, parrot):
    """At once, by name, with the end of just that command."""
    await wire.say({"type": "command", "text": "wait"})
    await parrot.started.wait()
    for number in range(MAX_WAITING + 1):
        await wire.say({"type": "command", "text": "next", "id": str(number)})

    assert (await wire.hear())["name"] == "BUSY"
    assert await wire.hear() == {"type": "end", "id": str(MAX_WAITING)}


async def test_who_has_said_all_still_hears_the_answer(wire):
    """As `echo ... | nc -U` does."""
    await wire.say({"type": "command", "text": "hello"})
    wire.writer.write_eof()

    assert (await wire.hear())["text"] == "hello ü"
    assert (await wire.hear())["type"] == "end"
    assert await wire.reader.read() == b""


async def test_a_stopping_server_ends_its_connections_and_takes_the_socket_away(parrot, tmp_path):
    """The command that still ran is cancelled."""
    path = tmp_path / "hearth.sock"
    async with LocalServer(parrot, path):
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"type": "command", "text": "wait"}\n')
        await parrot.started.wait()

    assert await reader.read() == b""
    assert parrot.ended.is_set()
    assert not path.exists()
    writer.close()


async def test_a_second_service_is_refused_and_the_first_one_goes_on(path, parrot):
    """By name of the socket."""
    with pytest.raises(HearthError, match="already listens"):
        async with LocalServer(parrot, path):
            pass

    assert (await LocalClient(path).status())["node"] == "parrot"


async def test_a_socket_that_a_crash_left_behind_is_replaced(parrot, tmp_path):
    """Nobody listens on it."""
    path = tmp_path / "hearth.sock"
    left = await asyncio.start_unix_server(lambda *_: None, path)
    left.close()
    path.touch()
    async with LocalServer(parrot, path):
        assert (await LocalClient(path).status())["node"] == "parrot"


async def test_a_path_too_long_for_a_socket_is_said(parrot, tmp_path):
    """Unix allows some hundred bytes."""
    with pytest.raises(HearthError, match="cannot be made"):
        async with LocalServer(parrot, tmp_path / ("long" * 50)):
            pass


async def test_the_socket_is_for_its_owner_alone(path):
    """Whoever may write to it commands the house."""
    assert path.stat().st_mode & 0o777 == 0o600


async def test_the_client_gives_the_events_of_a_command(path):
    """As they were sent."""
    events = [event async for event in LocalClient(path).handle(Command("hello", "cli"))]

    assert events == [TextMessage("hello ü")]


async def test_the_client_raises_the_error_of_a_command(path):
    """As the service's own error."""
    with pytest.raises(AgentError) as caught:
        async for _ in LocalClient(path).handle(Command("fail", "cli")):
            pass

    assert caught.value.code is ErrorCode.NOT_AVAILABLE
    assert caught.value.message == "There is no model."


async def test_the_client_answers_a_question(path):
    """From beside the stream."""
    client = LocalClient(path)
    events = []
    async for event in client.handle(Command("ask", "cli")):
        events.append(event)
        if isinstance(event, ConfirmationRequest):
            assert await client.confirm(event.id, True)

    assert FunctionResponse("c1", "open_garage_door", {"opened": True}) in events
    assert not await client.confirm("c1", True)


async def test_the_client_lists_tools_at_the_level_of_a_local_caller_or_above(path):
    """SELF is for the loop in the service alone."""
    client = LocalClient(path)

    assert [(await client.tools(level))[0]["access"] for level in AccessLevel] == [200, 200, 300]


async def test_the_client_watches_the_house(path, parrot):
    """Each change as it happens."""
    async with aclosing(LocalClient(path).watch()) as events:
        parrot.house.put_nowait(HouseEvent("lamp", {"state": "on"}))
        assert await anext(events) == HouseEvent("lamp", {"state": "on"})
        parrot.house.put_nowait(HouseEvent("lamp", {"state": "off"}))
        assert await anext(events) == HouseEvent("lamp", {"state": "off"})


PIZZA = Announcement(DueItem("7f", "timer", room="kitchen"), "The pizza timer was up 2 minutes ago.", 120.0)


async def test_who_watches_is_told_what_is_due_beside_the_house(wire, parrot):
    """On the same connection, and commands go on beside it."""
    await wire.say({"type": "watch"})
    parrot.due.put_nowait(PIZZA)
    assert await wire.hear() == {
        "type": "announcement",
        "id": "7f",
        "kind": "timer",
        "text": "The pizza timer was up 2 minutes ago.",
        "room": "kitchen",
        "late_s": 120,
    }
    parrot.house.put_nowait(HouseEvent("lamp", {"state": "on"}))
    assert await wire.hear() == {"type": "house", "device": "lamp", "state": {"state": "on"}}


async def test_the_client_hears_what_is_due_without_the_house(path, parrot):
    """And each as it was told."""
    tea = Announcement(DueItem("80", "timer"), "The tea timer is up.")
    parrot.house.put_nowait(HouseEvent("lamp", {"state": "on"}))
    async with aclosing(LocalClient(path).announcements()) as told:
        for announcement in (PIZZA, tea):
            parrot.due.put_nowait(announcement)
            assert await anext(told) == announcement


async def test_the_client_watches_the_house_without_what_is_due(path, parrot):
    """That is a stream of its own."""
    parrot.due.put_nowait(PIZZA)
    async with aclosing(LocalClient(path).watch()) as events:
        parrot.house.put_nowait(HouseEvent("lamp", {"state": "on"}))
        assert await anext(events) == HouseEvent("lamp", {"state": "on"})
        assert parrot.due.empty()


async def test_the_client_reads_and_erases_sessions(path):
    """By their id."""
    client = LocalClient(path)

    assert [each["id"] for each in await client.sessions()] == ["one"]
    assert await client.export("one") == {"id": "one", "turns": []}
    assert await client.export("two") is None
    assert await client.delete("one")
    assert not await client.delete("two")
    assert await client.expire() == 3
    assert await client.compact() == 4096


async def test_a_service_that_goes_away_before_it_answered_is_said(parrot, tmp_path):
    """Closed is not an answer."""
    path = tmp_path / "hearth.sock"
    async with LocalServer(parrot, path):
        events = LocalClient(path).handle(Command("wait", "cli"))
        first = asyncio.ensure_future(anext(events))
        await parrot.started.wait()

    with pytest.raises(AgentError, match="went away") as caught:
        await first
    assert caught.value.code is ErrorCode.NOT_AVAILABLE


async def test_the_running_service_is_found(path, monkeypatch, tmp_path):
    """In this user's runtime directory."""
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(path.parent))
    assert await LocalClient.find()

    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "elsewhere"))
    assert await LocalClient.find() is None


async def test_the_systems_service_is_found_where_the_user_runs_none(path, monkeypatch, tmp_path):
    """`hearth ask` on the board reaches hearth.service."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(local, "SYSTEM_SOCKET", path)
    (tmp_path / "user").mkdir()

    assert await LocalClient.find()
