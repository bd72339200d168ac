"""Runs in a virtual machine: what Hearth does to a pin, as QEMU sees it from outside of the machine."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.gpio.houses import device, running
from tests.pi.far_end import RealBoard


@dataclass(frozen=True)
class Pin:
    """A pin, and where its level and its direction are in the machine.

    Attributes:
        wiring: What the settings say of it.
        level: The register with its level, and the bit.
        direction: The register with its direction, the lowest bit, the mask, and what an output is there.
        stays: Whether it stays an output once its program has ended.
    """

    wiring: dict[str, str]
    level: tuple[int, int]
    direction: tuple[int, int, int, int]
    stays: bool


PIN = {
    # Three bits for each line: 000 is an input, 001 an output.
    "raspi3b": Pin({"line": "GPIO17"}, (0x3F200034, 17), (0x3F200004, 21, 7, 1), stays=False),
    # Its data register is read through a mask in the address.
    "virt": Pin({"line": "5", "chip": "9030000.pl061"}, (0x090303FC, 5), (0x09030400, 5, 1, 1), stays=True),
}[os.environ["HEARTH_MACHINE"]]


def look(register: int) -> int:
    """A register, read by QEMU."""
    with open(os.environ["HEARTH_TALK"], "r+b", buffering=0) as talk:
        talk.write(f"\n@look {register:#x}\n".encode())
        answer = b""
        while not answer.endswith(b"\n"):
            answer += talk.read(1)
    return int(answer)


def level() -> int:
    """What the pin is at."""
    register, bit = PIN.level
    return look(register) >> bit & 1


def is_output() -> bool:
    """Whether the pin is driven."""
    register, bit, mask, output = PIN.direction
    return look(register) >> bit & mask == output


def lamp(**gpio: Any) -> dict[str, Any]:
    return device("hall light", {**PIN.wiring, **gpio})


@pytest.fixture
def board(tmp_path: Path) -> RealBoard:
    (tmp_path / "board").mkdir()
    return RealBoard(tmp_path / "board")


async def test_a_lamp_is_on_outside_when_it_is_said_to_be_on(board: RealBoard) -> None:
    """And off when it is said to be off."""
    async with running(board, lamp()) as house:
        assert (is_output(), level()) == (True, 0)
        assert (await house.call("turn_on_light", room="hall light"))["state"] == "on"
        assert level() == 1
        assert (await house.call("turn_off_light", room="hall light"))["state"] == "off"
        assert level() == 0


async def test_an_active_low_lamp_is_on_at_low(board: RealBoard) -> None:
    """Off at the start is high."""
    async with running(board, lamp(active_low=True)) as house:
        assert (is_output(), level()) == (True, 1)
        await house.call("turn_on_light", room="hall light")
        assert level() == 0


@pytest.mark.parametrize("boot", ["last", "off"])
async def test_f23_after_a_crash_a_lamp_is_as_its_policy_says(board: RealBoard, boot: str) -> None:
    """Killed while it was on; what this kernel makes of the pin meanwhile is what docs/gpio.md says."""
    async with running(board, lamp(boot=boot)) as house:
        await house.call("turn_on_light", room="hall light")
        await house.kill()
    assert is_output() is PIN.stays

    async with running(board, lamp(boot=boot)) as house:
        assert house.state("hall_light")["state"] == ("on" if boot == "last" else "off")
        assert (is_output(), level()) == (True, 1 if boot == "last" else 0)


async def test_f23_keep_keeps_what_the_kernel_has_kept(board: RealBoard) -> None:
    """An output at its level, or what the resistors make of an input."""
    async with running(board, lamp(boot="keep")) as house:
        await house.call("turn_on_light", room="hall light")
        await house.kill()
    left = level()
    async with running(board, lamp(boot="keep")) as house:
        assert house.state("hall_light")["state"] == ("on" if left else "off")
        assert (is_output(), level()) == (True, left)


async def test_a_line_that_is_not_there_is_a_sentence(board: RealBoard) -> None:
    """And one that is busy names who has it."""
    async with running(board, lamp(), device("twin", PIN.wiring), device("far", {"line": "GPIO99"})) as house:
        busy, far = await house.probe()

    assert 'is used by "hearth": end that, or take another line' in busy
    assert "there is no GPIO line GPIO99" in far
    print(sys.version, os.uname().release)
