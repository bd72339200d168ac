"""`hearth log`: the commands in the journal, one line each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from agent import journal
from agent.errors import HearthError


class NoJournalError(HearthError, RuntimeError):
    """The journal cannot be read here; says why."""


def arguments(count: int | None, since: str | None, follow: bool, everything: bool) -> list[str]:
    """What journalctl is called with.

    Args:
        count: How many records at most, the newest; None is all.
        since: The oldest time, as journalctl reads it: "today", "-1h", "2026-05-01".
        follow: Whether to wait for more.
        everything: All that Hearth wrote, and what systemd wrote of it; else only the commands.
    """
    given = ["--quiet", "--no-pager", "--output=json"]
    if count is not None:
        given.append(f"--lines={count}")
    if since is not None:
        given.append(f"--since={since}")
    if follow:
        given.append("--follow")
    return [*given, *(["--unit=hearth.service"] if everything else [f"MESSAGE_ID={journal.COMMAND_RECORD}"])]


def records(given: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The records that journalctl finds, oldest first.

    Raises:
        NoJournalError: There is no journalctl, or it failed.
    """
    try:
        process = subprocess.Popen(
            ["journalctl", *given], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise NoJournalError(f"journalctl cannot be run ({error}): the log is where hearth run writes it") from error
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            for line in process.stdout:
                record = json.loads(line)
                if isinstance(record, dict):
                    yield record
            if process.wait():
                raise NoJournalError(f"journalctl: {process.stderr.read().strip() or process.returncode}")
        finally:
            process.terminate()


def told(record: dict[str, Any]) -> str:
    """A record as a person reads it."""
    at = datetime.fromtimestamp(int(_text(record, "__REALTIME_TIMESTAMP") or 0) / 1e6).astimezone()
    stamp = f"{at:%Y-%m-%d %H:%M:%S}"
    if record.get("MESSAGE_ID") != journal.COMMAND_RECORD:
        return f"{stamp}  {_text(record, 'MESSAGE')}"
    parts = [
        stamp,
        f"{_text(record, journal.MILLISECONDS):>6} ms",
        _text(record, journal.CHANNEL),
        _text(record, journal.SESSION) or "-",
        _text(record, journal.TOOL) or "-",
        _text(record, journal.DRIVER) or "-",
    ]
    if failed := _text(record, journal.FAILED):
        parts.append(f"failed: {failed}")
    if error := _text(record, journal.ERROR):
        parts.append(error)
    if said := _text(record, journal.WORDS):
        parts.append(f"{said} -> {_text(record, journal.ANSWER)}")
    return "  ".join(parts)


def _text(record: dict[str, Any], field: str) -> str:
    """A field as text; journalctl gives bytes that are no text as numbers, and leaves out what is very long."""
    value = record.get(field)
    return value if isinstance(value, str) else ""
