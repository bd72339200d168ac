"""The garage door in memory."""

from __future__ import annotations

from typing import Any

import pytest

from agent.tool import AccessLevel, ToolCall, visible
from tests.homes import SETTINGS, call, named, open_devices, said, with_devices
from tools import open_house
from tools.device import Change, State
from tools.garage import GarageDoor

SECOND = {"name": "second garage door", "kind": "garage_door", "can": ["position"]}
TWO = with_devices(SECOND)


async def asked(garage: GarageDoor, function: str, **arguments: Any) -> tuple[list[str], dict[str, Any]]:
    """The questions that a call of the house's tool asks, each answered with yes, and its response."""
    questions: list[str] = []

    async def confirm(question: str) -> bool:
        questions.append(question)
        return True

    tool = next(tool for tool in garage.tools if tool.name == function)
    return questions, await tool.call(arguments, ToolCall("1", function, confirm))


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

    assert not {"open_garage_door", "close_garage_door", "set_garage_door_position"} & names
    assert "turn_on_light" in names


async def test_without_a_door_nothing_moves_and_nobody_is_asked() -> None:
    devices, _ = open_devices({})

    questions, response = await asked(GarageDoor(devices), "open_garage_door")

    assert "no garage door" in response["error"]
    assert not questions


async def test_of_two_doors_which_one_has_to_be_said() -> None:
    devices, driver = open_devices(TWO)

    questions, response = await asked(GarageDoor(devices), "open_garage_door")

    assert response == {
        "error": "there is more than one garage door: say which, the garage door or the second garage door"
    }
    assert not questions
    assert not driver.moves


async def test_a_door_that_is_named_is_asked_about_by_its_stored_name() -> None:
    devices, driver = open_devices(TWO)

    questions, response = await asked(GarageDoor(devices), "open_garage_door", door="SECOND garage door")

    assert questions == ["Shall I open the second garage door?"]
    assert response["devices"] == ["second garage door"]
    assert driver.moved == ["second garage door"]


async def test_a_name_that_no_door_has_moves_nothing() -> None:
    devices, driver = open_devices(TWO)

    questions, response = await asked(GarageDoor(devices), "open_garage_door", door="barn door")

    assert "error" in response
    assert not questions
    assert not driver.moves


@pytest.mark.parametrize(
    ("before", "position", "question", "change", "sentence"),
    [
        (0, 40, "Shall I move the door to 40 percent?", Change(position=40), "The door is open at 40 percent."),
        (80, 40, "Shall I move the door to 40 percent?", Change(position=40), "The door is open at 40 percent."),
        (40, 0, "Shall I close the door?", Change(open=False), "The door is closed."),
        (40, 100, "Shall I open the door?", Change(open=True), "The door is open."),
    ],
)
async def test_a_door_moves_to_a_position_after_a_yes(
    before: int, position: int, question: str, change: Change, sentence: str
) -> None:
    door = {"name": "door", "kind": "garage_door", "can": ["position"], "memory": {"position": before}}
    devices, driver = open_devices({"device": [door]})
    garage = GarageDoor(devices)

    questions, _ = await asked(garage, "set_garage_door_position", position=position)

    assert questions == [question]
    assert driver.moves == [("door", change)]
    assert await said(garage.set_garage_door_position, position=position) == sentence


async def test_a_door_without_positions_cannot_stop_half_way() -> None:
    devices, driver = open_devices()
    garage = GarageDoor(devices)

    questions, response = await asked(garage, "set_garage_door_position", position=50)

    assert response == {"error": "The garage door cannot be opened part of the way."}
    assert not questions
    assert not driver.moves
    assert await said(garage.set_garage_door_position, position=100) == "The garage door is open."


@pytest.mark.parametrize("position", [-1, 101, 50.5, "40", True])
async def test_a_position_out_of_its_range_or_type_moves_nothing(position: object) -> None:
    devices, driver = open_devices()

    questions, response = await asked(GarageDoor(devices), "set_garage_door_position", position=position)

    assert "position" in response["error"]
    assert not questions
    assert not driver.moves


async def test_a_door_that_is_closed_is_not_asked_about_again() -> None:
    devices, driver = open_devices()
    garage = GarageDoor(devices)

    questions, response = await asked(garage, "close_garage_door")

    assert (response["state"], response["devices"]) == ("closed", ["garage door"])
    assert not questions
    assert not driver.moves


async def test_a_door_that_is_open_without_a_position_may_be_open_only_in_part() -> None:
    devices, driver = open_devices()
    driver.tell("garage door", open=True)

    questions, _ = await asked(GarageDoor(devices), "open_garage_door")

    assert questions == ["Shall I open the garage door?"]
    assert driver.moved == ["garage door"]


async def test_a_door_on_its_way_is_asked_about() -> None:
    devices, driver = open_devices()
    driver.tell("garage door", open=False, moving=True)

    questions, _ = await asked(GarageDoor(devices), "close_garage_door")

    assert questions == ["Shall I close the garage door?"]


async def test_a_door_that_passes_a_position_is_asked_about_and_one_that_rests_there_is_not() -> None:
    devices, driver = open_devices({"device": [SECOND]})
    driver.tell("second garage door", open=True, position=40, moving=True)
    garage = GarageDoor(devices)

    questions, _ = await asked(garage, "set_garage_door_position", position=40)

    assert questions == ["Shall I move the second garage door to 40 percent?"]

    driver.tell("second garage door", moving=False)
    driver.moves.clear()
    questions, response = await asked(garage, "set_garage_door_position", position=40)

    assert response["position"] == 40
    assert not questions
    assert not driver.moves


async def test_a_door_that_is_gone_is_said_before_anybody_is_asked() -> None:
    devices, driver = open_devices()
    devices.report("garage_door", State(open=False, available=False))

    questions, response = await asked(GarageDoor(devices), "open_garage_door")

    assert response == {"error": "The garage door is not available."}
    assert not questions
    assert not driver.moves


async def test_a_door_that_comes_back_only_after_the_question_does_not_move() -> None:
    devices, driver = open_devices(TWO)
    driver.tell("garage door", available=False)
    tool = next(tool for tool in GarageDoor(devices).tools if tool.name == "open_garage_door")

    async def comes_back(question: str) -> bool:
        driver.tell("garage door", available=True)
        return True

    arguments = {"door": "the garage door and the second garage door"}
    response = await tool.call(arguments, ToolCall("1", tool.name, comes_back))

    assert driver.moved == ["second garage door"]
    assert response["failed"] == {"garage door": "was not asked about"}


async def test_a_call_for_a_named_door_is_about_that_one_only() -> None:
    async with open_house(TWO) as house:
        assert house.targets("open_garage_door", {}) == {"garage_door", "second_garage_door"}
        assert house.targets("close_garage_door", {"door": "second garage door"}) == {"second_garage_door"}
        assert house.targets("set_garage_door_position", {"position": 5, "door": "barn"}) == {"? barn"}
