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
from tools.speech import clauses, failures, listed, noun, there_are, verb


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


def test_names_are_spoken_up_to_a_number_and_the_rest_is_counted() -> None:
    """However many clauses there are: an answer is heard, and not read."""
    off, at = [f"lamp {number}" for number in range(12)], [f"fan {number}" for number in range(10)]
    told = clauses({("is", "are", "off"): off} | {("is", "are", f"at {name}"): [name] for name in at}, most=8)

    assert told[:2] == ["12 devices are off", "the fan 0 is at fan 0"]
    assert told[-2:] == ["the fan 7 is at fan 7", "and 2 more"]
    assert clauses({("is", "are", "off"): off[:8]}) == [f"{listed([f'the {name}' for name in off[:8]])} are off"]


def test_the_verb_of_a_clause_goes_with_its_names() -> None:
    told = {("is", "are", "off"): ["fairy lights"], ("shows", "show", "5"): ["a", "b"], ("", "", "no motion"): ["c"]}

    assert clauses(told) == ["the fairy lights are off", "the a and the b show 5", "no motion"]


@pytest.mark.parametrize(
    ("names", "are"),
    [
        (["lamp"], "is"),
        (["fairy lights"], "are"),
        (["glass"], "is"),
        (["apparatus"], "is"),
        (["lamp", "fan"], "are"),
    ],
)
def test_a_verb_goes_with_names(names: list[str], are: str) -> None:
    assert verb(names) == are


@pytest.mark.parametrize(
    ("count", "text"), [(0, "there are no timers"), (1, "there is 1 timer"), (2, "there are 2 timers")]
)
def test_things_are_counted_in_digits(count: int, text: str) -> None:
    assert there_are(count, "timer") == text
