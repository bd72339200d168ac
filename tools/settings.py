"""Tables of the settings into dataclasses: an unknown key, a missing one or a wrong type is one sentence."""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar

from agent.config import a_path
from agent.errors import SettingsError

T = TypeVar("T")


def read_table(kind: type[T], table: Any, where: str, hidden: Collection[str] = ()) -> T:
    """A dataclass from a table with a key for each of its fields.

    Args:
        kind: The dataclass; fields may be str, int, float, bool, Path, Literal, Enum, tuple[X, ...] and
            each of them or None.
        table: The table as TOML gives it.
        where: How errors name the place.
        hidden: Fields that are no keys.

    Raises:
        SettingsError: The text names the place and the key, and what is allowed.
    """
    if not isinstance(table, Mapping):
        raise SettingsError(f"{where} is {table!r}; it must be a table")
    known = {field.name: field for field in fields(kind) if field.name not in hidden}  # type: ignore[arg-type]
    hints = typing.get_type_hints(kind)
    for key in table:
        if key not in known:
            raise SettingsError(f"{where} has no key {key!r}; allowed are {', '.join(known)}")
    for name, field in known.items():
        if name not in table and field.default is MISSING and field.default_factory is MISSING:
            raise SettingsError(f"{where} needs the key {name!r}")
    return kind(**{key: _value(hints[key], value, f"{where}: {key}") for key, value in table.items()})


def read_tables(tables: Any, where: str) -> list[Mapping[str, Any]]:
    """The tables of an array of tables, such as `[[tools.room]]`.

    Raises:
        SettingsError: It is something else.
    """
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise SettingsError(f"{where} must be an array of tables: [[{where}]]")
    return tables


def _value(hint: Any, value: Any, where: str) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(each for each in inner if each is not type(None)), value, where)
    if origin is Literal:
        if value in inner:
            return value
        raise SettingsError(f"{where} is {value!r}; allowed are {', '.join(map(str, inner))}")
    if origin is tuple:
        if not isinstance(value, list):
            raise SettingsError(f"{where} is {value!r}; it must be a list")
        return tuple(_value(inner[0], each, where) for each in value)
    if issubclass(hint, Enum):
        try:
            return hint(value)
        except ValueError:
            allowed = ", ".join(str(each.value) for each in hint)
            raise SettingsError(f"{where} is {value!r}; allowed are {allowed}") from None
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    expected = str if hint is Path else hint
    # A bool is an int to Python, and a port of true is a mistake.
    if not isinstance(value, expected) or (isinstance(value, bool) and hint is not bool):
        raise SettingsError(f"{where} is {value!r}; it must be {_NAMES.get(hint, 'a text')}")
    if expected is str and not value.strip():
        raise SettingsError(f"{where} is empty")
    return a_path(value, where) if hint is Path else value


_NAMES = {int: "a whole number", float: "a number", bool: "true or false"}
