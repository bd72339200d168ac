"""systemd's watchdog is fed only while every worker gets on.

It runs on the event loop, so a loop that hangs feeds nothing. A worker that works for minutes lives as long as it takes
its steps; one that takes none for the watchdog's own time starves it, and is ended within twice that time.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from typing import Final

from agent.notify import notify
from agent.progress import Progress

log = logging.getLogger(__name__)

FEEDINGS: Final = 4
"""How often in the watchdog's time it is fed; sd_watchdog_enabled(3) wants 2 at least, and a busy board is late."""


def watchdog_s() -> float | None:
    """After how much silence systemd ends this process, in seconds; None where it does not watch it."""
    pid = os.environ.get("WATCHDOG_PID")
    if pid is not None and pid != str(os.getpid()):
        return None  # it is our parent that is watched
    try:
        microseconds = int(os.environ.get("WATCHDOG_USEC", "0"))
    except ValueError:
        return None
    return microseconds / 1e6 if microseconds > 0 else None


class Watchdog:
    """Feeds the watchdog.

    Args:
        timeout_s: Its time, in seconds, more than 0.
        workers: Who has to get on; asked for each time, as some come later than others.
        feed: Feeds it once.
    """

    def __init__(
        self,
        timeout_s: float,
        workers: Callable[[], Sequence[Progress]],
        feed: Callable[[], None] = lambda: notify("WATCHDOG=1"),
    ) -> None:
        self._timeout_s = timeout_s
        self._workers = workers
        self._feed = feed
        self._stuck: list[str] = []

    async def run(self) -> None:
        """Feeds it until cancelled."""
        while True:
            stuck = self._look()
            if not stuck:
                self._feed()
            if stuck != self._stuck:
                self._say(stuck)
            await asyncio.sleep(self._timeout_s / FEEDINGS)

    def _look(self) -> list[str]:
        """Who has taken no step for too long."""
        return [
            each.worker
            for each in self._workers()
            if each.silence() >= (self._timeout_s if each.patience_s is None else each.patience_s)
        ]

    def _say(self, stuck: list[str]) -> None:
        if stuck:
            log.error("no progress: %s; systemd ends this process in %g s", ", ".join(stuck), self._timeout_s)
        else:
            log.warning("%s: goes on again", ", ".join(self._stuck))
        self._stuck = stuck
