"""Runs in a virtual machine with gpio-sim: what Hearth hears of inputs through a real kernel, debounced by it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gpio.houses import device, running
from tests.pi.far_end import RealBoard

CONFIG = Path("/sys/kernel/config/gpio-sim")
NAMES = {0: "LAMP", 1: "BUTTON", 2: "DOOR"}
LAMP = device("hall light", {"line": "LAMP"})
BUTTON = {"name": "hall button", "toggle": "hall light", "gpio": {"line": "BUTTON", "debounce_ms": 50, "long_ms": 1500}}


class Simulated(RealBoard):
    """A board with a chip of gpio-sim; `files` is where its lines are."""

    files: Path

    def pull(self, line: int, way: str) -> None:
        """Pulls an input "up" or "down", as a button does."""
        (self.files / f"sim_gpio{line}" / "pull").write_text(f"pull-{way}")

    def value(self, line: int) -> int:
        """What a line is at."""
        return int((self.files / f"sim_gpio{line}" / "value").read_text())

    async def press(self, line: int, seconds: float) -> None:
        """Connects an input to ground for a while."""
        self.pull(line, "down")
        await asyncio.sleep(seconds)
        self.pull(line, "up")


def simulate(name: str) -> Path:
    """Makes a chip with the named lines; returns the folder of its lines."""
    bank = CONFIG / name / "bank"
    bank.mkdir(parents=True)
    (bank / "num_lines").write_text("8")
    (bank / "label").write_text(name)
    for number, line in NAMES.items():
        (bank / f"line{number}").mkdir()
        (bank / f"line{number}" / "name").write_text(line)
    (CONFIG / name / "live").write_text("1")
    return Path("/sys/devices/platform", (CONFIG / name / "dev_name").read_text().strip(),
                (bank / "chip_name").read_text().strip())  # fmt: skip


def remove(name: str) -> None:
    (CONFIG / name / "live").write_text("0")
    for number in NAMES:
        (CONFIG / name / "bank" / f"line{number}").rmdir()
    (CONFIG / name / "bank").rmdir()
    (CONFIG / name).rmdir()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Simulated]:
    (tmp_path / "board").mkdir()
    board = Simulated(tmp_path / "board")
    object.__setattr__(board, "files", simulate("house"))
    board.pull(1, "up")
    yield board
    remove("house")


async def test_a_short_press_toggles_and_the_pin_follows(board: Simulated) -> None:
    """Through the kernel both ways."""
    async with running(board, LAMP, button=[BUTTON]) as house:
        await board.press(1, 0.3)
        await house.heard("hall_light", state="on")
        assert board.value(0) == 1
        assert house.presses("hall_button")[-1] == "short"


async def test_a_long_press_is_told_while_it_is_held(board: Simulated) -> None:
    """And is no short one."""
    async with running(board, LAMP, button=[BUTTON]) as house:
        board.pull(1, "down")
        await house.heard("hall_button", state="long")
        board.pull(1, "up")
        await house.heard("hall_button", state="released")
        assert house.presses("hall_button") == ["pressed", "long", "released"]


async def test_the_kernel_debounces(board: Simulated) -> None:
    """What bounces is one press; a spike is none."""
    slow = {**BUTTON, "gpio": {"line": "BUTTON", "debounce_ms": 500, "long_ms": 9000}}
    async with running(board, LAMP, button=[slow]) as house:
        for way in ("down", "up"):  # a spike
            board.pull(1, way)
        await asyncio.sleep(1)
        assert house.presses("hall_button") == []
        for way in ("down", "up", "down", "up", "down"):
            board.pull(1, way)
        await house.heard("hall_button", state="pressed")
        board.pull(1, "up")
        await house.heard("hall_button", state="short")
        assert house.presses("hall_button") == ["pressed", "released", "short"]


async def test_a_contact_tells_how_it_is_and_what_becomes_of_it(board: Simulated) -> None:
    """Its line is pulled up by the chip's own resistor."""
    async with running(board, device("front door", {"line": "DOOR", "pull": "up"}, "door")) as house:
        assert house.state("front_door")["state"] == "open"
        board.pull(2, "down")
        await house.heard("front_door", state="closed")


async def test_two_chips_with_a_line_of_one_name_are_told_apart_by_their_label(board: Simulated) -> None:
    """And without one it is said that there are several."""
    other = simulate("garden")
    try:
        path = device("path light", {"line": "LAMP", "chip": "garden"})
        async with running(board, LAMP, path) as house:
            (trouble,) = await house.probe()
            await house.call("turn_on_light", room="path light")
            value = int((other / "sim_gpio0" / "value").read_text())
    finally:
        remove("garden")

    assert "there are several lines LAMP, on garden, house: say which chip, by its label" in trouble
    assert (value, board.value(0)) == (1, 0)


async def test_a_chip_that_goes_away_costs_its_own_devices(board: Simulated) -> None:
    """As a USB expander does that is unplugged: the lamp is said to be gone, and the rest goes on."""
    other = simulate("garden")
    gone = False
    try:
        path = device("path light", {"line": "LAMP", "chip": "garden"})
        near = device("hall light", {"line": "LAMP", "chip": "house"})
        async with running(board, near, path) as house:
            assert other.exists()
            remove("garden")
            gone = True
            assert "error" in await house.call("turn_on_light", room="path light")
            assert (await house.call("turn_on_light", room="hall light"))["state"] == "on"
    finally:
        if not gone:
            remove("garden")
