"""Lines that tell: contacts and detectors, and buttons. Each is read by the event loop when it has edges."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from tools.drivers import Press
from tools.drivers.gpio.lines import Edge, Input, LineError, LineName, request_input
from tools.drivers.gpio.options import GpioButton, GpioOptions
from tools.drivers.gpio.presses import Presses

_log = logging.getLogger(__name__)

AGAIN_S = 10.0
"""How long after a failure a line is asked for anew, in seconds; no command comes to an input, as to a lamp."""


class Listener:
    """One line that is listened to from the start until `close`; where it is not to be had, again and again.

    Attributes:
        trouble: Why it is deaf; "" when it is not.
    """

    def __init__(
        self,
        name: LineName,
        options: GpioOptions | GpioButton,
        found: Callable[[bool | None], None],
        heard: Callable[[Edge], None],
    ) -> None:
        """Asks for the line.

        Args:
            name: Which line.
            options: How it is wired.
            found: Called with how it is whenever it has been asked for, and with None whenever it is not to be had.
            heard: Called with each edge, and with the level that others were lost before.
        """
        self._name = name
        self._options = options
        self._found = found
        self._heard = heard
        self._line: Input | None = None
        self._active = False
        self._again: asyncio.TimerHandle | None = None
        self.trouble = ""
        self._open()

    def close(self) -> None:
        """Gives the line back. Twice is fine."""
        if self._again is not None:
            self._again.cancel()
        self._let_go()

    def _open(self) -> None:
        options = self._options
        try:
            self._line = request_input(self._name, options.active_low, options.pull, options.debounce_ms)
            self._active = self._line.read()
        except LineError as error:
            self._failed(error)
            return
        self.trouble = ""
        asyncio.get_running_loop().add_reader(self._line.fileno(), self._read)
        self._found(self._active)

    def _read(self) -> None:
        assert self._line is not None
        try:
            for edge in self._line.edges():
                self._take(edge)
            # The kernel keeps a few edges only. What it has lost shows in the level.
            level = self._line.read()
            if level is not self._active:
                self._take(Edge(level, time.monotonic()))
        except LineError as error:
            self._failed(error)

    def _take(self, edge: Edge) -> None:
        self._active = edge.active
        self._heard(edge)

    def _failed(self, error: LineError) -> None:
        if self.trouble != str(error):
            _log.warning("%s", error)
        self.trouble = str(error)
        self._let_go()
        self._again = asyncio.get_running_loop().call_later(AGAIN_S, self._open)
        self._found(None)

    def _let_go(self) -> None:
        if self._line is not None:
            asyncio.get_running_loop().remove_reader(self._line.fileno())
            self._line.close()
            self._line = None


class PressListener:
    """A button: its edges become presses, and time makes them long."""

    def __init__(self, options: GpioButton, pressed: Callable[[Press], None]) -> None:
        """Listens from now on, and calls `pressed` with each press."""
        self._long_s = options.long_ms / 1000
        self._pressed = pressed
        self._timer: asyncio.TimerHandle | None = None
        self._presses = Presses(self._long_s)
        self._line = Listener(LineName(options.line, options.chip), options, self._found, self._edge)

    @property
    def trouble(self) -> str:
        """Why it is deaf; "" when it is not."""
        return self._line.trouble

    def close(self) -> None:
        """Gives the line back. Twice is fine."""
        self._stop()
        self._line.close()

    def _found(self, active: bool | None) -> None:
        presses = self._presses.lost()
        # One that is held down when we begin to listen was not pressed for us.
        self._presses = Presses(self._long_s, held=active is True)
        self._tell(presses)

    def _edge(self, edge: Edge) -> None:
        self._tell(self._presses.edge(edge))

    def _due(self) -> None:
        self._tell(self._presses.held(time.monotonic()))

    def _tell(self, presses: tuple[Press, ...]) -> None:
        self._stop()
        due = self._presses.due_s
        if due is not None:
            # A loop's timer may be early by the clock's own step.
            wait = max(0.001, due - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self._due)
        for press in presses:
            self._pressed(press)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
