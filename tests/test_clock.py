"""The time and the date."""

from __future__ import annotations

from datetime import datetime

from tests.homes import call, said
from tools.clock import Clock

CLOCK = Clock(lambda: datetime(2026, 3, 5, 14, 7))
NEVER_SET = Clock(lambda: datetime(1970, 1, 1, 0, 3))


async def test_the_time_is_told() -> None:
    assert await call(CLOCK.get_time) == {"time": "14:07"}
    assert await said(CLOCK.get_time) == "It's 14:07."


async def test_an_hour_before_ten_has_one_digit() -> None:
    assert await said(Clock(lambda: datetime(2026, 3, 5, 7, 5)).get_time) == "It's 7:05."
    assert await said(Clock(lambda: datetime(2026, 3, 5)).get_time) == "It's 0:00."


async def test_the_date_is_told_with_its_day() -> None:
    assert await call(CLOCK.get_date) == {"date": "2026-03-05", "weekday": "Thursday"}
    assert await said(CLOCK.get_date) == "It's Thursday, March 5, 2026."


async def test_a_clock_that_was_never_set_tells_nothing_wrong() -> None:
    assert "has not been set" in (await call(NEVER_SET.get_time))["error"]
    assert "has not been set" in (await call(NEVER_SET.get_date))["error"]
