"""What `make test-vm` asks for and leaves out, by the kind of machine that it runs on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

from tests.vm.image import ROOT, cannot_build, no_gpio_sim


def missing(tmp_path: Path, architecture: str) -> list[str]:
    """The packages that packages.sh names where none is installed and the user is not root."""
    for name, line in {"dpkg": f"echo {architecture}", "dpkg-query": "exit 1", "id": "echo 1000"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    asked = subprocess.run(
        ["sh", str(ROOT / "tests" / "vm" / "packages.sh")],
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert asked.returncode == 1
    return asked.stderr.partition(":")[2].partition("(")[0].split()


def test_a_machine_of_another_kind_says_that_gpio_sim_is_not_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where it is; outputs are tested on both."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert no_gpio_sim().startswith("inputs on a real kernel are not tested on aarch64: gpio-sim is built against")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert no_gpio_sim() == ""


def test_only_packages_that_the_machine_has_are_asked_for(tmp_path: Path) -> None:
    """An arm64 machine has no headers of an x86-64 kernel."""
    assert missing(tmp_path, "arm64") == ["qemu-system-arm", "mmdebstrap", "cpio"]
    assert missing(tmp_path, "amd64")[3:] == ["qemu-system-x86", "gcc", "make", "linux-headers-amd64"]


def test_a_program_that_is_not_installed_is_named() -> None:
    """With the others."""
    assert "no-such-qemu" in cannot_build("no-such-qemu")
