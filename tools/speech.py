"""Small pieces of the sentences that answers are made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tools.device import CLIMATE, COVERS, DOORS, LOCKS, OPENING, PLAYERS, ROBOTS, SENSORS, SWITCHES, Kind


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


def are_several(names: Collection[str]) -> bool:
    """Whether they are spoken of as several: more than one, or one that is called "the fairy lights"."""
    return len(names) != 1 or any(name.endswith("s") and not name.endswith(("ss", "us")) for name in names)


def verb(names: Collection[str], one: str = "is", several: str = "are") -> str:
    """The verb that goes with some names."""
    return several if are_several(names) else one


Predicate = tuple[str, str, str]
"""The verb for one and for several, and what follows it; without a verb it is a clause of its own."""


def clauses(of: Mapping[Predicate, Sequence[str]], most: int = 8) -> list[str]:
    """What is said of several, a clause for each predicate: "the lamp and the fan are off".

    Args:
        of: The names that each is said of.
        most: How many names are spoken in all clauses together. Names that are too many are counted, and what
            comes after the last is counted at the end.
    """
    told: list[str] = []
    left, more = most, 0
    for (one, several, rest), names in of.items():
        if left == 0:
            more += len(names)
        elif not one:
            told.append(rest)
            left -= 1
        elif len(names) > left:
            told.append(f"{len(names)} devices {several} {rest}")
        else:
            told.append(f"{listed([the(name) for name in names])} {verb(names, one, several)} {rest}".rstrip())
            left -= len(names)
    return [*told, f"and {more} more"] if more else told


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


_SEVERAL = {"is": "are", "was": "were", "has": "have", "does": "do"}


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
    """A number before what is counted; 0 is "no"."""
    return str(count) if count else "no"


def there_are(count: int, one: str, several: str = "") -> str:
    """ "there is 1 timer", "there are 2 timers", "there are no doors"."""
    is_one = count == 1
    return f"there {'is' if is_one else 'are'} {counted(count)} {one if is_one else several or f'{one}s'}"
