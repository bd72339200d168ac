"""Calls that are the same to a person, and calls that are not."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.evaluation.equality import call_key, value_key
from agent.schema import FunctionDeclaration
from tests.homes import SETTINGS
from tools.house import open_house

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI may be busy

WORDS = st.lists(st.sampled_from(["kitchen", "Lamp", "couch", "Küche", "straße", "by", "2"]), min_size=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)

PLAY = FunctionDeclaration.from_json(
    {
        "name": "play",
        "description": "Plays music.",
        "parameters": {
            "type": "object",
            "properties": {
                "song": {"type": "string"},
                "volume": {"type": "integer", "default": 50},
                "kind": {"type": "string", "enum": ["any", "live"], "default": "any"},
                "where": {
                    "type": "object",
                    "properties": {"room": {"type": "string"}, "loud": {"type": "boolean", "default": False}},
                },
                "zones": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"on": {"type": "boolean", "default": True}}},
                },
                "speed": {"type": "number", "default": 1.0},
            },
            "required": ["song", "speed"],
        },
    }
)


def key(**arguments: Any) -> object:
    return call_key("play", arguments, PLAY)


@unhurried
@given(JSON)
def test_a_value_equals_itself_and_can_be_in_a_set(value: Any) -> None:
    assert {value_key(value)} == {value_key(value)}


@unhurried
@given(WORDS, st.data())
def test_case_spaces_and_articles_do_not_count_in_a_string(words: list[str], data: st.DataObject) -> None:
    said = []
    for word in words:
        said += data.draw(st.lists(st.sampled_from(["the", "a", "An"]), max_size=2))
        said.append(data.draw(st.sampled_from([word, word.upper(), word.lower()])))
    spaces = data.draw(st.sampled_from([" ", "  ", "\t"]))

    assert value_key(f" {spaces.join(said)}\n") == value_key(" ".join(words))


@unhurried
@given(st.dictionaries(st.text(), JSON, min_size=1))
def test_the_order_of_fields_does_not_count(fields: dict[str, Any]) -> None:
    assert value_key(dict(reversed(fields.items()))) == value_key(fields)


@unhurried
@given(st.integers(-(2**53), 2**53))
def test_a_whole_number_is_the_same_with_a_point(number: int) -> None:
    assert value_key(number) == value_key(float(number))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("80", 80),
        (True, 1),
        (False, 0),
        (1, 1.5),
        ("kitchen", "kitchen lamp"),
        ("theatre", "atre"),
        ("A", "The"),
        ("", "a"),
        ([1, 2], [2, 1]),
        ([1], 1),
        ([], {}),
        (["boolean", True], True),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
    ],
)
def test_different_values_are_not_the_same(one: Any, other: Any) -> None:
    assert value_key(one) != value_key(other)


def test_an_omitted_optional_is_its_default() -> None:
    assert key(song="Yesterday", speed=1) == key(song="yesterday", speed=1.0, volume=50.0, kind="Any")
    assert key(song="Yesterday", speed=1) != key(song="Yesterday", speed=1, volume=51)


def test_an_omitted_required_argument_is_missing_whatever_its_default() -> None:
    assert key(song="Yesterday") != key(song="Yesterday", speed=1.0)


def test_null_is_omitted() -> None:
    assert key(song="Yesterday", volume=None) == key(song="Yesterday")


def test_a_field_without_a_default_is_not_the_same_as_none() -> None:
    assert key(song="Yesterday", where={"room": "hall"}) != key(song="Yesterday")


def test_defaults_hold_inside_of_objects_and_arrays() -> None:
    assert key(where={"room": "the Hall"}) == key(where={"room": "hall", "loud": False})
    assert key(zones=[{}, {"on": False}]) == key(zones=[{"on": True}, {"on": False}])


def test_the_name_of_the_function_counts() -> None:
    assert call_key("play", {}) != call_key("stop", {})


def test_without_a_declaration_only_the_values_count() -> None:
    assert call_key("other", {"x": " The Hall "}) == call_key("other", {"x": "hall"})
    assert call_key("other", {}) != call_key("other", {"volume": 50})


NAMED = {
    **SETTINGS,
    "device": [
        *(each for each in SETTINGS["device"] if each["name"] != "front door"),
        {"name": "front door", "kind": "lock", "room": "hall"},
    ],
    "scene": [
        {"name": "movie night", "aliases": ["cinema"], "states": [{"device": "floor lamp", "on": False}]},
        {"name": "late film", "states": [{"device": "floor lamp", "on": False}]},
    ],
}
"""A home with a lock and two scenes that move the same."""


@asynccontextmanager
async def home(settings: Any = SETTINGS) -> Any:
    async with open_house(settings) as house:
        declarations = {tool.name: tool.declaration for tool in house.tools}

        def key(name: str, **arguments: Any) -> object:
            return call_key(name, arguments, declarations.get(name), house)

        yield key


async def test_with_a_house_two_names_of_a_place_are_the_same() -> None:
    async with home() as key:
        lounge = key("turn_on_light", room="the lounge", brightness=50)

        assert lounge == key("turn_on_light", room="living room", brightness=50.0)
        assert lounge != key("turn_on_light", room="kitchen", brightness=50)
        assert lounge != key("turn_on_light", room="living room")
        assert key("turn_off_light", room="lamp by the couch") == key("turn_off_light", room="reading lamp")


async def test_with_a_house_another_function_on_the_same_device_is_another_call() -> None:
    async with home() as key:
        assert key("turn_on_light", room="hall") != key("turn_off_light", room="hall")
        assert key("open_garage_door") != key("close_garage_door")


async def test_with_a_house_words_that_name_nothing_are_the_same_as_themselves_only() -> None:
    async with home() as key:
        assert key("turn_on_light", room="the pool") == key("turn_on_light", room="Pool")
        assert key("turn_on_light", room="pool") != key("turn_on_light", room="sauna")
        assert key("turn_on_light") != key("turn_on_light", room="hall")


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("lock_door", {"door": "front door"}, {"door": "frontdoor"}),
        ("activate_scene", {"scene": "cinema"}, {"scene": "the movie night scene"}),
        ("dock_vacuum", {}, {"vacuum": "Robbie"}),
        ("start_vacuum", {"area": "lounge"}, {"area": "the living room", "vacuum": "robbie"}),
        ("start_vacuum", {"area": "everywhere"}, {}),
        ("open_garage_door", {}, {"door": "the garage"}),
        ("announce", {"message": "dinner", "room": "in the lounge"}, {"message": "Dinner", "room": "living room"}),
        ("announce", {"message": "dinner", "room": "everywhere"}, {"message": "dinner"}),
    ],
)
async def test_with_a_house_two_names_of_a_thing_are_the_same(name: str, one: Any, other: Any) -> None:
    async with home(NAMED) as key:
        assert key(name, **one) == key(name, **other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("lock_door", {"door": "front door"}, {"door": "back door"}),
        ("activate_scene", {"scene": "cinema"}, {"scene": "late film"}),
        ("activate_scene", {"scene": "cinema"}, {"scene": "breakfast"}),
        ("dock_vacuum", {}, {"vacuum": "Rosie"}),
        ("start_vacuum", {"area": "lounge"}, {"area": "kitchen"}),
        ("start_vacuum", {"area": "lounge"}, {}),
        ("start_mower", {"area": "front lawn"}, {"area": "back lawn"}),
        ("announce", {"message": "dinner", "room": "lounge"}, {"message": "dinner", "room": "office"}),
        ("announce", {"message": "dinner", "room": "lounge"}, {"message": "dinner"}),
        ("announce", {"message": "dinner", "room": "mars"}, {"message": "dinner", "room": "venus"}),
    ],
)
async def test_with_a_house_names_of_different_things_are_different(name: str, one: Any, other: Any) -> None:
    async with home(NAMED) as key:
        assert key(name, **one) != key(name, **other)


async def test_with_a_house_arguments_that_are_no_places_are_compared_as_ever() -> None:
    async with home() as key:
        assert key("list_devices", room="upstairs") == key("list_devices", room="first floor", kind="any")
        assert key("list_devices", kind="light") != key("list_devices")
        assert key("get_current_weather", location="the hall") != key("get_current_weather", location="kitchen")
        assert key("elsewhere", room="lounge") != key("elsewhere", room="living room")


async def test_with_a_house_arguments_of_a_wrong_type_move_nothing() -> None:
    async with home() as key:
        assert key("list_devices", kind=["light"]) != key("list_devices", kind="light")
        assert key("turn_on_light", room=["hall"]) != key("turn_on_light", room="hall")
