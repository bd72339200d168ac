"""Why a device of the kernel's may not be opened, from its owner and its mode."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path


def why_denied(path: Path, group: str, kind: str) -> str:
    """A clause about a device that we may not open, with what to do about it.

    Args:
        path: The device.
        group: The one that Hearth's udev rule gives it to.
        kind: What the unit's `DeviceAllow=` calls it, as in /proc/devices.
    """
    try:
        found = path.stat()
    except OSError as error:
        return f"cannot be opened ({error.strerror})"
    theirs, user = _group(found.st_gid), _user()
    if found.st_gid == 0 or not found.st_mode & stat.S_IWGRP:
        return f"is for root alone: install Hearth's udev rule, which gives it to the group {group}"
    if found.st_gid in (os.getegid(), *os.getgroups()):
        return f"is kept from {user}, though of its group {theirs}: the unit needs DeviceAllow={kind} rw"
    return (
        f"is for the group {theirs}, and {user} is not in it: sudo usermod -aG {theirs} {user}, "
        f"or SupplementaryGroups={theirs} in the unit, and start anew"
    )


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
