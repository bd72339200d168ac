"""Results that are too long."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agent.capping import CUT, MAX_RESULT_LENGTH, capped

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3000),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=20), inner, max_size=20),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=20), JSON, max_size=20))
def test_any_result_fits_afterwards_and_a_short_one_is_left_as_it_is(result: dict[str, object]) -> None:
    cut = capped(result)

    assert len(json.dumps(cut, ensure_ascii=False)) <= MAX_RESULT_LENGTH
    if len(json.dumps(result, ensure_ascii=False)) <= MAX_RESULT_LENGTH:
        assert cut == result


def test_a_hundred_kilobytes_keep_their_short_fields_and_say_that_they_were_cut() -> None:
    cut = capped({"status": "ok", "page": "x" * 100_000, "rows": list(range(10))})

    assert cut["status"] == "ok"
    assert cut["rows"] == list(range(10))
    assert cut["page"].startswith("xxx")
    assert "cut to 16000" in cut[CUT]


def test_a_long_list_keeps_its_beginning() -> None:
    cut = capped({"names": [f"name {number}" for number in range(20_000)]})

    assert cut["names"][:2] == ["name 0", "name 1"]
    assert CUT in cut


def test_a_result_of_nothing_but_structure_becomes_the_note_alone() -> None:
    nested: object = 1
    for _ in range(40):
        nested = [nested] * 2 if len(json.dumps(nested)) < 100_000 else [nested]

    assert set(capped({"nested": nested})) <= {CUT, "nested"}
