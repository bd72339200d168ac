"""What a person calls a room, a lamp or a group, turned into devices.

The order in which words are looked up; the first that fits ends it:

1. the whole span, exactly: a device or alias, a group, a room, a floor;
2. the whole house: "all", "everything", "everywhere", "the whole house" - never without such a word;
3. exceptions and lists: "everything except the bedroom", "the kitchen and the hall";
4. a device by its whole name in a place: "floor lamp in the living room", "living room floor lamp";
5. the span without its kind of device ("lights", "fan", "blinds"; see `tools.kinds`): as 1, but for a plural
   ("the living room lights") rooms come before devices of the same name;
6. something in a place: "lamp by the couch in the living room", "lights upstairs", "left kitchen blind";
7. the beginning of a room's name ("living"), then of a device's ("reading"), then some of a device's words
   ("the lamp on the left");
8. the same with words that seem misspelt or misheard put right (see `tools.slips`), if that leaves one
   reading: "kitchn lites", "bad room". Only one guess at a time: not the beginning of a misspelt name.

Exact means after folding (`tools.words`). A device is reached through its room only by a function of its own
kind; one that is named itself, or is listed itself in a group, or whose kind is said, by every function that
could move it. So nothing that is said of a room's lights moves its television, and "turn on the coffee machine"
works whichever function the model chose. A lock or a garage door is never reached by a guess.

What fits nothing, or more than one where one is meant, is a `PlaceError` with at most five candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from agent.errors import ArgumentError
from tools.drivers import ANY, CLIMATE, COVERS, LIGHTS, ON_OFF, PLAYERS, RISKY, ROBOTS, SWITCHES, Device, Kind
from tools.home import Home
from tools.kinds import KIND_PARTS, KIND_WORDS, OfKind, kinds_in
from tools.likeness import Likeness
from tools.names import Area, Names
from tools.phrases import (
    AFTER,
    ALL,
    BETWEEN,
    HOUSE,
    IN,
    NAMELESS,
    ONE,
    SMALL_WORDS,
    counted,
    split,
    split_exception,
    stripped,
    without_all,
)
from tools.speech import listed, noun, the
from tools.words import fold, key_of, without_determiner

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


class _UnknownError(PlaceError):
    """The words are no name here; they may be misspelt."""


class _AbsentError(PlaceError):
    """The place is known, and has nothing of the kind."""


@dataclass(frozen=True)
class Wish:
    """What a function asks the resolver for.

    Attributes:
        kinds: What is reached through a room, a floor or "all".
        named: What is reached by a name of its own.
        whole_rooms: A bare room stands for all that is in it; else only for the one device that is.
        asking: Nothing will be moved, so "the windows" may stand for all windows of the house.
        partial: The beginning of a name will do, or one of its words.
    """

    kinds: frozenset[Kind]
    named: frozenset[Kind]
    whole_rooms: bool = True
    asking: bool = False
    partial: bool = True


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


class Resolver:
    """Looks names up in a home; a look-up costs the same with ten devices and a thousand."""

    def __init__(self, home: Home) -> None:
        self._names = Names(home)
        self._likeness = Likeness(self._names.words | KIND_PARTS, self._names.neighbours, KIND_WORDS)

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
        try:
            return self._read(tokens, spoken, wish)
        except _UnknownError as unknown:
            return self._misheard(tokens, spoken, wish, unknown)
        except _AbsentError:
            # Robots go about: the room that one is in need not be the one that it belongs to.
            if wish.kinds <= ROBOTS and len(self._all_of(wish.kinds)) == 1:
                return self.only(wish)
            raise

    def only(self, wish: Wish) -> Found:
        """The only device of the wished kinds: what is meant where nothing is named.

        Raises:
            PlaceError: There is none, or more than one.
        """
        devices = self._all_of(wish.kinds)
        if not devices:
            raise _none_at_all(wish)
        if len(devices) > 1:
            raise self._unsaid(wish)
        return _one(devices[0])

    # What may be said

    def _read(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        found = self._exact(tokens, wish)
        if found is not None:
            return found
        base, excluded = split_exception(tokens)
        if excluded:
            return self._without(base, excluded, spoken, wish)
        return self._single(tokens, spoken, wish)

    def _misheard(self, tokens: list[str], spoken: str, wish: Wish, unknown: _UnknownError) -> Found:
        """What is meant if words are misspelt or misheard, where that is clear and does no harm.

        Raises:
            PlaceError: It is not; the candidates are what may be meant.
        """
        likely: dict[frozenset[str], Found] = {}
        trouble: PlaceError | None = None
        least: int | None = None
        for cost, reading in self._likeness.readings(tokens, SMALL_WORDS):
            if least is not None and cost > least:
                break
            try:
                found = self._read(reading, spoken, replace(wish, partial=False))
            except _UnknownError:
                continue
            except PlaceError as error:
                trouble = trouble or error
                continue
            least = cost
            likely[frozenset(device.id for device in found.devices)] = found
        if len(likely) == 1:
            [found] = likely.values()
            if wish.asking or not any(device.kind in RISKY for device in found.devices):
                return found
        if trouble is not None and not likely:
            raise trouble
        suggested = [device.name for found in likely.values() for device in found.devices]
        for _, reading in () if suggested else self._likeness.readings(tokens, SMALL_WORDS, loosely=True):
            with suppress(PlaceError):
                suggested += [device.name for device in self._read(reading, spoken, wish).devices]
        raise _unknown(spoken, list(dict.fromkeys(suggested))) if suggested else unknown

    def _without(self, base: list[str], excluded: list[str], spoken: str, wish: Wish) -> Found:
        if not base:
            raise self._unsaid(wish)
        if split_exception(excluded)[1] and not self._names.are_one(excluded):
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
            lambda: self._read(tokens, spoken, replace(ASK, partial=wish.partial)),
            lambda: self._inside(Area("", whole.devices), tokens, wish, False, spoken),
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
        """ "the kitchen and the hall lights": a kind that is said of one of the list is said of all.

        So is where they are, of kinds without a name: "the lights and the fan in the kitchen".
        """
        parts = [part for part in map(without_determiner, split(tokens, "and")) if part]
        if not parts:
            raise self._unsaid(wish)
        ways = [kinds_in(part)[0] for part in parts]
        said = {way.kinds for way in ways} - {None}
        if len(said) == 1:
            wish = _narrowed(wish, said.pop()) or wish
        if parts[0][0] in ALL:
            wish = replace(wish, whole_rooms=True)
        areas = [name for way in ways if way.kinds and self._names.area(name := stripped(way.name)) is not None]
        for index, way in enumerate(ways):
            nameless = way.kinds is not None and all(token in NAMELESS for token in way.name)
            if nameless and len(areas) == 1 and not self._names.are_one(parts[index]):
                parts[index] = [*parts[index], "in", *areas[0]]
        places = [self._read(part, " ".join(part), wish) for part in parts]
        devices = {device.id: device for place in places for device in place.devices}
        return Found(
            self._names.in_order(devices.values()),
            listed(list(dict.fromkeys(place.label for place in places))),
            listed(list(dict.fromkeys(place.where for place in places))) if all(p.where for p in places) else "",
        )

    def _single(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        """No exception, and no list either, unless it is one."""
        said, (tokens, every) = tokens, without_all(tokens, wish.asking)
        count: int | None = None
        if tokens and tokens[0] not in self._names.openings:
            tokens, count = counted(tokens)
        if key_of(tokens) in HOUSE or (every and not tokens):
            return self._whole_house(wish)
        if every or count:
            wish = replace(wish, whole_rooms=True)
        found = self._exact(tokens, wish) if every or count else None
        found = found or self._whole_name_somewhere(tokens, wish)
        if found is not None:
            return _of_number(found, count, spoken)
        ways = kinds_in(tokens)
        if "and" in tokens and not any(self._is_whole(way, wish) for way in ways):
            return self._listed([token for token in said if token != "both"], spoken, wish)
        absent: _AbsentError | None = None
        for way in ways:
            narrowed = _narrowed(wish, way.kinds)
            if narrowed is None:
                continue
            several = way.plural or count is not None
            if several:
                narrowed = replace(narrowed, whole_rooms=True)
            try:
                found = self._of_kind(way, narrowed, every, several, spoken)
            except _AbsentError as error:
                absent = absent or error
                continue
            if found is not None:
                return _of_number(found, count, spoken)
        raise absent or self._nothing(ways, spoken, wish)

    def _is_whole(self, way: OfKind, wish: Wish) -> bool:
        return _narrowed(wish, way.kinds) is not None and self._names.are_one(stripped(way.name))

    def _of_kind(self, way: OfKind, wish: Wish, every: bool, several: bool, spoken: str) -> Found | None:
        """What the words without a kind of device stand for, among devices of that kind."""
        name = stripped(way.name)
        if len(name) > 1 and name[0] in ONE and name[0] not in self._names.openings:
            name = stripped(name[1:])  # "the one on the left"
        if key_of(name) in HOUSE or (every and name in (["rooms"], ["room"], ["floors"], ["floor"])):
            return self._whole_house(wish)
        if all(token in NAMELESS for token in name):
            return self._bare(way, wish, every, several)
        found = self._by_name(name, wish, every, several, spoken)
        if found is None and len(name) > 1 and name[-1] in ONE:
            found = self._by_name(name[:-1], wish, every, several, spoken)
        elif found is None and len(name) > 1 and name[-1] in AFTER:
            found = self._exact(name[:-1], wish, rooms_first=several)
        return found

    def _by_name(self, name: list[str], wish: Wish, every: bool, several: bool, spoken: str) -> Found | None:
        return (
            self._exact(name, wish, rooms_first=several)
            or self._somewhere(name, wish, every or several, spoken)
            or self._beginning(name, wish, every, several, spoken)
        )

    def _bare(self, way: OfKind, wish: Wish, every: bool, several: bool) -> Found:
        """A kind without a name: "all the lights", "the fan" where there is one, "the windows" in a question."""
        if way.kinds is not None and (every or (several and wish.asking and wish.partial)):
            return self._whole_house(wish)
        if way.kinds is None or (wish.asking and not wish.partial):
            raise self._unsaid(wish)
        if way.word and not several and wish.partial:
            called_so = [d for d in self._names.with_words([way.word]).values() if d.kind in wish.kinds]
            if len(called_so) == 1:
                return _one(called_so[0])
        return self.only(wish)

    # Where it may be found

    def _exact(self, tokens: list[str], wish: Wish, rooms_first: bool = False) -> Found | None:
        """A name, whole: a device, a group, a room, a floor, and last a device of another kind."""
        key = key_of(tokens)
        device = self._names.devices.get(key)
        if device is not None and device.kind in wish.kinds and not rooms_first:
            return _one(device)
        group = self._names.groups.get(key)
        found = _in_area(group, wish, whole=True) if group else None
        for area in (self._names.rooms.get(key), self._names.floors.get(key)):
            if found is None and area is not None:
                found = _in_area(area, wish)
        if found is None and device is not None and device.kind in wish.named:
            found = _one(device)
        return found

    def _whole_name_somewhere(self, tokens: list[str], wish: Wish) -> Found | None:
        """A device by its whole name, in a place that is said before it or after it."""
        for cut in range(1, len(tokens)):
            for place, name in ((tokens[cut:], _ending(tokens[:cut])), (tokens[:cut], tokens[cut:])):
                device = self._names.devices.get(key_of(name))
                area = self._names.area(stripped(place)) if device is not None else None
                if device is None or area is None or device.kind not in wish.named:
                    continue
                if device in area.inside or device in area.own:
                    return _one(device)
        return None

    def _somewhere(self, tokens: list[str], wish: Wish, many: bool, spoken: str) -> Found | None:
        """A thing in a room, on a floor or in the house, said before it or after it."""
        for cut in range(1, len(tokens)):
            before, after = _ending(tokens[:cut]), stripped(tokens[cut:])
            if before and key_of(after) in HOUSE:
                return self._exact(before, wish) or self._beginning(before, wish, many, many, spoken)
            area = self._names.area(after)
            found = self._inside(area, before, wish, many, spoken) if area is not None else None
            if found is not None:
                return found
        for cut in range(len(tokens) - 1, 0, -1):
            area = self._names.area(stripped(tokens[:cut]))
            found = self._inside(area, tokens[cut:], wish, many, spoken) if area is not None else None
            if found is not None:
                return found
        return None

    def _inside(self, area: Area, tokens: list[str], wish: Wish, many: bool, spoken: str) -> Found | None:
        """A thing in an area: its name, its kind, some of the words of its name, or a smaller area."""
        tokens = without_determiner(tokens)
        named = [device for device in (*area.own, *area.inside) if device.kind in wish.named]
        exact = self._names.devices.get(key_of(tokens))
        if exact is not None and exact in named:
            return _one(exact)
        absent: _AbsentError | None = None
        for way in kinds_in(tokens):
            narrowed = _narrowed(wish, way.kinds)
            if narrowed is None:
                continue
            several = many or way.plural
            name = stripped(way.name)
            for words in _wordings(name):
                with_words = self._names.with_words(words)
                found = [device for device in named if device.id in with_words and device.kind in narrowed.named]
                found = [device for device in found if device.kind in narrowed.kinds] or found
                if found:
                    return self._chosen(found, several, several, spoken)
            if all(token in NAMELESS or token in ALL for token in name):
                place = _in_area(area, replace(narrowed, whole_rooms=narrowed.whole_rooms or several))
                if place is not None:
                    return place
                absent = absent or self._absent(area, narrowed, wish)
            smaller = self._names.area(name)
            if smaller is not None:
                both = tuple(device for device in smaller.inside if device in area.inside)
                return _in_area(replace(smaller, inside=both), narrowed)
        if absent is not None:
            raise absent
        return None

    def _beginning(self, tokens: list[str], wish: Wish, every: bool, several: bool, spoken: str) -> Found | None:
        """The beginning of a name, or some of its words."""
        if not wish.partial and sum(token not in KIND_WORDS for token in tokens) < 2:
            return None
        rooms = self._names.rooms_beginning(tokens)
        if len(rooms) > 1:
            raise _ambiguous(spoken, [room.name for room in rooms])
        found = _in_area(rooms[0], wish) if rooms else None
        if found is not None:
            return found
        with_words = [self._names.with_words(words).values() for words in _wordings(tokens)]
        # A room without lights is no name for the speaker in it that is called after it.
        for kinds in (wish.kinds, wish.named) if self._names.area(tokens) is None else (wish.kinds,):
            for some in (self._names.beginning(tokens), *with_words):
                place = self._chosen([device for device in some if device.kind in kinds], every, several, spoken)
                if place is not None:
                    return place
        return None

    def _chosen(self, devices: Sequence[Device], every: bool, several: bool, spoken: str) -> Found | None:
        """All of them, if they may be several: with "all", and for a plural if they are in one room."""
        if not devices:
            return None
        if len(devices) == 1:
            return _one(devices[0])
        devices = self._names.in_order(devices)
        if every or (several and devices[0].room is not None and len({device.room for device in devices}) == 1):
            return Found(devices, listed([the(device.name) for device in devices], most=3))
        raise _ambiguous(spoken, [device.name for device in devices])

    def _all_of(self, kinds: frozenset[Kind]) -> tuple[Device, ...]:
        return tuple(device for device in self._names.everything if device.kind in kinds)

    def _whole_house(self, wish: Wish) -> Found:
        devices = self._all_of(wish.kinds)
        if not devices:
            raise _none_at_all(wish)
        label = "everything" if len(wish.kinds) == len(ANY) else f"all the {noun(wish.kinds, 2)}"
        return Found(devices, label if len(devices) > 1 else the(devices[0].name))

    # What is said where nothing fits

    def _unsaid(self, wish: Wish) -> PlaceError:
        rooms = [area.name for area in self._names.rooms.values() if area.of(wish.kinds, wish.named)]
        candidates = list(dict.fromkeys(rooms))[:MAX_CANDIDATES]
        names = f", such as {listed(candidates, last='or')}" if candidates else ""
        return PlaceError(f"it was not said which {noun(wish.kinds, 2)}; say a room or a name{names}", candidates)

    def _absent(self, area: Area, wish: Wish, wider: Wish) -> _AbsentError:
        akin = next((family for family in _FAMILIES if wish.kinds <= family), frozenset()) & wider.kinds
        names = [device.name for device in area.inside if device.kind in akin][:MAX_CANDIDATES]
        return _AbsentError(f"there is no {noun(wish.kinds, 1)} {area.where}{_perhaps(names)}", names)

    def _nothing(self, ways: Sequence[OfKind], spoken: str, wish: Wish) -> PlaceError:
        """Why words were not found, from all the ways in which a kind of device was taken out of them."""
        for way in ways:
            narrowed = _narrowed(wish, way.kinds)
            area = self._names.area(stripped(way.name)) if narrowed is not None else None
            if area is not None and narrowed is not None:
                return self._absent(area, narrowed, wish)
        tokens = next(way.name for way in ways if way.kinds is None)
        device = self._names.devices.get(key_of(tokens))
        if device is not None:
            near = [each for each in self._all_of(wish.kinds) if each.room is not None and each.room == device.room]
            names = [each.name for each in near][:MAX_CANDIDATES]
            return PlaceError(f"{the(device.name)} is no {noun(wish.kinds, 1)}{_perhaps(names)}", names)
        for way in ways:
            if way.kinds is not None and _narrowed(wish, way.kinds) is None:
                return PlaceError(f'"{spoken}" names {noun(way.kinds, 2)}, not {noun(wish.kinds, 2)}')
        return _unknown(spoken, self._names.similar(tokens, wish.named))


_FAMILIES = (COVERS, CLIMATE, PLAYERS, SWITCHES)
"""Kinds of which one may be said for another."""


def _narrowed(wish: Wish, kinds: frozenset[Kind] | None) -> Wish | None:
    """The wish for devices of these kinds only; None where it is for none of them.

    A kind that is said is a name of a sort: "turn off the speakers" reaches them whichever function was chosen.
    """
    if kinds is None:
        return wish
    if wish.kinds & kinds:
        return replace(wish, kinds=wish.kinds & kinds, named=wish.named & kinds)
    if wish.named & kinds:
        return replace(wish, kinds=wish.named & kinds, named=wish.named & kinds)
    return None


def _in_area(area: Area, wish: Wish, whole: bool = False) -> Found | None:
    """What is meant by a room, a floor or a group alone; None if there is nothing of the kind."""
    devices = area.of(wish.kinds, wish.named)
    if not devices:
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
    return Found(devices, label, "" if area.own else area.where)


def _one(device: Device) -> Found:
    return Found((device,), the(device.name))


def _of_number(found: Found, count: int | None, spoken: str) -> Found:
    """What was found, if it is as many as was said: "both", "all three"."""
    if count is not None and len(found.devices) != count:
        raise _ambiguous(spoken, [device.name for device in found.devices])
    return found


def _wordings(name: list[str]) -> Iterable[list[str]]:
    """The words to look for among the words of names: all of them, then without those in between."""
    if any(token not in NAMELESS or token in ("floor", "area") for token in name):
        yield name
        shorter = [token for token in name if token not in BETWEEN and token not in ONE and token != "the"]
        if any(token not in NAMELESS and token not in KIND_WORDS for token in shorter):
            yield shorter


def _ending(tokens: list[str]) -> list[str]:
    """Without "in the" behind it."""
    while tokens and (tokens[-1] in IN or tokens[-1] == "the"):
        tokens = tokens[:-1]
    return tokens


def _either(names: Sequence[str]) -> str:
    return listed([the(name) for name in names], last="or")


def _perhaps(names: Sequence[str]) -> str:
    return f"; did you mean {_either(names)}?" if names else ""


def _none_at_all(wish: Wish) -> _AbsentError:
    return _AbsentError(f"there is no {noun(wish.kinds, 1)} in this home")


def _unknown(spoken: str, names: Sequence[str]) -> _UnknownError:
    candidates = names[:MAX_CANDIDATES]
    return _UnknownError(f'I know nothing called "{spoken}"{_perhaps(candidates)}', candidates)


def _ambiguous(spoken: str, names: Sequence[str]) -> PlaceError:
    candidates = names[:MAX_CANDIDATES]
    more = " or another" if len(names) > len(candidates) else ""
    return PlaceError(f'"{spoken}" could be {_either(candidates)}{more}', candidates)
