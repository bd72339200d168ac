"""Places that were not said in full: "here", "it", or nothing at all.

The model hands on the person's own words. What they point at is known to the conversation, not to the house,
so it is put in here, before the call.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from agent.schema import FunctionDeclaration

FORMATS: Final = ("place", "name")
"""The formats of what is filled in here; a "name" that is absent stays absent, see `agent.schema.Name`."""

HERE: Final = frozenset(
    {
        "here", "in here", "over here", "right here", "around here", "this room", "in this room", "the room",
        "in the room", "the room i am in", "the room i'm in", "my room", "this area", "in this area",
    }
)  # fmt: skip
"""Whole values that mean the requester's room, folded. "my room" is one too: nobody is known by name."""

_AT_ITS_END: Final = (  # the longer ones first
    " in here", " over here", " around here", " here", " in this room", " of this room", " in the room", " in my room",
    " in this area",
)  # fmt: skip
"""Ends of values that mean the requester's room: "the lights in here"."""

IT: Final = frozenset({"it", "that", "this", "that one", "this one", "the same", "the same one"})
"""Whole values that mean the place which was spoken of last, folded."""

THEM: Final = frozenset(
    {"them", "they", "those", "these", "both", "both of them", "all of them", "them all", "them both", "the same ones"}
)
"""Whole values that mean the places which were spoken of together last, folded."""

EARLIER: Final = IT | THEM

_EXCEPT: Final = (" except ", " but ", " without ", " other than ", " apart from ")


def fill_places(
    declaration: FunctionDeclaration,
    arguments: Mapping[str, Any],
    room: str | None,
    earlier: Sequence[str],
    together: Sequence[str] = (),
) -> dict[str, Any] | None:
    """The arguments with every place in words that a house can look up.

    An absent place and "here" become the room, but a question that names no place stays one about the whole
    house, and an absent name stays absent; "it" becomes the last of `earlier`, "them" all of `together`. Only
    whole values count, and "here" at the end of one: "the lights in here".

    Args:
        declaration: The function that is to be called.
        arguments: What the model gave.
        room: The requester's room, if it is known.
        earlier: The places of this conversation, the last one spoken of at the end.
        together: Those of the last turn that spoke of any; without them "them" is the last one.

    Returns:
        The arguments, or None when a place is needed and nobody has said which: then ask. An optional place
        that is absent stays absent where no room is known.
    """
    filled = dict(arguments)
    for name, format in _places(declaration):
        said = filled.get(name)
        if said is None or said == "":
            optional = name not in declaration.parameters.required
            # "which lights are on?" asks about the whole house, whatever room it is asked in.
            if optional and (room is None or declaration.read_only or format == "name"):
                filled.pop(name, None)
                continue
            meant = room if format == "place" else None
        elif isinstance(said, str):
            meant = _meant(said, room, earlier, together or earlier[-1:])
        else:
            continue  # the tool's own check names what is wrong with it
        if meant is None:
            return None
        filled[name] = meant
    return filled


def spoken_places(declaration: FunctionDeclaration, arguments: Mapping[str, Any]) -> list[str]:
    """The places and names of a call, to be remembered for "it"."""
    values = (arguments.get(name) for name, _ in _places(declaration))
    return [value for value in values if isinstance(value, str) and value]


def which(declaration: FunctionDeclaration) -> str:
    """The question for the place that `fill_places` could not fill: "Which room?"."""
    places = [name for name, _ in _places(declaration)]
    needed = [name for name in places if name in declaration.parameters.required] or places
    return f"Which {needed[0].replace('_', ' ')}?"


def room_among(room: str, rooms: Iterable[str]) -> bool:
    """Whether a requester's room is one of the house: case, accents, spaces and "the" do not count.

    It comes from outside, and a room called "everything" would make every absent place the whole house.
    """
    return _key(room) in {_key(each) for each in rooms}


def _meant(said: str, room: str | None, earlier: Sequence[str], together: Sequence[str]) -> str | None:
    words = _folded(said)
    if words in HERE:
        return room
    if words in IT:
        return earlier[-1] if earlier else None
    if words in THEM:
        return _joined(together) if together else None
    for end in _AT_ITS_END:
        if words.endswith(end):
            head = said.strip(_AROUND).split()[: -len(end.split())]
            return None if room is None else f"{' '.join(head)} in {room}"
    return said


def _joined(places: Sequence[str]) -> str:
    """Places as one: "the hall and the kitchen". One with an exception goes last, as its end is not heard."""
    different = {_folded(place): place for place in places}
    return " and ".join(sorted(different.values(), key=lambda place: any(word in _folded(place) for word in _EXCEPT)))


def _places(declaration: FunctionDeclaration) -> list[tuple[str, str]]:
    """The parameters that are filled in here, with their formats."""
    properties = declaration.parameters.properties.items()
    return [(name, schema.format) for name, schema in properties if schema.format in FORMATS]


_AROUND: Final = " .,!?\"'"


def _folded(words: str) -> str:
    return " ".join(words.casefold().strip(_AROUND).split())


def _key(name: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    key = "".join(letter for letter in plain if letter.isalnum())
    return key.removeprefix("the") or key
