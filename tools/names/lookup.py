"""A name, said whole or in part, with or without its room, looked up among the names of a home."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tools.device import ANY, CLIMATE, COVERS, PLAYERS, RISKY, SWITCHES, Device, Kind
from tools.names.index import Area, Names
from tools.names.kinds import KIND_WORDS, kinds_in
from tools.names.phrases import ALL, BETWEEN, HOUSE, NAMELESS, ONE, ending, stripped
from tools.names.places import MAX_CANDIDATES, AbsentError, Found, PlaceError, Wish, ambiguous, by_names, perhaps
from tools.names.words import key_of, name_key, without_determiner
from tools.speech import are_several, listed, noun, the

_AKIN = (COVERS, CLIMATE, PLAYERS, SWITCHES)
"""Kinds of which one may be said for another."""


@dataclass(frozen=True)
class Sought:
    """What is looked for, and how it was said.

    Attributes:
        wish: Which devices.
        spoken: The whole words, for what is said where nothing fits.
        every: With an "all" or its like.
        several: As a plural, or with a number.
    """

    wish: Wish
    spoken: str
    every: bool = False
    several: bool = False


class Lookup:
    """Finds what a name stands for. Nothing here knows of lists, exceptions and slips."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def exact(self, tokens: list[str], wish: Wish, rooms_first: bool = False) -> Found | None:
        """A name, whole: a device, a group, a room, a floor, and last a device of another kind."""
        key = key_of(tokens)
        device = self._names.devices.get(key)
        if device is not None and device.kind in wish.kinds and not rooms_first:
            return by_names([device])
        group = self._names.groups.get(key)
        found = _in_area(group, wish, whole=True) if group else None
        for area in (self._names.rooms.get(key), self._names.floors.get(key)):
            if found is None and area is not None:
                found = _in_area(area, wish)
        if found is None and device is not None and device.kind in wish.named:
            found = by_names([device])
        return found

    def whole_name_somewhere(self, tokens: list[str], wish: Wish) -> Found | None:
        """A device by its whole name, in a place that is said before it or after it.

        Raises:
            PlaceError: It is elsewhere, and the place has nothing of that name.
        """
        elsewhere: PlaceError | None = None
        for cut in range(1, len(tokens)):
            for place, name in ((tokens[cut:], ending(tokens[:cut])), (tokens[:cut], tokens[cut:])):
                device = self._names.devices.get(key_of(name))
                area = self._names.area(stripped(place)) if device is not None else None
                if device is None or area is None or device.kind not in wish.named:
                    continue
                there = {each.id for each in (*area.inside, *area.own)}
                if device.id in there:
                    return by_names([device])
                if len(name) > 1 and not there & self._names.with_words(name).keys():
                    # "the floor lamp in the bedroom", and it is elsewhere: never all of the bedroom's lamps.
                    elsewhere = PlaceError(f"{the(device.name)} is not {area.where}", [device.name])
        if elsewhere is not None:
            raise elsewhere
        return None

    def by_name(self, name: list[str], sought: Sought) -> Found | None:
        """A name, whole or in part, with or without its place."""
        return (
            self.exact(name, sought.wish, rooms_first=sought.several)
            or self._somewhere(name, sought)
            or self._beginning(name, sought)
        )

    def inside(self, area: Area, tokens: list[str], sought: Sought) -> Found | None:
        """A thing in an area: its name, its kind, some of the words of its name, or a smaller area.

        Raises:
            AbsentError: There is nothing of the kind.
        """
        tokens = without_determiner(tokens)
        named = [device for device in (*area.own, *area.inside) if device.kind in sought.wish.named]
        exact = self._names.devices.get(key_of(tokens))
        if exact is not None and exact in named:
            return by_names([exact])
        absent: AbsentError | None = None
        for way in kinds_in(tokens):
            wish = sought.wish.narrowed(way.kinds)
            if wish is None:
                continue
            many = sought.every or sought.several or way.plural
            name = stripped(way.name)
            for words in _wordings(name):
                with_words = self._names.with_words(words)
                found = [device for device in named if device.id in with_words and device.kind in wish.named]
                found = [device for device in found if device.kind in wish.kinds] or found
                if found:
                    return self._chosen(found, replace(sought, every=many))
            if all(token in NAMELESS or token in ALL for token in name):
                place = _in_area(area, replace(wish, whole_rooms=wish.whole_rooms or many))
                if place is not None:
                    return place
                absent = absent or self.absent(area, wish, sought.wish)
            smaller = self._names.area(name)
            if smaller is not None:
                both = tuple(device for device in smaller.inside if device in area.inside)
                return _in_area(replace(smaller, inside=both), wish)
        if absent is not None:
            raise absent
        return None

    def near(self, word: str, wish: Wish) -> Found | None:
        """What of the wished kinds is in the requester's room: the one that is called so, or all of them.

        Nothing where the room is not known or has none. Of what can hurt or let somebody in it is always all of the
        home: who asks whether the doors are locked is not to hear of one.

        Raises:
            PlaceError: There are several, which a room does not stand for.
        """
        room = self._names.rooms.get(name_key(wish.near)) if wish.near is not None else None
        if room is None or wish.kinds & RISKY:
            return None
        with_word = self._names.with_words([word]) if word else {}
        called = [device for device in room.of(wish.kinds, wish.named) if device.id in with_word]
        return by_names(called) if len(called) == 1 else _in_area(room, wish)

    def called(self, word: str, wish: Wish) -> Found | None:
        """The only device that has the word in a name: "the radio"."""
        devices = [device for device in self._names.with_words([word]).values() if device.kind in wish.kinds]
        return by_names(devices) if len(devices) == 1 else None

    def whole_house(self, wish: Wish) -> Found:
        """All of the wished kinds.

        Raises:
            AbsentError: There is none.
        """
        devices = self.all_of(wish)
        if len(devices) == 1:
            return by_names(devices)
        is_all = len(wish.kinds) == len(ANY)
        return Found(devices, "everything" if is_all else f"all the {noun(wish.kinds, 2)}", plural=not is_all)

    def only(self, wish: Wish) -> Found:
        """The only device of the wished kinds.

        Raises:
            PlaceError: There is none, or more than one.
        """
        devices = self.all_of(wish)
        if len(devices) > 1:
            raise self.unsaid(wish)
        return by_names(devices)

    def all_of(self, wish: Wish) -> tuple[Device, ...]:
        """The devices of the wished kinds.

        Raises:
            AbsentError: There is none.
        """
        devices = tuple(device for device in self._names.everything if device.kind in wish.kinds)
        if not devices:
            raise AbsentError(f"there is no {noun(wish.kinds, 1)} in this home")
        return devices

    def unsaid(self, wish: Wish) -> PlaceError:
        """That it was not said which, and in which rooms there are such."""
        rooms = [area.name for area in self._names.rooms.values() if area.of(wish.kinds, wish.named)]
        candidates = list(dict.fromkeys(rooms))[:MAX_CANDIDATES]
        names = f", such as {listed(candidates, last='or')}" if candidates else ""
        return PlaceError(f"it was not said which {noun(wish.kinds, 2)}; say a room or a name{names}", candidates)

    def absent(self, area: Area, wish: Wish, wider: Wish) -> AbsentError:
        """That an area has nothing of the wished kinds, and what it has that is akin.

        Args:
            area: Where it was looked for.
            wish: For the kind that was said.
            wider: For all that the function can move.
        """
        akin: frozenset[Kind] = next((family for family in _AKIN if wish.kinds <= family), frozenset())
        names = [device.name for device in area.inside if device.kind in akin & wider.kinds][:MAX_CANDIDATES]
        return AbsentError(f"there is no {noun(wish.kinds, 1)} {area.where}{perhaps(names)}", names)

    def _somewhere(self, tokens: list[str], sought: Sought) -> Found | None:
        """A thing in a room, on a floor or in the house, said before it or after it."""
        for cut in range(1, len(tokens)):
            before, after = ending(tokens[:cut]), stripped(tokens[cut:])
            if before and key_of(after) in HOUSE:
                return self._in_house(before, sought)
            area = self._names.area(after)
            found = self.inside(area, before, sought) if area is not None else None
            if found is not None:
                return found
        for cut in range(len(tokens) - 1, 0, -1):
            area = self._names.area(stripped(tokens[:cut]))
            found = self.inside(area, tokens[cut:], sought) if area is not None else None
            if found is not None:
                return found
        if sought.wish.kinds & RISKY and not sought.wish.asking:
            return None
        ends = (end for end in range(1, len(tokens)) if key_of(tokens[:end]) in HOUSE)
        end = next(ends, None)
        return self._in_house(tokens[end:], sought) if end is not None else None

    def _in_house(self, tokens: list[str], sought: Sought) -> Found | None:
        """A name that was said to be in the house, or of it: "house alarm"."""
        all_there_are = replace(sought, every=sought.every or sought.several)
        return self.exact(tokens, sought.wish) or self._beginning(tokens, all_there_are)

    def _beginning(self, tokens: list[str], sought: Sought) -> Found | None:
        """The beginning of a name, or some of its words."""
        wish = sought.wish
        if not wish.partial and sum(token not in KIND_WORDS for token in tokens) < 2:
            return None
        rooms = self._names.rooms_beginning(tokens)
        if len(rooms) > 1:
            raise ambiguous(sought.spoken, [room.name for room in rooms])
        found = _in_area(rooms[0], wish) if rooms else None
        if found is not None:
            return found
        with_words = [self._names.with_words(words).values() for words in _wordings(tokens)]
        # A room without lights is no name for the speaker in it that is called after it.
        for kinds in (wish.kinds, wish.named) if self._names.area(tokens) is None else (wish.kinds,):
            for some in (self._names.beginning(tokens), *with_words):
                found = self._chosen([device for device in some if device.kind in kinds], sought)
                if found is not None:
                    return found
        return None

    def _chosen(self, devices: Sequence[Device], sought: Sought) -> Found | None:
        """All of them, if they may be several: with "all", and for a plural if they are in one room."""
        if not devices:
            return None
        devices = self._names.in_order(devices)
        together = devices[0].room is not None and len({device.room for device in devices}) == 1
        if len(devices) == 1 or sought.every or (sought.several and together):
            return by_names(devices)
        raise ambiguous(sought.spoken, [device.name for device in devices])


def _in_area(area: Area, wish: Wish, whole: bool = False) -> Found | None:
    """What is meant by a room, a floor or a group alone; None if there is nothing of the kind."""
    devices = area.of(wish.kinds, wish.named)
    if not devices:
        return None
    if len(devices) > 1 and not (whole or wish.whole_rooms):
        raise ambiguous(area.name, [device.name for device in devices])
    kinds = frozenset(device.kind for device in devices)
    if area.own:
        return Found(devices, the(area.name), are_several([area.name]))
    if len(devices) == 1 or len(kinds) > 1:
        return by_names(devices, area.where)
    label = " ".join(f"the {area.name} {noun(kinds, len(devices))}".split())
    return Found(devices, label, plural=True, where=area.where)


def _wordings(name: list[str]) -> Iterable[list[str]]:
    """The words to look for among the words of names: all of them, then without those in between."""
    if any(token not in NAMELESS or token in ("floor", "area") for token in name):
        yield name
        shorter = [token for token in name if token not in BETWEEN and token not in ONE and token != "the"]
        if any(token not in NAMELESS and token not in KIND_WORDS for token in shorter):
            yield shorter
