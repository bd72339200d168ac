"""Presses of a button, made of the edges of its line. No clock and no I/O: who calls says when."""

from __future__ import annotations

from tools.drivers import Press
from tools.drivers.gpio.lines import Edge


class Presses:
    """One button. It tells "pressed" and "released" for push-to-talk, and "short" or "long" for what a press means.

    A long one is told while it is still held, so that who holds it feels when it is enough.
    """

    def __init__(self, long_s: float, held: bool = False) -> None:
        """A button as it is found.

        Args:
            long_s: From when on a press is long, in seconds.
            held: It is pressed at the start; that is no press, as nobody knows since when.
        """
        self._long_s = long_s
        self._active = held
        self._since: float | None = None

    @property
    def due_s(self) -> float | None:
        """When `held` is to be called, in seconds of the edges' clock; None is never."""
        return None if self._since is None else self._since + self._long_s

    def edge(self, edge: Edge) -> tuple[Press, ...]:
        """What an edge brings about. One that changes nothing, as after others were lost, brings nothing."""
        if edge.active is self._active:
            return ()
        self._active = edge.active
        if edge.active:
            self._since = edge.at_s
            return ("pressed",)
        since, self._since = self._since, None
        if since is None:
            return ("released",)
        # The edges may come late, both at once; their own times count.
        return ("released", "long" if edge.at_s - since >= self._long_s else "short")

    def lost(self) -> tuple[Press, ...]:
        """Its line is gone; who holds it to talk must not be heard for ever."""
        was_active, self._active, self._since = self._active, False, None
        return ("released",) if was_active else ()

    def held(self, now_s: float) -> tuple[Press, ...]:
        """What time brings about."""
        due = self.due_s
        if due is None or now_s < due:
            return ()
        self._since = None
        return ("long",)
