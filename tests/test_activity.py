"""What Hearth shows of what it is doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from agent.activity import Activity
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent, FunctionResponse, TextMessage


class Shown:
    """All that was shown, in order."""

    def __init__(self) -> None:
        self.words: list[str] = []

    async def __call__(self, status: str) -> None:
        self.words.append(status)


@pytest.fixture
def shown() -> Shown:
    return Shown()


async def turn(*responses: dict[str, Any], error: AgentError | None = None) -> AsyncGenerator[AgentEvent, None]:
    for response in responses:
        yield FunctionResponse("1", "turn_on_light", response)
    if error is not None:
        raise error
    yield TextMessage("So.")


async def run(activity: Activity, events: AsyncGenerator[AgentEvent, None]) -> list[AgentEvent]:
    return [event async for event in activity.follow(events)]


async def test_it_thinks_until_the_end_of_a_turn_and_hands_on_what_happens(shown: Shown) -> None:
    """Then there is nothing to show."""
    events = await run(Activity(shown), turn({"state": "on"}))

    assert [event.type for event in events] == ["function_response", "text_message"]
    assert shown.words == ["thinking", ""]


@pytest.mark.parametrize(
    ("responses", "last"),
    [([{"error": "gone"}], "failed"), ([{"error": "gone"}, {"state": "on"}], ""), ([{}, {"error": "x"}], "failed")],
)
async def test_a_turn_fails_as_its_last_call_does(shown: Shown, responses: list[dict[str, Any]], last: str) -> None:
    """What was tried again and then done is done."""
    await run(Activity(shown), turn(*responses))

    assert shown.words == ["thinking", last]


async def test_a_turn_without_an_answer_has_failed(shown: Shown) -> None:
    """And each of two that follow each other is shown."""
    activity = Activity(shown)
    for _ in range(2):
        with pytest.raises(AgentError):
            await run(activity, turn(error=AgentError(ErrorCode.NOT_AVAILABLE, "no model")))

    assert shown.words == ["thinking", "failed"] * 2


async def test_a_turn_that_nobody_waits_for_any_more_ends(shown: Shown) -> None:
    """It is closed half-way, or cancelled."""
    activity = Activity(shown)
    async with aclosing(activity.follow(turn({}, {}))) as events:
        await anext(events)
    endless = asyncio.create_task(run(activity, _endless()))
    await asyncio.sleep(0)
    endless.cancel()
    await asyncio.gather(endless, return_exceptions=True)

    assert shown.words == ["thinking", "", "thinking", ""]


async def _endless() -> AsyncGenerator[AgentEvent, None]:
    await asyncio.Event().wait()
    yield TextMessage("never")


async def test_who_listens_goes_before_who_thinks(shown: Shown) -> None:
    """Two buttons are held, and a turn goes on meanwhile."""
    activity = Activity(shown)
    await activity.listen("hall", True)
    await activity.listen("desk", True)
    async with aclosing(activity.follow(turn({}))) as events:
        await anext(events)
        await activity.listen("hall", False)
        assert shown.words == ["listening"]
        await activity.listen("desk", False)
        assert shown.words == ["listening", "thinking"]

    assert shown.words == ["listening", "thinking", ""]


async def test_two_turns_are_over_when_the_last_one_is(shown: Shown) -> None:
    """And it is that one which says how it went."""
    activity = Activity(shown)
    async with aclosing(activity.follow(turn({}))) as events:
        await anext(events)
        await run(activity, turn({"error": "gone"}))
        assert shown.words == ["thinking"]
    assert shown.words == ["thinking", ""]


async def test_a_house_that_cannot_show_it_costs_no_command() -> None:
    """A LED is no reason to fail."""

    async def broken(status: str) -> None:
        raise OSError("no LED")

    assert len(await run(Activity(broken), turn({}))) == 2
