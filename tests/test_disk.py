"""The disk that the state lies on."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from agent import disk as agent_disk
from agent.config import SessionSettings, Settings
from agent.disk import Disk, DiskError, check_writable, disk_of
from agent.service import _warn_of_loss
from tests import disks
from tests.disks import SmallDisk

disk = disks.disk  # a fixture


def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *mounts: tuple[str, str]) -> None:
    """Lets the system tell of these mounts, each a folder and a file system."""
    lines = [f"{n} 1 0:{n} / {folder} rw shared:1 - {kind} {kind} rw" for n, (folder, kind) in enumerate(mounts)]
    (tmp_path / "mountinfo").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(agent_disk, "MOUNTS", tmp_path / "mountinfo")


def test_the_innermost_mount_is_that_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A space in a name is written as \\040, and of two mounts on one point the later one is seen."""
    state = tmp_path / "var lib"
    state.mkdir()
    escaped = str(state).replace(" ", r"\040")
    mounted(
        tmp_path, monkeypatch, ("/", "overlay"), (escaped, "tmpfs"), (escaped, "ext4"), (f"{escaped}/x", "vfat"),
        (f"{escaped}x", "ramfs"),
    )  # fmt: skip

    assert disk_of(state).kind == "ext4"
    assert disk_of(tmp_path).kind == "overlay"


def test_a_system_that_does_not_tell_of_its_mounts_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_disk, "MOUNTS", tmp_path / "none")

    assert disk_of(tmp_path).kind == ""
    assert not disk_of(tmp_path).forgets


@pytest.mark.parametrize(("kind", "forgets"), [("tmpfs", True), ("overlay", True), ("ext4", False), ("", False)])
def test_memory_and_an_overlay_forget(kind: str, forgets: bool) -> None:
    assert Disk(0, kind).forgets is forgets


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        disk_of(tmp_path / "none")


def test_a_real_disk_is_full_and_becomes_read_only(disk: SmallDisk) -> None:
    check_writable(disk.folder)
    assert disk_of(disk.folder).kind == "ext4"
    assert disk_of(disk.folder).free > 1_000_000

    disk.fill()
    assert disk_of(disk.folder).free == 0
    with pytest.raises(DiskError, match="No space left on device"):
        check_writable(disk.folder)
    disk.free()
    check_writable(disk.folder)
    assert sorted(each.name for each in disk.folder.iterdir()) == ["lost+found"]

    disk.fail()
    with pytest.raises(DiskError, match="Read-only file system"):
        check_writable(disk.folder)


@pytest.mark.parametrize(
    ("kind", "store", "said"), [("tmpfs", "kept", 1), ("tmpfs", "volatile", 0), ("ext4", "kept", 0)]
)
def test_f30_a_service_says_once_that_its_state_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str, store: str, said: int
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    mounted(tmp_path, monkeypatch, ("/", "ext4"), (str(tmp_path), kind))
    caplog.set_level(logging.WARNING)
    _warn_of_loss(Settings(sessions=SessionSettings(store=store)))  # type: ignore[arg-type]

    assert len(caplog.records) == said
    assert all("lies on tmpfs: a reboot may forget" in record.getMessage() for record in caplog.records)


def test_f30_a_state_that_is_not_there_is_the_stores_to_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "none"))
    _warn_of_loss(Settings())
