"""For the while in which the house's files are changed from these to `agent.tables`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from agent.errors import SettingsError
from agent.tables import Table
from agent.tables import read_table as _read

T = TypeVar("T")


def read_table(kind: type[T], table: Any, where: str, hidden: Collection[str] = ()) -> T:
    if not isinstance(table, Mapping):
        raise SettingsError(f"{where} is {table!r}; it must be a table")
    return _read(kind, table if isinstance(table, Table) else Table(table, where=where), hidden)


def read_tables(tables: Any, where: str) -> list[Table]:
    if isinstance(tables, list) and all(isinstance(each, Table) for each in tables):
        return tables
    name = where.rpartition(".")[2]
    return Table({name: tables}, ("tools",)).tables(name)
