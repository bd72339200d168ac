"""Locks in memory."""

from __future__ import annotations

from typing import Any

import pytest

from agent.tool import AccessLevel, ToolCall, visible
from tests.homes import SETTINGS, named, open_devices, said, with_devices
from tools import open_house
from tools.device import Change, State
from tools.locks import Locks

HOME = with_devices(
    {"name": "front gate", "kind": "lock", "room": "garage", "memory": {"locked": False}},
    {"name": "side gate", "kind": "lock", "room": "garage", "memory": {"locked": False}},
)


async def asked(locks: Locks, function: str, door: str, answer: bool = True) -> tuple[list[str], dict[str, Any]]:
    """The questions that a call of the house's tool asks, and its response."""
    questions: list[str] = []

    async def confirm(question: str) -> bool:
        questions.append(question)
        return answer

    tool = next(tool for tool in locks.tools if tool.name == function)
    return questions, await tool.call({"door": door}, ToolCall("1", function, confirm))


async def test_a_lock_is_unlocked_and_locked() -> None:
    devices, driver = open_devices(HOME)
    locks = Locks(devices)

    assert await said(locks.lock_door, door="front gate") == "The front gate is locked."
    assert named(devices, "front gate").locked is True
    assert await said(locks.unlock_door, door="front gate") == "The front gate is unlocked."
    assert driver.moves == [("front gate", Change(locked=True)), ("front gate", Change(locked=False))]


async def test_a_lock_that_knows_of_its_door_tells_of_both() -> None:
    devices, driver = open_devices()
    driver.tell("back door", open=True, locked=False)

    assert await said(Locks(devices).lock_door, door="back door") == "The back door is open and locked."


@pytest.mark.parametrize("words", ["back door", "BACK DOOR", "the back door", "utility room"])
async def test_a_person_is_asked_by_the_stored_name(words: str) -> None:
    devices, driver = open_devices()

    questions, response = await asked(Locks(devices), "unlock_door", words)

    assert questions == ["Shall I unlock the back door?"]
    assert response["state"] == "unlocked"
    assert driver.moved == ["back door"]


async def test_several_locks_are_one_question() -> None:
    devices, driver = open_devices(HOME)

    questions, response = await asked(Locks(devices), "lock_door", "garage")

    assert questions == ["Shall I lock the front gate and the side gate?"]
    assert response["devices"] == ["front gate", "side gate"]
    assert driver.moved == ["front gate", "side gate"]


async def test_a_no_moves_nothing() -> None:
    devices, driver = open_devices()

    questions, response = await asked(Locks(devices), "unlock_door", "back door", answer=False)

    assert len(questions) == 1
    assert response["status"] == "CANCELLED_BY_USER"
    assert not driver.moves


@pytest.mark.parametrize("words", ["cellar door", "garage door", "kitchen", "living room lights", ""])
async def test_what_has_no_lock_is_an_error_and_nobody_is_asked(words: str) -> None:
    devices, driver = open_devices()

    questions, response = await asked(Locks(devices), "unlock_door", words)

    assert "error" in response
    assert not questions
    assert not driver.moves


@pytest.mark.parametrize(("function", "locked"), [("lock_door", True), ("unlock_door", False)])
async def test_what_is_already_so_is_told_and_neither_asked_nor_sent(function: str, locked: bool) -> None:
    devices, driver = open_devices()
    driver.tell("back door", locked=locked)
    locks = Locks(devices)

    questions, response = await asked(locks, function, "back door")

    assert response["state"] == ("locked" if locked else "unlocked")
    assert not questions
    assert not driver.moves


async def test_of_several_locks_only_those_that_are_not_so_yet_are_moved() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("side gate", locked=True)

    questions, response = await asked(Locks(devices), "lock_door", "garage")

    assert questions == ["Shall I lock the front gate and the side gate?"]
    assert response["state"] == "locked"
    assert response["devices"] == ["front gate", "side gate"]
    assert driver.moved == ["front gate"]


@pytest.mark.parametrize("state", [State(), State(locked=False, moving=True), State(locked=True, moving=True)])
async def test_a_lock_that_is_not_known_to_be_so_is_asked_about(state: State) -> None:
    devices, driver = open_devices()
    devices.report("back_door", state)

    questions, _ = await asked(Locks(devices), "unlock_door", "back door")

    assert questions == ["Shall I unlock the back door?"]
    assert driver.moved == ["back door"]


@pytest.mark.parametrize("function", ["lock_door", "unlock_door"])
@pytest.mark.parametrize("locked", [True, False, None])
async def test_a_lock_that_is_gone_is_said_before_anybody_is_asked(function: str, locked: bool | None) -> None:
    devices, driver = open_devices()
    devices.report("back_door", State(locked=locked, available=False))

    questions, response = await asked(Locks(devices), function, "back door")

    assert response == {"error": "The back door is not available."}
    assert not questions
    assert not driver.moves


async def test_one_of_several_that_is_gone_is_said_in_the_question() -> None:
    devices, driver = open_devices(HOME)
    devices.report("side_gate", State(locked=False, available=False))

    questions, response = await asked(Locks(devices), "lock_door", "garage")

    assert questions == ["The side gate is not available. Shall I lock the front gate?"]
    assert response["devices"] == ["front gate"]
    assert response["failed"] == {"side gate": "is not available"}
    assert driver.moved == ["front gate"]


async def test_a_lock_that_comes_back_only_after_the_question_was_not_asked_about_and_stays() -> None:
    devices, driver = open_devices(HOME)
    driver.tell("side gate", available=False)
    tool = next(tool for tool in Locks(devices).tools if tool.name == "lock_door")

    async def comes_back(question: str) -> bool:
        driver.tell("side gate", available=True)
        return True

    response = await tool.call({"door": "garage"}, ToolCall("1", tool.name, comes_back))

    assert driver.moved == ["front gate"]
    assert response["devices"] == ["front gate"]
    assert response["failed"] == {"side gate": "was not asked about"}
    assert named(devices, "side gate").locked is False


async def test_what_a_broker_had_kept_of_a_lock_is_asked_about_and_sent_all_the_same() -> None:
    devices, driver = open_devices()
    driver.tell("back door", locked=True, old=True)

    questions, _ = await asked(Locks(devices), "lock_door", "back door")

    assert questions == ["Shall I lock the back door?"]
    assert driver.moved == ["back door"]


async def test_nobody_outside_sees_a_lock() -> None:
    async with open_house(SETTINGS) as house:
        names = {tool.name for tool in visible(house.tools, AccessLevel.SYSTEM)}

    assert not {"lock_door", "unlock_door"} & names


@pytest.mark.parametrize("words", ["the locks", "locks", "all the locks", "all doors", "the doors"])
async def test_the_locks_are_all_of_them_and_asked_about_by_name(words: str) -> None:
    devices, driver = open_devices(HOME)
    for name in ("back door", "front gate", "side gate"):
        driver.tell(name, locked=False)
    questions, result = await asked(Locks(devices), "lock_door", words)

    assert questions == ["Shall I lock the back door, the front gate and the side gate?"]
    assert result["place"] == "all the locks"
