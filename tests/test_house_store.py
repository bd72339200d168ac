"""What a house keeps: on a store that works, and on one that does not for a while."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from agent import writes
from agent.errors import StoreError
from agent.house_store import HouseStore
from agent.store import SessionStore


class Documents:
    """The documents of a session store.

    Attributes:
        kept: By name, as JSON.
        openings: How often there was another file.
        trouble: Raised instead of reading or writing.
    """

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.openings = 1
        self.trouble: Exception | None = None

    def document(self, name: str) -> Any:
        if self.trouble:
            raise self.trouble
        return json.loads(self.kept.get(name, "null"))

    def put_document(self, name: str, contents: Any) -> None:
        if self.trouble:
            raise self.trouble
        self.kept[name] = json.dumps(contents)

    def due_items(self) -> list[dict[str, Any]]:
        return []


@pytest.fixture
def documents() -> Documents:
    return Documents()


@pytest.fixture
async def house(documents: Documents) -> HouseStore:
    return HouseStore(cast(SessionStore, documents))


async def test_a_document_is_there_after_a_restart(tmp_path: Path) -> None:
    with closing(SessionStore(tmp_path / "sessions.db")) as store:
        house = HouseStore(store)
        assert await house.read("shopping") is None
        await house.write("shopping", ["milk"])
        assert await house.read("shopping") == ["milk"]
    with closing(SessionStore(tmp_path / "sessions.db")) as store:
        assert await HouseStore(store).read("shopping") == ["milk"]


def _is_kept(store: SessionStore) -> bool:
    """Whether there is something due and a list; a call that meets the damage fails."""
    with suppress(StoreError):
        return bool(store.due_items() and store.document("shopping"))
    return False


async def test_a_store_that_is_damaged_while_it_is_open_is_written_again_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what does not change any more: an alarm and a list."""
    path = tmp_path / "sessions.db"
    monkeypatch.setattr(writes, "RETRY_S", 0.01)
    with closing(SessionStore(path)) as store:
        house = HouseStore(store)
        alarm = await house.due.add("alarm", at=datetime.now().replace(microsecond=0) + timedelta(days=1))
        await house.write("shopping", ["milk"])
        for file in tmp_path.iterdir():  # in place, as a worn card does it: the service has them open
            with file.open("r+b") as opened:
                opened.write(b"rubbish " * (file.stat().st_size // 8))
        running = [asyncio.create_task(house.run()), asyncio.create_task(house.due.run())]
        async with asyncio.timeout(10):
            while not (_is_kept(store) and list(tmp_path.glob("sessions.db.damaged-*"))):
                await asyncio.sleep(0.01)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    with closing(SessionStore(path)) as store:
        after = HouseStore(store)

        assert after.due.items() == (alarm,)
        assert await after.read("shopping") == ["milk"]


async def test_without_a_store_documents_are_kept_in_memory() -> None:
    house = HouseStore()
    await house.write("shopping", ["milk"])

    assert await house.read("shopping") == ["milk"]


async def test_what_cannot_be_read_is_not_taken_for_empty(documents: Documents, house: HouseStore) -> None:
    """Who took it so would write over it."""
    documents.kept["shopping"] = '["milk"]'
    documents.trouble = StoreError("the disk is gone")
    with pytest.raises(StoreError):
        await house.read("shopping")
    documents.trouble = None

    assert await house.read("shopping") == ["milk"]


async def test_on_a_full_disk_a_document_is_in_memory_with_one_line_and_is_written_later(
    documents: Documents, house: HouseStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await house.write("shopping", ["milk"])
    documents.trouble = StoreError("database or disk is full")
    await house.write("to do", ["tea"])
    await house.write("to do", ["tea", "nap"])
    assert await house.read("to do") == ["tea", "nap"]
    documents.kept.clear()  # a damaged store begins anew
    documents.openings += 1
    documents.trouble = None
    monkeypatch.setattr(writes, "RETRY_S", 0.01)
    running = asyncio.create_task(house.run())
    async with asyncio.timeout(10):
        while len(documents.kept) < 2:
            await asyncio.sleep(0.01)
    running.cancel()

    assert documents.kept == {"shopping": '["milk"]', "to do": '["tea", "nap"]'}
    assert len([record for record in caplog.records if "disk is full" in record.message]) == 1
