"""How quick, how exact and how full the light controller is: part of `make bench`, or `python -m tests.bench_board`.

It is the release image on the emulated chip. Its sizes, starts, main loop, interrupts, sets, fades and duties are
counted in bytes and in the chip's own cycles, while its time is held: they are the same in every run. From a sentence
of a person, and from a set of the driver, to the pin's new duty it is this machine's time, and the chip's goes with it.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from agent import Agent, AgentRunner, GenerateContentRequest, GenerateContentResponse, GenerativeModel
from tests.hil.board import (
    DEADLINE,
    DIM_CHANNELS,
    FIRMWARE,
    OUT,
    EmulatedBoard,
    Images,
    duty_of,
    images,
    missing_packages,
)
from tests.hil.wire import Host, frame
from tools import open_house
from tools.device import Change, Device, Kind
from tools.drivers.gpio.lightness import brightness_of
from tools.drivers.serial import SERIAL
from tools.drivers.serial.options import SerialOptions, SerialSettings
from tools.drivers.serial.protocol import GetAllRequest, SetRequest

HZ = 16_000_000
"""Of the chip."""

WINDOW = 32 * 8192
"""In how many cycles the emulator measures a duty."""

COMMANDS = 100
"""How many sentences are said, and how many levels set."""


@dataclass(frozen=True)
class Row:
    """A figure.

    Attributes:
        name: What was measured; also the row of firmware/README.md.
        text: The figure as it is printed.
        exact: It is counted in the chip's cycles or in bytes, so that a run elsewhere gives the same.
    """

    name: str
    text: str
    exact: bool = True

    def numbers(self) -> list[float]:
        """Those in its text."""
        return numbers(self.text)


def numbers(text: str) -> list[float]:
    """Those in a text, in their order."""
    return [float(each) for each in re.findall(r"\d+(?:\.\d+)?", text)]


async def rows(model: GenerativeModel | None, commands: int = COMMANDS) -> AsyncIterator[Row]:
    """Measures one after the other.

    Args:
        model: What understands the sentences; None leaves those rows out.
        commands: How many there are of them, 2 at least.

    Raises:
        RuntimeError: The firmware does not build.
    """
    made = images()
    for row in sizes():
        yield row
    with tempfile.TemporaryDirectory() as folder:
        for row in exact_rows(made, Path(folder)):
            yield row
    for row in await timed_rows(made, model, commands):
        yield row


def exact_rows(made: Images, folder: Path) -> Iterator[Row]:
    """All that is counted in cycles."""
    with EmulatedBoard(made, folder, held=True) as board, Host(board) as host:
        host.run(100)
        yield from starts(board, host)
        yield from turns(board, host)
        yield moved(board, host)
        yield from fades(board, host)
        yield duties(board, host)
    with EmulatedBoard(made, folder, held=True, bootloader_ms=1000) as board, Host(board) as host:
        board.do("reset")
        host.run(1100)
        yield Row(
            "reset to lamps as they were, behind a bootloader that waits 1 s",
            f"{_since_reset(board.state(), 'driven_cycle'):.1f} ms",
        )


def sizes() -> Iterator[Row]:
    """Flash and RAM, as the Makefile counts them."""
    counted = subprocess.run(
        ["make", "--no-print-directory", "-C", str(FIRMWARE), "size", f"OUT={OUT}"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = re.search(r"flash (\d+ of \d+ bytes) \((.*)\), RAM (\d+ of \d+) \((.*)\)", counted)
    assert found, counted
    yield Row("flash", f"{found[1]}, {found[2]}")
    yield Row("RAM", f"{found[3]} bytes, {found[4]}")


def starts(board: EmulatedBoard, host: Host) -> Iterator[Row]:
    """From a reset by the port's opening to lamps as they were, and from a hang to that reset."""
    for channel in range(DIM_CHANNELS):
        host.ask(SetRequest(channel, 400, 0))
    board.do("reset")
    host.run(100)
    state = board.state()
    yield Row("reset to lamps as they were", f"{_since_reset(state, 'driven_cycle'):.1f} ms")
    yield Row('reset to the first byte of "booted"', f"{_since_reset(state, 'first_byte_cycle'):.1f} ms")
    hung = board.state()["cycle"]
    board.do("hang")
    host.run(1000)
    yield Row("hang to the watchdog's reset", f"{(board.state()['reset_cycle'] - hung) * 1e3 / HZ:.0f} ms")


def turns(board: EmulatedBoard, host: Host) -> Iterator[Row]:
    """The main loop and the interrupts: while nothing happens, and while all does."""
    before = _measured_anew(board)
    host.run(5000)
    rest = board.state()
    yield _turn("a turn of the main loop, at rest", rest)
    for channel in range(DIM_CHANNELS):
        host.ask(SetRequest(channel, 1000, 600))
    loaded = _measured_anew(board)
    for _ in range(100):
        # As much as the receiver takes.
        host.send(frame(5, GetAllRequest.TYPE, GetAllRequest(0).pack()) * 40)
        host.run(50)
    busy = board.state()
    yield _turn("a turn of the main loop, six fades and requests without a pause", busy)
    yield Row("a received byte to its interrupt, in the same load", f"at most {busy['latency_cycles']} cycles")
    yield Row("the clock's tick to its interrupt, in the same load", f"at most {busy['clock_latency_cycles']} cycles")
    yield Row("stack, in the same load", f"{busy['stack']} bytes at most")
    yield Row("processor asleep", f"{_asleep(before, rest):.0f} % at rest, {_asleep(loaded, busy):.0f} % in that load")
    host.run(4000)  # until all of it has gone through the wire


def moved(board: EmulatedBoard, host: Host) -> Row:
    """From the last byte of a set to the pin's new duty, at many phases of the loop."""
    took = []
    for number in range(50):
        host.run(number % 7 + 1)
        host.ask(SetRequest(0, 200 + 10 * number, 0))
        state = board.state()
        took.append((state["outputs"][0]["changed_cycle"] - state["received_cycle"]) * 1e3 / HZ)
    return Row("last byte of a set to the pin's new duty", f"p50 {median(took):.2f} ms, at most {max(took):.2f} ms")


def fades(board: EmulatedBoard, host: Host) -> Iterator[Row]:
    """When fades end, and how far they are from the straight line on the way, on a timer of each kind."""
    early = [_early(board, host, 1, phase) for phase in range(10)]
    yield Row(
        "end of a fade of 1 s", f"{min(early):.1f} to {max(early):.1f} ms early, by the phase of its steps of 10 ms"
    )
    yield Row("end of a fade of 60 s", f"{_early(board, host, 60, 0):.1f} ms early")
    for channel, steps in ((0, 8192), (2, 256)):
        host.ask(SetRequest(channel, 0, 0))
        host.ask(SetRequest(channel, 1000, 1000))
        began = board.state()["received_cycle"]
        off = []
        for _ in range(60):
            host.run(160)
            state = board.state()
            passed_s = (state["window_cycle"] - WINDOW / 2 - began) / HZ
            off.append(abs(brightness_of(state["outputs"][channel]["duty"]) * 1000 - passed_s * 100))
        yield Row(
            f"a fade of 10 s from dark to full, on a timer of {steps} steps",
            f"off by {mean(off):.1f} per mille of brightness on average, {max(off):.1f} at most",
        )
        host.run(1000)


def _early(board: EmulatedBoard, host: Host, seconds: int, phase_ms: int) -> float:
    """By how many milliseconds a fade ends before its time, counted from the last byte of its request."""
    host.ask(SetRequest(0, 100, 0))
    host.run(phase_ms)
    host.ask(SetRequest(0, 900, seconds * 100))
    began = board.state()["received_cycle"]
    host.run(seconds * 1000 + 200)
    ended = board.state()["outputs"][0]["changed_cycle"]
    return float(seconds * 1000 - (ended - began) * 1e3 / HZ)


def duties(board: EmulatedBoard, host: Host) -> Row:
    """How far the pins are from what their levels ask for, in cycles of a period."""
    off = []
    for level in (1, 10, 50, 100, 250, 400, 500, 750, 990):
        for channel in range(DIM_CHANNELS):
            host.ask(SetRequest(channel, level, 0))
        host.run(50)
        for channel, output in enumerate(board.state()["outputs"][:DIM_CHANNELS]):
            period = 8192 if channel < 2 else 2048
            off.append(abs(output["duty"] - duty_of(level, channel)) * period)
    return Row("duty of every channel", f"within {max(off):.1f} cycles of what its level asks for")


class TimedModel:
    """A model whose decisions are timed, from being asked to being answered.

    Attributes:
        took_ms: How long each took.
    """

    def __init__(self, model: GenerativeModel) -> None:
        self._model = model
        self.took_ms: list[float] = []

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """As the model itself, and not timed: the runner does not use it."""
        return await self._model.generate_content(request)

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """As the model itself; timed up to its first call, which a tool is then called with."""
        started: float | None = time.perf_counter()
        async for response in self._model.generate_content_stream(request):
            if started is not None:
                self.took_ms.append((time.perf_counter() - started) * 1e3)
                started = None
            yield response

    async def close(self) -> None:
        """As the model itself."""
        await self._model.close()


@dataclass
class Times:
    """What many commands took, in milliseconds each."""

    duty: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    model: list[float] = field(default_factory=list)


async def timed_rows(made: Images, model: GenerativeModel | None, commands: int) -> list[Row]:
    """What goes through this machine: without the model, and with it."""
    alone = await _timed(made, commands, _by_driver)
    with tempfile.TemporaryDirectory() as folder, EmulatedBoard(made, Path(folder), held=True) as board:
        started = time.perf_counter()
        board.run(10_000)
        times = 10 / (time.perf_counter() - started)
    found = [
        Row("the emulator, with the chip at rest", f"up to {times:.0f} times as fast as the chip", exact=False),
        Row("set of the driver to the pin's new duty", _spread(alone.duty), exact=False),
        Row("set of the driver to its confirmation, read back", _spread(alone.answer), exact=False),
    ]
    if model is not None:
        timed = TimedModel(model)
        said = await _timed(made, commands, lambda board, levels: _by_sentence(board, levels, timed))
        found += [
            Row(
                "sentence to the pin's new duty", f"{_spread(said.duty)}; of it the model {_spread(said.model)}", False
            ),
            Row("sentence to its answer, read back", _spread(said.answer), exact=False),
        ]
    return found


Way = Callable[[EmulatedBoard, Sequence[int]], Awaitable[Times]]
"""Brings the board's lamp to levels in percent, one after the other."""


async def _timed(made: Images, commands: int, way: Way) -> Times:
    with tempfile.TemporaryDirectory() as folder, EmulatedBoard(made, Path(folder)) as board:
        return await way(board, [10 + (7 * number) % 80 for number in range(commands)])


async def _by_driver(board: EmulatedBoard, levels: Sequence[int]) -> Times:
    lamp = Device("lamp", "lamp", Kind.LIGHT, can=("brightness",), options=SerialOptions(channel=0, fade_s=0))
    times = Times()
    async with SERIAL.open([lamp], SerialSettings(port=board.tty), lambda *_: None) as driver:
        await board.until(lambda: driver.health() == "ok")
        for level in levels:
            await _one(board, driver.move(lamp, Change(brightness=level)), times)
    return times


async def _by_sentence(board: EmulatedBoard, levels: Sequence[int], model: TimedModel) -> Times:
    settings = {
        "serial": {"port": str(board.tty)},
        "room": [{"name": "office"}],
        "device": [{"name": "desk lamp", "kind": "light", "room": "office", "serial": {"channel": 0, "fade_s": 0}}],
    }
    times = Times()
    async with open_house(settings) as house, AgentRunner(Agent("bench", tools=house.tools), model) as runner:
        await board.until(lambda: house.health()["serial"] == "ok")

        async def say(level: int) -> None:
            async for _ in runner.run_single_turn(f"turn on the desk lamp to {level} percent"):
                pass

        await say(5)  # reads the declarations
        for level in levels:
            model.took_ms.clear()
            await _one(board, say(level), times)
            times.model.append(model.took_ms[0])  # what it decides afterwards comes after the pin
    return times


async def _one(board: EmulatedBoard, command: Awaitable[object], times: Times) -> None:
    """A command, and when the pin followed: the emulator's cycles go with the clock, to a millisecond."""
    before = board.state()["outputs"][0]["changed_cycle"]
    started = time.perf_counter()
    async with asyncio.timeout(DEADLINE):
        await command
    answered = time.perf_counter()
    state = board.state()
    now = time.perf_counter()
    changed = state["outputs"][0]["changed_cycle"]
    if changed == before:
        raise RuntimeError("a command was answered, and the pin did not follow")
    times.answer.append((answered - started) * 1e3)
    times.duty.append((now - started) * 1e3 - (state["cycle"] - changed) * 1e3 / HZ)


def _measured_anew(board: EmulatedBoard) -> dict[str, Any]:
    board.do("measure")
    return board.state()


def _turn(name: str, state: dict[str, Any]) -> Row:
    average = state["turn_cycles"] / state["turns"]
    return Row(name, f"{average:.0f} cycles on average, {state['turn_cycles_most']} at most")


def _asleep(before: dict[str, Any], after: dict[str, Any]) -> float:
    slept = after["asleep_cycles"] - before["asleep_cycles"]
    return 100.0 * float(slept) / float(after["cycle"] - before["cycle"])


def _since_reset(state: dict[str, Any], what: str) -> float:
    return float(state[what] - state["reset_cycle"]) * 1e3 / HZ


def _spread(times: Sequence[float]) -> str:
    return f"p50 {median(times):.1f} ms, p95 {quantiles(times, n=20, method='inclusive')[-1]:.1f} ms"


async def _print(model: GenerativeModel | None) -> None:
    async for row in rows(model):
        print(f"{row.name:<66} {row.text}", flush=True)


def main(model: GenerativeModel | None) -> None:
    """Prints the rows; without the tools of the emulated board one that names them."""
    print("\nthe light controller, on the emulated chip")
    if missing := missing_packages():
        print(f"not measured         not installed: {', '.join(missing)} (sudo apt install {' '.join(missing)})")
        return
    try:
        asyncio.run(_print(model))
    except (RuntimeError, OSError, TimeoutError) as error:
        print(f"not measured         {error}")


if __name__ == "__main__":
    from agent import ModelConfig, load_model

    main(load_model(ModelConfig()))
