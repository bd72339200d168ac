"""Announcements."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent.due import MAX_ITEMS, Announcement
from tests.homes import call, open_devices, open_due, said
from tools.announce import Announcements


def heard(told: AsyncIterator[Announcement]) -> list[tuple[str, str | None]]:
    """What was told so far, and where."""
    queue = told._queue  # type: ignore[attr-defined]
    announcements = [queue.get_nowait() for _ in range(queue.qsize())]
    return [(each.text, each.item.room) for each in announcements]


@pytest.mark.parametrize(
    ("arguments", "rooms", "sentence"),
    [
        ({}, [None], "I announced it."),
        ({"room": "everywhere"}, [None], "I announced it."),
        ({"room": "the whole house"}, [None], "I announced it."),
        ({"room": "kitchen"}, ["Küche"], "I announced it in the Küche."),
        ({"room": "in the Kuche"}, ["Küche"], "I announced it in the Küche."),
        ({"room": "bed room"}, ["bedroom"], "I announced it in the bedroom."),
        ({"room": "mom and dad's room"}, ["mom and dad's room"], "I announced it in the mom and dad's room."),
        ({"room": "upstairs"}, ["bedroom", "bathroom"], "I announced it on the first floor."),
        ({"room": "sleeping rooms"}, ["bedroom", "mom and dad's room"], "I announced it in the sleeping rooms."),
        ({"room": "the movie lights"}, ["living room"], "I announced it in the movie lights."),
        ({"room": "the bathroom and upstairs"}, ["bathroom", "bedroom"],
         "I announced it in the bathroom and on the first floor."),
        ({"room": "kitchen, the hall and in the office"}, ["Küche", "hall", "office"],
         "I announced it in the Küche, in the hall and in the office."),
    ],
)  # fmt: skip
async def test_a_message_is_announced_at_once_in_each_room_where_it_is_wanted(
    arguments: dict[str, str], rooms: list[str | None], sentence: str
) -> None:
    devices, _ = open_devices()
    due, _ = open_due()
    told = due.announcements()

    assert await said(Announcements(devices, due).announce, message="Dinner is ready", **arguments) == sentence
    assert heard(told) == [("Dinner is ready.", room) for room in rooms]
    assert not due.items()


async def test_a_room_without_devices_hears_it_too() -> None:
    devices, _ = open_devices({"room": [{"name": "cellar"}]})
    due, _ = open_due()
    told = due.announcements()

    assert await said(Announcements(devices, due).announce, message="come up", room="cellar") == (
        "I announced it in the cellar."
    )
    assert heard(told) == [("come up.", "cellar")]


async def test_where_nobody_listens_nothing_is_said_to_be_announced() -> None:
    devices, _ = open_devices()
    due, _ = open_due()

    assert await call(Announcements(devices, due).announce, message="come up", room="hall") == {
        "error": "Nobody is listening, so nobody would hear it."
    }


@pytest.mark.parametrize(
    ("room", "error"),
    [
        ("pool", 'There is no room called "pool"; there is the kitchen, the hall and the attic.'),
        ("kitchen and pool", 'There is no room called "pool"; there is the kitchen, the hall and the attic.'),
        ("kitchen and attic", "There is no room in the attic."),
    ],
)
async def test_where_one_place_is_no_room_nothing_is_said(room: str, error: str) -> None:
    devices, _ = open_devices({"room": [{"name": "kitchen"}, {"name": "hall"}], "floor": [{"name": "attic"}]})
    due, _ = open_due()
    told = due.announcements()

    assert await call(Announcements(devices, due).announce, message="come in", room=room) == {"error": error}
    assert heard(told) == []


async def test_without_a_message_nothing_is_announced() -> None:
    devices, _ = open_devices()
    due, _ = open_due()
    told = due.announcements()

    assert await call(Announcements(devices, due).announce, message="  ") == {"error": "What shall I announce?"}
    assert heard(told) == []


async def test_with_two_hundred_timers_dinner_is_announced_all_the_same() -> None:
    devices, _ = open_devices()
    due, _ = open_due()
    told = due.announcements()
    for _ in range(MAX_ITEMS):
        await due.add("timer", seconds=3600)

    assert await said(Announcements(devices, due).announce, message="dinner is ready") == "I announced it."
    assert heard(told) == [("dinner is ready.", None)]


async def test_a_message_without_end_is_refused_and_unseen_letters_are_left_out() -> None:
    devices, _ = open_devices()
    due, _ = open_due()
    told = due.announcements()
    announcements = Announcements(devices, due)

    assert await call(announcements.announce, message="x" * 501) == {
        "error": "The message has 501 characters; at most 500 are taken."
    }
    await call(announcements.announce, message="dinner\x1b[2J is\x00 ready\u202e")
    assert heard(told) == [("dinner is ready.", None)]
    assert len((await call(announcements.announce, message="come", room="z" * 10_000))["error"]) < 400
