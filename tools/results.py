"""What is told of a move: results of primitives, and one true sentence from each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.colors import color_name
from tools.device import FANS, LIGHTS, LOCKS, OPENING, Device, State
from tools.devices import Outcome
from tools.names.places import Found, by_names
from tools.speech import Predicate, clauses, failures, listed, sentence, the


def told(
    place: Found, outcomes: Sequence[Outcome], field: str, value: Callable[[Outcome], Any], note: str = ""
) -> dict[str, Any]:
    """The result of a move, which tells one thing of each device.

    Args:
        place: What was to be moved.
        outcomes: What became of it, or of a part of it.
        field: The name of what is told.
        value: What is told of a device that was moved; None is nothing.
        note: What else is to be said, as a clause.

    Returns:
        `{"place", "plural"?, "devices", field or "by_device"?, "failed"?, "note"?}`: `"devices"` are the names of
        what was moved, and `"failed"` says of each other one why not. Where they differ in the value, `"by_device"`
        has it by name. `{"error"}` where nothing was moved.
    """
    failed = {outcome.device.name: outcome.failure for outcome in outcomes if outcome.failure}
    done = [outcome for outcome in outcomes if not outcome.failure]
    if not done:
        return {"error": sentence(failures(failed))}
    if len(done) < len(place.devices):
        place = by_names([outcome.device for outcome in done])
    values = {outcome.device.name: value(outcome) for outcome in done}
    first, *others = values.values()
    result: dict[str, Any] = {"place": place.label, **({"plural": True} if place.plural else {})}
    result["devices"] = list(values)
    if any(other != first for other in others):
        result["by_device"] = values
    elif first is not None:
        result[field] = first
    return result | {key: more for key, more in (("failed", failed), ("note", note)) if more}


def moved(place: Found, outcomes: Sequence[Outcome], note: str = "") -> dict[str, Any]:
    """The result of a move, which tells how the devices are.

    Args:
        place: What was to be moved.
        outcomes: What became of it, or of a part of it.
        note: What else is to be said, as a clause.

    Returns:
        As `told` of their states, with what `look` tells of all of them alike.
    """
    result = told(place, outcomes, "state", lambda outcome: outcome.state.word, note)
    looks = [look(outcome.device, outcome.state) for outcome in outcomes if not outcome.failure]
    return result | _common(looks)


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


def cannot(devices: Sequence[Device], what: str) -> str:
    """ "the hall light and the desk lamp cannot be dimmed", as a clause; nothing without devices."""
    return f"{listed([the(device.name) for device in devices], most=4)} cannot {what}" if devices else ""


def clause(result: Mapping[str, Any], rest: str, one: str = "is", several: str = "are") -> str:
    """What is said of all that was moved: "the kitchen lights are off"."""
    return f"{result['place']} {several if result.get('plural') else one} {rest}".strip()


def said(result: Mapping[str, Any], *clauses: str) -> str:
    """Clauses, and what else a result has to tell, as one sentence."""
    return sentence(*clauses, result.get("note", ""), failures(result.get("failed", {})))


def say_told(result: Mapping[str, Any], field: str, predicate: Callable[[Any], Predicate]) -> str:
    """What `told` tells: "The bedroom is set to 21 degrees.", or a clause for each value.

    Args:
        result: The result.
        field: The name of what it tells.
        predicate: How a value is spoken; None is one that is not known.
    """
    if "by_device" not in result:
        one, several, rest = predicate(result.get(field))
        return said(result, clause(result, rest, one, several))
    names: dict[Predicate, list[str]] = {}
    for name, value in result["by_device"].items():
        names.setdefault(predicate(value), []).append(name)
    return said(result, *clauses(names))


def being(rest: str) -> Predicate:
    """That something is so: "is off", "are off"."""
    return "is", "are", rest


def say_moved(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """ "The living room lights are on at 80 percent."."""
    if "by_device" in result:
        return say_told(result, "state", lambda state: being(appearance({"state": state})))
    return said(result, clause(result, appearance(result)))


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
    first, *others = looks or [{}]
    return {key: value for key, value in first.items() if all(each.get(key) == value for each in others)}
