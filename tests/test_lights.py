"""Lights in memory, by the functions that the model calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.homes import call, named, open_devices, said, with_devices
from tools.colors import parse_warmth
from tools.device import Change, Device, State
from tools.lights import Lights

STRIP = {
    "name": "strip", "kind": "light", "room": "living room", "can": ["brightness", "color", "white"],
    "effects": ["Rainbow", "Candle", "Party Time"], "min_kelvin": 2200, "max_kelvin": 4000, "memory": {"on": True},
}  # fmt: skip
SPOT = {"name": "spot", "kind": "light", "room": "office", "can": [], "effects": ["rainbow"]}
HOME = with_devices(STRIP, SPOT)


async def test_a_room_is_turned_on_at_a_brightness() -> None:
    devices, _ = open_devices()

    assert await said(Lights(devices).turn_on_light, room="living room", brightness=80) == (
        "The living room lights are on at 80 percent."
    )
    assert named(devices, "reading lamp").brightness == named(devices, "floor lamp").brightness == 80


async def test_a_lamp_turned_on_without_a_brightness_has_its_last_one() -> None:
    devices, _ = open_devices()
    lights = Lights(devices)
    await call(lights.turn_off_light, room="reading lamp")

    assert await said(lights.turn_on_light, room="reading lamp") == "The reading lamp is on at 40 percent."


async def test_a_brightness_of_zero_is_off_and_keeps_the_level() -> None:
    devices, driver = open_devices()

    assert await said(Lights(devices).turn_on_light, room="reading lamp", brightness=0) == "The reading lamp is off."
    assert driver.moves == [("reading lamp", Change(on=False))]
    assert named(devices, "reading lamp").brightness == 40


@pytest.mark.parametrize("percent", [-1, 101, 50.5, "80", True])
async def test_a_brightness_out_of_its_range_or_type_moves_nothing(percent: object) -> None:
    devices, driver = open_devices()

    assert "brightness" in (await call(Lights(devices).turn_on_light, room="hall", brightness=percent))["error"]
    assert not driver.moves


async def test_all_the_lights_moves_lights_only() -> None:
    devices, driver = open_devices()
    result = await call(Lights(devices).turn_off_light, room="all the lights")

    assert result["state"] == "off"
    assert not {"TV", "coffee machine", "fairy lights"} & set(driver.moved)
    assert len(driver.moved) == 9


@pytest.mark.parametrize("words", ["den", "everything in the den"])
async def test_a_room_without_lights_is_no_name_for_the_speaker_that_is_called_after_it(words: str) -> None:
    devices, driver = open_devices()

    assert "there is no light in the den" in (await call(Lights(devices).turn_off_light, room=words))["error"]
    assert not driver.moves


async def test_a_plug_that_is_named_itself_is_turned_on_as_a_light() -> None:
    devices, _ = open_devices()

    assert await said(Lights(devices).turn_on_light, room="fairy lights") == "The fairy lights are on."


@pytest.mark.parametrize(
    ("room", "color", "sentence"),
    [
        ("reading lamp", "red", "The reading lamp is on at 40 percent, red."),
        ("reading lamp", "warm white", "The reading lamp is on at 40 percent, warm white."),
        ("reading lamp", "2700 K", "The reading lamp is on at 40 percent, 2700 kelvin."),
        (
            "living room",
            "blue",
            "The reading lamp is on at 40 percent, blue; the floor lamp cannot show blue.",
        ),
        (
            "reading lamp",
            "9000 K",
            "The reading lamp is on at 40 percent, 6500 kelvin; 6500 kelvin is the nearest that the reading lamp has.",
        ),
    ],
)
async def test_a_colour_is_shown_by_the_lamps_that_can(room: str, color: str, sentence: str) -> None:
    devices, _ = open_devices()

    assert await said(Lights(devices).turn_on_light, room=room, color=color) == sentence


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"room": "reading lamp", "color": "mauvish"}, "mauvish is not a colour I know; try red"),
        ({"room": "floor lamp", "color": "red"}, "The floor lamp cannot show red."),
        ({"room": "hall", "brightness": 30}, "The hall light cannot be dimmed."),
        ({"room": "fairy lights", "brightness": 30}, "The fairy lights cannot be dimmed."),
        ({"room": "pool"}, 'I know nothing called "pool"'),
    ],
)
async def test_what_a_lamp_cannot_do_is_said_and_nothing_moves(arguments: dict[str, Any], error: str) -> None:
    devices, driver = open_devices()

    assert error in (await call(Lights(devices).turn_on_light, **arguments))["error"]
    assert not driver.moves


async def test_full_brightness_of_a_lamp_that_cannot_be_dimmed_is_on() -> None:
    devices, _ = open_devices()

    assert await said(Lights(devices).turn_on_light, room="hall", brightness=100) == "The hall light is on."


@pytest.mark.parametrize(
    ("function", "amount", "level", "sentence"),
    [
        ("brighten_light", None, 50, "The reading lamp is at 50 percent."),
        ("brighten_light", 25, 65, "The reading lamp is at 65 percent."),
        ("dim_light", None, 30, "The reading lamp is at 30 percent."),
        ("brighten_light", 60, 100, "The reading lamp is at 100 percent."),
        ("brighten_light", 80, 100, "The reading lamp is at 100 percent; that is as bright as it goes."),
        ("dim_light", 40, 1, "The reading lamp is at 1 percent; that is as dim as it goes."),
        ("dim_light", 100, 1, "The reading lamp is at 1 percent; that is as dim as it goes."),
    ],
)
async def test_a_relative_change_ends_at_1_and_100_and_says_so(
    function: str, amount: int | None, level: int, sentence: str
) -> None:
    devices, _ = open_devices()
    arguments = {"room": "reading lamp"} | ({} if amount is None else {"amount": amount})

    assert await said(getattr(Lights(devices), function), **arguments) == sentence
    assert named(devices, "reading lamp").brightness == level
    assert named(devices, "reading lamp").on


async def test_a_relative_change_moves_only_the_lamps_of_a_room_that_are_on() -> None:
    devices, driver = open_devices()
    await call(Lights(devices).dim_light, room="kitchen")

    assert driver.moved == ["ceiling light"]
    assert named(devices, "ceiling light").brightness == 60


async def test_a_relative_change_of_unequal_lamps_tells_each_level() -> None:
    devices, _ = open_devices()
    lights = Lights(devices)
    await call(lights.turn_on_light, room="floor lamp", brightness=70)

    assert await said(lights.brighten_light, room="living room") == (
        "The reading lamp is at 50 percent; the floor lamp is at 80 percent."
    )


async def test_brighter_starts_a_lamp_that_is_off_from_dark_and_dimmer_leaves_it_off() -> None:
    devices, driver = open_devices()
    lights = Lights(devices)

    assert await call(lights.dim_light, room="desk lamp") == {"error": "The desk lamp is off."}
    assert not driver.moves
    assert await said(lights.brighten_light, room="desk lamp", amount=20) == "The desk lamp is at 20 percent."


async def test_two_steps_at_once_are_two_steps() -> None:
    devices, driver = open_devices()
    lights = Lights(devices)
    driver.free.clear()
    both = asyncio.gather(
        call(lights.brighten_light, room="reading lamp"), call(lights.brighten_light, room="reading lamp")
    )
    await asyncio.sleep(0)
    driver.free.set()
    await both

    assert named(devices, "reading lamp").brightness == 60


async def test_commands_to_one_device_are_done_in_the_order_of_their_arrival() -> None:
    devices, driver = open_devices()
    lights = Lights(devices)
    driver.free.clear()
    levels = list(range(1, 51))
    commands = [asyncio.create_task(call(lights.turn_on_light, room="hall and reading lamp", brightness=level))
                for level in levels]  # fmt: skip
    while not driver.moves:
        await asyncio.sleep(0)
    driver.free.set()
    await asyncio.gather(*commands)

    assert [change.brightness for name, change in driver.moves if name == "reading lamp"] == levels
    assert named(devices, "reading lamp").brightness == 50


async def test_a_cancelled_command_does_not_hold_up_the_next() -> None:
    devices, driver = open_devices()
    lights = Lights(devices)
    driver.free.clear()
    stuck = asyncio.create_task(call(lights.turn_off_light, room="hall"))
    while not driver.moves:
        await asyncio.sleep(0)
    stuck.cancel()
    await asyncio.gather(stuck, return_exceptions=True)
    driver.free.set()

    assert await said(lights.turn_on_light, room="hall") == "The hall light is on."


async def test_a_fault_of_a_driver_costs_only_its_own_device(caplog: pytest.LogCaptureFixture) -> None:
    devices, driver = open_devices()
    del driver._states["floor_lamp"]
    result = await call(Lights(devices).turn_on_light, room="living room")

    assert result["failed"] == {"floor lamp": "failed"}
    assert "KeyError" in caplog.text


async def test_what_a_lamp_told_last_is_known_also_where_that_came_before_its_command_was_done() -> None:
    devices, driver = open_devices()
    move = driver.move

    async def moved_and_switched_by_hand(device: Device, change: Change) -> State:
        state = await move(device, change)
        devices.report(device.id, State(on=False))
        return state

    driver.move = moved_and_switched_by_hand  # type: ignore[method-assign]
    await call(Lights(devices).turn_on_light, room="reading lamp")

    assert named(devices, "reading lamp") == State(on=False)


async def test_a_lamp_that_does_not_tell_its_brightness_is_not_guessed_at() -> None:
    devices, driver = open_devices()
    devices.report("ceiling_light", State(on=True))
    lights = Lights(devices)

    assert await call(lights.dim_light, room="ceiling light") == {
        "error": "The ceiling light has an unknown brightness."
    }
    assert await said(lights.brighten_light, room="reading lamp and ceiling light") == (
        "The reading lamp is at 50 percent; the ceiling light has an unknown brightness."
    )
    assert driver.moved == ["reading lamp"]


@given(
    st.integers(1, 100),
    st.lists(st.tuples(st.sampled_from(["brighten_light", "dim_light"]), st.none() | st.integers(1, 100)), max_size=6),
)
def test_relative_changes_never_leave_1_to_100_and_never_wrap(start: int, steps: list[tuple[str, int | None]]) -> None:
    async def levels() -> None:
        devices, driver = open_devices({"device": [{"name": "lamp", "kind": "light", "memory": {"on": True}}]})
        driver.tell("lamp", brightness=start)
        level = start
        for function, amount in steps:
            step = (amount or 10) if function == "brighten_light" else -(amount or 10)
            level = min(100, max(1, level + step))
            await call(getattr(Lights(devices), function), room="lamp", amount=amount)

            assert (named(devices, "lamp").on, named(devices, "lamp").brightness) == (True, level)

    asyncio.run(levels())


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("warmer", -1), ("a bit warmer", -1), ("cooler", 1), ("colder", 1), ("a little colder", 1),
        ("much cooler", 2), ("a lot warmer", -2), ("Warmer white", -1), ("way warmer", -2),
        ("warm", None), ("cool white", None), ("warmer or cooler", None), ("warmer pink", None), ("", None),
    ],
)  # fmt: skip
def test_a_comparing_white_is_read_as_steps(words: str, steps: int | None) -> None:
    assert parse_warmth(words) == steps


@pytest.mark.parametrize(
    ("before", "color", "sentence"),
    [
        (3000, "warmer", "The strip is on at 100 percent, 2500 kelvin."),
        (3000, "a bit cooler", "The strip is on at 100 percent, 3500 kelvin."),
        (3000, "much colder", "The strip is on at 100 percent, 4000 kelvin."),
        (2500, "warmer", "The strip is on at 100 percent, 2200 kelvin; that is as warm as it goes."),
        (3800, "cooler", "The strip is on at 100 percent, 4000 kelvin; that is as cool as it goes."),
        (None, "cooler", "The strip is on at 100 percent, 3600 kelvin."),
    ],
)
async def test_a_warmer_or_cooler_white_starts_from_the_present_one(
    before: int | None, color: str, sentence: str
) -> None:
    devices, driver = open_devices(HOME)
    driver.tell("strip", kelvin=before)

    assert await said(Lights(devices).turn_on_light, room="strip", color=color) == sentence


@given(st.none() | st.integers(1000, 9000), st.lists(st.sampled_from(["warmer", "cooler", "much warmer"]), max_size=8))
def test_a_relative_white_never_leaves_the_limits_of_the_lamp(start: int | None, steps: list[str]) -> None:
    async def whites() -> None:
        devices, driver = open_devices({"room": [{"name": "living room"}], "device": [STRIP]})
        driver.tell("strip", kelvin=start)
        for words in steps:
            await call(Lights(devices).turn_on_light, room="strip", color=words)

            assert 2200 <= (named(devices, "strip").kelvin or 0) <= 4000

    asyncio.run(whites())


async def test_a_warmer_white_is_for_the_lamps_of_a_room_that_are_on() -> None:
    devices, driver = open_devices(HOME)
    lights = Lights(devices)

    assert await said(lights.turn_on_light, room="living room", color="warmer", brightness=50) == (
        "The reading lamp and the strip are on at 50 percent."
    )
    assert driver.moved == ["reading lamp", "strip"]
    assert named(devices, "floor lamp").on is False


async def test_a_lamp_without_whites_gets_none_of_another_warmth() -> None:
    devices, driver = open_devices()

    assert await call(Lights(devices).turn_on_light, room="hall", color="cooler") == {
        "error": "The hall light cannot show a white of another warmth."
    }
    assert not driver.moves


async def test_a_lamp_that_is_off_is_turned_on_in_a_warmer_white() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("strip", on=False, kelvin=3000)
    await call(Lights(devices).turn_on_light, room="strip", color="warmer")

    assert (named(devices, "strip").on, named(devices, "strip").kelvin) == (True, 2500)


@pytest.mark.parametrize(
    "words", ["Rainbow", "rainbow", "the rainbow effect", "rainbow mode", "rainbow lights", "ranbow"]
)
async def test_an_effect_is_known_by_what_people_call_it(words: str) -> None:
    devices, _ = open_devices(HOME)

    assert await said(Lights(devices).set_light_effect, room="strip", effect=words) == "The strip shows Rainbow."
    assert named(devices, "strip").effect == "Rainbow"


async def test_an_effect_is_known_by_a_word_that_no_other_has() -> None:
    devices, _ = open_devices(HOME)

    assert await said(Lights(devices).set_light_effect, room="strip", effect="party") == "The strip shows Party Time."


@pytest.mark.parametrize("words", ["none", "off", "no effect", "normal"])
async def test_an_effect_is_ended(words: str) -> None:
    devices, _ = open_devices(HOME)
    lights = Lights(devices)
    await call(lights.set_light_effect, room="strip", effect="candle")

    assert await said(lights.set_light_effect, room="strip", effect=words) == "The strip shows no effect."
    assert named(devices, "strip").effect == ""


async def test_ending_an_effect_turns_no_light_on() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("strip", on=False)

    assert await call(Lights(devices).set_light_effect, room="strip", effect="none") == {"error": "The strip is off."}
    assert not driver.moves


async def test_lamps_without_the_effect_are_named() -> None:
    devices, driver = open_devices(HOME)

    assert await said(Lights(devices).set_light_effect, room="living room", effect="candle") == (
        "The strip shows Candle; the reading lamp and the floor lamp cannot show Candle."
    )
    assert driver.moves == [("strip", Change(on=True, effect="Candle"))]


@pytest.mark.parametrize(
    ("room", "effect", "error"),
    [
        ("strip", "disco", 'The strip cannot show "disco"; say Rainbow, Candle or Party Time.'),
        ("strip", "", 'The strip cannot show ""; say Rainbow, Candle or Party Time.'),
        ("hall", "rainbow", "The hall light cannot show effects."),
        ("spot", "candle", 'The spot cannot show "candle"; say rainbow.'),
    ],
)
async def test_an_effect_that_there_is_not_moves_nothing(room: str, effect: str, error: str) -> None:
    devices, driver = open_devices(HOME)

    assert await call(Lights(devices).set_light_effect, room=room, effect=effect) == {"error": error}
    assert not driver.moves


async def test_a_light_that_is_called_in_the_plural_is_spoken_of_so() -> None:
    """Also where its room was said, and it is the only one there."""
    devices, _ = open_devices(with_devices({"name": "garage lights", "kind": "light", "room": "garage"}))
    lights = Lights(devices)

    for room in ("garage", "garage light", "garage lights"):
        assert await said(lights.turn_on_light, room=room) == "The garage lights are on at 100 percent."
    assert await said(lights.turn_off_light, room="garage") == "The garage lights are off."
    assert await call(lights.dim_light, room="garage") == {"error": "The garage lights are off."}
