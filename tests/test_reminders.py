"""Reminders."""

from __future__ import annotations

from datetime import datetime

import pytest

from agent.due import DueItems
from tests.homes import call, open_due, said
from tools.reminders import Reminders


async def open_reminders() -> tuple[Reminders, DueItems]:
    """Four reminders, in the order in which they are due."""
    due, _ = open_due()
    reminders = Reminders(due)
    await call(reminders.add_reminder, text="check the oven", delay="20 minutes")
    await call(reminders.add_reminder, text="call grandma", time="6 pm")
    await call(reminders.add_reminder, text="Call the dentist", time="10 am", day="tomorrow")
    await call(reminders.add_reminder, text="put the bins out", time="7 pm", day="every monday")
    return reminders, due


def texts(due: DueItems) -> list[str]:
    return [item.text for item in due.items("reminder")]


@pytest.mark.parametrize(
    ("arguments", "at", "sentence"),
    [
        ({"time": "7"}, "2026-03-05 19:00", "I will remind you at 19:00 today: call grandma."),
        ({"time": "7 am"}, "2026-03-06 07:00", "I will remind you at 7:00 tomorrow: call grandma."),
        ({"time": "3", "day": "friday"}, "2026-03-06 15:00", "I will remind you at 15:00 tomorrow: call grandma."),
        ({"day": "tomorrow"}, "2026-03-06 09:00", "I will remind you at 9:00 tomorrow: call grandma."),
        ({"day": "monday evening"}, "2026-03-09 19:00", "I will remind you at 19:00 on Monday: call grandma."),
        ({"day": "tomorrow at 8"}, "2026-03-06 08:00", "I will remind you at 8:00 tomorrow: call grandma."),
        ({"time": "8 pm", "day": "every sunday"}, "2026-03-08 20:00",
         "I will remind you every Sunday at 20:00: call grandma."),
    ],
)  # fmt: skip
async def test_a_reminder_is_kept_for_a_time_or_a_day(arguments: dict[str, str], at: str, sentence: str) -> None:
    due, _ = open_due()

    assert await said(Reminders(due).add_reminder, text="call grandma", **arguments) == sentence
    assert [(item.text, item.at) for item in due.items()] == [("call grandma", datetime.fromisoformat(at))]


async def test_a_reminder_is_kept_for_after_a_while_by_a_clock_that_nobody_sets() -> None:
    due, _ = open_due(datetime(1970, 1, 2, 3, 4))
    reminders = Reminders(due)

    assert await said(reminders.add_reminder, text="Check the oven", delay="half an hour") == (
        "I will remind you in 30 minutes: Check the oven."
    )
    assert [(item.text, item.seconds) for item in due.items()] == [("Check the oven", 1800)]
    assert "has not been set" in (await call(reminders.add_reminder, text="call", time="7"))["error"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "When shall I remind you?"),
        ({"text": ""}, "What shall I remind you of?"),
        ({"day": "today"}, "9:00 today is past; say another time."),
        ({"time": "2 pm", "day": "today"}, "14:00 today is past; say another time."),
        ({"time": "7", "delay": "1 hour"}, "Say either after how long or at what time."),
        ({"time": "soon"}, 'I do not understand "soon"'),
        ({"day": "someday"}, 'I do not understand "someday"'),
        ({"delay": "a bit"}, 'I do not understand "a bit"'),
    ],
)
async def test_without_knowing_when_nothing_is_kept(arguments: dict[str, str], error: str) -> None:
    due, _ = open_due()
    response = await call(Reminders(due).add_reminder, **{"text": "call grandma", **arguments})

    assert error in response["error"]
    assert not due.items()


async def test_the_list_tells_what_and_when() -> None:
    reminders, _ = await open_reminders()

    assert await said(reminders.get_reminders) == (
        "There are 4 reminders: check the oven in 20 minutes, call grandma at 18:00 today, Call the dentist at 10:00"
        " tomorrow and put the bins out every Monday at 19:00."
    )


async def test_without_a_reminder_there_is_none_to_tell_or_to_cancel() -> None:
    due, _ = open_due()

    assert await said(Reminders(due).get_reminders) == "There is no reminder."
    assert await call(Reminders(due).cancel_reminder) == {"error": "There is no reminder."}


@pytest.mark.parametrize(
    ("words", "cancelled"),
    [
        ("check the oven", "check the oven"),
        ("the oven", "check the oven"),
        ("the dentist reminder", "Call the dentist"),
        ("GRANDMA", "call grandma"),
        ("6 pm", "call grandma"),
        ("tomorrow", "Call the dentist"),
        ("the one tomorrow at 10", "Call the dentist"),
        ("every monday", "put the bins out"),
        ("monday", "put the bins out"),
        ("last", "put the bins out"),
        ("first", "check the oven"),
    ],
)
async def test_a_reminder_is_found_by_its_words_its_time_or_its_place(words: str, cancelled: str) -> None:
    reminders, due = await open_reminders()

    assert await said(reminders.cancel_reminder, reminder=words) == f'The reminder "{cancelled}" is cancelled.'
    assert len(texts(due)) == 3
    assert cancelled not in texts(due)


@pytest.mark.parametrize("words", ["call", "the ovne", "pizza", "friday at 11", None])
async def test_what_fits_none_or_several_reminders_cancels_nothing(words: str | None) -> None:
    reminders, due = await open_reminders()
    error = (await call(reminders.cancel_reminder, **({} if words is None else {"reminder": words})))["error"]

    assert "call grandma at 18:00 today" in error
    assert len(texts(due)) == 4


async def test_all_reminders_are_cancelled_at_once() -> None:
    reminders, due = await open_reminders()
    sentence = await said(reminders.cancel_reminder, reminder="all of my reminders")

    assert sentence.startswith(
        'The reminders "check the oven", "call grandma", "Call the dentist" and "put the bins out"'
    )
    assert not due.items()


async def test_a_reminder_without_end_is_refused_and_unseen_letters_are_left_out() -> None:
    due, _ = open_due()
    reminders = Reminders(due)

    assert await call(reminders.add_reminder, text="x" * 501, delay="1 hour") == {
        "error": "The reminder has 501 characters; at most 500 are taken."
    }
    await call(reminders.add_reminder, text="call\x1b[2J grandma\x00\u202e", delay="1 hour")
    assert [item.text for item in due.items()] == ["call grandma"]
