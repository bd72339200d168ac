"""A LED that shows what Hearth is doing."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.gpio.fakeboard import FakeBoard
from tests.gpio.houses import running

LED = {"gpio": {"led": "GPIO22"}}


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    return FakeBoard.like_a_pi(tmp_path / "board")


async def test_it_is_steady_while_hearth_listens_slow_while_it_thinks_and_quick_when_it_failed(
    board: FakeBoard,
) -> None:
    """No device is needed for it; after the failure, and with nothing to show, it is dark."""
    async with running(board, **LED) as house:
        await house.show("listening")
        await board.until(lambda: board.edges("GPIO22") == [1])
        await house.show("thinking")
        await board.until(lambda: board.edges("GPIO22")[1:5] == [0, 1, 0, 1])
        await house.show("ready")
        await board.until(lambda: board.level("GPIO22") == 0)
        board.forget()
        await house.show("failed")
        # The last blink of thinking may still have been on its way.
        await board.until(lambda: board.edges("GPIO22")[-8:] == [1, 0] * 4)


async def test_a_led_whose_chip_comes_back_is_asked_for_again(board: FakeBoard) -> None:
    """What it held of the chip that went is of no use."""
    async with running(board, **LED) as house:
        board.fail("set", 22, errno.ENODEV)
        await house.show("listening")
        assert "the status LED" in await house.health()
        board.forget()
        board.fail("set", 22)
        await house.show("thinking")
        await board.until(lambda: any(each.startswith("request gpiochip0 22") for each in board.log()))


async def test_it_goes_dark_when_hearth_ends(board: FakeBoard) -> None:
    """Nobody listens any more."""
    async with running(board, **LED) as house:
        await house.show("listening")
        await board.until(lambda: board.level("GPIO22") == 1)
    assert board.level("GPIO22") == 0


async def test_a_led_that_fails_is_a_sentence_and_nothing_more(board: FakeBoard) -> None:
    """Also one that comes back is lit again."""
    async with running(board, **LED) as house:
        board.fail("set", 22, errno.EIO)
        await house.show("listening")
        text = "the status LED: GPIO22 fails (Input/output error)"
        await board.until(lambda: any("22" in line for line in board.log()))
        await house.show("thinking")
        assert text in await house.health()
        assert text in (await house.probe())[0]
        board.fail("set", 22)
        await house.show("failed")
        await board.until(lambda: board.edges("GPIO22")[:2] == [1, 0])
        assert await house.health() == "ok"


async def test_a_busy_line_of_the_led_is_named(board: FakeBoard) -> None:
    """As any other is."""
    board.used_by("GPIO22", "ACT")
    async with running(board, **LED) as house:
        assert await house.probe() == ['the status LED: GPIO22 is used by "ACT": end that, or take another line']
