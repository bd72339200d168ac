"""The emulated board as fixtures; with HEARTH_PORT, as `make hil` sets it, a real one.

On a real board only what can be seen there is run; the rest is named at the end, each with what it would take.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hil.board import EmulatedBoard, Images, RealBoard, images, missing_packages, need
from tests.hil.rounds import DEVICES
from tests.serial_bench import bench

PORT = os.environ.get("HEARTH_PORT", "")
NOT_RUN = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "emulated(what): on a real board it would take what is said")
    config.stash[NOT_RUN] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not PORT:
        return
    marked = {item: item.get_closest_marker("emulated") for item in items if Path(__file__).parent in item.path.parents}
    left_out = [item for item in items if marked.get(item)]
    config.stash[NOT_RUN] = [f"{item.name}: it takes {mark.args[0]}" for item, mark in marked.items() if mark]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[NOT_RUN]:
        terminalreporter.section("not run on a real board")
        for line in config.stash[NOT_RUN]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def made() -> Images:
    """The firmware and the emulator, built in this run."""
    need(missing_packages())
    return images()


@pytest.fixture
def board(made: Images, tmp_path: Path) -> Iterator[EmulatedBoard]:
    """A board whose time goes with the clock; opening its port resets it, as a Nano's."""
    with EmulatedBoard(made, tmp_path, reset_on_open=True) as running:
        yield running


@pytest.fixture
def held_board(made: Images, tmp_path: Path) -> Iterator[EmulatedBoard]:
    """A board whose time stands still but in run(): what it does is the same in every run."""
    with EmulatedBoard(made, tmp_path, held=True) as running:
        yield running


@pytest.fixture
def wired(request: pytest.FixtureRequest) -> Iterator[EmulatedBoard | RealBoard]:
    """The real board where there is one, which is left dark; else the emulated one."""
    if not PORT:
        yield request.getfixturevalue("board")
        return
    yield RealBoard(Path(PORT))
    asyncio.run(_darken(Path(PORT)))


async def _darken(tty: Path) -> None:
    async with bench(tty, *DEVICES) as made:
        for device in DEVICES:
            await made.move(device, 0)
