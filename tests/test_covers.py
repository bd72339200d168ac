"""Blinds, curtains and windows in memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.homes import call, named, open_devices, said, with_devices
from tools.covers import Covers
from tools.device import Change, State

HOME = with_devices(
    {"name": "roof window", "kind": "window", "room": "den", "can": ["open", "position"]},
    {"name": "den window", "kind": "window", "room": "den"},
    {"name": "den shutter", "kind": "shutter", "room": "den", "memory": {"open": True}},
)


async def test_a_blind_opens_and_closes() -> None:
    devices, driver = open_devices()
    covers = Covers(devices)

    assert await said(covers.open_cover, cover="office blind") == "The office blind is open."
    assert named(devices, "office blind") == State(open=True, position=100)
    assert await said(covers.close_cover, cover="office blind") == "The office blind is closed."
    assert driver.moves == [("office blind", Change(open=True)), ("office blind", Change(open=False))]


async def test_a_room_is_all_its_covers() -> None:
    devices, driver = open_devices()

    assert await said(Covers(devices).open_cover, cover="office") == "The office blind and the office curtain are open."
    assert driver.moved == ["office blind", "office curtain"]


@pytest.mark.parametrize(
    ("position", "change", "sentence"),
    [
        (0, Change(open=False), "The office blind is closed."),
        (1, Change(position=1), "The office blind is open at 1 percent."),
        (40, Change(position=40), "The office blind is open at 40 percent."),
        (99, Change(position=99), "The office blind is open at 99 percent."),
        (100, Change(open=True), "The office blind is open."),
    ],
)
async def test_a_position_is_in_percent_and_its_ends_are_closed_and_open(
    position: int, change: Change, sentence: str
) -> None:
    devices, driver = open_devices()

    assert await said(Covers(devices).set_cover_position, cover="office blind", position=position) == sentence
    assert driver.moves == [("office blind", change)]


@pytest.mark.parametrize("position", range(1, 100))
async def test_every_position_is_read_back_as_it_was_set(position: int) -> None:
    devices, _ = open_devices()
    result = await call(Covers(devices).set_cover_position, cover="office blind", position=position)

    assert result["position"] == position


@pytest.mark.parametrize("position", [-1, 101, 50.5, "40", True])
async def test_a_position_out_of_its_range_or_type_moves_nothing(position: object) -> None:
    devices, driver = open_devices()
    result = await call(Covers(devices).set_cover_position, cover="office blind", position=position)

    assert "position" in result["error"]
    assert not driver.moves


async def test_a_cover_without_positions_only_opens_and_closes() -> None:
    devices, driver = open_devices()
    covers = Covers(devices)

    assert await said(covers.set_cover_position, cover="office curtain", position=100) == "The office curtain is open."
    assert await said(covers.set_cover_position, cover="office curtain", position=0) == "The office curtain is closed."
    driver.moves.clear()
    assert await call(covers.set_cover_position, cover="office curtain", position=50) == {
        "error": "The office curtain cannot be opened part of the way."
    }
    assert not driver.moves


async def test_of_a_room_what_can_stop_at_a_position_does_and_the_rest_is_named() -> None:
    devices, driver = open_devices()

    assert await said(Covers(devices).set_cover_position, cover="office", position=50) == (
        "The office blind is open at 50 percent; the office curtain cannot be opened part of the way."
    )
    assert driver.moved == ["office blind"]


@pytest.mark.parametrize("words", ["kitchen window", "the window in the kitchen"])
@pytest.mark.parametrize("function", ["open_cover", "close_cover", "stop_cover"])
async def test_a_window_without_a_motor_is_not_moved(words: str, function: str) -> None:
    devices, driver = open_devices()

    assert "has no motor" in (await call(getattr(Covers(devices), function), cover=words))["error"]
    assert not driver.moves


@pytest.mark.parametrize("words", ["den", "everything in the den"])
async def test_a_room_is_its_covers_and_not_its_windows(words: str) -> None:
    devices, driver = open_devices(HOME)

    assert await said(Covers(devices).close_cover, cover=words) == "The den shutter is closed."
    assert driver.moved == ["den shutter"]


@pytest.mark.parametrize("words", ["front door", "the door in the hall", "doors", "all doors"])
@pytest.mark.parametrize("function", ["open_cover", "close_cover", "stop_cover"])
async def test_a_door_is_no_cover(words: str, function: str) -> None:
    devices, driver = open_devices()
    response = await call(getattr(Covers(devices), function), cover=words)

    assert "error" in response or function == "stop_cover"  # what stands still may stop: a garage door
    assert "front door" not in driver.moved


async def test_windows_are_moved_where_their_kind_is_said() -> None:
    devices, driver = open_devices(HOME)

    assert await said(Covers(devices).open_cover, cover="the windows in the den") == (
        "The roof window is open; the den window has no motor."
    )
    assert await said(Covers(devices).open_cover, cover="roof window") == "The roof window is open."
    assert driver.moved == ["roof window", "roof window"]


async def test_the_garage_door_is_stopped_where_it_is_named() -> None:
    devices, driver = open_devices()
    driver.tell("garage door", open=True, moving=True)

    assert "garage door" in await said(Covers(devices).stop_cover, cover="the garage door")
    assert driver.moves == [("garage door", Change(stop=True))]

    driver.moves.clear()
    assert "error" in await call(Covers(devices).stop_cover, cover="garage")
    assert "error" in await call(Covers(devices).stop_cover, cover="gerage door")
    assert not driver.moves


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("desk lamp", "the desk lamp is no blind; did you mean the office blind or the office curtain?"),
        ("fairy lights", "the fairy lights are no blind"),
    ],
)
async def test_what_is_no_cover_says_so(words: str, error: str) -> None:
    devices, driver = open_devices()

    assert await call(Covers(devices).close_cover, cover=words) == {"error": error}
    assert not driver.moves


async def test_a_window_without_a_motor_that_is_named_beside_others_is_said() -> None:
    devices, driver = open_devices(HOME)

    assert await said(Covers(devices).open_cover, cover="den window and office blind") == (
        "The office blind is open; the den window has no motor."
    )
    assert driver.moved == ["office blind"]


async def test_a_window_with_a_motor_goes_half_way() -> None:
    devices, _ = open_devices(HOME)

    assert await said(Covers(devices).set_cover_position, cover="roof window", position=50) == (
        "The roof window is open at 50 percent."
    )


@pytest.mark.parametrize("function", ["open_cover", "close_cover"])
async def test_a_garage_door_is_no_cover(function: str) -> None:
    devices, driver = open_devices()

    assert await call(getattr(Covers(devices), function), cover="the garage door") == {
        "error": "the garage door is no blind"
    }
    assert not driver.moves


async def test_what_is_no_cover_and_no_garage_door_is_unknown() -> None:
    devices, driver = open_devices()

    assert 'I know nothing called "pergola"' in (await call(Covers(devices).open_cover, cover="pergola"))["error"]
    assert not driver.moves


async def test_a_blind_that_is_on_its_way_is_told_to_be() -> None:
    devices, driver = open_devices()
    move = driver.move

    async def started(device: Any, change: Change) -> State:
        await move(device, change)
        driver.tell(device.name, moving=True)
        return devices.state(device)

    driver.move = started  # type: ignore[method-assign]
    covers = Covers(devices)

    assert await said(covers.set_cover_position, cover="office blind", position=40) == "The office blind is opening."
    assert await said(covers.close_cover, cover="office blind") == "The office blind is closing."


async def test_covers_that_are_not_alike_afterwards_are_told_one_by_one() -> None:
    devices, driver = open_devices()
    move = driver.move

    async def one_started(device: Any, change: Change) -> State:
        await move(device, change)
        driver.tell(device.name, moving=device.name == "office blind")
        return devices.state(device)

    driver.move = one_started  # type: ignore[method-assign]
    result = await call(Covers(devices).open_cover, cover="office")

    assert result["by_device"] == {"office blind": "opening", "office curtain": "open"}
    assert await said(Covers(devices).open_cover, cover="office") == (
        "The office blind is opening; the office curtain is open."
    )


async def test_a_stop_stops_where_it_is() -> None:
    devices, driver = open_devices()
    driver.tell("office blind", open=True, position=30, moving=True)

    assert await said(Covers(devices).stop_cover, cover="office blind") == "The office blind is open at 30 percent."
    assert driver.moves == [("office blind", Change(stop=True))]
