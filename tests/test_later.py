"""Commands for later."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.homes import call, open_due, said
from tools.later import Later

LIGHTS = "turn off the lights"


async def test_a_command_is_kept_for_after_a_while() -> None:
    due, _ = open_due()

    assert await said(Later(due).do_later, command=LIGHTS, delay="ten minutes") == "In 10 minutes: turn off the lights."
    (item,) = due.items()
    assert (item.kind, item.text, item.seconds) == ("command", LIGHTS, 600)


@pytest.mark.parametrize(
    ("time", "at", "sentence"),
    [
        ("10", "2026-03-05 22:00", "At 22:00 today: turn off the lights."),
        ("7 am", "2026-03-06 07:00", "At 7:00 tomorrow: turn off the lights."),
        ("tomorrow at 7", "2026-03-06 07:00", "At 7:00 tomorrow: turn off the lights."),
        ("every day at 11 pm", "2026-03-05 23:00", "Every day at 23:00: turn off the lights."),
    ],
)
async def test_a_command_is_kept_for_a_time_of_day(time: str, at: str, sentence: str) -> None:
    due, _ = open_due()

    assert await said(Later(due).do_later, command=LIGHTS, time=time) == sentence
    assert [item.at for item in due.items()] == [datetime.fromisoformat(at)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "When?"),
        ({"time": "tomorrow"}, "When?"),
        ({"delay": "a while"}, 'I do not understand "a while" as a length of time'),
        ({"time": "soon"}, 'I do not understand "soon" as a time'),
        ({"delay": "5 minutes", "time": "7"}, "Say either after how long or at what time."),
        ({"command": " ", "delay": "5 minutes"}, "What shall I do then?"),
        (
            {"command": "turn it off", "delay": "5 minutes"},
            'Say what by its name: what "it" is may have changed by then.',
        ),
        ({"command": "Dim that.", "delay": "5 minutes"}, 'what "that" is'),
        ({"command": "turn them all off again", "delay": "5 minutes"}, 'what "them" is'),
        ({"command": "turn that one off", "delay": "5 minutes"}, 'what "that one" is'),
    ],
)
async def test_without_knowing_what_and_when_nothing_is_kept(arguments: dict[str, str], error: str) -> None:
    due, _ = open_due()
    response = await call(Later(due).do_later, **{"command": LIGHTS, **arguments})

    assert error in response["error"]
    assert not due.items()


@pytest.mark.parametrize(
    "command",
    [
        "turn off the hall light and turn it on again", "make it warmer in here", "announce that dinner is ready",
        "say it's late", "announce it is late", "turn on all lights and dim them", "turn off that lamp",
    ],
)  # fmt: skip
async def test_a_word_beside_a_name_or_for_nothing_is_no_riddle(command: str) -> None:
    due, _ = open_due()

    assert "error" not in await call(Later(due).do_later, command=command, delay="5 minutes")


async def test_a_clock_that_was_never_set_has_no_times_of_day_but_counts() -> None:
    due, _ = open_due(datetime(1970, 1, 2, 3, 4))
    later = Later(due)

    assert "has not been set" in (await call(later.do_later, command=LIGHTS, time="7 am"))["error"]
    assert await said(later.do_later, command=LIGHTS, delay="1 hour") == "In 1 hour: turn off the lights."


async def test_a_command_without_end_is_refused_and_unseen_letters_are_left_out() -> None:
    due, _ = open_due()
    later = Later(due)

    assert await call(later.do_later, command="x" * 2001, delay="1 hour") == {
        "error": "The command has 2001 characters; at most 2000 are taken."
    }
    await call(later.do_later, command="turn\x1b[2J off\x00 the lights\u202e", delay="1 hour")
    assert [item.text for item in due.items()] == [LIGHTS]
