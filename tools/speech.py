"""Small pieces of the sentences that answers are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.drivers import DOORS, LIGHTS, SWITCHES, Kind


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
        plural = f"are {reason[3:]}" if len(names) > 1 and reason.startswith("is ") else reason
        clauses.append(f"{listed(names)} {plural}")
    return "; ".join(clauses)


def noun(kinds: frozenset[Kind], count: int) -> str:
    """What devices of these kinds are called, one or several of them."""
    if kinds <= LIGHTS:
        return "light" if count == 1 else "lights"
    if len(kinds) == 1:
        name = next(iter(kinds)).value.replace("_", " ")
    elif kinds <= SWITCHES:
        name = "switch"
    elif kinds <= DOORS and Kind.WINDOW in kinds:
        return "door or window" if count == 1 else "doors and windows"
    else:
        name = "door" if kinds <= DOORS else "device"
    return name if count == 1 else name + ("es" if name.endswith("ch") else "s")


def counted(count: int) -> str:
    """Small numbers as words: "no", "one" ... "twelve"."""
    return _COUNTS[count] if count < len(_COUNTS) else str(count)


_COUNTS = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
]  # fmt: skip
