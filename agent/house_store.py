"""What a house may keep with the agent: things that become due, and documents of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agent.due import DueItems
from agent.errors import StoreError
from agent.store import SessionStore

log = logging.getLogger(__name__)


class HouseStore:
    """Handed to `open_house`. What cannot be written is kept in memory, so that commands go on.

    Attributes:
        due: Timers, alarms, reminders, later commands and announcements.
    """

    def __init__(self, store: SessionStore | None = None, due: DueItems | None = None) -> None:
        """Opens nothing: the store stays its owner's to close; without one all is kept in memory."""
        self._store = store
        self._documents: dict[str, Any] = {}
        self._trouble = ""
        self.due = due or DueItems(store)

    async def read(self, name: str) -> Any:
        """The document of that name, as JSON; None where there is none."""
        if name not in self._documents and self._store is not None:
            try:
                self._documents[name] = await asyncio.to_thread(self._store.document, name)
            except StoreError as error:
                log.warning("the document %s cannot be read: %s", name, error)
        return self._documents.get(name)

    async def write(self, name: str, contents: Any) -> None:
        """Keeps a document, in the place of the one of that name.

        Args:
            name: Its name.
            contents: Anything that JSON has.
        """
        self._documents[name] = contents
        if self._store is None:
            return
        try:
            await asyncio.to_thread(self._store.put_document, name, contents)
        except StoreError as error:
            if str(error) != self._trouble:  # once for each reason, not once a write while a disk is full
                log.warning("the document %s is kept in memory only: %s", name, error)
            self._trouble = str(error)
        else:
            self._trouble = ""
