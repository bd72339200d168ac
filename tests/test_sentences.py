"""The sentences that a house is talked to with, and how their words sound."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.channels.voice.pronounce import arpabet, pronounce, read_dictionary
from agent.channels.voice.sentences import sentences, spoken
from agent.numbers import parse_number
from tools.house import declarations

NAMES = ("kitchen", "mom & dad's room", "Küche", "reading lamp", "lamp 2", "garage door")
DRINK = {
    "name": "order_drink",
    "description": "Orders a drink.",
    "parameters": {
        "type": "object",
        "properties": {
            "drink": {"type": "string", "enum": ["espresso", "hot_chocolate"]},
            "room": {"type": "string", "format": "place"},
            "cups": {"type": "integer", "minimum": 1, "maximum": 4},
        },
    },
}


def test_every_name_of_the_house_is_said():
    """Rooms with their lights, lamps as they are."""
    said = sentences([], NAMES)

    assert {
        "turn on the kitchen light",
        "turn off the mom and dad's room lights",
        "is the küche on",
        "turn the reading lamp off",
        "turn on the lamp two",
    } <= set(said)
    assert "turn on the reading lamp light" not in said


def test_every_number_to_a_hundred_is_said():
    """In the words that arguments are read from."""
    said = "\n".join(sentences([], NAMES))
    heard = {parse_number(words) for words in re.findall(r"to ([a-z ]+) percent", said)}

    assert set(range(101)) <= heard


def test_a_tool_of_the_user_is_said_by_its_declaration():
    """With what its parameters allow, and the house's names."""
    said = set(sentences([DRINK], NAMES))

    assert {"order drink", "order the drink", "orders a drink", "order the drink hot chocolate"} <= said
    assert any(re.fullmatch(r"order drink in the \w+.*", sentence) for sentence in said)
    assert any(parse_number(sentence) is not None for sentence in said if "cups" in sentence)


def test_a_name_of_a_thing_is_said_after_what_is_done_to_it() -> None:
    """Locks, robots and scenes are called by their names, and not by a room."""
    declared = [tool.to_json() for tool in declarations() if tool.name in ("unlock_door", "dock_vacuum", "run_script")]
    said = set(sentences(declared, ["Robbie", "cinema"]))

    assert {"dock robbie", "unlock the robbie", "dock vacuum robbie", "run cinema", "run script cinema"} <= said


def test_the_same_house_has_the_same_sentences():
    """In the same order, each once: the language model is kept under their hash."""
    said = sentences([DRINK], NAMES)

    assert said == sentences([DRINK], NAMES)
    assert len(said) == len(set(said))


def test_a_house_without_names_still_hears_what_is_said_to_any_house():
    """And no sentence has an open gap."""
    said = sentences([], [])

    assert {"what time is it", "turn off all the lights", "what's the weather in london"} <= set(said)
    assert not any("{" in sentence for sentence in said)


@pytest.mark.parametrize(
    "text, words",
    [
        ("TV", "tv"),
        ("Mom & Dad’s", "mom and dad's"),
        ("wi-fi plug", "wi fi plug"),
        ("lamp 2", "lamp two"),
        ("LED 42 B", "led forty two b"),
        ("2700 K", "two thousand seven hundred k"),
        ("100%", "one hundred percent"),
        ("12345", "one two three four five"),
        ("Straße", "strasse"),
        ("!?", ""),
    ],
)
def test_a_text_is_said_in_words(text, words):
    """Lower case, without digits and signs."""
    assert spoken(text) == words


@given(st.text(max_size=40))
def test_any_name_makes_clean_words(name):
    """Whatever a settings file calls a lamp, a language model can be made of it."""
    words = spoken(name)

    assert spoken(words) == words
    assert re.fullmatch(r"(\S+( \S+)*)?", words)


@given(st.integers(0, 9999))
def test_a_number_in_words_is_read_back(number):
    """By the one place that reads numbers."""
    assert parse_number(spoken(str(number))) == number


def test_the_dictionary_gives_all_pronunciations_of_a_word(tmp_path):
    """And none of another one."""
    (tmp_path / "some.dict").write_text("the DH AH\nthe(2) DH IY\nthem DH EH M\ntea T IY\n")

    assert read_dictionary(tmp_path / "some.dict", {"the", "tea"}) == {
        "the": ["DH AH", "DH IY"],
        "tea": ["T IY"],
    }


@pytest.mark.parametrize(
    "word, phones",
    [
        ("zigbee", "Z IH G B IY"),
        ("küche", "K UW CH"),
        ("thermomix", "TH ER M AH M IH K S"),
        ("büro", "B UW R OW"),
    ],
)
def test_a_word_that_no_dictionary_has_is_pronounced_by_rule(word, phones):
    """As espeak-ng would say it."""
    assert pronounce(word) == phones


def test_a_sound_that_english_lacks_is_no_pronunciation():
    """Better never heard than heard as something else."""
    assert arpabet("k ˈɪ ǃ ə n") is None
    assert arpabet("") is None
