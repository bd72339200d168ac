"""The emulated board as fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hil.board import EmulatedBoard, Images, images, missing_packages, need


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
