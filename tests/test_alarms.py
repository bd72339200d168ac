"""Alarms: set, told, cancelled, snoozed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import tzset

import pytest

from agent.due import DueItems
from agent.store import SessionStore
from tests.boards import Board
from tests.homes import call, open_due, said
from tools.alarms import Alarms
from tools.times.moments import NO_CLOCK


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    tzset()
    yield
    monkeypatch.undo()
    tzset()


async def open_alarms() -> tuple[Alarms, DueItems]:
    """Four alarms, in the order in which they are due."""
    due, _ = open_due()
    alarms = Alarms(due)
    await call(alarms.set_alarm, time="6 pm")
    await call(alarms.set_alarm, time="7", day="every weekday")
    await call(alarms.set_alarm, time="5:30", day="tomorrow", name="airport")
    await call(alarms.set_alarm, time="9", day="every saturday")
    return alarms, due


async def rung(board: Board, due: DueItems, day: str | None = None) -> Alarms:
    """An alarm that has just rung at 7:00."""
    alarms = Alarms(due)
    await call(alarms.set_alarm, time="7", **({"day": day} if day else {}))
    board.go(16 * 3600 + 53 * 60)
    await due.fire_due()
    return alarms


def times(due: DueItems) -> list[str]:
    return [f"{due.at(item):%a %H:%M}" for item in due.items("alarm")]


@pytest.mark.parametrize(
    ("arguments", "at", "days", "sentence"),
    [
        ({"time": "7"}, "2026-03-06 07:00", (), "The alarm is set for 7:00 tomorrow."),
        ({"time": "6 pm"}, "2026-03-05 18:00", (), "The alarm is set for 18:00 today."),
        ({"time": "7", "day": "tomorrow evening"}, "2026-03-06 19:00", (), "The alarm is set for 19:00 tomorrow."),
        ({"time": "half past six", "day": "monday"}, "2026-03-09 06:30", (), "The alarm is set for 6:30 on Monday."),
        ({"time": "7", "day": "every weekday"}, "2026-03-06 07:00", (0, 1, 2, 3, 4),
         "The alarm is set for every weekday at 7:00."),
        ({"time": "7 on weekdays"}, "2026-03-06 07:00", (0, 1, 2, 3, 4), "The alarm is set for every weekday at 7:00."),
        ({"time": "5 am", "name": "the airport alarm"}, "2026-03-06 05:00", (),
         "The airport alarm is set for 5:00 tomorrow."),
        ({"time": "6:45", "day": "march 15th"}, "2026-03-15 06:45", (),
         "The alarm is set for 6:45 on Sunday, March 15."),
    ],
)  # fmt: skip
async def test_an_alarm_is_set_and_says_when_it_rings(
    arguments: dict[str, str], at: str, days: tuple[int, ...], sentence: str
) -> None:
    due, _ = open_due()

    assert await said(Alarms(due).set_alarm, **arguments) == sentence
    assert [(item.at, item.days) for item in due.items("alarm")] == [(datetime.fromisoformat(at), days)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"time": "soon"}, 'I do not understand "soon"'),
        ({"time": "tomorrow"}, "At what time shall the alarm ring?"),
        ({"time": "7 am", "day": "today"}, "7:00 today is past; say another time."),
        ({"time": "7", "day": "monday and tuesday"}, 'I do not understand "monday and tuesday"'),
    ],
)
async def test_an_alarm_without_a_clear_time_is_not_set(arguments: dict[str, str], error: str) -> None:
    due, _ = open_due()

    assert error in (await call(Alarms(due).set_alarm, **arguments))["error"]
    assert not due.items()


async def test_a_clock_that_was_never_set_sets_no_alarm() -> None:
    due, _ = open_due(datetime(1970, 1, 1, 0, 3))

    assert await call(Alarms(due).set_alarm, time="7") == {"error": NO_CLOCK}
    assert not due.items()


async def test_an_alarm_that_is_asked_for_twice_rings_once() -> None:
    due, _ = open_due()
    alarms = Alarms(due)
    for time in ("7 am", "7"):
        assert await said(alarms.set_alarm, time=time) == "The alarm is set for 7:00 tomorrow."
    await call(alarms.set_alarm, time="7", name="work")

    assert times(due) == ["Fri 07:00", "Fri 07:00"]


async def test_the_list_tells_the_alarms_in_their_order() -> None:
    alarms, _ = await open_alarms()

    assert await said(alarms.get_alarms) == (
        "There are 4 alarms: 18:00 today, airport, 5:30 tomorrow, every weekday at 7:00 and every Saturday at 9:00."
    )


async def test_without_an_alarm_there_is_none_to_tell_or_to_cancel() -> None:
    due, _ = open_due()

    assert await said(Alarms(due).get_alarms) == "There is no alarm."
    assert await call(Alarms(due).cancel_alarm) == {"error": "There is no alarm."}
    assert await call(Alarms(due).snooze_alarm) == {"error": "No alarm rang within the last hour."}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("airport", "The airport alarm for 5:30 tomorrow is cancelled."),
        ("my airport alarm", "The airport alarm for 5:30 tomorrow is cancelled."),
        ("5:30", "The airport alarm for 5:30 tomorrow is cancelled."),
        ("tomorrow's alarm", "The airport alarm for 5:30 tomorrow is cancelled."),
        ("the 7 am alarm", "The alarm for every weekday at 7:00 is cancelled."),
        ("seven", "The alarm for every weekday at 7:00 is cancelled."),
        ("weekday alarm", "The alarm for every weekday at 7:00 is cancelled."),
        ("the 7 o'clock one on weekdays", "The alarm for every weekday at 7:00 is cancelled."),
        ("saturday", "The alarm for every Saturday at 9:00 is cancelled."),
        ("every saturday", "The alarm for every Saturday at 9:00 is cancelled."),
        ("this evening", "The alarm for 18:00 today is cancelled."),
        ("the next alarm", "The alarm for 18:00 today is cancelled."),
        ("first", "The alarm for 18:00 today is cancelled."),
        ("last", "The alarm for every Saturday at 9:00 is cancelled."),
    ],
)
async def test_an_alarm_is_found_by_its_name_its_time_its_day_or_its_place(words: str, sentence: str) -> None:
    alarms, due = await open_alarms()

    assert await said(alarms.cancel_alarm, alarm=words) == sentence
    assert len(due.items()) == 3


@pytest.mark.parametrize("words", [None, "it", "8 am", "school", "airprot", "monday", "friday at 7", "every day"])
async def test_what_fits_none_or_several_alarms_cancels_nothing(words: str | None) -> None:
    alarms, due = await open_alarms()
    error = (await call(alarms.cancel_alarm, **({} if words is None else {"alarm": words})))["error"]

    assert "There are 4 alarms: 18:00 today, airport, 5:30 tomorrow" in error
    assert len(due.items()) == 4


async def test_all_alarms_of_a_day_are_cancelled_and_no_others() -> None:
    alarms, due = await open_alarms()
    await call(alarms.set_alarm, time="8", day="every weekday")

    assert await said(alarms.cancel_alarm, alarm="all alarms on weekdays") == (
        "The alarm for every weekday at 7:00 and the alarm for every weekday at 8:00 are cancelled."
    )
    assert len(due.items()) == 3


@pytest.mark.parametrize("words", ["all", "all my alarms", "every alarm", "both of them"])
async def test_all_alarms_are_cancelled_at_once_and_both_only_if_there_are_two(words: str) -> None:
    alarms, due = await open_alarms()
    response = await call(alarms.cancel_alarm, alarm=words)

    assert len(due.items()) == (4 if words.startswith("both") else 0)
    assert ("error" in response) is words.startswith("both")


@pytest.mark.parametrize(
    ("duration", "sentence", "again"),
    [
        (None, "The alarm rings again in 9 minutes.", "Fri 07:11"),
        ("five more minutes", "The alarm rings again in 5 minutes.", "Fri 07:07"),
    ],
)
async def test_the_alarm_that_just_rang_rings_again(duration: str | None, sentence: str, again: str) -> None:
    due, board = open_due()
    alarms = await rung(board, due)
    board.go(2 * 60)

    assert await said(alarms.snooze_alarm, **({"duration": duration} if duration else {})) == sentence
    assert times(due) == [again]


async def test_a_snoozed_alarm_is_snoozed_again_with_its_name() -> None:
    due, board = open_due()
    alarms = Alarms(due)
    await call(alarms.set_alarm, time="3 pm", name="nap")
    board.go(53 * 60)
    await due.fire_due()
    for _ in range(3):
        assert await said(alarms.snooze_alarm) == "The nap alarm rings again in 9 minutes."
        board.go(9 * 60)
        await due.fire_due()

    assert not due.items()


async def test_an_alarm_that_is_snoozed_twice_rings_once() -> None:
    due, board = open_due()
    alarms = await rung(board, due)
    await call(alarms.snooze_alarm)
    await call(alarms.snooze_alarm, duration="20 minutes")

    assert times(due) == ["Fri 07:20"]


async def test_an_alarm_that_rang_long_ago_is_not_snoozed() -> None:
    due, board = open_due()
    alarms = await rung(board, due)
    board.go(61 * 60)

    assert await call(alarms.snooze_alarm) == {"error": "No alarm rang within the last hour."}


async def test_to_turn_off_the_alarm_that_rings_keeps_it_for_the_days_to_come() -> None:
    due, board = open_due()
    alarms = await rung(board, due, "every weekday")
    await call(alarms.snooze_alarm)

    assert await said(alarms.cancel_alarm) == "The alarm is off; every weekday at 7:00 stays set."
    assert times(due) == ["Mon 07:00"]
    board.go(11 * 60)
    assert await said(alarms.cancel_alarm) == "The alarm for every weekday at 7:00 is cancelled."
    assert not due.items()


async def test_to_turn_off_the_alarm_that_rings_leaves_the_others_alone() -> None:
    due, board = open_due()
    alarms = await rung(board, due)

    assert await said(alarms.cancel_alarm, alarm="the alarm") == "The alarm is off."
    await call(alarms.set_alarm, time="8")
    await call(alarms.set_alarm, time="9", name="school")
    assert await said(alarms.cancel_alarm) == "The alarm is off; 8:00 today and school, 9:00 today stay set."
    assert times(due) == ["Fri 08:00", "Fri 09:00"]
    assert await said(alarms.cancel_alarm, alarm="8") == "The alarm for 8:00 today is cancelled."


@pytest.mark.parametrize("is_snoozed", [False, True])
async def test_to_turn_off_the_alarm_that_rang_before_a_restart_keeps_it_for_the_days_to_come(
    tmp_path: Path, is_snoozed: bool
) -> None:
    store = SessionStore(tmp_path / "sessions.db")
    board = Board(datetime(2026, 3, 5, 14, 7))
    alarms = await rung(board, DueItems(store, board), "every weekday")
    if is_snoozed:
        await call(alarms.snooze_alarm)
    due = DueItems(store, board)
    board.go(9 * 60 - 1)

    assert (
        await said(Alarms(due).cancel_alarm, alarm="the alarm") == "The alarm is off; every weekday at 7:00 stays set."
    )
    assert times(due) == ["Mon 07:00"]
    store.close()


@pytest.mark.usefixtures("berlin")
async def test_an_alarm_is_snoozed_for_nine_minutes_when_the_clock_goes_back_too() -> None:
    due, board = open_due(datetime(2026, 10, 25, 1))
    alarms = Alarms(due)
    await call(alarms.set_alarm, time="2:51 am")
    board.go(3600 + 51 * 60)
    await due.fire_due()
    await call(alarms.snooze_alarm)

    assert [due.left(item) for item in due.items()] == [9 * 60]
    assert await said(alarms.get_alarms) == "There is 1 alarm: 2:00 today."
    assert await said(alarms.cancel_alarm, alarm="the 2:00 alarm") == "The alarm for 2:00 today is cancelled."


@pytest.mark.usefixtures("berlin")
async def test_an_alarm_that_is_set_in_the_hour_that_comes_a_second_time_rings_in_it() -> None:
    due, board = open_due(datetime(2026, 10, 25, 1))
    board.go(2 * 3600 + 30 * 60)

    assert await said(Alarms(due).set_alarm, time="2:45 am") == "The alarm is set for 2:45 today."
    assert [due.left(item) for item in due.items()] == [15 * 60]


@pytest.mark.parametrize("other", [("tea", "bedroom"), ("", "nursery")])
async def test_to_snooze_one_alarm_leaves_another_that_was_snoozed(other: tuple[str, str]) -> None:
    due, board = open_due()
    for text, room in (("", "bedroom"), other):
        await due.add("alarm", text, at=datetime(2026, 3, 5, 14, 10 + len(due.items())), room=room)
        board.go(4 * 60)
        await due.fire_due()
        await call(Alarms(due).snooze_alarm)

    assert [(item.text, item.room) for item in due.items("alarm")] == [("", "bedroom"), other]


async def test_a_name_without_end_is_refused_and_unseen_letters_are_left_out() -> None:
    due, _ = open_due()
    alarms = Alarms(due)

    assert await call(alarms.set_alarm, time="7", name="x" * 101) == {
        "error": "The alarm's name has 101 characters; at most 100 are taken."
    }
    await call(alarms.set_alarm, time="7", name="na\x1b[31mp\x00\u202e")
    assert [item.text for item in due.items()] == ["nap"]
