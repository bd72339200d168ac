"""Things that become due: timers, alarms, reminders, later commands, announcements.

A countdown is counted by a clock that nobody sets; only what is due at a time of day looks at the wall clock.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.store import SessionStore

DueKind = Literal["timer", "alarm", "reminder", "command", "announcement"]


@dataclass(frozen=True)
class DueItem:
    """Something that becomes due.

    Attributes:
        id: Its id.
        kind: What it is.
        text: The name of a timer or an alarm ("" without one), what to be reminded of, the words of a command,
            what is announced.
        seconds: For a countdown: how long it is altogether, what was added and taken off included.
        at: For what is due by the wall clock: when next, as naive local time.
        days: The weekdays on which it is due again, Monday is 0; none is once.
        paused: A countdown that stands still.
        room: Where it is to be told; None is everywhere.
    """

    id: str
    kind: DueKind
    text: str = ""
    seconds: float | None = None
    at: datetime | None = None
    days: tuple[int, ...] = ()
    paused: bool = False
    room: str | None = None


@dataclass(frozen=True)
class Announcement:
    """What is told to people when an item is due.

    Attributes:
        item: Which one.
        text: The sentence.
        late_s: By how many seconds it comes too late, 0 where it does not.
    """

    item: DueItem
    text: str
    late_s: float = 0.0


class DueItems:
    """Keeps, fires and tells what becomes due."""

    def __init__(self, store: SessionStore | None) -> None:
        self._store = store

    def items(self, *kinds: DueKind) -> tuple[DueItem, ...]:
        """Those of some kinds, or all; what is due first comes first, what is paused last."""
        raise NotImplementedError

    def left(self, item: DueItem) -> float:
        """How many seconds an item has left, 0 or more; of a paused one what it had left."""
        raise NotImplementedError

    def now(self) -> datetime:
        """The local time, naive, by the wall clock."""
        raise NotImplementedError

    @property
    def clock_is_set(self) -> bool:
        """False while the wall clock shows a time that cannot be: a board without a battery starts in 1970."""
        raise NotImplementedError

    async def add(
        self,
        kind: DueKind,
        text: str = "",
        *,
        seconds: float | None = None,
        at: datetime | None = None,
        days: tuple[int, ...] = (),
        room: str | None = None,
    ) -> DueItem:
        """Adds an item: a countdown of `seconds`, or one that is due `at` a local time.

        Raises:
            ArgumentError: There are too many already.
        """
        raise NotImplementedError

    async def remove(self, id: str) -> bool:
        """Takes an item back; False when there is none (any more)."""
        raise NotImplementedError

    async def pause(self, id: str) -> DueItem:
        """Stops a countdown; one that stands still stays so.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        raise NotImplementedError

    async def resume(self, id: str) -> DueItem:
        """Lets a countdown go on; one that goes on goes on.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        raise NotImplementedError

    async def extend(self, id: str, seconds: float) -> DueItem:
        """Adds time to a countdown, or takes it off; one that has none left is due at once.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        raise NotImplementedError

    def last_fired(self, kind: DueKind) -> DueItem | None:
        """The item of a kind that was due last since the start, for snoozing it."""
        raise NotImplementedError

    def announcements(self) -> AsyncIterator[Announcement]:
        """What is told from now on."""
        raise NotImplementedError

    async def run(self) -> None:
        """Fires what is due until cancelled."""
        raise NotImplementedError
