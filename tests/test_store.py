"""The session store on a real SQLite file."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.errors import StoreError
from agent.migrations import MIGRATIONS, migrate, version
from agent.store import SessionStore

TURN = (
    Content.user("turn on the Küche \ud83d"),
    Content(Role.MODEL, (FunctionCallPart("c1", "turn_on_light", {"room": "Küche"}),)),
    Content(Role.USER, (FunctionResponsePart("c1", "turn_on_light", {"status": "ok"}),)),
    Content.model("The Küche light is on."),
)


def _turn(number: int) -> tuple[Content, ...]:
    return Content.user(f"question {number}"), Content.model(f"answer {number}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


def test_turn_is_read_back_as_it_was_written(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
    with closing(SessionStore(path)) as store:
        assert store.load("a", 20) == list(TURN)


def test_last_turns_come_whole_and_oldest_first(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        for number in range(5):
            store.append("a", _turn(number))
        store.append("b", TURN)

        assert store.load("a", 2) == [*_turn(3), *_turn(4)]
        assert store.load("a", 0) == []
        assert store.load("nobody", 2) == []


def test_sessions_are_listed_last_used_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SessionStore(path)) as store:
        for now, session in ((1.0, "a"), (2.0, "b"), (3.0, "a")):
            monkeypatch.setattr("agent.store.time.time", lambda now=now: now)
            store.append(session, TURN)
        first, second = store.sessions()

    assert (first.id, first.created, first.updated, first.turns) == ("a", 1.0, 3.0, 2)
    assert (second.id, second.turns) == ("b", 1)


def test_export_holds_all_of_a_session_as_json(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        store.append("a", _turn(1))
        exported = store.export("a")
        with pytest.raises(StoreError, match="no session 'b'"):
            store.export("b")

    assert exported["id"] == "a"
    assert [Content.from_json(each) for each in exported["turns"][0]["contents"]] == list(TURN)
    assert len(exported["turns"]) == 2


def test_delete_erases_one_session_and_clear_all_of_them(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        for session in ("a", "b", "c"):
            store.append(session, TURN)
        store.delete("a")
        store.delete("never there")
        assert {row.id for row in store.sessions()} == {"b", "c"}
        assert store.load("a", 9) == []
        store.clear()
        assert store.sessions() == []
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT COUNT(*) FROM turn").fetchone() == (0,)


def test_conversations_are_readable_for_their_owner_only(path: Path) -> None:
    SessionStore(path).close()

    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_closing_twice_is_fine_and_a_closed_store_says_so(path: Path) -> None:
    store = SessionStore(path)
    store.close()
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.append("a", TURN)


def test_two_processes_may_write_at_once(path: Path) -> None:
    with closing(SessionStore(path)) as service, closing(SessionStore(path)) as command:
        service.append("a", TURN)
        command.delete("a")
        service.append("b", TURN)
        assert [row.id for row in command.sessions()] == ["b"]


def test_file_that_is_no_database_is_refused_by_name_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"dear diary, " * 1000)

    with pytest.raises(StoreError, match="sessions"):
        SessionStore(path)
    assert path.read_bytes() == b"dear diary, " * 1000


def test_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="sessions"):
        SessionStore(tmp_path / "file" / "sessions.db")


def test_damaged_session_is_an_error_that_names_it(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("""UPDATE turn SET contents = '[{"role": "user"'""")
            connection.commit()
        with pytest.raises(StoreError, match="'a' is damaged"):
            store.load("a", 9)


# Schema 1 as it was released: a file that was written then opens for ever.
OLD_FILE = """
CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied REAL NOT NULL);
CREATE TABLE session (id TEXT PRIMARY KEY, created REAL NOT NULL, updated REAL NOT NULL);
CREATE TABLE turn (number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    at REAL NOT NULL, contents TEXT NOT NULL);
CREATE INDEX turn_of_session ON turn (session, number);
INSERT INTO migration VALUES (1, 'sessions_and_turns', 1764000000.0);
INSERT INTO session VALUES ('old', 1764000000.0, 1764000001.0);
INSERT INTO turn VALUES (1, 'old', 1764000001.0,
    '[{"role": "user", "parts": [{"text": "hello"}]}, {"role": "model", "parts": [{"text": "Hello."}]}]');
"""


def _write(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def _extra_column(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE session ADD COLUMN room TEXT")


def _broken_step(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE session ADD COLUMN colour TEXT")
    raise RuntimeError("power cut")


def test_file_of_an_old_version_opens_with_its_conversations(path: Path) -> None:
    _write(path, OLD_FILE)

    with closing(SessionStore(path)) as store:
        assert store.load("old", 9) == [Content.user("hello"), Content.model("Hello.")]
        store.append("old", TURN)
        assert store.sessions()[0].turns == 2


def test_empty_file_becomes_a_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()

    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        assert len(store.sessions()) == 1


def test_only_the_steps_that_are_missing_are_applied(path: Path) -> None:
    _write(path, OLD_FILE)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for _ in range(2):
            migrate(connection, (*MIGRATIONS, _extra_column))
        records = connection.execute("SELECT number, name FROM migration ORDER BY number").fetchall()
        kept = connection.execute("SELECT id, room FROM session").fetchall()

    assert records[-1] == (len(MIGRATIONS) + 1, "_extra_column")
    assert kept == [("old", None)]


def test_step_that_fails_leaves_neither_itself_nor_its_record(path: Path) -> None:
    _write(path, OLD_FILE)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(RuntimeError):
            migrate(connection, (*MIGRATIONS, _broken_step))
        assert version(connection) == len(MIGRATIONS)
    with closing(SessionStore(path)) as store:
        assert store.load("old", 9)


def test_file_of_a_newer_version_is_refused_untouched(path: Path) -> None:
    _write(path, OLD_FILE + f"INSERT INTO migration VALUES ({len(MIGRATIONS) + 1}, 'tomorrow', 0);")
    before = path.read_bytes()

    with pytest.raises(StoreError, match="newer Hearth"):
        SessionStore(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_file_in_use_by_a_newer_version_is_refused_untouched(path: Path) -> None:
    SessionStore(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("INSERT INTO migration VALUES (99, 'tomorrow', 0)")
        newer.commit()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="newer Hearth"):
            SessionStore(path)
        assert path.read_bytes() == before


WRITE_LOOP = """
import itertools, sys
from pathlib import Path
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.store import SessionStore

store = SessionStore(Path(sys.argv[1]))
for number in itertools.count(int(sys.argv[2])):
    store.append("a", [
        Content.user(f"question {number}"),
        Content(Role.MODEL, (FunctionCallPart(f"c{number}", "f", {}),)),
        Content(Role.USER, (FunctionResponsePart(f"c{number}", "f", {"n": number}),)),
        Content.model(f"answer {number}"),
    ])
    print(number, flush=True)
"""


def test_every_turn_that_was_committed_survives_kill_9(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    committed = -1
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITE_LOOP, str(path), str(committed + 1)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        with writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline() for _ in range(20)]
            writer.send_signal(signal.SIGKILL)
            lines += writer.stdout.readlines()
        told = max(int(line) for line in lines if line.endswith("\n"))

        with closing(SessionStore(path)) as store:
            contents = store.load("a", 1_000_000)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        numbers = [int(each.text.split()[1]) for each in contents if each.text.startswith("question")]
        assert len(contents) == 4 * len(numbers)
        assert numbers == list(range(len(numbers)))
        assert numbers[-1] in (told, told + 1)
        committed = numbers[-1]
