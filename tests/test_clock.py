"""The time and the date."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.homes import call, open_due, said
from tools.clock import Clock
from tools.times.moments import NO_CLOCK


def clock_at(*at: int) -> Clock:
    return Clock(open_due(datetime(*at))[0])  # type: ignore[arg-type, misc]


async def test_the_time_is_told() -> None:
    clock = clock_at(2026, 3, 5, 14, 7)

    assert await call(clock.get_time) == {"time": "14:07"}
    assert await said(clock.get_time) == "It's 14:07."


async def test_an_hour_before_ten_has_one_digit() -> None:
    assert await said(clock_at(2026, 3, 5, 7, 5).get_time) == "It's 7:05."
    assert await said(clock_at(2026, 3, 5).get_time) == "It's 0:00."


async def test_the_date_is_told_with_its_day() -> None:
    clock = clock_at(2026, 3, 5)

    assert await call(clock.get_date) == {"date": "2026-03-05", "weekday": "Thursday"}
    assert await said(clock.get_date) == "It's Thursday, March 5, 2026."


async def test_a_clock_that_was_never_set_tells_nothing_wrong() -> None:
    clock = clock_at(1970, 1, 1, 0, 3)

    assert await call(clock.get_time) == {"error": NO_CLOCK}
    assert await call(clock.get_date) == {"error": NO_CLOCK}


async def test_a_clock_by_which_no_alarm_rings_tells_no_time_either() -> None:
    """It starts at the date of its image, long before what was kept."""
    due, board = open_due(datetime(2026, 3, 5, 14, 7))
    await due.add("alarm", at=due.now() + timedelta(hours=1))
    due._entries[due.items()[0].id].wall = board.wall()
    board.set(datetime(2025, 6, 1), synchronized=False)

    assert not due.clock_is_set
    assert await call(Clock(due).get_time) == {"error": NO_CLOCK}
