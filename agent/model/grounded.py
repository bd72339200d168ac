"""Whether a call that a language model wrote says only what was heard.

The rule is the small model's: a value is a member of its list, a span of what was said or of a result, a number
in one, or the declared default. A language model can write anything, so what it wrote is looked up in the words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from agent.errors import ArgumentError
from agent.grounding import FORMATS
from agent.model.grammar import LONGEST_NUMBER, Unfit, fitted, number
from agent.model.prompt import Leaf
from agent.numbers import parse_number
from agent.schema import NO_DEFAULT, NUMERIC, FunctionDeclaration, FunctionSchema, FunctionType

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = ("the", "a", "an")


@dataclass(frozen=True)
class Heard:
    """What a value may come from.

    Attributes:
        now: What was said in this turn, and the results of it, the texts one by one.
        before: What was said earlier, the newest first: it may fill what is required, and tell a place, but it
            adds nothing that need not be said.
    """

    now: tuple[str, ...]
    before: tuple[str, ...] = ()


@dataclass
class Grounded:
    """A call after the check.

    Attributes:
        arguments: With every span in the letters in which it was said.
        unfit: What is missing, was never said, or does not fit; with any of them nothing may be called.
    """

    arguments: dict[str, Any]
    unfit: list[Unfit] = field(default_factory=list)


def ground(declaration: FunctionDeclaration, arguments: dict[str, Any], heard: Heard) -> Grounded:
    """Checks a call.

    Args:
        declaration: What is called.
        arguments: As the model wrote them.
        heard: What they may come from.
    """
    checking = _Checking(heard)
    fields = checking.fields(declaration.parameters, arguments, (), True)
    if not checking.unfit:
        try:
            # A required place may be missing here: the runner puts the requester's room in.
            places = {name: "" for name, each in declaration.parameters.properties.items() if each.format == FORMATS[0]}
            declaration.check({**places, **fields})
        except ArgumentError:
            leaf = Leaf((declaration.name,), declaration.parameters, False, True, ())
            checking.unfit.append(Unfit(leaf))
    return Grounded(fields, checking.unfit)


class _Checking:
    """One call while it is checked."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.unfit: list[Unfit] = []

    def fields(
        self, schema: FunctionSchema, values: dict[str, Any], path: tuple[str, ...], required: bool
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in values.keys() - schema.properties.keys():
            self._refuse((*path, name), FunctionSchema(FunctionType.STRING), False)
        for name, each in schema.properties.items():
            needed = required and name in schema.required
            value = values.get(name)
            if value is None or value in ("", []):
                # What is absent by itself and what a model wrote to say so are the same.
                if needed and each.format != FORMATS[0]:
                    self._refuse((*path, name), each, True)
            else:
                found[name] = self._value(each, value, (*path, name), needed)
        return found

    def _value(self, schema: FunctionSchema, value: Any, path: tuple[str, ...], required: bool) -> Any:
        if schema.default is not NO_DEFAULT and value == schema.default:
            return value
        if schema.type is FunctionType.OBJECT and isinstance(value, dict):
            return self.fields(schema, value, path, required)
        if schema.type is FunctionType.ARRAY and isinstance(value, list) and schema.items is not None:
            return [self._value(schema.items, each, path, required) for each in value]
        leaf = _leaf(path, schema, required)
        if leaf.members and value in leaf.members:
            return value
        sources = (*self._heard.now, *(self._heard.before if required or schema.format in FORMATS else ()))
        if schema.type is FunctionType.STRING and not schema.enum and isinstance(value, str):
            span = next((found for text in sources if (found := span_of(value, text)) is not None), None)
            if span is not None:
                return span
        spans = (span for text in sources for span in _numbers_in(leaf, text)) if schema.type in NUMERIC else ()
        if any(fitted(leaf, span) == value for span in spans):
            return value
        self._refuse(path, schema, required)
        return value

    def _refuse(self, path: tuple[str, ...], schema: FunctionSchema, required: bool) -> None:
        """Asks; of a number, about the one that was said and does not fit, if there is one."""
        item = schema.items if schema.type is FunctionType.ARRAY and schema.items is not None else schema
        leaf = _leaf(path, item, required)
        said = Unfit(leaf)
        if item.type in NUMERIC:
            tried = (fitted(leaf, span) for span in _numbers_in(leaf, self._heard.now[0]))
            said = next((each for each in tried if isinstance(each, Unfit) and each.value is not None), said)
        self.unfit.append(said)


def _leaf(path: tuple[str, ...], schema: FunctionSchema, required: bool) -> Leaf:
    members = (True, False) if schema.type is FunctionType.BOOLEAN else tuple(schema.enum)
    return Leaf(path, schema, False, required, members)


def span_of(value: str, text: str) -> str | None:
    """The span of a text that a value is, in the text's own letters; None where it was not said.

    Case, accents of writing such as ligatures, spaces and what stands between words do not count, an article in
    front may be missing, and a number may be in digits or a word: "10 minutes" is said by "Ten minutes".
    """
    if value in text and _borders(text, text.index(value), len(value)):
        return value
    wanted = [_folded(match[0]) for match in _WORD.finditer(value)]
    words = list(_WORD.finditer(text))
    said = [_folded(match[0]) for match in words]
    for asked in (wanted, wanted[1:] if wanted[:1] and wanted[0] in _ARTICLES else []):
        for start in range(len(said) - len(asked) + 1) if asked else ():
            if all(_same(*pair) for pair in zip(asked, said[start : start + len(asked)], strict=True)):
                return text[words[start].start() : words[start + len(asked) - 1].end()]
    return None


def _borders(text: str, start: int, length: int) -> bool:
    """Whether a stretch is whole words: "art" is not said by "start"."""
    before, after = text[start - 1 : start], text[start + length : start + length + 1]
    return length > 0 and not (
        (before.isalnum() and text[start].isalnum()) or (after.isalnum() and text[start + length - 1].isalnum())
    )


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _same(asked: str, said: str) -> bool:
    if asked == said:
        return True
    number = parse_number(asked)
    return number is not None and number == parse_number(said)


def _numbers_in(leaf: Leaf, text: str) -> Iterator[str]:
    """The spans with a number that no longer span reads as another: "minus twenty one" says no 20, and no 21."""
    words = list(re.finditer(r"\S+", text))
    read: dict[tuple[int, int], float] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + LONGEST_NUMBER) + 1):
            value = number(leaf, text[words[start].start() : words[end - 1].end()])
            if value is not None:
                read[start, end] = value
    for (start, end), value in read.items():
        around = product(range(end - LONGEST_NUMBER, start + 1), range(end, start + LONGEST_NUMBER + 1))
        if all(read.get(span, value) == value for span in around):
            yield text[words[start].start() : words[end - 1].end()]


def strings_in(value: Any) -> Iterator[str]:
    """The texts and numbers of a result, one by one."""
    if isinstance(value, dict):
        for each in value.values():
            yield from strings_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings_in(each)
    elif isinstance(value, bool) or value is None:
        return
    else:
        yield value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def heard_in(said: str, results: Sequence[Any], before: Sequence[str]) -> Heard:
    """What a step may draw on: what was said, the results of the turn, and earlier words, the newest first."""
    return Heard((said, *(text for result in results for text in strings_in(result))), tuple(before))
