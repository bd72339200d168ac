"""Announcements."""

from __future__ import annotations

import pytest

from tests.homes import call, open_devices, open_due, said
from tools.announce import Announcements


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
        ({"room": "upstairs"}, ["first floor"], "I announced it on the first floor."),
        ({"room": "kitchen, the hall and in the office"}, ["Küche", "hall", "office"],
         "I announced it in the Küche, in the hall and in the office."),
    ],
)  # fmt: skip
async def test_a_message_is_announced_where_it_is_wanted(
    arguments: dict[str, str], rooms: list[str | None], sentence: str
) -> None:
    devices, _ = open_devices()
    due, _ = open_due()

    assert await said(Announcements(devices, due).announce, message="Dinner is ready", **arguments) == sentence
    assert [(item.text, item.room, item.seconds) for item in due.items("announcement")] == [
        ("Dinner is ready", room, 0) for room in rooms
    ]


async def test_a_room_without_devices_hears_it_too() -> None:
    devices, _ = open_devices({"room": [{"name": "cellar"}]})
    due, _ = open_due()

    assert await said(Announcements(devices, due).announce, message="come up", room="cellar") == (
        "I announced it in the cellar."
    )


@pytest.mark.parametrize("room", ["pool", "kitchen and pool"])
async def test_an_unknown_room_is_answered_with_those_there_are_and_nothing_is_said(room: str) -> None:
    devices, _ = open_devices({"room": [{"name": "kitchen"}, {"name": "hall"}], "floor": [{"name": "attic"}]})
    due, _ = open_due()

    assert await call(Announcements(devices, due).announce, message="come in", room=room) == {
        "error": 'There is no room called "pool"; there is the kitchen, the hall and the attic.'
    }
    assert not due.items()


async def test_without_a_message_nothing_is_announced() -> None:
    devices, _ = open_devices()
    due, _ = open_due()

    assert await call(Announcements(devices, due).announce, message="  ") == {"error": "What shall I announce?"}
    assert not due.items()


async def test_an_announcement_is_told_at_once() -> None:
    devices, _ = open_devices()
    due, _ = open_due()
    told = due.announcements()
    await call(Announcements(devices, due).announce, message="dinner is ready", room="hall")
    await due.fire_due()
    announcement = await anext(told)

    assert (announcement.text, announcement.item.room) == ("dinner is ready.", "hall")
