"""What outlives a restart, in SQLite: conversations, what becomes due, and the house's documents.

Every SQL statement is here, but those that make the tables: `agent.migrations`.
"""

from __future__ import annotations

import itertools
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from agent.content import Content
from agent.errors import DamagedStoreError, NewerStoreError, StoreError
from agent.migrations import MIGRATIONS, migrate, version

log = logging.getLogger(__name__)

WORTH_COMPACTING: Final = 0.25
"""The share of a file that has to be empty before it is written anew: a card wears by every write."""

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

    Attributes:
        path: Where it is.
        openings: How often a file was opened there. It may be another one each time: an empty one where the last was
            damaged. So whoever keeps something in memory too writes it again.

    A turn is one commit. With WAL and `synchronous=NORMAL` what was committed outlives a crash of the
    process; a power cut may take the last turns, but never breaks the file, and a card sees few writes.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file, or makes it for its owner alone, and brings its schema up to date.

        One that is damaged is set aside under a dated name, and an empty one takes its place. One that cannot
        be opened now, because a disk is full or read-only, is tried again with each call; until then each
        call raises.

        Raises:
            StoreError: It was written by a newer Hearth; it is left untouched.
        """
        self.path = path
        self.openings = 0
        self._lock = threading.Lock()
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        try:
            self._connect()
        except NewerStoreError:
            raise
        except StoreError as error:
            log.warning("%s; until it can be, nothing is kept", error)

    def _connect(self) -> sqlite3.Connection:
        self._connection = self._open()
        self.openings += 1
        return self._connection

    def _open(self) -> sqlite3.Connection:
        try:
            if self.path.exists():
                _refuse_newer(self.path)
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            return _connected(self.path)
        except (sqlite3.Error, OSError) as error:
            if not _is_damaged(error):
                raise StoreError(f"the session store {self.path} cannot be opened: {error}") from error
            reason = str(error)
        try:
            aside = _set_aside(self.path)
            self.path.touch(mode=0o600)
            connection = _connected(self.path)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"the session store {self.path} is damaged and cannot be replaced: {error}") from error
        log.error("the session store %s is damaged (%s): an empty one is used, and it is %s", self.path, reason, aside)
        return connection

    def close(self) -> None:
        """Closes the file. Twice is fine."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
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
                "INSERT INTO session VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET updated = excluded.updated",
                (session_id, now, now),
            )
            connection.execute("INSERT INTO turn (session, at, contents) VALUES (?, ?, ?)", (session_id, now, contents))

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
            return [Content.from_json(data) for (contents,) in reversed(rows) for data in json.loads(contents)]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"the session store {self.path}: session {session_id!r} is damaged: {error}") from error

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

    def expire(self, keep_s: float, now: float) -> int:
        """Erases the sessions in which nothing was said for long.

        Args:
            keep_s: For how long they are kept after their last turn, in seconds.
            now: The time to count from, in seconds of the Unix clock; where the newest turn is older, that counts: a
                clock that is far ahead, as it may be at a boot, erases nothing that was said lately.

        Returns:
            How many were erased.

        Raises:
            StoreError: They could not be erased.
        """
        with self._transaction() as connection:
            newest = connection.execute("SELECT MAX(updated) FROM session").fetchone()[0]
            oldest = min(now, now if newest is None else newest) - keep_s
            erased = connection.execute("DELETE FROM session WHERE updated < ?", (oldest,)).rowcount
        return erased

    def compact(self) -> int:
        """Gives back the room of what was erased, where it is worth writing the file anew for it.

        Returns:
            By how many bytes the file and its log became smaller.

        Raises:
            StoreError: It could not be written.
        """
        with self._connected_now() as connection:
            before = self._size()
            free = connection.execute("PRAGMA freelist_count").fetchone()[0]
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            if free > pages * WORTH_COMPACTING:
                connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            freed = before - self._size()
        return freed

    def copy(self, target: Path) -> None:
        """Writes the whole store as it is now into another file, also while others write to it.

        Raises:
            StoreError: It could not be read or written.
        """
        with self._connected_now() as connection, closing(sqlite3.connect(target)) as other:
            connection.backup(other)

    def _size(self) -> int:
        return sum(
            path.stat().st_size for path in (self.path, self.path.with_name(f"{self.path.name}-wal")) if path.exists()
        )

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
            session = connection.execute("SELECT created, updated FROM session WHERE id = ?", (session_id,)).fetchone()
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
        with self._connected_now() as connection:
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _connected_now(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; without a transaction of its own."""
        with self._lock:
            if self._closed:
                raise StoreError(f"the session store {self.path} is closed")
            connection = self._connection or self._connect()
            try:
                yield connection
            except sqlite3.Error as error:
                if _code(error) in _REOPENED:
                    connection.close()
                    self._connection = None
                raise StoreError(f"the session store {self.path}: {error}") from error


def examine(path: Path) -> int:
    """Looks at a store as it lies there, and changes nothing, not even what is damaged.

    Returns:
        How many conversations it holds.

    Raises:
        NewerStoreError: It was written by a newer Hearth.
        DamagedStoreError: It is not whole.
        StoreError: It cannot be read.
    """
    try:
        _refuse_newer(path)
        with closing(_read_only(path)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise _DamagedError(found)
            return int(connection.execute("SELECT COUNT(*) FROM session").fetchone()[0]) if version(connection) else 0
    except (sqlite3.Error, OSError) as error:
        if _is_damaged(error):
            raise DamagedStoreError(f"the session store {path} is damaged ({error})") from error
        raise StoreError(f"the session store {path} cannot be read ({error})") from error


_REOPENED: Final = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""After these the file is opened anew with the next call: the disk may be another by then, or the file damaged."""


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to a whole file with the newest schema.

    Raises:
        sqlite3.Error: It is not whole, or cannot be opened.
    """
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise _DamagedError(found)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


class _DamagedError(sqlite3.DatabaseError):
    """The file's own structure is wrong."""


def _is_damaged(error: BaseException) -> bool:
    return isinstance(error, _DamagedError) or _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: BaseException) -> int:
    """SQLite's primary result code."""
    return int(getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def _set_aside(path: Path) -> Path:
    """Renames a damaged file, and what belongs to it, to a name with the date; nothing is ever deleted."""
    stamp = f"{path.name}.damaged-{datetime.now():%Y%m%d-%H%M%S}"
    aside = path.with_name(stamp)
    number = itertools.count(2)
    while aside.exists():
        aside = path.with_name(f"{stamp}-{next(number)}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        companion = path.with_name(path.name + ending)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + ending))
    return aside


def _refuse_newer(path: Path) -> None:
    """Looks at the version through a connection that cannot write, not even a checkpoint."""
    with closing(_read_only(path)) as connection:
        found = version(connection)
    if found > len(MIGRATIONS):
        raise NewerStoreError(
            f"the session store {path} was made by a newer Hearth: its schema is {found}, and this one knows"
            f" {len(MIGRATIONS)}"
        )


def _read_only(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, not even what lies beside the file."""
    # Without a log beside it nobody writes to it, and SQLite would make one even for this.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=BUSY_TIMEOUT_S)
