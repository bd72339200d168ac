"""The names of a home, indexed: what is looked up costs the same with ten devices and a thousand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.device import Device, Kind
from tools.home import Floor, Home, Room
from tools.names.areas import floors_also_called, within
from tools.names.words import fold, key_of, name_key, without_determiner

_SAME = {
    "first": "1", "1st": "1", "second": "2", "2nd": "2", "third": "3", "3rd": "3", "fourth": "4", "4th": "4",
    "upper": "top", "bottom": "lower", "lefthand": "left", "righthand": "right", "rear": "back",
    "large": "big", "bigger": "big", "larger": "big", "little": "small", "smaller": "small",
    "centre": "middle", "center": "middle", "television": "tv", "telly": "tv",
}  # fmt: skip
"""Words that tell one thing from another of its kind, and are as good as each other: "the second lamp", "lamp 2"."""


@dataclass(frozen=True)
class Area:
    """A room, a floor or a group.

    Attributes:
        name: Its stored name.
        inside: Devices that are reached through a room.
        own: Those that are listed themselves (a group's).
    """

    name: str
    inside: tuple[Device, ...]
    own: tuple[Device, ...] = ()

    @property
    def where(self) -> str:
        """ "in the kitchen", "on the first floor", "upstairs"; what has no name of its own is "there"."""
        return within(self.name) if self.name else "there"

    def of(self, kinds: frozenset[Kind], named: frozenset[Kind]) -> tuple[Device, ...]:
        """Its devices: those inside of some kinds, and of more kinds those that are listed themselves."""
        own = [device for device in self.own if device.kind in named]
        inside = [device for device in self.inside if device.kind in kinds]
        return tuple({device.id: device for device in (*own, *inside)}.values())


class Names:
    """Finds devices, rooms, floors and groups by names, and by parts of names.

    Attributes:
        devices: Each device by its folded names, as are the others.
        rooms: Each room.
        floors: Each floor.
        groups: Each group.
        places: The rooms and floors as the settings have them, by their stored names.
        words: All words of all names, folded.
        neighbours: The pairs of words that follow each other in a name.
        openings: The words that a name begins with.
    """

    def __init__(self, home: Home) -> None:
        self.everything = home.devices
        self.devices: dict[str, Device] = {}
        self.rooms: dict[str, Area] = {}
        self.floors: dict[str, Area] = {}
        self.groups: dict[str, Area] = {}
        places: tuple[Room | Floor, ...] = (*home.rooms, *home.floors)
        self.places = {each.name: each for each in places}
        self.words: set[str] = set()
        self.neighbours: set[tuple[str, str]] = set()
        self.openings: set[str] = set()
        self._order = {device.id: index for index, device in enumerate(home.devices)}
        self._by_name = {device.name: device for device in home.devices}
        self._by_word: dict[str, dict[str, Device]] = {}
        self._by_start: dict[str, dict[str, Device]] = {}
        self._rooms_by_start: dict[str, dict[str, Area]] = {}
        self._grams: dict[str, set[str]] = {}
        self._index_devices(home)
        self._index_areas(home)
        self._index_groups(home)
        taken = self.devices.keys() | self.rooms.keys() | self.groups.keys()
        for floor, also in floors_also_called([floor.name for floor in home.floors]):
            for key in {name_key(each) for each in also} - taken:
                self.floors.setdefault(key, self.floors[name_key(floor)])

    def area(self, tokens: Sequence[str]) -> Area | None:
        """The room, floor or group of that name."""
        key = key_of(list(tokens))
        return self.rooms.get(key) or self.floors.get(key) or self.groups.get(key)

    def are_one(self, tokens: list[str]) -> bool:
        """Whether the words are a name, so that an "and" or a "without" among them is part of it."""
        return key_of(tokens) in self.devices or self.area(tokens) is not None

    def rooms_beginning(self, tokens: list[str]) -> list[Area]:
        """The rooms whose names begin with these words; of "living room" also "living"."""
        return list(self._rooms_by_start.get(key_of(tokens), {}).values())

    def beginning(self, tokens: list[str]) -> list[Device]:
        """The devices whose names begin with these words."""
        return list(self._by_start.get(key_of(tokens), {}).values())

    def with_words(self, tokens: Iterable[str]) -> dict[str, Device]:
        """The devices whose names and aliases have all of these words, by their ids."""
        of_each = sorted((self._by_word.get(_SAME.get(token, token), {}) for token in tokens), key=len)
        if not of_each:
            return {}
        first, *others = of_each
        return {id: device for id, device in first.items() if all(id in other for other in others)}

    def beside(self, device: Device) -> tuple[Device, ...]:
        """The devices of its room, if it has one."""
        room = self.rooms[name_key(device.room)] if device.room is not None else None
        return room.inside if room is not None else ()

    def in_order(self, devices: Iterable[Device]) -> tuple[Device, ...]:
        """The devices in the order of the settings."""
        return tuple(sorted(devices, key=lambda device: self._order[device.id]))

    def similar(self, tokens: list[str], kinds: frozenset[Kind]) -> list[str]:
        """Stored names that share much of their spelling with the words, the likest first; good to suggest only.

        Args:
            tokens: The words.
            kinds: Devices only of these.
        """
        grams = _trigrams(key_of(tokens))
        rare = [self._grams[gram] for gram in grams if len(self._grams.get(gram, ())) in range(1, 200)]
        counts = Counter(name for names in rare for name in names)
        enough = max(2, len(grams) // 3)
        names = [
            name
            for name, count in counts.items()
            if count >= enough and (name not in self._by_name or self._by_name[name].kind in kinds)
        ]
        return sorted(names, key=lambda name: (-counts[name], len(name)))

    def _index_devices(self, home: Home) -> None:
        for device in home.devices:
            for name in (device.name, *device.aliases):
                tokens = self._remember(name, device.name)
                self.devices[key_of(tokens)] = device
                for token in tokens:
                    self._by_word.setdefault(_SAME.get(token, token), {})[device.id] = device
                for end in range(1, len(tokens)):
                    self._by_start.setdefault(key_of(tokens[:end]), {})[device.id] = device

    def _index_areas(self, home: Home) -> None:
        in_room: dict[str | None, list[Device]] = {}
        for device in home.devices:
            in_room.setdefault(device.room, []).append(device)
        on_floor: dict[str | None, list[Device]] = {}
        for room in home.rooms:
            area = Area(room.name, tuple(in_room.get(room.name, ())))
            on_floor.setdefault(room.floor, []).extend(area.inside)
            for name in (room.name, *room.aliases):
                tokens = self._remember(name, room.name)
                self.rooms[key_of(tokens)] = area
                starts = {key_of(tokens[:end]) for end in range(1, len(tokens))}
                if key_of(tokens).endswith("room"):
                    starts.add(key_of(tokens)[:-4])
                for start in starts:
                    self._rooms_by_start.setdefault(start, {})[room.name] = area
        for floor in home.floors:
            area = Area(floor.name, self.in_order(on_floor.get(floor.name, ())))
            for name in (floor.name, *floor.aliases):
                self.floors[key_of(self._remember(name, floor.name))] = area

    def _index_groups(self, home: Home) -> None:
        for group in home.groups:
            own: list[Device] = []
            inside: list[Device] = []
            for member in group.members:
                if member in self._by_name:
                    own.append(self._by_name[member])
                else:
                    inside.extend((self.rooms.get(name_key(member)) or self.floors[name_key(member)]).inside)
            area = Area(group.name, self.in_order(inside), self.in_order(own))
            for name in (group.name, *group.aliases):
                self.groups[key_of(self._remember(name, group.name))] = area

    def _remember(self, name: str, stored: str) -> list[str]:
        """The folded words of a name, known by now."""
        tokens = without_determiner(fold(name))
        self.words.update(tokens)
        self.neighbours.update(pairwise(tokens))
        self.openings.update(tokens[:1])
        for gram in _trigrams(key_of(tokens)):
            self._grams.setdefault(gram, set()).add(stored)
        return tokens


def _trigrams(key: str) -> set[str]:
    padded = f" {key} "
    return {padded[index : index + 3] for index in range(len(padded) - 2)}
