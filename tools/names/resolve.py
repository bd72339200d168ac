"""What a person calls a room, a lamp or a group, turned into devices.

The order in which words are looked up; the first that fits ends it:

1. the whole span, exactly: a device or alias, a group, a room, a floor;
2. the whole house: "all", "everything", "everywhere", "the whole house" - never without such a word;
3. exceptions and lists: "everything except the bedroom", "the kitchen and the hall";
4. a device by its whole name in a place: "floor lamp in the living room", "living room floor lamp";
5. the span without its kind of device ("lights", "fan", "blinds"; see `tools.names.kinds`): as 1, but for a plural
   ("the living room lights") rooms come before devices of the same name;
6. something in a place: "lamp by the couch in the living room", "lights upstairs", "left kitchen blind";
7. the beginning of a room's name ("living"), then of a device's ("reading"), then some of a device's words
   ("the lamp on the left");
8. the same with words that seem misspelt or misheard put right (see `tools.names.slips`), if that leaves one
   reading: "kitchn lites", "bad room". Only one guess at a time: not the beginning of a misspelt name.

Exact means after folding (`tools.names.words`). A device is reached through its room only by a function of its own
kind; one that is named itself, or is listed itself in a group, or whose kind is said, by every function that
could move it. So nothing that is said of a room's lights moves its television, and "turn on the coffee machine"
works whichever function the model chose. A lock or a garage door is never reached by a guess.

What fits nothing, or more than one where one is meant, is a `PlaceError` with at most five candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from tools.device import ANY, LOCKS, RISKY, ROBOTS
from tools.home import Floor, Home, Room
from tools.names.index import Area, Names
from tools.names.kinds import AS_ONE, KIND_PARTS, KIND_WORDS, OfKind, kinds_in
from tools.names.likeness import Likeness
from tools.names.lookup import Lookup, Sought
from tools.names.phrases import (
    AFTER,
    ALL,
    HOUSE,
    INDOORS,
    NAMELESS,
    ONE,
    PARTS,
    SMALL_WORDS,
    counted,
    split,
    split_exception,
    stripped,
    without_all,
    without_house,
    without_states,
)
from tools.names.places import (
    ASK,
    DIM_LIGHTS,
    MAX_CANDIDATES,
    SWITCH_LIGHTS,
    SWITCH_PLUGS,
    AbsentError,
    Found,
    PlaceError,
    UnknownPlaceError,
    Wish,
    ambiguous,
    by_names,
    perhaps,
    unknown,
)
from tools.names.words import fold, key_of, without_determiner
from tools.speech import listed, noun

__all__ = ["ASK", "DIM_LIGHTS", "SWITCH_LIGHTS", "SWITCH_PLUGS", "Found", "PlaceError", "Resolver", "Wish"]

_POSSESSIVE = re.compile("['’]s\\b")

MAX_WORDS = 60
"""More than that is no name and no list of names; looking for one would take long."""


class Resolver:
    """Looks names up in a home; a look-up costs the same with ten devices and a thousand."""

    def __init__(self, home: Home) -> None:
        self._names = Names(home)
        self._lookup = Lookup(self._names)
        self._likeness = Likeness(self._names.words | KIND_PARTS, self._names.neighbours, KIND_WORDS)

    def resolve(self, words: str, wish: Wish) -> Found:
        """The devices that the words stand for.

        Args:
            words: A span of what was said: "the kitchen lights", "all but the hall".
            wish: What it is for.

        Raises:
            PlaceError: They stand for nothing, or not for one thing.
        """
        tokens = self._plain(words)
        if not tokens:
            raise self._lookup.unsaid(wish)
        if len(tokens) > MAX_WORDS:
            raise PlaceError(f"{len(tokens)} words are too many for the name of a place")
        spoken = " ".join(words.split())
        try:
            return self._read(tokens, spoken, wish)
        except UnknownPlaceError as error:
            found = self._otherwise(words, tokens, spoken, wish)
            return found or self._misheard(tokens, spoken, wish, error)
        except AbsentError:
            # Robots go about: the room that one is in need not be the one that it belongs to.
            if wish.kinds <= ROBOTS:
                return self._lookup.only(wish)
            raise

    def only(self, wish: Wish) -> Found:
        """The only device of the wished kinds: what is meant where nothing is named.

        Raises:
            PlaceError: There is none, or more than one.
        """
        return self._lookup.only(wish)

    def area(self, words: str) -> Room | Floor | None:
        """The room or floor that is meant, whatever is in it: "in the kitchen", "dining", "kitchn".

        None where there is none, where the words may stand for several, or name a device or a group.
        """
        tokens = without_determiner(fold(words))[:MAX_WORDS]
        area = self._area(tokens)
        if area is None and not self._names.are_one(tokens):
            rooms = self._names.rooms_beginning(stripped(tokens))
            area = self._names.places[rooms[0].name] if len(rooms) == 1 else None
        readings = [] if area is not None else self._likeness.readings(tokens, SMALL_WORDS)
        likely = {each.name: each for _, reading in readings if (each := self._area(reading)) is not None}
        return area or (likely.popitem()[1] if len(likely) == 1 else None)

    def _area(self, tokens: list[str]) -> Room | Floor | None:
        for key in (key_of(tokens), key_of(stripped(tokens))):
            area = self._names.rooms.get(key) or self._names.floors.get(key)
            if area is not None:
                return self._names.places[area.name]
        return None

    def _plain(self, words: str) -> list[str]:
        """The words folded; "smart" is said of any device, so it tells none unless one is called so."""
        tokens = without_determiner(fold(words))
        plain = [token for token in tokens if token != "smart" or token in self._names.words]
        return plain or tokens

    def _otherwise(self, words: str, tokens: list[str], spoken: str, wish: Wish) -> Found | None:
        """What is meant without the "'s" of a name, or without how it is: "the hall's lamp", "the blind up in the den".

        Never what can hurt or let somebody in, unless it is only asked about.
        """
        for reading in (self._plain(_POSSESSIVE.sub("", words)), without_states(tokens)):
            if not reading or reading == tokens:
                continue
            with suppress(UnknownPlaceError):
                found = self._read(reading, spoken, wish)
                if wish.asking or not any(device.kind in RISKY for device in found.devices):
                    return found
        return None

    def _read(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        found = self._lookup.exact(tokens, wish)
        if found is not None:
            return found
        base, excluded = split_exception(tokens)
        if excluded:
            return self._without(base, excluded, spoken, wish)
        return self._single(tokens, spoken, wish)

    def _misheard(self, tokens: list[str], spoken: str, wish: Wish, as_it_is: UnknownPlaceError) -> Found:
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
            except UnknownPlaceError:
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
        raise unknown(spoken, list(dict.fromkeys(suggested))) if suggested else as_it_is

    def _without(self, base: list[str], excluded: list[str], spoken: str, wish: Wish) -> Found:
        if not base:
            raise self._lookup.unsaid(wish)
        if split_exception(excluded)[1] and not self._names.are_one(excluded):
            raise PlaceError(f'"{spoken}" has more than one exception; say what is meant in two sentences')
        whole = self._read(base, spoken, wish)
        ids, label = self._excluded(excluded, replace(wish, whole_rooms=True), whole)
        left = tuple(device for device in whole.devices if device.id not in ids)
        if not left:
            raise PlaceError(f'nothing is left of "{spoken}"')
        return Found(left, f"{whole.label} except {label}", whole.plural)

    def _excluded(self, tokens: list[str], wish: Wish, whole: Found) -> tuple[set[str], str]:
        """The ids of what is to be left alone, and what it is called.

        What is said of one of several is said of no other: "the office and the office blind" is all of the office.
        """
        spared = [self._spared(part, wish, whole) for part in self._parts(tokens)]
        if not spared:
            raise self._lookup.unsaid(wish)
        ids = {device.id for places in spared for place in places for device in place.devices}
        return ids, listed(list(dict.fromkeys(places[0].label for places in spared)))

    def _spared(self, tokens: list[str], wish: Wish, whole: Found) -> list[Found]:
        """What a name in an exception stands for, in every reading: one thing too many left alone is no harm.

        It may be what the function would not have moved ("except the TV"), or have a name that says enough
        only where it is ("the bedroom lights except the ceiling light").
        """
        spoken = " ".join(tokens)
        places: list[Found | None] = []
        trouble = self._lookup.unsaid(wish)
        for words in (tokens[:-1], tokens) if len(tokens) > 1 and tokens[-1] in ONE else (tokens,):  # "the TV one"
            readings: tuple[Callable[[], Found | None], ...] = (
                partial(self._read, words, spoken, wish),
                partial(self._read, words, spoken, replace(ASK, partial=wish.partial)),
                partial(self._lookup.inside, Area("", whole.devices), words, Sought(wish, spoken)),
            )
            for read in readings:
                try:
                    places.append(read())
                except PlaceError as error:
                    trouble = error
        found = [place for place in places if place is not None]
        if not found:
            raise trouble
        return found

    def _parts(self, tokens: list[str]) -> list[list[str]]:
        """The names of a list; one that has an "and" in it stays whole."""
        left = [part for part in map(without_determiner, split(tokens, "and")) if part]
        parts: list[list[str]] = []
        while left:
            joined = [[token for part in left[:end] for token in ("and", *part)][1:] for end in range(len(left), 0, -1)]
            whole = next((words for words in joined if self._is_name(words)), left[0])
            parts.append(whole)
            left = left[1 + whole.count("and") :]
        return parts

    def _listed(self, parts: list[list[str]], wish: Wish) -> Found:
        """ "the kitchen and the hall lights": a kind that is said of one of the list is said of all.

        A kind that is part of a name ("the desk lamp and the printer") is said of nothing else.
        Where they are is said of all too, of kinds without a name: "the lights and the fan in the kitchen".
        """
        if not parts:
            raise self._lookup.unsaid(wish)
        ways = [kinds_in(part)[0] for part in parts]
        said = {way.kinds for part, way in zip(parts, ways, strict=True) if not self._names.are_one(part)} - {None}
        if len(said) == 1:
            wish = wish.narrowed(said.pop()) or wish
        if parts[0][0] in ALL:
            wish = replace(wish, whole_rooms=True)
        areas = [name for way in ways if way.kinds and self._names.area(name := stripped(way.name)) is not None]
        for index, way in enumerate(ways):
            nameless = way.kinds is not None and all(token in NAMELESS for token in way.name)
            if nameless and len(areas) == 1 and not self._names.are_one(parts[index]):
                parts[index] = [*parts[index], "in", *areas[0]]
        places = [self._read(part, " ".join(part), wish) for part in parts]
        devices = {device.id: device for place in places for device in place.devices}
        labels = list(dict.fromkeys(place.label for place in places))
        return Found(
            self._names.in_order(devices.values()),
            listed(labels),
            len(labels) > 1 or places[0].plural,
            listed(list(dict.fromkeys(place.where for place in places))) if all(p.where for p in places) else "",
        )

    def _single(self, tokens: list[str], spoken: str, wish: Wish) -> Found:
        """No exception, and no list either, unless it is one."""
        said, (tokens, every) = tokens, without_all(tokens, wish.asking)
        count: int | None = None
        if tokens and tokens[0] not in self._names.openings:
            tokens, count = counted(tokens)
        if wish.asking and wish.partial and said[-1] in INDOORS and self._names.area(said[-1:]) is None:
            tokens, every = (tokens[:-1] if tokens[-1:] == said[-1:] else tokens), every or len(said) == 1
        if key_of(tokens) in HOUSE or (every and not tokens):
            return self._lookup.whole_house(wish)
        if every or count:
            wish = replace(wish, whole_rooms=True)
        found = self._lookup.exact(tokens, wish) if every or count else None
        found = found or self._lookup.whole_name_somewhere(tokens, wish)
        if found is not None:
            return _of_number(found, count, spoken)
        ways = kinds_in(tokens)
        if "and" in tokens and not self._is_name(tokens):
            parts = self._parts([token for token in said if token != "both"])
            if len(parts) != 1:
                return self._listed(parts, wish)
        absent: AbsentError | None = None
        for way in ways:
            narrowed = wish.narrowed(way.kinds)
            if narrowed is None:
                continue
            several = way.plural or count is not None
            narrowed = replace(narrowed, whole_rooms=narrowed.whole_rooms or several)
            try:
                found = self._of_kind(way, Sought(narrowed, spoken, every, several))
            except AbsentError as error:
                absent = absent or error
                continue
            if found is not None:
                return _of_number(found, count, spoken)
        raise self._of_another_kind(said, wish) or absent or self._nothing(ways, spoken, wish)

    def _is_name(self, tokens: list[str]) -> bool:
        """Whether they are a name, with a kind or without, so that an "and" makes no list of them."""
        return any(self._names.are_one(stripped(way.name)) for way in kinds_in(tokens))

    def _of_kind(self, way: OfKind, sought: Sought) -> Found | None:
        """What the words without a kind of device stand for, among devices of that kind."""
        name = stripped(way.name)
        if len(name) > 1 and name[0] in ONE and name[0] not in self._names.openings:
            name = stripped(name[1:])  # "the one on the left"
        if key_of(name) in HOUSE or (sought.every and len(part := without_house(name)) == 1 and part[0] in PARTS):
            return self._lookup.whole_house(sought.wish)
        if all(token in NAMELESS for token in name):
            return self._bare(way, sought)
        found = self._lookup.by_name(name, sought)
        if found is None and len(name) > 1 and name[-1] in ONE:
            found = self._lookup.by_name(name[:-1], sought)
        elif found is None and len(name) > 1 and name[-1] in AFTER:
            found = self._lookup.exact(name[:-1], sought.wish, rooms_first=sought.several)
        return found

    def _bare(self, way: OfKind, sought: Sought) -> Found:
        """A kind without a name: "all the lights"; those of the requester's room; "the fan" where there is one.

        In a question, where the room is not known or has none, all of the home. "The locks" are all of them: it is
        asked first, and by their names.
        """
        wish = sought.wish
        if way.kinds is not None and (sought.every or (sought.several and wish.kinds == LOCKS and not wish.asking)):
            return self._lookup.whole_house(wish)
        if way.kinds is None or (wish.asking and not wish.partial):
            raise self._lookup.unsaid(wish)
        word = way.word if not sought.several and wish.partial else ""
        if way.word not in AS_ONE and way.kinds != ANY and (near := self._lookup.near(word, wish)) is not None:
            return near
        called = self._lookup.called(word, wish) if word else None
        if called is None and (way.word in AS_ONE or wish.asking):
            return self._lookup.whole_house(wish)
        return called or self._lookup.only(wish)

    def _of_another_kind(self, tokens: list[str], wish: Wish) -> PlaceError | None:
        """Why a device that is called so is not meant."""
        device = self._names.devices.get(key_of(tokens))
        if device is None or device.kind in wish.named:
            return None
        near = [each.name for each in self._names.beside(device) if each.kind in wish.kinds][:MAX_CANDIDATES]
        return PlaceError(f"{by_names([device]).clause(f'no {noun(wish.kinds, 1)}')}{perhaps(near)}", near)

    def _nothing(self, ways: Sequence[OfKind], spoken: str, wish: Wish) -> PlaceError:
        """Why words were not found, from all the ways in which a kind of device was taken out of them."""
        for way in ways:
            narrowed = wish.narrowed(way.kinds)
            area = self._names.area(stripped(way.name)) if narrowed is not None else None
            if area is not None and narrowed is not None:
                return self._lookup.absent(area, narrowed, wish)
        for way in ways:
            if way.kinds is not None and wish.narrowed(way.kinds) is None:
                return PlaceError(f'"{spoken}" names {noun(way.kinds, 2)}, not {noun(wish.kinds, 2)}')
        tokens = next(way.name for way in ways if way.kinds is None)
        return unknown(spoken, self._names.similar(tokens, wish.named))


def _of_number(found: Found, count: int | None, spoken: str) -> Found:
    """What was found, if it is as many as was said: "both", "all three"."""
    if count is not None and len(found.devices) != count:
        raise ambiguous(spoken, [device.name for device in found.devices])
    return found
