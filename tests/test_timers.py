"""Timers: set, told, paused, changed, cancelled; and which one is meant."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.due import DueItem, DueItems
from tests.homes import call, open_due, said
from tools.later import Later
from tools.timers import Timers


async def open_timers(*lengths_and_names: str) -> tuple[Timers, DueItems]:
    """Timers that were set for "10 minutes" or "10 minutes: pizza"."""
    due, _ = open_due()
    timers = Timers(due)
    for each in lengths_and_names:
        duration, _, name = each.partition(": ")
        await call(timers.set_timer, duration=duration, **({"name": name} if name else {}))
    return timers, due


def lengths(due: DueItems) -> list[float | None]:
    return [item.seconds for item in due.items("timer")]


@pytest.mark.parametrize(
    ("arguments", "sentence", "text"),
    [
        ({"duration": "ten minutes"}, "The timer is set for 10 minutes.", ""),
        ({"duration": "10 min", "name": "pizza"}, "The pizza timer is set for 10 minutes.", "pizza"),
        ({"duration": "an hour and a half", "name": "the Roast"}, "The Roast timer is set for 1 hour and 30 minutes.",
         "Roast"),
        ({"duration": "2 minutes", "name": "my egg timer"}, "The egg timer is set for 2 minutes.", "egg"),
        ({"duration": "1 hour", "name": "Emma's"}, "Emma's timer is set for 1 hour.", "Emma's"),
        ({"duration": "1 hour", "name": "timer"}, "The timer is set for 1 hour.", ""),
    ],
)  # fmt: skip
async def test_a_timer_is_set_and_says_for_how_long(arguments: dict[str, str], sentence: str, text: str) -> None:
    due, _ = open_due()

    assert await said(Timers(due).set_timer, **arguments) == sentence
    assert [item.text for item in due.items("timer")] == [text]


@pytest.mark.parametrize("duration", ["a while", "10", "1:30", "0 minutes", "31 days"])
async def test_a_length_that_is_not_understood_sets_nothing(duration: str) -> None:
    due, _ = open_due()
    response = await call(Timers(due).set_timer, duration=duration)

    assert set(response) == {"error"}
    assert not due.items()


async def test_the_list_tells_what_is_left_and_what_stands_still() -> None:
    due, board = open_due()
    timers = Timers(due)
    await call(timers.set_timer, duration="10 minutes", name="pizza")
    await call(timers.set_timer, duration="5 minutes")
    board.go(2 * 60)
    await call(timers.pause_timer, timer="pizza")
    board.go(0.5)

    assert await call(timers.get_timers) == {
        "timers": [
            {"timer": "the timer for 5 minutes", "left": "3 minutes", "seconds_left": 180, "paused": False},
            {"timer": "the pizza timer", "left": "8 minutes", "seconds_left": 480, "paused": True},
        ]
    }
    assert await said(timers.get_timers) == (
        "The timer for 5 minutes has 3 minutes left; the pizza timer is paused with 8 minutes left."
    )


async def test_a_long_list_is_counted_at_its_end() -> None:
    timers, _ = await open_timers(*(f"{number} minutes: number {number}" for number in range(1, 12)))

    assert (await said(timers.get_timers)).endswith("the number 8 timer has 8 minutes left; and 3 more.")


async def test_without_a_timer_there_is_none_to_tell_or_to_cancel() -> None:
    timers, _ = await open_timers()

    assert await said(timers.get_timers) == "There is no timer."
    assert await call(timers.get_timers) == {"timers": []}
    for function in (timers.cancel_timer, timers.pause_timer, timers.resume_timer):
        assert await call(function) == {"error": "There is no timer."}
        assert await call(function, timer="pizza") == {"error": "There is no timer."}
        assert await call(function, timer="all") == {"error": "There is no timer."}


@pytest.mark.parametrize(
    "words",
    [
        "pizza", "Pizza", "the pizza timer", "my pizza timer", "timer named pizza", "timer for the pizza",
        "pizzza", "piza", "pozza", "15 minutes", "fifteen minute", "the 15-minute timer", "quarter of an hour",
        "timer for 15 minutes", "the 15 minute one", "second", "the second timer", "2nd",
        "the pizza one",
    ],
)  # fmt: skip
async def test_a_timer_is_found_by_its_name_its_length_or_its_place(words: str) -> None:
    timers, due = await open_timers("5 minutes: eggs", "15 minutes: pizza", "1 hour: garlic bread")

    assert await said(timers.cancel_timer, timer=words) == "The pizza timer is cancelled."
    assert lengths(due) == [300, 3600]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("first", [900, 3600]),
        ("the next one", [900, 3600]),
        ("last", [300, 900]),
        ("the third", [300, 900]),
        ("bread", [300, 900]),
        ("egg", [900, 3600]),
        ("all", []),
        ("all of my timers", []),
        ("every single timer", []),
        ("them all", []),
        ("every one of them", []),
        ("everything", []),
        ("them", []),
    ],
)
async def test_places_parts_of_names_and_all_are_understood(words: str, left: list[float]) -> None:
    timers, due = await open_timers("5 minutes: eggs", "15 minutes: pizza", "1 hour: garlic bread")
    response = await call(timers.cancel_timer, timer=words)

    assert "error" not in response
    assert lengths(due) == left


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (None, "There are 2 timers: eggs with 5 minutes left and one for 15 minutes with 15 minutes left; say which."),
        ("it", "There are 2 timers: eggs with 5 minutes left and one for 15 minutes with 15 minutes left; say which."),
        ("pasta", 'There is no timer for "pasta". There are 2 timers: eggs with 5 minutes left and one for 15 minutes'),
        ("6 minutes", 'There is no timer for "6 minutes". There are 2 timers: '),
        ("the third", 'There is no timer for "the third". There are 2 timers: '),
        ("all but the eggs", 'There is no timer for "all but the eggs".'),
        ("tea", 'There is no timer for "tea".'),
    ],
)
async def test_what_fits_none_or_several_names_those_there_are_and_changes_nothing(
    words: str | None, error: str
) -> None:
    timers, due = await open_timers("5 minutes: eggs", "15 minutes")
    response = await call(timers.cancel_timer, **({} if words is None else {"timer": words}))

    assert error in response["error"]
    assert lengths(due) == [300, 900]


async def test_an_unknown_name_is_not_the_only_timer() -> None:
    timers, due = await open_timers("5 minutes: eggs")

    assert await call(timers.cancel_timer, timer="pasta") == {
        "error": 'There is no timer for "pasta". There is 1 timer: eggs with 5 minutes left.'
    }
    assert lengths(due) == [300]


async def test_two_timers_of_one_name_are_both_named() -> None:
    timers, due = await open_timers("3 minutes: pizza", "5 minutes: pizza", "7 minutes: eggs")

    assert await call(timers.cancel_timer, timer="pizza") == {
        "error": "There are 2 timers: pizza with 3 minutes left and pizza with 5 minutes left; say which."
    }
    assert await said(timers.cancel_timer, timer="both pizza timers") == (
        "The pizza timer and the pizza timer are cancelled."
    )
    assert lengths(due) == [420]


async def test_all_timers_of_a_length_are_cancelled_and_no_others() -> None:
    timers, due = await open_timers("5 minutes: tea", "5 minutes: eggs", "7 minutes")
    await call(timers.cancel_timer, timer="all the 5 minute timers")

    assert lengths(due) == [420]


async def test_both_is_not_three() -> None:
    timers, due = await open_timers("3 minutes", "5 minutes", "7 minutes")

    assert "There are 3 timers" in (await call(timers.cancel_timer, timer="both"))["error"]
    assert lengths(due) == [180, 300, 420]


async def test_a_timer_called_second_is_meant_before_the_second_timer() -> None:
    timers, due = await open_timers("3 minutes: second", "5 minutes")
    await call(timers.cancel_timer, timer="second")

    assert lengths(due) == [300]


async def test_a_paused_timer_keeps_its_time_and_goes_on_with_it() -> None:
    due, board = open_due()
    timers = Timers(due)
    await call(timers.set_timer, duration="10 minutes", name="pizza")
    board.go(4 * 60)

    assert await said(timers.pause_timer) == "The pizza timer is paused with 6 minutes left."
    board.go(1 * 3600)
    assert await said(timers.pause_timer) == "The pizza timer is paused with 6 minutes left."
    assert await said(timers.resume_timer) == "The pizza timer has 6 minutes left."
    assert await said(timers.resume_timer) == "The pizza timer has 6 minutes left."
    board.go(1 * 60)
    assert await said(timers.get_timers) == "The pizza timer has 5 minutes left."


async def test_of_several_the_only_one_that_runs_is_paused_and_the_only_paused_one_goes_on() -> None:
    timers, due = await open_timers("3 minutes: tea", "5 minutes: eggs")
    await call(timers.pause_timer, timer="tea")

    assert await said(timers.pause_timer) == "The eggs timer is paused with 5 minutes left."
    await call(timers.resume_timer, timer="tea")
    assert await said(timers.resume_timer) == "The eggs timer has 5 minutes left."
    assert not any(item.paused for item in due.items())
    assert "There are 2 timers" in (await call(timers.resume_timer))["error"]


async def test_all_are_paused_and_go_on() -> None:
    timers, _ = await open_timers("3 minutes: tea", "5 minutes: eggs")

    assert await said(timers.pause_timer, timer="all") == (
        "The tea timer is paused with 3 minutes left; the eggs timer is paused with 5 minutes left."
    )
    assert await said(timers.resume_timer, timer="both") == (
        "The tea timer has 3 minutes left; the eggs timer has 5 minutes left."
    )


async def test_time_is_added_and_taken_off_and_what_is_left_is_told() -> None:
    due, board = open_due()
    timers = Timers(due)
    await call(timers.set_timer, duration="10 minutes", name="pizza")
    board.go(4 * 60)

    assert await said(timers.extend_timer, duration="5 more minutes") == "The pizza timer has 11 minutes left."
    assert await said(timers.shorten_timer, duration="ten minutes", timer="pizza") == (
        "The pizza timer has 1 minute left."
    )
    assert lengths(due) == [300]


@pytest.mark.parametrize("less", ["6 minutes", "7 minutes", "an hour"])
async def test_more_time_than_is_left_is_not_taken_off(less: str) -> None:
    due, board = open_due()
    timers = Timers(due)
    await call(timers.set_timer, duration="10 minutes", name="pizza")
    board.go(4 * 60)
    error = (await call(timers.shorten_timer, duration=less))["error"]

    assert error.startswith("The pizza timer has 6 minutes left; it cannot be shortened by ")
    assert lengths(due) == [600]
    assert due.left(due.items()[0]) == 360


async def test_a_timer_is_never_longer_than_a_timer_can_be_set() -> None:
    timers, _ = await open_timers("29 days")

    assert "at most 30 days" in (await call(timers.extend_timer, duration="2 days"))["error"]
    assert await said(timers.extend_timer, duration="1 day") == "The timer for 30 days has 30 days left."


async def test_time_is_not_added_to_several_at_once() -> None:
    timers, due = await open_timers("3 minutes: tea", "5 minutes: eggs")

    assert "There are 2 timers" in (await call(timers.extend_timer, duration="1 minute", timer="all"))["error"]
    assert lengths(due) == [180, 300]


async def test_a_timer_that_is_up_in_that_very_moment_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    timers, due = await open_timers("3 minutes: tea")
    keep = due.items

    def items(*kinds: Any) -> tuple[DueItem, ...]:
        found = keep(*kinds)
        for item in found:
            due._entries.pop(item.id, None)
        return found

    monkeypatch.setattr(due, "items", items)
    assert await call(timers.cancel_timer) == {"error": "It was up just now."}

    await call(timers.set_timer, duration="3 minutes")
    assert await call(timers.pause_timer) == {"error": "It was up just now."}


async def test_fifty_timers_at_once_are_fifty_timers() -> None:
    due, _ = open_due()
    timers = Timers(due)
    await asyncio.gather(*(call(timers.set_timer, duration=f"{number} minutes") for number in range(1, 51)))

    assert lengths(due) == [number * 60 for number in range(1, 51)]


async def test_what_is_to_be_done_later_is_listed_and_cancelled_with_the_timers() -> None:
    due, _ = open_due()
    timers, later = Timers(due), Later(due)
    await call(timers.set_timer, duration="5 minutes", name="eggs")
    await call(later.do_later, command="turn off the lights", delay="10 minutes")
    await call(later.do_later, command="close the blinds", time="9 pm")

    assert (await call(timers.get_timers))["commands"] == [
        {"command": "turn off the lights", "when": "in 10 minutes"},
        {"command": "close the blinds", "when": "at 21:00 today"},
    ]
    assert await said(timers.get_timers) == (
        "The eggs timer has 5 minutes left; in 10 minutes: turn off the lights; at 21:00 today: close the blinds."
    )
    assert await said(timers.cancel_timer, timer="turn off the lights") == (
        'The command "turn off the lights" is cancelled.'
    )
    assert await said(timers.cancel_timer, timer="the blinds") == 'The command "close the blinds" is cancelled.'
    assert [item.text for item in due.items()] == ["eggs"]


async def test_equal_commands_are_told_apart_by_when_they_are_due() -> None:
    due, _ = open_due()
    timers, later = Timers(due), Later(due)
    for delay in ("10 minutes", "20 minutes", "30 minutes"):
        await call(later.do_later, command="turn off the lights", delay=delay)
    await call(later.do_later, command="close the blinds", time="9 pm")

    assert await call(timers.cancel_timer, timer="turn off the lights") == {
        "error": 'There are 3 commands: "turn off the lights" in 10 minutes, "turn off the lights" in 20 minutes and'
        ' "turn off the lights" in 30 minutes; say which.'
    }
    for words in ("in 20 minutes", "the first turn off the lights", "last lights", "9 pm"):
        assert "error" not in await call(timers.cancel_timer, timer=words)
    assert due.items() == ()


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("the first pizza timer", [300, 900, 420]),
        ("last pizza", [180, 300, 420]),
        ("the second pizza one", [180, 300, 420]),
        ("all pizza timers", [300, 420]),
        ("first", [300, 900, 420]),
    ],
)
async def test_of_several_of_a_name_the_first_the_last_or_all_are_meant(words: str, left: list[float]) -> None:
    timers, due = await open_timers("3 minutes: pizza", "5 minutes: eggs", "15 minutes: pizza", "7 minutes: tea")
    await call(timers.cancel_timer, timer=words)

    assert sorted(map(float, filter(None, lengths(due)))) == sorted(left)


async def test_the_third_of_two_is_none() -> None:
    timers, due = await open_timers("3 minutes: pizza", "5 minutes: pizza", "7 minutes: eggs")

    assert "There is no timer for" in (await call(timers.cancel_timer, timer="third pizza"))["error"]
    assert len(due.items()) == 3


async def test_all_timers_are_no_commands_and_the_only_timer_is_no_command() -> None:
    due, _ = open_due()
    timers, later = Timers(due), Later(due)
    await call(later.do_later, command="lock the front door", delay="10 minutes")
    for words in ({}, {"timer": "all"}):
        await call(timers.set_timer, duration="5 minutes")
        assert await said(timers.cancel_timer, **words) == "The timer for 5 minutes is cancelled."

    assert [item.text for item in due.items()] == ["lock the front door"]
    assert "There is no timer." in (await call(timers.cancel_timer, timer="pizza"))["error"]
    assert await said(timers.cancel_timer) == 'The command "lock the front door" is cancelled.'


async def test_named_all_is_a_name_and_not_all_of_them() -> None:
    timers, due = await open_timers("3 minutes: eggs", "5 minutes: pizza", "7 minutes: pizza")

    assert 'There is no timer for "the timer named all".' in await said(
        timers.cancel_timer, timer="the timer named all"
    )
    assert len(due.items()) == 3
    await call(timers.cancel_timer, timer="all timers called pizza")
    await call(timers.set_timer, duration="9 minutes", name="all")
    assert await said(timers.cancel_timer, timer="the timer called all") == "The all timer is cancelled."
    assert lengths(due) == [180]


async def test_a_name_without_end_is_refused_and_unseen_letters_are_left_out() -> None:
    timers, due = await open_timers("3 minutes: eg\x1b[31mgs\x00\u202e")

    assert [item.text for item in due.items()] == ["eggs"]
    assert await call(timers.set_timer, duration="3 minutes", name="x" * 101) == {
        "error": "The timer's name has 101 characters; at most 100 are taken."
    }
    assert len(await said(timers.cancel_timer, timer="\x1b[2J" + "y" * 10_000)) < 250
