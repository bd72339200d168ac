"""A board with GPIO chips and hardware PWMs that are not there, for a program that runs under `fakegpio.c`.

Its pins are files, so a test reads and writes them while the program runs.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PI = "pinctrl-bcm2711"
"""The label of the chip that has the header of a Raspberry Pi 4."""

LINES = 54
GROUP = 64321
"""The group of the chips' devices; no system gives a name to so high a number."""

WITHIN_S = 30.0
"""How long anything may take on a machine that has something else to do."""

_EVENT = struct.Struct("=QIIII24x")
_RISING, _FALLING = 1, 2
_ACTIVE_LOW, _EDGE_RISING, _EDGE_FALLING = 1 << 1, 1 << 4, 1 << 5


@functools.cache
def shim() -> Path:
    """The library that a program is to be preloaded with, compiled once a run; never skipped in CI."""
    if shutil.which("cc") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("not installed: cc (gcc, libc6-dev)")
    folder = Path(tempfile.mkdtemp(prefix="fakegpio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow", "-O1"]
    library = folder / "fakegpio.so"
    subprocess.run(
        ["cc", *strict, "-fPIC", "-shared", "-o", str(library), str(HERE / "fakegpio.c"), "-ldl", "-lpthread"],
        check=True,
    )
    return library


class FakeBoard:
    """One board. Levels are those of pins, so an active-low lamp is on at 0."""

    def __init__(self, folder: Path) -> None:
        """A board without chips, in an empty folder."""
        self.folder = folder
        for name in ("gpio", "pwm", "dev", "fail"):
            (folder / name).mkdir(parents=True)
        self._seqno = 0

    @classmethod
    def like_a_pi(cls, folder: Path) -> FakeBoard:
        """With the 54 lines of a Raspberry Pi 4 by their names, on a chip that all may open, and its PWM."""
        board = cls(folder)
        board.add_chip(0, PI, {number: f"GPIO{number}" for number in range(LINES)}, LINES)
        board.add_pwm(0, "fe20c000.pwm")
        return board

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to see this board."""
        return {"LD_PRELOAD": str(shim()), "FAKE_BOARD": str(self.folder)}

    def add_chip(self, number: int, label: str, names: Mapping[int, str], lines: int) -> None:
        """A chip whose pins are all inputs at 0, and whose device is of `GROUP`."""
        chip = self.folder / "gpio" / f"gpiochip{number}"
        chip.mkdir()
        (chip / "label").write_text(label)
        (chip / "lines").write_text(str(lines))
        (chip / "group").write_text(str(GROUP))
        (self.folder / "dev" / f"gpiochip{number}").touch()
        for line in range(lines):
            (chip / str(line)).mkdir()
            for file, text in (("name", names.get(line, "")), ("level", "0"), ("direction", "in")):
                (chip / str(line) / file).write_text(text)

    def add_pwm(self, number: int, device: str, channels: int = 2) -> Path:
        """A PWM that nobody has set up; returns its folder."""
        chip = self.folder / "pwm" / f"pwmchip{number}"
        chip.mkdir()
        (chip / "npwm").write_text(f"{channels}\n")
        (chip / "export").touch()
        (chip / "device").symlink_to(f"../../devices/{device}")
        return chip

    def renumber(self, old: int, new: int, link: bool = False) -> None:
        """Gives a chip another number, as another kernel does; `link` leaves the old name beside it."""
        (self.folder / "gpio" / f"gpiochip{old}").rename(self.folder / "gpio" / f"gpiochip{new}")
        (self.folder / "dev" / f"gpiochip{old}").rename(self.folder / "dev" / f"gpiochip{new}")
        if link:
            (self.folder / "dev" / f"gpiochip{old}").symlink_to(f"gpiochip{new}")

    def line(self, name: str) -> Path:
        """The folder of a line, by its name."""
        return next(each.parent for each in self.folder.glob("gpio/*/*/name") if each.read_text() == name)

    def level(self, name: str) -> int:
        """What a pin is at."""
        return int((self.line(name) / "level").read_text())

    def direction(self, name: str) -> str:
        """ "in" or "out"."""
        return (self.line(name) / "direction").read_text().strip()

    def found_at(self, name: str, level: int, direction: str = "out") -> None:
        """Lets the program find a pin so."""
        (self.line(name) / "level").write_text(str(level))
        (self.line(name) / "direction").write_text(direction)

    def used_by(self, name: str, consumer: str | None) -> None:
        """Lets another program have a line; None lets it go."""
        if consumer is None:
            (self.line(name) / "consumer").unlink()
        else:
            (self.line(name) / "consumer").write_text(consumer)

    def connect(self, output: str, input: str) -> None:
        """Puts a wire from an output to an input."""
        (self.line(output) / "wire").write_text(self.line(input).name)
        (self.line(input) / "wired-from").write_text(self.line(output).name)

    def hold(self, name: str) -> None:
        """Lets a short circuit hold a pin where it is."""
        (self.line(name) / "stuck").touch()

    def fail(self, operation: str, number: int | None = None, error: int = 0) -> None:
        """Lets an operation fail with an errno from now on; 0 ends that."""
        file = self.folder / "fail" / (operation if number is None else f"{operation}-{number}")
        if error:
            file.write_text(str(error))
        else:
            file.unlink()

    def is_requested(self, name: str) -> bool:
        """Whether the program has a line."""
        return (self.line(name) / "request").exists()

    def debounce_us(self, name: str) -> int:
        """What the program asked the kernel to debounce an input by, in microseconds."""
        return int(self._request(name)[3])

    def wire(self, name: str, level: int) -> None:
        """Brings an input to a level, as a button does."""
        (self.line(name) / "level").write_text(str(level))
        self.tell_edge(name, level)

    def press(self, name: str, seconds: float) -> None:
        """Presses a button to ground for so long, which is over by now: both edges are told at once."""
        now = time.monotonic()
        self._tell(name, self._event(name, 0, now - seconds) + self._event(name, 1, now))

    def tell_edge(self, name: str, level: int) -> None:
        """Tells the program of an edge to a level, if it wants to know, and leaves the pin as it is."""
        self._tell(name, self._event(name, level, time.monotonic()))

    def _event(self, name: str, level: int, at_s: float) -> bytes:
        flags = int(self._request(name)[1])
        active = bool(level) is not bool(flags & _ACTIVE_LOW)
        if not flags & (_EDGE_RISING if active else _EDGE_FALLING):
            return b""
        self._seqno += 1
        kind = _RISING if active else _FALLING
        return _EVENT.pack(int(at_s * 1e9), kind, int(self.line(name).name), self._seqno, self._seqno)

    def _tell(self, name: str, events: bytes) -> None:
        descriptor = os.open(self._request(name)[4], os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(descriptor, events)
        finally:
            os.close(descriptor)

    def log(self) -> list[str]:
        """What happened to outputs, in order: "set gpiochip0 17 1 edge"."""
        file = self.folder / "log"
        return file.read_text().splitlines() if file.exists() else []

    def edges(self, name: str) -> list[int]:
        """The levels that a pin went to."""
        at = f"{self.line(name).parent.name} {self.line(name).name}"
        found = [line.split() for line in self.log()]
        return [int(each[3]) for each in found if " ".join(each[1:3]) == at and "edge" in each]

    def forget(self) -> None:
        """Empties the log."""
        (self.folder / "log").unlink(missing_ok=True)

    def duty(self, channel: int = 0, chip: int = 0) -> tuple[int, int]:
        """How long a PWM is high, and its period, in nanoseconds."""
        folder = self.folder / "pwm" / f"pwmchip{chip}" / f"pwm{channel}"
        return int((folder / "duty_cycle").read_text()), int((folder / "period").read_text())

    def duties(self, channel: int = 0) -> list[int]:
        """All that a PWM was told to be high for, in order."""
        found = [line.split() for line in self.log()]
        return [int(each[3]) for each in found if each[:3] == ["pwm", f"pwm{channel}", "duty_cycle"]]

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until something can be seen on the board; files tell nobody when they change."""
        async with asyncio.timeout(WITHIN_S):
            while not true():
                await asyncio.sleep(0.01)

    def _request(self, name: str) -> list[str]:
        return (self.line(name) / "request").read_text().split()
