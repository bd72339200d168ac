"""Lengths of time in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.due.durations import UNITS, rough_duration, spoken_duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (-5, "0 seconds"),
        (1, "1 second"),
        (59.6, "1 minute"),
        (61, "1 minute and 1 second"),
        (300, "5 minutes"),
        (5400, "1 hour and 30 minutes"),
        (7265, "2 hours, 1 minute and 5 seconds"),
        (90061, "1 day, 1 hour, 1 minute and 1 second"),
    ],
)
def test_a_length_of_time_is_spoken_to_the_second(seconds: float, words: str) -> None:
    assert spoken_duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (59.4, "59 seconds"),
        (59.6, "1 minute"),
        (89, "1 minute"),
        (660, "11 minutes"),
        (7265, "2 hours and 1 minute"),
        (86399, "1 day"),
        (200000, "2 days and 8 hours"),
    ],
)
def test_how_long_ago_is_spoken_as_one_would_say_it(seconds: float, words: str) -> None:
    assert rough_duration(seconds) == words


@given(st.integers(1, 10**7))
def test_what_is_spoken_adds_up(seconds: int) -> None:
    lengths = {name: length for unit, length in UNITS for name in (unit, f"{unit}s")}
    words = spoken_duration(seconds).replace(",", "").replace(" and", "").split()

    assert sum(int(count) * lengths[unit] for count, unit in zip(words[::2], words[1::2], strict=True)) == seconds
