"""Buttons, contacts and detectors on lines: what is pressed is what happens."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SettingsError
from tests.gpio.fakeboard import FakeBoard
from tests.gpio.houses import device, running
from tools import check_settings
from tools.drivers.gpio.lines import Edge
from tools.drivers.gpio.presses import Presses

HALL = device("hall light", {"line": "GPIO17"})
PORCH = device("porch light", {"line": "GPIO18"})
SCENE = {"name": "welcome", "states": [{"device": "porch light", "on": True}]}
BUTTON = {
    "name": "hall button", "toggle": "hall light", "long_scene": "welcome", "gpio": {"line": "GPIO23", "long_ms": 400}
}  # fmt: skip


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    board = FakeBoard.like_a_pi(tmp_path / "board")
    board.found_at("GPIO23", 1, "in")  # by its pull-up
    return board


def test_a_press_is_short_or_long_and_only_one_of_them() -> None:
    """A long one is told while it is held."""
    presses = Presses(0.6)

    assert presses.edge(Edge(True, 10.0)) == ("pressed",)
    assert presses.due_s == 10.6
    assert presses.held(10.5) == ()
    assert presses.edge(Edge(False, 10.5)) == ("released", "short")
    assert presses.due_s is None

    assert presses.edge(Edge(True, 11.0)) == ("pressed",)
    assert presses.held(11.6) == ("long",)
    assert presses.held(12.0) == ()
    assert presses.edge(Edge(False, 12.0)) == ("released",)


def test_edges_that_come_late_count_by_their_own_time() -> None:
    """Both at once, as after a busy second."""
    presses = Presses(0.6)
    presses.edge(Edge(True, 10.0))

    assert presses.edge(Edge(False, 11.0)) == ("released", "long")


def test_an_edge_that_was_lost_makes_no_press_of_its_own() -> None:
    """Down twice is down once; up without down is nothing."""
    presses = Presses(0.6)

    assert presses.edge(Edge(False, 1.0)) == ()
    assert presses.edge(Edge(True, 2.0)) == ("pressed",)
    assert presses.edge(Edge(True, 2.2)) == ()
    assert presses.edge(Edge(False, 2.3)) == ("released", "short")


def test_a_button_whose_line_is_gone_is_not_held_any_more() -> None:
    """It is told as released once, and has not been pressed for long."""
    presses = Presses(0.6)
    presses.edge(Edge(True, 1.0))

    assert presses.lost() == ("released",)
    assert presses.lost() == ()
    assert presses.due_s is None


def test_a_button_that_is_held_at_the_start_was_not_pressed_for_us() -> None:
    """It counts from its next press on."""
    presses = Presses(0.6, held=True)

    assert presses.due_s is None
    assert presses.edge(Edge(False, 1.0)) == ("released",)
    assert presses.edge(Edge(True, 2.0)) == ("pressed",)


async def test_a_short_press_toggles_and_a_long_one_activates_a_scene(board: FakeBoard) -> None:
    """Twice is on and off; a long press leaves the short one's lamp alone."""
    async with running(board, HALL, PORCH, button=[BUTTON], scene=[SCENE]) as house:
        board.press("GPIO23", 0.1)
        await house.heard("hall_light", state="on")
        assert board.level("GPIO17") == 1
        house.events.clear()
        board.press("GPIO23", 0.1)
        await house.heard("hall_light", state="off")
        board.wire("GPIO23", 0)
        await house.heard("porch_light", state="on")

        assert house.presses("hall_button")[-2:] == ["pressed", "long"]
        assert (board.level("GPIO17"), board.level("GPIO18")) == (0, 1)
        board.wire("GPIO23", 1)
        await house.heard("hall_button", state="released")


async def test_a_button_to_talk_is_told_while_it_is_held(board: FakeBoard) -> None:
    """Down and up, with what it is for, and the kernel debounces it."""
    talk = {"name": "talk button", "talk": True, "gpio": {"line": "GPIO23", "debounce_ms": 35}}
    async with running(board, HALL, button=[talk]) as house:
        board.wire("GPIO23", 0)
        await house.heard("talk_button", state="pressed", talk=True, kind="button")
        board.wire("GPIO23", 1)
        await house.heard("talk_button", state="released", talk=True)

        assert board.debounce_us("GPIO23") == 35_000


async def test_a_level_shows_what_the_kernel_had_no_room_for(board: FakeBoard) -> None:
    """It went low and that was lost: the next edge that is told brings it to light."""
    board.found_at("GPIO24", 0, "in")
    detector = device("motion", {"line": "GPIO24"}, "detector", measures="motion")
    async with running(board, detector) as house:
        board.wire("GPIO24", 1)
        await house.heard("motion", state="detected")
        house.events.clear()
        board.found_at("GPIO24", 0, "in")
        board.tell_edge("GPIO24", 1)
        await house.heard("motion", state="clear")


async def test_a_line_that_dies_is_not_believed_any_more_and_is_asked_for_again(board: FakeBoard) -> None:
    """Nobody talks for ever: a button that was held counts as released, a contact as gone; both come back."""
    talk = {"name": "talk button", "talk": True, "gpio": {"line": "GPIO23"}}
    door = device("front door", {"line": "GPIO24", "pull": "up"}, "door")
    async with running(board, door, button=[talk], again_s=0.5) as house:
        board.wire("GPIO23", 0)
        await house.heard("talk_button", state="pressed")
        for line in (23, 24):
            board.fail("get", line, errno.EIO)
        board.tell_edge("GPIO23", 0)
        board.tell_edge("GPIO24", 1)
        await house.heard("talk_button", state="released")
        await house.heard("front_door", available=False)
        assert len(await house.probe()) == 2

        house.events.clear()
        for line in (23, 24):
            board.fail("get", line)
        await house.heard("front_door", available=True, state="closed")
        board.wire("GPIO24", 1)
        await house.heard("front_door", state="open")
        await board.until(lambda: board.is_requested("GPIO23"))
        board.wire("GPIO23", 1)
        board.press("GPIO23", 0.1)
        await house.heard("talk_button", state="short")
        assert await house.probe() == []


async def test_contacts_and_detectors_tell_how_they_are_from_the_start(board: FakeBoard) -> None:
    """A reed contact closes to ground with its magnet near: high is open."""
    board.found_at("GPIO24", 1, "in")
    door = device("front door", {"line": "GPIO24", "pull": "up"}, "door")
    motion = device("motion", {"line": "GPIO25", "pull": "down"}, "detector", measures="motion")
    async with running(board, door, motion) as house:
        assert (house.state("front_door")["state"], house.state("motion")["state"]) == ("open", "clear")
        board.wire("GPIO24", 0)
        board.wire("GPIO25", 1)
        await house.heard("front_door", state="closed")
        await house.heard("motion", state="detected")


async def test_a_button_without_its_line_is_a_sentence_and_the_house_opens(board: FakeBoard) -> None:
    """The lamp can still be told."""
    board.used_by("GPIO23", "gpio-keys")
    async with running(board, HALL, PORCH, button=[BUTTON], scene=[SCENE]) as house:
        assert await house.probe() == [
            'the hall button is not available: GPIO23 is used by "gpio-keys": end that, or take another line'
        ]
        assert (await house.call("turn_on_light", room="hall light"))["state"] == "on"


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"toggle": "cellar"}, "toggle"),
        ({"toggle": None, "scene": "welcom"}, "no scene or script 'welcom'; there are: welcome (did you mean"),
        ({"toggle": "hall light", "scene": "welcome"}, "both toggle and scene; a press does one thing"),
        ({"gpio": {"line": "23"}}, "a number needs the chip's label"),
        ({"gpio": None}, "it needs one table that says where it hangs"),
        ({"name": "hall light"}, "has the id 'hall_light' already"),
        ({"long_scene": "x", "pres": "x"}, "has no key 'pres'"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_buttons_for_nothing_are_refused(keys: dict[str, Any], error: str) -> None:
    """With the key, and what there is."""
    button = {name: value for name, value in {**BUTTON, **keys}.items() if value is not None}
    with pytest.raises(SettingsError) as refused:
        check_settings({"device": [HALL, PORCH], "scene": [SCENE], "button": [button]})
    assert error in str(refused.value)
