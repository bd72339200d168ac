"""The garage door in memory."""

from __future__ import annotations

import copy

from agent.tool import AccessLevel, visible
from tests.homes import SETTINGS, call, named, open_devices, said
from tools import open_house
from tools.garage import GarageDoor


async def test_the_door_opens_and_closes() -> None:
    devices, _ = open_devices()
    garage = GarageDoor(devices)

    assert await said(garage.open_garage_door) == "The garage door is open."
    assert named(devices, "garage door").open is True
    assert await said(garage.close_garage_door) == "The garage door is closed."


async def test_the_house_asks_first_and_a_no_moves_nothing() -> None:
    async with open_house(SETTINGS) as house:
        tools = {tool.name: tool for tool in house.tools}

        refused = await call(tools["open_garage_door"], confirmed=False)
        assert refused["status"] == "CANCELLED_BY_USER"
        assert (await call(tools["get_state"], device="garage door"))["state"] == "closed"

        await call(tools["open_garage_door"], confirmed=True)
        assert (await call(tools["get_state"], device="garage door"))["state"] == "open"


async def test_nobody_outside_sees_the_door() -> None:
    async with open_house(SETTINGS) as house:
        names = {tool.name for tool in visible(house.tools, AccessLevel.SYSTEM)}

    assert not {"open_garage_door", "close_garage_door"} & names
    assert "turn_on_light" in names


async def test_without_a_door_or_with_two_nothing_moves() -> None:
    settings = copy.deepcopy(SETTINGS)
    settings["device"].append({"name": "second garage door", "kind": "garage_door"})
    two, driver = open_devices(settings)
    none, _ = open_devices({})

    assert "more than one" in (await call(GarageDoor(two).open_garage_door))["error"]
    assert "no garage door" in (await call(GarageDoor(none).open_garage_door))["error"]
    assert not driver.moves
