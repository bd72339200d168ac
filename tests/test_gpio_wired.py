"""The tests of `make hil-pi`, run on the fake board with a wire: they pass where Hearth and the kernel are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.gpio.fakeboard import FakeBoard
from tests.gpio.houses import ROOT


def test_the_tests_for_a_real_board_pass_on_the_fake_one(tmp_path: Path) -> None:
    """All of them but what a wire does not show, and how long a pulse by software is: this machine is busy."""
    board = FakeBoard.like_a_pi(tmp_path / "fake")
    board.connect("GPIO17", "GPIO27")
    command = ["-m", "pytest", "-o", "addopts=", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/t"]
    command += ["-k", "not f24", "tests/pi"]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env={**os.environ, **board.environment}, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout
    assert re.search(r"\b8 passed, 5 skipped", done.stdout), done.stdout
