"""One file with all that makes this board this home: its settings, and what it keeps.

A gzipped tar of two folders: `settings/`, the folder of the settings file with its secrets, and `state/`, the session
store (conversations, timers, lists) as one whole file, also when the service writes to it meanwhile.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from agent.errors import HearthError
from agent.store import SessionStore, examine

FORMAT: Final = 1
"""Raised when an older Hearth cannot read a newer file any more."""

ABOUT: Final = "hearth-backup.json"
STORE: Final = "state/sessions.db"
LARGEST: Final = 1 << 30
"""More than this in one file is no backup of ours, in bytes."""


class BackupError(HearthError, RuntimeError):
    """A backup cannot be written, or is none."""


def files_of(settings: Path, whole_folder: bool) -> list[Path]:
    """What of the settings goes into a backup.

    Args:
        settings: The settings file.
        whole_folder: Its folder is for Hearth alone, so that the secrets and tools in it belong to it.
    """
    return sorted(path for path in settings.parent.rglob("*") if path.is_file()) if whole_folder else [settings]


def back_up(target: Path, folder: Path, files: Sequence[Path], store: Path) -> list[str]:
    """Writes a backup, for its owner alone: there are passwords in it.

    Args:
        target: The file to write; one that is there is replaced when the new one is whole.
        folder: The folder of the settings.
        files: Those in it that are taken, as from `files_of`.
        store: The session store; one that is not there is left out.

    Returns:
        The names of what is in it.

    Raises:
        BackupError: Something could not be read or written; an earlier file is as it was.
        StoreError: The store could not be read.
    """
    names = []
    half = target.with_name(f".{target.name}.half")
    try:
        with open(half, "xb", opener=_for_us_alone) as file, tarfile.open(fileobj=file, mode="w:gz") as tar:
            about = {"format": FORMAT, "version": hearth_version(), "made": round(time.time())}
            _add(tar, ABOUT, json.dumps(about).encode())
            for path in files:
                name = f"settings/{path.relative_to(folder)}"
                tar.add(path.resolve(), name, recursive=False)
                names.append(name)
            if store.exists():
                with _copied(store) as copy:
                    tar.add(copy, STORE, recursive=False)
                names.append(STORE)
        half.replace(target)
    except OSError as error:
        raise BackupError(f"the backup {target} cannot be written: {error}") from error
    finally:
        half.unlink(missing_ok=True)
    return names


def restore(source: Path, settings: Path, store: Path) -> list[str]:
    """Puts back what a backup holds. The service is not to run meanwhile.

    What is there is kept beside it under the ending `.before-restore`; all of the backup is looked at first, so that
    one that is damaged changes nothing. Files belong to whom their folder belongs.

    Returns:
        The files that were written.

    Raises:
        BackupError: It is no backup, is damaged, or could not be put back.
        NewerStoreError: Its store was written by a newer Hearth.
    """
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder)
        _unpack(source, unpacked)
        kept = unpacked / STORE
        if kept.exists():
            examine(kept)
        try:
            written = _put(unpacked / "settings", settings)
            if kept.exists():
                for ending in ("-wal", "-shm"):  # of the store that is replaced
                    store.with_name(store.name + ending).unlink(missing_ok=True)
                written += _put(kept.parent, store.parent, 0o600)
        except OSError as error:
            raise BackupError(f"{source} could not be put back: {error}") from error
    return written


def hearth_version() -> str:
    """The version of this Hearth; "unknown" where it was not installed."""
    try:
        return version("hearth")
    except PackageNotFoundError:
        return "unknown"


def _unpack(source: Path, folder: Path) -> None:
    try:
        with tarfile.open(source, "r:gz") as tar:
            members = tar.getmembers()
            _check(source, tar, members)
            for member in members:
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                contents = tar.extractfile(member)
                assert contents is not None  # they are files
                with path.open("wb") as file:
                    shutil.copyfileobj(contents, file)
                path.chmod(member.mode & 0o777)
    except (tarfile.TarError, EOFError, ValueError, KeyError, OSError) as error:
        raise BackupError(f"{source} is no whole backup: {error}") from error


def _check(source: Path, tar: tarfile.TarFile, members: list[tarfile.TarInfo]) -> None:
    """Refuses what could write somewhere else, before anything is written."""
    for member in members:
        parts = Path(member.name).parts
        known = member.name == ABOUT or (len(parts) > 1 and parts[0] in ("settings", "state"))
        if not member.isfile() or not known or ".." in parts or member.size > LARGEST:
            raise BackupError(f"{source} is no backup of Hearth: it holds {member.name!r}")
    about: Any = json.load(tar.extractfile(ABOUT) or io.BytesIO(b"{}"))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise BackupError(f"{source} was made by a newer Hearth ({about!r}): use that version")


def _put(source: Path, target: Path, mode: int | None = None) -> list[str]:
    """Copies files into a folder; each of them whole or not at all."""
    written = []
    target.mkdir(mode=0o755, parents=True, exist_ok=True)
    owner = target.stat()
    for path in sorted(each for each in source.rglob("*") if each.is_file()):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(f".{place.name}.new")
        shutil.copyfile(path, new)
        new.chmod(path.stat().st_mode & 0o777 if mode is None else mode)
        if os.geteuid() == 0:
            os.chown(new, owner.st_uid, owner.st_gid)
        if place.exists():
            place.replace(place.with_name(f"{place.name}.before-restore"))
        new.replace(place)
        written.append(str(place))
    return written


@contextmanager
def _copied(store: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, closing(SessionStore(store)) as opened:
        copy = Path(folder) / "sessions.db"
        opened.copy(copy)
        yield copy


def _add(tar: tarfile.TarFile, name: str, contents: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = len(contents), 0o600, int(time.time())
    tar.addfile(member, io.BytesIO(contents))


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
