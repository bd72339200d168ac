"""The appliance on an emulated board of 64 bits, from its package to a power cut: `make test-vm`, in this order.

Debian's own kernel, so what a container only pretends is real: the devices that the unit may open, its memory, udev,
and the power. On the USB port hangs the light controller, as the emulator of firmware/ runs its real image.

Field faults: F8 (no broker at the boot), F27 (a board that is plugged in after the start).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.channels.mqtt_publish import publish
from tests.hil.board import EmulatedBoard, images, missing_packages
from tests.trees import ROOT
from tests.vm.appliance import WITHIN_S, Appliance, can_run, disk
from tests.vm.image import BUILD, RELEASE

pytestmark = pytest.mark.timeout(7200)

LAMP = 0
"""The board's channel."""

LEVELS_KEPT_S = 70
"""The firmware writes levels once they rest, at most once a minute, and tells nobody."""

SETTINGS = """
[agent]
name = "node"
house = "lamp_house"

# What is emulated takes its time.
[limits]
deadline_s = 3600
tool_timeout_s = 60

{mqtt}

[lamp_house.serial]
reply_timeout_s = 2

[[lamp_house.room]]
name = "office"

[[lamp_house.device]]
name = "desk lamp"
kind = "light"
room = "office"
serial = {{ channel = 0 }}
"""

DROP_IN = """
[Service]
Environment=PYTHONPATH=/brought
WatchdogSec=600
TimeoutStartSec=900
"""

CONNECTED = "systemctl show hearth.service -p StatusText | grep -q 'MQTT connected'"
BOARD_THERE = "systemctl show hearth.service -p StatusText | grep ready | grep -qv 'serial:'"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A short path, as sockets are in it."""
    made = Path(tempfile.mkdtemp(prefix="hearth-vm-"))
    yield made
    if (made / "console").exists():
        shutil.copy(made / "console", BUILD / "appliance.console")
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def board(folder: Path) -> Iterator[EmulatedBoard]:
    """The light controller, whose cable goes into the appliance."""
    if missing := missing_packages():
        pytest.fail(f"not installed: {', '.join(missing)}")
    with EmulatedBoard(images(), folder) as running:
        yield running


@pytest.fixture(scope="module")
def package() -> Path:
    """The package, as `make deb ARCH=arm64` builds it."""
    environment = {**os.environ, "PYTHON3": sys.executable}
    command = ["sh", "deploy/deb/build.sh", RELEASE, "arm64"]
    built = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return ROOT / built.stdout.strip()


@pytest.fixture(scope="module")
def appliance(folder: Path, board: EmulatedBoard, package: Path) -> Iterator[Appliance]:
    """A Debian that has booted, and has the package at hand."""
    if why := can_run():
        pytest.fail(why)
    brought = folder / "to-bring"
    shutil.copytree(Path(__file__).parent / "house", brought, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(package, brought / "hearth.deb")
    shutil.copy(ROOT / "deploy" / "udev" / "70-hearth-board.rules", brought)
    made = Appliance(disk(), folder, brought, board.tty)
    print(f"booted in {made.power_on():.0f} s")
    yield made
    made.cut()


def write(appliance: Appliance, path: str, text: str) -> None:
    appliance.run(f"mkdir -p $(dirname {path}); cat >{path} <<'END'\n{text}\nEND")


class Outside:
    """Somebody in the house's network, with the password and the authority of the broker."""

    def __init__(self, appliance: Appliance, folder: Path) -> None:
        self._ca_file = folder / "ca.crt"
        self._ca_file.write_text(appliance.run("cat /etc/hearth/ca.crt"))
        self._password = appliance.run("cat /etc/hearth/home-password")
        self._port = appliance.port

    def says(self, sentence: str) -> dict[str, Any]:
        """The reply to a sentence that is published."""
        who = {"username": "home", "password": self._password, "tls": True, "ca_file": self._ca_file}
        return asyncio.run(publish("localhost", self._port, "node", sentence, timeout_s=WITHIN_S, **who))


@pytest.fixture
def outside(appliance: Appliance, folder: Path) -> Outside:
    """Once the broker has its users."""
    return Outside(appliance, folder)


def shows(board: EmulatedBoard, level: int) -> None:
    """Waits until the pin has the duty of that level in per mille, which is measured outside of all of it."""
    asyncio.run(board.shows(LAMP, level, within=WITHIN_S))


def test_it_is_installed_without_a_network_in_512_mb(appliance: Appliance) -> None:
    """From the wheels in the package, on a board that nothing is plugged into."""
    started = time.monotonic()
    appliance.run("dpkg -i /brought/hearth.deb")
    appliance.wait_until("systemctl is-active hearth.service")
    print(f"installed in {time.monotonic() - started:.0f} s")
    print(appliance.run("free -m; systemctl show hearth.service -p MemoryCurrent"))

    assert "aarch64" in appliance.run("uname -m")
    assert appliance.show("StatusText").startswith("ready")


def test_f27_a_board_that_is_plugged_in_after_the_start_is_found(appliance: Appliance, board: EmulatedBoard) -> None:
    """F27: by a unit that names the devices it may open; plain Debian has no group gpio, and that is no matter."""
    mqtt = appliance.run("sh /usr/share/hearth/mosquitto/setup.sh node hearth.local")
    appliance.run("systemctl stop hearth.socket hearth.service; hearth retract; cp /brought/*.rules /etc/udev/rules.d/")
    write(appliance, "/etc/hearth/hearth.toml", SETTINGS.format(mqtt=mqtt[mqtt.index("[mqtt]") :]))
    write(appliance, "/etc/systemd/system/hearth.service.d/test.conf", DROP_IN)
    appliance.run("udevadm control --reload; systemctl daemon-reload; systemctl restart mosquitto")
    appliance.run("systemctl start hearth.socket hearth.service")
    without = appliance.show("StatusText")
    ports_before = appliance.run("ls /dev/ttyUSB* 2>/dev/null || true")
    appliance.plug()
    took = appliance.wait_until(BOARD_THERE)
    print(f"{without}\nfound {took:.1f} s after it was plugged in\n{appliance.show('StatusText')}")

    assert "serial:" in without
    assert ports_before == ""
    assert appliance.run("stat -c '%U %G %a' /dev/ttyUSB0") == "root dialout 660"
    assert appliance.run("cat /sys/bus/usb-serial/devices/ttyUSB0/latency_timer") == "1"


def test_a_sentence_published_from_outside_ends_as_a_duty_on_the_pin(
    appliance: Appliance, board: EmulatedBoard, outside: Outside
) -> None:
    """Broker with TLS, agent, model, driver, the kernel's ftdi_sio, the wire, the firmware, the timer's pin."""
    appliance.wait_until(CONNECTED)
    started = time.monotonic()
    reply = outside.says("turn on the desk lamp to 40 percent")
    first = time.monotonic() - started
    shows(board, 400)
    again = time.monotonic()
    outside.says("turn off the desk lamp")
    shows(board, 0)
    print(f"first sentence, with declarations: {first:.1f} s; second: {time.monotonic() - again:.1f} s")
    print(appliance.run("systemctl show hearth.service -p MemoryCurrent -p MemoryPeak; free -m"))

    assert "error" not in reply, reply
    assert reply["text"] == "The desk lamp is on at 40 percent."
    assert reply["calls"][0]["arguments"] == {"room": "desk lamp", "brightness": 40}


def test_f27_unplugged_nothing_is_called_done_and_plugged_in_again_it_works(
    appliance: Appliance, board: EmulatedBoard, outside: Outside
) -> None:
    """F27: the cable brings the board's power, too."""
    outside.says("turn on the desk lamp to 60 percent")
    shows(board, 600)
    appliance.unplug()
    board.do("power")
    appliance.wait_until(f"! {BOARD_THERE}")
    refused = outside.says("turn on the desk lamp to 20 percent")
    appliance.plug()
    took = appliance.wait_until(BOARD_THERE)
    reply = outside.says("turn on the desk lamp to 30 percent")
    shows(board, 300)
    print(f"found {took:.1f} s after it was plugged in again; without it: {refused['text']}")

    assert "error" in refused["calls"][0]["response"]
    assert "on at" not in refused["text"]
    assert reply["text"] == "The desk lamp is on at 30 percent."
    assert appliance.show("NRestarts") == "0"


def test_more_memory_than_it_may_have_ends_it_and_it_comes_back(
    appliance: Appliance, board: EmulatedBoard, outside: Outside
) -> None:
    """By the kernel, and the board stays usable: nothing else is ended."""
    mosquitto = appliance.run("systemctl show mosquitto --value -p MainPID")
    appliance.run("systemctl set-property --runtime hearth.service MemoryMax=30M")
    appliance.wait_until("test $(systemctl show hearth.service --value -p NRestarts) -ge 1")
    appliance.run("systemctl set-property --runtime hearth.service MemoryMax=512M")
    appliance.wait_until(CONNECTED)
    appliance.wait_until(BOARD_THERE)
    reply = outside.says("turn on the desk lamp to 50 percent")
    shows(board, 500)

    assert "memory" in appliance.run("journalctl -k -b --no-pager | grep -i -m1 'memory cgroup out of memory'").lower()
    assert reply["text"] == "The desk lamp is on at 50 percent."
    assert appliance.run("systemctl show mosquitto --value -p MainPID") == mosquitto


def test_after_a_power_cut_it_is_back_with_its_conversations_and_its_lamp(
    appliance: Appliance, board: EmulatedBoard, outside: Outside
) -> None:
    """In the middle of it all; the board on its USB has no power meanwhile either."""
    appliance.run("hearth ask --session kept 'turn on the desk lamp to 70 percent'")
    shows(board, 700)
    time.sleep(LEVELS_KEPT_S)
    appliance.cut()
    board.do("power")
    took = appliance.power_on()
    appliance.plug()
    active = appliance.wait_until("systemctl is-active hearth.service")
    appliance.wait_until(CONNECTED)
    appliance.wait_until(BOARD_THERE)
    shows(board, 700)
    print(f"booted in {took:.0f} s, the service {active:.0f} s later")
    print(appliance.run("systemd-analyze; systemd-analyze blame | head -5"))

    assert "kept" in appliance.run("hearth sessions list")
    assert "70 percent" in outside.says("is the desk lamp on?")["text"]
    assert appliance.show("NRestarts") == "0"


def test_f8_it_boots_and_works_without_a_broker(appliance: Appliance, board: EmulatedBoard, outside: Outside) -> None:
    """F8: ready, a command works, and the broker is found when it comes."""
    appliance.run("systemctl disable --quiet mosquitto; sync")
    appliance.cut()
    appliance.power_on()
    appliance.plug()
    appliance.wait_until("systemctl is-active hearth.service")
    appliance.wait_until(BOARD_THERE)
    said = appliance.run("hearth ask 'turn on the desk lamp to 10 percent'")
    shows(board, 100)
    appliance.run("systemctl start mosquitto")
    appliance.wait_until(CONNECTED)
    reply = outside.says("turn off the desk lamp")
    shows(board, 0)

    assert "10 percent" in said
    assert reply["text"] == "The desk lamp is off."
    assert appliance.show("NRestarts") == "0"
