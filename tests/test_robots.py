"""Vacuum cleaners and mowers in memory."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.homes import Stubborn, call, named, open_devices, said
from tools.device import Change
from tools.devices import Devices
from tools.robots import Robots

SETTINGS: dict[str, Any] = {
    "floor": [{"name": "ground floor", "aliases": ["downstairs"]}, {"name": "first floor", "aliases": ["upstairs"]}],
    "room": [
        {"name": "kitchen", "floor": "ground floor"},
        {"name": "living room", "floor": "ground floor", "aliases": ["lounge"]},
        {"name": "bedroom", "floor": "first floor"},
        {"name": "garden"},
    ],
    "device": [
        {"name": "vacuum", "kind": "vacuum", "room": "living room", "aliases": ["Rosie"]},
        {"name": "mower", "kind": "mower", "room": "garden"},
    ],
}
UPSTAIRS = {"name": "upstairs vacuum", "kind": "vacuum", "room": "bedroom"}


def robots(*more: dict[str, Any], **trouble: Any) -> tuple[Robots, Devices, Stubborn]:
    settings = copy.deepcopy(SETTINGS)
    settings["device"] += more
    devices, driver = open_devices(settings, **trouble)
    return Robots(devices), devices, driver


@pytest.mark.parametrize(
    ("arguments", "sentence", "area"),
    [
        ({}, "The vacuum is cleaning.", None),
        ({"area": "the kitchen"}, "The vacuum is cleaning the kitchen.", "kitchen"),
        ({"area": "in the lounge"}, "The vacuum is cleaning the living room.", "living room"),
        ({"area": "KITCHEN", "vacuum": "Rosie"}, "The vacuum is cleaning the kitchen.", "kitchen"),
        ({"area": "the whole house"}, "The vacuum is cleaning.", None),
        ({"area": "everywhere"}, "The vacuum is cleaning.", None),
        ({"area": "downstairs"}, "The vacuum is cleaning.", None),
    ],
)
async def test_the_vacuum_cleans_a_room_or_all_it_reaches(
    arguments: dict[str, Any], sentence: str, area: str | None
) -> None:
    cleaning, _, driver = robots()

    assert await said(cleaning.start_vacuum, **arguments) == sentence
    assert driver.moves == [("vacuum", Change(activity="working", area=area))]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            {"area": "the moon"},
            'I know no room called "the moon"; say one such as the kitchen, the living room, the bedroom or the',
        ),
        ({"area": "kitchen and lounge"}, "One room at a time: the kitchen or the living room."),
        ({"area": "upstairs"}, "The vacuum is not on the first floor."),
        ({"area": "bedroom"}, "The vacuum is not on the first floor."),
        ({"vacuum": "Bob"}, 'I know nothing called "Bob"'),
    ],
)
async def test_an_area_or_a_robot_that_there_is_not_moves_nothing(arguments: dict[str, Any], error: str) -> None:
    cleaning, _, driver = robots()

    assert error in (await call(cleaning.start_vacuum, **arguments))["error"]
    assert not driver.moves


async def test_of_two_vacuums_the_one_on_the_floor_of_the_room_is_meant() -> None:
    cleaning, _, driver = robots(UPSTAIRS)

    assert await said(cleaning.start_vacuum, area="bedroom") == "The upstairs vacuum is cleaning the bedroom."
    assert await said(cleaning.start_vacuum, area="downstairs") == "The vacuum is cleaning."
    assert driver.moved == ["upstairs vacuum", "vacuum"]
    assert "it was not said which" in (await call(cleaning.start_vacuum))["error"].casefold()


async def test_a_robot_stops_and_goes_home() -> None:
    cleaning, devices, _ = robots()
    await call(cleaning.start_vacuum)

    assert await said(cleaning.stop_vacuum) == "The vacuum has stopped."
    assert named(devices, "vacuum").activity == "stopped"
    assert await said(cleaning.dock_vacuum) == "The vacuum is in its dock."
    assert named(devices, "vacuum").activity == "docked"


@pytest.mark.parametrize(
    ("activity", "function", "sentence"),
    [
        ("docked", "dock_vacuum", "The vacuum is in its dock already."),
        ("returning", "dock_vacuum", "The vacuum is on its way to its dock already."),
        ("docked", "stop_vacuum", "The vacuum is in its dock already."),
        ("stopped", "stop_vacuum", "The vacuum has stopped already."),
        ("working", "start_vacuum", "The vacuum is cleaning already."),
    ],
)
async def test_what_it_does_already_is_said_and_not_sent(activity: str, function: str, sentence: str) -> None:
    cleaning, _, driver = robots()
    driver.tell("vacuum", activity=activity)

    assert await said(getattr(cleaning, function)) == sentence
    assert not driver.moves


async def test_one_that_works_is_sent_to_another_room() -> None:
    cleaning, _, driver = robots()
    driver.tell("vacuum", activity="working")

    assert await said(cleaning.start_vacuum, area="kitchen") == "The vacuum is cleaning the kitchen."


async def test_one_that_is_gone_is_not_said_to_be_docked_already() -> None:
    cleaning, _, driver = robots(gone=["vacuum"])
    driver.tell("vacuum", available=False)

    assert await call(cleaning.dock_vacuum) == {"error": "The vacuum is not available."}


async def test_a_stuck_robot_may_have_been_freed_and_says_so_where_it_was_not() -> None:
    cleaning, _, driver = robots()
    driver.tell("vacuum", activity="stuck")
    assert await said(cleaning.start_vacuum) == "The vacuum is cleaning."

    driver.tell("vacuum", activity="stuck")
    driver.silent.add("vacuum")
    assert await call(cleaning.dock_vacuum) == {"error": "The vacuum did not confirm it in time and is stuck."}


async def test_a_robot_that_tells_that_it_is_stuck_is_not_said_to_clean() -> None:
    cleaning, devices, driver = robots()
    move = driver.move

    async def stuck(device: Any, change: Change) -> Any:
        await move(device, change)
        driver.tell(device.name, activity="stuck")
        return devices.state(device)

    driver.move = stuck  # type: ignore[method-assign]

    assert await said(cleaning.start_vacuum, area="kitchen") == "The vacuum is stuck."


async def test_the_mower_mows_what_it_was_told_in_its_owners_words() -> None:
    mowing, devices, driver = robots()

    assert await said(mowing.start_mower, area="the front lawn") == "The mower is mowing the front lawn."
    assert driver.moves == [("mower", Change(activity="working", area="the front lawn"))]
    assert await said(mowing.stop_mower) == "The mower has stopped."
    assert await said(mowing.start_mower, area="the lawn") == "The mower is mowing."
    assert await said(mowing.dock_mower, mower="the mower") == "The mower is in its dock."
    assert named(devices, "vacuum").activity == "docked"


async def test_a_home_without_robots_says_so() -> None:
    none = Robots(open_devices({"room": [{"name": "kitchen"}]})[0])

    assert "no vacuum" in (await call(none.start_vacuum, area="kitchen"))["error"]
    assert "no mower" in (await call(none.dock_mower))["error"]


@pytest.mark.parametrize("area", ["upstairs", "bedroom", "in the bedrom"])
async def test_a_robot_of_another_floor_is_not_told_to_take_the_stairs(area: str) -> None:
    """Neither for a floor nor for a room on it, and not where it is named."""
    cleaning, _, driver = robots()

    for vacuum in ({}, {"vacuum": "Rosie"}):
        assert await call(cleaning.start_vacuum, area=area, **vacuum) == {
            "error": "The vacuum is not on the first floor."
        }
    assert not driver.moves


@pytest.mark.parametrize("area", ["upstairs", "bedroom"])
async def test_a_robot_that_is_on_no_floor_we_know_of_may_be_there(area: str) -> None:
    cleaning, _, driver = robots({"name": "Bobby", "kind": "vacuum"})

    assert (await call(cleaning.start_vacuum, area=area))["devices"] == ["Bobby"]
    assert driver.moved == ["Bobby"]
