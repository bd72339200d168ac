"""`make run`: the example house with a lamp on the emulated board, and without one where its tools are missing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hil.board import DEADLINE, NEAR, OUT, duty_of, missing_packages, need

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One whose emulated board is its own."""
    for name in ("agent", "tools", "firmware"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy" / "run.py", tmp_path / "deploy")
    (tmp_path / "deploy" / "hearth.example.toml").symlink_to(ROOT / "deploy" / "hearth.example.toml")
    (tmp_path / "build").mkdir()
    OUT.mkdir(parents=True, exist_ok=True)
    (tmp_path / "build" / "firmware").symlink_to(OUT)
    for name in ("run", "state", "cache"):
        (tmp_path / name).mkdir()
    return tmp_path


class Run:
    """A `make run` that is ready."""

    def __init__(self, checkout: Path, **environment: str) -> None:
        self._environment = os.environ | {
            "RUNTIME_DIRECTORY": str(checkout / "run"),
            "STATE_DIRECTORY": str(checkout / "state"),
            "CACHE_DIRECTORY": str(checkout / "cache"),
            "HEARTH_CONFIG": "",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            **environment,
        }
        self.process = subprocess.Popen(
            [sys.executable, "deploy/run.py"],
            cwd=checkout,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.notes = ""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.notes += line
            if "is ready" in line:
                return
        raise AssertionError(f"it ended:\n{self.notes}")

    def hearth(self, *arguments: str) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "agent", *arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=3 * DEADLINE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end(self, how: signal.Signals) -> None:
        """Ends it; twice is fine."""
        if self.process.returncode is None:
            self.process.send_signal(how)
            self.process.communicate(timeout=DEADLINE)


@contextmanager
def running(checkout: Path, **environment: str) -> Iterator[Run]:
    run = Run(checkout, **environment)
    try:
        yield run
    finally:
        run.end(signal.SIGKILL)


def state(control: Path) -> dict[str, Any]:
    """What the emulator tells of its board."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(DEADLINE)
        client.connect(str(control))
        client.sendall(b"state\n")
        return dict(json.loads(client.makefile().readline()))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_its_lamp_hangs_on_an_emulated_board_that_ends_with_it(checkout: Path, how: signal.Signals) -> None:
    """40 percent is the duty of the pin; also a service that is killed leaves no emulator and no port behind."""
    need(missing_packages())
    folder = checkout / "build" / "run"
    with running(checkout) as run:
        assert f"the board lamp hangs on an emulated board; {folder}/control tells of its pins" in run.notes
        assert "40 percent" in run.hearth("ask", "turn on the board lamp to 40 percent")
        duty, end = 0.0, time.monotonic() + DEADLINE
        while abs(duty - duty_of(400, 0)) > NEAR[0]:  # it fades
            assert time.monotonic() < end, duty
            duty = state(folder / "control")["outputs"][0]["duty"]
        run.end(how)

        end = time.monotonic() + DEADLINE
        while (folder / "control").exists() or (folder / "ttyBOARD").is_symlink():
            assert time.monotonic() < end, "the emulator is still there"
            time.sleep(0.02)  # another process: there is nothing to await


def test_without_its_tools_it_says_so_in_a_line_and_runs_all_the_same(checkout: Path) -> None:
    """With what is to be installed; the house is the example then."""
    with running(checkout, PATH=str(checkout / "nothing")) as run:
        (note,) = [line for line in run.notes.splitlines() if "emulated board" in line]
        assert note.startswith("the house has no emulated board: not installed: make gcc gcc-avr")
        assert note.endswith(")") and "(sudo apt install make gcc gcc-avr" in note
        assert "board lamp" not in run.hearth("ask", "which lights are on?")
        run.end(signal.SIGTERM)


def test_two_at_once_do_not_share_a_board(checkout: Path) -> None:
    """The second says so; what it would do to the first one's board nobody wants."""
    need(missing_packages())
    (checkout / "run2").mkdir()
    with running(checkout) as first, running(checkout, RUNTIME_DIRECTORY=str(checkout / "run2")) as second:
        assert "the house has no emulated board: another make run has it" in second.notes
        assert "the board lamp hangs on" in first.notes
