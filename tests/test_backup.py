"""A backup: whole, for its owner alone, and put back on another board."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from agent.backup import BackupError, back_up, files_of, restore
from agent.cli import main
from agent.content import Content
from agent.store import SessionStore

TURN = (Content.user("turn on the lamp"), Content.model("The lamp is on."))


class Board:
    """The folders of one board."""

    def __init__(self, folder: Path) -> None:
        self.settings = folder / "etc"
        self.store = folder / "var" / "sessions.db"
        self.settings.mkdir(parents=True)
        self.store.parent.mkdir()

    def fill(self) -> None:
        (self.settings / "hearth.toml").write_text('[agent]\nname = "home"\n')
        (self.settings / "mqtt-password").write_text("secret\n")
        (self.settings / "mqtt-password").chmod(0o600)
        (self.settings / "my-tools").mkdir()
        (self.settings / "my-tools" / "fish.py").write_text("# fish\n")
        store = SessionStore(self.store)
        store.append("evening", TURN)
        store.put_due("1", {"kind": "alarm"})
        self.open = store  # not closed: a service has it open

    def back_up(self, target: Path) -> list[str]:
        return back_up(target, self.settings, files_of(self.settings / "hearth.toml", True), self.store)


@pytest.fixture
def old(tmp_path: Path) -> Board:
    board = Board(tmp_path / "old")
    board.fill()
    return board


@pytest.fixture
def new(tmp_path: Path) -> Board:
    return Board(tmp_path / "new")


def test_a_backup_of_a_running_board_makes_another_the_same(old: Board, new: Board, tmp_path: Path) -> None:
    """Settings, secrets, tools, conversations and what is due."""
    target = tmp_path / "backup.tar.gz"
    names = old.back_up(target)
    written = restore(target, new.settings, new.store)

    assert names == ["settings/hearth.toml", "settings/mqtt-password", "settings/my-tools/fish.py", "state/sessions.db"]
    assert len(written) == 4
    assert (new.settings / "hearth.toml").read_text() == '[agent]\nname = "home"\n'
    assert (new.settings / "mqtt-password").stat().st_mode & 0o777 == 0o600
    store = SessionStore(new.store)
    assert store.load("evening", 5) == list(TURN)
    assert store.due_items() == [{"kind": "alarm"}]


def test_a_backup_is_for_its_owner_alone(old: Board, tmp_path: Path) -> None:
    """There are passwords in it."""
    old.back_up(tmp_path / "b")

    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


def test_what_was_there_is_kept_beside_it(old: Board, new: Board, tmp_path: Path) -> None:
    """A restore on the wrong board can be undone."""
    (new.settings / "hearth.toml").write_text("mine")
    old.back_up(tmp_path / "b")
    restore(tmp_path / "b", new.settings, new.store)

    assert (new.settings / "hearth.toml.before-restore").read_text() == "mine"


def test_settings_outside_of_their_own_folder_are_one_file(tmp_path: Path) -> None:
    """Not the whole checkout that they lie in."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "other").touch()

    assert files_of(tmp_path / "x" / "my.toml", False) == [tmp_path / "x" / "my.toml"]


@pytest.mark.parametrize("name", ["../evil", "settings/../../evil", "/etc/passwd", "other/file"])
def test_a_file_that_wants_to_lie_elsewhere_is_refused(new: Board, tmp_path: Path, name: str) -> None:
    """Before anything is written."""
    with tarfile.open(tmp_path / "b", "w:gz") as tar:
        for each in ("settings/hearth.toml", name):
            member = tarfile.TarInfo(each)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(BackupError, match="is no backup of Hearth"):
        restore(tmp_path / "b", new.settings, new.store)

    assert list(new.settings.iterdir()) == []


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.95])
def test_a_damaged_backup_changes_nothing(old: Board, new: Board, tmp_path: Path, kept: float) -> None:
    """Cut off anywhere."""
    (new.settings / "hearth.toml").write_text("mine")
    target = tmp_path / "b"
    old.back_up(target)
    contents = target.read_bytes()
    target.write_bytes(contents[: int(len(contents) * kept)])
    with pytest.raises(BackupError):
        restore(target, new.settings, new.store)

    assert [path.name for path in new.settings.iterdir()] == ["hearth.toml"]
    assert not new.store.exists()


def test_a_backup_that_fails_leaves_the_earlier_one(old: Board, tmp_path: Path) -> None:
    """It is replaced by a whole one only."""
    target = tmp_path / "b"
    old.back_up(target)
    earlier = target.read_bytes()
    (old.settings / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BackupError):
        back_up(target, old.settings, [old.settings / "gone"], old.store)

    assert target.read_bytes() == earlier
    assert not list(tmp_path.glob(".b.half"))


def test_the_commands_say_what_they_wrote(
    old: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With settings of one's own: the file and the store."""
    monkeypatch.setenv("STATE_DIRECTORY", str(old.store.parent))
    config = str(old.settings / "hearth.toml")
    assert main(["backup", str(tmp_path / "b"), "--config", config]) == 0
    assert capsys.readouterr().out.split() == ["settings/hearth.toml", "state/sessions.db"]
    old.open.close()

    assert main(["restore", str(tmp_path / "b"), "--config", config]) == 0
    assert capsys.readouterr().out.split() == [config, str(old.store)]
    assert os.stat(old.store).st_mode & 0o777 == 0o600
