"""What bridges have found gets the names and rooms that people would expect."""

from __future__ import annotations

import pytest

from tools.device import Device, Kind
from tools.drivers import FoundGroup
from tools.found import with_found
from tools.home import Home

HOME = Home.from_settings(
    {
        "floor": [{"name": "first floor", "aliases": ["upstairs"]}],
        "room": [{"name": "Küche", "aliases": ["kitchen"]}, {"name": "living room"}],
        "device": [{"name": "desk lamp", "kind": "light", "room": "living room"}],
        "group": [{"name": "evening", "members": ["desk lamp"]}],
    }
)


def lamp(name: str, id: str = "0x1") -> Device:
    return Device(id, name, Kind.LIGHT, driver="zigbee2mqtt")


@pytest.mark.parametrize(
    ("told", "name", "room"),
    [
        ("kitchen/ceiling light", "Küche ceiling light", "Küche"),
        ("Kitchen/kitchen ceiling light", "kitchen ceiling light", "Küche"),
        ("living_room/reading_lamp", "living room reading lamp", "living room"),
        ("house/living room/lamp", "living room lamp", "living room"),
        ("living room/shelf/lamp", "living room lamp", "living room"),
        ("first floor/nursery/night light", "nursery night light", "nursery"),
        ("Büro/Lampe", "Büro Lampe", "Büro"),
        ("lights/stairs", "stairs", None),
        ("upstairs/hall light", "upstairs hall light", None),
        ("evening/candle", "evening candle", None),
        ("kitchen ceiling light", "kitchen ceiling light", "Küche"),
        ("Lampe KÜCHE", "Lampe KÜCHE", "Küche"),
        ("living_room_floor_lamp", "living room floor lamp", "living room"),
        ("lamp of the living quarters", "lamp of the living quarters", None),
        ("kitchen", "kitchen", "Küche"),
        ("0x00158d0001a2b3c4", "0x00158d0001a2b3c4", None),
        ("a\u202eb\x07 lamp", "ab lamp", None),
    ],
)
def test_a_name_says_the_room_and_how_a_device_is_called(told: str, name: str, room: str | None) -> None:
    home, left_out = with_found(HOME, [lamp(told)], [])

    assert left_out == ()
    assert (home.devices[-1].name, home.devices[-1].room) == (name, room)


def test_a_room_that_only_a_name_knows_is_a_room_of_the_home_on_the_floor_that_is_said() -> None:
    home, _ = with_found(HOME, [lamp("first floor/nursery/lamp"), lamp("nursery/mobile", "0x2")], [])

    assert [(room.name, room.floor) for room in home.rooms[2:]] == [("nursery", "first floor")]
    assert [device.room for device in home.devices[1:]] == ["nursery", "nursery"]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Desk_Lamp", '"Desk_Lamp" is left out, as "desk lamp" has that name already'),
        ("evening", 'the device "evening" is left out, as "evening" has that name already'),
        ("everything", '"everything" is left out, as nothing can be called so: rename it'),
        ("💡", "is left out, as nothing can be called so"),
    ],
)
def test_what_nobody_could_mean_is_left_out_and_told(told: str, said: str) -> None:
    home, [left_out] = with_found(HOME, [lamp(told)], [])

    assert home.devices == HOME.devices
    assert said in left_out


def test_a_room_that_only_another_device_knows_is_known_in_whatever_order_they_come() -> None:
    home, _ = with_found(HOME, [lamp("nursery lamp"), lamp("nursery/mobile", "0x2")], [])

    assert [device.room for device in home.devices[1:]] == ["nursery", "nursery"]


@pytest.mark.parametrize("name", ["garage door", "kitchen/Front_Door", "driveway gate", "door opener"])
def test_a_relay_that_may_let_somebody_in_is_left_out_until_its_owner_says_what_it_is(name: str) -> None:
    """Turning on a switch is not asked about."""
    relay = Device("0x1", name, Kind.SWITCH)
    home, [left_out] = with_found(HOME, [relay, Device("0x2", "front door light", Kind.SWITCH)], [])
    door = Device("0x1", name, Kind.GARAGE_DOOR)

    assert [device.name for device in home.devices[1:]] == ["front door light"]
    assert f'the switch "{name}" is left out, as it may let somebody in' in left_out
    assert with_found(HOME, [door], [])[1] == ()


def test_of_two_with_the_same_last_name_each_has_its_room_before_it() -> None:
    home, left_out = with_found(HOME, [lamp("kitchen/lamp"), lamp("living room/lamp", "0x2")], [])

    assert left_out == ()
    assert [device.name for device in home.devices[1:]] == ["Küche lamp", "living room lamp"]


def test_a_device_of_the_settings_stays_where_it_is_and_is_what_the_bridge_says() -> None:
    found = Device("desk_lamp", "desk lamp", Kind.LIGHT, room="living room", can=("color",), driver="zigbee2mqtt")
    home, left_out = with_found(HOME, [found], [])

    assert (home.devices, left_out) == ((found,), ())


def test_a_group_has_its_members_and_one_that_is_called_like_a_room_is_the_room() -> None:
    devices = [lamp("kitchen/left"), lamp("kitchen/right", "0x2")]
    groups = [
        FoundGroup("worktop_lights", ("0x1", "0x2", "0x9")),
        FoundGroup("kitchen", ("0x1", "0x2")),
        FoundGroup("empty", ("0x9",)),
        FoundGroup("Küche left", ("0x2",)),
    ]
    home, left_out = with_found(HOME, devices, groups)

    assert [(group.name, group.members) for group in home.groups[1:]] == [
        ("worktop lights", ("Küche left", "Küche right"))
    ]
    assert len(left_out) == 1
    assert left_out[0].startswith('the group "Küche left" is left out')


def test_what_is_gone_again_leaves_nothing() -> None:
    home, _ = with_found(HOME, [lamp("nursery/lamp")], [])

    assert home != HOME
    assert with_found(HOME, [], []) == (HOME, ())
