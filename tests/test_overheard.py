"""One sentence that several rooms heard, without a house behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from agent.command import Command
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage
from agent.overheard import REMEMBERED, WINDOW_S, Overheard

TOLD = "The kitchen heard it first; it is answered there."


class House:
    """Does what it is told when it may; words decide what comes of it."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str | None]] = []
        self.go = asyncio.Event()
        self.go.set()

    async def run(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        self.done.append((command.text, command.room))
        yield FunctionCall("1", "turn_on_light", {})
        await self.go.wait()
        if command.text == "fail":
            raise AgentError(ErrorCode.BUSY, "16 commands are waiting already; try again in a moment.")
        if command.text == "refuse":
            yield FunctionResponse("1", "turn_on_light", {"status": "CANCELLED_BY_USER"})
            yield TextMessage("Okay, I left it as it is.")
        elif command.text == "miss":
            yield FunctionResponse("1", "turn_on_light", {"error": "The lamp is not available."})
            yield TextMessage("The lamp is not available.")
        elif command.text == "ask":
            yield TextMessage("Which room?")
        else:
            yield FunctionResponse("1", "turn_on_light", {"status": "ok"})
            yield TextMessage("The", is_partial=True)
            yield TextMessage("The light is on.")


def said(text: str, room: str | None, at: float = 0.0) -> Command:
    return Command(text, "test", room=room, received=at)


async def answer(overheard: Overheard, command: Command) -> str:
    events = [event async for event in overheard.handle(command)]
    assert isinstance(events[-1], TextMessage)
    return events[-1].text


@pytest.fixture
async def house() -> House:
    return House()


@pytest.mark.parametrize("at", [0.0, 0.3, WINDOW_S])
@pytest.mark.parametrize("words", ["lights on", "Lights on.", "LIGHTS, on!"])
async def test_a_sentence_that_another_room_heard_too_is_done_once(house: House, words: str, at: float) -> None:
    overheard = Overheard(house.run)

    assert await answer(overheard, said("lights on", "kitchen")) == "The light is on."
    assert await answer(overheard, said(words, "hall", at)) == TOLD
    assert house.done == [("lights on", "kitchen")]


async def test_the_other_room_is_told_when_it_is_done_and_not_before(house: House) -> None:
    overheard = Overheard(house.run)
    house.go.clear()
    first = asyncio.create_task(answer(overheard, said("lights on", "kitchen")))
    await asyncio.sleep(0)
    second = asyncio.create_task(answer(overheard, said("lights on", "hall", 0.3)))
    await asyncio.sleep(0)
    assert not second.done()
    house.go.set()

    assert await asyncio.gather(first, second) == ["The light is on.", TOLD]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (said("brighter", "kitchen"), said("brighter", "kitchen", 0.3)),
        (said("brighter", "Kitchen"), said("brighter", "kitchen", 0.3)),
        (said("brighter", None), said("brighter", None, 0.3)),
        (said("brighter", None), said("brighter", "kitchen", 0.3)),
        (said("brighter", "kitchen"), said("brighter", None, 0.3)),
        (said("brighter", "kitchen"), said("brighter", "", 0.3)),
        (said("brighter", "kitchen"), said("brighter", "hall", WINDOW_S + 0.1)),
        (said("brighter", "kitchen"), said("darker", "hall", 0.3)),
        (said("25 percent", "kitchen"), said("2.5 percent", "hall", 0.3)),
        (said("💡", "kitchen"), said("🔥", "hall", 0.3)),
    ],
)
async def test_what_is_not_one_sentence_in_two_rooms_is_two_commands(
    house: House, first: Command, second: Command
) -> None:
    overheard = Overheard(house.run)
    for command in (first, second):
        assert await answer(overheard, command) == "The light is on."

    assert len(house.done) == 2


@pytest.mark.parametrize(
    "order",
    [
        [("kitchen", 0.0), ("hall", 0.3), ("kitchen", 0.5), ("hall", 0.8)],
        [("kitchen", 0.0), ("kitchen", 0.3), ("hall", 0.4), ("hall", 0.7)],
        [("kitchen", 0.0), ("hall", 0.2), ("hall", 0.5), ("kitchen", 0.7)],
    ],
)
async def test_two_rooms_that_hear_a_word_twice_make_it_two_commands(
    house: House, order: list[tuple[str, float]]
) -> None:
    overheard = Overheard(house.run)
    for room, at in order:
        await answer(overheard, said("brighter", room, at))

    assert len(house.done) == 2


async def test_a_third_room_is_told_as_well(house: House) -> None:
    overheard = Overheard(house.run)
    answers = [await answer(overheard, said("lights on", room)) for room in ("the kitchen", "hall", "attic")]

    assert answers == ["The light is on.", TOLD, TOLD]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ("ask", "Which room?"),
        ("miss", "The lamp is not available."),
        ("refuse", "Okay, I left it as it is."),
    ],
)
async def test_where_nothing_was_done_the_other_room_is_told_the_same(house: House, words: str, outcome: str) -> None:
    overheard = Overheard(house.run)

    assert [await answer(overheard, said(words, room)) for room in ("kitchen", "hall")] == [outcome] * 2


async def test_an_error_is_that_of_both_rooms(house: House) -> None:
    overheard = Overheard(house.run)
    errors = []
    for room in ("kitchen", "hall"):
        with pytest.raises(AgentError) as failure:
            await answer(overheard, said("fail", room))
        errors.append(failure.value.to_json())

    assert errors[0] == errors[1]
    assert len(house.done) == 1


async def test_a_turn_that_was_given_up_is_not_said_to_be_done(house: House) -> None:
    overheard = Overheard(house.run)
    async with aclosing(overheard.handle(said("lights on", "kitchen"))) as events:
        await anext(events)
        second = asyncio.create_task(answer(overheard, said("lights on", "hall")))
        await asyncio.sleep(0)
    with pytest.raises(AgentError) as failure:
        await second

    assert failure.value.message == "The kitchen heard it first; it was not finished there."


async def test_only_what_was_said_just_now_is_remembered(house: House) -> None:
    overheard = Overheard(house.run)
    for number in range(REMEMBERED * 3):
        await answer(overheard, said(f"light {number} on", "kitchen"))
    assert len(overheard._sentences) == REMEMBERED
    await answer(overheard, said("lights on", "kitchen", WINDOW_S + 0.1))

    assert len(overheard._sentences) == 1
