"""Home Assistant's own English intent tests: the intents of `docs/intents.md`.

The home of a case is that of its test, or the tests' common one where it has none of its own, with what the label
takes for granted: the room or floor that it names has a device of the kind. Calls are compared by what they would
move in that home; what the tests answer is not compared. A label without a place was tested as said in a room.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from agent.content import FunctionCallPart
from training.sets import ELSEWHERE, HERE, Home, LeftOutError, Mapped, Placed, call, case, lines, words

FILE: Final = "ohf_intents_tests_en.jsonl"
FIXTURES: Final = "ohf_intents_tests_en.fixtures.json"

Slots = Mapping[str, Any]

_KINDS: Final[dict[str, str]] = {
    "light": "light",
    "switch": "switch",
    "fan": "fan",
    "lock": "lock",
    "climate": "thermostat",
    "vacuum": "vacuum",
    "lawn_mower": "mower",
}
_COVERS: Final[dict[str, str]] = {
    "window": "window",
    "curtain": "curtain",
    "blind": "blind",
    "shade": "blind",
    "shutter": "shutter",
    "awning": "awning",
    "garage": "garage_door",
    "garage_door": "garage_door",
}
"""Our kind for a device class of a cover; where the tests give none, the name says it."""

_NOUNS: Final[dict[str, str]] = {"window": "windows", "curtain": "curtains", "blind": "blinds", "shutter": "shutters"}

_ON_SWITCH: Final = frozenset({"switch", "plug", "fan", "television", "speaker"})
_OPENING: Final = frozenset({"blind", "curtain", "shutter", "awning", "window"})

_ASKED: Final[dict[str, str]] = {
    "light": "light",
    "lights": "light",
    "fan": "fan",
    "fans": "fan",
    "switch": "switch",
    "switches": "switch",
    "window": "window",
    "windows": "window",
    "lock": "lock",
    "locks": "lock",
    "door": "door",
    "doors": "door",
}
"""The kind that a question is about: the label of a question has a state and a place, but no kind."""


def intents(path: Path) -> Mapped:
    """The tests, with the homes of the file beside them."""
    common = json.loads((path.parent / FIXTURES).read_text(encoding="utf-8"))
    mapped = Mapped()
    for where, line in lines(path):
        try:
            mapped.placed.append(_placed(where, line, common))
        except LeftOutError as error:
            mapped.left[f"{line['intent']}: {error}"] += 1
    return mapped


def _placed(where: str, line: Mapping[str, Any], common: Mapping[str, Any]) -> Placed:
    intent, slots = line["intent"], line["slots"]
    home = _Built(line.get("home") or common, slots, line["text"], line["combination"])
    try:
        calls = _INTENTS[intent](home)
    except _NoKindError:
        calls, home.also = [], _moving_nothing(intent, slots)
    room = HERE if home.here else None
    also = [case(where, line["text"], each, intent, room) for each in home.also]
    return Placed(case(where, line["text"], calls, intent, room), home.settings(), tuple(also))


class _NoKindError(Exception):
    """The label names a device of a kind that Hearth has not, such as a valve."""


def _moving_nothing(intent: str, slots: Slots) -> list[list[FunctionCallPart]]:
    """Calls for a device that is not there: the house answers that it knows none, so they are as right as no call."""
    function, value = _INSTEAD[intent]
    names = [slots["name"], *(f"{slots['name']} on the {slots[key]}" for key in ("floor",) if key in slots)]
    calls = [call(function, cover=name, position=slots.get(value)) for name in names]
    if intent in _SWITCHED:
        calls += [call(_SWITCHED[intent], device=name) for name in names]
    return [[each] for each in calls]


_INSTEAD: Final[dict[str, tuple[str, str]]] = {
    "HassTurnOn": ("open_cover", ""),
    "HassTurnOff": ("close_cover", ""),
    "HassSetPosition": ("set_cover_position", "position"),
}
_SWITCHED: Final[dict[str, str]] = {"HassTurnOn": "turn_on_switch", "HassTurnOff": "turn_off_switch"}


# The home of a test


class _Built:
    """A test with its home, while its calls are put together.

    Attributes:
        slots: Its label.
        said: The words of its sentence.
        here: It was tested as said in a room.
        also: Other calls that the label fits as well.
    """

    def __init__(self, tested: Mapping[str, Any], slots: Slots, text: str, combination: str) -> None:
        self.slots = slots
        self.said = words(text)
        self.also: list[list[FunctionCallPart]] = []
        everywhere = combination == "domain_all" or ("all" in self.said and not {"here", "room"} & set(self.said))
        self.here = not {"area", "floor", "name"} & slots.keys() and not everywhere
        self._home = Home()
        self._home.room(HERE)
        self._kinds: dict[str, str] = {}
        self._read(tested)
        self._home.device(f"{ELSEWHERE} light", "light", self._home.room(ELSEWHERE))

    def _read(self, tested: Mapping[str, Any]) -> None:
        floors = {each.get("id", each["name"]): self._home.floor(each["name"]) for each in tested.get("floors", ())}
        areas = {}
        for each in tested.get("areas", ()):
            floor = each.get("floor")
            areas[each.get("id", each["name"])] = self._home.room(each["name"], floors.get(floor, floor))
        for each in tested.get("entities", ()):
            area = each.get("area")
            self._entity(each, areas.get(area, area))

    def _entity(self, entity: Mapping[str, Any], room: str | None) -> None:
        domain = entity.get("domain") or entity["id"].split(".")[0]
        name = entity["name"].replace("[']", "'")
        given = (entity.get("attributes") or {}).get("device_class")
        kind, more = _kind(domain, given, name), {}
        if kind in ("scene", "script", "person"):
            self._kinds[name.casefold()] = kind
        elif kind == "list":
            self._home.lists[name.casefold()] = {"name": name.replace("'", "")}
        elif kind is not None:
            if kind == "sensor":
                more = {"measures": given or "temperature", "unit": "celsius"}
            elif kind == "detector":
                more = {"measures": given or "motion"}
            self._home.device(name, kind, room, **more)
            self._kinds.setdefault(name.casefold(), kind)

    def settings(self) -> dict[str, Any]:
        """The table `tools`, with the scenes and scripts, which need something to move."""
        for name, kind in self._kinds.items():
            light = f"{ELSEWHERE} light"
            if kind == "scene":
                self._home.scenes[name] = {"name": name, "states": [{"device": light, "on": True}]}
            elif kind == "script":
                steps = [{"function": "turn_off_light", "arguments": {"room": light}}]
                self._home.scripts[name] = {"name": name, "steps": steps}
        return self._home.settings()

    # What the label is about

    def kind_of(self, name: str) -> str:
        """Our kind of the device that the label names."""
        kind = self._kinds.get(name.casefold())
        if kind is None:
            raise _NoKindError(name)
        return kind

    def named(self, kind: str | None = None) -> str | None:
        """The device of the label, put into the label's room or onto its floor."""
        name = self.slots.get("name")
        if name is None:
            return None
        own = self._kinds.get(name.casefold(), kind)
        if own is None:
            raise _NoKindError(name)
        floor = self.slots.get("floor")
        room = self.slots.get("area") or (self._home.room_on(self._home.floor(floor)) if floor else None)
        return self._home.device(name, own, room)

    def place(self, kind: str, noun: str = "") -> str:
        """Words for what the label is about, by its name, room or floor, or the requester's room."""
        if named := self.named(kind):
            return named
        area, floor = self.slots.get("area"), self.slots.get("floor")
        if area:
            self._presume(kind, [self._home.room(area)])
            return f"{area} {noun}".strip()
        if floor:
            self._home.floor(floor)
            self._home.room_on(floor)
            self._presume(kind, [each["name"] for each in self._home.rooms.values() if each.get("floor") == floor])
            return f"{floor} {noun}".strip()
        self._presume(kind, [HERE])
        if self.here:
            return f"{noun} in {HERE}" if noun else HERE
        return f"all {noun}" if noun else "everywhere"

    def _presume(self, kind: str, rooms: list[str]) -> None:
        """What is spoken of is there; one that the test did not put anywhere is put there."""
        kinds = {kind} if kind != "speaker" else {"speaker", "television"}
        if self._home.has(kinds, rooms):
            return
        for device in self._home.devices.values():
            if device["kind"] in kinds and "room" not in device:
                device["room"] = rooms[0]
                return
        self._home.device(f"{rooms[0]} {kind.replace('_', ' ')}", kind, rooms[0])


def _kind(domain: str, given: str | None, name: str) -> str | None:
    """Our kind of an entity; None where Hearth has none, as for a valve or a person."""
    folded = name.casefold()
    if domain == "cover":
        if given is not None or "garage" in folded:
            return _COVERS[given or "garage"]
        return next((kind for word, kind in _COVERS.items() if word in folded), None)
    if domain == "media_player":
        return "television" if "tv" in folded.split() else "speaker"
    if domain == "binary_sensor":
        return "door" if folded.endswith("door") else "detector"
    if domain == "sensor":
        # A name that two sensors of the common home share could not be told apart, and no test asks about them.
        return "sensor" if given in (None, "temperature", "humidity") else None
    return {**_KINDS, "todo": "list", "scene": "scene", "script": "script", "person": "person"}.get(domain)


# The calls of an intent


def _turned(home: _Built, on: bool) -> list[FunctionCallPart]:
    """On is also open, lock and activate; off is close and unlock."""
    slots = home.slots
    kind = home.kind_of(slots["name"]) if "name" in slots else _of_label(slots)
    if kind == "scene":
        return [call("activate_scene", scene=slots["name"])]
    if kind == "script":
        return [call("run_script", script=slots["name"])]
    light, switch = ("turn_on_light", "turn_on_switch") if on else ("turn_off_light", "turn_off_switch")
    # Each turns on and off the other's devices too, where they are named or their kind is said.
    if kind == "light":
        home.also.append([call(switch, device=home.place("light", "lights"))])
        return [call(light, room=home.place("light"))]
    if kind in _ON_SWITCH:
        place = home.place(kind, f"{kind}s")
        home.also.append([call(light, room=place)])
        return [call(switch, device=place)]
    if kind == "lock":
        return [call("lock_door" if on else "unlock_door", door=home.place("lock"))]
    if kind == "garage_door":
        home.place("garage_door")
        return [call("open_garage_door" if on else "close_garage_door", door=slots.get("name"))]
    if kind in _OPENING:
        return [call("open_cover" if on else "close_cover", cover=home.place(kind, _NOUNS.get(kind, "")))]
    raise LeftOutError(f"no function for a {kind}")


def _of_label(slots: Slots) -> str:
    if slots["domain"] == "cover":
        return _COVERS[slots["device_class"]]
    kind = _KINDS.get(slots["domain"])
    if kind is None:
        raise LeftOutError("devices of a kind that Hearth has not")
    return kind


def _light_set(home: _Built) -> list[FunctionCallPart]:
    slots = home.slots
    color = slots.get("color")
    if "temperature" in slots:
        color = f"{slots['temperature']} kelvin"
    return [call("turn_on_light", room=home.place("light"), brightness=slots.get("brightness"), color=color)]


def _fan_speed(home: _Built) -> list[FunctionCallPart]:
    return [call("set_fan_speed", fan=home.place("fan"), speed=home.slots["percentage"])]


def _position(home: _Built) -> list[FunctionCallPart]:
    slots = home.slots
    kind = home.kind_of(slots["name"]) if "name" in slots else _of_label(slots)
    return [call("set_cover_position", cover=home.place(kind, _NOUNS.get(kind, "")), position=slots["position"])]


def _temperature(home: _Built) -> list[FunctionCallPart]:
    value = home.slots["temperature"]
    room = home.place("thermostat")
    if not 5 <= value <= 95:
        return []  # out of the declared range: asked about
    return [call("set_temperature", temperature=value, room=room)]


def _get_temperature(home: _Built) -> list[FunctionCallPart]:
    return [call("get_temperature", room=home.place("thermostat"))]


def _state(home: _Built) -> list[FunctionCallPart]:
    """A name is about one device; a state without one is a question about several."""
    slots = home.slots
    home.here = False  # which, how many, any and all are of the whole home where no place is said
    if "name" in slots:
        if home.kind_of(slots["name"]) == "person":
            return []  # Hearth does not follow people
        if "state" not in slots and home.kind_of(slots["name"]) == "sensor":
            return [call("get_temperature", room=home.named())]
        return [call("get_state", device=home.named())]
    kind = slots.get("device_class") or next((_ASKED[word] for word in home.said if word in _ASKED), None)
    if kind is None:
        return []  # "who is home": a question about people
    home.place("lock" if kind == "door" else kind)
    return [call("list_devices", kind=kind, state=slots["state"], room=slots.get("area") or slots.get("floor"))]


def _weather(home: _Built) -> list[FunctionCallPart]:
    return [call("get_current_weather", location=home.slots.get("name"))]


def _length(slots: Slots, start: bool = False) -> str | None:
    """The length that a label's numbers come to, in words."""
    parts = [
        f"{slots[key]} {unit}"
        for unit in ("hours", "minutes", "seconds")
        if (key := f"start_{unit}" if start else unit) in slots
    ]
    return " ".join(parts) or None


def _which_timer(slots: Slots) -> str | None:
    """A timer's name, length or room: all three are words for it."""
    return slots.get("name") or slots.get("area") or _length(slots, start=True)


def _start_timer(home: _Built) -> list[FunctionCallPart]:
    slots = home.slots
    if command := slots.get("conversation_command"):
        return [call("do_later", command=command, delay=_length(slots))]
    return [call("set_timer", duration=_length(slots), name=slots.get("name"))]


def _timer(name: str) -> Callable[[_Built], list[FunctionCallPart]]:
    return lambda home: [call(name, timer=_which_timer(home.slots))]


def _changed_timer(name: str) -> Callable[[_Built], list[FunctionCallPart]]:
    return lambda home: [call(name, duration=_length(home.slots), timer=_which_timer(home.slots))]


def _cancel_all(home: _Built) -> list[FunctionCallPart]:
    area = home.slots.get("area")
    return [call("cancel_timer", timer=f"all {area}" if area else "all")]


def _player(home: _Built) -> str:
    return home.place("speaker")


def _of_player(name: str) -> Callable[[_Built], list[FunctionCallPart]]:
    return lambda home: [call(name, player=_player(home))]


def _play(home: _Built) -> list[FunctionCallPart]:
    """The label has a class of media beside the words to look for; Hearth has one parameter for all of it."""
    query, player = home.slots["search_query"], _player(home)
    if sort := home.slots.get("media_class", "").replace("_", " "):
        queries = (f"{sort} {query}", f"{query} {sort}")
        home.also += [[call("play_media", query=each, player=player)] for each in queries]
    return [call("play_media", query=query, player=player)]


def _volume(home: _Built) -> list[FunctionCallPart]:
    return [call("set_volume", volume=home.slots["volume_level"], player=_player(home))]


def _relative_volume(home: _Built) -> list[FunctionCallPart]:
    step = home.slots["volume_step"]
    if isinstance(step, str):
        return [call("raise_volume" if step == "up" else "lower_volume", player=_player(home))]
    return [call("raise_volume" if step > 0 else "lower_volume", player=_player(home), amount=abs(step))]


def _vacuum(home: _Built) -> list[FunctionCallPart]:
    name = home.named("vacuum")
    area = home.slots.get("area") or home.slots.get("floor")
    home.place("vacuum")
    return [call("start_vacuum", area=area or (HERE if home.here else None), vacuum=name)]


def _start_vacuum(home: _Built) -> list[FunctionCallPart]:
    return [call("start_vacuum", area=home.slots.get("floor"), vacuum=home.named("vacuum"))]


def _dock_mower(home: _Built) -> list[FunctionCallPart]:
    """The label takes "stop" for "dock", as there is no intent to stop; Hearth has a function for it."""
    mower = home.named("mower")
    if {"stop", "cancel", "pause"} & set(home.said):
        home.also.append([call("stop_mower", mower=mower)])
    return [call("dock_mower", mower=mower)]


def _complete(home: _Built) -> list[FunctionCallPart]:
    """The label takes "remove" for "complete" on the shopping list; Hearth has a function for it."""
    item, name = home.slots["item"], home.slots.get("name")
    if "name" not in home.slots and {"remove", "delete"} & set(home.said):
        home.also.append([call("remove_from_list", item=item)])
    return [call("complete_list_item", item=item, list=name)]


def _listed(name: str) -> Callable[[_Built], list[FunctionCallPart]]:
    return lambda home: [call(name, item=home.slots["item"], list=home.slots.get("name"))]


_INTENTS: Final[dict[str, Callable[[_Built], list[FunctionCallPart]]]] = {
    "HassTurnOn": lambda home: _turned(home, True),
    "HassTurnOff": lambda home: _turned(home, False),
    "HassLightSet": _light_set,
    "HassFanSetSpeed": _fan_speed,
    "HassSetPosition": _position,
    "HassClimateSetTemperature": _temperature,
    "HassClimateGetTemperature": _get_temperature,
    "HassGetState": _state,
    "HassGetWeather": _weather,
    "HassGetCurrentTime": lambda home: [call("get_time")],
    "HassGetCurrentDate": lambda home: [call("get_date")],
    "HassStartTimer": _start_timer,
    "HassCancelTimer": _timer("cancel_timer"),
    "HassCancelAllTimers": _cancel_all,
    "HassTimerStatus": _timer("get_timers"),
    "HassPauseTimer": _timer("pause_timer"),
    "HassUnpauseTimer": _timer("resume_timer"),
    "HassIncreaseTimer": _changed_timer("extend_timer"),
    "HassDecreaseTimer": _changed_timer("shorten_timer"),
    "HassMediaSearchAndPlay": _play,
    "HassMediaPause": _of_player("pause_media"),
    "HassMediaUnpause": _of_player("resume_media"),
    "HassMediaNext": _of_player("next_track"),
    "HassMediaPrevious": _of_player("previous_track"),
    "HassSetVolume": _volume,
    "HassSetVolumeRelative": _relative_volume,
    "HassMediaPlayerMute": _of_player("mute_media"),
    "HassMediaPlayerUnmute": _of_player("unmute_media"),
    "HassVacuumStart": _start_vacuum,
    "HassVacuumCleanArea": _vacuum,
    "HassVacuumReturnToBase": lambda home: [call("dock_vacuum", vacuum=home.named("vacuum"))],
    "HassLawnMowerStartMowing": lambda home: [call("start_mower", mower=home.named("mower"))],
    "HassLawnMowerDock": _dock_mower,
    "HassShoppingListAddItem": _listed("add_to_list"),
    "HassListAddItem": _listed("add_to_list"),
    "HassShoppingListCompleteItem": _complete,
    "HassListCompleteItem": _complete,
    "HassListRemoveItem": _listed("remove_from_list"),
    "HassBroadcast": lambda home: [call("announce", message=home.slots["message"])],
    "HassNevermind": lambda home: [],
    "HassRespond": lambda home: [],
}
"""The intents of `docs/intents.md`. For small talk and "never mind" nothing is to be called."""
