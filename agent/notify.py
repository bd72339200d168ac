"""What systemd is told: that we are ready, what we are at, that we are alive."""

from __future__ import annotations

import importlib
import os
import socket
import time


def notify(state: str) -> None:
    """Tells systemd, where it listens; with systemd-python, or the same datagram without it.

    Args:
        state: Lines of `KEY=value`, as in sd_notify(3).
    """
    try:
        importlib.import_module("systemd.daemon").notify(state)
    except ImportError:
        address = os.environ.get("NOTIFY_SOCKET", "")
        if address:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
                datagram.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
                datagram.send(state.encode())


def notify_ready(status: str) -> None:
    """We are usable; also after a reload."""
    notify(f"READY=1\n{_status(status)}")


def notify_status(status: str) -> None:
    """What `systemctl status` shows, in one line."""
    notify(_status(status))


def notify_reloading() -> None:
    """The settings are being read again; `notify_ready` ends it."""
    # The time is what Type=notify-reload of systemd 253 asks for; Type=notify does not mind it.
    notify(f"RELOADING=1\nMONOTONIC_USEC={time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000}")


def _status(text: str) -> str:
    return f"STATUS={' '.join(text.split())}"
