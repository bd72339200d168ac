"""Pieces of sentences."""

from __future__ import annotations

import pytest

from tools.device import (
    ANY,
    CLIMATE,
    COVERS,
    DOORS,
    LIGHTS,
    LOCKS,
    ON_OFF,
    OPENING,
    PLAYERS,
    ROBOTS,
    SENSORS,
    SWITCHES,
    Kind,
)
from tools.speech import failures, noun


@pytest.mark.parametrize(
    ("kinds", "one", "several"),
    [
        (LIGHTS, "light", "lights"),
        ({Kind.SWITCH}, "switch", "switches"),
        ({Kind.GARAGE_DOOR}, "garage door", "garage doors"),
        ({Kind.AIR_CONDITIONER}, "air conditioner", "air conditioners"),
        ({Kind.CURTAIN}, "curtain", "curtains"),
        (SWITCHES, "switch", "switches"),
        (COVERS, "blind", "blinds"),
        ({Kind.DOOR, Kind.GARAGE_DOOR}, "door", "doors"),
        (DOORS, "door or window", "doors and windows"),
        (OPENING | LOCKS, "blind, door or window", "blinds, doors and windows"),
        (CLIMATE, "thermostat or air conditioner", "thermostats and air conditioners"),
        (PLAYERS, "television or speaker", "televisions and speakers"),
        (ROBOTS, "robot", "robots"),
        (SENSORS, "sensor", "sensors"),
        (ON_OFF, "device", "devices"),
        (ANY, "device", "devices"),
    ],
)
def test_kinds_are_called_by_one_noun(kinds: set[Kind], one: str, several: str) -> None:
    assert (noun(frozenset(kinds), 1), noun(frozenset(kinds), 2)) == (one, several)
    assert noun(frozenset(kinds), 0) == several.replace(" and ", " or ")


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_noun_of_its_own(kind: Kind) -> None:
    name = kind.value.replace("_", " ")

    assert noun(frozenset({kind}), 1) == name
    assert noun(frozenset({kind}), 0) in (f"{name}s", f"{name}es")


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("is not available", "the lamp and the fan are not available"),
        ("has an unknown speed", "the lamp and the fan have an unknown speed"),
        ("did not confirm it", "the lamp and the fan did not confirm it"),
        ("failed", "the lamp and the fan failed"),
    ],
)
def test_one_reason_of_two_devices_is_said_of_both(reason: str, sentence: str) -> None:
    assert failures({"lamp": reason, "fan": reason}) == sentence
    assert failures({"lamp": reason}) == f"the lamp {reason}"
