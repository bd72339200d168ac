"""F15: nothing is said to be done that the device did not confirm, by any function that moves something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.homes import Stubborn, call, open_devices
from tools.climate import Climate
from tools.covers import Covers
from tools.devices import Devices
from tools.fans import Fans
from tools.garage import GarageDoor
from tools.lights import Lights
from tools.locks import Locks
from tools.media import Media
from tools.robots import Robots
from tools.switches import Switches

SUBJECTS = (Lights, Switches, Fans, Covers, GarageDoor, Locks, Climate, Media, Robots)

THINGS: dict[str, dict[str, Any]] = {
    "light": {"kind": "light", "effects": ["candle"], "memory": {"on": True, "brightness": 50}},
    "plug": {"kind": "plug"},
    "fan": {"kind": "fan", "can": ["speed"], "memory": {"on": True, "speed": 50}},
    "blind": {"kind": "blind", "memory": {"position": 50}},
    "garage door": {"kind": "garage_door", "can": ["position"], "memory": {"position": 50}},
    "lock": {"kind": "lock"},
    "thermostat": {"kind": "thermostat", "memory": {"mode": "heat", "target": 20, "temperature": 19}},
    "speaker": {"kind": "speaker", "memory": {"playing": True, "volume": 50}},
    "vacuum": {"kind": "vacuum", "memory": {"activity": "working"}},
    "mower": {"kind": "mower", "memory": {"activity": "working"}},
}
"""There are two of each: a left one and a right one."""

MOVING: list[tuple[str, dict[str, Any], str, str, dict[str, Any]]] = [
    # The function, its other arguments, its place, the thing, and how the thing is before.
    ("turn_on_light", {"brightness": 80}, "room", "light", {}),
    ("turn_off_light", {}, "room", "light", {}),
    ("brighten_light", {}, "room", "light", {}),
    ("dim_light", {}, "room", "light", {}),
    ("set_light_effect", {"effect": "candle"}, "room", "light", {}),
    ("turn_on_switch", {}, "device", "plug", {}),
    ("turn_off_switch", {}, "device", "plug", {"on": True}),
    ("set_fan_speed", {"speed": 80}, "fan", "fan", {}),
    ("change_fan_speed", {"direction": "faster"}, "fan", "fan", {}),
    ("open_cover", {}, "cover", "blind", {}),
    ("close_cover", {}, "cover", "blind", {}),
    ("stop_cover", {}, "cover", "blind", {"moving": True}),
    ("set_cover_position", {"position": 30}, "cover", "blind", {}),
    ("open_garage_door", {}, "door", "garage door", {}),
    ("close_garage_door", {}, "door", "garage door", {}),
    ("set_garage_door_position", {"position": 30}, "door", "garage door", {}),
    ("lock_door", {}, "door", "lock", {"locked": False}),
    ("unlock_door", {}, "door", "lock", {"locked": True}),
    ("set_temperature", {"temperature": 22}, "room", "thermostat", {}),
    ("raise_temperature", {}, "room", "thermostat", {}),
    ("lower_temperature", {}, "room", "thermostat", {}),
    ("set_climate_mode", {"mode": "off"}, "room", "thermostat", {}),
    ("play_media", {"query": "jazz"}, "player", "speaker", {}),
    ("pause_media", {}, "player", "speaker", {}),
    ("resume_media", {}, "player", "speaker", {"playing": False}),
    ("next_track", {}, "player", "speaker", {}),
    ("previous_track", {}, "player", "speaker", {}),
    ("set_volume", {"volume": 30}, "player", "speaker", {}),
    ("raise_volume", {}, "player", "speaker", {}),
    ("lower_volume", {}, "player", "speaker", {}),
    ("mute_media", {}, "player", "speaker", {}),
    ("unmute_media", {}, "player", "speaker", {"muted": True}),
    ("start_vacuum", {}, "vacuum", "vacuum", {"activity": "docked"}),
    ("stop_vacuum", {}, "vacuum", "vacuum", {}),
    ("dock_vacuum", {}, "vacuum", "vacuum", {}),
    ("start_mower", {}, "mower", "mower", {"activity": "docked"}),
    ("stop_mower", {}, "mower", "mower", {}),
    ("dock_mower", {}, "mower", "mower", {}),
]

every_function = pytest.mark.parametrize(
    ("function", "arguments", "place", "thing", "before"), MOVING, ids=[each[0] for each in MOVING]
)


def tools_of(devices: Devices) -> dict[str, Any]:
    return {tool.name: tool for subject in SUBJECTS for tool in subject(devices).tools}


def pair(thing: str, before: dict[str, Any]) -> tuple[dict[str, Any], Devices, Stubborn]:
    """The functions of a home of two such things, their devices and their driver."""
    devices, driver = open_devices({"device": [{"name": f"{side} {thing}", **THINGS[thing]} for side in SIDES]})
    for side in SIDES:
        driver.tell(f"{side} {thing}", **before)
    return tools_of(devices), devices, driver


SIDES = ("left", "right")
TROUBLES = {"gone": "is not available", "silent": "did not confirm it in time"}
with_trouble = pytest.mark.parametrize("trouble", TROUBLES)


def test_every_function_that_moves_something_is_here() -> None:
    devices, _ = open_devices()
    moving = [name for name, tool in tools_of(devices).items() if not tool.declaration.read_only]

    assert [each[0] for each in MOVING] == moving


@with_trouble
@every_function
async def test_f15_what_is_gone_or_silent_is_never_said_to_be_moved(
    trouble: str, function: str, arguments: dict[str, Any], place: str, thing: str, before: dict[str, Any]
) -> None:
    tools, devices, driver = pair(thing, before)
    getattr(driver, trouble).add(f"left {thing}")
    states = [devices.state(device) for device in devices.home.devices]

    answer = await call(tools[function], **arguments, **{place: f"left {thing}"})

    assert answer == {"error": f"The left {thing} {TROUBLES[trouble]}."}
    assert [devices.state(device) for device in devices.home.devices] == states


@with_trouble
@every_function
async def test_f15_of_two_the_one_that_failed_is_named_and_the_other_is_moved(
    trouble: str, function: str, arguments: dict[str, Any], place: str, thing: str, before: dict[str, Any]
) -> None:
    tools, _, driver = pair(thing, before)
    getattr(driver, trouble).add(f"right {thing}")

    given = {**arguments, place: f"all the {thing}s"}
    answer = await call(tools[function], **given)
    sentence = tools[function].declaration.say(given, answer)

    assert answer["failed"] == {f"right {thing}": TROUBLES[trouble]}
    assert f"left {thing}" in driver.moved
    done, _, failed = sentence.partition(f"; the right {thing} ")
    assert failed == f"{TROUBLES[trouble]}."
    assert f"left {thing}" in done
    assert "right" not in done
