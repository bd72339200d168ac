"""What is told of a move: results of primitives, and one true sentence from each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tools.devices import Outcome
from tools.drivers import LIGHTS, State
from tools.resolve import Found
from tools.speech import failures, listed, sentence, the
from tools.words import color_name


def moved(place: Found, outcomes: Sequence[Outcome], note: str = "") -> dict[str, Any]:
    """The result of a move.

    Args:
        place: What was to be moved.
        outcomes: What became of it.
        note: What else is to be said, as a clause.

    Returns:
        `{"place", "state", "brightness"?, "color"?, "devices", "failed"?, "note"?}`: `"devices"` are the names
        of what was moved, `"failed"` says of each other one why not, `"brightness"` is in percent, and is
        left out where it differs. `{"error"}` where nothing was moved.
    """
    failed = {outcome.device.name: outcome.failure for outcome in outcomes if outcome.failure}
    done = [outcome for outcome in outcomes if not outcome.failure]
    if not done:
        return {"error": sentence(failures(failed))}
    names = [outcome.device.name for outcome in done]
    label = place.label if not failed else listed([the(name) for name in names], most=4)
    result: dict[str, Any] = {
        "place": label,
        "state": _common([outcome.state.word for outcome in done]) or "mixed",
    }
    lamps = [outcome.state for outcome in done if outcome.device.kind in LIGHTS]
    if result["state"] == "on" and len(lamps) == len(done):
        result |= look(lamps)
    result["devices"] = names
    if failed:
        result["failed"] = failed
    if note:
        result["note"] = note
    return result


def look(lamps: Sequence[State]) -> dict[str, Any]:
    """What lamps that are on have in common: `{"brightness"?, "color"?}`."""
    brightness = _common([state.brightness for state in lamps])
    color = _common([_color(state) for state in lamps])
    both = {"brightness": brightness, "color": color}
    return {key: value for key, value in both.items() if value is not None}


def say_moved(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """ "The living room lights are on at 80 percent."."""
    done = f"{result['place']} {verb(result['devices'])} {appearance(result)}"
    return sentence(done, result.get("note", ""), failures(result.get("failed", {})))


def verb(names: Sequence[str]) -> str:
    """ "is" or "are": for several, and for one that is called "the fairy lights"."""
    plural = len(names) != 1 or (names[0].endswith("s") and not names[0].endswith(("ss", "us")))
    return "are" if plural else "is"


def appearance(look: Mapping[str, Any]) -> str:
    """ "on at 80 percent, warm white", from a result's fields."""
    words = str(look["state"])
    if "brightness" in look:
        words += f" at {look['brightness']} percent"
    return f"{words}, {look['color']}" if "color" in look else words


def _color(state: State) -> str | None:
    if state.kelvin is not None:
        return f"{state.kelvin} kelvin"
    return color_name(state.rgb) if state.rgb is not None else None


def _common(values: Sequence[Any]) -> Any:
    """The value, if all have the same."""
    return values[0] if values and all(value == values[0] for value in values) else None
