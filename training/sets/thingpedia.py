"""Commands written for Thingpedia, the skills of Stanford's assistant: lights, switches, thermostats, fans, locks,
covers and the weather. The label is a program in ThingTalk.

Counted is a plain first turn: one call of one device's function, with every value given, now. The home of a case has
what its label names: "living room" is a room with a lamp, "floor lamp" the lamp itself. Without a name the requester
is in the room with the only device of the kind, and with `all=true` all devices of the kind are meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.content import FunctionCallPart
from training.sets import ELSEWHERE, HERE, Home, LeftOutError, Mapped, Placed, call, case, lines, words

FILE: Final = "thingpedia_iot_written.jsonl"

DEVICES: Final[dict[str, str]] = {
    "iot.light-bulb": "light",
    "iot.switch": "plug",
    "iot.climate": "thermostat",
    "iot.fan": "fan",
    "iot.lock": "lock",
    "iot.cover": "blind",
}
"""Our kind of its devices; what a cover is, is said in the sentence."""

WEATHER: Final = "weather"

_COVERS: Final[dict[str, str]] = {
    "garage": "garage_door",
    "blind": "blind",
    "shade": "blind",
    "roller": "blind",
    "cover": "blind",
    "window": "window",
    "curtain": "curtain",
    "drape": "curtain",
    "shutter": "shutter",
    "awning": "awning",
    "sunshade": "awning",
}

_NOUNS: Final[dict[str, tuple[str, ...]]] = {
    "light": ("light", "lights", "lamp", "lamps", "licht", "bulb", "bulbs"),
    "plug": ("plug", "switch"),
    "thermostat": ("thermostat", "hvac", "ac"),
    "fan": ("fan", "fans"),
    "lock": ("lock", "door"),
    "window": ("window", "windows"),
    "curtain": ("curtain", "curtains", "drapes"),
    "blind": ("blind", "blinds", "shade", "shades"),
    "shutter": ("shutter", "shutters"),
    "awning": ("awning", "awnings", "sunshade"),
    "garage_door": ("garage door", "garage", "door", "doors", "opener"),
}
"""The words that end a device's own name; a name without one is where the device is."""

_ALSO_CALLED: Final[dict[str, tuple[str, ...]]] = {
    "thermostat": ("hvac", "ac", "a/c", "air conditioning", "climate system", "climate", "heating", "heater"),
    "fan": ("ventilation",),
    "plug": ("smart plug", "smart socket"),
    "light": ("smart bulb", "light bulb"),
}
"""What people call the only device of a kind, besides the kind."""

_ALL: Final = frozenset("all every each everywhere house any which both".split())
_COMING: Final = frozenset(
    "tomorrow tonight afternoon evening morning week weekend monday tuesday wednesday thursday"
    " friday saturday sunday later".split()
)
_FORECAST: Final = frozenset("today today's forecast will going expected supposed".split())

_MODES: Final[dict[str, str]] = {
    "off": "off",
    "heat": "heat",
    "cool": "cool",
    "dry": "dry",
    "fan_only": "fan",
    "auto": "auto",
    "heat_cool": "on",
}
_MODES_OF_ALL: Final = ("off", "heat", "cool", "dry", "fan", "auto", "eco")
_UNITS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "C": ("celsius", frozenset({"c", "celsius", "centigrade"})),
    "F": ("fahrenheit", frozenset({"f", "fahrenheit"})),
}
_EFFECTS: Final = frozenset({"color_loop", "alert_long"})
_STATES: Final = frozenset({"on", "off", "open", "closed", "locked", "unlocked"})
_LIST_KINDS: Final[dict[str, str]] = {"plug": "switch", "curtain": "blind", "shutter": "blind", "awning": "blind"}

_PROGRAM: Final = re.compile(
    r"(?:\[(?P<field>\w+)] of )?@org\.thingpedia\.(?P<device>(?:iot\.)?(?!iot\.)[a-z-]+)(?:\((?P<which>.*?)\))?"
    r"\.(?P<function>\w+)\((?P<values>.*?)\)(?: filter state == enum (?P<state>\w+))?;"
)
_EXECUTE: Final = "$dialogue @org.thingpedia.dialogue.transaction.execute; "


@dataclass(frozen=True)
class _Program:
    """A label: one call of one device."""

    device: str
    name: str | None
    all: bool
    function: str
    field: str | None
    values: Mapping[str, str]
    state: str | None


def plain(path: Path) -> Mapped:
    """The plain commands and questions of a first turn; a sentence that stands there twice counts once."""
    mapped = Mapped()
    seen = set()
    for where, line in lines(path):
        key = line["text"].casefold().strip(" .?!")
        if key in seen:
            mapped.left["a sentence that was there before"] += 1
            continue
        try:
            placed = _placed(where, line)
        except LeftOutError as error:
            mapped.left[str(error)] += 1
            continue
        seen.add(key)
        mapped.placed.append(placed)
    return mapped


def _placed(where: str, line: Mapping[str, Any]) -> Placed:
    program = _read(line)
    said = words(line["text"])
    if program.device == WEATHER:
        return _placed_weather(where, line["text"], program, said)
    kind = DEVICES[program.device]
    if kind == "blind":
        kind = next((_COVERS[stem] for word in reversed(said) if (stem := word.removesuffix("s")) in _COVERS), "")
        if not kind:
            raise LeftOutError("a cover that Hearth has not, such as a damper, or one that is not said")
    home = Home()
    home.room(HERE)
    everything = program.name is None and bool(_ALL & set(said)) and (program.all or "all" in said)
    if program.function.startswith(("set_", "raise_", "lower_")):
        home.device(f"{ELSEWHERE} light", "light", home.room(ELSEWHERE))  # a question would be about it as well
    place = _place(home, kind, program, everything)
    room = None if program.name or everything else HERE
    category = program.device.removeprefix("iot.")
    if program.function in _EFFECTS:
        # What an effect is called is said, and the label has none of the words.
        due = case(where, line["text"], [call("set_light_effect", room=place)], category, room)
        return Placed(due, home.settings(), functions=frozenset({"set_light_effect"}))
    calls = _CALLS[kind](program, place, said) if kind in _CALLS else _cover(program, place, kind)
    also: tuple[list[FunctionCallPart], ...] = ()
    if calls is None:
        calls, also = _question(program, kind, place, said)
    elif program.function == "set_power":
        # Each turns on and off the other's devices too: which one does it makes no difference.
        light, power = kind == "light", _enum(program.values["power"])
        also = ([call(f"turn_{power}_{'switch' if light else 'light'}", **{"device" if light else "room": place})],)
    more = tuple(case(where, line["text"], each, category, room) for each in also)
    return Placed(case(where, line["text"], calls, category, room), home.settings(), more)


def _read(line: Mapping[str, Any]) -> _Program:
    text = line["thingtalk"].removeprefix(_EXECUTE)
    if line["turn"] or line["agent_before"]:
        raise LeftOutError("a later turn, or an answer to a question")
    if line["has_placeholder"]:
        raise LeftOutError("a placeholder in the sentence")
    if "monitor" in text or "=>" in text:
        raise LeftOutError("a monitor, or something to be done at a time")
    if not set(re.findall(r"@org\.thingpedia\.((?:iot\.)?[a-z-]+)", text)) <= {*DEVICES, WEATHER}:
        raise LeftOutError("another kind of device")
    program = _PROGRAM.fullmatch(text) if text.count(";") == 1 else None
    if program is None:
        raise LeftOutError("several calls, or a program that is more than one call")
    if "$?" in program["values"]:
        raise LeftOutError("a value that the program leaves open")
    which = program["which"] or ""
    name = re.search(r'name="([^"]*)"', which)
    return _Program(
        program["device"],
        name[1].casefold() if name else None,
        "all=true" in which,
        program["function"],
        program["field"],
        dict(re.findall(r"(\w+)=((?:enum )?(?:new )?[^,()]+(?:\([^)]*\))?)", program["values"])),
        program["state"],
    )


def _place(home: Home, kind: str, program: _Program, everything: bool) -> str:
    """Words for what the label names, with the devices that it takes for granted.

    A label with `all=true` for a sentence that does not say so is about the only one that there is.
    """
    options: dict[str, Any] = {"modes": list(_MODES_OF_ALL)} if kind == "thermostat" else {}
    noun = _NOUNS[kind][0]
    if program.name is None:
        home.device(f"{HERE} {noun}", kind, HERE, aliases=list(_ALSO_CALLED.get(kind, ())), **options)
        if everything:
            home.device(f"{ELSEWHERE} {noun}", kind, ELSEWHERE)
            return "everywhere" if kind == "light" else f"all {noun}s"
        return f"{noun} in {HERE}"
    if program.name.split()[-1] in _NOUNS[kind]:
        return home.device(program.name, kind, HERE, **options)
    # "patio" is where it is, and what it is called besides; so is "ben", who has a light.
    room = home.room(program.name)
    # A plug is spoken of as what it switches.
    aliases = [program.name] if kind == "plug" else [f"{program.name}'s {noun}"]
    return home.device(f"{program.name} {noun}", kind, room, aliases=aliases, **options)


# The calls of a kind; None is a question about how something is


def _light(program: _Program, place: str, said: list[str]) -> list[FunctionCallPart] | None:
    values = program.values
    if program.function == "set_power":
        return [call("turn_on_light" if _enum(values["power"]) == "on" else "turn_off_light", room=place)]
    if program.function == "set_brightness":
        return [call("turn_on_light", room=place, brightness=int(values["pct"]))]
    if program.function == "set_color":
        return [call("turn_on_light", room=place, color=_enum(values["color"]))]
    if program.function in ("raise_brightness", "lower_brightness"):
        return [call("brighten_light" if program.function.startswith("raise") else "dim_light", room=place)]
    _check_asked(program, "power")
    return None


def _switch(program: _Program, place: str, said: list[str]) -> list[FunctionCallPart] | None:
    if program.function == "set_power":
        on = _enum(program.values["power"]) == "on"
        return [call("turn_on_switch" if on else "turn_off_switch", device=place)]
    _check_asked(program, "state")
    return None


def _lock(program: _Program, place: str, said: list[str]) -> list[FunctionCallPart] | None:
    if program.function == "set_state":
        return [call("lock_door" if _enum(program.values["state"]) == "lock" else "unlock_door", door=place)]
    _check_asked(program, "state")
    return None


def _cover(program: _Program, place: str, kind: str) -> list[FunctionCallPart] | None:
    if program.function == "set_openclose":
        if kind == "garage_door":
            opens = _enum(program.values["state"]) == "open"
            return [call("open_garage_door" if opens else "close_garage_door")]
        return [call("open_cover" if _enum(program.values["state"]) == "open" else "close_cover", cover=place)]
    _check_asked(program, "state")
    return None


def _climate(program: _Program, place: str, said: list[str]) -> list[FunctionCallPart] | None:
    values = program.values
    if program.function == "set_target_temperature":
        number, unit = re.fullmatch(r"([\d.]+)(\w+)", values["value"]).groups()  # type: ignore[union-attr]
        spoken, names = _UNITS.get(unit, (None, frozenset()))
        # The label has a unit even where nobody said one; then it is the home's.
        heard = spoken if names & set(said) else None
        return [call("set_temperature", temperature=float(number), room=place, unit=heard)]
    if program.function == "set_hvac_mode" and _enum(values["mode"]) in _MODES:
        return [call("set_climate_mode", mode=_MODES[_enum(values["mode"])], room=place)]
    if program.function == "set_hvac_onoff":
        return [call("set_climate_mode", mode=_enum(values["value"]), room=place)]
    if program.function == "set_hvac_preset" and _enum(values["preset"]) == "eco":
        return [call("set_climate_mode", mode="eco", room=place)]
    if program.function in ("target_temperature", "hvac_preset"):
        return [call("get_state", device=place)]  # it tells what a thermostat is set to
    if program.function == "current_temperature":
        return [call("get_temperature", room=place)]
    if program.function == "current_humidity":
        return [call("get_humidity", room=place)]
    _check_asked(program, "hvac_action")
    return None


_CALLS: Final = {
    "light": _light,
    "plug": _switch,
    "fan": _switch,
    "lock": _lock,
    "thermostat": _climate,
}


def _check_asked(program: _Program, function: str) -> None:
    if program.function != function:
        raise LeftOutError(f"no function: {program.device}.{program.function}")


def _question(
    program: _Program, kind: str, place: str, said: list[str]
) -> tuple[list[FunctionCallPart], tuple[list[FunctionCallPart], ...]]:
    """How one is, is `get_state`; which and whether any are, is `list_devices`, with the state that was said.

    The program is the same for "is the light on" and "are any lights on": where no name was said, either is right.
    """
    told = [program.state] if program.state else [word for word in said if word in _STATES]
    listed = [
        [call("list_devices", kind=_LIST_KINDS.get(kind, kind), state=state)] for state in dict.fromkeys([*told, None])
    ]
    one = [call("get_state", device=place)]
    if program.all:
        return listed[0], (*listed[1:], one)
    return one, () if program.name else tuple(listed)


def _placed_weather(where: str, text: str, program: _Program, said: list[str]) -> Placed:
    """The skill told the weather of now, and its label has it for sentences about a day to come too.

    "Today" may be told either way; of another day the label does not hold what was said, and the sentence does.
    """
    if program.function not in ("current", "forecast"):
        raise LeftOutError("no function: the weather tells no sunrise")
    if program.field not in (None, "temperature"):
        raise LeftOutError("no function: the weather tells no humidity and no wind")
    found = re.search(r'new Location\("([^"]*)"\)', program.values.get("location", ""))
    location = found[1].replace(" ,", ",") if found else None
    coming = [word for word in said if word in _COMING]
    days: list[str | None] = [words for day in coming for words in (day, f"this {day}")]
    if not coming and (_FORECAST & set(said) or program.function == "forecast"):
        days = [*(["today"] if {"today", "today's"} & set(said) else []), None]
    due = [] if coming else [call("get_current_weather", location=location)]
    due += [call("get_weather_forecast", day=day, location=location) for day in days]
    first, *others = [case(where, text, [each], WEATHER, HERE) for each in due]
    return Placed(first, Home().settings(), tuple(others))


def _enum(value: str) -> str:
    return value.removeprefix("enum ")
