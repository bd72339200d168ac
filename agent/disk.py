"""The disk that the state lies on: how much is free, whether it can be written to, whether a reboot empties it."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agent.errors import HearthError

MOUNTS = Path("/proc/self/mountinfo")

FORGETFUL = frozenset({"tmpfs", "ramfs", "overlay"})
"""File systems that are in memory, or lie over a disk that is not to change: with a read-only root /var is one."""


class DiskError(HearthError, RuntimeError):
    """The disk cannot be written to; says why."""


@dataclass(frozen=True)
class Disk:
    """What is known of the disk that a folder lies on.

    Attributes:
        free: How much we may still write, in bytes.
        kind: The file system: "ext4", "tmpfs" ...; "" where the system does not tell.
    """

    free: int
    kind: str

    @property
    def forgets(self) -> bool:
        """Whether what is written may be gone after a reboot."""
        return self.kind in FORGETFUL


def disk_of(folder: Path) -> Disk:
    """The disk of a folder.

    Raises:
        OSError: There is no such folder.
    """
    found = os.statvfs(folder)
    return Disk(found.f_bavail * found.f_frsize, _kind_of(folder.resolve()))


def _kind_of(folder: Path) -> str:
    """The file system of the innermost mount that a folder is in; of two on one point the later one counts."""
    kind, depth = "", -1
    try:
        mounts = MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        # A space in the name of a folder is written as \040, and so are other signs.
        point = Path(re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), before.split()[4]))
        if folder.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = after.split()[0], len(point.parts)
    return kind


def check_writable(folder: Path) -> None:
    """Writes a file of a few bytes, and takes it away again.

    Raises:
        DiskError: It could not be written.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise DiskError(error.strerror or str(error)) from error
