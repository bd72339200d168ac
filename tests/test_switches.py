"""Plugs, switches and fans in memory."""

from __future__ import annotations

from tests.homes import call, named, open_devices, said
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
