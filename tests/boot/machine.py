"""A Debian tree that boots with systemd as PID 1 in a container, for tests that are root."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from tests.trees import ROOT, debian

TREES = ROOT / "build" / "boot"

PACKAGES = (
    "systemd systemd-sysv dbus kmod procps python3 python3-venv python3-systemd mosquitto mosquitto-clients openssl"
).split()

BOOT_S = 60.0
"""How long a boot, or anything that a test waits for, may take, in seconds; on an idle machine it is one."""

INSIDE = ("nsenter", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")
PATH = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

CGROUPS = (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup/systemd"), Path("/sys/fs/cgroup"))


def tree(release: str) -> Path:
    """A Debian tree with what the package depends on, made once.

    Args:
        release: "bookworm" or "trixie".
    """
    folder = TREES / release
    if not folder.is_dir():
        half = folder.with_name(f"{release}.minimal")
        shutil.rmtree(half, ignore_errors=True)
        debian(half, release, PACKAGES, "--variant=minbase")
        # It starts only when a test says so; and a console that nobody has would be opened again and again.
        for unit in ("multi-user.target.wants/mosquitto.service", "getty.target.wants/getty@tty1.service"):
            (half / "etc/systemd/system" / unit).unlink(missing_ok=True)
        (half / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")  # a minimal tree knows no name at all
        half.rename(folder)
    return folder


class Machine:
    """A booted tree. What is written in it is gone with it; its network is its own.

    Args:
        tree: Its root; not written to.
        binds: Folders of ours that it sees read-only, and where.
    """

    def __init__(self, tree: Path, binds: dict[Path, str]) -> None:
        self._name = f"hearth-test-{os.getpid()}"
        self._groups = [root / self._name for root in CGROUPS if (root / "cgroup.procs").exists()]
        for group in self._groups:
            group.mkdir(exist_ok=True)
        command = ["systemd-nspawn", "-q", "-D", str(tree), "-M", self._name, "--boot", "--register=no", "--keep-unit"]
        command += ["--private-network", "--volatile=overlay", "--console=pipe"]
        command += [f"--bind-ro={ours}:{theirs}" for ours, theirs in binds.items()]
        self._log = (TREES / "console.log").open("wb")
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

    def _wait_for_leader(self) -> int:
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
        done = subprocess.run(
            [*INSIDE, f"--target={self._leader}", "--", "env", "-i", PATH, "HOME=/root", "sh", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
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

    def close(self) -> None:
        """Powers it off. Twice is fine."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, 9)
                self._process.wait()
        self._log.close()
        for group in self._groups:
            if group.is_dir():
                for each in sorted(group.rglob("*"), reverse=True):
                    if each.is_dir():
                        with contextlib.suppress(OSError):
                            each.rmdir()
                with contextlib.suppress(OSError):
                    group.rmdir()
