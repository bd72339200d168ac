"""The devices as they are now: watched, described, and found where nothing was named."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.homes import named, open_devices
from tools.device import LIGHTS, LOCKS, ON_OFF, Change, Device, Kind, State
from tools.devices import Devices, describe
from tools.drivers import NotConfirmedError
from tools.home import Home
from tools.names.resolve import PlaceError, Wish

LAMPS = {"device": [{"name": "lamp 1", "kind": "light"}, {"name": "lamp 2", "kind": "light"}]}


@pytest.mark.parametrize(
    ("device", "state", "described"),
    [
        (
            Device("lamp", "Lamp", Kind.LIGHT, "hall"),
            State(on=True, brightness=40, rgb=(255, 0, 0), effect=""),
            {"state": "on", "brightness": 40, "rgb": [255, 0, 0], "kind": "light", "room": "hall"},
        ),
        (
            Device("fan", "Fan", Kind.FAN),
            State(on=False, speed=33),
            {"state": "off", "speed": 33, "kind": "fan"},
        ),
        (
            Device("blind", "Blind", Kind.BLIND),
            State(open=True, position=40, moving=True),
            {"state": "opening", "position": 40, "kind": "blind"},
        ),
        (
            Device("lock", "Lock", Kind.LOCK),
            State(open=False, locked=True),
            {"state": "locked", "open": False, "kind": "lock"},
        ),
        (
            Device("lock", "Lock", Kind.LOCK),
            State(locked=False),
            {"state": "unlocked", "kind": "lock"},
        ),
        (
            Device("power", "Power", Kind.SENSOR, measures="power", unit="watts"),
            State(value=0.0),
            {"state": "known", "value": 0.0, "unit": "watts", "kind": "sensor"},
        ),
        (
            Device("box", "Box", Kind.SPEAKER),
            State(on=True, playing=True, title="Jazz FM", volume=0, muted=False),
            {"state": "playing", "title": "Jazz FM", "volume": 0, "muted": False, "kind": "speaker"},
        ),
        (
            Device("lamp", "Lamp", Kind.LIGHT),
            State(on=True, brightness=40, available=False),
            {"state": "unknown", "brightness": 40, "available": False, "kind": "light"},
        ),
    ],
)
def test_a_device_is_described_by_what_is_known_of_it(device: Device, state: State, described: dict[str, Any]) -> None:
    assert describe(device, state) == {"available": True, "name": device.name, **described}


async def test_a_watcher_hears_every_device_first_and_then_each_change_once() -> None:
    devices, driver = open_devices(LAMPS)
    events = devices.events()
    first = [await anext(events), await anext(events)]
    driver.tell("lamp 2", on=True)
    driver.tell("lamp 2", on=True)
    driver.tell("lamp 1", brightness=7)

    assert [(event.device, event.state["state"]) for event in first] == [("lamp_1", "off"), ("lamp_2", "off")]
    assert (await anext(events)).device == "lamp_2"
    assert (await anext(events)).state["brightness"] == 7


async def test_a_change_while_the_first_states_are_told_is_not_lost() -> None:
    devices, driver = open_devices(LAMPS)
    events = devices.events()
    await anext(events)
    driver.tell("lamp 2", on=True)

    assert [(await anext(events)).state["state"] for _ in range(2)] == ["off", "on"]


async def test_a_watcher_that_falls_behind_misses_the_oldest_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.devices._QUEUED_EVENTS", 2)
    devices, driver = open_devices({"device": [{"name": "lamp", "kind": "light"}]})
    events = devices.events()
    await anext(events)
    for brightness in (1, 2, 3):
        driver.tell("lamp", brightness=brightness)

    assert [(await anext(events)).state["brightness"] for _ in range(2)] == [2, 3]


async def test_watchers_do_not_hear_each_other_s_events_and_one_that_left_none() -> None:
    devices, driver = open_devices({"device": [{"name": "lamp", "kind": "light"}]})
    left, stays = devices.events(), devices.events()
    await anext(left), await anext(stays)
    await left.aclose()  # type: ignore[attr-defined]
    driver.tell("lamp", on=True)

    assert (await anext(stays)).state["state"] == "on"
    assert len(devices._watchers) == 1


async def test_a_device_that_fails_does_not_keep_the_others() -> None:
    devices, _ = open_devices(LAMPS, silent=["lamp 1"])
    lamps = devices.home.devices
    outcomes = await devices.move(lamps, lambda device, state: Change(on=True))

    assert [(outcome.device.name, outcome.failure) for outcome in outcomes] == [
        ("lamp 1", "did not confirm it in time"),
        ("lamp 2", ""),
    ]
    assert outcomes[0].state.on is False
    assert named(devices, "lamp 2").on is True


async def test_a_device_is_planned_when_its_turn_has_come() -> None:
    devices, driver = open_devices(LAMPS)
    [lamp, _] = devices.home.devices
    driver.free.clear()
    first = asyncio.create_task(devices.move([lamp], lambda device, state: Change(on=True, brightness=10)))
    while not driver.moves:
        await asyncio.sleep(0)
    second = asyncio.create_task(
        devices.move([lamp], lambda device, state: Change(brightness=(state.brightness or 0) + 5))
    )
    driver.free.set()
    await asyncio.gather(first, second)

    assert named(devices, "lamp 1").brightness == 15


async def test_a_plan_can_refuse_its_device_before_anything_is_sent() -> None:
    devices, driver = open_devices(LAMPS)

    def plan(device: Device, state: State) -> Change:
        raise NotConfirmedError("is not to be moved")

    [outcome] = await devices.move(devices.home.devices[:1], plan)

    assert outcome.failure == "is not to be moved"
    assert not driver.moves


def test_without_words_the_only_device_of_the_kinds_is_meant() -> None:
    devices, _ = open_devices()

    assert devices.find_or_only(None, Wish(LOCKS, LOCKS)).label == "the back door"
    assert devices.find_or_only("desk lamp", Wish(LIGHTS, ON_OFF)).label == "the desk lamp"
    with pytest.raises(PlaceError, match="it was not said which lights"):
        devices.find_or_only(None, Wish(LIGHTS, LIGHTS))
    with pytest.raises(PlaceError, match="there is no mower in this home"):
        devices.find_or_only(None, Wish(frozenset({Kind.MOWER}), frozenset({Kind.MOWER})))


def test_a_device_that_has_told_nothing_is_unknown_and_not_gone() -> None:
    devices = Devices(Home.from_settings(LAMPS))

    state = devices.state(devices.home.devices[0])

    assert (state.word, state.available) == ("unknown", True)
    assert replace(state, available=False).word == "unknown"


def test_the_health_of_each_driver_is_told() -> None:
    devices, _ = open_devices()

    assert devices.health() == {"memory": "ok"}
