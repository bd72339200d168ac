"""The markup of hand-written sentences: slots and alternatives.

    (please|could you|) turn on the {room} lights to {brightness:percent}
    what's it like outside {unit=celsius:in celsius}

`{name}` and `{name:class}` are filled with words and label a span; `{name=member:words}`
labels an enum member; `(a|b|)` is one of its alternatives; `<{room} curtains>` widens the label of the
slot in it to all of the words.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

_SLOT = re.compile(r"\{(\w+(?:\.\w+)*)(?:=([^:}]+))?(?::([^}]*))?\}")
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")

_OWNED = re.compile(r"(my|our|the|his|her|their)\b|\w+['’]s?\b", re.IGNORECASE)

# Gives the words for a slot: (slot name, class named in the markup or None).
Fill = Callable[[str, str | None], str]


@dataclass
class Sentence:
    """A sentence with its labels.

    Attributes:
        text: The words.
        spans: For each slot its places `(start, end)` in the text, in order.
        members: For each slot labelled by a member, that member's name.
        pattern: What it was made of.
    """

    text: str
    spans: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)
    pattern: str = ""

    def moved(self, text: str, offset: int) -> Sentence:
        """The same labels in a longer text that holds this one at `offset`."""
        spans = {name: [(start + offset, end + offset) for start, end in places] for name, places in self.spans.items()}
        return Sentence(text, spans, dict(self.members), self.pattern)


def slots_of(pattern: str) -> list[tuple[str, str | None, str | None]]:
    """All slots of a pattern: name, member or None, words or class or None."""
    return [(m.group(1), m.group(2), m.group(3)) for m in _SLOT.finditer(pattern)]


def check(pattern: str) -> None:
    """Refuses markup that would be read differently than it was meant.

    Raises:
        ValueError: Braces that are no slot, or nested or unbalanced alternatives.
    """
    bare = _CHOICE.sub("", _SLOT.sub("", pattern))
    if re.search(r"[{}|]", bare) or not re.fullmatch(r"[^<>]*(?:<[^<>]*>[^<>]*)*", bare):
        raise ValueError(f"markup not understood in {pattern!r}: {bare!r} is left")
    if re.search(r"[A-Za-z0-9]\{[\w.]+(:\w+)?\}|\}[A-Za-z0-9]", pattern):
        raise ValueError(f"a slot touches a letter in {pattern!r}: its words could not be told from it")


def expand(pattern: str, rng: random.Random, fill: Fill) -> Sentence:
    """One sentence of a pattern: alternatives drawn, slots filled, spaces tidied."""
    sentence = Sentence("", pattern=pattern)
    pattern = _CHOICE.sub(lambda match: rng.choice(match.group(1).split("|")), pattern)
    pattern = re.sub(r"\s+", " ", pattern).strip()
    position = 0
    wide: int | None = None  # where a "<" began
    last = ""

    def write(text: str) -> None:
        """Adds words; what stands between "<" and ">" is the label of the slot there."""
        nonlocal wide
        for piece in re.split(r"([<>])", text):
            if piece == "<":
                wide = len(sentence.text)
            elif piece == ">":
                assert wide is not None
                sentence.spans[last][-1] = (wide, len(sentence.text))
                wide = None
            else:
                sentence.text += piece

    for match in _SLOT.finditer(pattern):
        write(pattern[position : match.start()])
        position = match.end()
        name, member, words = match.groups()
        if member is not None:
            sentence.members[name] = member
            sentence.text += words or ""
        else:
            value = fill(name, words)
            if wide is None and sentence.text[-4:].lower() in ("the ", " my ") and _OWNED.match(value):
                # "the emma's room" and "my my room" are nobody's English.
                sentence.text = sentence.text[:-4] + (" " if sentence.text[-4:] == " my " else "")
            start = len(sentence.text)
            sentence.text += value
            sentence.spans.setdefault(name, []).append((start, start + len(value)))
            last = name
    write(pattern[position:])
    return _tidy(sentence)


def _tidy(sentence: Sentence) -> Sentence:
    """Takes out doubled, leading and trailing spaces and spaces before marks, moving the labels along."""
    kept: list[int] = []
    text = sentence.text
    for index, character in enumerate(text):
        if character == " ":
            following = text[index + 1 : index + 2]
            if not kept or text[kept[-1]] == " " or not following or following in " ,.?!":
                continue
        kept.append(index)
    while kept and text[kept[-1]] == " ":
        kept.pop()
    place = {old: new for new, old in enumerate(kept)}
    spans = {}
    for name, places in sentence.spans.items():
        spans[name] = [(place[start], place[end - 1] + 1) for start, end in places]
    return Sentence("".join(text[index] for index in kept), spans, sentence.members, sentence.pattern)
