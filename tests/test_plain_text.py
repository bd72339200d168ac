"""Words from outside, without what nobody sees."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ArgumentError
from agent.plain_text import plain_text, shortened, within


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("So What", "So What"),
        (" So\n\tWhat\r\n ", "So What"),
        ("\x1b[2J\x1b[31mred\x1b[0m", "red"),
        ("bell\x07 nul\x00 escape\x1b", "bell nul escape"),
        ("safe\u202eexe.txt\u2066\u200f", "safeexe.txt"),
        ("so\u00adft \ud83d \u200bzero\ufeff", "soft zero"),
        ("line\u2028paragraph\u2029end", "line paragraph end"),
        ("Käthe ヘッドホン 👩\u200d🍳", "Käthe ヘッドホン 👩\u200d🍳"),
        ("", ""),
    ],
)
def test_what_nobody_sees_is_taken_out(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(st.text())
def test_plain_text_stays_as_it_is_and_is_one_printable_line(text: str) -> None:
    plain = plain_text(text)

    assert plain_text(plain) == plain
    assert not {unicodedata.category(letter) for letter in plain} & {"Cc", "Cs", "Zl", "Zp"}


@given(st.text(), st.integers(1, 50))
def test_a_long_text_is_cut_to_its_length(text: str, most: int) -> None:
    cut = shortened(text, most)

    assert len(cut) <= most
    assert cut == plain_text(text) or cut.endswith("…")


def test_what_is_kept_whole_or_not_at_all_is_refused_with_its_length() -> None:
    assert within("x" * 100 + "\x00", 100, "The name of a timer") == "x" * 100
    with pytest.raises(ArgumentError, match=r"^The name of a timer has 101 characters; at most 100 are taken\.$"):
        within("x" * 101, 100, "The name of a timer")
