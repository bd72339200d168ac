"""Places that were not said in full: "here", "it", or nothing at all.

The model hands on the person's own words. What they point at is known to the conversation, not to the house,
so it is put in here, before the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.schema import FunctionDeclaration

HERE: Final = frozenset(
    {"here", "in here", "over here", "this room", "in this room", "the room", "the room i am in", "my room"}
)
"""Whole values that mean the requester's room, folded. "my room" is one too: nobody is known by name."""

EARLIER: Final = frozenset(
    {"it", "them", "they", "that", "those", "this", "these", "that one", "this one", "the same"}
)
"""Whole values that mean the place which was spoken of last, folded."""


def fill_places(
    declaration: FunctionDeclaration, arguments: Mapping[str, Any], room: str | None, earlier: Sequence[str]
) -> dict[str, Any] | None:
    """The arguments with every place in words that a house can look up.

    An absent place and "here" become the room, but a question that names no place stays one about the whole
    house; "it" becomes the last of `earlier`. Only whole values count: "the lamp over here" is the house's to
    know.

    Args:
        declaration: The function that is to be called.
        arguments: What the model gave.
        room: The requester's room, if it is known.
        earlier: The places of this conversation, the last one spoken of at the end.

    Returns:
        The arguments, or None when a place is needed and nobody has said which: then ask. An optional place
        that is absent stays absent where no room is known.
    """
    filled = dict(arguments)
    for name in _places(declaration):
        said = filled.get(name)
        if said is None or said == "":
            meant = room
            optional = name not in declaration.parameters.required
            # "which lights are on?" asks about the whole house, whatever room it is asked in.
            if optional and (meant is None or declaration.read_only):
                filled.pop(name, None)
                continue
        elif not isinstance(said, str):
            continue  # the tool's own check names what is wrong with it
        else:
            words = _folded(said)
            meant = room if words in HERE else said
            if words in EARLIER:
                meant = earlier[-1] if earlier else None
        if meant is None:
            return None
        filled[name] = meant
    return filled


def spoken_places(declaration: FunctionDeclaration, arguments: Mapping[str, Any]) -> list[str]:
    """The places of a call, to be remembered for "it"."""
    values = (arguments.get(name) for name in _places(declaration))
    return [value for value in values if isinstance(value, str) and value]


def which(declaration: FunctionDeclaration) -> str:
    """The question for the place that `fill_places` could not fill: "Which room?"."""
    places = _places(declaration)
    needed = [name for name in places if name in declaration.parameters.required] or places
    return f"Which {needed[0].replace('_', ' ')}?"


def _places(declaration: FunctionDeclaration) -> list[str]:
    return [name for name, schema in declaration.parameters.properties.items() if schema.format == "place"]


def _folded(words: str) -> str:
    return " ".join(words.casefold().strip(" .,!?\"'").split())
