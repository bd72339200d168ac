"""Debian trees and the wheels of the package, for the suites that run Hearth on another system than this one."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
"""That of each release."""

AS_ARM: Final = r"""
read -r _
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):OCF" >/proc/sys/fs/binfmt_misc/register
exec "$0" "$@"
"""
"""Has the kernel run a 64-bit ARM program by QEMU, in a namespace that has been given its users."""


def debian(folder: Path, release: str, packages: Sequence[str], *options: str, as_arm: bool = False) -> None:
    """Makes a tree of a release, which is then whole or not there.

    Args:
        folder: Which must not be there.
        release: Its name.
        packages: What is in it beside what a variant has.
        options: Of mmdebstrap: a variant, an architecture.
        as_arm: Programs of an arm64 tree are run while it is made, which needs root.

    Raises:
        RuntimeError: It could not be made; the text is what mmdebstrap printed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    command = ["mmdebstrap", "--quiet", *options, f"--include={','.join(packages)}", release, str(half)]
    if as_arm:
        run_as_arm(*command)
    else:
        run(*command)
    half.rename(folder)


def run_as_arm(*command: str) -> None:
    """Runs a program beside which the kernel runs those of a 64-bit ARM too.

    Only for it: in a namespace of its own, so that the machine stays as it is. That needs root, and Linux 6.7.

    Raises:
        RuntimeError: It ended otherwise than with 0; the text is the end of what it printed.
    """
    process = subprocess.Popen(
        ["unshare", "--user", "--mount", "sh", "-e", "-c", AS_ARM, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    own = Path("/proc/self/ns/user").readlink()
    while Path(f"/proc/{process.pid}/ns/user").readlink() == own:
        time.sleep(0.01)  # there is no event for a process that enters a namespace
    for kind in ("uid_map", "gid_map"):
        Path(f"/proc/{process.pid}/{kind}").write_text("0 0 65536\n")
    printed, _ = process.communicate("go\n")
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}:\n{printed[-4000:]}")


def pip(release: str, architecture: str, *arguments: str | Path) -> None:
    """Has this machine's pip install wheels for a release and an architecture, as the package is made of them.

    Raises:
        RuntimeError: It could not; the text is what it printed.
    """
    # $0 and $@ keep what a path may hold out of the shell's hands.
    script = '. deploy/deb/platform.sh; "$0" -m pip install --quiet --disable-pip-version-check $pip_platform "$@"'
    setting = f"release={release} arch={architecture}; "
    run("sh", "-c", setting + script, sys.executable, *arguments, folder=ROOT)


def locked(release: str, architecture: str) -> Path:
    """The list of the wheels that the package carries."""
    return ROOT / "deploy" / "wheels" / f"{release}-{architecture}.txt"


def run(*command: str | Path, folder: Path | None = None) -> str:
    """Runs a program; returns what it printed.

    Raises:
        RuntimeError: It ended otherwise than with 0; the text is the end of what it printed.
    """
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout
