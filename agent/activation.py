"""Sockets that systemd has opened for us and keeps open over a restart (sd_listen_fds(3))."""

from __future__ import annotations

import os
import socket
from typing import Final

FIRST: Final = 3
"""The descriptor of the first; the others follow."""


def activated_socket(name: str) -> socket.socket | None:
    """The listening socket of a name.

    Args:
        name: The `FileDescriptorName=` of its unit.

    Returns:
        The socket, not blocking; None where systemd gave us none of that name.
    """
    # The same as systemd.daemon.listen_fds_with_names, which Debian 12's python3-systemd has and PyPI has no wheel of.
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return None
    names = os.environ.get("LISTEN_FDNAMES", "").split(":")
    count = int(os.environ.get("LISTEN_FDS", "0"))
    for number, given in enumerate(names[:count], start=FIRST):
        if given == name:
            found = socket.socket(fileno=number)
            found.setblocking(False)
            found.set_inheritable(False)  # an embedded broker has no business with it
            return found
    return None
