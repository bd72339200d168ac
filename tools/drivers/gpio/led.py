"""A LED that shows what Hearth is doing: steady while it listens, slow while it thinks, quick when it failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from tools.drivers.gpio.lines import LineError, LineName, Output, examine, request_output

_log = logging.getLogger(__name__)

_FLASHES = (True, False) * 4

PATTERNS: dict[str, tuple[Sequence[bool], float, bool]] = {
    "listening": ((True,), 0.0, False),
    "thinking": ((True, False), 0.4, True),
    "failed": (_FLASHES, 0.12, False),
}
"""For each status: the levels, how long each lasts in seconds, and whether they begin again. Any other is dark."""


class StatusLed:
    """The LED of the house. A house whose LED fails works as well."""

    def __init__(self, name: LineName, active_low: bool) -> None:
        """A LED that is not lit, and whose line is not asked for, before the first status."""
        self._name = name
        self._active_low = active_low
        self._output: Output | None = None
        self._playing: asyncio.Task[None] | None = None
        self.trouble = ""

    def show(self, status: str) -> None:
        """Shows a status from now on, in the place of the one before."""
        self._stop()
        try:
            if self._output is None or self.trouble:
                self._let_go()
                self._output = request_output(self._name, self._active_low, False)
            self.trouble = ""
        except LineError as error:
            self._failed(error)
            return
        pattern = PATTERNS.get(status, ((False,), 0.0, False))
        self._playing = asyncio.create_task(self._play(self._output, *pattern), name="status led")

    def probe(self) -> list[str]:
        """What is wrong with it, as a sentence; nothing else."""
        if self._output is not None:
            return [f"the status LED: {self.trouble}"] if self.trouble else []
        try:
            examine(self._name)
        except LineError as error:
            return [f"the status LED: {error}"]
        return []

    def close(self) -> None:
        """Leaves it dark. Twice is fine."""
        self._stop()
        if self._output is not None:
            with suppress(LineError):
                self._output.set(False)
            self._let_go()

    async def _play(self, output: Output, levels: Sequence[bool], each_s: float, again: bool) -> None:
        try:
            while True:
                for level in levels:
                    output.set(level)
                    await asyncio.sleep(each_s)
                if not again:
                    return
        except LineError as error:
            self._failed(error)

    def _let_go(self) -> None:
        if self._output is not None:
            self._output.close()
            self._output = None

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.cancel()
            self._playing = None

    def _failed(self, error: LineError) -> None:
        if self.trouble != str(error):
            _log.warning("the status LED: %s", error)
        self.trouble = str(error)
