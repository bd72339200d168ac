"""Where somebody is who asks: what is kept for later is told there, and done there."""

from __future__ import annotations

import asyncio

import pytest

from agent.command import Command
from agent.config import Settings
from agent.due import DueItem, DueItems
from agent.events import TextMessage
from agent.house_store import HouseStore
from agent.model.generative import GenerateContentRequest
from agent.requester import asked_in, requester_room
from agent.runner import Agent, AgentRunner
from agent.schema import Place
from agent.service import Service
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tests.boards import NOON, Board
from tests.fakes import Line, ScriptedModel, act, call
from tests.homes import open_due
from tools.alarms import Alarms
from tools.later import Later
from tools.timers import Timers


class Rooms:
    """A house with two rooms, and lights in them.

    Attributes:
        off: The places whose lights were turned off.
    """

    def __init__(self) -> None:
        self.off: list[str] = []

    def rooms(self) -> tuple[str, ...]:
        return ("living room", "kitchen")

    async def show(self, status: str) -> None: ...

    @tool(say="The {room} lights are off.")
    async def turn_off_light(self, room: Place) -> None:
        """Turns off a light.

        Args:
            room: Which.
        """
        self.off.append(room)

    @tool(access=AccessLevel.SELF, say="The gate is open.")
    async def open_gate(self) -> None:
        """Opens the gate."""
        raise AssertionError("nobody said yes")


def decide(request: GenerateContentRequest) -> Line:
    """What a model would make of the few sentences of these tests."""
    said = request.contents[-1]
    if said.responses:
        return ""
    if said.text == "set a timer":
        return act(call("set_timer", duration="10 minutes"))
    if said.text == "leave":
        return act(call("turn_off_light"), call("open_gate"))
    words, _, delay = said.text.partition(" in ")
    return act(call("do_later", command=words, delay=delay)) if delay else act(call("turn_off_light"))


class Home:
    """A service over the rooms whose clocks the test moves."""

    def __init__(self) -> None:
        self.board = Board()
        self.due = DueItems(None, self.board)
        self.rooms = Rooms()
        own = (AgentTool(self.rooms.turn_off_light), ConfirmationTool(self.rooms.open_gate, "Shall I open the gate?"))
        tools = (*Timers(self.due).tools, *Later(self.due).tools, *own)
        model = ScriptedModel(always=decide)
        runner = AgentRunner(Agent("desk", tools=tools), model)
        kept = HouseStore(None, self.due)
        self.service = Service(Settings(node="desk"), None, self.rooms, model, runner, kept)  # type: ignore[arg-type]
        self.told = self.due.announcements()
        self.due._carry_out = self.service.carry_out

    async def say(self, text: str, room: str | None = None) -> str:
        events = [event async for event in self.service.handle(Command(text, "test", room=room))]
        assert isinstance(events[-1], TextMessage)
        return events[-1].text

    async def hear(self, after_s: float) -> tuple[str, str | None]:
        """The next sentence after a while, and where it is told."""
        self.board.go(after_s)
        await self.due.fire_due()
        async with asyncio.timeout(10):
            announcement = await anext(self.told)
        return announcement.text, announcement.to_json().get("room")


async def test_a_timer_is_told_in_the_room_in_which_it_was_set() -> None:
    home = Home()
    await home.say("set a timer", "kitchen")

    assert await home.hear(600) == ("The timer for 10 minutes is up.", "kitchen")


async def test_a_timer_of_an_unknown_room_is_told_everywhere() -> None:
    home = Home()
    await home.say("set a timer", "kitchen")
    await home.hear(600)
    await home.say("set a timer")

    assert await home.hear(600) == ("The timer for 10 minutes is up.", None)


async def test_a_command_for_later_is_carried_out_where_it_was_said() -> None:
    home = Home()
    await home.say("turn off the lights in 10 minutes", "living room")

    assert await home.hear(600) == ("As you asked 10 minutes ago: the living room lights are off.", "living room")
    assert home.rooms.off == ["living room"]


async def test_a_command_for_later_that_would_have_to_ask_says_that_it_was_not_done() -> None:
    home = Home()
    await home.say("turn off the lights in 10 minutes")

    assert await home.hear(600) == (
        'As you asked 10 minutes ago I tried "turn off the lights", but: nobody could be asked "Which room?", so that'
        " was not done.",
        None,
    )


async def test_what_needs_a_yes_is_told_as_not_done_beside_what_was_done() -> None:
    home = Home()
    await home.due.add("command", "leave", seconds=60, room="kitchen")

    assert await home.hear(60) == (
        'As you asked 1 minute ago I tried "leave", but: it needs a yes, and nobody could be asked "Shall I open'
        ' the gate?", so that was not done. The kitchen lights are off.',
        "kitchen",
    )


async def test_a_command_for_later_puts_off_no_other_one() -> None:
    home = Home()
    await home.due.add("command", "turn off the lights in 1 minute", seconds=60, room="kitchen")

    text, _ = await home.hear(60)
    assert text == "As you asked 1 minute ago: A command for later cannot put off another one."
    assert home.due.items() == ()
    await home.say("turn off the lights in 1 minute", "kitchen")
    assert [item.text for item in home.due.items()] == ["turn off the lights"]


async def test_two_at_once_are_each_in_their_own_room() -> None:
    home = Home()
    await asyncio.gather(
        home.say("set a timer", "kitchen"), home.say("turn off the lights in 5 minutes", "living room")
    )

    assert {item.kind: item.room for item in home.due.items()} == {"timer": "kitchen", "command": "living room"}


@pytest.mark.parametrize(("room", "kept"), [(None, "kitchen"), ("hall", "hall")])
async def test_a_room_that_is_named_goes_before_that_of_who_asks(room: str | None, kept: str) -> None:
    due, _ = open_due()
    with asked_in("kitchen"):
        item = await due.add("reminder", "tea", seconds=1, room=room)

    assert item.room == kept
    assert requester_room() is None


async def test_an_announcement_is_told_everywhere_wherever_it_was_asked_for() -> None:
    due, _ = open_due()
    told = due.announcements()
    with asked_in("kitchen"):
        assert due.announce("dinner is ready").room is None
    assert (await anext(told)).item.room is None


async def test_an_alarm_rings_in_each_room_that_asked_and_again_where_it_rang() -> None:
    due, board = open_due(NOON)
    alarms = Alarms(due)
    for room in ("bedroom", "kitchen", "bedroom"):
        with asked_in(room):
            await alarms.set_alarm("13:00")
    assert sorted(str(item.room) for item in due.items()) == ["bedroom", "kitchen"]

    board.go(3600)
    await due.fire_due()
    rang = due.rang_within(0)
    assert isinstance(rang, DueItem)
    await alarms.snooze_alarm()
    assert [item.room for item in due.items()] == [rang.room]
