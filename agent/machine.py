"""The board that this runs on: its power, its temperature, systemd's view of the service, and versions.

What a machine does not have, a PC no throttling and a container no systemd, is not there, and no trouble.
"""

from __future__ import annotations

import grp
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOT_C: Final = 80.0
"""From here on a Raspberry Pi slows its processor down, in degrees Celsius."""

WARM_C: Final = 70.0
"""A board that is so warm when it is idle gets too hot at work, in degrees Celsius."""

THROTTLED: Final = {
    0: "its voltage is too low now",
    1: "its processor's frequency is capped now",
    2: "its processor is throttled now",
    3: "it is at its soft temperature limit now",
    16: "its voltage was too low since the start",
    17: "its processor's frequency was capped since the start",
    18: "its processor was throttled since the start",
    19: "it reached its soft temperature limit since the start",
}
"""The bits of `vcgencmd get_throttled`, as Raspberry Pi documents them."""

UNIT: Final = "hearth.service"


@dataclass(frozen=True)
class Unit:
    """systemd's view of the service.

    Attributes:
        active: "active", "inactive", "failed" ...
        result: How it ended last: "success", "watchdog", "exit-code", "oom-kill" ...
        restarts: How often systemd has started it again.
        enabled: "enabled" if it starts with the board.
        status: Its own line.
        missing_groups: Groups that it is to be in and that there are not: with one of them systemd does not start it.
    """

    active: str
    result: str
    restarts: int
    enabled: str
    status: str
    missing_groups: tuple[str, ...] = ()


def model(root: Path = Path("/")) -> str:
    """What the board calls itself; "" where it does not."""
    try:
        return (root / "proc/device-tree/model").read_text(errors="replace").strip("\0\n ")
    except OSError:
        return ""


def temperature(root: Path = Path("/")) -> float | None:
    """The hottest part of the processor, in degrees Celsius; None where it is not told."""
    found = []
    for zone in (root / "sys/class/thermal").glob("thermal_zone*/temp"):
        try:
            found.append(int(zone.read_text()) / 1000)
        except (OSError, ValueError):
            continue  # a sensor that sleeps
    return max(found, default=None)


def throttling(root: Path = Path("/")) -> list[str] | None:
    """What the firmware says of power and heat, a clause each; None on a board that does not tell."""
    path = root / "sys/devices/platform/soc/soc:firmware/get_throttled"
    try:
        text = path.read_text()
    except OSError:
        text = _output("vcgencmd", "get_throttled").partition("=")[2]
    try:
        bits = int(text.strip(), 16)
    except ValueError:
        return None
    return [clause for bit, clause in THROTTLED.items() if bits >> bit & 1]


def unit(root: Path = Path("/")) -> Unit | None:
    """The service's unit; None without systemd, or where no such unit is installed."""
    if not (root / "run/systemd/system").is_dir():
        return None
    names = ("LoadState", "ActiveState", "Result", "NRestarts", "UnitFileState", "StatusText", "SupplementaryGroups")
    lines = _output("systemctl", "show", UNIT, f"--property={','.join(names)}").splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    if values.get("LoadState") != "loaded":
        return None
    return Unit(
        values.get("ActiveState", ""),
        values.get("Result", ""),
        int(values.get("NRestarts") or 0),
        values.get("UnitFileState", ""),
        values.get("StatusText", ""),
        tuple(name for name in values.get("SupplementaryGroups", "").split() if not _is_group(name)),
    )


def _is_group(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def versions() -> str:
    """Of what matters when something is wrong, in one line."""
    from importlib.metadata import PackageNotFoundError, version

    from agent.backup import hearth_version

    parts = [f"hearth {hearth_version()}", f"Python {platform.python_version()}"]
    for name in ("ai-edge-litert", "tflite-runtime", "paho-mqtt"):
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    systemd = _output("systemctl", "--version").split()
    if len(systemd) > 1:
        parts.append(f"systemd {systemd[1]}")
    return ", ".join([*parts, f"{platform.system()} {platform.release()} {platform.machine()}"])


def _output(*command: str) -> str:
    """What a program prints; "" where there is none, or it fails or hangs."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
