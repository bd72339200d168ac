"""A small disk of its own for a test: it fills up, and it becomes read-only under open files, for real."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


class SmallDisk:
    """Eight megabytes of ext4 in a file, mounted on a folder.

    Args:
        folder: An empty folder; the file lies beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"
        self._image = folder.with_suffix(".ext4")
        with self._image.open("wb") as file:
            file.truncate(8 << 20)
        _run("mkfs.ext4", "-q", str(self._image))
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop,errors=remount-ro", str(self._image), str(self.folder))

    def fill(self) -> None:
        """Leaves not a byte."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (65536, 1):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    assert error.errno == errno.ENOSPC

    def free(self) -> None:
        """Gives back what `fill` took."""
        self._filler.unlink()

    def fail(self) -> None:
        """Becomes read-only at once, also for files that are open, as a worn card does."""
        device = Path(_run("findmnt", "-no", "SOURCE", str(self.folder)))
        Path(f"/sys/fs/ext4/{device.name}/trigger_fs_error").write_text("a test")

    def mend(self) -> None:
        """Can be written again."""
        self.unmount()
        self._mount()

    def unmount(self) -> None:
        """Takes it away, whatever is still open on it."""
        _run("umount", "--lazy", str(self.folder))


def _run(*command: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout.strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A disk of eight megabytes; only root can mount one, and CI is root."""
    if os.geteuid() != 0 and "CI" not in os.environ:
        pytest.skip("only root can mount a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = SmallDisk(folder)
    yield disk
    disk.unmount()
