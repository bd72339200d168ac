"""Text to pieces and back to the user's own letters."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.tflite import FILES
from agent.model.tokenizer import Tokenizer, fold


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The one that ships."""
    return Tokenizer(FILES / "tokenizer.model")


def test_folding_drops_case_and_accents_and_keeps_the_way_back() -> None:
    """Each folded letter knows the letter it came from."""
    folded, offsets = fold("KÜCHE Straße")

    assert folded == "kuche strasse"
    assert "KÜCHE Straße"[offsets[1]] == "Ü"
    assert len(folded) == len(offsets)


def test_composed_and_decomposed_letters_have_the_same_pieces(tokenizer: Tokenizer) -> None:
    """NFC and NFD of one word are one word."""
    composed, decomposed = (unicodedata.normalize(form, "Küche") for form in ("NFC", "NFD"))

    assert [word.pieces for word in tokenizer.words(composed)] == [word.pieces for word in tokenizer.words(decomposed)]


def test_a_word_spans_its_combining_marks(tokenizer: Tokenizer) -> None:
    """A span copied from decomposed text does not lose its last accent."""
    text = unicodedata.normalize("NFD", "café")

    (word,) = tokenizer.words(text)

    assert text[word.start : word.end] == text


def test_digits_and_units_are_words_of_their_own(tokenizer: Tokenizer) -> None:
    """ "80%" can be pointed at as 80, and "5pm" as 5."""
    text = "80% at 5pm"

    assert [text[word.start : word.end] for word in tokenizer.words(text)] == ["80", "%", "at", "5", "pm"]


def test_other_scripts_fall_back_to_bytes(tokenizer: Tokenizer) -> None:
    """Nothing is unknown."""
    assert all(word.pieces for word in tokenizer.words("東京 Привет 🙂"))


@given(text=st.text(max_size=60))
def test_words_are_in_order_and_inside_any_text(tokenizer: Tokenizer, text: str) -> None:
    """Whatever is typed, each word is a stretch of it."""
    words = tokenizer.words(text)

    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert all(before.start <= after.start for before, after in pairwise(words))
