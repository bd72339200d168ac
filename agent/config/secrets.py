"""Passwords: from a file that is for us alone, or from systemd. They are read when needed, and never logged."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agent.errors import SettingsError

CREDENTIAL = "mqtt-password"
"""The credential that is read where the settings name no file (`LoadCredential=`)."""

INSTALLED = "/etc/hearth"
"""Where the file of the unit's credential lies."""

FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_password(file: Path | None, *table: str) -> str | None:
    """The password of a broker.

    Args:
        file: `password_file`; without it systemd's credential "mqtt-password" is read, if there is one. An empty
            credential is none: a unit that names one does not start without its file.
        table: The keys of the table that names the file.

    Raises:
        SettingsError: It cannot be read, or others may read it as well.
    """
    # Beside the service root reads the file that systemd hands to it.
    installed = INSTALLED if os.geteuid() == 0 else "/nonexistent"
    credentials = Path(os.environ.get("CREDENTIALS_DIRECTORY", installed))
    if file is None:
        file = credentials / CREDENTIAL
        if not file.is_file():
            return None
    at = (*table, "password_file")
    where = f"[{'.'.join(table)}]: the password file {file}"
    try:
        with file.open(encoding="utf-8") as opened:
            # systemd has its own way to keep its files from others, which the mode does not show.
            if not file.is_relative_to(credentials) and os.fstat(opened.fileno()).st_mode & FOR_OTHERS:
                raise SettingsError(f"{where} may be read or changed by others: chmod 600 {file}", at)
            password = opened.read().removesuffix("\n")
    except OSError as error:
        raise SettingsError(f"{where} cannot be read: {error.strerror}", at) from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{where} is no text in UTF-8", at) from error
    if not password and file == credentials / CREDENTIAL:
        return None
    if not password:
        raise SettingsError(f"{where} is empty", at)
    return password
