"""Questions about the home."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from tests.homes import SETTINGS, call, named, open_devices, said, with_devices
from tools import open_house
from tools.device import Kind, State
from tools.lights import Lights
from tools.state import KindName, Questions, StateName


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("the hall light", "The hall light is on."),
        ("reading lamp", "The reading lamp is on at 40 percent."),
        ("bedroom light", "The bedroom light is off."),
        ("garage door", "The garage door is closed."),
        ("front door", "The front door is open."),
        ("kitchen lights", "The ceiling light is on at 70 percent; the worktop light is off."),
        ("bedroom", "The bedroom light and the bedroom fan are off."),
        ("movie lights", "The movie lights are off."),
        ("fairy lights", "The fairy lights are off."),
        ("office blind", "The office blind is closed."),
        ("office", "The desk lamp is off; the office blind and the office curtain are closed."),
        ("back door", "The back door is closed and locked."),
        ("projector", "The projector is off."),
        ("den thermostat", "The den thermostat is off, and it is 20 degrees."),
        ("washing machine power", "The washing machine power is 12 watts."),
        ("garage", "The garage door is closed; no motion in the garage."),
        ("robbie", "The robbie is docked."),
        ("the windows", "The kitchen window is closed."),
    ],
)
async def test_a_state_is_told(words: str, sentence: str) -> None:
    devices, _ = open_devices()

    assert await said(Questions(devices).get_state, device=words) == sentence


@pytest.mark.parametrize(
    ("name", "fields", "sentence"),
    [
        ("office blind", {"open": True, "position": 40}, "The office blind is open at 40 percent."),
        ("office blind", {"open": True, "position": 100}, "The office blind is open."),
        ("office blind", {"open": True, "position": 40, "moving": True}, "The office blind is opening."),
        ("back door", {"open": True, "locked": False}, "The back door is open and unlocked."),
        ("back door", {"open": None}, "The back door is locked."),
        ("back door", {"open": None, "moving": True}, "The back door is locking."),
        (
            "den speaker",
            {"on": True, "playing": True, "title": "Jazz FM", "volume": 30},
            "The den speaker is playing Jazz FM at 30 percent.",
        ),
        (
            "den speaker",
            {"on": True, "playing": True, "title": "Jazz FM", "muted": True},
            "The den speaker is playing Jazz FM, muted.",
        ),
        ("den speaker", {"on": True, "playing": True, "volume": None}, "The den speaker is playing."),
        ("den speaker", {"on": True, "playing": False, "title": "Jazz FM"}, "The den speaker is paused."),
        ("den speaker", {"on": True, "volume": 0}, "The den speaker is on at 0 percent."),
        (
            "den thermostat",
            {"mode": "heat", "target": 21.0, "temperature": 19.5},
            "The den thermostat is set to 21 degrees, and it is 19.5 degrees.",
        ),
        ("den thermostat", {"mode": None, "target": None}, "The den thermostat is at 20 degrees."),
        (
            "den thermostat",
            {"mode": "auto", "temperature": None},
            "The den thermostat is in auto mode, set to 20 degrees.",
        ),
        (
            "den thermostat",
            {"mode": None, "target": None, "temperature": None},
            "The den thermostat is in a state that I do not know.",
        ),
        ("washing machine power", {"value": 1234567.89}, "The washing machine power is 1234567.9 watts."),
        ("washing machine power", {"value": None}, "The washing machine power is in a state that I do not know."),
        ("washing machine power", {"available": False}, "The washing machine power is not available."),
        ("garage motion detector", {"detected": True}, "There is motion in the garage."),
        ("garage motion detector", {"detected": None}, "The garage motion detector is in a state that I do not know."),
        ("robbie", {"activity": "working"}, "The robbie is cleaning."),
        ("robbie", {"activity": "returning"}, "The robbie is on its way back."),
        ("robbie", {"activity": "stuck"}, "The robbie is stuck."),
        ("robbie", {"available": False}, "The robbie is not available."),
        ("reading lamp", {"effect": "candle"}, "The reading lamp is on at 40 percent with the candle effect."),
        ("reading lamp", {"kelvin": 2700}, "The reading lamp is on at 40 percent, 2700 kelvin."),
    ],
)
async def test_what_a_kind_of_device_has_to_tell_is_told(name: str, fields: dict[str, Any], sentence: str) -> None:
    devices, driver = open_devices()
    driver.tell(name, **fields)

    assert await said(Questions(devices).get_state, device=name) == sentence


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"kind": "fan", "can": ["speed"], "memory": {"on": True, "speed": 33}}, "The thing is on at 33 percent."),
        ({"kind": "mower", "memory": {"activity": "working"}}, "The thing is mowing."),
        ({"kind": "detector", "measures": "smoke"}, "The thing detects no smoke."),
        ({"kind": "detector", "measures": "smoke", "memory": {"detected": True}}, "The thing detects smoke."),
        ({"kind": "sensor", "measures": "carbon dioxide", "memory": {"value": 612.0}}, "The thing shows 612."),
        (
            {"kind": "sensor", "measures": "humidity", "unit": "%", "memory": {"value": 45}},
            "The thing shows 45 percent.",
        ),
        (
            {"kind": "sensor", "measures": "temperature", "unit": "celsius", "memory": {"value": -0.04}},
            "The thing shows 0 degrees.",
        ),
        (
            {"kind": "sensor", "measures": "temperature", "unit": "fahrenheit", "memory": {"value": 44}},
            "The thing shows 6.7 degrees.",
        ),
        (
            {"kind": "sensor", "measures": "temperature", "memory": {"value": 44}},
            "The thing shows 44 degrees, it does not say in which unit.",
        ),
    ],
)
async def test_a_device_without_a_room_tells_of_itself(table: dict[str, Any], sentence: str) -> None:
    devices, _ = open_devices({"device": [{"name": "thing", **table}]})

    assert await said(Questions(devices).get_state, device="thing") == sentence


async def test_temperatures_are_told_in_the_unit_of_the_home_and_converted_once() -> None:
    settings = with_devices(
        {"name": "thermometer", "kind": "sensor", "measures": "temperature", "unit": "celsius", "memory": {"value": 20}}
    )
    devices, driver = open_devices(settings)
    driver.tell("den thermostat", mode="heat", target=21.0, temperature=20.0)
    questions = Questions(devices, "fahrenheit")

    assert await said(questions.get_state, device="den thermostat") == (
        "The den thermostat is set to 69.8 degrees, and it is 68 degrees."
    )
    assert await said(questions.get_state, device="thermometer") == "The thermometer shows 68 degrees."


async def test_the_unit_of_the_home_is_that_of_its_settings() -> None:
    async with open_house({**SETTINGS, "unit": "fahrenheit"}) as house:
        tools = {tool.name: tool for tool in house.tools}

        assert (await call(tools["get_state"], device="den thermostat"))["temperature"] == 68


async def test_a_door_is_told_with_the_lock_of_the_same_room_and_name() -> None:
    lock = {"name": "cellar gate lock", "kind": "lock", "room": "utility room"}
    devices, driver = open_devices(with_devices({"name": "cellar gate", "kind": "door", "room": "utility room"}, lock))
    questions = Questions(devices)

    assert await said(questions.get_state, device="cellar gate") == (
        "The cellar gate is closed; the cellar gate lock is locked."
    )

    driver.tell("cellar gate", available=False)
    driver.tell("cellar gate lock", available=False)

    assert await said(questions.get_state, device="cellar gate") == (
        "The cellar gate and the cellar gate lock are not available."
    )


async def test_a_door_is_told_without_a_lock_of_another_room() -> None:
    door = {"name": "cellar gate", "kind": "door", "room": "utility room"}
    devices, _ = open_devices(with_devices(door, {"name": "cellar gate lock", "kind": "lock", "room": "garage"}))

    assert await said(Questions(devices).get_state, device="cellar gate") == "The cellar gate is closed."


async def test_everything_is_one_and_is_told_in_part() -> None:
    devices, driver = open_devices()
    lamps = [f"lamp {number}" for number in range(20)]
    some, _ = open_devices(
        {"device": [{"name": name, "kind": "light", "memory": {"on": True, "brightness": 5 + index}}
                    for index, name in enumerate(lamps)]}
    )  # fmt: skip

    assert (await said(Questions(some).get_state, device="everything")).endswith("and 12 more.")
    for device in devices.home.devices:
        driver.tell(device.name, available=False)
    assert await said(Questions(devices).get_state, device="everything") == "Everything is not available."


async def test_a_colour_is_told_by_its_name() -> None:
    devices, _ = open_devices()
    await call(Lights(devices).turn_on_light, room="reading lamp", color="red")

    assert await call(Questions(devices).get_state, device="reading lamp") == {
        "device": "reading lamp", "state": "on", "brightness": 40, "color": "red",
    }  # fmt: skip


async def test_what_is_not_known_is_said_and_not_guessed() -> None:
    devices, _ = open_devices()
    devices.report("hall_light", State(on=True, available=False))
    devices.report("tv", State())
    questions = Questions(devices)

    assert await said(questions.get_state, device="hall light") == "The hall light is not available."
    assert await said(questions.get_state, device="TV") == "The TV is in a state that I do not know."
    assert "I do not know about the hall light" in await said(questions.list_devices, kind="light", state="on")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"kind": "light", "state": "on"},
            "3 lights are on: the reading lamp, the ceiling light and the hall light.",
        ),
        (
            {"kind": "light", "state": "on", "room": "kitchen"},
            "In the Küche, 1 light is on: the ceiling light.",
        ),
        ({"kind": "light", "state": "on", "room": "upstairs"}, "On the first floor, no lights are on."),
        ({"state": "on", "room": "bedroom"}, "In the bedroom, nothing is on."),
        ({"kind": "switch", "state": "on"}, "No switches are on."),
        ({"kind": "door", "state": "open"}, "1 door is open: the front door."),
        ({"kind": "window", "state": "open"}, "No windows are open."),
        ({"state": "open", "room": "the windows"}, "No windows are open."),
        (
            {"kind": "door", "state": "closed"},
            "2 doors are closed: the garage door and the back door.",
        ),
        (
            {"state": "closed"},
            "5 blinds, doors and windows are closed: the kitchen window, the garage door, the office blind,"
            " the office curtain and the back door.",
        ),
        ({"kind": "door"}, "There are 3 doors: the front door, the garage door and the back door."),
        ({"kind": "blind", "state": "open", "room": "office"}, "In the office, no blinds are open."),
        ({"kind": "door", "state": "locked"}, "1 door is locked: the back door."),
        ({"kind": "lock", "state": "unlocked"}, "No locks are unlocked."),
        ({"kind": "lock", "state": "closed"}, "1 lock is locked: the back door."),
        ({"kind": "player", "state": "playing"}, "No televisions or speakers are playing."),
        ({"state": "playing"}, "Nothing is playing."),
        ({"kind": "fan", "state": "off"}, "1 fan is off: the bedroom fan."),
        ({"state": "on", "room": "garage"}, "In the garage, nothing is on."),
        (
            {"kind": "light", "room": "kitchen"},
            "In the Küche, there are 2 lights: the ceiling light and the worktop light.",
        ),
    ],
)
async def test_devices_in_a_state_are_listed_and_counted(arguments: dict[str, Any], sentence: str) -> None:
    devices, _ = open_devices()

    assert await said(Questions(devices).list_devices, **arguments) == sentence


async def test_a_long_list_is_counted_and_spoken_in_part() -> None:
    devices, _ = open_devices()
    await call(Lights(devices).turn_on_light, room="all")
    answer = await said(Questions(devices).list_devices, kind="light", state="on")

    assert answer.startswith("9 lights are on: ")
    assert answer.endswith(" and 1 more.")


async def test_nothing_is_on_when_all_is_off() -> None:
    devices, _ = open_devices()
    await call(Lights(devices).turn_off_light, room="all")

    assert await said(Questions(devices).list_devices, state="on") == "Nothing is on."


async def test_lights_that_are_open_are_an_error() -> None:
    devices, _ = open_devices()

    assert await call(Questions(devices).list_devices, kind="light", state="open") == {
        "error": "Lights are never open."
    }


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("light", "locked"), ("light", "playing"), ("switch", "closed"), ("fan", "unlocked"), ("blind", "on"),
        ("blind", "locked"), ("door", "off"), ("window", "locked"), ("window", "playing"), ("lock", "on"),
        ("player", "open"),
    ],
)  # fmt: skip
async def test_what_can_never_be_is_said(kind: str, state: str) -> None:
    devices, _ = open_devices()

    assert f"s are never {state}." in (await call(Questions(devices).list_devices, kind=kind, state=state))["error"]


@pytest.mark.parametrize("kind", get_args(KindName))
@pytest.mark.parametrize("state", get_args(StateName))
async def test_every_question_has_a_sentence(kind: str, state: str) -> None:
    devices, _ = open_devices()

    for room in ({}, {"room": "hall"}, {"room": "everywhere"}):
        assert (await said(Questions(devices).list_devices, kind=kind, state=state, **room)).endswith((".", "hall"))


async def test_a_floor_is_asked_about_as_a_whole_and_what_is_on_there_is_named() -> None:
    devices, driver = open_devices(with_devices({"name": "radio", "kind": "speaker", "room": "bathroom"}))
    questions = Questions(devices)
    driver.tell("bedroom fan", on=True)

    assert await said(questions.list_devices, state="on", room="upstairs") == (
        "On the first floor, 1 fan is on: the bedroom fan."
    )

    driver.tell("mirror lamp", on=True)
    driver.tell("radio", on=True, playing=True)

    assert await said(questions.list_devices, state="on", room="upstairs") == (
        "On the first floor, 3 devices are on: the bedroom fan, the mirror lamp and the radio."
    )


async def test_a_door_on_its_way_is_open_and_a_bolt_on_its_way_is_not_locked() -> None:
    devices, driver = open_devices()
    driver.tell("garage door", open=False, moving=True)
    driver.tell("back door", open=False, locked=True, moving=True)
    questions = Questions(devices)

    assert (await call(questions.list_devices, kind="door", state="open"))["devices"] == ["front door", "garage door"]
    assert (await call(questions.list_devices, kind="door", state="closed"))["devices"] == ["back door"]
    assert (await call(questions.list_devices, kind="lock", state="locked"))["devices"] == []
    assert (await call(questions.list_devices, kind="lock", state="unlocked"))["devices"] == ["back door"]


async def test_a_lock_counts_as_a_door_only_where_it_knows_of_it() -> None:
    devices, _ = open_devices(with_devices({"name": "side gate", "kind": "lock"}))
    questions = Questions(devices)

    for state in ("any", "open", "closed"):
        result = await call(questions.list_devices, kind="door", state=state)

        assert "side gate" not in [*result["devices"], *result.get("unknown", [])]
    assert (await call(questions.list_devices, kind="door", state="locked"))["devices"] == ["back door", "side gate"]


async def test_nothing_is_said_to_be_off_or_closed_that_is_only_unknown() -> None:
    devices, _ = open_devices()
    devices.report("front_door", State())
    devices.report("office_blind", State(open=True, available=False))
    questions = Questions(devices)

    assert await said(questions.list_devices, kind="door", state="open") == (
        "No doors are known to be open; I do not know about the front door."
    )
    for state in ("open", "closed"):
        result = await call(questions.list_devices, kind="blind", state=state)

        assert "office blind" not in result["devices"]
        assert result["unknown"] == ["office blind"]


async def test_a_question_moves_nothing() -> None:
    devices, driver = open_devices()
    before = {name: named(devices, name) for name in ("hall light", "reading lamp", "TV")}
    questions = Questions(devices)
    for words in ("hall light", "kitchen", "everything", "the windows"):
        await call(questions.get_state, device=words)
    await call(questions.list_devices, state="on")

    assert not driver.moves
    assert before == {name: named(devices, name) for name in before}


async def test_questions_are_declared_to_only_read() -> None:
    async with open_house({}) as house:
        reading = {tool.name for tool in house.tools if tool.declaration.read_only}

    assert {"get_state", "list_devices"} < reading
    assert not {name for name in reading if not name.startswith(("get_", "list_"))}


async def test_an_answer_about_everything_is_short_enough_to_be_heard() -> None:
    devices, driver = open_devices()
    for number, device in enumerate(devices.home.devices):
        if device.kind is Kind.LIGHT:
            driver.tell(device.name, on=True, brightness=10 + number)
    text = await said(Questions(devices).get_state, device="everything")

    assert len(text) < 500
    assert sum(device.name in text for device in devices.home.devices) <= 8
    assert re.search(r"and \d+ more\.$", text)
