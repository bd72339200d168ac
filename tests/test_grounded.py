"""A language model's calls say only what was heard."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.grounded import Grounded, Heard, ground, heard_in, span_of
from agent.model.wording import questions
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType

LAMP = FunctionDeclaration.from_json(
    {
        "name": "turn_on_light",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "format": "place"},
                "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
                "color": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "speed": {"type": "string", "default": "slow"},
                "days": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["room"],
        },
    }
)
TIMER = FunctionDeclaration.from_json(
    {
        "name": "set_timer",
        "parameters": {
            "type": "object",
            "properties": {"duration": {"type": "string"}, "minutes": {"type": "integer", "minimum": 1, "maximum": 90}},
            "required": ["duration"],
        },
    }
)


def checked(said: str, tool: FunctionDeclaration = LAMP, before: tuple[str, ...] = (), **arguments: Any) -> Grounded:
    return ground(tool, arguments, Heard((said,), before))


def test_a_span_keeps_the_letters_in_which_it_was_said() -> None:
    assert checked("Turn on the Wohn-Zimmer, please", room="wohn zimmer").arguments == {"room": "Wohn-Zimmer"}


@pytest.mark.parametrize(
    ("value", "said", "span"),
    [
        ("kitchen", "the Kitchen light", "Kitchen"),
        ("the kitchen", "kitchen light", "kitchen"),
        ("living_room", "the living room", "living room"),
        ("10 minutes", "for ten minutes", "ten minutes"),
        ("art", "start the mower", None),
        ("kitchen", "it is dark", None),
        ("kitchen light", "light in the kitchen", None),
        ("", "anything", None),
        ("!", "Oh!", "!"),
    ],
)
def test_a_span_is_whole_words_in_their_order(value: str, said: str, span: str | None) -> None:
    assert span_of(value, said) == span


@given(st.text(), st.text(), st.text())
def test_a_span_is_always_a_part_of_the_text(before: str, value: str, after: str) -> None:
    span = span_of(value, text := f"{before} {value} {after}")
    assert span is None or span in text


def test_a_value_that_nobody_said_is_asked_about() -> None:
    assert questions(checked("turn on the kitchen", room="kitchen", color="blue").unfit) == "Which color?"


def test_a_number_that_nobody_said_is_asked_about() -> None:
    assert questions(checked("turn on the kitchen", room="kitchen", brightness=50).unfit) == "Which brightness?"


@pytest.mark.parametrize(
    ("said", "value", "heard"),
    [
        ("to 80%", 80, True),
        ("to eighty percent", 80, True),
        ("at half brightness", 50, True),
        ("full brightness", 100, True),
        ("to twenty one percent", 21, True),
        ("to twenty one percent", 20, False),
        ("to one hundred percent", 1, False),
        ("three quarters", 3, False),
        ("80 percent for 20 minutes", 20, True),
    ],
)
def test_a_number_is_one_that_was_said_as_a_whole(said: str, value: int, heard: bool) -> None:
    assert (not checked(f"kitchen {said}", room="kitchen", brightness=value).unfit) is heard


def test_a_number_out_of_range_is_asked_about_with_the_range() -> None:
    """The grammar made the model write another."""
    question = questions(checked("set the kitchen to 150 percent", room="kitchen", brightness=100).unfit)
    assert question == "The brightness goes from 0 to 100, and I heard 150. What should it be?"


def test_members_and_defaults_need_not_be_said() -> None:
    given_ = {"room": "kitchen", "unit": "celsius", "speed": "slow"}
    assert checked("kitchen", **given_) == Grounded(given_, [])


def test_no_other_value_than_a_member_stands_for_one() -> None:
    assert checked("kitchen kelvin", room="kitchen", unit="kelvin").unfit


def test_each_item_of_a_list_is_checked() -> None:
    assert not checked("kitchen on monday and friday", room="kitchen", days=["Monday", "friday"]).unfit
    assert checked("kitchen on monday", room="kitchen", days=["monday", "friday"]).unfit


def test_a_required_value_that_is_missing_or_empty_is_asked_about() -> None:
    assert questions(checked("set a timer", TIMER).unfit) == "Which duration?"
    assert questions(checked("set a timer", TIMER, duration="").unfit) == "Which duration?"


def test_a_required_place_that_is_missing_is_left_to_the_runner() -> None:
    assert checked("lights on") == Grounded({}, [])


def test_an_optional_value_that_is_empty_is_absent() -> None:
    assert checked("kitchen", room="kitchen", color="", days=[]).arguments == {"room": "kitchen"}


def test_earlier_words_fill_what_is_needed_and_add_nothing_else() -> None:
    before = ("turn on the hall in blue",)
    assert checked("and again", before=before, room="hall").arguments == {"room": "hall"}
    assert checked("the kitchen", before=before, room="kitchen", color="blue").unfit


def test_a_result_may_fill_a_value() -> None:
    heard = heard_in("text my brother", [{"name": "Ben", "numbers": [{"mobile": 15550}], "vip": True}], [])
    tool = FunctionDeclaration(
        "send",
        "",
        FunctionSchema(FunctionType.OBJECT, properties={"to": FunctionSchema(FunctionType.STRING)}, required=("to",)),
    )

    assert ground(tool, {"to": "ben"}, heard).arguments == {"to": "Ben"}
    assert ground(tool, {"to": "15550"}, heard).arguments == {"to": "15550"}
    assert ground(tool, {"to": "True"}, heard).unfit


def test_a_parameter_that_is_not_declared_is_no_silent_loss() -> None:
    assert checked("kitchen", room="kitchen", mood="calm").unfit
