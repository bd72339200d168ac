"""What is told of a move: results of primitives, and one true sentence from each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.colors import color_name
from tools.devices import Outcome
from tools.drivers import FANS, LIGHTS, LOCKS, OPENING, Device, State
from tools.names.resolve import Found
from tools.speech import failures, listed, sentence, the


def moved(place: Found, outcomes: Sequence[Outcome], note: str = "") -> dict[str, Any]:
    """The result of a move.

    Args:
        place: What was to be moved.
        outcomes: What became of it.
        note: What else is to be said, as a clause.

    Returns:
        `{"place", "state", "devices", "failed"?, "note"?}` and what `look` tells: `"devices"` are the names of
        what was moved, `"failed"` says of each other one why not; what differs from device to device is left
        out. Where the state itself differs it is "mixed", and `"states"` has it by name. `{"error"}` where
        nothing was moved.
    """
    failed = {outcome.device.name: outcome.failure for outcome in outcomes if outcome.failure}
    done = [outcome for outcome in outcomes if not outcome.failure]
    if not done:
        return {"error": sentence(failures(failed))}
    names = [outcome.device.name for outcome in done]
    label = place.label if not failed else listed([the(name) for name in names], most=4)
    looks = [look(outcome.device, outcome.state) for outcome in done]
    result: dict[str, Any] = {"place": label, "state": "mixed", **_common(looks)}
    if result["state"] == "mixed":
        result["states"] = {name: each["state"] for name, each in zip(names, looks, strict=True)}
    result["devices"] = names
    if failed:
        result["failed"] = failed
    if note:
        result["note"] = note
    return result


def look(device: Device, state: State) -> dict[str, Any]:
    """How a lamp, a fan, a cover, a door or a lock is: `{"state"}` and what there is to tell besides.

    Returns:
        `"brightness"`, `"speed"` and `"position"` are in percent; an `"effect"` hides the `"color"`; a
        `"position"` is told between the ends only, and `"door"` is that of a lock which knows of it.
    """
    word = state.word
    told: dict[str, Any] = {"state": word}
    if device.kind in LIGHTS and word == "on":
        told |= {"brightness": state.brightness, "effect": state.effect or None}
        told["color"] = None if state.effect else _color(state)
    elif device.kind in FANS and word == "on":
        told["speed"] = state.speed
    elif device.kind in OPENING and word == "open" and state.position != 100:
        told["position"] = state.position
    elif device.kind in LOCKS and word != "unknown" and state.open is not None:
        told["door"] = "open" if state.open else "closed"
    return {key: value for key, value in told.items() if value is not None}


def part(place: Found, devices: Sequence[Device]) -> Found:
    """The place; where not all of it is moved, that which is, by name."""
    if len(devices) == len(place.devices):
        return place
    return Found(tuple(devices), listed([the(device.name) for device in devices], most=4), place.where)


def cannot(devices: Sequence[Device], what: str) -> str:
    """ "the hall light and the desk lamp cannot be dimmed", as a clause; nothing without devices."""
    return f"{listed([the(device.name) for device in devices], most=4)} cannot {what}" if devices else ""


def say_moved(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """ "The living room lights are on at 80 percent."."""
    if "states" in result:
        names: dict[str, list[str]] = {}
        for name, state in result["states"].items():
            names.setdefault(state, []).append(name)
        clauses = [
            f"{listed([the(name) for name in some], most=4)} {verb(some)} {appearance({'state': state})}"
            for state, some in names.items()
        ]
    else:
        clauses = [f"{result['place']} {verb(result['devices'])} {appearance(result)}"]
    return sentence(*clauses, result.get("note", ""), failures(result.get("failed", {})))


def verb(names: Sequence[str], one: str = "is", several: str = "are") -> str:
    """ "is" or "are": "are" for several, and for one that is called "the fairy lights"."""
    plural = len(names) != 1 or (names[0].endswith("s") and not names[0].endswith(("ss", "us")))
    return several if plural else one


def appearance(look: Mapping[str, Any]) -> str:
    """ "on at 80 percent, warm white", from a result's fields."""
    words = "in a state that I do not know" if look["state"] == "unknown" else str(look["state"])
    if "door" in look:
        words = f"{look['door']} and {words}"
    for level in ("brightness", "speed", "position"):
        if level in look:
            words += f" at {look[level]} percent"
    if "effect" in look:
        return f"{words} with the {look['effect']} effect"
    return f"{words}, {look['color']}" if "color" in look else words


def _color(state: State) -> str | None:
    if state.kelvin is not None:
        return f"{state.kelvin} kelvin"
    return color_name(state.rgb) if state.rgb is not None else None


def _common(looks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all of them tell, and tell alike."""
    first, *others = looks
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}
