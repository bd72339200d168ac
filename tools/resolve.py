"""What a person calls a room, a lamp or a group, turned into devices.

The order in which words are looked up; the first that fits ends it:

1. the whole span, exactly: a device or alias, a group, a room, a floor;
2. the whole house: "all", "everything", "everywhere", "the whole house" - never without such a word;
3. exceptions and lists: "everything except the bedroom", "the kitchen and the hall";
4. the span without its kind of device ("lights", "lamp", "fan", "windows"): as 1, but for a plural
   ("the living room lights") rooms come before devices of the same name;
5. something in a place: "lamp by the couch in the living room", "lights upstairs", "kitchen fan";
6. the beginning of a room's name ("living"), then of a device's ("reading"), then some of a device's words.

Exact means after folding (`tools.words`). A device is reached through its room only by a function of its own
kind; one that is named itself, or is listed itself in a group, by every function that could move it. So
nothing that is said of a room's lights moves its television, and "turn on the coffee machine" works whichever
function the model chose. What fits nothing, or more than one where one is meant, is a `PlaceError` with at
most five candidates; nothing is guessed from spelling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agent.errors import ArgumentError
from tools.drivers import ANY, LIGHTS, ON_OFF, SWITCHES, Device, Kind
from tools.home import Home
from tools.speech import listed, noun, the
from tools.words import fold, key_of, name_key, without_determiner

MAX_CANDIDATES = 5

MAX_WORDS = 60
"""More than that is no name and no list of names; looking for one would take long."""


class PlaceError(ArgumentError):
    """Words that name nothing here, or more than one thing where one is meant.

    Attributes:
        candidates: What may have been meant, at most five stored names.
    """

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


@dataclass(frozen=True)
class Wish:
    """What a function asks the resolver for.

    Attributes:
        kinds: What is reached through a room, a floor or "all".
        named: What is reached by a name of its own.
        whole_rooms: A bare room stands for all that is in it; else only for the one device that is.
        asking: Nothing will be moved, so "the windows" may stand for all windows of the house.
    """

    kinds: frozenset[Kind]
    named: frozenset[Kind]
    whole_rooms: bool = True
    asking: bool = False


SWITCH_LIGHTS = Wish(LIGHTS, ON_OFF)
DIM_LIGHTS = Wish(LIGHTS, LIGHTS)
# "turn off the kitchen" must not cut the fridge's plug because the model took it for a switch.
SWITCH_PLUGS = Wish(SWITCHES, ON_OFF, whole_rooms=False)
ASK = Wish(ANY, ANY, asking=True)


@dataclass(frozen=True)
class Found:
    """What the words stand for.

    Attributes:
        devices: In the order of the settings; never empty.
        label: What it is called in an answer, with its article: "the kitchen lights".
        where: "in the kitchen", "on the first floor", "upstairs": the area that was named; "" without one.
    """

    devices: tuple[Device, ...]
    label: str
    where: str = ""


@dataclass(frozen=True)
class _Area:
    """A room, a floor or a group.

    Attributes:
        own: Devices that are listed themselves (a group's).
        inside: Those that are reached through a room.
    """

    name: str
    inside: tuple[Device, ...]
    own: tuple[Device, ...] = ()

    @property
    def where(self) -> str:
        """ "in the kitchen", "on the first floor", "upstairs"."""
        last = self.name.casefold().split()[-1] if self.name else "there"
        if last == "there":
            return last  # what an exception is taken from has no name of its own
        if last in ("upstairs", "downstairs", "outside", "inside", "outdoors"):
            return self.name
        return f"{'on' if last in ('floor', 'level', 'storey') else 'in'} {the(self.name)}"

    def of(self, wish: Wish) -> tuple[Device, ...]:
        own = [device for device in self.own if device.kind in wish.named]
        inside = [device for device in self.inside if device.kind in wish.kinds]
        return tuple({device.id: device for device in (*own, *inside)}.values())


_KIND_WORDS: dict[str, tuple[frozenset[Kind], bool]] = {
    word: (kinds, bool(plural))
    for kinds, singular_words, plural_words in (
        (LIGHTS, "light lamp bulb", "lights lamps bulbs lighting"),
        (SWITCHES, "switch", "switches"),
        (frozenset({Kind.PLUG}), "plug socket outlet", "plugs sockets outlets"),
        (frozenset({Kind.FAN}), "fan", "fans"),
        (frozenset({Kind.WINDOW}), "window", "windows"),
        (frozenset({Kind.DOOR, Kind.GARAGE_DOOR, Kind.LOCK}), "door", "doors"),
        (ANY, "device thing appliance", "devices things appliances stuff"),
    )
    for plural, words in enumerate((singular_words, plural_words))
    for word in words.split()
}
"""A word for a kind of device, and whether it means several."""

_ALL = {"all", "every", "everything", "each", "everywhere"}
_ANY = {"any", "anything", "anywhere"}
"""As `_ALL`, in a question: "is anything on?"."""

_HOUSE = {"house", "wholehouse", "entirehouse", "home", "wholehome", "entirehome", "wholeplace"}
_IN = {"in", "on", "at", "of", "from", "inside", "within", "throughout", "around"}
_TOLERATED = {"room", "1", "ones", "floor", "area", "there"}
"""Words after a name that do not belong to it ("1" is a folded "one": "the kitchen one")."""

_EXCEPT = (
    ["except", "for"], ["except"], ["but", "not"], ["but"], ["apart", "from"], ["aside", "from"],
    ["other", "than"], ["excluding"], ["excepting"], ["without"], ["besides"], ["not"],
)  # fmt: skip
_EMPTY = {*_IN, *_TOLERATED, "rooms", "it", "them", "off", "up", "down", "the", "and", "please"}
"""Words that alone name nothing."""


class Resolver:
    """Looks names up in a home; a look-up costs the same with ten devices and a thousand."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._everything = home.devices
        self._order = {device.id: index for index, device in enumerate(home.devices)}
        self._devices: dict[str, Device] = {}
        self._by_name = {device.name: device for device in home.devices}
        self._by_word: dict[str, dict[str, Device]] = {}
        self._by_start: dict[str, dict[str, Device]] = {}
        self._rooms: dict[str, _Area] = {}
        self._rooms_by_start: dict[str, dict[str, _Area]] = {}
        self._floors: dict[str, _Area] = {}
        self._groups: dict[str, _Area] = {}
        self._grams: dict[str, set[str]] = {}
        self._index_devices()
        self._index_areas()

    def resolve(self, words: str, wish: Wish) -> Found:
        """The devices that the words stand for.

        Args:
            words: A span of what was said: "the kitchen lights", "all but the hall".
            wish: What it is for.

        Raises:
            PlaceError: They stand for nothing, or not for one thing.
        """
        tokens = without_determiner(fold(words))
        if not tokens:
            raise self._unsaid(wish)
        if len(tokens) > MAX_WORDS:
            raise PlaceError(f"{len(tokens)} words are too many for the name of a place")
        spoken = " ".join(words.split())
        return self._read(tokens, spoken, wish)

    def only(self, wish: Wish) -> Found:
        """The only device of the wished kinds: what is meant where nothing is named.

        Raises:
            PlaceError: There is none, or more than one.
        """
        devices = [device for device in self._everything if device.kind in wish.kinds]
        if not devices:
            raise PlaceError(f"there is no {noun(wish.kinds, 1)} in this home")
        if len(devices) > 1:
            raise self._unsaid(wish)
        return self._one(devices[0])

    def _index_devices(self) -> None:
        for device in self._home.devices:
            for name in (device.name, *device.aliases):
                tokens = without_determiner(fold(name))
                self._devices[key_of(tokens)] = device
                self._remember(name, device.name)
                for token in tokens:
                    self._by_word.setdefault(token, {})[device.id] = device
                for end in range(1, len(tokens)):
                    self._by_start.setdefault(key_of(tokens[:end]), {})[device.id] = device

    def _index_areas(self) -> None:
        in_room: dict[str | None, list[Device]] = {}
        for device in self._home.devices:
            in_room.setdefault(device.room, []).append(device)
        on_floor: dict[str | None, list[Device]] = {}
        for room in self._home.rooms:
            area = _Area(room.name, tuple(in_room.get(room.name, ())))
            on_floor.setdefault(room.floor, []).extend(area.inside)
            for name in (room.name, *room.aliases):
                tokens = without_determiner(fold(name))
                self._rooms[key_of(tokens)] = area
                self._remember(name, room.name)
                starts = {key_of(tokens[:end]) for end in range(1, len(tokens))}
                if key_of(tokens).endswith("room"):
                    starts.add(key_of(tokens)[:-4])
                for start in starts:
                    self._rooms_by_start.setdefault(start, {})[room.name] = area
        for floor in self._home.floors:
            area = _Area(floor.name, self._sorted(on_floor.get(floor.name, ())))
            for name in (floor.name, *floor.aliases):
                self._floors[name_key(name)] = area
                self._remember(name, floor.name)
        for group in self._home.groups:
            own: list[Device] = []
            inside: list[Device] = []
            for member in group.members:
                if member in self._by_name:
                    own.append(self._by_name[member])
                else:
                    inside.extend((self._rooms.get(name_key(member)) or self._floors[name_key(member)]).inside)
            area = _Area(group.name, self._sorted(inside), self._sorted(own))
            for name in (group.name, *group.aliases):
                self._groups[name_key(name)] = area
                self._remember(name, group.name)

    def _read(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        found = self._exact(tokens, wish)
        if found is not None:
            return found
        base, excluded = _split_exception(tokens)
        if excluded:
            return self._without(base, excluded, spoken, wish)
        return self._single(tokens, spoken, wish)

    def _exact(self, tokens: list[str], wish: Wish, rooms_first: bool = False) -> Found | None:
        """A name, whole: a device, a group, a room, a floor, and last a device of another kind."""
        key = key_of(tokens)
        device = self._devices.get(key)
        if device is not None and device.kind in wish.kinds and not rooms_first:
            return self._one(device)
        finds: list[Callable[[], Found | None]] = [
            lambda: self._in_area(self._groups.get(key), wish, whole=True),
            lambda: self._in_area(self._rooms.get(key), wish),
            lambda: self._in_area(self._floors.get(key), wish),
        ]
        for find in finds:
            found = find()
            if found is not None:
                return found
        return self._one(device) if device is not None and device.kind in wish.named else None

    def _without(self, base: list[str], excluded: list[str], spoken: str, wish: Wish) -> Found:
        if not base:
            raise self._unsaid(wish)
        if _split_exception(excluded)[1] and not self._is_name(excluded):
            raise PlaceError(f'"{spoken}" has more than one exception; say what is meant in two sentences')
        whole = self._read(base, spoken, wish)
        ids, label = self._excluded(excluded, replace(wish, whole_rooms=True), whole)
        left = tuple(device for device in whole.devices if device.id not in ids)
        if not left:
            raise PlaceError(f'nothing is left of "{spoken}"')
        return Found(left, f"{whole.label} except {label}")

    def _excluded(self, tokens: list[str], wish: Wish, whole: Found) -> tuple[set[str], str]:
        """The ids of what is to be left alone, and what it is called.

        It may be what the function would not have moved ("except the TV"), or have a name that says enough
        only where it is ("the bedroom lights except the ceiling light"). All readings count: leaving one
        thing too many alone is the smaller harm.
        """
        spoken = " ".join(tokens)
        ids: set[str] = set()
        label, trouble = "", self._unsaid(wish)
        readings: tuple[Callable[[], Found | None], ...] = (
            lambda: self._read(tokens, spoken, wish),
            lambda: self._read(tokens, spoken, ASK),
            lambda: self._inside(_Area("", whole.devices), tokens, wish, False, spoken),
        )
        for read in readings:
            try:
                place = read()
            except PlaceError as error:
                trouble = error
                continue
            if place is not None:
                ids |= {device.id for device in place.devices}
                label = label or place.label
        if not label:
            raise trouble
        return ids, label

    def _listed(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        """ "the kitchen and the hall lights": a kind that is said of one of the list is said of all."""
        parts = [part for part in map(without_determiner, _split(tokens, "and")) if part]
        if not parts:
            raise self._unsaid(wish)
        kinds = {_kind_words(part)[1] for part in parts} - {None}
        if len(kinds) == 1:
            wish = replace(wish, kinds=(wish.kinds & kinds.pop()) or wish.kinds)  # type: ignore[operator]
        if parts[0][0] in _ALL:
            wish = replace(wish, whole_rooms=True)
        places = [self._read(part, " ".join(part), wish) for part in parts]
        devices = {device.id: device for place in places for device in place.devices}
        return Found(
            self._sorted(devices.values()),
            listed(list(dict.fromkeys(place.label for place in places))),
            listed(list(dict.fromkeys(place.where for place in places))) if all(p.where for p in places) else "",
        )

    def _single(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        said, (tokens, every) = tokens, _without_all(tokens, wish.asking)
        both = tokens[:1] == ["both"]
        tokens = tokens[1:] if both else tokens
        if key_of(tokens) in _HOUSE or (every and not tokens):
            return self._whole_house(spoken, wish)
        if every or both:
            wish = replace(wish, whole_rooms=True)
            named = self._exact(tokens, wish)
            if named is not None:
                return named
        name, kinds, plural = _kind_words(tokens)
        if "and" in tokens and (kinds is None or not wish.kinds & kinds or not self._is_name(name)):
            return self._listed(said, spoken, wish)
        plural = plural or both
        if kinds is not None:
            wish = _narrowed(wish, kinds, spoken)
        if plural:
            wish = replace(wish, whole_rooms=True)
        name = _stripped(name)
        if key_of(name) in _HOUSE or (every and name in (["rooms"], ["room"], ["floors"], ["floor"])):
            return self._whole_house(spoken, wish)
        if all(token in _EMPTY for token in name):
            return self._bare(kinds, every, plural, spoken, wish)
        found = (
            self._exact(name, wish, rooms_first=plural)
            or self._somewhere(name, wish, every or plural, spoken)
            or self._beginning(name, wish, every, spoken)
        )
        if found is None and len(name) > 1 and name[-1] in _TOLERATED:
            found = self._exact(name[:-1], wish, rooms_first=plural)
        if found is None:
            raise self._nothing(spoken, name, wish)
        return found

    def _is_name(self, tokens: list[str]) -> bool:
        """Whether "and", "without" or the like is part of a name ("mom and dad's room")."""
        return key_of(tokens) in self._devices or self._area(tokens) is not None

    def _whole_house(self, spoken: str, wish: Wish) -> Found:
        devices = tuple(device for device in self._everything if device.kind in wish.kinds)
        if not devices:
            raise PlaceError(f"there is no {noun(wish.kinds, 1)} in this home")
        label = "everything" if len(wish.kinds) == len(ANY) else f"all the {noun(wish.kinds, 2)}"
        return Found(devices, label if len(devices) > 1 else the(devices[0].name))

    def _bare(self, kinds: frozenset[Kind] | None, every: bool, plural: bool, spoken: str, wish: Wish) -> Found:
        """A kind without a name: "all the lights", "the fan" where there is one, "the windows" in a question."""
        if kinds is None:
            raise self._unsaid(wish)
        if every or (plural and wish.asking):
            return self._whole_house(spoken, wish)
        devices = [device for device in self._everything if device.kind in wish.kinds]
        if len(devices) == 1:
            return self._one(devices[0])
        if not devices:
            raise PlaceError(f"there is no {noun(wish.kinds, 1)} in this home")
        raise self._unsaid(wish)

    def _somewhere(self, tokens: list[str], wish: Wish, many: bool, spoken: str) -> Found | None:
        """A thing in a room, on a floor or in the house, said before it or after it."""
        for cut in range(1, len(tokens)):
            before = tokens[:cut]
            while before and (before[-1] in _IN or before[-1] == "the"):
                before = before[:-1]
            if before and key_of(_stripped(tokens[cut:])) in _HOUSE:
                return self._exact(before, wish) or self._beginning(before, wish, many, spoken)
            area = self._area(tokens[cut:])
            found = self._inside(area, before, wish, many, spoken) if area is not None else None
            if found is not None:
                return found
        for cut in range(len(tokens) - 1, 0, -1):
            area = self._area(tokens[:cut])
            found = self._inside(area, tokens[cut:], wish, many, spoken) if area is not None else None
            if found is not None:
                return found
        return None

    def _inside(self, area: _Area, tokens: list[str], wish: Wish, many: bool, spoken: str) -> Found | None:
        """A thing in an area: its kind, its name, some of the words of its name, or a smaller area."""
        tokens = without_determiner(tokens)
        named = [device for device in (*area.own, *area.inside) if device.kind in wish.named]
        exact = self._devices.get(key_of(tokens))
        if exact is not None and exact in named:
            return self._one(exact)
        name, kinds, plural = _kind_words(tokens)
        if kinds is not None:
            wish = _narrowed(wish, kinds, spoken)
            named = [device for device in named if device.kind in wish.kinds]
        many = many or plural
        name = _stripped(name)
        if all(token in _EMPTY or token in _ALL for token in name):
            wish = replace(wish, whole_rooms=wish.whole_rooms or many)
            inside = self._in_area(area, wish)
            if inside is None:
                raise self._empty(area, wish)
            return inside
        smaller = self._area(name)
        if smaller is not None:
            both = tuple(device for device in smaller.inside if device in area.inside)
            return self._in_area(replace(smaller, inside=both), wish)
        with_words = self._with_words(name)
        found = [device for device in named if device.id in with_words]
        found = [device for device in found if device.kind in wish.kinds] or found
        return self._chosen(found, many, spoken)

    def _beginning(self, tokens: list[str], wish: Wish, every: bool, spoken: str) -> Found | None:
        """The beginning of a name, or some of its words."""
        key = key_of(tokens)
        rooms = list(self._rooms_by_start.get(key, {}).values())
        if len(rooms) > 1:
            raise _ambiguous(spoken, [room.name for room in rooms])
        if rooms:
            found = self._in_area(rooms[0], wish)
            if found is not None:
                return found
        # A room without lights is no name for the speaker in it that is called after it.
        for kinds in (wish.kinds, wish.named) if self._area(tokens) is None else (wish.kinds,):
            for some in (self._by_start.get(key, {}), self._with_words(tokens)):
                place = self._chosen([device for device in some.values() if device.kind in kinds], every, spoken)
                if place is not None:
                    return place
        return None

    def _chosen(self, devices: list[Device], many: bool, spoken: str) -> Found | None:
        if not devices:
            return None
        if len(devices) == 1:
            return self._one(devices[0])
        if many:
            devices = list(self._sorted(devices))
            label = listed([the(device.name) for device in devices], most=3)
            return Found(tuple(devices), label)
        raise _ambiguous(spoken, [device.name for device in self._sorted(devices)])

    def _in_area(self, area: _Area | None, wish: Wish, whole: bool = False) -> Found | None:
        """What is meant by a room, a floor or a group alone; None if there is nothing of the kind."""
        devices = area.of(wish) if area is not None else ()
        if not devices or area is None:
            return None
        if len(devices) > 1 and not (whole or wish.whole_rooms):
            raise _ambiguous(area.name, [device.name for device in devices])
        kinds = frozenset(device.kind for device in devices)
        if area.own:
            label = the(area.name)
        elif len(devices) == 1 and wish.kinds != LIGHTS:
            label = the(devices[0].name)
        elif len(kinds) == 1:
            label = " ".join(f"the {area.name} {noun(kinds, len(devices))}".split())
        else:
            label = listed([the(device.name) for device in devices], most=3)
        return Found(devices, label, area.where)

    def _area(self, tokens: list[str]) -> _Area | None:
        key = key_of(_stripped(tokens))
        return self._rooms.get(key) or self._floors.get(key) or self._groups.get(key)

    def _with_words(self, tokens: Iterable[str]) -> dict[str, Device]:
        """The devices whose names and aliases have all of these words."""
        found: dict[str, Device] | None = None
        for token in tokens:
            of_token = self._by_word.get(token, {})
            found = of_token if found is None else {key: found[key] for key in found.keys() & of_token.keys()}
        return found or {}

    def _one(self, device: Device) -> Found:
        return Found((device,), the(device.name))

    def _sorted(self, devices: Iterable[Device]) -> tuple[Device, ...]:
        return tuple(sorted(devices, key=lambda device: self._order[device.id]))

    def _unsaid(self, wish: Wish) -> PlaceError:
        rooms = [area.name for area in self._rooms.values() if area.of(wish)]
        candidates = list(dict.fromkeys(rooms))[:MAX_CANDIDATES]
        names = f", such as {listed(candidates, last='or')}" if candidates else ""
        return PlaceError(f"it was not said which {noun(wish.kinds, 2)}; say a room or a name{names}", candidates)

    def _empty(self, area: _Area, wish: Wish) -> PlaceError:
        there = [device.name for device in area.inside if device.kind in wish.named][:MAX_CANDIDATES]
        return PlaceError(f"there is no {noun(wish.kinds, 1)} {area.where}", there)

    def _nothing(self, spoken: str, tokens: list[str], wish: Wish) -> PlaceError:
        area = self._area(tokens)
        if area is not None:
            return self._empty(area, wish)
        candidates = self._similar(tokens, wish)
        meant = f"; did you mean {listed([the(name) for name in candidates], last='or')}?" if candidates else ""
        return PlaceError(f'I know nothing called "{spoken}"{meant}', candidates)

    def _remember(self, name: str, stored: str) -> None:
        for gram in _trigrams(name_key(name)):
            self._grams.setdefault(gram, set()).add(stored)

    def _similar(self, tokens: list[str], wish: Wish) -> list[str]:
        """Stored names that share much of their spelling with the words. Only ever suggested."""
        grams = _trigrams(key_of(tokens))
        rare = [self._grams[gram] for gram in grams if len(self._grams.get(gram, ())) in range(1, 200)]
        counts = Counter(name for names in rare for name in names)
        enough = max(2, len(grams) // 3)
        names = [
            name
            for name, count in counts.items()
            if count >= enough and (name not in self._by_name or self._by_name[name].kind in wish.named)
        ]
        return sorted(names, key=lambda name: (-counts[name], len(name)))[:MAX_CANDIDATES]


def _ambiguous(spoken: str, names: Sequence[str]) -> PlaceError:
    candidates = list(names[:MAX_CANDIDATES])
    more = " or another" if len(names) > len(candidates) else ""
    meant = listed([the(name) for name in candidates], last="or")
    return PlaceError(f'"{spoken}" could be {meant}{more}', candidates)


def _without_all(tokens: list[str], asking: bool) -> tuple[list[str], bool]:
    """The words without an "all", "every" or "everywhere" around them, and whether there was one."""
    all_words = _ALL | _ANY if asking else _ALL
    every = False
    while len(tokens) > 1 and tokens[-1] in ("on", "off"):
        tokens = tokens[:-1]  # "turn it all off"
    while tokens and key_of(tokens) not in _HOUSE and tokens[0] in {*all_words, *_IN, "any"}:
        every = every or tokens[0] in all_words
        tokens = without_determiner(tokens[1:])
    if tokens and tokens[-1] in all_words:
        tokens, every = tokens[:-1], True
    return tokens, every


def _narrowed(wish: Wish, kinds: frozenset[Kind], spoken: str) -> Wish:
    """The wish for one kind of device only."""
    if not wish.kinds & kinds:
        raise PlaceError(f'"{spoken}" names {noun(kinds, 2)}, not {noun(wish.kinds, 2)}')
    return replace(wish, kinds=wish.kinds & kinds, named=wish.named & kinds)


def _split(tokens: Sequence[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == at:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _split_exception(tokens: list[str]) -> tuple[list[str], list[str]]:
    """What comes before and after "except" or its like; no exception, no words after."""
    for index in range(len(tokens)):
        for words in _EXCEPT:
            if tokens[index : index + len(words)] == words:
                after = without_determiner(tokens[index + len(words) :])
                while after and after[0] in {*_IN, "1", "ones"}:
                    after = without_determiner(after[1:])
                before = tokens[:index]
                return (before[:-1] if before[-1:] == ["and"] else before), after
    return tokens, []


def _kind_words(tokens: list[str]) -> tuple[list[str], frozenset[Kind] | None, bool]:
    """The words without a kind of device at their end or their beginning; the kind; whether it is plural."""
    if tokens[-2:-1] == ["garage"] and tokens[-1] in ("door", "doors"):
        return tokens[:-2], frozenset({Kind.GARAGE_DOOR}), tokens[-1] == "doors"
    if tokens and tokens[-1] in _KIND_WORDS:
        kinds, plural = _KIND_WORDS[tokens[-1]]
        return tokens[:-1], kinds, plural
    if len(tokens) > 1 and tokens[0] in _KIND_WORDS:
        kinds, plural = _KIND_WORDS[tokens[0]]
        return without_determiner(tokens[1:]), kinds, plural
    return tokens, None, False


def _stripped(tokens: list[str]) -> list[str]:
    """Without "in the" before it."""
    while tokens and (tokens[0] in _IN or tokens[0] == "the"):
        tokens = tokens[1:]
    return tokens


def _trigrams(key: str) -> set[str]:
    padded = f" {key} "
    return {padded[index : index + 3] for index in range(len(padded) - 2)}
