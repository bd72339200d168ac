"""A countdown that goes on through restarts and power cuts, and knows which clock to believe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.due.clocks import Clocks


@dataclass(frozen=True)
class Countdown:
    """A countdown, as it was when it was last touched.

    It is counted by the clock that nobody sets. Only of the time in which the board had no power that clock knows
    nothing: across it the wall clock is looked at, and may bring the end nearer, never put it off. So a wall clock
    that starts in 1970 is not believed, and as soon as it leaps to the present it is.

    Attributes:
        seconds: What was left then.
        since: What the clock that nobody sets showed then; None: it stands still.
        wall_due: Of one that was begun before a power cut: when it is up by the wall clock, in Unix time; infinity
            where that was not set then.
    """

    seconds: float
    since: float | None
    wall_due: float | None = None

    def left(self, clocks: Clocks) -> float:
        """How many seconds it has left; below 0 is how long it has been up."""
        if self.since is None:
            return self.seconds
        left = self.seconds - max(0.0, clocks.countdown() - self.since)
        return left if self.wall_due is None else min(left, self.wall_due - clocks.wall())

    def is_doubtful(self, clocks: Clocks) -> bool:
        """True where nobody can say for how long the power was away: the wall clock was not set then, or is not now."""
        if self.since is None or self.wall_due is None:
            return False
        # By a clock that goes on from where it was, as much is left, or less.
        counted = self.seconds - (clocks.countdown() - self.since)
        return self.wall_due - clocks.wall() > counted + 1.0

    def paused(self, clocks: Clocks) -> Countdown:
        """Standing still."""
        return Countdown(max(0.0, self.left(clocks)), None)

    def resumed(self, clocks: Clocks) -> Countdown:
        """Going on."""
        return Countdown(self.seconds, clocks.countdown()) if self.since is None else self

    def extended(self, seconds: float, clocks: Clocks) -> Countdown:
        """With more time, or less; one that has none left is up now, not since a while."""
        left = self.left(clocks) + seconds
        if self.since is None:
            return Countdown(max(0.0, left), None)
        if left <= 0 or self.wall_due is None:
            return Countdown(max(0.0, left), clocks.countdown())
        return Countdown(left, clocks.countdown(), self.wall_due + seconds)

    def settled(self, clocks: Clocks) -> Countdown:
        """With what is left by the wall clock, which is known to be right: whoever sets it later changes nothing."""
        return Countdown(self.left(clocks), clocks.countdown()) if self.can_settle else self

    @property
    def can_settle(self) -> bool:
        """Whether the wall clock is all that is missing."""
        return self.wall_due is not None and math.isfinite(self.wall_due)

    def to_record(self, clocks: Clocks, wall: float | None) -> dict[str, Any]:
        """As it is kept.

        Args:
            clocks: Those of the board.
            wall: What the wall clock shows now; None: it is not set.
        """
        left = self.left(clocks)
        if self.since is None:
            return {"left": left}
        # What an earlier boot knew stays: the clock of this one may not have been set yet.
        wall_due = self.wall_due if self.wall_due is not None else math.inf if wall is None else wall + left
        return {
            "left": left,
            "boot": clocks.boot,
            "since": clocks.countdown(),
            "wall_due": wall_due if math.isfinite(wall_due) else None,
            "begun_before": self.wall_due is not None,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], clocks: Clocks) -> Countdown:
        """The reverse of `to_record`.

        Raises:
            ValueError, KeyError, TypeError: It is none.
        """
        left = float(record["left"])
        if "boot" not in record:
            return cls(left, None)
        wall_due = math.inf if record["wall_due"] is None else float(record["wall_due"])
        if record["boot"] == clocks.boot:
            return cls(left, float(record["since"]), wall_due if record["begun_before"] else None)
        # How long ago the power came back only the countdown clock could say, and that of a container starts with
        # its host; so it goes on with what it had left.
        return cls(left, clocks.countdown(), wall_due)
