"""What systemd is told, where it listens and where not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.notify import notify, notify_ready, notify_reloading


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Its end of NOTIFY_SOCKET: a file, or the abstract name that containers use."""
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name if request.param == "path" else f"\0{name}")
        listening.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", name if request.param == "path" else f"@{name}")
        yield listening


def test_a_status_is_one_line_whatever_is_in_it(systemd: socket.socket) -> None:
    """A line break would begin another assignment."""
    notify_ready("ready;\nWATCHDOG=trigger")

    assert systemd.recv(4096) == b"READY=1\nSTATUS=ready; WATCHDOG=trigger"


def test_a_reload_says_when_it_began(systemd: socket.socket) -> None:
    """In microseconds of the monotonic clock."""
    notify_reloading()
    first, second = systemd.recv(4096).decode().split("\n")

    assert first == "RELOADING=1"
    assert int(second.removeprefix("MONOTONIC_USEC=")) > 0


def test_without_systemd_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout."""
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
