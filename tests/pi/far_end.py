"""The far end of the wire: what a pin of Hearth does, seen by an input that Hearth does not have, and the other way."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.drivers.gpio.lines import Edge, Input, LineName, Output, request_input, request_output
from tools.drivers.gpio.options import Pull

OUT, IN = LineName(os.environ.get("HEARTH_OUT", "GPIO17")), LineName(os.environ.get("HEARTH_IN", "GPIO27"))
"""The two ends of the wire: OUT is driven, IN listens."""

WITHIN_S = 30.0


@dataclass(frozen=True)
class RealBoard:
    """The board that this runs on."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Nothing stands between a program and the kernel."""
        return {}


class FarEnd:
    """Every edge that came to IN."""

    def __init__(self, line: Input) -> None:
        self._line = line
        self._edges: list[Edge] = []

    @property
    def level(self) -> bool:
        """What IN is at."""
        return self._line.read()

    def edges(self) -> list[Edge]:
        """Those since the last time that was asked."""
        while select.select([self._line], [], [], 0)[0]:
            self._edges += self._line.edges()
        edges, self._edges = self._edges, []
        return edges

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits until something can be seen at IN."""
        async with asyncio.timeout(WITHIN_S):
            while not true():
                await asyncio.sleep(0.01)


def let_go() -> None:
    """Makes OUT an input without a resistor, as whoever had it before may have left it an output."""
    request_input(OUT, False, "none", 0).close()


@contextmanager
def listening(pull: Pull = "down") -> Iterator[FarEnd]:
    """Listens to IN, whose resistor says what it is at while nobody drives OUT."""
    line = request_input(IN, False, pull, 0)
    try:
        yield FarEnd(line)
    finally:
        line.close()


@contextmanager
def driving(on: bool) -> Iterator[Output]:
    """Drives OUT, as a button or a contact does."""
    line = request_output(OUT, False, on)
    try:
        yield line
    finally:
        line.close()
