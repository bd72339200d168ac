"""A virtual machine in which tests run, and which is looked at from outside while they do.

A guest talks on its serial port: a line "@look REGISTER" is answered by the value of that register, read by QEMU and
not by the guest; "@done STATUS" is its end. All else is what pytest prints there.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.vm.image import Image

BOOTED_WITHIN_S = 600.0
"""All emulated, and perhaps beside something else."""


@dataclass(frozen=True)
class Kind:
    """One kind of machine.

    Attributes:
        program: QEMU's program and the machine's own arguments.
        console: The kernel's console, apart from the port on which the tests talk; None where they share one.
        talk: The guest's name of the port on which the tests talk.
        tree: The device tree; None where QEMU makes it.
    """

    program: tuple[str, ...]
    talk: str
    console: str | None = None
    tree: str | None = None


RASPBERRY_PI_3 = Kind(
    ("qemu-system-aarch64", "-M", "raspi3b"),
    talk="ttyS1",  # the other port has the Bluetooth chip
    console="ttyAMA0,115200",
    tree="broadcom/bcm2837-rpi-3-b.dtb",
)
VIRT = Kind(("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-m", "1024"), talk="ttyAMA0")
# Never KVM: a /dev/kvm that is there may be one that boots nothing.
PC = Kind(("qemu-system-x86_64", "-M", "q35,accel=tcg", "-cpu", "qemu64", "-m", "1024", "-nodefaults"), talk="ttyS0")


@dataclass
class Report:
    """What came of the tests in a guest.

    Attributes:
        status: Pytest's exit status; None where it did not come that far.
        printed: All that came on the serial port.
        looks: How often the machine was looked at from outside.
    """

    status: int | None = None
    printed: str = ""
    looks: int = 0


def run(kind: Kind, image: Image, folder: Path, tests: str, **words: str) -> Report:
    """Boots a machine, lets it run its tests, and ends it.

    Args:
        kind: Which machine.
        image: What it boots.
        folder: For its sockets and its console.
        tests: A file of tests/vm/guest.
        words: What the tests are told, in upper case as HEARTH_...
    """
    shared = kind.console is None
    told = {"TALK": f"/dev/{kind.talk}", "TESTS": tests, **words}
    line = ["quiet", f"console={kind.talk if shared else kind.console}", "rdinit=/init", "panic=-1"]
    line += [f"hearth.{name}={value}" for name, value in told.items()]
    ports = ["-serial", "chardev:talk"] if shared else ["-serial", f"file:{folder}/console", "-serial", "chardev:talk"]
    command = [
        *kind.program,
        *("-display", "none", "-monitor", "none", "-no-reboot", "-nic", "none"),
        *("-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", " ".join(line)),
        *(("-dtb", str(image.trees / kind.tree)) if kind.tree else ()),
        *("-chardev", f"socket,id=talk,path={folder}/talk,server=on,wait=off", *ports),
        *("-qmp", f"unix:{folder}/qmp,server=on,wait=off"),
    ]
    with (folder / "qemu.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        return _follow(process, folder)
    finally:
        process.kill()
        process.wait()


def _follow(process: subprocess.Popen[bytes], folder: Path) -> Report:
    report = Report()
    monitor = Monitor(connect(process, folder / "qmp", folder))
    with connect(process, folder / "talk", folder) as talk:
        talk.settimeout(BOOTED_WITHIN_S)
        heard = b""
        while report.status is None and (data := talk.recv(4096)):
            heard += data
            *lines, heard = heard.split(b"\n")
            for each in lines:
                text = each.decode(errors="replace").strip()
                report.printed += f"{text}\n"
                if text.startswith("@look "):
                    report.looks += 1
                    talk.sendall(f"{monitor.read(int(text.split()[1], 0))}\n".encode())
                elif text.startswith("@done "):
                    report.status = int(text.split()[1])
    return report


def connect(process: subprocess.Popen[bytes], path: Path, folder: Path) -> socket.socket:
    """A connection to a socket of QEMU's.

    Raises:
        RuntimeError: It ended, or does not listen.
    """
    end = time.monotonic() + 30
    while True:
        try:
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(path))
            return client
        except OSError:
            client.close()
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"QEMU did not start: {(folder / 'qemu.log').read_text()}") from None
            time.sleep(0.05)  # another process: there is nothing to await


class Monitor:
    """QEMU's own view of the machine."""

    def __init__(self, client: socket.socket) -> None:
        self._stream = client.makefile("rw", encoding="utf-8")
        self._stream.readline()  # its greeting
        self.do("qmp_capabilities")

    def read(self, register: int) -> int:
        """A word of the machine's memory or registers."""
        printed = self.do("human-monitor-command", **{"command-line": f"xp /1wx {register:#x}"})
        return int(printed.partition(":")[2].strip(), 16)

    def do(self, command: str, **arguments: str) -> str:
        """Gives QEMU a command; returns what it printed, if it did.

        Raises:
            RuntimeError: It refused.
        """
        json.dump({"execute": command, "arguments": arguments}, self._stream)
        self._stream.write("\n")
        self._stream.flush()
        while True:
            answer = json.loads(self._stream.readline())
            if "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']}")
            if "return" in answer:
                return answer["return"] if isinstance(answer["return"], str) else ""


def passed(report: Report) -> Sequence[str]:
    """The tests that passed in the guest, as pytest's summary names them."""
    return [line.split("::")[1] for line in report.printed.splitlines() if line.startswith("PASSED ")]
