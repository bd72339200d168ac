"""A Debian tree that boots with systemd as PID 1 in a container, for tests that are root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
import zlib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TREES = ROOT / "build" / "boot"

PACKAGES = (
    "systemd,systemd-sysv,dbus,kmod,procps,udev,adduser,"
    "python3,python3-venv,python3-systemd,mosquitto,mosquitto-clients,openssl"
)

BOOT_S = 60.0
"""How long a boot, or anything that a test waits for, may take, in seconds; on an idle machine it is one."""

INSIDE = ("nsenter", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")
PATH = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

CGROUPS = (
    Path("/sys/fs/cgroup/unified"),
    Path("/sys/fs/cgroup/systemd"),
    Path("/sys/fs/cgroup/memory"),
    Path("/sys/fs/cgroup"),
)
"""Where a machine gets groups of its own: in the first three beside version 1, in the last with version 2 alone."""


def tree(release: str) -> Path:
    """A Debian tree with what the package depends on, made once.

    Args:
        release: "bookworm" or "trixie".
    """
    folder = TREES / f"{release}-{zlib.crc32(PACKAGES.encode()):08x}"
    if not folder.is_dir():
        TREES.mkdir(parents=True, exist_ok=True)
        half = folder.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        _run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", release, str(half))
        # It starts only when a test says so; and a console that nobody has would be opened again and again.
        for unit in ("multi-user.target.wants/mosquitto.service", "getty.target.wants/getty@tty1.service"):
            (half / "etc/systemd/system" / unit).unlink(missing_ok=True)
        (half / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")  # a minimal tree knows no name at all
        half.rename(folder)
    return folder


class Machine:
    """A tree that is booted. What is written in it outlives a reboot, and is gone with the machine; it has no network.

    Args:
        tree: Its root; not written to.
        binds: Folders of ours that it sees read-only, and where.
        devices: Devices of ours that it has, and where.

    Attributes:
        said: All lines of shell that were run in it.
    """

    def __init__(self, tree: Path, binds: Mapping[Path, str], devices: Mapping[Path, str]) -> None:
        self.said: list[str] = []
        self._name = f"hearth-test-{os.getpid()}"
        self._groups = [root / self._name for root in CGROUPS if (root / "cgroup.procs").exists()]
        for group in self._groups:
            group.mkdir(exist_ok=True)
        self._folder = TREES / self._name
        self._root = self._folder / "root"
        for part in ("root", "upper", "work"):
            (self._folder / part).mkdir(parents=True)
        layers = f"lowerdir={tree},upperdir={self._folder / 'upper'},workdir={self._folder / 'work'}"
        _run("mount", "-t", "overlay", "overlay", "-o", layers, str(self._root))
        self._binds = [f"--bind-ro={ours}:{theirs}" for ours, theirs in binds.items()]
        self._binds += [f"--bind={ours}:{theirs}" for ours, theirs in devices.items()]
        self._process: subprocess.Popen[bytes] | None = None
        self._log = (TREES / "console.log").open("wb")
        self.boot()

    def boot(self, forgetful: bool = False) -> None:
        """Boots it; it must be off.

        Args:
            forgetful: Its root is read-only below an overlay in memory, and /var/log is in memory too.
        """
        command = ["systemd-nspawn", "-q", "-D", str(self._root), "-M", self._name, "--boot", "--register=no"]
        command += ["--keep-unit", "--private-network", "--console=pipe", *self._binds]
        command += ["--volatile=overlay", "--tmpfs=/var/log"] if forgetful else []
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=self._enter_group,  # a group of its own, so that two machines never share one
        )
        try:
            self._leader = self._wait_for_leader()
            self.wait_until("systemctl is-system-running | grep -q -e running -e degraded")
        except BaseException:
            self.close()
            raise

    def _enter_group(self) -> None:
        for group in self._groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    def _enter_memory(self) -> None:
        (self._memory("memory.limit_in_bytes", "memory.max").parent / "cgroup.procs").write_text(str(os.getpid()))

    def _wait_for_leader(self) -> int:
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        ends = time.monotonic() + BOOT_S
        while time.monotonic() < ends:
            assert self._process.poll() is None, f"the machine ended: see {self._log.name}"
            for pid in children.read_text().split():
                with contextlib.suppress(OSError):
                    if Path(f"/proc/{pid}/comm").read_text().strip() == "systemd":
                        return int(pid)
            time.sleep(0.05)  # there is no event for a process that becomes another
        raise AssertionError("systemd does not start in it")

    def run(self, script: str, check: bool = True) -> str:
        """Runs a line of shell in it as root; returns what it printed."""
        self.said.append(script)
        done = subprocess.run(
            [*INSIDE, f"--target={self._leader}", "--", "env", "-i", PATH, "HOME=/root", "sh", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            preexec_fn=self._enter_memory,  # what it reads and writes is the machine's to remember
        )
        if check and done.returncode:
            raise AssertionError(f"{script}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def succeeds(self, script: str) -> bool:
        """Whether a line of shell ends with status 0."""
        return self.run(f"if {script}; then echo yes; fi", check=False).endswith("yes")

    def wait_until(self, script: str, seconds: float = BOOT_S) -> float:
        """Waits until a line of shell succeeds.

        Returns:
            How long that took, in seconds.
        """
        started = time.monotonic()
        while not self.succeeds(f"{{ {script}; }} >/dev/null 2>&1"):
            if time.monotonic() - started > seconds:
                state = self.run("systemctl status hearth --no-pager -n 30; systemctl --failed --no-pager", check=False)
                raise AssertionError(f"not within {seconds:g} s: {script}\n{state}")
            time.sleep(0.05)  # what happens in it is no event out here
        return time.monotonic() - started

    def show(self, name: str) -> str:
        """A property of the service's unit."""
        return self.run(f"systemctl show hearth.service --value --property={name}")

    def log(self) -> str:
        """All that was logged of the service in this boot."""
        return self.run("journalctl --no-pager -q -o cat -u hearth.service", check=False)

    def give_memory(self, size: int) -> None:
        """Gives all of it, its page cache too, so many bytes, as a board has them that is no larger."""
        self._memory("memory.limit_in_bytes", "memory.max").write_text(str(size))

    def used_memory(self) -> int:
        """How much of that is in use, in bytes."""
        return int(self._memory("memory.usage_in_bytes", "memory.current").read_text())

    def _memory(self, *names: str) -> Path:
        """A file of the control group for memory, by its name in version 1 or 2."""
        found = [group / name for group in self._groups for name in names if (group / name).exists()]
        assert found, "there is no control group for memory here"
        return found[0]

    def power_off(self) -> None:
        """As one does it who is patient."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.cut_power()

    def cut_power(self) -> None:
        """As a thunderstorm does it."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._leader, 9)  # the first process takes all others of its machine along
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        if self._process.poll() is None:
            os.killpg(self._process.pid, 9)
            self._process.wait()

    def close(self) -> None:
        """Powers it off, and forgets it. Twice is fine."""
        if not self._folder.exists():
            return
        self.power_off()
        self._log.close()
        _run("umount", str(self._root))
        shutil.rmtree(self._folder)
        for group in self._groups:
            if group.is_dir():
                for each in sorted(group.rglob("*"), reverse=True):
                    if each.is_dir():
                        with contextlib.suppress(OSError):
                            each.rmdir()
                with contextlib.suppress(OSError):
                    group.rmdir()


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr[-2000:]}"
