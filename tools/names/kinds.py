"""Words for a kind of device: "lights", "blinds", "the air conditioning"."""

from __future__ import annotations

from dataclasses import dataclass

from tools.device import ANY, CLIMATE, COVERS, LIGHTS, PLAYERS, ROBOTS, SENSORS, SWITCHES, Kind
from tools.names.phrases import BETWEEN
from tools.names.words import without_determiner

DOORS_AND_LOCKS = frozenset({Kind.DOOR, Kind.GARAGE_DOOR, Kind.LOCK})
"""What "door" may mean: who wants one locked wants its lock."""


@dataclass(frozen=True)
class OfKind:
    """Words with a kind of device taken out of them.

    Attributes:
        name: The words that are left, folded.
        kinds: What the kind may be; None where the words have none.
        plural: Several are meant.
        word: How the kind was called, where that says more than the kind: a "radio" is a speaker.
    """

    name: list[str]
    kinds: frozenset[Kind] | None = None
    plural: bool = False
    word: str = ""


_ROWS: tuple[tuple[frozenset[Kind], str, str], ...] = (
    (LIGHTS, "light lamp bulb light-bulb", "lights lamps bulbs light-bulbs lighting"),
    (SWITCHES, "switch", "switches"),
    (frozenset({Kind.PLUG}), "plug socket outlet", "plugs sockets outlets"),
    (frozenset({Kind.FAN}), "fan ventilator ventilation", "fans ventilators"),
    (frozenset({Kind.WINDOW}), "window", "windows"),
    (DOORS_AND_LOCKS, "door gate", "doors gates"),
    (frozenset({Kind.GARAGE_DOOR}), "garage-door", "garage-doors"),
    (frozenset({Kind.LOCK}), "lock deadbolt", "locks deadbolts"),
    (frozenset({Kind.BLIND}), "blind shade roller-blind", "blinds shades roller-blinds"),
    (frozenset({Kind.BLIND, Kind.SHUTTER}), "roller", "rollers"),
    (frozenset({Kind.CURTAIN}), "curtain drape", "curtains drapes"),
    (frozenset({Kind.SHUTTER}), "shutter roller-shutter", "shutters roller-shutters"),
    (frozenset({Kind.AWNING}), "awning sunshade canopy", "awnings sunshades canopies"),
    (COVERS, "cover covering window-covering", "covers coverings window-coverings window-covers"),
    (
        frozenset({Kind.THERMOSTAT}),
        "thermostat heating heat heater radiator heating-unit heating-system",
        "thermostats heaters radiators heating-units",
    ),
    (
        frozenset({Kind.AIR_CONDITIONER}),
        "air-conditioner air-conditioning air-con ac cooling ac-unit air-con-unit air-conditioning-unit",
        "air-conditioners acs ac-units air-con-units air-conditioning-units",
    ),
    (CLIMATE, "hvac hvac-unit hvac-system climate climate-control climate-system", "hvac-units"),
    (frozenset({Kind.TELEVISION}), "television tv telly tv-set television-set", "televisions tvs tellies tv-sets"),
    (frozenset({Kind.SPEAKER}), "speaker stereo music radio sound-system hi-fi", "speakers stereos radios"),
    (PLAYERS, "player media-player show film movie video song podcast", "players media-players"),
    (
        frozenset({Kind.VACUUM}),
        "vacuum hoover vacuum-cleaner robot-vacuum vacuum-robot",
        "vacuums hoovers vacuum-cleaners robot-vacuums vacuum-robots",
    ),
    (frozenset({Kind.MOWER}), "mower lawn-mower robot-mower mower-robot", "mowers lawn-mowers robot-mowers"),
    (ROBOTS, "robot", "robots"),
    (SENSORS, "sensor", "sensors"),
    (frozenset({Kind.SENSOR}), "thermometer hygrometer", "thermometers hygrometers"),
    (frozenset({Kind.DETECTOR}), "detector", "detectors"),
    (ANY, "device thing appliance", "devices things appliances stuff"),
)
"""Kinds, their words for one, and those for several; a hyphen stands in those that are written as two."""

KIND_WORDS: dict[str, tuple[frozenset[Kind], bool]] = {
    word.replace("-", ""): (kinds, bool(plural))
    for kinds, *words in _ROWS
    for plural in (0, 1)
    for word in words[plural].split()
}
"""A word for a kind of device, and whether it means several. Spaces do not count: "air con" is "aircon"."""

KIND_PARTS = {part for _, *words in _ROWS for word in words for part in word.replace("-", " ").split()}
"""The words for kinds of device, one by one: "air" and "con"."""

AS_ONE = {"heating", "heat", "heatingsystem", "cooling", "airconditioning"}
"""Words for all devices of a kind together, where no place is said: "turn the heating off"."""

_PLAIN = {kind.value.replace("_", "") for kind in Kind}


def kinds_in(tokens: list[str]) -> list[OfKind]:
    """The ways to take a kind of device out of words, the likeliest first; last the words as they are.

    "garage door" is a kind, and "door" too, of something that is called "garage".
    """
    ways: list[OfKind] = []
    for size in (3, 2, 1):
        if len(tokens) >= size:
            ways += _way(tokens[:-size], "".join(tokens[-size:]))
    if len(tokens) > 1 and (both := _both(tokens[-2], tokens[-1])) is not None:
        ways.append(OfKind(tokens[:-2], *both))
    for size in (3, 2, 1):
        if len(tokens) > size:
            ways += _way(without_determiner(tokens[size:]), "".join(tokens[:size]))
    ways.append(OfKind(tokens))
    for index in range(1, len(tokens) - 1):
        if tokens[index + 1] in BETWEEN:
            ways += _way(tokens[:index] + tokens[index + 1 :], tokens[index])
    return ways


def _way(name: list[str], word: str) -> list[OfKind]:
    known = KIND_WORDS.get(word)
    return [] if known is None else [OfKind(name, *known, "" if word in _PLAIN else word)]


def _both(first: str, second: str) -> tuple[frozenset[Kind], bool] | None:
    """The kind that two words have in common: a "door lock" is a lock."""
    if first not in KIND_WORDS or second not in KIND_WORDS:
        return None
    common = KIND_WORDS[first][0] & KIND_WORDS[second][0]
    return (common, KIND_WORDS[second][1]) if common else None
