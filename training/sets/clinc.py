"""CLINC150: intents of assistants, and sentences that are out of scope. Only the function is judged.

Its labels are intents without values, so that a sentence is right with any function of its intent. Home, weather,
timer and clock are counted. A sentence of these intents that wants what no function does (the time of another place)
is in a row of its own, as nothing is to be called; the other intents that have a function are a row too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from training.sets import HERE, LeftOutError, Mapped, Placed, call, case, lines, words

FILE: Final = "clinc150_home_and_oos.jsonl"

_NUMBERS: Final = frozenset(
    "a an one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety"
    " half quarter couple few".split()
)
_LENGTHS: Final = frozenset("second seconds minute minutes mins min hour hours day days".split())

COUNTED: Final[dict[str, frozenset[str]]] = {
    "smart_home": frozenset(
        "turn_on_light turn_off_light brighten_light dim_light turn_on_switch turn_off_switch set_fan_speed"
        " change_fan_speed open_cover close_cover set_cover_position lock_door unlock_door set_temperature"
        " raise_temperature lower_temperature set_climate_mode get_temperature get_humidity get_state"
        " list_devices".split()
    ),
    "weather": frozenset({"get_current_weather", "get_weather_forecast"}),
    "timer": frozenset({"set_timer"}),
    "time": frozenset({"get_time"}),
    "date": frozenset({"get_date"}),
    "alarm": frozenset({"set_alarm", "get_alarms", "cancel_alarm"}),
}
"""The functions that are right for an intent of home, weather, timer and clock."""

OTHERS: Final[dict[str, frozenset[str]]] = {
    "reminder": frozenset({"get_reminders"}),
    "reminder_update": frozenset({"add_reminder"}),
    "shopping_list": frozenset({"get_list"}),
    "shopping_list_update": frozenset({"add_to_list", "remove_from_list", "complete_list_item"}),
    "todo_list": frozenset({"get_list"}),
    "todo_list_update": frozenset({"add_to_list", "remove_from_list", "complete_list_item"}),
    "next_song": frozenset({"next_track"}),
    "play_music": frozenset({"play_media"}),
    "change_volume": frozenset({"set_volume", "raise_volume", "lower_volume", "unmute_media"}),
}
"""The same for information, of intents whose sentences often leave out the value that a function needs."""

_BEYOND: Final[dict[str, frozenset[str]]] = {
    "smart_home": frozenset({"oven", "microwave"}),
    "time": frozenset({"in", "at", "zone", "timezone"}),
    "date": frozenset({"tomorrow", "tomorrow's", "days", "from"}),
    "weather": frozenset({"yesterday"}),
}
"""Words for what no function does: nothing cooks, no function tells the time of another place, the date of another
day, or the weather that was."""


def counted(path: Path) -> Mapped:
    """Home, weather, timer and clock."""
    return _mapped(path, COUNTED)


def without_function(path: Path) -> Mapped:
    """What is of the same intents, and no function does."""
    mapped = Mapped()
    for where, line in lines(path):
        if line["intent"] in COUNTED and _beyond(line["intent"], words(line["text"])):
            due = case(where, line["text"], category=line["intent"], room=HERE.casefold())
            mapped.placed.append(Placed(due, functions=frozenset()))
    return mapped


def others(path: Path) -> Mapped:
    """The other intents that have a function."""
    return _mapped(path, OTHERS)


def out_of_scope(path: Path) -> Mapped:
    """What no intent of the set fits: nothing is to be called."""
    mapped = Mapped()
    for where, line in lines(path):
        if line["intent"] == "oos":
            mapped.placed.append(Placed(case(where, line["text"], category="oos", room=HERE.casefold())))
    return mapped


def _mapped(path: Path, functions: dict[str, frozenset[str]]) -> Mapped:
    mapped = Mapped()
    for where, line in lines(path):
        intent, text = line["intent"], line["text"]
        if intent not in functions:
            continue
        try:
            right = _right(intent, words(text), functions[intent])
        except LeftOutError as error:
            mapped.left[f"{intent}: {error}"] += 1
            continue
        due = [call(min(right))] if right else []
        # The label is of an assistant that hears in a room; "the lights" are those in it.
        mapped.placed.append(Placed(case(where, text, due, intent, HERE.casefold()), functions=right))
    return mapped


def _right(intent: str, said: list[str], functions: frozenset[str]) -> frozenset[str]:
    """The functions that are right; none where a value is missing that has to be asked for."""
    if intent == "smart_home" and "channel" in said:
        raise LeftOutError("a device to be turned on, which can be, and a channel, which cannot be chosen")
    if _beyond(intent, said):
        raise LeftOutError("what no function does, in a row of its own")
    if intent == "timer" and not (_LENGTHS & set(said) and (_NUMBERS & set(said) or _digits(said))):
        return frozenset()  # how long is asked
    if intent == "alarm" and not (_digits(said) or _NUMBERS & (set(said) - {"a", "an"}) or {"noon"} & set(said)):
        return functions - {"set_alarm"} if {"what", "any", "which", "cancel", "off"} & set(said) else frozenset()
    return functions


def _beyond(intent: str, said: list[str]) -> bool:
    """Whether what is wished for is of the intent, and no function does it: any call would be a wrong answer."""
    return bool(_BEYOND.get(intent, frozenset()) & set(said)) and not (intent == "time" and "home" in said)


def _digits(said: list[str]) -> bool:
    return any(word[0].isdigit() for word in said)
