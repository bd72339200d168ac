"""Spoken names, colours and whites."""

from __future__ import annotations

import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ArgumentError
from tools.colors import color_name, parse_color
from tools.names.words import fold, name_key, without_determiner


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Küche", "kuche"),
        ("Küche", "KÜCHE"),
        (unicodedata.normalize("NFD", "Küche"), unicodedata.normalize("NFC", "küche")),
        ("Büro", "buro"),
        ("Straße", "strasse"),
        ("Søren's room", "sorens room"),
        ("the Living Room", "livingroom"),
        ("bed-room", "bedroom"),
        ("Mom & Dad's", "mom and dads"),
        ("kids’ room", "kids room"),
        ("lamp two", "Lamp 2"),
        ("my office", "office"),
        ("STRAẞE", "strasse"),
        ("Smørrebrød", "smorrebrod"),
        ("Łódź", "lodz"),
        ("Ħal Għaxaq", "hal ghaxaq"),
        ("Œuvre", "oeuvre"),
        ("İstanbul", "istanbul"),
        ("ﬁreplace", "fireplace"),
        ("kid`s room", "kids room"),
        ("kid´s room", "kids room"),
        ("living_room", "living room"),
        ("T.V.", "TV"),
        ("the T V", "TV"),
        ("A/C", "AC"),
        ("a c", "A.C."),
    ],
)
def test_names_that_sound_the_same_are_equal(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("lamp 1", "lamp 2"), ("lamp a", "lamp"), ("hall", "hill"), ("lamp a", "lamp c")]
)
def test_names_that_differ_are_not_equal(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(st.text(max_size=40))
def test_folding_any_text_twice_changes_nothing_more(text: str) -> None:
    assert fold(" ".join(fold(text))) == fold(text)


@given(st.text(max_size=40), st.sampled_from(["NFC", "NFD"]))
def test_folding_is_the_same_for_composed_and_decomposed_letters(text: str, form: str) -> None:
    assert fold(unicodedata.normalize(form, text)) == fold(text)


def test_a_list_has_one_and_between_two_things() -> None:
    assert fold("the kitchen, the hall, and the office") == fold("the kitchen and the hall and the office")


def test_only_leading_determiners_are_dropped() -> None:
    assert without_determiner(["the", "my", "lamp", "a"]) == ["lamp", "a"]


@pytest.mark.parametrize(
    ("text", "name", "kelvin"),
    [
        ("red", "red", None),
        ("Light Blue", "light blue", None),
        ("the colour green", "green", None),
        ("warm white", "warm white", 2700),
        ("a cool white", "cool white", 4000),
        ("candle light", "candlelight", 1900),
        ("daylight", "daylight", 6500),
        ("2700 K", "2700 kelvin", 2700),
        ("3100", "3100 kelvin", 3100),
        ("twenty two hundred", "2200 kelvin", 2200),
        ("color temperature daylight", "daylight", 6500),
        ("green light", "green", None),
        ("2700K", "2700 kelvin", 2700),
        ("4000 kelvin", "4000 kelvin", 4000),
        ("twenty seven hundred kelvin", "2700 kelvin", 2700),
        ("three thousand kelvin", "3000 kelvin", 3000),
    ],
)
def test_a_colour_is_read_from_a_persons_words(text: str, name: str, kelvin: int | None) -> None:
    color = parse_color(text)

    assert (color.name, color.kelvin) == (name, kelvin)


@pytest.mark.parametrize("text", ["mauvish", "", "the", "100 K", "99999 kelvin", "kelvin", "K"])
def test_an_unknown_colour_is_refused_with_some_that_are_known(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"not a colour I know; try red|is no white; allowed are 1000 to 10000"):
        parse_color(text)


@given(st.text(max_size=30))
def test_any_words_are_a_colour_or_are_refused(text: str) -> None:
    with suppress(ArgumentError):
        assert parse_color(text).name


@pytest.mark.parametrize(("rgb", "name"), [((250, 5, 5), "red"), ((0, 0, 250), "blue"), ((255, 255, 255), "white")])
def test_a_reported_colour_is_called_by_the_nearest_name(rgb: tuple[int, int, int], name: str) -> None:
    assert color_name(rgb) == name
