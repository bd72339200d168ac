"""Words of names, found by what is like them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.names.likeness import MOST_READINGS, Likeness

NAMES = {"living", "room", "bedroom", "desk", "lamp", "guest", "marple", "marble", "kitchen", "reading"}
NEIGHBOURS = {("living", "room"), ("guest", "room"), ("desk", "lamp"), ("reading", "lamp")}
LIKENESS = Likeness(NAMES, NEIGHBOURS, {"light", "lights", "lamp", "curtains"})
SMALL = {"the", "in", "and"}


def readings(words: str, loosely: bool = False) -> set[str]:
    return {" ".join(reading.tokens) for reading in LIKENESS.readings(words.split(), SMALL, loosely)}


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("kitchn", {"kitchen"}),
        ("kitchn lites", {"kitchen lights"}),
        ("lites in the kichen", {"lights in the kitchen"}),
        ("livng room", {"living room"}),
        ("livng rom", {"living room"}),
        ("livingrom", {"living room"}),
        ("bad room", {"bedroom"}),
        ("bed rum", {"bedroom"}),
        ("gust room", {"guest room"}),
        ("reding lamb", {"reading lamp"}),
        ("marle lamp", {"marple lamp", "marble lamp"}),
        ("kitchen certains", {"kitchen curtains"}),
    ],
)
def test_words_that_are_like_known_ones_are_read_as_these(words: str, read: set[str]) -> None:
    assert readings(words) == read


@pytest.mark.parametrize(
    "words",
    [
        "kitchen lights",  # nothing is wrong with it
        "deck lamp",
        "deck",
        "certains",
        "kitchn swimming",
        "swimming pool",
        "the the",
        "room 101",
        "kitchn bedrom lites readin",  # too much is
    ],
)
def test_words_that_are_known_or_like_none_have_no_reading(words: str) -> None:
    assert not readings(words)


def test_loosely_a_letter_may_be_any() -> None:
    assert readings("deck lamp", loosely=True) == {"desk lamp"}


def test_the_likest_comes_first_and_others_of_an_unknown_word_do_not_come() -> None:
    likeness = Likeness({"conservatory", "conservators"}, set(), ())

    assert [reading.tokens for reading in likeness.readings(["conservatry"], ())] == [["conservatory"]]


@given(st.lists(st.one_of(st.sampled_from(sorted(NAMES)), st.text(max_size=12)), max_size=10))
@settings(deadline=None)
def test_any_words_have_few_readings(tokens: list[str]) -> None:
    found = LIKENESS.readings(tokens, SMALL)

    assert len(found) <= MOST_READINGS
    assert found == sorted(found)


def test_ten_thousand_like_words_cost_no_more_than_a_few() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    many = Likeness({f"lantern{a}{b}{c}" for a in letters for b in letters for c in letters[:15]}, set(), ())
    times = []
    for _ in range(5):
        start = time.perf_counter()
        many.readings(["lanternzq", "lantrnabc", "lanternxxxx"], (), loosely=True)
        times.append(time.perf_counter() - start)

    assert min(times) < 0.02
