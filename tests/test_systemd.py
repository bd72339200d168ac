"""The unit files, as systemd itself reads and judges them; no service manager runs for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
UNITS = sorted(path for path in (ROOT / "systemd").iterdir() if path.suffix in (".service", ".socket", ".timer"))
SERVICES = [path for path in UNITS if path.suffix == ".service"]
DROP_INS = sorted((ROOT / "systemd" / "drop-ins").iterdir())

MOST_EXPOSURE = 2.0
"""What `systemd-analyze security` may find at most, 0 to 10; a bare unit has 9.5."""


@pytest.fixture
def analyze() -> str:
    """The program, which CI installs."""
    program = shutil.which("systemd-analyze")
    if program is None and "CI" not in os.environ:
        pytest.skip("systemd-analyze is not installed (apt install systemd), so the units are not looked at")
    assert program is not None
    return program


def run(*command: str | Path) -> str:
    """What it prints, if it ends well."""
    done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def exposure(text: str) -> float:
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", text)
    assert found, text
    return float(found[1])


def test_the_folder_holds_unit_files_only() -> None:
    """A Python file in it would make it a package that stands in the way of systemd-python's."""
    assert {path.suffix for path in (ROOT / "systemd").rglob("*") if path.is_file()} == {
        ".conf",
        ".service",
        ".socket",
        ".timer",
    }


def test_systemd_has_nothing_to_complain_of(analyze: str, tmp_path: Path) -> None:
    """No unknown key, no missing unit; with a program that is there in the place of ours."""
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/hearth/venv/bin/hearth", "/bin/true"))
    folder = tmp_path / "hearth.service.d"
    folder.mkdir()
    for drop_in in DROP_INS:
        shutil.copy(drop_in, folder)

    assert run(analyze, "verify", "--man=no", *(tmp_path / unit.name for unit in UNITS)) == ""


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_is_exposed_no_more_than_stated(analyze: str, unit: Path) -> None:
    """By systemd's own score."""
    assert exposure(run(analyze, "security", "--offline=true", "--no-pager", unit)) <= MOST_EXPOSURE


@pytest.mark.parametrize("drop_in", DROP_INS, ids=lambda path: path.name)
def test_a_drop_in_opens_no_more_than_it_says(analyze: str, tmp_path: Path, drop_in: Path) -> None:
    """One door, not the house."""
    shutil.copy(ROOT / "systemd" / "hearth.service", tmp_path)
    folder = tmp_path / "hearth.service.d"
    folder.mkdir()
    shutil.copy(drop_in, folder)
    found = exposure(run(analyze, "security", "--offline=true", "--no-pager", tmp_path / "hearth.service"))

    assert MOST_EXPOSURE - 0.5 <= found <= MOST_EXPOSURE + 0.5


HARDENING = re.compile(r"Protect|Private|Restrict|NoNew|Capability|Ambient|Lock|SystemCall|IPAddress|DeviceP|RemoveIPC")


def test_each_hardening_line_stands_below_its_reason() -> None:
    """A block of them begins with a comment."""
    reason = ""
    for line in (ROOT / "systemd" / "hearth.service").read_text().splitlines():
        if line.startswith("#"):
            reason = line
        elif not line:
            reason = ""
        elif HARDENING.match(line):
            assert reason, f"{line} has no reason above it"


def test_the_watchdog_waits_longer_than_one_look_of_the_service() -> None:
    """And a failed start is tried again, but not for settings that are wrong."""
    text = (ROOT / "systemd" / "hearth.service").read_text()

    assert "\nType=notify\n" in text
    assert "\nRestartPreventExitStatus=78\n" in text
    assert "\nStartLimitIntervalSec=0\n" in text
    assert int(re.search(r"\nWatchdogSec=(\d+)\n", text)[1]) >= 30  # type: ignore[index]
