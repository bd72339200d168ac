"""What the board tells of itself, from files as a Raspberry Pi has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import doctor, machine
from agent.machine import Unit


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    """The root of a board that is well."""
    for name, text in {
        "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
        "sys/class/thermal/thermal_zone0/temp": "48312\n",
        "sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


def throttled(pi: Path, bits: str) -> None:
    (pi / "sys/devices/platform/soc/soc:firmware/get_throttled").write_text(bits)


def test_a_board_that_is_well_tells_its_name_and_its_warmth(pi: Path) -> None:
    """And has nothing to complain of."""
    assert machine.model(pi) == "Raspberry Pi 4 Model B Rev 1.4"
    assert machine.temperature(pi) == pytest.approx(48.312)
    assert machine.throttling(pi) == []


def test_low_voltage_and_throttling_are_told_apart_by_when(pi: Path) -> None:
    """0x50005 is what a thin cable gives."""
    throttled(pi, "50005\n")

    assert machine.throttling(pi) == [
        "its voltage is too low now",
        "its processor is throttled now",
        "its voltage was too low since the start",
        "its processor was throttled since the start",
    ]


def test_a_machine_that_tells_nothing_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PC, a container."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert machine.model(tmp_path) == ""
    assert machine.temperature(tmp_path) is None
    assert machine.throttling(tmp_path) is None
    assert machine.unit(tmp_path) is None


def test_a_sensor_that_sleeps_is_left_out(pi: Path) -> None:
    """The hottest of the others counts."""
    for number, text in ((1, "55000\n"), (2, "")):
        path = pi / f"sys/class/thermal/thermal_zone{number}/temp"
        path.parent.mkdir()
        path.write_text(text)

    assert machine.temperature(pi) == 55


def test_the_unit_is_read_from_systemd(pi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its properties."""
    (pi / "run/systemd/system").mkdir(parents=True)
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(
        "#!/bin/sh\nprintf 'LoadState=loaded\\nActiveState=active\\nResult=watchdog\\nNRestarts=3\\n"
        "UnitFileState=enabled\\nStatusText=ready; MQTT x=y\\nSupplementaryGroups=root no-such-group\\n'\n"
    )
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    assert machine.unit(pi) == Unit("active", "watchdog", 3, "enabled", "ready; MQTT x=y", ("no-such-group",))


@pytest.mark.parametrize(
    ("finding", "mark", "text"),
    [
        (doctor._warmth(48), "ok", "48 degrees"),
        (doctor._warmth(72), "--", "slows down from 80 on"),
        (doctor._warmth(83), "!!", "heat sink"),
        (doctor._power([]), "ok", "nothing to complain of"),
        (doctor._power(["its voltage was too low since the start"]), "--", "power supply"),
        (doctor._power(["its voltage is too low now"]), "!!", "power supply"),
        (doctor._power(["its processor is throttled now"]), "!!", "air"),
        (doctor._unit(Unit("active", "success", 0, "enabled", "")), "ok", "starts with the board"),
        (doctor._unit(Unit("active", "watchdog", 2, "enabled", "")), "--", "the last end was watchdog"),
        (doctor._unit(Unit("active", "success", 0, "disabled", "")), "--", "systemctl enable"),
        (doctor._unit(Unit("failed", "exit-code", 0, "enabled", "")), "!!", "journalctl -u hearth"),
        (doctor._unit(Unit("activating", "exit-code", 9, "enabled", "", ("gpio",))), "!!", "no group gpio"),
    ],
)
def test_the_doctor_says_what_is_wrong_and_what_cures_it(finding, mark, text) -> None:
    """Trouble now is trouble; what is over is a note."""
    assert finding.mark.value == mark
    assert text in finding.text


def test_versions_are_one_line() -> None:
    """Those that matter when something is wrong."""
    assert machine.versions().startswith("hearth ")
    assert "Python 3." in machine.versions()
