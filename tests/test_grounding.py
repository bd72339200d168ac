"""What "here", "it" and nothing at all point at."""

from __future__ import annotations

import pytest

from agent.grounding import fill_places, spoken_places, which
from agent.schema import FunctionDeclaration, Place


def turn_on_light(room: Place, brightness: int | None = None) -> None:
    """Turns on a light.

    Args:
        room: Which.
        brightness: How bright.
    """


def list_devices(room: Place | None = None) -> None:
    """Lists devices.

    Args:
        room: Where.
    """


def tidy(room: Place | None = None) -> None:
    """Tidies up.

    Args:
        room: Where.
    """


LIGHT = FunctionDeclaration.from_function(turn_on_light)
LIST = FunctionDeclaration.from_function(list_devices, read_only=True)
TIDY = FunctionDeclaration.from_function(tidy)


def test_place_that_was_said_stays_in_the_persons_words() -> None:
    assert fill_places(LIGHT, {"room": "The Küche "}, "hall", ["attic"]) == {"room": "The Küche "}


@pytest.mark.parametrize(
    "arguments", [{}, {"room": None}, {"room": ""}, {"room": "here"}, {"room": "In here."}]
)
def test_absent_place_and_here_are_the_requesters_room(arguments: dict[str, object]) -> None:
    assert fill_places(LIGHT, {**arguments, "brightness": 3}, "hall", []) == {"room": "hall", "brightness": 3}


@pytest.mark.parametrize("arguments", [{}, {"room": "here"}, {"room": "it"}])
def test_required_place_that_nobody_knows_is_to_be_asked_for(arguments: dict[str, object]) -> None:
    assert fill_places(LIGHT, arguments, None, []) is None
    assert which(LIGHT) == "Which room?"


@pytest.mark.parametrize("word", ["it", "IT", "them", "that one"])
def test_it_is_the_place_that_was_spoken_of_last(word: str) -> None:
    assert fill_places(LIGHT, {"room": word}, "hall", ["kitchen", "attic"]) == {"room": "attic"}


def test_it_is_not_the_requesters_room_when_nothing_was_spoken_of() -> None:
    assert fill_places(LIGHT, {"room": "it"}, "hall", []) is None


def test_optional_place_that_is_absent_stays_absent_where_no_room_is_known() -> None:
    assert fill_places(TIDY, {}, None, ["attic"]) == {}


def test_optional_place_of_an_action_is_the_requesters_room() -> None:
    assert fill_places(TIDY, {}, "hall", []) == {"room": "hall"}


def test_question_that_names_no_place_stays_one_about_the_whole_house() -> None:
    assert fill_places(LIST, {}, "hall", []) == {}
    assert fill_places(LIST, {"room": "here"}, "hall", []) == {"room": "hall"}


def test_place_of_a_wrong_type_is_left_to_the_tools_own_check() -> None:
    assert fill_places(LIGHT, {"room": 7}, "hall", []) == {"room": 7}


def test_places_of_a_call_are_remembered_and_other_arguments_are_not() -> None:
    assert spoken_places(LIGHT, {"room": "attic", "brightness": 3}) == ["attic"]
    assert spoken_places(LIST, {}) == []
