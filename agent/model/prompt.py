"""How a conversation and a declaration look to the model.

One rendering for training and for the device: a conversation becomes segments (what
is said now, then calls and results of this turn, then what was said before, newest
first), a declaration becomes a card. Both become pieces with a role each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role, TextPart
from agent.errors import AgentError, ErrorCode
from agent.model.tokenizer import SEPARATOR, START, Tokenizer, Word
from agent.names import spoken_name
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType

TEXT_LENGTH = 128  # pieces of a conversation
WORDS_LENGTH = 96  # pieces of what is said now: the rest is kept for results and history
RESULT_LENGTH = 40  # pieces of one call or one result
CARD_LENGTH = 128  # pieces of a declaration
DESCRIPTION_LENGTH = 28  # pieces of a function's description that are read
PARAMETER_LENGTH = 14  # pieces of a parameter's description that are read
MAX_TOOLS = 32  # cards that the decoder sees at once
MAX_SLOTS = MAX_TOOLS  # slots of a card that it sees at once, when it fills that function
MAX_MEMBERS = 24  # members of an enum
HIDDEN_RESULT = "..."  # in place of every result when it is asked whether the words want more


class SegmentRole(IntEnum):
    """Who a piece of the rendering comes from; the model has an embedding for each."""

    NOW = 0
    USER = 1
    MODEL = 2
    CALL = 3
    RESULT = 4
    CARD = 5


@dataclass(frozen=True)
class Segment:
    """A stretch of text from one source."""

    role: SegmentRole
    text: str


@dataclass(frozen=True)
class RenderedWord:
    """A word the model may point at.

    Attributes:
        segment: Index of its segment; a span never crosses two.
        position: Row of its first piece in the rendering.
        start: Offset of its first character in the segment's text.
        end: Offset after its last character.
    """

    segment: int
    position: int
    start: int
    end: int


@dataclass(frozen=True)
class Rendering:
    """A conversation in pieces.

    Attributes:
        pieces: Ids, at most `TEXT_LENGTH`.
        roles: A `SegmentRole` for each piece.
        words: The words that may be pointed at.
        segments: Their texts.
    """

    pieces: tuple[int, ...]
    roles: tuple[int, ...]
    words: tuple[RenderedWord, ...]
    segments: tuple[Segment, ...]

    def span(self, first: int, last: int) -> str:
        """The user's own letters from word `first` to word `last`, both included."""
        segment = self.segments[self.words[first].segment]
        return segment.text[self.words[first].start : self.words[last].end]


@dataclass(frozen=True)
class Leaf:
    """One value the decoder decides: a parameter, or a field of an object parameter.

    Attributes:
        path: Names from the parameter down to the field.
        schema: Its type; of an array, the type of its items.
        repeated: It is an array, decided item by item.
        required: It and every object around it is required.
        members: What may be chosen: enum members, true and false, or nothing.
    """

    path: tuple[str, ...]
    schema: FunctionSchema
    repeated: bool
    required: bool
    members: tuple[Any, ...]


@dataclass(frozen=True)
class Card:
    """A declaration in pieces, with the stretches that stand for its parts.

    Attributes:
        declaration: What it was made from.
        leaves: The values to decide, in order.
        pieces: Ids, at most `CARD_LENGTH`.
        slots: Piece ranges `(start, end)`: first the function, then for each leaf the
            leaf itself and its members.
    """

    declaration: FunctionDeclaration
    leaves: tuple[Leaf, ...]
    pieces: tuple[int, ...]
    slots: tuple[tuple[int, int], ...]

    def leaf_slot(self, leaf: int) -> int:
        """Index in `slots` of a leaf; its members follow it."""
        return 1 + sum(1 + len(each.members) for each in self.leaves[:leaf])

    def fillings(self) -> tuple[tuple[int, ...], ...]:
        """The leaves in stretches whose slots, with the function's, fit `MAX_SLOTS`: each is filled by itself."""
        stretches: list[list[int]] = []
        room = 0
        for index, leaf in enumerate(self.leaves):
            needed = 1 + len(leaf.members)
            if not stretches or needed > room:
                stretches.append([])
                room = MAX_SLOTS - 1
            stretches[-1].append(index)
            room -= needed
        return tuple(tuple(each) for each in stretches)

    def filling_slots(self, stretch: Sequence[int]) -> list[int]:
        """The slots that are seen while a stretch of leaves is filled: the function's, then theirs in order."""
        return [
            0,
            *range(self.leaf_slot(stretch[0]), self.leaf_slot(stretch[-1]) + 1 + len(self.leaves[stretch[-1]].members)),
        ]


def beginning_of_turn(contents: Sequence[Content]) -> int:
    """Where the user's last words are.

    Raises:
        AgentError: INVALID_REQUEST, there are none.
    """
    for index in range(len(contents) - 1, -1, -1):
        if contents[index].role is Role.USER and contents[index].text:
            return index
    raise AgentError(ErrorCode.INVALID_REQUEST, "The conversation holds no words of a user.")


def segments_of(contents: Sequence[Content]) -> tuple[Segment, ...]:
    """The segments of a conversation whose last words are the user's, newest first.

    Raises:
        AgentError: As for `beginning_of_turn`.
    """
    last = beginning_of_turn(contents)
    segments = [Segment(SegmentRole.NOW, contents[last].text)]
    for content in contents[last:]:
        for part in content.parts:
            if isinstance(part, FunctionCallPart):
                segments.append(Segment(SegmentRole.CALL, render_values(part.name, part.arguments)))
            elif isinstance(part, FunctionResponsePart):
                segments.append(Segment(SegmentRole.RESULT, render_values(part.name, part.response)))
    for content in reversed(contents[:last]):
        texts = [part.text for part in content.parts if isinstance(part, TextPart)]
        if texts:
            role = SegmentRole.USER if content.role is Role.USER else SegmentRole.MODEL
            segments.append(Segment(role, " ".join(texts)))
    return tuple(segments)


def render_values(name: str, values: Mapping[str, Any]) -> str:
    """A call's arguments or a result, compactly: `turn on light: room kitchen, brightness 80`."""
    fields = ", ".join(f"{spoken_name(key)} {_compact(value)}" for key, value in values.items())
    return f"{spoken_name(name)}: {fields}"


def _compact(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{spoken_name(str(key))} {_compact(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_compact(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value)


def render(tokenizer: Tokenizer, segments: Sequence[Segment]) -> Rendering:
    """The pieces of a conversation; what does not fit is dropped from the oldest on.

    Raises:
        AgentError: INVALID_REQUEST, what is said now is longer than `WORDS_LENGTH` pieces.
    """
    pieces: list[int] = [START]
    roles: list[int] = [SegmentRole.NOW]
    rendered: list[RenderedWord] = []
    kept: list[Segment] = []
    for index, segment in enumerate(segments):
        words = tokenizer.words(segment.text)
        if segment.role is SegmentRole.NOW and sum(len(word.pieces) for word in words) > WORDS_LENGTH:
            raise AgentError(
                ErrorCode.INVALID_REQUEST,
                f"That is too long for me: a command may have about {WORDS_LENGTH} word pieces.",
            )
        if segment.role in (SegmentRole.CALL, SegmentRole.RESULT):
            words = _fitting(words, RESULT_LENGTH)
        left = TEXT_LENGTH - len(pieces) - 1
        if index and sum(len(word.pieces) for word in words) > left:
            # Results are cut to what fits, history is taken whole or not at all.
            if segment.role not in (SegmentRole.CALL, SegmentRole.RESULT):
                break
            words = _fitting(words, left)
        for word in words:
            if word.pieces:
                rendered.append(RenderedWord(index, len(pieces), word.start, word.end))
            pieces += word.pieces
            roles += [segment.role] * len(word.pieces)
        pieces.append(SEPARATOR)
        roles.append(segment.role)
        kept.append(segment)
        if len(pieces) >= TEXT_LENGTH - 1:
            break
    return Rendering(tuple(pieces), tuple(roles), tuple(rendered), tuple(kept))


def _fitting(words: Sequence[Word], length: int) -> list[Word]:
    """The first words that have at most `length` pieces together."""
    kept, used = [], 0
    for word in words:
        used += len(word.pieces)
        if used > length:
            break
        kept.append(word)
    return kept


def leaves_of(declaration: FunctionDeclaration) -> tuple[Leaf, ...]:
    """The values of a declaration that the decoder decides, objects laid flat.

    Raises:
        AgentError: INVALID_REQUEST, a parameter is of a kind this model cannot fill.
    """
    leaves: list[Leaf] = []

    def walk(schema: FunctionSchema, path: tuple[str, ...], required: bool) -> None:
        where = f"{declaration.name}: {'.'.join(path)}"
        if schema.type is FunctionType.OBJECT:
            for name, field in schema.properties.items():
                walk(field, (*path, name), required and name in schema.required)
            return
        repeated = schema.type is FunctionType.ARRAY
        item = schema.items if repeated and schema.items is not None else schema
        if item.type in (FunctionType.OBJECT, FunctionType.ARRAY):
            raise AgentError(
                ErrorCode.INVALID_REQUEST,
                f"{where} is a list of {item.type.value}s, which this model cannot fill.",
            )
        members = (True, False) if item.type is FunctionType.BOOLEAN else tuple(item.enum)
        if len(members) > MAX_MEMBERS:
            raise AgentError(
                ErrorCode.INVALID_REQUEST,
                f"{where} has {len(members)} members; this model reads at most {MAX_MEMBERS}.",
            )
        leaves.append(Leaf(path, item, repeated, required, members))

    walk(declaration.parameters, (), True)
    return tuple(leaves)


def render_card(tokenizer: Tokenizer, declaration: FunctionDeclaration) -> Card:
    """The pieces of a declaration.

    Descriptions are read up to a length; names and members always are.

    Raises:
        AgentError: INVALID_REQUEST, it does not fit `CARD_LENGTH` pieces.
    """
    leaves = leaves_of(declaration)
    for description in (PARAMETER_LENGTH, 4, 0):
        card = _card(tokenizer, declaration, leaves, description)
        if len(card.pieces) <= CARD_LENGTH:
            return card
    raise AgentError(
        ErrorCode.INVALID_REQUEST,
        f"{declaration.name} has {len(card.pieces)} word pieces in its names and members; "
        f"this model reads at most {CARD_LENGTH}.",
    )


def _card(tokenizer: Tokenizer, declaration: FunctionDeclaration, leaves: tuple[Leaf, ...], description: int) -> Card:
    pieces: list[int] = [START]
    slots: list[tuple[int, int]] = []

    def write(text: str, limit: int = CARD_LENGTH) -> None:
        for word in _fitting(tokenizer.words(text), limit):
            pieces.extend(word.pieces)

    write(spoken_name(declaration.name))
    write(": " + declaration.description, DESCRIPTION_LENGTH)
    slots.append((1, len(pieces)))
    for leaf in leaves:
        pieces.append(SEPARATOR)
        start = len(pieces)
        write(" ".join(spoken_name(name) for name in leaf.path))
        if leaf.schema.description and description:
            write(": " + leaf.schema.description, description)
        write("(" + _kind(leaf) + ")")
        at = len(slots)
        slots.append((start, len(pieces)))
        for member in leaf.members:
            begin = len(pieces)
            write(spoken_name(str(member)) or str(member))
            slots.append((begin, len(pieces)))
            write(",")
        slots[at] = (start, len(pieces))
    pieces.append(SEPARATOR)
    return Card(declaration, leaves, tuple(pieces), tuple(slots))


def _kind(leaf: Leaf) -> str:
    schema = leaf.schema
    kind = schema.format or schema.type.value
    if schema.minimum is not None and schema.maximum is not None:
        kind += f" {schema.minimum:g} to {schema.maximum:g}"
    if leaf.repeated:
        kind = "list of " + kind
    return kind + (", required" if leaf.required else "")
