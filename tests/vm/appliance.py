"""The appliance as a virtual machine: Debian with systemd on a disk, the package beside it, a USB port, a network.

The disk is made once into build/vm; what a machine writes goes into a layer of its own, which outlives its power. From
outside it is reached as a board is: by its broker's port, and by what hangs on its USB. Scripts are run in it by
guest/shell.py. Everything is emulated, and slow.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.trees import debian, run
from tests.vm.image import BUILD, RELEASE
from tests.vm.machine import Monitor, connect

PACKAGES = (
    *("systemd", "systemd-sysv", "udev", "kmod", "dbus", "procps"),
    *("python3", "python3-venv", "python3-systemd", "mosquitto", "mosquitto-clients", "openssl"),
)
BEFORE_ROOT = ("virtio_pci", "virtio_blk", "ext4")
"""The modules that the root's disk needs; udev loads the others."""

HERE = Path(__file__).resolve().parent
FOLDER = BUILD / "appliance"
DISK_SIZE = "3G"
MEMORY_MB = 512
"""That of the smallest board, a Pi Zero 2 W."""

BROKER_PORT = 8883
SHELL = "usr/local/lib/hearth-test/shell.py"

WITHIN_S = 3600.0
"""How long anything may take, in seconds. A boot takes 47 s of a processor, and often not alone on one."""

INIT = """#!/bin/busybox sh
export PATH=/bin
busybox mkdir -p /proc /sys /dev /root
busybox mount -t devtmpfs devtmpfs /dev
for module in /modules/*; do busybox insmod "$module"; done
until [ -b /dev/vda ]; do busybox sleep 0.1; done
busybox mount -t ext4 /dev/vda /root
exec busybox switch_root /root /sbin/init
"""

UNIT = f"""[Unit]
Description=Scripts of the test

[Service]
ExecStart=/usr/bin/python3 -u /{SHELL}
StandardOutput=journal+console

[Install]
WantedBy=multi-user.target
"""

NETWORK = """[Match]
Type=ether

[Network]
DHCP=yes
"""

BROUGHT = """[Unit]
Before=multi-user.target

[Mount]
What=/dev/vdb
Where=/brought
Options=ro

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Disk:
    """What is booted.

    Attributes:
        kernel, initrd: Debian's kernel, and what finds the root.
        root: The disk, which is never written to.
    """

    kernel: Path
    initrd: Path
    root: Path


def disk() -> Disk:
    """Debian for 64-bit ARM with what the package depends on, made once; needs root."""
    made = Disk(FOLDER / "kernel", FOLDER / "initrd", FOLDER / "root.ext4")
    if made.root.exists():
        return made
    tree, kernel = FOLDER / "tree", FOLDER / "kernel-tree"
    for each in (tree, kernel):
        shutil.rmtree(each, ignore_errors=True)
    arm = "--architectures=arm64"
    debian(kernel, RELEASE, ("busybox-static", "linux-image-arm64"), arm, "--variant=extract")
    debian(tree, RELEASE, PACKAGES, arm, "--variant=minbase", "--mode=root", as_arm=True)
    shutil.copy(next(kernel.glob("boot/vmlinuz-*")), made.kernel)
    _pack_initrd(kernel, made.initrd)
    shutil.copytree(kernel / "lib" / "modules", tree / "lib" / "modules", dirs_exist_ok=True)
    _set_up(tree)
    part = made.root.with_suffix(".part")
    part.unlink(missing_ok=True)
    run("mke2fs", "-q", "-t", "ext4", "-d", tree, part, DISK_SIZE)
    part.rename(made.root)
    for each in (tree, kernel):
        shutil.rmtree(each)
    return made


def _pack_initrd(tree: Path, target: Path) -> None:
    version = next((tree / "lib" / "modules").iterdir()).name
    run("depmod", "-b", tree, version)
    root = FOLDER / "initrd-tree"
    shutil.rmtree(root, ignore_errors=True)
    (root / "bin").mkdir(parents=True)
    (root / "modules").mkdir()
    shutil.copy(tree / "bin" / "busybox", root / "bin")
    found: list[Path] = []
    for name in BEFORE_ROOT:
        lines = run("modprobe", "-d", tree, "-S", version, "--show-depends", name).splitlines()
        found += [Path(line.split()[1]) for line in lines if line.startswith("insmod")]
    for number, module in enumerate(dict.fromkeys(found)):
        shutil.copy(module, root / "modules" / f"{number:02}-{module.name}")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    run("sh", "-c", f"find . | cpio -o -H newc --quiet | gzip -1 > {target}", folder=root)
    shutil.rmtree(root)


def _set_up(tree: Path) -> None:
    units = tree / "etc" / "systemd" / "system"
    files = {
        "etc/hostname": "hearth\n",
        "etc/hosts": "127.0.0.1 localhost hearth\n::1 localhost\n",
        "etc/machine-id": f"{uuid.uuid4().hex}\n",  # else each boot would be the first
        "etc/systemd/network/80-ether.network": NETWORK,
        "etc/systemd/system/hearth-test.service": UNIT,
        "etc/systemd/system/brought.mount": BROUGHT,
        SHELL: (HERE / "guest" / "shell.py").read_text(),
    }
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    for unit in ("hearth-test.service", "brought.mount"):
        (wants / unit).symlink_to(f"../{unit}")
    (wants / "systemd-networkd.service").symlink_to("/lib/systemd/system/systemd-networkd.service")
    for unit in ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer"):
        (units / unit).unlink(missing_ok=True)
        (units / unit).symlink_to("/dev/null")  # what it would do takes minutes here


class Appliance:
    """One board, with its power and its plugs.

    Attributes:
        port: Where its broker is reached from outside, once it listens on the network.
    """

    def __init__(self, made: Disk, folder: Path, brought: Path, board: Path) -> None:
        """A board without power, and nothing in its USB port.

        Args:
            made: What it boots.
            folder: For its layer of the disk and its sockets; a path of a socket is at most 107 bytes long.
            brought: A folder that it sees as /brought.
            board: The serial port of the light controller.
        """
        self._made = made
        self._folder = folder
        self._board = board
        self._number = 0
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", made.root, folder / "layer")
        run("mke2fs", "-q", "-t", "ext4", "-d", brought, folder / "brought", "400M")

    def power_on(self) -> float:
        """Boots it; returns after how many seconds scripts are run in it."""
        started = time.monotonic()
        folder = self._folder
        command = [
            *("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a76", "-smp", "2", "-m", str(MEMORY_MB)),
            *("-accel", "tcg,thread=multi", "-nodefaults", "-display", "none", "-monitor", "none", "-no-reboot"),
            *("-kernel", str(self._made.kernel), "-initrd", str(self._made.initrd)),
            *("-append", "quiet console=ttyAMA0 panic=-1", "-serial", f"file:{folder}/console"),
            *("-drive", f"if=none,id=root,format=qcow2,file={folder}/layer", "-device", "virtio-blk-pci,drive=root"),
            *("-drive", f"if=none,id=brought,format=raw,readonly=on,file={folder}/brought"),
            *("-device", "virtio-blk-pci,drive=brought", "-device", "virtio-rng-pci"),
            # Nothing gets out, and only the broker is reached from outside.
            *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:{BROKER_PORT}"),
            *("-device", "virtio-net-pci,netdev=net,romfile="),
            *("-device", "virtio-serial-pci", "-chardev", f"socket,id=talk,path={folder}/talk,server=on,wait=off"),
            *("-device", "virtserialport,chardev=talk,name=hearth.test"),
            *("-device", "qemu-xhci,id=usb", "-chardev", f"serial,id=board,path={self._board.resolve()}"),
            *("-qmp", f"unix:{folder}/qmp,server=on,wait=off"),
        ]
        with (folder / "qemu.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._monitor = Monitor(connect(self._process, folder / "qmp", folder))
            talk = connect(self._process, folder / "talk", folder)
            talk.settimeout(WITHIN_S)
            self._talk = talk.makefile("rwb")
            self.run("true")
        except BaseException:
            self.cut()
            raise
        return time.monotonic() - started

    def cut(self) -> None:
        """Takes its power away, in the middle of whatever it does. Twice is fine."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
            for name in ("qmp", "talk"):
                (self._folder / name).unlink(missing_ok=True)

    def plug(self) -> None:
        """Plugs the light controller in, as an FT232R."""
        self._monitor.do("device_add", driver="usb-serial", id="plugged", chardev="board", bus="usb.0")

    def unplug(self) -> None:
        """Pulls its cable."""
        self._monitor.do("device_del", id="plugged")

    def run(self, script: str, check: bool = True) -> str:
        """Runs a line of shell in it as root; returns what it printed."""
        self._number += 1
        self._talk.write(json.dumps({"number": self._number, "script": script}).encode() + b"\n")
        self._talk.flush()
        answer = {"number": 0}
        while answer["number"] != self._number:  # one that was not waited for may still come
            line = self._talk.readline()
            assert line, f"the machine ended: see {self._folder}/console"
            answer = json.loads(line)
        printed: str = answer["printed"]
        if check and answer["status"]:
            raise AssertionError(f"{script}: status {answer['status']}\n{printed}")
        return printed.strip()

    def wait_until(self, script: str, seconds: float = WITHIN_S) -> float:
        """Waits until a line of shell succeeds.

        Returns:
            How long that took, in seconds.
        """
        started = time.monotonic()
        while "yes" not in self.run(f"if {{ {script}; }} >/dev/null 2>&1; then echo yes; fi", check=False):
            if time.monotonic() - started > seconds:
                state = self.run("systemctl status hearth --no-pager -n 40; systemctl --failed --no-pager", check=False)
                raise AssertionError(f"not within {seconds:g} s: {script}\n{state}")
            time.sleep(0.5)  # what happens in it is no event out here
        return time.monotonic() - started

    def show(self, name: str) -> str:
        """A property of the service's unit."""
        return self.run(f"systemctl show hearth.service --value --property={name}")

    def log(self) -> str:
        """All that was logged of the service in this boot."""
        return self.run("journalctl --no-pager -q -o cat -b -u hearth.service", check=False)


def can_run() -> str:
    """Why the appliance cannot be made here; "" where it can."""
    wanted = (
        "qemu-system-aarch64 qemu-img qemu-aarch64-static mmdebstrap arch-test cpio unshare depmod modprobe mke2fs"
    ).split()
    missing = [name for name in wanted if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "" if os.geteuid() == 0 else "the tree is made by root"
