"""An item as it is kept: with its countdown, and what the clocks showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, get_args

from agent.due.clocks import Clocks, local_time, unix_time
from agent.due.countdown import Countdown
from agent.due.item import DueItem, DueKind


@dataclass(eq=False)
class Entry:
    """An item, and what only its keeper needs to know of it.

    Attributes:
        item: As others see it.
        countdown: For a countdown.
        offset: Between the two clocks, when it was kept or read.
        wall: What the wall clock showed when it was kept; None: it was not set.
        fired: Of one that is due again: when it was due last.
        is_kept: Whether the store has it.
    """

    item: DueItem
    countdown: Countdown | None
    offset: float
    wall: float | None = None
    fired: datetime | None = None
    is_kept: bool = False

    def to_record(self, clocks: Clocks, clock_is_set: bool) -> dict[str, Any]:
        """As it is kept."""
        record = {**asdict(self.item), "at": _text(self.item.at), "wall": self.wall, "fired": _text(self.fired)}
        if self.item.at:
            record["fold"] = self.item.at.fold
        if self.countdown:
            record |= self.countdown.to_record(clocks, clocks.wall() if clock_is_set else None)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], clocks: Clocks) -> Entry:
        """The reverse.

        Raises:
            ValueError, KeyError, TypeError, OverflowError: It is none.
        """
        if record["kind"] not in get_args(DueKind):
            raise ValueError(f"kind is {record['kind']!r}")
        seconds, at = record["seconds"], _time(record["at"])
        if (seconds is None) == (at is None):
            raise ValueError("it has both a countdown and a time, or neither")
        if at is not None:
            at = at.replace(fold=int(record.get("fold", 0)))
            unix_time(at)
        item = DueItem(
            str(record["id"]),
            record["kind"],
            str(record["text"]),
            None if seconds is None else float(seconds),
            at,
            tuple(int(day) % 7 for day in record["days"]),
            bool(record["paused"]),
            record["room"],
        )
        countdown = None if seconds is None else Countdown.from_record(record, clocks)
        wall = None if record["wall"] is None else float(record["wall"])
        return cls(item, countdown, clocks.wall() - clocks.countdown(), wall, _time(record["fired"]), is_kept=True)


def time_of(item: DueItem) -> datetime:
    assert item.at is not None
    return item.at


def last_missed(item: DueItem, wall: float) -> datetime:
    """When it was due last until now: of an alarm of every day only the last one is told after a week away."""
    at = time_of(item)
    if item.days:
        for day in range(7):
            time = datetime.combine(local_time(wall).date() - timedelta(day), at.time())
            if time > at and time.weekday() in item.days and unix_time(time) <= wall:
                return time
    return at


def next_time(entry: Entry, wall: float) -> datetime:
    """When it is due next, but not when it was due already: what a clock that is set back comes to again rings once."""
    return next(
        time
        for time in _times(time_of(entry.item), entry.item.days, local_time(wall))
        if unix_time(time) > wall and time != entry.fired
    )


def _times(at: datetime, days: tuple[int, ...], begin: datetime) -> Iterator[datetime]:
    for day in range(15):
        time = datetime.combine(begin.date() + timedelta(day), at.time())
        if time.weekday() in days:
            yield time


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
