"""One booted machine for all tests of this folder, which are run in their order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.boot.machine import ROOT, TREES, Machine, tree
from tests.hil.board import EmulatedBoard, images, missing_packages, need

RELEASE = os.environ.get("RELEASE", "bookworm")

DIALOUT = 20
"""The number of that group on every Debian."""

HOUSE = Path(__file__).resolve().parent / "house"
"""A package with the house of these tests, which can make the model slow, or stuck."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Installing comes first and purging last: a failed step tells more than a shuffled order."""
    items.sort(key=lambda item: item.location[1] or 0)


@pytest.fixture(scope="session")
def package() -> Path:
    """The package, as `make deb` builds it for this machine."""
    arch = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
    built = subprocess.run(
        ["sh", str(ROOT / "deploy/deb/build.sh"), RELEASE, arch],
        cwd=ROOT,
        env={**os.environ, "PYTHON3": sys.executable},
        check=False,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return ROOT / built.stdout.strip()


@pytest.fixture(scope="session")
def newer(package: Path) -> Path:
    """The same as a later edition."""
    folder = TREES / "newer"
    TREES.mkdir(parents=True, exist_ok=True)
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    subprocess.run(["dpkg-deb", "-R", str(package), str(folder)], check=True)
    control = folder / "DEBIAN" / "control"
    control.write_text(control.read_text().replace("~", "+1~", 1))
    target = package.with_name(f"newer-{package.name}")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(folder), str(target)], check=True)
    return target


@pytest.fixture(scope="session")
def checkout(package: Path) -> Path:
    """A checkout, with the wheels that install.sh fetches where there is a network."""
    folder = TREES / "checkout"
    wheels = folder / "wheels"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    wheels.mkdir(parents=True)
    pack = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=pack, check=True)
    contents = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True).stdout
    inside = ["tar", "-x", "-C", str(wheels), "--strip-components=5", "./usr/share/hearth/wheels"]
    subprocess.run(inside, input=contents, check=True)
    (wheels / "requirements.txt").unlink()
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), "setuptools>=68", "wheel"]
    subprocess.run(fetch, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatedBoard]:
    """The light controller's real image on the emulated chip; it is plugged into the machine as /dev/ttyLIGHT."""
    need(missing_packages())
    with EmulatedBoard(images(), tmp_path_factory.mktemp("board"), reset_on_open=True) as running:
        yield running


@pytest.fixture(scope="session")
def machine(package: Path, newer: Path, checkout: Path, board: EmulatedBoard) -> Iterator[Machine]:
    """A booted machine that has the packages and a checkout at hand, and nothing of ours installed."""
    port = board.tty.resolve()
    shutil.chown(port, group=DIALOUT)  # as udev does it on a board
    port.chmod(0o660)
    shelf = TREES / "packages"
    shutil.rmtree(shelf, ignore_errors=True)
    shelf.mkdir(parents=True)
    for each in (package, newer):
        os.link(each, shelf / each.name)
    binds = {shelf: "/packages", HOUSE: "/test-house", checkout: "/checkout"}
    machine = Machine(tree(RELEASE), binds, {port: "/dev/ttyLIGHT"})
    yield machine
    machine.close()
