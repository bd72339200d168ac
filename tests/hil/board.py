"""The light controller's real image on the emulated chip: built once a run, started for a test, ended whatever happens.

with EmulatedBoard(images(), folder) as board:
    port = board.tty          # a serial port, which opens as a Nano's does
    board.do("unplug")        # see firmware/emulator/main.c for all commands
    board.duty(0)             # measured on the pin
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
OUT = FIRMWARE.parent / "build" / "firmware"
TOOLS = {"avr-gcc": "gcc-avr", "make": "make", "cc": "gcc"}
HEADERS = {
    "/usr/include/simavr/sim_avr.h": "libsimavr-dev",
    "/usr/include/libelf.h": "libelf-dev",
    "/usr/lib/avr/include/avr/io.h": "avr-libc",
}
DEADLINE = 30.0
"""In seconds. Nothing here takes one on an idle machine; a machine that trains a model is not idle."""

DIM_CHANNELS = 6
COUNTS = (8192, 8192, 256, 256, 256, 256)
LEAST = (8, 8, 1, 1, 1, 1)
NEAR = (10 / 8192, 10 / 8192, 1.5 / 256, 1.5 / 256, 1.5 / 256, 1.5 / 256, 0.001, 0.001)
"""How exactly a duty is measured: simavr tells an edge some cycles late, when the instruction under way has ended."""


@dataclass(frozen=True)
class Images:
    """What the firmware's Makefile made.

    Attributes:
        image: The release image.
        other_protocol: One that speaks version 200 of the wire.
        emulator: The emulated chip.
        host: The same firmware as a program.
    """

    image: Path
    other_protocol: Path
    emulator: Path
    host: Path


def missing_packages() -> list[str]:
    """The Debian packages without which nothing here can be built."""
    absent = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    return absent + [package for header, package in HEADERS.items() if not Path(header).exists()]


@functools.cache
def images() -> Images:
    """Builds all of them; the first call of a run does.

    Raises:
        RuntimeError: The build failed; the text is what it printed.
    """
    built = subprocess.run(
        ["make", "-C", str(FIRMWARE), "image", "other-protocol", "emulator", "host", f"OUT={OUT}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise RuntimeError(f"the firmware does not build:\n{built.stdout}{built.stderr}")
    return Images(OUT / "hearth.elf", OUT / "hearth-other-protocol.elf", OUT / "emulator", OUT / "board-host")


def duty_of(level: int, channel: int) -> float:
    """The duty of a dimmable channel's pin at a level in per mille: CIE 1931 lightness, in its timer's counts."""
    lightness = level / 10
    share = lightness / 903.3 if lightness <= 8 else ((lightness + 16) / 116) ** 3
    counts = round(share * COUNTS[channel])
    return max(counts, LEAST[channel]) / COUNTS[channel] if level else 0.0


class EmulatedBoard:
    """A board on a cable. Its time goes with the clock, or with `held` only by run()."""

    def __init__(
        self,
        made: Images,
        folder: Path,
        *,
        image: Path | None = None,
        reset_on_open: bool = False,
        bootloader_ms: int = 0,
        held: bool = False,
        fast: bool = False,
    ) -> None:
        self.tty = folder / "ttyLIGHT"
        self._control_path = folder / "control"
        self._log_path = folder / "emulator.log"
        options = ["--reset-on-open"] * reset_on_open + ["--held"] * held + ["--fast"] * fast
        self._command = [
            *(str(made.emulator), str(image or made.image), "--tty", str(self.tty)),
            *("--control", str(self._control_path), "--eeprom", str(folder / "eeprom")),
            *("--bootloader", str(bootloader_ms), "--with-parent", *options),
        ]

    def __enter__(self) -> Self:
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=log)
        try:
            self._wait_until_ready()
            self._control = socket.socket(socket.AF_UNIX)
            self._control.settimeout(DEADLINE)
            self._control.connect(str(self._control_path))
            self._lines = self._control.makefile("rwb")
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
        self._control.close()
        self._process.terminate()
        try:
            self._process.wait(DEADLINE)
        finally:
            self.kill()

    def _wait_until_ready(self) -> None:
        """The library prints lines of its own before ours."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line == b"ready\n":
                return
        raise RuntimeError(f"the emulator did not start: {self._log_path.read_text(encoding='utf-8')}")

    def kill(self) -> None:
        """Ends the process; harmless when it has ended."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def process_id(self) -> int:
        """That of the emulator."""
        return self._process.pid

    def do(self, command: str) -> str:
        """Gives the emulator a command.

        Raises:
            ValueError: It refused.
        """
        self._lines.write(f"{command}\n".encode())
        self._lines.flush()
        answer: str = self._lines.readline().decode().strip()
        if answer.startswith("error") or not answer:
            raise ValueError(f"{command}: {answer or 'the emulator is gone'}")
        return answer

    def state(self) -> dict[str, Any]:
        """All that is measured, as the emulator tells it."""
        state: dict[str, Any] = json.loads(self.do("state"))
        return state

    def run(self, milliseconds: int) -> None:
        """With `held`: lets the chip's time pass."""
        self.do(f"run {milliseconds}")

    def duty(self, channel: int) -> float:
        """Of a channel's pin, 0 to 1, over the last whole 16 ms; a relay's is 0 or 1."""
        return float(self.state()["outputs"][channel]["duty"])

    def level_of(self, channel: int) -> int:
        """The level in per mille whose duty is nearest to the one that is measured."""
        duty = self.duty(channel)
        if channel >= DIM_CHANNELS:
            return round(duty * 1000)
        return min(range(1001), key=lambda level: abs(duty_of(level, channel) - duty))

    def wrong(self, levels: Mapping[int, int]) -> dict[int, float]:
        """Of channels and the levels in per mille that they are to have those whose pin does otherwise, and its duty.

        As exactly as a duty is measured.
        """
        outputs = self.state()["outputs"]
        duties = {channel: float(outputs[channel]["duty"]) for channel in levels}
        wanted = {
            channel: duty_of(level, channel) if channel < DIM_CHANNELS else level / 1000
            for channel, level in levels.items()
        }
        return {each: duty for each, duty in duties.items() if abs(duty - wanted[each]) > NEAR[each]}

    async def until(self, condition: Callable[[], bool], within: float = DEADLINE) -> None:
        """Waits until it holds, which it must within so many seconds.

        Raises:
            TimeoutError: It does not; the text is the board's state.
        """
        end = time.monotonic() + within
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {within} s: {self.do('state')}")
            await asyncio.sleep(0.005)

    async def shows(self, channel: int, level: int, within: float = DEADLINE) -> None:
        """Waits until the channel's pin has the duty of a level in per mille.

        Raises:
            TimeoutError: It has not.
        """
        await self.until(lambda: not self.wrong({channel: level}), within)


class RealBoard:
    """A board of ours on a real cable: nothing here sees its pins, so what it tells is all that is compared."""

    def __init__(self, tty: Path) -> None:
        self.tty = tty

    def wrong(self, levels: Mapping[int, int]) -> dict[int, float]:
        """None that can be seen."""
        return {}

    async def until(self, condition: Callable[[], bool], within: float = DEADLINE) -> None:
        """Waits until it holds, which it must within so many seconds.

        Raises:
            TimeoutError: It does not.
        """
        async with asyncio.timeout(within):
            while not condition():
                await asyncio.sleep(0.02)

    async def shows(self, channel: int, level: int, within: float = DEADLINE) -> None:
        """What the pins do is for the eye."""


def need(missing: Sequence[str]) -> None:
    """Skips a test for missing packages; in CI it runs, and fails for them."""
    if missing and os.environ.get("CI") != "true":
        pytest.skip(f"not installed: {', '.join(missing)}")
