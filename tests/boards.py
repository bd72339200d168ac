"""A board whose clocks are moved by the test, and whose power can fail."""

from __future__ import annotations

from datetime import datetime

from agent.due.clocks import unix_time

NOON = datetime(2026, 3, 5, 12)
"""A Thursday."""


class Board:
    """The clocks of a board; time passes when the test says so.

    Attributes:
        boot: The id of the boot, another one after each power cut.
        synchronized: Whether the system knows that its wall clock is right.
    """

    def __init__(self, at: datetime = NOON, *, synchronized: bool = True) -> None:
        self.boot = "boot 1"
        self.synchronized = synchronized
        self._wall = unix_time(at)
        self._countdown = 40.0

    def countdown(self) -> float:
        return self._countdown

    def wall(self) -> float:
        return self._wall

    def is_synchronized(self) -> bool:
        return self.synchronized

    def go(self, seconds: float) -> None:
        """Lets time pass."""
        self._countdown += seconds
        self._wall += seconds

    def set(self, at: datetime, *, synchronized: bool = True) -> None:
        """Sets the wall clock."""
        self._wall = unix_time(at)
        self.synchronized = synchronized

    def leap(self, seconds: float) -> None:
        """Sets the wall clock forward, or back."""
        self._wall += seconds

    def lose_power(self, seconds: float, wall: datetime | None = None) -> None:
        """Starts again after so long without power.

        Args:
            seconds: How long.
            wall: What the wall clock shows then; None: it has a battery, and goes on.
        """
        self.boot = f"boot {int(self.boot.split()[1]) + 1}"
        self._countdown = 40.0
        self._wall += seconds
        if wall is not None:
            self.set(wall, synchronized=False)
