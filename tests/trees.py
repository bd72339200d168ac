"""Debian trees and the wheels of the package, for the suites that run Hearth on another system than this one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
"""That of each release."""


def debian(folder: Path, release: str, packages: Sequence[str], *options: str) -> None:
    """Makes a tree of a release, which is then whole or not there.

    Args:
        folder: Which must not be there.
        release: Its name.
        packages: What is in it beside what a variant has.
        options: Of mmdebstrap: a variant, an architecture.

    Raises:
        RuntimeError: It could not be made; the text is what mmdebstrap printed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    run("mmdebstrap", "--quiet", *options, f"--include={','.join(packages)}", release, half)
    half.rename(folder)


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
