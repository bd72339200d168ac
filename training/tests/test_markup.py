"""The markup of hand-written sentences."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training import markup

VALUES = {"room": "living room", "level": "80%"}


def expand(pattern: str, seed: int = 0) -> markup.Sentence:
    """One sentence with fixed values."""
    return markup.expand(pattern, random.Random(seed), lambda name, words: VALUES.get(words or name, name))


def test_a_slot_is_filled_and_labelled() -> None:
    """The span is exactly the words put in."""
    sentence = expand("turn on the {room} lights to {level}")

    assert sentence.text == "turn on the living room lights to 80%"
    assert [sentence.text[a:b] for a, b in sentence.spans["room"]] == ["living room"]


def test_a_member_is_labelled_and_its_words_are_there() -> None:
    """An enum member need not be said by its name."""
    sentence = expand("what's it like {unit=celsius:in degrees C}")

    assert sentence.members == {"unit": "celsius"}
    assert sentence.text == "what's it like in degrees C"


@given(st.integers(0, 1000))
def test_labels_hold_whatever_alternative_is_drawn(seed: int) -> None:
    """Alternatives move the words, and the labels with them."""
    sentence = expand("(please|could you|) ( set|) the {room}(,|) (to {level}|)", seed)

    assert "  " not in sentence.text
    for name, places in sentence.spans.items():
        assert all(sentence.text[a:b] == VALUES[name] for a, b in places)


@pytest.mark.parametrize("pattern", ["turn on {room", "a (b|(c|d)) e", "{room} | x"])
def test_markup_that_would_be_misread_is_refused(pattern: str) -> None:
    """By its text."""
    with pytest.raises(ValueError, match="markup not understood"):
        markup.check(pattern)
