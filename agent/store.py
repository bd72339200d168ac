"""The session store: conversations in SQLite. Every SQL statement about them is here."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.content import Content
from agent.errors import StoreError
from agent.migrations import MIGRATIONS, migrate, version

log = logging.getLogger(__name__)

BUSY_TIMEOUT_S: Final = 5.0
"""How long a statement waits for another process, `hearth sessions rm` beside the service."""


@dataclass(frozen=True)
class SessionRow:
    """A session as listed.

    Attributes:
        id: Its id.
        created: When its first turn ended, in seconds since 1970 UTC.
        updated: When its last turn ended, likewise.
        turns: How many turns it has, 1 or more.
    """

    id: str
    created: float
    updated: float
    turns: int


class SessionStore:
    """Conversations that outlive the process. Blocking; may be called from any thread.

    A turn is one commit. With WAL and `synchronous=NORMAL` what was committed outlives a crash of the
    process; a power cut may take the last turns, but never breaks the file, and a card sees few writes.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it for its owner alone, and brings its schema up to date.

        Raises:
            StoreError: It cannot be opened, is no store, or was written by a newer Hearth; then it is left
                untouched.
        """
        self.path = path
        self._lock = threading.Lock()
        try:
            if path.exists():
                _refuse_newer(path)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the session store {path} cannot be opened: {error}") from error
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            migrate(self._connection)
        except sqlite3.Error as error:
            self._connection.close()
            raise StoreError(f"the session store {path} cannot be opened: {error}") from error

    def close(self) -> None:
        """Closes the file. Twice is fine."""
        with self._lock:
            self._connection.close()

    def append(self, session_id: str, turns: Sequence[Content]) -> None:
        """Adds one turn of a conversation: what was said, called and answered, in one transaction.

        Raises:
            StoreError: It could not be written; nothing of it was.
        """
        contents = json.dumps([content.to_json() for content in turns], default=str)
        now = time.time()
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO session VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET updated = excluded.updated",
                (session_id, now, now),
            )
            connection.execute(
                "INSERT INTO turn (session, at, contents) VALUES (?, ?, ?)", (session_id, now, contents)
            )

    def load(self, session_id: str, last: int) -> list[Content]:
        """The contents of the last turns of a session, oldest first; none if there is no such session.

        Args:
            session_id: Its id.
            last: How many turns at most, 0 or more.

        Raises:
            StoreError: It could not be read.
        """
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT contents FROM turn WHERE session = ? ORDER BY number DESC LIMIT ?", (session_id, last)
            ).fetchall()
        try:
            return [
                Content.from_json(data) for (contents,) in reversed(rows) for data in json.loads(contents)
            ]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"the session store {self.path}: session {session_id!r} is damaged: {error}"
            ) from error

    def last_said(self, session_id: str) -> float | None:
        """When the last turn of a session was kept, in seconds of the Unix clock; None without one.

        Raises:
            StoreError: It could not be read.
        """
        with self._transaction() as connection:
            row = connection.execute("SELECT MAX(at) FROM turn WHERE session = ?", (session_id,)).fetchone()
        return None if row[0] is None else float(row[0])

    def delete(self, session_id: str) -> None:
        """Erases a session; one that is not there is fine.

        Raises:
            StoreError: It could not be written.
        """
        with self._transaction() as connection:
            connection.execute("DELETE FROM session WHERE id = ?", (session_id,))

    def clear(self) -> None:
        """Erases all sessions.

        Raises:
            StoreError: It could not be written.
        """
        with self._transaction() as connection:
            connection.execute("DELETE FROM session")

    def sessions(self) -> list[SessionRow]:
        """All sessions, the last used first.

        Raises:
            StoreError: They could not be read.
        """
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT id, created, updated, COUNT(*) FROM session JOIN turn ON turn.session = session.id"
                " GROUP BY id ORDER BY updated DESC, id"
            ).fetchall()
        return [SessionRow(*row) for row in rows]

    def export(self, session_id: str) -> dict[str, Any]:
        """All of a session: `{"id", "created", "updated", "turns": [{"at", "contents": [...]}]}`.

        Raises:
            StoreError: There is no such session, or it could not be read.
        """
        with self._transaction() as connection:
            session = connection.execute(
                "SELECT created, updated FROM session WHERE id = ?", (session_id,)
            ).fetchone()
            turns = connection.execute(
                "SELECT at, contents FROM turn WHERE session = ? ORDER BY number", (session_id,)
            ).fetchall()
        if session is None:
            raise StoreError(f"there is no session {session_id!r}")
        return {
            "id": session_id,
            "created": session[0],
            "updated": session[1],
            "turns": [{"at": at, "contents": json.loads(contents)} for at, contents in turns],
        }

    def due_items(self) -> list[dict[str, Any]]:
        """What was kept of each item that is to become due, in no order.

        Raises:
            StoreError: It could not be read.
        """
        with self._transaction() as connection:
            rows = connection.execute("SELECT contents FROM due").fetchall()
        return [contents for (text,) in rows if (contents := self._decoded(text, "a due item")) is not None]

    def put_due(self, id: str, contents: dict[str, Any]) -> None:
        """Keeps an item that is to become due, in the place of what was kept under its id; on the disk on return.

        Raises:
            StoreError: It could not be written.
        """
        self._put("INSERT OR REPLACE INTO due VALUES (?, ?)", (id, json.dumps(contents)))

    def remove_due(self, id: str) -> None:
        """Forgets such an item; one that is not there is fine.

        Raises:
            StoreError: It could not be written.
        """
        self._put("DELETE FROM due WHERE id = ?", (id,))

    def document(self, name: str) -> Any:
        """What the house keeps under a name; None where there is nothing.

        Raises:
            StoreError: It could not be read.
        """
        with self._transaction() as connection:
            row = connection.execute("SELECT contents FROM document WHERE name = ?", (name,)).fetchone()
        return None if row is None else self._decoded(row[0], f"the document {name!r}")

    def put_document(self, name: str, contents: Any) -> None:
        """Keeps something for the house under a name; on the disk on return.

        Args:
            name: Its name.
            contents: Anything that JSON has.

        Raises:
            StoreError: It could not be written.
        """
        self._put("INSERT OR REPLACE INTO document VALUES (?, ?)", (name, json.dumps(contents)))

    def _put(self, statement: str, values: tuple[str, ...]) -> None:
        """One statement that outlives a power cut: a lost turn is a pity, a lost alarm is not to happen."""
        with self._transaction("FULL") as connection:
            connection.execute(statement, values)

    def _decoded(self, text: str, what: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            log.warning("the session store %s: %s is damaged and is left out: %s", self.path, what, error)
            return None

    @contextmanager
    def _transaction(self, synchronous: str = "NORMAL") -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._connection.execute(f"PRAGMA synchronous = {synchronous}")
                self._connection.execute("BEGIN")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                finally:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise StoreError(f"the session store {self.path}: {error}") from error


def _refuse_newer(path: Path) -> None:
    """Looks at the version through a connection that cannot write, not even a checkpoint."""
    with closing(
        sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S)
    ) as connection:
        found = version(connection)
    if found > len(MIGRATIONS):
        raise StoreError(
            f"the session store {path} was made by a newer Hearth: its schema is {found}, and this one knows"
            f" {len(MIGRATIONS)}"
        )
