"""What a function asks for by name, what it is given, and what is said where nothing fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.errors import ArgumentError
from tools.device import ANY, LIGHTS, ON_OFF, SWITCHES, Device, Kind
from tools.speech import are_several, listed, the

MAX_CANDIDATES = 5


class PlaceError(ArgumentError):
    """Words that name nothing here, or more than one thing where one is meant.

    Attributes:
        candidates: What may have been meant, at most five stored names.
    """

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class UnknownPlaceError(PlaceError):
    """The words are no name here; they may be misspelt."""


class AbsentError(PlaceError):
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
        near: The requester's room, where it is known: a kind alone is one that is there.
    """

    kinds: frozenset[Kind]
    named: frozenset[Kind]
    whole_rooms: bool = True
    asking: bool = False
    partial: bool = True
    near: str | None = None

    def narrowed(self, kinds: frozenset[Kind] | None) -> Wish | None:
        """The wish for devices of these kinds only; None where it is for none of them.

        A kind that is said is a name of a sort: "turn off the speakers" reaches them whichever function it is.

        Args:
            kinds: What was said; None is no kind.
        """
        if kinds is None:
            return self
        left = (self.kinds & kinds) or (self.named & kinds)
        return replace(self, kinds=left, named=self.named & kinds) if left else None


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
        plural: Whether that is spoken of as several.
        where: "in the kitchen", "on the first floor", "upstairs": the area that was named; "" without one.
    """

    devices: tuple[Device, ...]
    label: str
    plural: bool
    where: str = ""

    def clause(self, rest: str, one: str = "is", several: str = "are") -> str:
        """What is said of it: "the kitchen lights are off"."""
        return f"{self.label} {several if self.plural else one} {rest}"


def by_names(devices: Sequence[Device], where: str = "") -> Found:
    """The devices, called by their own names."""
    names = [device.name for device in devices]
    return Found(tuple(devices), listed([the(name) for name in names], most=4), are_several(names), where)


def perhaps(names: Sequence[str]) -> str:
    """ "; did you mean the hall or the hall light?"; nothing without names."""
    return f"; did you mean {_either(names)}?" if names else ""


def unknown(spoken: str, names: Sequence[str]) -> UnknownPlaceError:
    """That the words are no name, and what names they may be meant for."""
    candidates = names[:MAX_CANDIDATES]
    return UnknownPlaceError(f'I know nothing called "{spoken}"{perhaps(candidates)}', candidates)


def ambiguous(spoken: str, names: Sequence[str]) -> PlaceError:
    """That the words may stand for each of these."""
    candidates = names[:MAX_CANDIDATES]
    more = " or another" if len(names) > len(candidates) else ""
    return PlaceError(f'"{spoken}" could be {_either(candidates)}{more}', candidates)


def _either(names: Sequence[str]) -> str:
    return listed([the(name) for name in names], last="or")
