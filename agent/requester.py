"""Where the person is for whom something is being done.

A tool is handed its arguments only, and what it keeps for later should be told where it was asked for: a timer that
was set in the kitchen rings there. Each call runs in a task of its own, and so each knows its own room.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_room: ContextVar[str | None] = ContextVar("requester_room", default=None)


def requester_room() -> str | None:
    """The room in which the person is whose turn this is; None where that is not known, or nobody asked."""
    return _room.get()


@contextmanager
def asked_in(room: str | None) -> Iterator[None]:
    """What begins in here is done for somebody in this room."""
    before = _room.set(room)
    try:
        yield
    finally:
        _room.reset(before)
