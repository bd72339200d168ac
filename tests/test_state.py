"""Questions about the home."""

from __future__ import annotations

from typing import Any

import pytest

from tests.homes import call, named, open_devices, said
from tools import open_house
from tools.drivers import State
from tools.lights import Lights
from tools.state import Questions


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
    ],
)
async def test_a_state_is_told(words: str, sentence: str) -> None:
    devices, _ = open_devices()

    assert await said(Questions(devices).get_state, device=words) == sentence


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
            "Three lights are on: the reading lamp, the ceiling light and the hall light.",
        ),
        (
            {"kind": "light", "state": "on", "room": "kitchen"},
            "In the Küche, one light is on: the ceiling light.",
        ),
        ({"kind": "light", "state": "on", "room": "upstairs"}, "On the first floor, no lights are on."),
        ({"state": "on", "room": "bedroom"}, "In the bedroom, nothing is on."),
        ({"kind": "switch", "state": "on"}, "No switches are on."),
        ({"kind": "door", "state": "open"}, "One door or window is open: the front door."),
        ({"kind": "door", "state": "open", "room": "the windows"}, "No windows are open."),
        (
            {"kind": "light", "room": "kitchen"},
            "In the Küche, there are two lights: the ceiling light and the worktop light.",
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

    assert answer.startswith("Nine lights are on: ")
    assert answer.endswith(" and 1 more.")


async def test_nothing_is_on_when_all_is_off() -> None:
    devices, _ = open_devices()
    await call(Lights(devices).turn_off_light, room="all")

    assert await said(Questions(devices).list_devices, state="on") == "Nothing is on."


async def test_lights_that_are_open_are_an_error() -> None:
    devices, _ = open_devices()

    assert "never open" in (await call(Questions(devices).list_devices, kind="light", state="open"))["error"]


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

    assert reading == {"get_time", "get_date", "get_current_weather", "get_state", "list_devices"}
