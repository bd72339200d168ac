"""Plugs, switches and fans in memory."""

from __future__ import annotations

import pytest

from tests.homes import call, named, open_devices, said
from tools.device import Change
from tools.switches import Switches


async def test_a_switch_is_turned_on_and_off() -> None:
    devices, _ = open_devices()
    switches = Switches(devices)

    assert await said(switches.turn_on_switch, device="the coffee machine") == "The coffee machine is on."
    assert named(devices, "coffee machine").on is True
    assert await said(switches.turn_off_switch, device="coffee machine") == "The coffee machine is off."
    assert named(devices, "coffee machine").on is False


async def test_a_room_never_moves_its_lights() -> None:
    devices, driver = open_devices()

    assert await said(Switches(devices).turn_off_switch, device="everything in the kitchen") == (
        "The coffee machine and the kettle are off."
    )
    assert driver.moved == ["coffee machine", "kettle"]


async def test_a_bare_room_with_several_switches_asks_which() -> None:
    devices, driver = open_devices()

    assert await call(Switches(devices).turn_off_switch, device="kitchen") == {
        "error": '"Küche" could be the coffee machine or the kettle'
    }
    assert not driver.moves


async def test_a_lamp_that_is_named_itself_is_switched() -> None:
    devices, _ = open_devices()

    assert await said(Switches(devices).turn_on_switch, device="desk lamp") == "The desk lamp is on at 100 percent."


async def test_a_door_is_no_switch() -> None:
    devices, driver = open_devices()

    assert "error" in await call(Switches(devices).turn_on_switch, device="garage door")
    assert not driver.moves


@pytest.mark.parametrize("name", ["projector", "den speaker"])
async def test_a_player_that_is_named_itself_is_switched(name: str) -> None:
    devices, driver = open_devices()
    switches = Switches(devices)

    assert await said(switches.turn_on_switch, device=name) == f"The {name} is on."
    assert await said(switches.turn_off_switch, device=name) == f"The {name} is off."
    assert driver.moves == [(name, Change(on=True)), (name, Change(on=False))]


async def test_a_player_that_goes_on_playing_is_said_to_be_on() -> None:
    devices, driver = open_devices()
    driver.tell("den speaker", on=True, playing=False, title="Jazz FM")

    assert await said(Switches(devices).turn_on_switch, device="den speaker") == "The den speaker is on."


@pytest.mark.parametrize("words", ["den", "everything in the den", "everything", "all the switches"])
async def test_a_room_or_everything_never_moves_its_players(words: str) -> None:
    devices, driver = open_devices()
    await call(Switches(devices).turn_off_switch, device=words)

    assert not {"projector", "den speaker"} & set(driver.moved)


@pytest.mark.parametrize("words", ["robbie", "back door", "den thermostat", "office blind", "washing machine power"])
async def test_what_is_not_on_or_off_is_no_switch(words: str) -> None:
    devices, driver = open_devices()

    assert "error" in await call(Switches(devices).turn_on_switch, device=words)
    assert not driver.moves
