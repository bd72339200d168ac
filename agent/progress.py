"""What a worker shows of itself while it works: that it gets on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """One worker's proof of life: a thread, a task, a link. Any thread may write and read it.

    A worker without work owes no proof. One at work is to take a step now and then: a graph of the model that was
    run, a token that was said, a message that was sent. How long it takes in all does not matter.

    Attributes:
        worker: What it is called in the log.
        patience_s: How long it may take no step, in seconds; None is as long as the watchdog has patience.
    """

    def __init__(self, worker: str, patience_s: float | None = None) -> None:
        self.worker = worker
        self.patience_s = patience_s
        self._last: float | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Work goes on, one piece at a time."""
        self._last = time.monotonic()
        try:
            yield
        finally:
            self._last = None

    def step(self) -> None:
        """Something of the work was done."""
        if self._last is not None:
            self._last = time.monotonic()

    def silence(self) -> float:
        """For how long it has taken no step, in seconds; 0 while there is no work."""
        last = self._last
        return 0.0 if last is None else time.monotonic() - last
