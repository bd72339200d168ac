"""Things that become due: timers, alarms, reminders, later commands. What is announced is told at once, and not kept.

A countdown is counted by a clock that nobody sets; only what is due at a time of day looks at the wall clock.

Each is told once. What is only said is told first and forgotten by the store then: if the power fails in the
milliseconds between, it is told again at the next start, as late, since a timer that is told twice costs a smile and
one that is never told costs the dinner. A command is forgotten first and carried out then: a door that moves twice is
worse than one that does not move, and one that is late by more than `LATE_S`, or that a full disk does not forget, is
not carried out at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final
from weakref import WeakSet

from agent.due.clocks import FIRST_YEAR, Clocks, SystemClocks, local_time, unix_time
from agent.due.countdown import Countdown
from agent.due.entry import Entry, last_missed, next_time, time_of
from agent.due.item import Announcement, DueItem, DueKind
from agent.due.words import (
    done_sentence,
    doubtful_sentence,
    due_sentence,
    failed_sentence,
    missed_sentence,
    unforgotten_sentence,
)
from agent.errors import AgentError, ArgumentError, HearthError, StoreError
from agent.journal import WORDS
from agent.progress import Progress
from agent.requester import requester_room
from agent.store import SessionStore
from agent.writes import RETRY_S, Writes

log = logging.getLogger(__name__)

MAX_ITEMS: Final = 200
"""How many may wait; also how many announcements a listener may be behind before it misses the oldest."""

LATE_S: Final = 60.0
"""What is due for longer than this is late: it says so, and a command is not carried out; in seconds."""

LOOK_S: Final = 1.0
"""How often the clocks are looked at while anything waits, in seconds: the wall clock may leap at any time."""

LEAP_S: Final = 2.0
"""From so many seconds on the wall clock was set, and did not only drift."""

START_S: Final = 30.0
"""Who begins to listen so soon after the start hears also what was told before: a channel may open late; in seconds."""

DAY_S: Final = 86_400.0

RANG: Final = "rang"
"""The id under which the alarm that rang last is kept: as a countdown that has been up since then."""

CarryOut = Callable[[DueItem], Awaitable[str]]
"""Carries out the words of a command that is due, and returns the answer; raises AgentError or NobodyToAskError."""


class NobodyToAskError(HearthError):
    """A command that is due had a question, and nobody is there to answer it; the text says what was not done."""


_is_carried_out: ContextVar[bool] = ContextVar("is_carried_out", default=False)
"""Whether what goes on is a command that was due."""


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


class DueItems:
    """Keeps, fires and tells what becomes due.

    Attributes:
        progress: Shows that `run` gets on.
    """

    def __init__(self, store: SessionStore | None, clocks: Clocks | None = None) -> None:
        """Reads what was kept.

        Args:
            store: Where it is kept; None keeps it in memory.
            clocks: Those of the board.
        """
        self._store = store
        self._clocks = clocks or SystemClocks()
        self._entries: dict[str, Entry] = {}
        self._writes = Writes(store, self._prepare, lambda: (*self._entries, RANG), "what becomes due")
        self._changed = asyncio.Event()
        self._carry_out: CarryOut | None = None
        self._carrying: set[asyncio.Task[None]] = set()
        self._one_after_another = asyncio.Lock()
        self._rang: Entry | None = None
        self._listeners: WeakSet[_Listener] = WeakSet()
        self._told_at_start: list[Announcement] = []
        self._started = self._clocks.countdown()
        self._was_read = False
        self.progress = Progress("what is due")
        self._read()

    def items(self, *kinds: DueKind) -> tuple[DueItem, ...]:
        """Those of some kinds, or all; what is due first comes first, what is paused last."""
        found = [entry for entry in self._entries.values() if not kinds or entry.item.kind in kinds]
        found.sort(key=lambda entry: (entry.item.paused, self.left(entry.item)))
        return tuple(entry.item for entry in found)

    def left(self, item: DueItem) -> float:
        """How many seconds an item has left, 0 or more; of a paused one what it had left."""
        entry = self._entries.get(item.id)
        if entry is None:
            return 0.0
        if entry.countdown:
            return max(0.0, entry.countdown.left(self._clocks))
        return max(0.0, unix_time(time_of(entry.item)) - self._clocks.wall())

    def at(self, item: DueItem) -> datetime:
        """When an item is due next, as naive local time; of a countdown to the second."""
        return item.at or local_time(round(self._clocks.wall() + self.left(item)))

    def now(self) -> datetime:
        """The local time, naive, by the wall clock."""
        return local_time(self._clocks.wall())

    @property
    def clock_is_set(self) -> bool:
        """False while the wall clock shows a time that cannot be: a board without a battery starts in 1970.

        That is a year before 2025, or more than a day before an item was kept (it may start at its image's date too).
        The second is believed once the system says that its clock is right, or the clock is set while we look on.
        """
        if self.now().year < FIRST_YEAR:
            return False
        kept = max((entry.wall for entry in self._entries.values() if entry.wall is not None), default=-math.inf)
        return self._clocks.wall() >= kept - DAY_S or self._clocks.is_synchronized()

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

        Without a room it is told where it was asked for; where nobody knows that, everywhere. In the night in which
        summer ends a time that has just passed is meant the second time that it comes.

        Raises:
            ArgumentError: There are too many already, or a command that is being carried out adds another one.
            ValueError, OverflowError: It has both a countdown and a time, or neither; or days without a time; or no
                clock ever shows that time.
        """
        if (seconds is None) == (at is None) or (days and at is None):
            raise ValueError("an item has a countdown, or a time and perhaps days")
        if kind == "command" and _is_carried_out.get():  # "in a minute in a minute ..." would never end
            raise ArgumentError("A command for later cannot put off another one.")
        if len(self._entries) >= MAX_ITEMS:
            raise ArgumentError(
                f"There are {MAX_ITEMS} timers, alarms and reminders already; cancel some of them first."
            )
        if at is not None and unix_time(at) < self._clocks.wall() <= unix_time(at.replace(fold=1)):
            at = at.replace(fold=1)
        room = room or requester_room()
        item = DueItem(_new_id(), kind, text, seconds, at, tuple(sorted(set(days))), room=room)
        countdown = None if seconds is None else Countdown(seconds, self._clocks.countdown())
        self._entries[item.id] = Entry(item, countdown, self._offset())
        await self._keep(item.id)
        return item

    def announce(self, text: str, room: str | None = None) -> DueItem:
        """Tells a message now, in a room or everywhere. Nothing of it is kept, so it takes nobody's place.

        Raises:
            ArgumentError: Nobody listens: it would be lost.
        """
        if not self._listeners:
            raise ArgumentError("Nobody is listening, so nobody would hear it.")
        item = DueItem(_new_id(), "announcement", text, seconds=0.0, room=room)
        self._tell(item, due_sentence(item, self.now(), 0.0), 0.0)
        return item

    async def remove(self, id: str) -> bool:
        """Takes an item back; False when there is none (any more)."""
        if self._entries.pop(id, None) is None:
            return False
        await self._keep(id)
        return True

    async def pause(self, id: str) -> DueItem:
        """Stops a countdown; one that stands still stays so.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        entry, countdown = self._countdown(id)
        return await self._change(entry, countdown.paused(self._clocks), replace(entry.item, paused=True))

    async def resume(self, id: str) -> DueItem:
        """Lets a countdown go on; one that goes on goes on.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        entry, countdown = self._countdown(id)
        return await self._change(entry, countdown.resumed(self._clocks), replace(entry.item, paused=False))

    async def extend(self, id: str, seconds: float) -> DueItem:
        """Adds time to a countdown, or takes it off; one that has none left is due at once.

        Raises:
            KeyError: There is no such countdown (any more).
        """
        entry, countdown = self._countdown(id)
        altogether = max(0.0, (entry.item.seconds or 0.0) + seconds)
        item = replace(entry.item, seconds=altogether)
        return await self._change(entry, countdown.extended(seconds, self._clocks), item)

    def rang_within(self, seconds: float) -> DueItem | None:
        """The alarm that was told last, if that was not longer ago, whatever was restarted or set since."""
        if self._rang is None or self._rang.countdown is None:
            return None
        return self._rang.item if -self._rang.countdown.left(self._clocks) <= seconds else None

    def announcements(self) -> AsyncIterator[Announcement]:
        """What is told from now on; in the first `START_S` also what was told since the start.

        Each caller has all of them. One that is too slow misses the oldest, and holds up nobody.
        """
        listener = _Listener()
        if self._clocks.countdown() - self._started < START_S:
            for announcement in self._told_at_start:
                listener.tell(announcement)
        self._listeners.add(listener)
        return listener

    async def run(self, carry_out: CarryOut | None = None) -> None:
        """Fires what is due until cancelled; nothing else ends it.

        Args:
            carry_out: Carries out commands; without it they are told as not done.
        """
        self._carry_out = carry_out
        self._started = self._clocks.countdown()
        writing = asyncio.create_task(self._writes.run(), name="due items")
        try:
            while True:
                self._changed.clear()
                wait: float | None = LOOK_S
                try:
                    with self.progress.at_work():
                        wait = await self.fire_due()
                except Exception:
                    log.exception("what is due could not be looked at")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), wait)
        finally:
            tasks = (writing, *self._carrying)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def fire_due(self) -> float | None:
        """Fires what is due by now; `run` does this whenever something may be.

        Returns:
            When to look again, in seconds; None: when something changes.
        """
        if not self._was_read and self._clocks.countdown() - self._read_at >= RETRY_S:
            self._read()
        self._follow_the_clock()
        commands: list[tuple[Entry, DueItem, float, bool]] = []
        for entry, late_s in self._due():
            waited = entry.item
            is_doubtful = entry.countdown is not None and entry.countdown.is_doubtful(self._clocks)
            try:
                item = self._take(entry)
                if item.kind == "command":
                    commands.append((entry, item, late_s, is_doubtful))
                else:
                    self._tell(item, due_sentence(item, self.now(), late_s), late_s)
            except Exception:
                log.exception("the %s %s could not be told", waited.kind, waited.id)
                if entry.item is waited:  # still due, so it would fail again each second until the next start
                    self._entries.pop(waited.id, None)
        if self._writes.has_changed:
            await self._writes.flush()
        for entry, item, late_s, is_doubtful in commands:
            if late_s:
                self._tell(item, missed_sentence(item, late_s), late_s)
            elif is_doubtful:
                self._tell(item, doubtful_sentence(item), 0.0)
            elif entry.is_kept and item.id in self._writes.pending:
                self._tell(item, unforgotten_sentence(item), 0.0)
            else:
                task = asyncio.create_task(self._carry(item), name=f"due command {item.id}")
                self._carrying.add(task)
                task.add_done_callback(self._carrying.discard)
        return self._next_look()

    # Firing

    def _due(self) -> list[tuple[Entry, float]]:
        """What is due, and by how many seconds it is late; what is due for longest comes first."""
        clock_is_set = self.clock_is_set
        overdue = []
        for entry in list(self._entries.values()):
            try:
                overdue.append((self._overdue(entry, clock_is_set), entry))
            except Exception:  # it would hold up all others
                log.exception("the %s %s is left out: nobody can say when it is due", entry.item.kind, entry.item.id)
                del self._entries[entry.item.id]
        due = sorted((each for each in overdue if each[0] >= 0), key=lambda each: each[0], reverse=True)
        return [(entry, seconds if seconds > LATE_S else 0.0) for seconds, entry in due]

    def _overdue(self, entry: Entry, clock_is_set: bool) -> float:
        """For how many seconds it is due; below 0 it is not."""
        if entry.countdown:
            return -math.inf if entry.item.paused else -entry.countdown.left(self._clocks)
        if not clock_is_set:
            return -math.inf
        wall = self._clocks.wall()
        return wall - unix_time(last_missed(entry.item, wall))

    def _take(self, entry: Entry) -> DueItem:
        """Takes out what is due, or sets it for the next time; returns it as it was due."""
        item = entry.item
        if item.days:
            item = replace(item, at=last_missed(item, self._clocks.wall()))
            entry.fired = item.at
            entry.item = replace(item, at=next_time(entry, self._clocks.wall()))
        else:
            del self._entries[item.id]
        if item.kind == "alarm":
            rang = replace(item, id=RANG, seconds=0.0, at=None, days=())
            self._rang = Entry(rang, Countdown(0.0, self._clocks.countdown()), self._offset())
            self._mark(RANG)
        self._mark(item.id)
        return item

    async def _carry(self, item: DueItem) -> None:
        _is_carried_out.set(True)  # for this task, and for those that begin in it
        try:
            if self._carry_out is None:
                sentence = failed_sentence(item, "there is nobody here to do it")
            else:
                async with self._one_after_another:  # many at once would be more than a house takes in
                    sentence = done_sentence(item, await self._carry_out(item))
        except (AgentError, NobodyToAskError) as error:
            sentence = failed_sentence(item, str(error))
        except Exception:
            log.exception("the command %s, which was due, ended for a fault of our own", item.id)
            sentence = failed_sentence(item, "something went wrong inside; the log says what")
        self._tell(item, sentence, 0.0)

    def _tell(self, item: DueItem, sentence: str, late_s: float) -> None:
        announcement = Announcement(item, sentence, late_s)
        late = f", {late_s:.0f} s late" if late_s else ""
        log.info("told the %s %s%s", item.kind, item.id, late, extra={WORDS: sentence})
        if self._clocks.countdown() - self._started < START_S:
            self._told_at_start.append(announcement)
        for listener in list(self._listeners):
            listener.tell(announcement)

    def _next_look(self) -> float | None:
        """How long nothing can be due, in seconds; None is until something changes."""
        if self._entries:
            clock_is_set = self.clock_is_set
            soonest = -max(self._overdue(entry, clock_is_set) for entry in self._entries.values())
            return min(LOOK_S, max(0.01, soonest))
        return None if self._was_read else LOOK_S

    # The wall clock

    def _offset(self) -> float:
        """Changes when the wall clock is set, and else hardly."""
        return self._clocks.wall() - self._clocks.countdown()

    def _follow_the_clock(self) -> None:
        """Sees to what has to change when the wall clock was set, or is known to be right at last."""
        if self.now().year < FIRST_YEAR:
            return
        wall, offset = self._clocks.wall(), self._offset()
        clock_is_set = self.clock_is_set
        for entry in self._entries.values():
            was_set = abs(offset - entry.offset) > LEAP_S
            is_back = (was_set or clock_is_set) and entry.wall is not None and wall < entry.wall - LATE_S
            if is_back and entry.item.days:  # it is due again earlier than by the clock that was ahead
                entry.item = replace(entry.item, at=next_time(entry, wall))
            settles = entry.countdown is not None and entry.countdown.can_settle and self._clocks.is_synchronized()
            if settles and entry.countdown:
                entry.countdown = entry.countdown.settled(self._clocks)
            if was_set or settles or (is_back and entry.item.days):
                # Kept again: after a power cut only the wall clock can say how much time has passed.
                entry.offset, entry.wall = offset, wall
                self._mark(entry.item.id)

    # Keeping

    def _countdown(self, id: str) -> tuple[Entry, Countdown]:
        entry = self._entries[id]
        if entry.countdown is None:
            raise KeyError(id)
        return entry, entry.countdown

    async def _change(self, entry: Entry, countdown: Countdown, item: DueItem) -> DueItem:
        if (countdown, item) != (entry.countdown, entry.item):
            entry.countdown, entry.item = countdown, item
            await self._keep(item.id)
        return item

    async def _keep(self, id: str) -> None:
        self._changed.set()
        self._mark(id)
        await self._writes.flush()

    def _mark(self, id: str) -> None:
        if self._store:
            self._writes.mark(id)

    def _prepare(self, id: str) -> Callable[[], None]:
        assert self._store is not None
        entry = self._rang if id == RANG else self._entries.get(id)
        if entry is None:
            return partial(self._store.remove_due, id)
        entry.offset = self._offset()
        if self.clock_is_set:
            entry.wall = self._clocks.wall()
        return partial(self._put, self._store, entry, entry.to_record(self._clocks, self.clock_is_set))

    @staticmethod
    def _put(store: SessionStore, entry: Entry, record: dict[str, Any]) -> None:
        store.put_due(entry.item.id, record)
        entry.is_kept = True

    def _read(self) -> None:
        self._read_at = self._clocks.countdown()
        try:
            records = self._store.due_items() if self._store else []
        except StoreError as error:
            log.warning("what becomes due cannot be read: %s", error)
            return
        self._was_read = True
        for record in records:
            try:
                entry = Entry.from_record(record, self._clocks)
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                id = record.get("id") if isinstance(record, dict) else None
                log.warning("what was kept of the due item %s is damaged and is left out: %s", id, type(error).__name__)
                continue
            if entry.item.id == RANG:
                self._rang = self._rang or entry
            else:
                self._entries.setdefault(entry.item.id, entry)
            if record.get("boot", self._clocks.boot) != self._clocks.boot:
                self._mark(entry.item.id)  # what it counts in this boot is to outlive the service too


class _Listener(AsyncIterator[Announcement]):
    """What one listener has still to hear."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Announcement] = asyncio.Queue(MAX_ITEMS)

    def tell(self, announcement: Announcement) -> None:
        """Never waits."""
        if self._queue.full():
            item = self._queue.get_nowait().item
            log.warning("a listener is too slow, it misses the %s %s", item.kind, item.id)
        self._queue.put_nowait(announcement)

    async def __anext__(self) -> Announcement:
        return await self._queue.get()
