"""A socket that systemd has opened."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from test_local import Parrot

from agent.activation import activated_socket
from agent.channels.local import LocalClient, LocalServer, refuse
from agent.errors import AgentError

TAKER = """
import os, sys
os.environ["LISTEN_PID"] = str(os.getpid())
os.dup2(int(sys.argv[1]), 3)
from agent.activation import activated_socket
found = activated_socket("local")
print(found.getsockname(), os.get_inheritable(found.fileno()))
print(activated_socket("wyoming"))
"""


def test_a_socket_is_found_by_its_name(tmp_path: Path) -> None:
    """In a process of its own, as descriptor 3; one that was not given is none."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        out = subprocess.run(
            [sys.executable, "-c", TAKER, str(listening.fileno())],
            env={**os.environ, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "local"},
            pass_fds=[listening.fileno()],
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    assert out.splitlines() == [f"{tmp_path}/s False", "None"]


def test_sockets_of_another_process_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child inherits the variables."""
    monkeypatch.setenv("LISTEN_PID", str(os.getppid()))
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_FDNAMES", "local")

    assert activated_socket("local") is None


async def test_a_socket_that_was_given_stays_when_the_service_goes(tmp_path: Path) -> None:
    """So that who asks meanwhile waits for the next start, and is not refused."""
    path = tmp_path / "s"
    given = socket.socket(socket.AF_UNIX)
    given.bind(str(path))
    given.listen()
    given.setblocking(False)
    with given.dup() as kept:  # systemd's own
        kept.setblocking(False)
        async with LocalServer(Parrot(), path, given):
            assert "names" not in await LocalClient(path).status()
        assert path.exists()
        asking = asyncio.create_task(LocalClient(path).status())
        async with LocalServer(Parrot(), path, kept.dup()):
            async with asyncio.timeout(60):
                await asking


async def test_who_waits_for_a_service_that_cannot_start_is_told_why(tmp_path: Path) -> None:
    """And nobody is left at the socket, who would make systemd start it again and again."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as given:
        given.bind(str(path))
        given.listen()
        given.setblocking(False)
        asking = asyncio.create_task(LocalClient(path).status())
        gone = socket.socket(socket.AF_UNIX)
        gone.connect(str(path))
        gone.close()  # as from a look whether anybody listens
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            while not asking.done():
                await asyncio.to_thread(refuse, given, "the service does not start: no key")
        with pytest.raises(AgentError, match="the service does not start: no key"):
            asking.result()

        with pytest.raises(BlockingIOError):
            given.accept()
