"""`hearth run` on a board that is fake, with the model that ships: from a sentence or a button to a pin, and the LED.

Field faults: F24 (`hearth doctor` says which lamps have a PWM by software).
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.gpio.fakeboard import WITHIN_S, FakeBoard
from tests.gpio.houses import ROOT
from tests.test_gpio_lamp import ns

HOUSE = """
[agent]
name = "pins"

[[tools.room]]
name = "office"

[[tools.device]]
name = "desk lamp"
kind = "light"
room = "office"
gpio = { pwm = 0 }

[[tools.device]]
name = "shelf lamp"
kind = "light"
room = "office"
can = []
gpio = { line = "GPIO5" }

[[tools.scene]]
name = "welcome"
states = [{ device = "desk lamp", brightness = 70 }]

[[tools.button]]
name = "office button"
toggle = "desk lamp"
long_scene = "welcome"
gpio = { line = "GPIO23" }

[[tools.button]]
name = "talk button"
talk = true
gpio = { line = "GPIO24" }

[tools.gpio]
led = "GPIO22"
"""

FLASHES = [0, 1] * 3 + [0]
"""What is left of the four flashes of a failure after the first edge, which the LED may have been at."""


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    board = FakeBoard.like_a_pi(tmp_path / "board")
    for button in ("GPIO23", "GPIO24"):
        board.found_at(button, 1, "in")  # by its pull-up
    return board


class Hearth:
    """The command `hearth` on a board, with folders of its own."""

    def __init__(self, board: FakeBoard, settings: str) -> None:
        self._folder = board.folder.parent
        for name in ("run", "state", "cache"):
            (self._folder / name).mkdir(exist_ok=True)
        (self._folder / "hearth.toml").write_text(settings)
        self.environment = os.environ | {
            "RUNTIME_DIRECTORY": str(self._folder / "run"),
            "STATE_DIRECTORY": str(self._folder / "state"),
            "CACHE_DIRECTORY": str(self._folder / "cache"),
            "HEARTH_CONFIG": str(self._folder / "hearth.toml"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            **board.environment,
        }

    async def start(self, *arguments: str, stderr: int | None = None) -> asyncio.subprocess.Process:
        """Begins a command."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agent", *arguments),
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )

    async def __call__(self, *arguments: str) -> str:
        """What a command prints."""
        process = await self.start(*arguments)
        async with asyncio.timeout(3 * WITHIN_S):
            printed, _ = await process.communicate()
        return printed.decode()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the service runs."""
        process = await self.start("run", stderr=asyncio.subprocess.PIPE)
        assert process.stderr is not None
        heard: list[str] = []

        async def follow() -> None:
            async for line in process.stderr or ():
                heard.append(line.decode())
                if "is ready" in heard[-1]:
                    ready.set()
            ready.set()

        ready = asyncio.Event()
        following = asyncio.create_task(follow())
        try:
            async with asyncio.timeout(3 * WITHIN_S):
                await ready.wait()
            assert process.returncode is None and "is ready" in heard[-1], "".join(heard)
            yield
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
            await following


@pytest.fixture
def hearth(board: FakeBoard) -> Callable[[str], Hearth]:
    return lambda settings: Hearth(board, settings)


async def test_a_sentence_a_press_and_a_long_press_each_end_at_the_pin(
    board: FakeBoard, hearth: Callable[[str], Hearth]
) -> None:
    """On 40 percent by words, off by a short press, 70 percent by a long one."""
    house = hearth(HOUSE)
    async with house.running():
        assert "40 percent" in await house("ask", "turn on the desk lamp to 40 percent")
        assert board.duty() == (ns(40), 1_000_000)
        board.press("GPIO23", 0.1)
        await board.until(lambda: board.duty()[0] == 0)
        board.press("GPIO23", 1.0)
        await board.until(lambda: board.duty()[0] == ns(70))
        assert "70 percent" in await house("ask", "how bright is the desk lamp?")


async def test_the_led_shows_that_hearth_thinks_that_it_failed_and_that_it_listens(
    board: FakeBoard, hearth: Callable[[str], Hearth]
) -> None:
    """It goes with the agent's turns, and with the button to talk; else it is dark."""
    house = hearth(HOUSE)
    async with house.running():
        assert board.level("GPIO22") == 0
        board.forget()
        await house("ask", "turn on the desk lamp")
        await board.until(lambda: board.level("GPIO22") == 0)
        assert board.edges("GPIO22")[0] == 1

        board.fail("set", 5, errno.EIO)
        await house("ask", "turn on the shelf lamp")
        await board.until(lambda: board.edges("GPIO22")[-len(FLASHES) :] == FLASHES)

        board.forget()
        board.wire("GPIO24", 0)
        await board.until(lambda: board.edges("GPIO22") == [1])
        board.wire("GPIO24", 1)
        await board.until(lambda: board.edges("GPIO22") == [1, 0])


async def test_the_doctor_names_what_is_wrong_with_the_pins_and_the_board_in_a_sentence_each(
    board: FakeBoard, hearth: Callable[[str], Hearth]
) -> None:
    """Beside no service it looks itself, and moves nothing; a service that runs is asked."""
    board.used_by("GPIO5", "spi0 CS1")
    board.used_by("GPIO24", "gpio-keys")
    soft = '[[tools.device]]\nname = "night lamp"\nkind = "light"\ngpio = { line = "GPIO6", software_pwm = true }\n'
    light = '[[tools.device]]\nname = "ceiling light"\nkind = "light"\nserial = { channel = 0 }\n'
    house = hearth(f'{HOUSE}{soft}{light}[tools.serial]\nport = "/dev/no-such-port"\n')
    alone = await house("doctor")
    assert "turn_on_light" in await house("tools")
    assert board.log() == []
    async with house.running():
        beside = await house("doctor")

    troubles = [
        "!!  house: no connection to the board (/dev/no-such-port: it is not there): see docs/serial.md",
        '!!  house: the shelf lamp is not available: GPIO5 is used by "spi0 CS1": end that, or take another line',
        '!!  house: the talk button is not available: GPIO24 is used by "gpio-keys": end that, or take another line',
    ]
    # F24: also while other lines of the same driver are in trouble.
    said = [*troubles, "--  house: software PWM: it may flicker while the processor is busy: night lamp"]
    assert [line for line in beside.splitlines() if "house: " in line] == said
    assert [line for line in alone.splitlines() if "house: " in line] == said


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (errno.EACCES, "/dev/gpiochip0 is for the group 64321, and"),
        (errno.EIO, "/dev/gpiochip0 cannot be opened (Input/output error): look at the kernel's log"),
    ],
    ids=["group", "broken"],
)
async def test_the_doctor_says_why_a_chip_is_out_of_reach(
    board: FakeBoard, hearth: Callable[[str], Hearth], error: int, sentence: str
) -> None:
    """With the group that is missing, or what the kernel says."""
    board.fail("open", 0, error)
    said = await hearth(HOUSE)("doctor")

    assert f"!!  house: the shelf lamp is not available: {sentence}" in said
    assert f"!!  house: the status LED: {sentence}" in said
