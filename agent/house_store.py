"""What a house may keep with the agent: things that become due, and documents of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from agent.due import DueItems
from agent.store import SessionStore
from agent.writes import Writes


class HouseStore:
    """Handed to `open_house`. What cannot be written is kept in memory, so that commands go on.

    Attributes:
        due: Timers, alarms, reminders, later commands and announcements.
    """

    def __init__(self, store: SessionStore | None = None, due: DueItems | None = None) -> None:
        """Opens nothing: the store stays its owner's to close; without one all is kept in memory."""
        self._store = store
        self._documents: dict[str, Any] = {}
        self._writes = Writes(store, self._prepare, self._names, "what the house keeps")
        self.due = due or DueItems(store)

    @property
    def keeps(self) -> bool:
        """Whether anything lasts; a house without that is only looked at, as by `hearth doctor`."""
        return self._store is not None

    async def read(self, name: str) -> Any:
        """The document of that name, as JSON; None where there is none.

        Raises:
            StoreError: It could not be read. That is not the same as none: who took it so would write over it.
        """
        if name not in self._documents and self._store is not None:
            contents = await asyncio.to_thread(self._store.document, name)
            self._documents.setdefault(name, contents)  # somebody may have written it meanwhile
        return self._documents.get(name)

    async def write(self, name: str, contents: Any) -> None:
        """Keeps a document, in the place of the one of that name.

        Args:
            name: Its name.
            contents: Anything that JSON has.
        """
        self._documents[name] = contents
        if self._store is not None:
            self._writes.mark(name)
            await self._writes.flush()

    async def run(self) -> None:
        """Writes what could not be written as soon as that works, until cancelled."""
        await self._writes.run()

    def _names(self) -> list[str]:
        return [name for name, contents in self._documents.items() if contents is not None]

    def _prepare(self, name: str) -> Callable[[], None]:
        assert self._store is not None
        return partial(self._store.put_document, name, self._documents[name])
