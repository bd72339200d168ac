"""Many at once, from the broker or the socket to the lamp: order, one action, one answer, and a bounded queue."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.channels.local import LocalClient, LocalServer
from agent.channels.mqtt import MqttChannel
from agent.command import Command
from agent.config import Settings
from agent.content import Content
from agent.due import DueItem
from agent.errors import AgentError, ErrorCode
from agent.events import FunctionResponse
from agent.house_store import HouseStore
from agent.model.generative import GenerateContentRequest
from agent.runner import Agent, AgentRunner, Limits
from agent.service import Service
from agent.store import SessionStore
from tests import brokers
from tests.brokers import Mosquitto
from tests.fakes import Line, ScriptedModel, act, answer, ask, call
from tests.homes import Stubborn, named, open_devices
from tests.peers import Peer, peer_at, settings_for, until
from tools.device import Change, Device, State
from tools.drivers.memory import MemoryDriver
from tools.house import House

mosquitto = brokers.mosquitto  # a fixture


def decide(request: GenerateContentRequest) -> Line:
    """What a model would make of the few sentences of these tests."""
    said = request.contents[-1]
    if said.responses:
        return answer("")  # the results say it
    if said.text == "break":
        return RuntimeError("no weights")
    order = re.fullmatch(r"(turn on|turn off|set|open) the (.+?)(?: to (\d+) percent)?", said.text)
    if order is None:
        return ask("Which room?")
    verb, what, percent = order.groups()
    if verb == "open":
        return act(call("open_garage_door"))
    if percent:
        return act(call("turn_on_light", room=what, brightness=int(percent)))
    return act(call(f"{verb.replace(' ', '_')}_light", room=what))


class Home:
    """The whole path: a service over the house in memory, whose devices are slow while they are held."""

    def __init__(self, folder: Path, model: Callable[[GenerateContentRequest], Line] = decide, **limits: Any) -> None:
        self.devices, self.driver = open_devices()
        self.use(self.driver)
        self.store = SessionStore(folder / "sessions.db")
        kept = HouseStore()
        house = House(self.devices, None, kept)
        self.model = ScriptedModel(always=model)
        self.runner = AgentRunner(
            Agent("desk", tools=house.tools), self.model, store=self.store, limits=Limits(**limits)
        )
        self.service = Service(Settings(node="desk"), self.store, house, self.model, self.runner, kept)

    def use(self, driver: Stubborn) -> None:
        self.driver = driver
        self.devices.attach("memory", driver)

    def is_on(self, name: str) -> bool | None:
        return named(self.devices, name).on

    async def close(self) -> None:
        self.driver.free.set()
        await self.runner.close()
        self.store.close()


OpenHome = Callable[..., Home]


@pytest.fixture
async def open_home(tmp_path: Path) -> AsyncIterator[OpenHome]:
    opened: list[Home] = []

    def open_home(**limits: Any) -> Home:
        opened.append(Home(tmp_path, **limits))
        return opened[-1]

    yield open_home
    for home in opened:
        await home.close()


@pytest.fixture
async def home(open_home: OpenHome) -> Home:
    return open_home()


@asynccontextmanager
async def online(home: Home, broker: Mosquitto) -> AsyncIterator[Peer]:
    """A peer at the broker where the home's channel listens too."""
    async with peer_at(broker) as peer:
        channel = MqttChannel(
            settings_for(broker), "desk", home.service.handle, home.runner.confirm, home.service.house
        )
        task = asyncio.create_task(channel.run())
        try:
            await peer.online()
            yield peer
        finally:
            task.cancel()
            await asyncio.wait({task})


async def replies_to(peer: Peer, count: int) -> list[dict[str, Any]]:
    """So many replies, and no other one: a last command, that acts after all that came before it, is answered next."""
    replies = [await peer.reply() for _ in range(count)]
    await peer.send({"text": "turn on the mirror lamp", "id": "last"})
    last = await peer.reply()
    assert last["id"] == "last", "there is one reply more"
    return replies


def is_busy(reply: dict[str, Any]) -> bool:
    return reply.get("error", {}).get("name") == "BUSY"


# A burst


@pytest.mark.parametrize("sessions", [1, 50])
async def test_f21_fifty_in_a_burst_are_each_done_in_their_order_or_busy_and_answered_once(
    home: Home, mosquitto: Mosquitto, sessions: int
) -> None:
    home.driver.free.clear()
    async with online(home, mosquitto) as peer:
        for number in range(1, 51):
            order = {"text": f"set the desk lamp to {number} percent", "id": str(number)}
            await peer.send({**order, "session": f"s{number % sessions}"})
        most = home.runner.limits.max_waiting
        busy = [await peer.reply() for _ in range(50 - most - 1)]
        assert home.runner.waiting == most
        home.driver.free.set()
        done = await replies_to(peer, most + 1)

    assert all(is_busy(each) and not each["calls"] for each in busy)
    assert not any("error" in each for each in done)
    assert sorted(int(each["id"]) for each in busy + done) == list(range(1, 51))
    assert sorted(int(each["id"]) for each in done) == list(range(1, most + 2))
    assert [change.brightness for _, change in home.driver.moves[:-1]] == list(range(1, most + 2))
    assert named(home.devices, "desk lamp").brightness == most + 1


async def test_queue_never_holds_more_than_the_limit_while_the_house_keeps_up(
    open_home: OpenHome, mosquitto: Mosquitto
) -> None:
    waited: list[int] = []

    def watching(request: GenerateContentRequest) -> Line:
        waited.append(home.runner.waiting)
        return decide(request)

    home = open_home(model=watching, max_waiting=3)
    async with online(home, mosquitto) as peer:
        for number in range(1, 51):
            order = {"text": f"set the desk lamp to {number} percent", "id": str(number)}
            await peer.send({**order, "session": f"s{number}"})
        replies = [await peer.reply() for _ in range(50)]

    done = sorted(int(each["id"]) for each in replies if not is_busy(each))
    assert sorted(int(each["id"]) for each in replies) == list(range(1, 51))
    assert max(waited) <= 3
    assert [change.brightness for _, change in home.driver.moves] == done


async def test_command_that_was_answered_busy_is_done_when_it_comes_again(
    open_home: OpenHome, mosquitto: Mosquitto
) -> None:
    home = open_home(max_waiting=0)
    home.driver.free.clear()
    late = {"text": "turn on the hall light", "id": "late"}
    async with online(home, mosquitto) as peer:
        await peer.send({"text": "turn on the desk lamp", "id": "early"})
        await until(lambda: bool(home.driver.moves))
        await peer.send(late)
        assert is_busy(await peer.reply())
        home.driver.free.set()
        assert (await peer.reply())["id"] == "early"
        await peer.send(late)
        again = await peer.reply()
        await peer.send(late)
        await replies_to(peer, 0)

    assert (again["id"], again["text"]) == ("late", "The hall light is on.")
    assert home.driver.moved == ["desk lamp", "hall light", "mirror lamp"]


# One command, twice


@pytest.mark.parametrize("when", ["while it is done", "when it is done"])
async def test_same_id_again_is_one_action_and_one_answer(home: Home, mosquitto: Mosquitto, when: str) -> None:
    command = {"text": "turn on the hall light", "id": "x1"}
    replies = []
    async with online(home, mosquitto) as peer:
        if when == "while it is done":
            home.driver.free.clear()
        await peer.send(command)
        await until(lambda: bool(home.driver.moves))
        if when == "when it is done":
            replies.append(await peer.reply())
        await peer.send(command)
        await peer.send(command)
        home.driver.free.set()
        replies += await replies_to(peer, 1 - len(replies))

    assert [each["id"] for each in replies] == ["x1"]
    assert home.driver.moved == ["hall light", "mirror lamp"]


@pytest.mark.parametrize("when", ["while it is done", "when it is done"])
async def test_sentence_that_two_rooms_heard_is_done_once_and_each_id_is_answered(
    home: Home, mosquitto: Mosquitto, when: str
) -> None:
    first = {"text": "turn on the hall light", "id": "a", "session": "sa", "room": "hall"}
    second = {"text": "Turn on the hall light.", "id": "b", "session": "sb", "room": "office"}
    replies = []
    async with online(home, mosquitto) as peer:
        if when == "while it is done":
            home.driver.free.clear()
        await peer.send(first)
        await until(lambda: bool(home.driver.moves))
        if when == "when it is done":
            replies.append(await peer.reply())
        await peer.send(second)
        home.driver.free.set()
        replies += await replies_to(peer, 2 - len(replies))

    assert [(each["id"], each["text"]) for each in replies] == [
        ("a", "The hall light is on."),
        ("b", "The hall heard it first; it is answered there."),
    ]
    assert [(each["session"], len(each["calls"])) for each in replies] == [("sa", 1), ("sb", 0)]
    assert home.driver.moved == ["hall light", "mirror lamp"]


@pytest.mark.parametrize(("words", "told"), [("dim it", "Which room?"), ("break", "The model failed: no weights")])
async def test_room_that_heard_it_too_is_told_of_a_question_and_of_a_failure(
    home: Home, mosquitto: Mosquitto, words: str, told: str
) -> None:
    async with online(home, mosquitto) as peer:
        for id, room in (("a", "hall"), ("b", "office")):
            await peer.send({"text": words, "id": id, "room": room})
        replies = await replies_to(peer, 2)

    assert {each["id"]: each.get("error", {}).get("message") or each["text"] for each in replies} == {
        "a": told,
        "b": told,
    }
    assert [request.contents[-1].text for request in home.model.requests].count(words) == 1


@pytest.mark.parametrize("rooms", [("hall", "hall"), (None, None)])
async def test_same_words_of_one_room_or_of_none_are_two_commands(
    home: Home, mosquitto: Mosquitto, rooms: Sequence[str | None]
) -> None:
    async with online(home, mosquitto) as peer:
        for id, room in zip("ab", rooms, strict=True):
            await peer.send({"text": "turn on the hall light", "id": id, "room": room})
        replies = await replies_to(peer, 2)

    assert [each["text"] for each in replies] == ["The hall light is on."] * 2
    assert home.driver.moved == ["hall light", "hall light", "mirror lamp"]


async def test_same_command_that_is_due_in_two_rooms_is_carried_out_in_both(home: Home) -> None:
    items = [DueItem(room, "command", text="turn on the hall light", room=room) for room in ("hall", "office")]
    answers = await asyncio.gather(*(home.service.carry_out(item) for item in items))

    assert answers == ["The hall light is on."] * 2


# On and off, 5 ms apart


@pytest.mark.parametrize("sessions", [("a", "a"), ("a", "b")])
@pytest.mark.parametrize("verbs", [("on", "off"), ("off", "on")])
async def test_f21_of_on_and_off_5_ms_apart_the_later_one_stays(
    home: Home, mosquitto: Mosquitto, sessions: Sequence[str], verbs: Sequence[str]
) -> None:
    home.driver.free.clear()
    async with online(home, mosquitto) as peer:
        for verb, session in zip(verbs, sessions, strict=True):
            await peer.send({"text": f"turn {verb} the hall light", "id": verb, "session": session})
            await asyncio.sleep(0.005)
        await until(lambda: home.runner.waiting == 1)
        home.driver.free.set()
        replies = await replies_to(peer, 2)

    assert {each["id"]: each["text"] for each in replies} == {verb: f"The hall light is {verb}." for verb in verbs}
    assert [change.on for _, change in home.driver.moves[:-1]] == [verb == "on" for verb in verbs]
    assert home.is_on("hall light") == (verbs[-1] == "on")


# Given up in the middle


@pytest.mark.parametrize("channel", ["stream", "socket"])
async def test_f21_turn_that_is_given_up_in_its_middle_leaves_whole_pairs_and_the_next_works_at_once(
    home: Home, tmp_path: Path, channel: str
) -> None:
    command = Command("turn on the desk lamp", "test", session="a")
    home.driver.free.clear()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(LocalServer(home.service, tmp_path / "s"))
        behind = home.service if channel == "stream" else LocalClient(tmp_path / "s")
        async with aclosing(behind.handle(command)) as events:
            await anext(events)
            await until(lambda: bool(home.driver.moves))
        session = home.runner.get_or_create_session("a")
        await until(lambda: bool(session.history))  # the lamp is still held
        home.driver.free.set()
        nxt = Command("turn on the hall light", "test", session="a")
        told = [event async for event in behind.handle(nxt) if isinstance(event, FunctionResponse)]

    said, called, responded, note = session.history[:4]
    assert said == Content.user("turn on the desk lamp")
    assert [each.id for each in called.calls] == [each.id for each in responded.responses]
    assert "not finished" in responded.responses[0].response["error"]
    assert note == Content.model("This was not finished.")
    assert home.store.load("a", 9) == list(session.history)
    assert (home.is_on("desk lamp"), home.is_on("hall light")) == (False, True)
    assert told[0].response["state"] == "on"
    assert home.runner.waiting == 0


class Deaf(Stubborn):
    """The desk lamp is slow while it is held, and its moves go on although they are told to end.

    Attributes:
        going_on: The devices that are being moved.
        overlap: How many moves of one device went on at once, at most.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.going_on: list[str] = []
        self.overlap = 0

    async def move(self, device: Device, change: Change) -> State:
        self.going_on.append(device.name)
        self.overlap = max(self.overlap, self.going_on.count(device.name))
        while device.name == "desk lamp" and not self.free.is_set():
            with suppress(asyncio.CancelledError):
                await self.free.wait()
        self.going_on.remove(device.name)
        self.moves.append((device.name, change))
        return await MemoryDriver.move(self, device, change)


@pytest.mark.parametrize("how", ["timed out", "given up"])
async def test_device_that_does_not_let_go_holds_up_neither_the_others_nor_its_own_order(
    open_home: OpenHome, how: str
) -> None:
    home = open_home(tool_timeout_s=0.2)
    deaf = Deaf(home.devices)
    home.use(deaf)
    deaf.free.clear()

    async def say(text: str) -> str:
        responses = []
        async for event in home.service.handle(Command(text, "test", session=text)):
            if isinstance(event, FunctionResponse):
                responses.append(event.response)
        return str(responses[0]["state"])

    if how == "timed out":
        with pytest.raises(AgentError) as failure:
            await say("turn on the desk lamp")
        assert failure.value.code is ErrorCode.TOOL_TIMEOUT
    else:
        async with aclosing(home.service.handle(Command("turn on the desk lamp", "test"))) as events:
            await anext(events)
            await until(lambda: bool(deaf.going_on))
    assert deaf.going_on == ["desk lamp"]
    assert await say("turn on the hall light") == "on"
    with pytest.raises(AgentError) as failure:
        await say("turn off the desk lamp")  # it waits for the lamp, not for the permit
    assert failure.value.code is ErrorCode.TOOL_TIMEOUT
    assert await say("turn off the hall light") == "off"
    deaf.free.set()
    assert await say("turn off the desk lamp") == "off"

    assert deaf.moves == [
        ("hall light", Change(on=True)),
        ("hall light", Change(on=False)),
        ("desk lamp", Change(on=True)),
        ("desk lamp", Change(on=False)),
    ]
    assert deaf.overlap == 1
    assert home.is_on("desk lamp") is False
