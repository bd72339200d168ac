"""How far a slip it is to say one word for another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.names.slips import alike, distance, slip, sound

WORDS = st.text("abcdefghiklmnoprstuwyz", min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("lamp", "lamp", 0),
        ("lamp", "lap", 1),
        ("lamp", "lamps", 1),
        ("lamp", "limp", 1),
        ("lamp", "lmap", 1),
        ("kitchen", "kithcen", 1),
        ("kitchen", "ktchne", 2),
        ("hall", "office", 3),
        ("", "ab", 2),
    ],
)
def test_distance_counts_letters_that_are_missing_extra_other_or_swapped(one: str, other: str, apart: int) -> None:
    assert distance(one, other, 2) == distance(other, one, 2) == apart


@given(WORDS, WORDS)
@settings(deadline=None)
def test_distance_is_none_of_equal_words_and_more_than_asked_for_at_most_by_one(one: str, other: str) -> None:
    assert (distance(one, other, 2) == 0) == (one == other)
    assert distance(one, other, 2) == distance(other, one, 2) <= 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("light", "lite"),
        ("lights", "lites"),
        ("night", "nite"),
        ("kitchen", "kichen"),
        ("office", "ofice"),
        ("office", "offis"),
        ("lamp", "lamb"),
        ("ceiling", "sealing"),
        ("cellar", "seller"),
        ("bedroom", "bedrum"),
        ("reading", "reding"),
        ("toilet", "toylet"),
        ("phone", "fone"),
        ("knight", "night"),
        ("garage", "garaj"),
        ("stairs", "stares"),
    ],
)
def test_words_that_are_spoken_alike_have_one_sound(one: str, other: str) -> None:
    assert sound(one) == sound(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hall", "hell"),
        ("hall", "hail"),
        ("hall", "holly"),
        ("hall", "half"),
        ("desk", "deck"),
        ("desk", "disk"),
        ("stairs", "stars"),
        ("lounge", "lunge"),
        ("study", "studio"),
        ("bath", "both"),
        ("lights", "lightning"),
        ("garden", "guardian"),
        ("yard", "eared"),
    ],
)
def test_words_that_are_not_spoken_alike_have_another_sound(one: str, other: str) -> None:
    assert sound(one) != sound(other)


@pytest.mark.parametrize(
    ("heard", "word", "cost"),
    [
        ("kitchn", "kitchen", 1),
        ("kithcen", "kitchen", 1),
        ("kitcheen", "kitchen", 1),
        ("bedrom", "bedroom", 1),
        ("bedoom", "bedroom", 1),
        ("hal", "hall", 1),
        ("halll", "hall", 1),
        ("printers", "printer", 1),
        ("stair", "stairs", 1),
        ("televsion", "television", 1),
        ("thermstat", "thermostat", 1),
        ("dishwaher", "dishwasher", 1),
        ("washmachin", "washmachine", 1),
        ("conservatry", "conservatory", 1),
        ("consevatry", "conservatory", 2),
    ],
)
def test_a_slip_of_fingers_or_ears_is_believed(heard: str, word: str, cost: int) -> None:
    assert slip(heard, word) == cost


@pytest.mark.parametrize(
    ("heard", "word"),
    [
        ("deck", "desk"),
        ("garbage", "garage"),
        ("officer", "office"),
        ("painter", "printer"),
        ("collar", "cellar"),
        ("sturdy", "study"),
        ("lending", "landing"),
        ("loving", "living"),
        ("ballroom", "bathroom"),
        ("worship", "workshop"),
        ("red", "bed"),
        ("call", "hall"),
        ("mountain", "fountain"),
        ("en", "den"),
        ("heat", "hall"),
        ("x" * 30, "x" * 30 + "y"),
    ],
)
def test_another_word_of_english_is_no_slip(heard: str, word: str) -> None:
    assert slip(heard, word) is None


@pytest.mark.parametrize(("heard", "word"), [("livng", "living"), ("loving", "living"), ("guess", "guest")])
def test_any_letter_may_be_wrong_beside_a_word_of_the_same_name(heard: str, word: str) -> None:
    assert slip(heard, word, beside=True) == 1


@pytest.mark.parametrize(("heard", "word"), [("deck", "desk"), ("garbage", "garage"), ("frond", "front")])
def test_what_is_not_believed_can_be_asked_about(heard: str, word: str) -> None:
    assert slip(heard, word) is None
    assert slip(heard, word, loosely=True) == 1
    assert slip("heat", "hall", loosely=True) is None


@given(st.text(max_size=20), st.text(max_size=20))
@settings(deadline=None)
def test_any_two_words_are_compared(one: str, other: str) -> None:
    assert slip(one, other) in (None, 1, 2)
    assert isinstance(sound(one), str)


@pytest.mark.parametrize(
    ("said", "names", "likest"),
    [
        ("egg", ["eggs", "milk"], ["eggs"]),
        ("movienite", ["movienight", "party"], ["movienight"]),
        ("rainbw", ["candle", "rainbow"], ["rainbow"]),
        ("beans", ["beams"], []),  # of short words one letter makes another
    ],
)
def test_names_that_are_spelt_alike_are_found(said: str, names: list[str], likest: list[str]) -> None:
    assert alike(said, names) == likest
