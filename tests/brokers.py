"""A real mosquitto on a free port, to be stopped and started by a test."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


class Mosquitto:
    """A broker that forgets everything when it stops. `host` and `port` stay the same.

    Args:
        folder: Where its settings file lies.
    """

    host = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind((self.host, 0))
            self.port: int = probe.getsockname()[1]
        self._settings = folder / "mosquitto.conf"
        self._settings.write_text(
            f"listener {self.port} {self.host}\nallow_anonymous true\npersistence false\nlog_dest none\n"
        )
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
