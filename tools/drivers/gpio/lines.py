"""Lines of the kernel's GPIO chips, by gpiod version 2: found, asked for, driven and read.

A chip's number changes with the kernel, so a line is found by its name, or by its number on a chip of a label.
What is wrong is one sentence with its cure. Levels are logical here: "on" is low on a line that is active low.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import HearthError
from tools.drivers.access import why_denied
from tools.drivers.gpio.options import Pull

if TYPE_CHECKING:
    from gpiod import LineRequest

CONSUMER = "hearth"
"""What the kernel tells others who ask for a line of ours."""

DEVICES = Path("/dev")
"""Where the chips are."""


class LineError(HearthError, OSError):
    """A line that is not to be had, or does not do as it is told. The text says why, and what to do."""


@dataclass(frozen=True)
class LineName:
    """A line as the settings name it: by its name, or by its number on the chip of a label."""

    line: str
    chip: str | None = None

    def __str__(self) -> str:
        called = f"line {self.line}" if self.line.isdecimal() else self.line
        return f"{called} of {self.chip}" if self.chip else called


@dataclass(frozen=True)
class _Place:
    """Where a line is at present."""

    path: Path
    offset: int


class Output:
    """A line that we drive."""

    def __init__(self, name: LineName, request: LineRequest, offset: int) -> None:
        """Takes over a request; `request_output` makes one."""
        self._name = name
        self._request = request
        self._offset = offset

    def set(self, on: bool) -> None:
        """Drives the line.

        Raises:
            LineError: It cannot be driven any more.
        """
        from gpiod.line import Value

        with _told(self._name):
            self._request.set_value(self._offset, Value.ACTIVE if on else Value.INACTIVE)

    def read(self) -> bool:
        """What the pin is at; some chips only tell what they were told.

        Raises:
            LineError: It cannot be read any more.
        """
        return _read(self._name, self._request, self._offset)

    def close(self) -> None:
        """Gives the line back; most chips leave it as it is. Twice is fine."""
        self._request.release()


@dataclass(frozen=True)
class Edge:
    """A change of an input.

    Attributes:
        active: What it became.
        at_s: When, in seconds of the monotonic clock.
    """

    active: bool
    at_s: float


class Input:
    """A line that we listen to."""

    def __init__(self, name: LineName, request: LineRequest, offset: int) -> None:
        """Takes over a request; `request_input` makes one."""
        self._name = name
        self._request = request
        self._offset = offset

    def fileno(self) -> int:
        """Readable when there are edges."""
        return self._request.fd

    def edges(self) -> list[Edge]:
        """Those that happened since, oldest first; none is waited for once `fileno` is readable.

        Raises:
            LineError: It cannot be read any more.
        """
        from gpiod import EdgeEvent

        rising = EdgeEvent.Type.RISING_EDGE
        with _told(self._name):
            events = self._request.read_edge_events()
        return [Edge(event.event_type is rising, event.timestamp_ns / 1e9) for event in events]

    def read(self) -> bool:
        """Whether it is active now.

        Raises:
            LineError: It cannot be read any more.
        """
        return _read(self._name, self._request, self._offset)

    def close(self) -> None:
        """Gives the line back. Twice is fine."""
        self._request.release()


def request_output(name: LineName, active_low: bool, on: bool | None) -> Output:
    """Asks for a line, and for its direction and level at once, so that no relay blinks.

    Args:
        name: Which line.
        active_low: On is low.
        on: The level; None keeps the one that it is found at.

    Raises:
        LineError: It is not to be had.
    """
    gpiod = _gpiod()
    from gpiod.line import Direction, Value

    def driven(level: bool) -> Any:
        value = Value.ACTIVE if level else Value.INACTIVE
        return gpiod.LineSettings(direction=Direction.OUTPUT, active_low=active_low, output_value=value)

    if on is not None:
        request, offset = _request(name, driven(on))
        return Output(name, request, offset)
    request, offset = _request(name, gpiod.LineSettings(direction=Direction.AS_IS, active_low=active_low))
    try:
        with _told(name):
            # An input is driven at what its pull makes of it, which is what the relay sees.
            request.reconfigure_lines({offset: driven(_read(name, request, offset))})
    except LineError:
        request.release()
        raise
    return Output(name, request, offset)


def request_input(name: LineName, active_low: bool, pull: Pull | None, debounce_ms: int) -> Input:
    """Asks for a line whose edges are to be told; the kernel debounces it.

    Args:
        name: Which line.
        active_low: Active is low.
        pull: The chip's own resistor; None leaves it.
        debounce_ms: How long a level must stay to count.

    Raises:
        LineError: It is not to be had.
    """
    gpiod = _gpiod()
    from gpiod.line import Bias, Direction
    from gpiod.line import Edge as Edges

    bias = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "none": Bias.DISABLED, None: Bias.AS_IS}[pull]
    settings = gpiod.LineSettings(
        direction=Direction.INPUT,
        edge_detection=Edges.BOTH,
        active_low=active_low,
        bias=bias,
        debounce_period=timedelta(milliseconds=debounce_ms),
    )
    request, offset = _request(name, settings)
    return Input(name, request, offset)


def examine(name: LineName) -> None:
    """Looks whether a line is to be had, and does not ask for it.

    Raises:
        LineError: It is not.
    """
    place = _find(name)
    with _told(name, place.path), _gpiod().Chip(str(place.path)) as chip:
        info = chip.get_line_info(place.offset)
    if info.used:
        raise _busy(name, info.consumer)


def _request(name: LineName, settings: Any) -> tuple[Any, int]:
    place = _find(name)
    with _told(name, place.path), _gpiod().Chip(str(place.path)) as chip:
        try:
            return chip.request_lines({place.offset: settings}, consumer=CONSUMER), place.offset
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise _busy(name, chip.get_line_info(place.offset).consumer) from error
            raise


def _read(name: LineName, request: LineRequest, offset: int) -> bool:
    with _told(name):
        return bool(request.get_value(offset))


def _find(name: LineName) -> _Place:
    """Where a line is.

    Raises:
        LineError: It is nowhere, or in two places, or we may not look.
    """
    gpiod = _gpiod()
    found: list[_Place] = []
    labels: list[str] = []
    denied: Path | None = None
    broken = ""
    paths = _chips()
    for path in paths:
        try:
            with gpiod.Chip(str(path)) as chip:
                info = chip.get_info()
                labels.append(info.label)
                if name.chip in (None, info.label):
                    found += [_Place(path, offset) for offset in _offsets(chip, name, info.num_lines)]
        except PermissionError:
            denied = denied or path
        except OSError as error:  # one that dies must not take the lines of the others with it
            broken = f"{path} cannot be opened ({error.strerror}): look at the kernel's log"
    if len(found) == 1:
        return found[0]
    if not paths:
        raise LineError(
            f"there is no GPIO chip ({DEVICES}/gpiochip*): this board has none, or the unit hides it (PrivateDevices=)"
        )
    if found:
        raise LineError(f"there are several lines {name}, on {', '.join(sorted(labels))}: say which chip, by its label")
    if denied is not None:
        raise LineError(_denied(denied))
    if broken:
        raise LineError(broken)
    if name.chip is not None and name.chip not in labels:
        raise LineError(f"there is no GPIO chip {name.chip!r}; there are: {', '.join(labels)}")
    raise LineError(f"there is no GPIO line {name}: gpioinfo lists those that there are")


def _chips() -> list[Path]:
    with suppress(OSError):
        names = sorted(each for each in os.listdir(DEVICES) if each.startswith("gpiochip"))
        # Kernels that renumbered the chips left links of the old names.
        return [DEVICES / each for each in names if not (DEVICES / each).is_symlink()]
    return []


def _offsets(chip: Any, name: LineName, count: int) -> Iterator[int]:
    if name.line.isdecimal():
        if int(name.line) < count:
            yield int(name.line)
        return
    for offset in range(count):
        if chip.get_line_info(offset).name == name.line:
            yield offset


def _gpiod() -> Any:
    """The package, if it is the one that can set direction and level at once; nothing else stands in for it.

    Raises:
        LineError: It is not.
    """
    try:
        import gpiod
    except ImportError as error:
        raise LineError(f"the Python package gpiod cannot be loaded ({error}): pip install 'gpiod>=2.1'") from error
    if not hasattr(gpiod, "request_lines"):
        raise LineError("the Python package gpiod is of version 1, as of Bookworm's apt: pip install 'gpiod>=2.1'")
    return gpiod


def _busy(name: LineName, consumer: str) -> LineError:
    by = f'by "{consumer}"' if consumer else "by a program that does not say its name"
    return LineError(f"{name} is used {by}: end that, or take another line")


@contextmanager
def _told(name: LineName, path: Path | None = None) -> Iterator[None]:
    """What the kernel refuses, as a sentence."""
    try:
        yield
    except LineError:
        raise
    except PermissionError as error:
        raise LineError(_denied(path) if path else f"{name} may not be used") from error
    except OSError as error:
        raise LineError(f"{name} fails ({error.strerror}): look at the wiring, and at the kernel's log") from error
    except ValueError as error:
        raise LineError(f"{name} cannot be used: {error}") from error


def _denied(path: Path) -> str:
    return f"{path} {why_denied(path, 'gpio', 'char-gpiochip')}"
