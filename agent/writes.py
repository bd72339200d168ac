"""Writes that may fail: what a full or read-only disk refuses is kept in memory, and written when it can be.

So is all that was written before, where the store had to begin anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from agent.errors import StoreError
from agent.store import SessionStore

log = logging.getLogger(__name__)

RETRY_S: Final = 60.0
"""How long after a failed write it is tried again, in seconds."""


class Writes:
    """Keeps the store as the memory is, one key at a time.

    Attributes:
        pending: The keys under which the store is not as the memory is, the longest first.
        has_changed: Something was marked that was not yet tried to be written.
    """

    def __init__(
        self,
        store: SessionStore | None,
        prepare: Callable[[str], Callable[[], None]],
        keys: Callable[[], Iterable[str]],
        what: str,
    ) -> None:
        """Writes nothing yet.

        Args:
            store: Where it is written; None: nowhere.
            prepare: Gives the blocking write that makes a key of the store as the memory is now.
            keys: All that the memory has.
            what: What is written, for the log: "what becomes due".
        """
        self.pending: dict[str, None] = {}
        self.has_changed = False
        self._store = store
        self._openings = store.openings if store else 0
        self._prepare = prepare
        self._keys = keys
        self._what = what
        self._trouble = ""
        self._one_at_a_time = asyncio.Lock()

    def mark(self, key: str) -> None:
        """The memory has changed under this key."""
        self.pending[key] = None
        self.has_changed = True

    async def flush(self) -> None:
        """Writes all that is pending, as far as that goes; a failure is logged, not raised."""
        async with self._one_at_a_time:
            self.has_changed = False
            while self._is_behind() and await self._write(next(iter(self.pending))):
                pass

    async def run(self) -> None:
        """Writes what could not be written before, or is lost, until cancelled; nothing else ends it."""
        while True:
            await asyncio.sleep(RETRY_S)
            try:
                await self.flush()
            except Exception:
                log.exception("%s could not be written", self._what)

    def _is_behind(self) -> bool:
        if self._store and self._store.openings != self._openings:  # it may be another file: a damaged one is set aside
            self._openings = self._store.openings
            self.pending |= dict.fromkeys(self._keys())
        return bool(self.pending)

    async def _write(self, key: str) -> bool:
        # Taken out first: a change that comes while this is being written is to be written after it.
        del self.pending[key]
        try:
            await asyncio.to_thread(self._prepare(key))
        except asyncio.CancelledError:
            self.pending[key] = None
            raise
        except StoreError as error:
            self.pending[key] = None
            if str(error) != self._trouble:  # once for each reason, not once a write while a disk is full
                log.warning("%s is in memory only: %s", self._what, error)
            self._trouble = str(error)
            return False
        if self._trouble:
            log.info("%s can be kept again", self._what)
        self._trouble = ""
        return True
