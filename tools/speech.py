"""Small pieces of the sentences that answers are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.drivers import CLIMATE, COVERS, DOORS, LOCKS, OPENING, PLAYERS, ROBOTS, SENSORS, SWITCHES, Kind


def the(name: str) -> str:
    """A name with its article, unless it has one or is somebody's ("Anna's lamp")."""
    first = name.split(" ", 1)[0].casefold()
    return name if first in ("the", "my", "our") or first.endswith(("'s", "’s")) else f"the {name}"


def listed(names: Sequence[str], most: int | None = None, last: str = "and") -> str:
    """ "a", "a and b", "a, b and c"; beyond `most` the rest is counted: "a, b and 7 more"."""
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def sentence(*clauses: str) -> str:
    """Clauses as one sentence: a capital letter first, a full stop last."""
    text = "; ".join(clause for clause in clauses if clause)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def failures(failed: Mapping[str, str]) -> str:
    """What devices did not do, as one clause: "the desk lamp and the hall light are not available"."""
    reasons: dict[str, list[str]] = {}
    for name, reason in failed.items():
        reasons.setdefault(reason, []).append(the(name))
    clauses = []
    for reason, names in reasons.items():
        verb, _, rest = reason.partition(" ")
        plural = f"{_SEVERAL.get(verb, verb)} {rest}".strip() if len(names) > 1 else reason
        clauses.append(f"{listed(names)} {plural}")
    return "; ".join(clauses)


_SEVERAL = {"is": "are", "has": "have", "does": "do"}


def noun(kinds: frozenset[Kind], count: int) -> str:
    """What devices of these kinds are called, one or several of them."""
    if len(kinds) == 1:
        name = next(iter(kinds)).value.replace("_", " ")
        return name if count == 1 else name + ("es" if name.endswith("ch") else "s")
    for known, one, several in _NOUNS:
        if kinds <= known:
            # "Two doors and windows are open", but "no doors or windows are".
            return one if count == 1 else several if count else several.replace(" and ", " or ")
    return "device" if count == 1 else "devices"


_NOUNS = (
    (SWITCHES, "switch", "switches"),
    (COVERS, "blind", "blinds"),
    (DOORS - {Kind.WINDOW} | LOCKS, "door", "doors"),
    (DOORS | LOCKS, "door or window", "doors and windows"),
    (COVERS | {Kind.WINDOW}, "blind or window", "blinds and windows"),
    (OPENING | LOCKS, "blind, door or window", "blinds, doors and windows"),
    (CLIMATE, "thermostat or air conditioner", "thermostats and air conditioners"),
    (PLAYERS, "television or speaker", "televisions and speakers"),
    (ROBOTS, "robot", "robots"),
    (SENSORS, "sensor", "sensors"),
)
"""What several kinds together are called; the first that has them all."""


def counted(count: int) -> str:
    """Small numbers as words: "no", "one" ... "twelve"."""
    return _COUNTS[count] if count < len(_COUNTS) else str(count)


_COUNTS = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
]  # fmt: skip
