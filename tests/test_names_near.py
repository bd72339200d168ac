"""What people call things without saying which: a kind alone, the whole home, how something is, and floors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.requester import asked_in
from tests.homes import SETTINGS
from tools.device import CLIMATE, COVERS, LOCKS, PLAYERS, Kind
from tools.devices import Devices
from tools.home import Home
from tools.names.resolve import ASK, SWITCH_LIGHTS, SWITCH_PLUGS, PlaceError, Resolver, Wish

HOME = Home.from_settings(
    {
        "floor": [{"name": "First Floor"}, {"name": "2nd floor"}, {"name": "cellar"}],
        "room": [
            {"name": "snug", "floor": "First Floor"},
            {"name": "pantry", "floor": "First Floor"},
            {"name": "loft", "floor": "2nd floor"},
            {"name": "Ida", "floor": "2nd floor"},
            {"name": "porch"},
        ],
        "device": [
            {"name": "globe", "kind": "light", "room": "snug"},
            {"name": "corner lamp", "kind": "light", "room": "snug"},
            {"name": "shelf spots", "kind": "light", "room": "pantry"},
            {"name": "skylight bulb", "kind": "light", "room": "loft"},
            {"name": "moon", "kind": "light", "room": "Ida"},
            {"name": "snug drapes", "kind": "curtain", "room": "snug"},
            {"name": "loft drapes", "kind": "curtain", "room": "loft"},
            {"name": "loft blind", "kind": "blind", "room": "loft"},
            {"name": "snug fan", "kind": "fan", "room": "snug"},
            {"name": "snug plug", "kind": "plug", "room": "snug"},
            {"name": "loft fan", "kind": "fan", "room": "loft"},
            {"name": "snug radiator", "kind": "thermostat", "room": "snug"},
            {"name": "loft thermostat", "kind": "thermostat", "room": "loft"},
            {"name": "loft cooler", "kind": "air_conditioner", "room": "loft"},
            {"name": "snug screen", "kind": "television", "room": "snug"},
            {"name": "pantry radio", "kind": "speaker", "room": "pantry"},
            {"name": "porch door", "kind": "lock", "room": "porch"},
            {"name": "loft hatch", "kind": "lock", "room": "loft"},
            {"name": "carport", "kind": "garage_door", "room": "porch"},
            {"name": "porch window", "kind": "window", "room": "porch"},
        ],
    }
)
RESOLVER = Resolver(HOME)
LAMPS = {"globe", "corner lamp", "shelf spots", "skylight bulb", "moon"}
OPEN = Wish(COVERS, COVERS | {Kind.WINDOW})
LOCK = Wish(LOCKS, LOCKS)
GARAGE = Wish(frozenset({Kind.GARAGE_DOOR}), frozenset({Kind.GARAGE_DOOR}))
WARM = Wish(CLIMATE, CLIMATE)
PLAY = Wish(PLAYERS, PLAYERS)


def names(words: str, wish: Wish = SWITCH_LIGHTS, room: str | None = None) -> set[str]:
    return {device.name for device in RESOLVER.resolve(words, replace(wish, near=room)).devices}


@pytest.mark.parametrize(
    ("words", "wish", "room", "devices"),
    [
        ("lights", SWITCH_LIGHTS, "snug", {"globe", "corner lamp"}),
        ("my lights", SWITCH_LIGHTS, "Snug", {"globe", "corner lamp"}),
        ("the light", SWITCH_LIGHTS, "snug", {"globe", "corner lamp"}),
        ("the lamp", SWITCH_LIGHTS, "snug", {"corner lamp"}),
        ("the smart bulbs", SWITCH_LIGHTS, "pantry", {"shelf spots"}),
        ("both lamps", SWITCH_LIGHTS, "snug", {"globe", "corner lamp"}),
        ("the lights except the globe", SWITCH_LIGHTS, "snug", {"corner lamp"}),
        ("the lights and the fan", SWITCH_LIGHTS, "snug", {"globe", "corner lamp", "snug fan"}),
        ("curtains", OPEN, "loft", {"loft drapes"}),
        ("the covers", OPEN, "loft", {"loft drapes", "loft blind"}),
        ("fans", SWITCH_PLUGS, "loft", {"loft fan"}),
        ("the thermostat", WARM, "loft", {"loft thermostat"}),
        ("the HVAC", WARM, "loft", {"loft thermostat", "loft cooler"}),
        ("heater", WARM, "snug", {"snug radiator"}),
        ("are the curtains", ASK, "snug", set()),
        ("the curtains", ASK, "snug", {"snug drapes"}),
        ("the film", PLAY, "snug", {"snug screen"}),
    ],
)  # fmt: skip
def test_a_kind_alone_is_that_of_the_requesters_room(words: str, wish: Wish, room: str, devices: set[str]) -> None:
    """Several in the home make no question of it."""
    if not devices:
        with pytest.raises(PlaceError):
            names(words, wish, room)
    else:
        assert names(words, wish, room) == devices


@pytest.mark.parametrize(
    ("words", "wish", "room"),
    [
        ("lights", SWITCH_LIGHTS, "porch"),  # none there
        ("lights", SWITCH_LIGHTS, "the moon base"),  # no room
        ("lights", SWITCH_LIGHTS, None),
        ("the curtain", OPEN, "pantry"),
        ("the switch", SWITCH_PLUGS, "snug"),  # a fan and a plug: a room does not stand for both
        ("the lock", LOCK, "porch"),
        ("the door", LOCK, "porch"),
        ("the things", SWITCH_PLUGS, "snug"),  # no kind at all
    ],
)
def test_a_kind_alone_is_asked_about_as_ever(words: str, wish: Wish, room: str | None) -> None:
    """Where the room has none, or is not known; and a lock never goes by the room."""
    with pytest.raises(PlaceError):
        names(words, wish, room)


@pytest.mark.parametrize("room", [None, "snug", "loft", "porch"])
def test_all_and_the_heating_and_locks_are_of_the_whole_home_wherever_one_is(room: str | None) -> None:
    assert names("all the lights", room=room) == LAMPS
    assert names("the heating", WARM, room) == {"snug radiator", "loft thermostat"}
    assert names("the locks", LOCK, room) == {"porch door", "loft hatch"}
    assert names("the doors", ASK, room) == {"porch door", "loft hatch", "carport"}


@pytest.mark.parametrize(
    ("words", "devices"),
    [
        ("the curtain", {"snug drapes", "loft drapes"}),
        ("the curtains", {"snug drapes", "loft drapes"}),
        ("the lock", {"porch door", "loft hatch"}),
        ("a fan", {"snug fan", "loft fan"}),
        ("lights inside", LAMPS),
        ("lights indoors", LAMPS),
    ],
)
def test_a_question_about_a_kind_is_about_all_where_no_room_is_known(words: str, devices: set[str]) -> None:
    """It moves nothing."""
    assert names(words, ASK) == devices


def test_what_is_indoors_is_not_known_so_nothing_is_moved_by_it() -> None:
    with pytest.raises(PlaceError):
        names("indoors")
    assert names("inside", ASK) == {device.name for device in HOME.devices}


@pytest.mark.parametrize(
    "words",
    [
        "every area", "all areas", "every room", "every single light", "every single lamp in the house",
        "all of the lights", "lights in every room", "lamps in all the rooms", "lights on every floor",
        "the whole flat", "lights in the entire house", "every room in the house", "the house lights",
    ],
)  # fmt: skip
def test_the_whole_home_has_many_names(words: str) -> None:
    assert names(words) == LAMPS


@pytest.mark.parametrize(
    ("words", "devices"),
    [
        ("the whole snug", {"globe", "corner lamp"}),
        ("lights in the entire pantry", {"shelf spots"}),
        ("1st floor", {"globe", "corner lamp", "shelf spots"}),
        ("downstairs", {"globe", "corner lamp", "shelf spots"}),
        ("the lights upstairs", {"skylight bulb", "moon"}),
        ("second floor lamps", {"skylight bulb", "moon"}),
        ("lights on level two", {"skylight bulb", "moon"}),
        ("the snug's lights", {"globe", "corner lamp"}),
        ("Ida's light", {"moon"}),
        ("the pantry’s lamp", {"shelf spots"}),
        ("the lamp in my loft", {"skylight bulb"}),
        ("globe light snug", {"globe"}),
        ("light globe in the snug", {"globe"}),
    ],
)
def test_a_place_is_found_however_it_is_put(words: str, devices: set[str]) -> None:
    assert names(words) == devices


@pytest.mark.parametrize(
    ("words", "wish", "devices"),
    [
        ("blind up in the loft", OPEN, {"loft blind"}),
        ("all the lights off in the snug", SWITCH_LIGHTS, {"globe", "corner lamp"}),
        ("drapes closed in the snug", ASK, {"snug drapes"}),
        ("hatch locked in the loft", ASK, {"loft hatch"}),
        ("carport open on the porch", ASK, {"carport"}),
        ("AC unit", WARM, {"loft cooler"}),
        ("air conditioning unit", WARM, {"loft cooler"}),
        ("the climate control in the snug", WARM, {"snug radiator"}),
        ("TV set", PLAY, {"snug screen"}),
        ("show in the snug", PLAY, {"snug screen"}),
    ],
)
def test_how_it_is_does_not_hide_what_is_meant(words: str, wish: Wish, devices: set[str]) -> None:
    assert names(words, wish) == devices


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("hatch locked in the loft", LOCK),
        ("carport open on the porch", GARAGE),
        ("the loft's hatch", LOCK),
        ("indoors", LOCK),
    ],
)
def test_what_lets_somebody_in_is_not_reached_that_way(words: str, wish: Wish) -> None:
    with pytest.raises(PlaceError):
        names(words, wish, "loft")


def test_a_floor_keeps_the_name_that_something_else_has() -> None:
    """A group called "upstairs" is no floor."""
    settings = {
        "floor": [{"name": "ground floor"}, {"name": "first floor"}],
        "room": [{"name": "hall", "floor": "ground floor"}, {"name": "attic", "floor": "first floor"}],
        "device": [
            {"name": "hall light", "kind": "light", "room": "hall"},
            {"name": "attic light", "kind": "light", "room": "attic"},
        ],
        "group": [{"name": "upstairs", "members": ["hall light"]}],
    }
    resolver = Resolver(Home.from_settings(settings))

    assert [each.name for each in resolver.resolve("lights upstairs", SWITCH_LIGHTS).devices] == ["hall light"]
    assert [each.name for each in resolver.resolve("downstairs", SWITCH_LIGHTS).devices] == ["hall light"]


def test_devices_are_found_for_the_room_that_the_turn_came_from() -> None:
    devices = Devices(Home.from_settings(SETTINGS))

    with asked_in("hall"):
        assert [each.name for each in devices.find("the lights", SWITCH_LIGHTS).devices] == ["hall light"]
    with pytest.raises(PlaceError):
        devices.find("the lights", SWITCH_LIGHTS)
