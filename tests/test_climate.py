"""Heating and cooling, thermometers and hygrometers, in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent.errors import SettingsError
from tests.homes import Stubborn, call, named, open_devices, said
from tools import open_house
from tools.climate import Climate
from tools.device import State
from tools.devices import Devices

SETTINGS: dict[str, Any] = {
    "floor": [{"name": "ground floor"}, {"name": "first floor", "aliases": ["upstairs"]}],
    "room": [
        {"name": "living room", "floor": "ground floor"},
        {"name": "kitchen", "floor": "ground floor"},
        {"name": "bedroom", "floor": "first floor"},
        {"name": "bathroom", "floor": "first floor"},
        {"name": "garden", "aliases": ["outside"]},
        {"name": "shed"},
    ],
    "device": [
        {"name": "living room thermostat", "kind": "thermostat", "room": "living room",
         "memory": {"mode": "heat", "target": 21, "temperature": 20.54, "humidity": 45}},
        {"name": "bedroom thermostat", "kind": "thermostat", "room": "bedroom",
         "memory": {"mode": "heat", "target": 18, "temperature": 18.5}},
        {"name": "bedroom air conditioner", "kind": "air_conditioner", "room": "bedroom", "aliases": ["AC"],
         "min_temperature": 16, "memory": {"mode": "off", "target": 22}},
        {"name": "bathroom thermostat", "kind": "thermostat", "room": "bathroom",
         "memory": {"mode": "off", "target": 22, "temperature": 21}},
        {"name": "bathroom thermometer", "kind": "sensor", "room": "bathroom", "measures": "temperature",
         "unit": "fahrenheit", "memory": {"value": 68}},
        {"name": "bathroom hygrometer", "kind": "sensor", "room": "bathroom", "measures": "humidity",
         "unit": "percent", "memory": {"value": 64}},
        {"name": "outside thermometer", "kind": "sensor", "room": "garden", "measures": "temperature",
         "unit": "celsius", "memory": {"value": -1}},
        {"name": "shed sensor", "kind": "sensor", "room": "shed", "measures": "temperature", "memory": {"value": 25}},
        {"name": "shed damp meter", "kind": "sensor", "room": "shed", "measures": "humidity",
         "memory": {"value": 70}},
    ],
}  # fmt: skip


def climate(unit: Any = "celsius", **trouble: Any) -> tuple[Climate, Devices, Stubborn]:
    devices, driver = open_devices(SETTINGS, **trouble)
    return Climate(devices, unit), devices, driver


@pytest.mark.parametrize(
    ("arguments", "sentence", "celsius"),
    [
        ({"temperature": 21, "room": "bedroom"}, "The bedroom is set to 21 degrees.", 21),
        ({"temperature": 20.5, "room": "bedroom thermostat"}, "The bedroom thermostat is set to 20.5 degrees.", 20.5),
        (
            {"temperature": 70, "room": "bedroom", "unit": "fahrenheit"},
            "The bedroom is set to 70 degrees Fahrenheit.",
            21.11,
        ),
        ({"temperature": 5, "room": "bedroom"}, "The bedroom is set to 5 degrees.", 5),
        ({"temperature": 30, "room": "bedroom"}, "The bedroom is set to 30 degrees.", 30),
    ],
)
async def test_a_target_is_set_and_told(arguments: dict[str, Any], sentence: str, celsius: float) -> None:
    heating, devices, _ = climate()

    assert await said(heating.set_temperature, **arguments) == sentence
    assert named(devices, "bedroom thermostat").target == celsius


@pytest.mark.parametrize(
    ("unit", "arguments", "sentence"),
    [
        ("celsius", {"temperature": 70, "room": "bedroom"}, "The bedroom thermostat takes 5 to 30 degrees."),
        ("fahrenheit", {"temperature": 21, "room": "bedroom"}, "The bedroom thermostat takes 41 to 86 degrees."),
        (
            "celsius",
            {"temperature": 95, "room": "bedroom", "unit": "fahrenheit"},
            "The bedroom thermostat takes 41 to 86 degrees Fahrenheit.",
        ),
        ("fahrenheit", {"temperature": 90, "room": "bedroom", "unit": "celsius"},
         "The bedroom thermostat takes 5 to 30 degrees Celsius."),
        ("celsius", {"temperature": 15, "room": "AC"}, "The bedroom air conditioner takes 16 to 30 degrees."),
    ],
)  # fmt: skip
async def test_a_target_that_fits_only_in_the_other_unit_is_refused_with_the_limits(
    unit: str, arguments: dict[str, Any], sentence: str
) -> None:
    heating, _, driver = climate(unit)

    assert await call(heating.set_temperature, **arguments) == {"error": sentence}
    assert not driver.moves


async def test_every_tenth_of_a_degree_fahrenheit_is_told_as_it_was_said() -> None:
    heating, _, _ = climate("fahrenheit")
    wanted = [tenths / 10 for tenths in range(410, 861)]
    results = [await call(heating.set_temperature, temperature=each, room="bedroom") for each in wanted]

    assert [result["target"] for result in results] == wanted
    assert {result["unit"] for result in results} == {"fahrenheit"}


@pytest.mark.parametrize("temperature", [4.9, 96, "21", True, None])
async def test_a_target_out_of_its_range_or_type_moves_nothing(temperature: object) -> None:
    heating, _, driver = climate()

    assert "temperature" in (await call(heating.set_temperature, temperature=temperature, room="bedroom"))["error"]
    assert not driver.moves


async def test_of_a_room_the_devices_that_are_on_are_set() -> None:
    heating, devices, driver = climate()
    await call(heating.set_temperature, temperature=19, room="bedroom")
    assert driver.moved == ["bedroom thermostat"]

    await call(heating.set_climate_mode, mode="cool", room="bedroom")
    await call(heating.set_temperature, temperature=20, room="bedroom")
    assert named(devices, "bedroom thermostat").target == named(devices, "bedroom air conditioner").target == 20


async def test_a_device_that_is_off_is_set_and_stays_off() -> None:
    heating, devices, _ = climate()

    assert await said(heating.set_temperature, temperature=20, room="bathroom") == (
        "The bathroom is set to 20 degrees; it is off."
    )
    assert named(devices, "bathroom thermostat").mode == "off"


async def test_several_rooms_are_set_and_what_is_off_is_named() -> None:
    heating, _, _ = climate()

    assert await said(heating.set_temperature, temperature=20, room="upstairs") == (
        "The first floor is set to 20 degrees; the bathroom thermostat is off."
    )


async def test_a_device_that_does_not_take_the_target_is_named_and_the_others_move() -> None:
    heating, devices, driver = climate()
    driver.tell("bedroom air conditioner", mode="cool")

    assert await said(heating.set_temperature, temperature=10, room="bedroom") == (
        "The bedroom is set to 10 degrees; the bedroom air conditioner takes 16 to 30 degrees."
    )
    assert named(devices, "bedroom air conditioner").target == 22


async def test_the_number_that_the_device_took_is_told() -> None:
    heating, devices, driver = climate()
    move = driver.move

    async def in_halves(device: Any, change: Any) -> State:
        await move(device, change)
        driver.tell(device.name, target=20.5)
        return devices.state(device)

    driver.move = in_halves  # type: ignore[method-assign]

    assert await said(heating.set_temperature, temperature=20.7, room="bedroom") == (
        "The bedroom is set to 20.5 degrees."
    )


@pytest.mark.parametrize(
    ("unit", "function", "amount", "sentence"),
    [
        ("celsius", "raise_temperature", None, "The bedroom is set to 19 degrees."),
        ("celsius", "lower_temperature", None, "The bedroom is set to 17 degrees."),
        ("celsius", "raise_temperature", 2.5, "The bedroom is set to 20.5 degrees."),
        ("fahrenheit", "raise_temperature", None, "The bedroom is set to 66.4 degrees."),
        ("fahrenheit", "lower_temperature", 4, "The bedroom is set to 60.4 degrees."),
        ("celsius", "raise_temperature", 12, "The bedroom is set to 30 degrees."),
        ("celsius", "raise_temperature", 12.5, "The bedroom is set to 30 degrees; that is as warm as it goes."),
        ("celsius", "lower_temperature", 20, "The bedroom is set to 5 degrees; that is as cool as it goes."),
    ],
)
async def test_a_relative_change_starts_from_the_target_and_ends_at_the_limits(
    unit: str, function: str, amount: float | None, sentence: str
) -> None:
    heating, _, _ = climate(unit)
    arguments = {"room": "bedroom"} | ({} if amount is None else {"amount": amount})

    assert await said(getattr(heating, function), **arguments) == sentence


async def test_two_steps_at_once_are_two_steps() -> None:
    heating, devices, driver = climate()
    driver.free.clear()
    both = asyncio.gather(
        call(heating.raise_temperature, room="bedroom"), call(heating.raise_temperature, room="bedroom")
    )
    await asyncio.sleep(0)
    driver.free.set()
    await both

    assert named(devices, "bedroom thermostat").target == 20


async def test_a_relative_change_of_unequal_rooms_tells_each_target() -> None:
    heating, _, driver = climate()
    driver.tell("bathroom thermostat", mode="heat")

    assert await said(heating.raise_temperature, room="upstairs") == (
        "The bedroom thermostat is set to 19 degrees; the bathroom thermostat is set to 23 degrees."
    )


async def test_a_target_that_is_not_known_cannot_be_raised() -> None:
    heating, _, driver = climate()
    driver.tell("living room thermostat", target=None)

    assert await call(heating.raise_temperature, room="living room") == {
        "error": "The living room thermostat has not told what it is set to."
    }
    assert not driver.moves


@pytest.mark.parametrize(
    ("mode", "room", "sentence"),
    [
        ("off", "bedroom", "The bedroom thermostat and the bedroom air conditioner are off."),
        ("cool", "bedroom", "The bedroom air conditioner is set to cool."),
        ("heat", "bedroom", "The bedroom thermostat is set to heat."),
        ("on", "bathroom", "The bathroom thermostat is set to heat."),
        ("on", "living room", "The living room thermostat is set to heat."),
        ("off", "AC", "The bedroom air conditioner is off."),
        ("heat", "AC", "The bedroom air conditioner is set to heat."),
    ],
)
async def test_a_mode_is_set_where_it_can_be(mode: str, room: str, sentence: str) -> None:
    heating, _, _ = climate()

    assert await said(heating.set_climate_mode, mode=mode, room=room) == sentence


@pytest.mark.parametrize(
    ("mode", "room", "error"),
    [
        ("cool", "living room", "The living room thermostat has no cool mode, only off and heat."),
        ("eco", "AC", "The bedroom air conditioner has no eco mode, only off, cool, heat, dry, fan and auto."),
        (
            "on",
            "bedroom",
            "It was not said which is to be turned on: the bedroom thermostat or the bedroom air conditioner.",
        ),
    ],
)
async def test_a_mode_that_a_device_has_not_is_refused_with_those_it_has(mode: str, room: str, error: str) -> None:
    heating, _, driver = climate()

    assert await call(heating.set_climate_mode, mode=mode, room=room) == {"error": error}
    assert not driver.moves


async def test_a_room_without_the_mode_is_named_and_the_others_move() -> None:
    heating, _, driver = climate()

    assert await said(heating.set_climate_mode, mode="cool", room="upstairs") == (
        "The bedroom air conditioner is set to cool; the bathroom thermostat has no cool mode, only off and heat."
    )
    assert driver.moved == ["bedroom air conditioner"]


async def test_an_air_conditioner_that_is_turned_on_takes_up_the_mode_it_had_last() -> None:
    heating, devices, _ = climate()
    for mode in ("dry", "off", "on"):
        await call(heating.set_climate_mode, mode=mode, room="AC")

    assert named(devices, "bedroom air conditioner").mode == "dry"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"room": "kitchen"}, "There is no heating and no air conditioning in the kitchen."),
        ({"room": "pool"}, 'I know nothing called "pool"'),
        ({}, "It was not said which: the living room thermostat, the bedroom thermostat,"),
    ],
)
async def test_what_is_not_there_or_not_said_moves_nothing(arguments: dict[str, Any], error: str) -> None:
    heating, _, driver = climate()

    assert error in (await call(heating.set_temperature, temperature=20, **arguments))["error"]
    assert not driver.moves


async def test_the_only_thermostat_heats_every_room() -> None:
    settings = {**SETTINGS, "device": SETTINGS["device"][:1]}
    heating = Climate(open_devices(settings)[0])

    assert await said(heating.set_temperature, temperature=20, room="the kitchen") == (
        "The living room thermostat is set to 20 degrees."
    )
    assert await said(heating.raise_temperature) == "The living room thermostat is set to 21 degrees."
    assert "pool" in (await call(heating.raise_temperature, room="pool"))["error"]


async def test_a_home_without_heating_says_so() -> None:
    heating = Climate(open_devices({"room": [{"name": "kitchen"}]})[0])

    for arguments in ({}, {"room": "kitchen"}):
        assert await call(heating.raise_temperature, **arguments) == {
            "error": "There is no heating and no air conditioning in this home."
        }


@pytest.mark.parametrize(
    ("unit", "room", "sentence"),
    [
        ("celsius", "living room", "It's 20.5 degrees in the living room."),
        ("fahrenheit", "living room", "It's 69 degrees in the living room."),
        ("celsius", "living room thermostat", "The living room thermostat shows 20.5 degrees."),
        ("celsius", "bathroom", "It's 20 degrees in the bathroom."),
        ("fahrenheit", "bathroom", "It's 68 degrees in the bathroom."),
        ("celsius", "bathroom thermostat", "The bathroom thermostat shows 21 degrees."),
        ("celsius", "outside", "It's -1 degree in the garden."),
        ("celsius", "upstairs", "It's 18.5 degrees in the bedroom and 20 degrees in the bathroom."),
    ],
)
async def test_the_temperature_is_told_in_the_unit_of_the_home(unit: str, room: str, sentence: str) -> None:
    heating, _, _ = climate(unit)

    assert await said(heating.get_temperature, room=room) == sentence


async def test_each_room_is_told_and_no_average_is_made() -> None:
    heating, _, _ = climate()
    result = await call(heating.get_temperature, room="everywhere")

    assert {each["room"]: each["temperature"] for each in result["readings"]} == {
        "living room": 20.5, "bedroom": 18.5, "bathroom": 20, "garden": -1, "shed": 25,
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["celsius", "fahrenheit"])
async def test_f17_a_sensor_without_a_unit_is_told_as_a_number_and_said_to_have_none(unit: str) -> None:
    heating, _, _ = climate(unit)

    assert await call(heating.get_temperature, room="shed") == {
        "device": "shed sensor", "room": "shed", "temperature": 25,
    }  # fmt: skip
    assert await said(heating.get_temperature, room="shed") == (
        "It's 25 degrees in the shed; the shed sensor does not say in which unit."
    )
    assert await said(heating.get_humidity, room="shed") == (
        "The humidity is 70 in the shed; the shed damp meter does not say in which unit."
    )


@pytest.mark.parametrize(("room", "error"), [
    ("kitchen", "There is no thermometer in the kitchen."),
    ("bathroom hygrometer", "The bathroom hygrometer does not measure temperature."),
    ("pool", 'I know nothing called "pool"'),
])  # fmt: skip
async def test_where_nothing_measures_it_is_said(room: str, error: str) -> None:
    heating, _, _ = climate()

    assert error in (await call(heating.get_temperature, room=room))["error"]


async def test_what_has_told_nothing_is_not_guessed() -> None:
    heating, devices, driver = climate()
    driver.tell("bathroom thermometer", value=None)
    assert await said(heating.get_temperature, room="bathroom") == "It's 21 degrees in the bathroom."

    driver.tell("bathroom thermostat", temperature=None)
    assert await said(heating.get_temperature, room="bathroom") == (
        "I do not know, as the bathroom thermostat and the bathroom thermometer have told nothing yet."
    )
    assert "I do not know about the bathroom thermostat and the bathroom thermometer." in await said(
        heating.get_temperature, room="upstairs"
    )

    devices.report("outside_thermometer", State(value=8, available=False))
    assert await call(heating.get_temperature, room="outside") == {
        "error": "I do not know, as the outside thermometer is not available."
    }


@pytest.mark.parametrize(
    ("room", "sentence"),
    [
        ("bathroom", "The humidity is 64 percent in the bathroom."),
        ("bathroom hygrometer", "The bathroom hygrometer shows 64 percent."),
        ("living room", "The humidity is 45 percent in the living room."),
        ("bedroom", "There is no hygrometer in the bedroom."),
    ],
)
async def test_the_humidity_is_told(room: str, sentence: str) -> None:
    heating, _, _ = climate()

    assert await said(heating.get_humidity, room=room) == sentence


async def test_a_question_moves_nothing() -> None:
    heating, _, driver = climate()
    for room in ("everywhere", "bedroom", "pool"):
        await call(heating.get_temperature, room=room)
        await call(heating.get_humidity, room=room)

    assert not driver.moves


async def test_the_settings_say_the_unit_of_the_home() -> None:
    async with open_house({**SETTINGS, "unit": "fahrenheit"}) as house:
        tool = next(tool for tool in house.tools if tool.name == "get_temperature")
        assert (await call(tool, room="bathroom"))["temperature"] == 68

    with pytest.raises(SettingsError, match=r"\[tools\]: unit is 'kelvin'; allowed are celsius, fahrenheit"):
        async with open_house({"unit": "kelvin"}):
            pass


async def test_the_heating_is_turned_off_by_its_kind() -> None:
    devices, _ = open_devices(SETTINGS)

    assert await said(Climate(devices).set_climate_mode, mode="off", room="the heating") == (
        "All the thermostats are off."
    )


@pytest.mark.parametrize(("function", "field"), [("set_temperature", "target"), ("set_climate_mode", "mode")])
async def test_what_differs_is_told_by_device(function: str, field: str) -> None:
    devices, driver = open_devices(SETTINGS)
    move = driver.move

    async def one_warmer(device: Any, change: Any) -> State:
        state = await move(device, change)
        return replace(state, target=19, mode="auto") if device.name == "bathroom thermostat" else state

    driver.move = one_warmer  # type: ignore[method-assign]
    arguments = {"temperature": 20} if field == "target" else {"mode": "heat"}
    result = await call(getattr(Climate(devices), function), room="the heating", **arguments)

    assert result["by_device"]["bathroom thermostat"] == (19 if field == "target" else "auto")
    assert field not in result


@pytest.mark.parametrize("words", ["in the gardn", "garden"])
async def test_a_room_without_heating_is_known_also_misspelt(words: str) -> None:
    devices, _ = open_devices(SETTINGS)

    assert await call(Climate(devices).set_temperature, temperature=20, room=words) == {
        "error": "There is no heating and no air conditioning in the garden."
    }
    assert await call(Climate(devices).get_humidity, room=words) == {"error": "There is no hygrometer in the garden."}
