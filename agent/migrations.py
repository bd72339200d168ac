"""The steps of the session store's schema, oldest first. A step that was released is never changed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Final

Migration = Callable[[sqlite3.Connection], None]


def sessions_and_turns(connection: sqlite3.Connection) -> None:
    """A session has turns; a turn is the JSON list of its contents, and is written and read whole."""
    connection.execute("CREATE TABLE session (id TEXT PRIMARY KEY, created REAL NOT NULL, updated REAL NOT NULL)")
    connection.execute(
        "CREATE TABLE turn (number INTEGER PRIMARY KEY AUTOINCREMENT,"
        " session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,"
        " at REAL NOT NULL, contents TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX turn_of_session ON turn (session, number)")


def due_items_and_documents(connection: sqlite3.Connection) -> None:
    """What becomes due, such as a timer, and what the house keeps, such as a list; both as JSON."""
    connection.execute("CREATE TABLE due (id TEXT PRIMARY KEY, contents TEXT NOT NULL)")
    connection.execute("CREATE TABLE document (name TEXT PRIMARY KEY, contents TEXT NOT NULL)")


MIGRATIONS: Final[tuple[Migration, ...]] = (sessions_and_turns, due_items_and_documents)


def version(connection: sqlite3.Connection) -> int:
    """How many steps a database has behind it; 0 for an empty one."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migration'")
    if known.fetchone() is None:
        return 0
    row = connection.execute("SELECT COALESCE(MAX(number), 0) FROM migration").fetchone()
    return int(row[0])


def migrate(connection: sqlite3.Connection, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Applies the steps that a database does not have yet, each in one transaction with its record.

    Args:
        connection: In autocommit mode (`isolation_level=None`).
        steps: All steps, oldest first.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied REAL NOT NULL)"
    )
    for number, step in enumerate(steps, start=1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked inside of the transaction: another process may have come first.
            if version(connection) < number:
                step(connection)
                connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (number, step.__name__, time.time()))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
