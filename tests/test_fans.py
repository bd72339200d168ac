"""Fans in memory."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.homes import call, named, open_devices, said, with_devices
from tools.device import Change, State
from tools.fans import Fans, stepped

HOME = with_devices(
    {"name": "ceiling fan", "kind": "fan", "room": "den", "can": ["speed"], "memory": {"on": True, "speed": 50}},
    {"name": "desk fan", "kind": "fan", "room": "den"},
)


@pytest.mark.parametrize(
    ("speed", "sentence", "change"),
    [
        (1, "The ceiling fan is on at 1 percent.", Change(on=True, speed=1)),
        (40, "The ceiling fan is on at 40 percent.", Change(on=True, speed=40)),
        (100, "The ceiling fan is on at 100 percent.", Change(on=True, speed=100)),
        (0, "The ceiling fan is off.", Change(on=False)),
    ],
)
async def test_a_speed_is_set_and_zero_is_off(speed: int, sentence: str, change: Change) -> None:
    devices, driver = open_devices(HOME)

    assert await said(Fans(devices).set_fan_speed, fan="ceiling fan", speed=speed) == sentence
    assert driver.moves == [("ceiling fan", change)]


async def test_off_keeps_the_speed() -> None:
    devices, _ = open_devices(HOME)
    await call(Fans(devices).set_fan_speed, fan="ceiling fan", speed=0)

    assert named(devices, "ceiling fan") == State(on=False, speed=50)


@pytest.mark.parametrize("speed", [-1, 101, 33.3, "50", True])
async def test_a_speed_out_of_its_range_or_type_moves_nothing(speed: object) -> None:
    devices, driver = open_devices(HOME)

    assert "speed" in (await call(Fans(devices).set_fan_speed, fan="ceiling fan", speed=speed))["error"]
    assert not driver.moves


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("set_fan_speed", {"speed": 50}), ("change_fan_speed", {"direction": "faster"})],
)
async def test_a_fan_without_speeds_is_named(function: str, arguments: dict[str, Any]) -> None:
    devices, driver = open_devices(HOME)

    assert await call(getattr(Fans(devices), function), fan="bedroom fan", **arguments) == {
        "error": "The bedroom fan has no speeds."
    }
    assert not driver.moves


async def test_a_fan_without_speeds_can_be_off_and_fully_on() -> None:
    devices, _ = open_devices(HOME)
    fans = Fans(devices)

    assert await said(fans.set_fan_speed, fan="bedroom fan", speed=100) == "The bedroom fan is on."
    assert await said(fans.set_fan_speed, fan="bedroom", speed=0) == "The bedroom fan is off."


async def test_of_the_fans_of_a_room_those_with_speeds_are_set_and_the_others_named() -> None:
    devices, driver = open_devices(HOME)

    assert await said(Fans(devices).set_fan_speed, fan="den", speed=20) == (
        "The ceiling fan is on at 20 percent; the desk fan has no speeds."
    )
    assert driver.moved == ["ceiling fan"]


@pytest.mark.parametrize(
    ("before", "direction", "sentence"),
    [
        (50, "faster", "The ceiling fan is on at 83 percent."),
        (66, "faster", "The ceiling fan is on at 100 percent."),
        (70, "faster", "The ceiling fan is on at 100 percent; that is as fast as it goes."),
        (100, "faster", "The ceiling fan is on at 100 percent; that is as fast as it goes."),
        (100, "slower", "The ceiling fan is on at 67 percent."),
        (67, "slower", "The ceiling fan is on at 33 percent."),
        (33, "slower", "The ceiling fan is on at 33 percent; that is as slow as it goes."),
        (20, "slower", "The ceiling fan is on at 20 percent; that is as slow as it goes."),
    ],
)
async def test_faster_and_slower_end_at_full_and_at_the_slowest_step_and_say_so(
    before: int, direction: str, sentence: str
) -> None:
    devices, driver = open_devices(HOME)
    driver.tell("ceiling fan", speed=before)

    assert await said(Fans(devices).change_fan_speed, fan="ceiling fan", direction=direction) == sentence


async def test_from_off_faster_starts_at_the_slowest_step_and_slower_leaves_it_off() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("ceiling fan", on=False)
    fans = Fans(devices)

    assert await call(fans.change_fan_speed, fan="ceiling fan", direction="slower") == {
        "error": "The ceiling fan is off."
    }
    assert not driver.moves
    assert await said(fans.change_fan_speed, fan="ceiling fan", direction="faster") == (
        "The ceiling fan is on at 33 percent."
    )


async def test_a_fan_that_does_not_tell_its_speed_is_not_guessed_at() -> None:
    devices, driver = open_devices(HOME)
    devices.report("ceiling_fan", State(on=True))

    assert await call(Fans(devices).change_fan_speed, fan="ceiling fan", direction="faster") == {
        "error": "The ceiling fan has an unknown speed."
    }
    assert not driver.moves


async def test_two_steps_at_once_are_two_steps() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("ceiling fan", speed=34)
    fans = Fans(devices)
    driver.free.clear()
    steps = [asyncio.create_task(call(fans.change_fan_speed, fan="ceiling fan", direction="faster")) for _ in range(2)]
    while not driver.moves:
        await asyncio.sleep(0)
    driver.free.set()
    await asyncio.gather(*steps)

    assert named(devices, "ceiling fan").speed == 100


@given(st.integers(1, 100), st.sampled_from(["faster", "slower"]))
def test_a_step_goes_its_own_way_and_never_leaves_the_range(speed: int, direction: Literal["faster", "slower"]) -> None:
    after, ended = stepped(speed, direction)

    assert 1 <= after <= 100
    assert after >= speed if direction == "faster" else after <= speed
    assert abs(after - speed) <= 34
    assert after != speed or ended
