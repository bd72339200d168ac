"""What bridges have found, put into the home: under names that people can say, in rooms, and in groups.

Where a device is, its own name tells, as people name them at their bridge:

1. "kitchen/ceiling light" is the ceiling light in the kitchen, a room of the settings or else one of its own; of
   several words before a "/" the one nearest to the name that is a room counts;
2. "kitchen ceiling light" and "lamp kitchen" are in the kitchen too, where the settings have such a room;
3. any other is in no room.

A table `[[tools.device]]` says otherwise. An underscore is a space. Names are outside text: they are cleaned, and what
nobody could say, or is the name of something else, is left out and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.plain_text import shortened
from tools.device import LIGHTS, SWITCHES, Device
from tools.drivers import FoundGroup
from tools.home import Group, Home, Room
from tools.names.kinds import KIND_WORDS
from tools.names.phrases import names_nothing
from tools.names.words import fold, key_of, name_key

_LONGEST = 80
"""What of a longer name is not kept, in characters."""

_ENTRANCES = [["door"], ["gate"], ["lock"], ["latch"], ["opener"]]
"""Last words of what may let somebody in: a relay that is called so is moved once its owner says what it is."""


@dataclass
class _Names:
    """The folded names that are taken, and what has each."""

    rooms: dict[str, str]
    floors: dict[str, str]
    devices: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)


def with_found(home: Home, devices: Sequence[Device], groups: Sequence[FoundGroup]) -> tuple[Home, tuple[str, ...]]:
    """The home of the settings with what bridges have.

    Args:
        home: That of the settings.
        devices: What was found; one with the id of a device of the settings takes its place.
        groups: The bridges' groups, of ids.

    Returns:
        The home, and a sentence for each thing that is left out.
    """
    found = {device.id: device for device in devices}
    own = tuple(found.pop(device.id, device) for device in home.devices)
    names = _Names(_keys(home.rooms), _keys(home.floors), _keys(own), _keys(home.groups))
    rooms, brought, left_out = list(home.rooms), list(own), []
    # What says its room before a "/" may be the first to say that there is such a room.
    by_place = sorted(found.values(), key=lambda device: "/" not in device.name)
    placed = {device.id: device.room or _room_of(device.name, names, rooms) for device in by_place}
    for device in found.values():
        if device.kind in LIGHTS | SWITCHES and fold(device.name)[-1:] in _ENTRANCES:
            left_out.append(
                f'the {device.kind.value} "{shortened(device.name, _LONGEST)}" is left out, as it may let somebody in: '
                "give it a table [[tools.device]] that says what it is, or another name"
            )
            continue
        room = placed[device.id]
        name = next((each for each in _spoken(device.name, room) if _is_free(each, names.devices | names.groups)), None)
        if name is None:
            left_out.append(_left_out("device", device.name, names.devices | names.groups))
            continue
        names.devices[name_key(name)] = name
        brought.append(replace(device, name=name, room=room))
    by_id = {device.id: device.name for device in brought}
    made = list(home.groups)
    for group in groups:
        members = tuple(by_id[device_id] for device_id in group.members if device_id in by_id)
        taken = names.devices | names.groups
        name = next((each for each in _spoken(group.name, None) if _is_free(each, taken)), None)
        # A room of that name has all that is in it.
        if not members or (name and name_key(name) in names.rooms | names.floors):
            continue
        if name is None:
            left_out.append(_left_out("group", group.name, taken))
            continue
        names.groups[name_key(name)] = name
        made.append(Group(name, members))
    return Home(home.floors, tuple(rooms), tuple(made), tuple(brought)), tuple(left_out)


def _keys(named: Sequence[Room | Device | Group] | Sequence[object]) -> dict[str, str]:
    return {name_key(name): each.name for each in named for name in (each.name, *each.aliases)}  # type: ignore[attr-defined]


def _segments(name: str) -> list[str]:
    parts = (shortened(" ".join(part.replace("_", " ").split()), _LONGEST) for part in name.split("/"))
    return [part for part in parts if part]


def _room_of(name: str, names: _Names, rooms: list[Room]) -> str | None:
    """The stored name of the room that a name says, which may be a new one."""
    segments = _segments(name)
    if len(segments) > 1:
        *places, _ = segments
        for place in reversed(places):
            if (key := name_key(place)) in names.rooms:
                return names.rooms[key]
        key = name_key(places[-1])
        if not _is_free(places[-1], names.floors | names.groups) or key in KIND_WORDS:
            return None
        floor = next((names.floors[name_key(each)] for each in places if name_key(each) in names.floors), None)
        rooms.append(Room(places[-1], floor))
        names.rooms[key] = places[-1]
        return places[-1]
    words = fold(segments[0]) if segments else []
    for size in range(len(words), 0, -1):
        for some in (words[:size], words[-size:]):
            if key_of(some) in names.rooms:
                return names.rooms[key_of(some)]
    return None


def _spoken(name: str, room: str | None) -> list[str]:
    """What it may be called, the best first: "kitchen/ceiling light" is the kitchen ceiling light."""
    segments = _segments(name)
    if not segments:
        return []
    *places, last = segments
    if not places:
        return [last]
    where = room if room is not None else places[-1]
    said = set(fold(last))
    if any(set(fold(each)) <= said for each in (where, *places)) or name_key(where) in KIND_WORDS:
        return [last, " ".join(segments)]
    return [f"{where} {last}", " ".join(segments)]


def _is_free(name: str, taken: dict[str, str]) -> bool:
    key = name_key(name)
    return bool(key) and key not in taken and not names_nothing(fold(name))


def _left_out(what: str, name: str, taken: dict[str, str]) -> str:
    shown = shortened(name, _LONGEST)
    key = name_key(next(iter(_spoken(name, None)), ""))
    if key in taken:
        return (
            f'the {what} "{shown}" is left out, as "{taken[key]}" has that name already; case, accents and spaces do '
            "not count: rename one of them"
        )
    return f'the {what} "{shown}" is left out, as nothing can be called so: rename it'
