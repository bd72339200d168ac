"""The clocks of a board, and the time on the wall of a house."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.due.clocks import SystemClocks, local_time, unix_time

Zone = Callable[[str], None]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("name", "at", "shown"),
    [
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 59), datetime(2026, 3, 29, 1, 59)),
        ("Europe/Berlin", datetime(2026, 3, 29, 2, 0), datetime(2026, 3, 29, 3, 0)),
        ("Europe/Berlin", datetime(2026, 3, 29, 2, 30), datetime(2026, 3, 29, 3, 0)),
        ("Europe/Berlin", datetime(2026, 3, 29, 3, 0), datetime(2026, 3, 29, 3, 0)),
        ("America/New_York", datetime(2026, 3, 8, 2, 1), datetime(2026, 3, 8, 3, 0)),
        ("Australia/Lord_Howe", datetime(2026, 10, 4, 2, 10), datetime(2026, 10, 4, 2, 30)),  # half an hour only
        ("Pacific/Apia", datetime(2011, 12, 30, 12, 0), datetime(2011, 12, 31, 0, 0)),  # a whole day
    ],
)
def test_a_time_that_is_left_out_is_the_next_that_there_is(
    zone: Zone, name: str, at: datetime, shown: datetime
) -> None:
    zone(name)
    unix = unix_time(at)

    assert local_time(unix) == shown
    assert local_time(unix - 1) < at


def test_a_time_that_comes_twice_is_the_first_unless_the_second_is_meant(zone: Zone) -> None:
    zone("Europe/Berlin")
    first = unix_time(datetime(2026, 10, 25, 2, 30))

    assert local_time(first + 3600) == local_time(first) == datetime(2026, 10, 25, 2, 30)
    assert unix_time(datetime(2026, 10, 25, 2, 30, fold=1)) == first + 3600


ZONES = ["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(ZONES),
    st.datetimes(datetime(2025, 1, 1), datetime(2037, 1, 1)).map(lambda at: at.replace(microsecond=0)),
)
def test_the_clock_on_the_wall_first_shows_a_time_then(zone: Zone, name: str, at: datetime) -> None:
    zone(name)
    unix = unix_time(at)

    assert at <= local_time(unix) <= at + timedelta(hours=1)
    assert local_time(unix - 1) < at


def test_the_clocks_of_this_machine_go_on() -> None:
    one, other = SystemClocks(), SystemClocks()
    begin = one.countdown()

    assert one.boot == other.boot != ""
    assert one.countdown() >= begin > 0
    assert abs(one.wall() - time.time()) < 60
