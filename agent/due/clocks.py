"""The clocks of a board: one that nobody sets, and the wall clock, which starts wrong, leaps and goes back."""

from __future__ import annotations

import ctypes
import time
import uuid
from datetime import datetime
from pathlib import Path
from typing import Final, Protocol

FIRST_YEAR: Final = 2025
"""A wall clock that shows less was never set: a board without a battery starts in 1970."""

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
SYNCHRONIZED: Final = Path("/run/systemd/timesync/synchronized")
CLOCK_IS_UNSYNCHRONIZED: Final = 5


class Clocks(Protocol):
    """What time it is, in two ways."""

    @property
    def boot(self) -> str:
        """Which run of the machine this is; readings of `countdown` compare within one only."""
        ...

    def countdown(self) -> float:
        """Seconds by a clock that nobody sets. It goes on while the board is suspended."""
        ...

    def wall(self) -> float:
        """Seconds of Unix time, as the board has it."""
        ...

    def is_synchronized(self) -> bool:
        """Whether the system knows that the wall clock is right."""
        ...


class SystemClocks:
    """Those of this machine."""

    def __init__(self) -> None:
        try:
            self.boot = BOOT_ID.read_text().strip()
        except OSError:  # without one each process is on its own
            self.boot = uuid.uuid4().hex
        # That of asyncio stands still in a suspended board; only Linux has the other.
        self._clock: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

    def countdown(self) -> float:
        """Seconds by a clock that nobody sets."""
        return time.clock_gettime(self._clock)

    def wall(self) -> float:
        """Seconds of Unix time."""
        return time.time()

    def is_synchronized(self) -> bool:
        """Whether the system knows that the wall clock is right."""
        return clock_is_synchronized()


def clock_is_synchronized() -> bool:
    """Whether the wall clock is known to be right: a board without a battery starts in the past, and then leaps.

    systemd-timesyncd leaves a file; of chrony and ntpd the kernel knows.
    """
    if SYNCHRONIZED.exists():
        return True
    try:
        # `struct timex` of zeros only asks, and its size differs from board to board: 512 is enough for all.
        state: int = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    except (OSError, AttributeError):
        return False
    return 0 <= state < CLOCK_IS_UNSYNCHRONIZED


def local_time(unix: float) -> datetime:
    """What a clock on the wall of this house shows then, naive."""
    return datetime.fromtimestamp(unix)


def unix_time(at: datetime) -> float:
    """When a clock on the wall of this house shows a time, or where that is left out, a later one.

    In the night in which summer begins, 2:30 is left out and 3:00 is taken; in the one in which it ends, 2:30 comes
    twice and `fold` says which.

    Args:
        at: A naive local time.

    Raises:
        ValueError, OverflowError: It is at the end of all time, and no clock shows it.
    """
    shown = at.timestamp()
    if local_time(shown) == at:
        return shown
    # Python reads a time that is left out by the offset before the gap, or after it; the gap is in between.
    before, after = at.replace(fold=1).timestamp(), at.replace(fold=0).timestamp()
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if local_time(middle) >= at else (middle, after)
    return after
