"""Numbers as people say them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.numbers import LARGEST, SHARES, SMALLEST, parse_number

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("80%", 80),
        ("80 percent", 80),
        ("eighty percent", 80),
        ("twenty-one degrees", 21),
        ("Twenty One", 21),
        ("a hundred", 100),
        ("one hundred", 100),
        ("five hundred and ten", 510),
        ("two thousand", 2000),
        ("21.5", 21.5),
        ("21,5", 21.5),
        ("2,700 kelvin", 2700),
        ("1,234,567.5", 1_234_567.5),
        ("twenty one point five", 21.5),
        ("zero point five", 0.5),
        ("one and a half", 1.5),
        ("-5", -5),
        ("minus five degrees", -5),
        ("zero", 0),
    ],
)
def test_digits_and_words_are_the_same_number(text: str, number: float) -> None:
    """A number is read however it is said."""
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("half", 50), ("a quarter", 25), ("three quarters", 75), ("max", 100), ("full", 100), ("minimum", 0)],
)
def test_closed_expressions_mean_a_share_of_the_declared_range(text: str, number: float) -> None:
    """ "half" of 0 to 100 is 50, and means nothing where no range is declared."""
    assert parse_number(text, 0, 100) == number
    assert parse_number(text) is None


def test_the_least_of_a_range_may_be_more_than_its_lower_end() -> None:
    """A lamp that is to be as dim as it goes is on, and 0 percent is off."""
    assert parse_number("the minimum", 0, 100, 1) == 1
    assert parse_number("0", 0, 100, 1) == 0
    assert parse_number("half", 0, 100, 1) == 50


@pytest.mark.parametrize(("text", "number"), [("low", 25), ("medium", 50), ("high", 100), ("highest", 100)])
def test_steps_of_a_fan_mean_a_share_of_the_range(text: str, number: float) -> None:
    """Also of a lamp's brightness and of a volume."""
    assert parse_number(text, 0, 100) == number


def test_half_a_degree_is_half_and_no_share_of_the_range() -> None:
    """Ten degrees warmer is not what was asked for."""
    assert parse_number("half a degree", 0.5, 20) == 0.5


def test_half_of_a_range_that_begins_at_one_is_half_of_all() -> None:
    """Half brightness of 1 to 100 is 50, not 50.5."""
    assert parse_number("half", 1, 100) == 50


@pytest.mark.parametrize("text", ["kitchen", "", "twenty to thirty", "5 or 6", "a bit", "-", "%", "9" * 400])
def test_no_number_or_two_are_none(text: str) -> None:
    """What is not one number is not guessed at."""
    assert parse_number(text, 0, 100) is None


@given(st.integers(0, 999_999))
def test_every_whole_number_is_read_back_from_its_digits(number: int) -> None:
    """Digits are digits."""
    assert parse_number(str(number)) == number


@given(st.text(max_size=40))
def test_any_text_is_a_number_or_none_and_never_an_error(text: str) -> None:
    """Whatever stands in a span, reading it is safe."""
    number = parse_number(text, 0, 100)

    assert number is None or isinstance(number, (int, float))


def test_the_expressions_of_the_documentation_are_those_that_are_read() -> None:
    """The closed list of docs/words.md."""
    page = (Path(__file__).parent.parent / "docs" / "words.md").read_text("utf-8")
    table = page.split("| words | of 0 to 100 |\n|---|---|\n")[1].split("\n\n")[0]
    read, described = [], []
    for row in table.splitlines():
        phrases, numbers = re.findall(r"`([^`]+)`", row), [int(number) for number in re.findall(r"\d+", row)]
        read += [(phrase, parse_number(phrase, 0, 100)) for phrase in phrases]
        described += list(zip(phrases, numbers * (len(phrases) if len(numbers) == 1 else 1), strict=True))

    assert read == described
    assert {phrase.split()[-1] for phrase, _ in read} == {*SHARES, *LARGEST, *SMALLEST}
