"""A PWM made by a thread of ours, for lamps on a line without a hardware PWM.

It flickers while the processor is busy, as while the model thinks, so it is said to be software wherever it shows.
At 0.0 and 1.0 the line is simply off or on, and the thread sleeps.
"""

from __future__ import annotations

import threading
import time

from tools.drivers.gpio.lines import LineError, Output

APPLIED_WITHIN_S = 3.0
"""How long the thread may take to come to a new level, in seconds."""


class SoftwarePwm:
    """A line that is switched on and off many times a second. Its levels are from 0.0, off, to 1.0, fully on."""

    def __init__(self, output: Output, frequency_hz: int, level: float) -> None:
        """Takes over a line that is at `level` already, if that is 0.0 or 1.0, and starts the thread."""
        self._output = output
        self._period_s = 1.0 / frequency_hz
        self._wanted = self._applied = level
        self._trouble: LineError | None = None
        self._ended = False
        self._news = threading.Condition()
        # gpiod's objects are for one thread: from here on only this one touches the line.
        self._thread = threading.Thread(target=self._run, name="software pwm", daemon=True)
        self._thread.start()

    def set(self, level: float) -> None:
        """Hands a level to the thread.

        Raises:
            LineError: The line could not be driven.
        """
        with self._news:
            if self._trouble:
                raise self._trouble
            self._wanted = level
            self._news.notify_all()

    def read(self) -> float:
        """The level that the thread has come to: read back from the pin where it is off or fully on.

        Raises:
            LineError: The line could not be driven.
        """
        with self._news:
            self._news.wait_for(lambda: self._applied == self._wanted or self._trouble, APPLIED_WITHIN_S)
            if self._trouble:
                raise self._trouble
            return self._applied

    def close(self) -> None:
        """Ends the thread and gives the line back. Twice is fine."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        self._thread.join()
        self._output.close()

    def _run(self) -> None:
        try:
            while not self._ended:
                if self._wanted in (0.0, 1.0):
                    self._steady()
                else:
                    self._pulse()
        except LineError as error:
            with self._news:
                self._trouble = error
                self._news.notify_all()

    def _steady(self) -> None:
        level = self._wanted
        self._output.set(level == 1.0)
        self._came_to(1.0 if self._output.read() else 0.0)
        with self._news:
            self._news.wait_for(lambda: self._ended or self._wanted != level)

    def _pulse(self) -> None:
        level, start = self._wanted, time.monotonic()
        self._output.set(True)
        time.sleep(level * self._period_s)
        self._output.set(False)
        self._came_to(level)
        time.sleep(max(0.0, start + self._period_s - time.monotonic()))

    def _came_to(self, level: float) -> None:
        with self._news:
            self._applied = level
            self._news.notify_all()
