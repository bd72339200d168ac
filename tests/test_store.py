"""The session store on a real SQLite file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median

import pytest

from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.errors import StoreError
from agent.migrations import MIGRATIONS, migrate, version
from agent.store import SessionStore
from tests import disks
from tests.disks import SmallDisk

disk = disks.disk  # a fixture

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


DAY = 86_400.0


def _said_at(store: SessionStore, monkeypatch: pytest.MonkeyPatch, **when: float) -> None:
    """A session each, with one turn at this time."""
    for id, at in when.items():
        monkeypatch.setattr("agent.store.time.time", lambda at=at: at)
        store.append(id, TURN)


def test_what_was_not_used_for_long_expires(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was used within that time stays."""
    store = SessionStore(path)
    _said_at(store, monkeypatch, old=10 * DAY, new=45 * DAY)

    assert store.expire(30 * DAY, now=50 * DAY) == 1
    assert [row.id for row in store.sessions()] == ["new"]
    assert store.expire(30 * DAY, now=50 * DAY) == 0


def test_a_clock_that_is_far_ahead_erases_nothing_that_was_said_lately(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board without a clock of its own may wake up in any year."""
    store = SessionStore(path)
    _said_at(store, monkeypatch, yesterday=100 * DAY, today=101 * DAY)

    assert store.expire(30 * DAY, now=20_000 * DAY) == 0


def test_an_empty_store_has_nothing_to_expire(path: Path) -> None:
    """No row has no newest."""
    assert SessionStore(path).expire(30 * DAY, now=50 * DAY) == 0


def test_compacting_gives_back_what_was_erased_and_only_where_it_is_worth_it(path: Path) -> None:
    """A file that is full is not written anew."""
    store = SessionStore(path)
    for number in range(300):
        store.append(str(number), (Content.user("x" * 1000), Content.model("y")))
    store.compact()
    full = path.stat().st_size
    written = path.read_bytes()
    assert store.compact() == 0
    assert path.read_bytes() == written
    for number in range(200):
        store.delete(str(number))

    assert store.compact() > 100_000
    assert path.stat().st_size < full / 2
    assert len(store.sessions()) == 100


def test_a_copy_is_whole_while_the_store_is_in_use(path: Path, tmp_path: Path) -> None:
    """With what lies in its log only."""
    store = SessionStore(path)
    store.append("s", TURN)
    store.copy(tmp_path / "copy.db")

    assert SessionStore(tmp_path / "copy.db").load("s", 5) == list(TURN)


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


def _truncated(content: bytes) -> bytes:
    return content[: len(content) // 2 + 100]


def _header_flipped(content: bytes) -> bytes:
    return bytes([content[0] ^ 1]) + content[1:]


def _page_flipped(content: bytes) -> bytes:
    """Each byte of the second page's head is flipped; it holds a table's or an index's root."""
    return content[:4096] + bytes(byte ^ 0xFF for byte in content[4096:4112]) + content[4112:]


def _no_database(content: bytes) -> bytes:
    return b"dear diary, " * 1000


@pytest.mark.parametrize("damage", [_truncated, _header_flipped, _page_flipped, _no_database])
def test_damaged_file_is_set_aside_by_a_dated_name_and_an_empty_one_is_used(
    path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    with closing(SessionStore(path)) as store:
        for number in range(200):
            store.append("a", _turn(number))
    damaged = damage(path.read_bytes())
    path.write_bytes(damaged)

    with closing(SessionStore(path)) as store:
        assert store.sessions() == []
        store.append("b", TURN)
    with closing(SessionStore(path)) as store:
        assert store.load("b", 10) == list(TURN)
    [aside] = path.parent.glob("sessions.db.damaged-*[0-9]")
    assert aside.read_bytes() == damaged
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert aside.name in record.message


def test_each_file_that_is_opened_is_counted(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        assert store.openings == 1
        for file in path.parent.iterdir():
            with file.open("r+b") as opened:
                opened.write(b"rubbish " * (file.stat().st_size // 8))
        with pytest.raises(StoreError):
            store.sessions()

        assert store.sessions() == []
        assert store.openings == 2


def test_second_damaged_file_of_a_second_does_not_take_the_place_of_the_first(path: Path) -> None:
    path.parent.mkdir()
    for content in (b"first " * 1000, b"second " * 1000):
        path.write_bytes(content)
        SessionStore(path).close()

    asides = {aside.read_bytes()[:6] for aside in path.parent.glob("sessions.db.damaged-*")}
    assert asides == {b"first ", b"second"}


def test_folder_that_cannot_be_made_is_said_and_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocker = tmp_path / "folder"
    blocker.write_text("")
    with closing(SessionStore(blocker / "sessions.db")) as store:
        with pytest.raises(StoreError, match="sessions"):
            store.append("a", TURN)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        blocker.unlink()

        store.append("a", TURN)
        assert store.load("a", 10) == list(TURN)


def test_full_disk_loses_no_earlier_turn_and_goes_on_when_there_is_room(disk: SmallDisk) -> None:
    path = disk.folder / "sessions.db"
    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        disk.fill()
        with pytest.raises(StoreError, match="full"):
            for number in range(1000):
                store.append("a", _turn(number))
        kept = store.load("a", 10_000)
        with pytest.raises(StoreError, match="full"):
            store.put_document("lists", "x" * 100_000)
        disk.free()

        store.append("b", TURN)
        assert store.load("a", 10_000) == kept
        assert kept[: len(TURN)] == list(TURN)
        assert store.load("b", 10) == list(TURN)


def test_store_on_a_disk_that_is_full_at_the_start_opens_when_there_is_room(disk: SmallDisk) -> None:
    disk.fill()
    with closing(SessionStore(disk.folder / "sessions.db")) as store:
        with pytest.raises(StoreError):
            store.append("a", TURN)
        disk.free()

        store.append("a", TURN)
        assert store.load("a", 10) == list(TURN)


def test_store_on_a_disk_that_becomes_read_only_is_written_again_afterwards(disk: SmallDisk) -> None:
    with closing(SessionStore(disk.folder / "sessions.db")) as store:
        store.append("a", TURN)
        os.sync()  # the last turns of a disk that fails may be lost, as with a power cut
        disk.fail()
        for _ in range(2):
            with pytest.raises(StoreError):
                store.append("b", TURN)
        disk.mend()

        store.append("b", TURN)
        assert store.load("a", 10) + store.load("b", 10) == [*TURN, *TURN]


def test_what_is_due_and_documents_are_read_back_and_replaced(path: Path) -> None:
    with closing(SessionStore(path)) as store:
        store.put_due("1", {"id": "1", "left": 5.5})
        store.put_due("2", {"id": "2"})
        store.put_due("1", {"id": "1", "left": 4})
        store.remove_due("2")
        store.remove_due("3")
        store.put_document("lists", {"shopping": ["Käse"]})
        store.put_document("lists", {"shopping": []})
    with closing(SessionStore(path)) as store:
        assert store.due_items() == [{"id": "1", "left": 4}]
        assert store.document("lists") == {"shopping": []}
        assert store.document("other") is None


def test_damaged_due_item_is_left_out_and_said(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with closing(SessionStore(path)) as store:
        store.put_due("1", {"id": "1"})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO due VALUES ('2', '{broken')")
        connection.commit()
    with closing(SessionStore(path)) as store:
        assert store.due_items() == [{"id": "1"}]
    assert "due item" in caplog.text


def test_turn_costs_the_same_after_ten_thousand(path: Path) -> None:
    def pace(store: SessionStore) -> float:
        """The median time of a turn: read what the model sees, keep what came of it."""
        times = []
        for number in range(100):
            started = time.perf_counter()
            store.load("a", 20)
            store.append("a", _turn(number))
            times.append(time.perf_counter() - started)
        return median(times)

    with closing(SessionStore(path)) as store:
        store.append("a", TURN)
        first = pace(store)
        with closing(sqlite3.connect(path)) as connection:
            connection.executemany(
                "INSERT INTO turn (session, at, contents) SELECT session, at, contents FROM turn WHERE number = ?",
                [(number % 100 + 2,) for number in range(10_000)],
            )
            connection.commit()
        last = pace(store)

    # Ten thousand times as much would show as far more than this; a busy machine does not.
    assert last < 3 * first + 0.001


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


KILLED_AGAIN_AND_AGAIN = """
import os, random, signal, sys, time
from pathlib import Path
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.store import SessionStore

path, times = Path(sys.argv[1]), int(sys.argv[2])
moments = random.Random(4)

def write(told, number):
    store = SessionStore(path)
    while True:
        store.append("a", [
            Content.user(f"question {number}"),
            Content(Role.MODEL, (FunctionCallPart(f"c{number}", "f", {"n": number}),)),
            Content(Role.USER, (FunctionResponsePart(f"c{number}", "f", {"n": number}),)),
            Content.model(f"answer {number}"),
        ])
        store.put_due("timer", {"id": "timer", "n": number})
        os.write(told, b"%d\\n" % number)
        number += 1

committed = -1
for _ in range(times):
    heard, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(heard)
        write(told, committed + 1)
    os.close(told)
    lines = b""
    while lines.count(b"\\n") < 3:
        lines += os.read(heard, 4096)
    time.sleep(moments.uniform(0, 0.01))  # anywhere in a write
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(heard, 65536):
        lines += more
    os.close(heard)
    told_last = int(lines.rstrip().rpartition(b"\\n")[2] or lines)
    store = SessionStore(path)
    contents = store.load("a", 1_000_000)
    due = store.due_items()
    store.close()
    numbers = [int(each.text.split()[1]) for each in contents if each.text.startswith("question")]
    assert len(contents) == 4 * len(numbers), "half a turn"
    assert numbers == list(range(len(numbers))), "a turn is missing"
    assert numbers[-1] in (told_last, told_last + 1), "what was said to be kept was not"
    assert due[0]["n"] in (told_last, told_last + 1)
    committed = numbers[-1]
print(committed)
"""


def test_every_turn_that_was_committed_survives_two_hundred_kill_9(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AGAIN_AND_AGAIN, str(path), "200"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 3 * 200 - 1
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
