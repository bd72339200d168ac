"""A real mosquitto on a free port, to be stopped and started by a test."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


class Mosquitto:
    """A broker that forgets everything when it stops. `host` and `port` stay the same.

    Args:
        folder: Where its settings file lies.
        acl: The rules of an `acl_file`; without them everybody may do everything.
        users: Who may come in, with a password each; without them everybody.
    """

    host = "127.0.0.1"

    def __init__(self, folder: Path, acl: str | None = None, users: dict[str, str] | None = None) -> None:
        with socket.socket() as probe:
            probe.bind((self.host, 0))
            self.port: int = probe.getsockname()[1]
        self._settings = folder / "mosquitto.conf"
        anonymous = "true" if users is None else "false"
        # Started as root it would become somebody who cannot read these files.
        settings = (
            f"user root\nlistener {self.port} {self.host}\nallow_anonymous {anonymous}\n"
            "persistence false\nlog_dest none\nset_tcp_nodelay true\n"
        )
        if acl is not None:
            (folder / "acl").write_text(f"{acl}\n")
            settings += f"acl_file {folder / 'acl'}\n"
        if users is not None:
            (folder / "passwords").write_text("".join(f"{name}:{word}\n" for name, word in users.items()))
            subprocess.run(["mosquitto_passwd", "-U", str(folder / "passwords")], check=True)
            settings += f"password_file {folder / 'passwords'}\n"
        self._settings.write_text(settings)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it listens."""
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self._process = subprocess.Popen([program, "-c", str(self._settings)], stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                socket.create_connection((self.host, self.port)).close()
                return
            except OSError:
                assert self._process.poll() is None, "mosquitto ended"
                time.sleep(0.01)  # there is no event for an open port
        raise AssertionError("mosquitto does not listen")

    def stop(self) -> None:
        """Ends it as systemd would; its clients are told. Stopping twice is fine."""
        self._end("terminate")

    def kill(self) -> None:
        """Ends it without a word to anybody."""
        self._end("kill")

    def _end(self, how: str) -> None:
        if self._process is not None:
            getattr(self._process, how)()
            self._process.wait()
            self._process = None


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker that runs."""
    broker = Mosquitto(tmp_path)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Callable[..., Mosquitto]]:
    """Starts a broker with the rules, or the users, of `Mosquitto`."""
    started: list[Mosquitto] = []

    def start(acl: str | None = None, users: dict[str, str] | None = None) -> Mosquitto:
        started.append(Mosquitto(tmp_path, acl, users))
        started[-1].start()
        return started[-1]

    yield start
    for broker in started:
        broker.stop()
