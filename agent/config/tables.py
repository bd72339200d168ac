"""Tables of the settings into dataclasses: an unknown key, a missing one or a wrong type is one sentence.

A table knows where it stands, so that whoever finds something wrong in it can say where.
"""

from __future__ import annotations

import difflib
import functools
import math
import types
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from agent.errors import SettingsError

T = TypeVar("T")

Key = str | int
"""A key of a table, or an index of an array."""

LONGEST_SHOWN = 60
"""How much of a wrong value an error repeats, in characters."""

MOST_NAMES = 24
"""How many names an error lists; the rest is counted."""

ALIKE = 0.7
"""How alike two names are of which one may stand for the other."""


class Table(dict[str, Any]):
    """A table of the settings, and where it stands; so does every table in it.

    Attributes:
        at: The keys and indexes that lead to it, from the top of the file.
        folder: Where relative paths in it start.
        where: What errors call it: `[mqtt]`, `[[tools.device]] "desk lamp"`, `[[tools.device]] "desk lamp": mqtt`.
    """

    def __init__(
        self, values: Mapping[str, Any], at: tuple[Key, ...] = (), folder: Path | None = None, where: str = ""
    ) -> None:
        """Takes a table as TOML gives it. Without a folder, relative paths start at the working directory."""
        self.at = at
        self.folder = folder or Path()
        self.where = where or f"[{'.'.join(map(str, at))}]"
        super().__init__({key: self._placed(value, (key,)) for key, value in values.items()})

    @classmethod
    def of(cls, values: Mapping[str, Any], *at: Key) -> Table:
        """A table that knows where it stands: as it knows already, else at these keys."""
        return values if isinstance(values, cls) else cls(values, at)

    def _placed(self, value: Any, at: tuple[Key, ...]) -> Any:
        if isinstance(value, Mapping):
            return Table(value, (*self.at, *at), self.folder, self._where(value, at))
        if isinstance(value, list):
            return [self._placed(each, (*at, index)) for index, each in enumerate(value)]
        return value

    def _where(self, values: Mapping[str, Any], at: tuple[Key, ...]) -> str:
        if any(isinstance(key, int) for key in self.at):  # what is in an entry of an array is told from the entry on
            return f"{self.where}: {' '.join(str(key + 1) if isinstance(key, int) else key for key in at)}"
        if len(at) == 1:
            return ""
        name = values.get("name")
        called = f'"{name}"' if isinstance(name, str) else f"number {' '.join(str(int(key) + 1) for key in at[1:])}"
        return f"[[{'.'.join(map(str, (*self.at, at[0])))}]] {called}"

    def table(self, key: str) -> Table:
        """The table of this key; an empty one where there is none.

        Raises:
            SettingsError: It is something else.
        """
        found = self.get(key)
        if found is None:
            found = self._placed({}, (key,))
        if not isinstance(found, Table):
            raise self.wrong(f"{key} is {shown(found)}; it must be a table", key)
        return found

    def tables(self, key: str) -> list[Table]:
        """The tables of an array of tables, such as `[[tools.room]]`; none where there is no such key.

        Raises:
            SettingsError: It is something else.
        """
        found = self.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, Table) for each in found):
            raise self.wrong(f"{key} is {shown(found)}; it must be an array of tables", key)
        return found

    def check_keys(self, allowed: Collection[str]) -> None:
        """Refuses a key that nobody knows.

        Raises:
            SettingsError: There is one; the text names those that are allowed.
        """
        for key in self:
            if key not in allowed:
                known = choice(allowed, key)
                raise SettingsError(f"{self.where} has no key {key!r}; allowed are {known}", (*self.at, key))

    def wrong(self, text: str, *at: Key) -> SettingsError:
        """An error about this table.

        Args:
            text: One sentence; what the table is called is put before it.
            at: The keys and indexes in it that lead to what is wrong.
        """
        return SettingsError(f"{self.where}: {text}", (*self.at, *at))


def read_table(kind: type[T], table: Table, hidden: Collection[str] = (), also: Collection[str] = ()) -> T:
    """A dataclass from a table with a key for each of its fields.

    Args:
        kind: The dataclass; fields may be str, int, float, bool, Path, Literal, Enum, tuple[X, ...], each of
            them or None, and numbers with a `Range`.
        table: The table.
        hidden: Fields that are no keys.
        also: Keys besides, which somebody else reads.

    Raises:
        SettingsError: The text names the table and the key, and what is allowed.
    """
    known = {field.name: field for field in _fields(kind) if field.name not in hidden}
    values = read_values(kind, table, {name: name for name in known}, also)
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise SettingsError(f"{table.where} needs the key {name!r}", table.at)
    return kind(**values)


def read_values(kind: type[Any], table: Table, keys: Mapping[str, str], also: Collection[str] = ()) -> dict[str, Any]:
    """The values of a table by the name of the field that each is for.

    Args:
        kind: The dataclass with the fields.
        table: The table.
        keys: The field of each key.
        also: Keys besides, which somebody else reads.

    Raises:
        SettingsError: As for `read_table`; what is missing is no error here.
    """
    table.check_keys((*keys, *also))
    hints = _hints(kind)  # type: ignore[arg-type]  # mypy takes a class for one of its objects
    may_be_empty = {field.name for field in _fields(kind) if field.default == ""}
    values = {}
    for key, name in keys.items():
        if key in table:
            value = table[key]
            values[name] = "" if value == "" and name in may_be_empty else _value(hints[name], value, table, (key,))
    return values


def _fields(kind: type[Any]) -> tuple[Field[Any], ...]:
    return fields(kind)


@functools.cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """The types of a dataclass's fields, which take long to find out."""
    return typing.get_type_hints(kind, include_extras=True)


def _value(hint: Any, value: Any, table: Table, at: tuple[Key, ...]) -> Any:
    """The value in the type of its field."""

    def wrong(allowed: str) -> SettingsError:
        is_one = "is" if len(at) == 1 else "has"  # one of a list
        return table.wrong(f"{at[0]} {is_one} {shown(value)}; {allowed}", *at)

    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(each for each in inner if each is not type(None)), value, table, at)
    if origin is Annotated:
        low, high = inner[1].minimum, inner[1].maximum
        # A whole number may be too large for a float, so the bounds come first; not a number is within none.
        if _is_number(value) and not low <= value <= high:
            raise wrong(f"allowed is {low:g} to {high:g}")
        return _value(inner[0], value, table, at)
    if origin is tuple:
        if not isinstance(value, list):
            raise wrong("it must be a list")
        return tuple(_value(inner[0], each, table, (*at, index)) for index, each in enumerate(value))
    if origin is Literal:
        return _one_of({each: each for each in inner}, value, wrong)
    if issubclass(hint, Enum):
        return _one_of({each.value: each for each in hint}, value, wrong)
    if hint is float and _is_number(value):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise wrong("it must be a finite number")
        return number
    # A bool is an int to Python, and a port of true is a mistake.
    if type(value) is not (str if hint is Path else hint):
        raise wrong(f"it must be {_NAMES.get(hint, 'a text')}")
    if isinstance(value, str) and not value.strip():
        raise wrong("it must not be empty")
    return _path(value, table.folder, wrong) if hint is Path else value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", Path: "a path"}

Wrong = typing.Callable[[str], SettingsError]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _one_of(choices: Mapping[Any, Any], value: Any, wrong: Wrong) -> Any:
    for allowed, meant in choices.items():
        if type(allowed) is type(value) and allowed == value:
            return meant
    raise wrong(f"allowed are {choice(map(str, choices), value)}")


def _path(value: str, folder: Path, wrong: Wrong) -> Path:
    """A path as a person writes it, with `~` for a home."""
    if "\0" in value:
        raise wrong("no file can be called that")
    try:
        return folder / Path(value).expanduser()
    except RuntimeError as error:
        raise wrong("that home cannot be found") from error


def shown(value: Any) -> str:
    """A value as an error repeats it."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a very long number"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def choice(names: Iterable[str], given: Any = None) -> str:
    """The names that are allowed, and which of them may have been meant: "office, kitchen (did you mean office?)"."""
    known = list(names)
    text = ", ".join(known[:MOST_NAMES]) or "none"
    if len(known) > MOST_NAMES:
        text += f" and {len(known) - MOST_NAMES} more"
    by_letters = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(given.casefold(), by_letters, 1, ALIKE) if isinstance(given, str) else []
    return f"{text} (did you mean {by_letters[near[0]]}?)" if near else text
