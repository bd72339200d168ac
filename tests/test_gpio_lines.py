"""Lines of GPIO chips, under the unmodified gpiod: how they are found, asked for and given up, on a board that is fake.

Field faults: F22 (what the working directory is does not matter, and nothing stands in for gpiod), F23 (no edge at a
start that the settings did not ask for).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SettingsError
from tests.gpio.fakeboard import PI, FakeBoard
from tests.gpio.houses import device, running
from tools import check_settings

RELAY = {"line": "GPIO17", "active_low": True}
"""As most relay boards are: on at 0."""


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    return FakeBoard.like_a_pi(tmp_path / "board")


def relay(boot: str = "off") -> dict[str, Any]:
    return device("hall light", {**RELAY, "boot": boot})


async def test_direction_and_level_are_asked_for_at_once(board: FakeBoard) -> None:
    """An active-low relay that its pull-up keeps off sees one request, and no edge: it does not blink."""
    board.found_at("GPIO17", 1, "in")
    async with running(board, relay()):
        assert board.log() == ["request gpiochip0 17 1 same from-input"]
        assert (board.direction("GPIO17"), board.level("GPIO17")) == ("out", 1)


@pytest.mark.parametrize(("boot", "edges"), [("keep", []), ("last", []), ("off", [1])], ids=["keep", "last", "off"])
async def test_f23_after_a_crash_a_lamp_that_was_on_sees_no_edge_but_those_of_its_policy(
    board: FakeBoard, boot: str, edges: list[int]
) -> None:
    """Killed with -9 while the relay is on; kernels leave the pin as it was."""
    board.found_at("GPIO17", 1)
    async with running(board, relay(boot)) as house:
        await house.call("turn_on_light", room="hall light")
        await house.kill()
    board.forget()

    async with running(board, relay(boot)) as house:
        assert board.edges("GPIO17") == edges
        assert house.state("hall_light")["state"] == ("off" if edges else "on")


async def test_f23_a_restart_restores_with_one_edge_what_the_kernel_let_go(board: FakeBoard) -> None:
    """Some chips make a line an input when it is released; "last" then needs one edge, and makes one."""
    async with running(board, relay("last")) as house:
        await house.call("turn_on_light", room="hall light")
    board.found_at("GPIO17", 1, "in")
    board.forget()

    async with running(board, relay("last")):
        assert board.log() == ["request gpiochip0 17 0 edge from-input"]


@pytest.mark.parametrize(("boot", "level"), [("keep", 0), ("last", 1), ("off", 1)])
async def test_f23_at_the_first_boot_nothing_is_remembered(board: FakeBoard, boot: str, level: int) -> None:
    """A relay is found on: "keep" keeps it, and the others turn it off, as nobody knows."""
    board.found_at("GPIO17", 0)
    async with running(board, relay(boot)):
        assert board.level("GPIO17") == level


async def test_a_line_is_found_by_its_name_whatever_the_chip_is_called(board: FakeBoard) -> None:
    """Kernel 6.6.45 made gpiochip4 of a Pi 5 gpiochip0, and left a link of the old name."""
    board.add_chip(1, "raspberrypi-exp-gpio", {}, 8)
    board.renumber(0, 4)
    board.renumber(4, 2, link=True)
    by_number = device("porch light", {"line": "18", "chip": PI})
    async with running(board, relay(), by_number) as house:
        for name in ("hall light", "porch light"):
            assert (await house.call("turn_on_light", room=name))["state"] == "on"
        assert (board.level("GPIO17"), board.level("GPIO18")) == (0, 1)
        assert await house.probe() == []


async def test_what_is_not_to_be_had_is_said_with_its_cause_and_the_rest_works(board: FakeBoard) -> None:
    """Each costs its own device: one sentence from `hearth doctor`, and one for who asks for the lamp."""
    board.used_by("GPIO5", "spi0 CS1")
    board.add_chip(1, "pcf8574", {0: "GPIO6", 1: "relay 1"}, 8)
    async with running(
        board,
        relay(),
        device("busy", {"line": "GPIO5"}),
        device("twice", {"line": "GPIO6"}),
        device("once", {"line": "GPIO6", "chip": "pcf8574"}),
        device("nowhere", {"line": "GPIO99"}),
        device("chipless", {"line": "3", "chip": "pinctrl-rp1"}),
    ) as house:
        told = await house.call("turn_on_light", room="busy")
        troubles = await house.probe()
        health = await house.health()
        works = await house.call("turn_on_light", room="once")

    busy = 'GPIO5 is used by "spi0 CS1": end that, or take another line'
    assert told["error"] == f"The busy is not available: {busy}."
    assert works["state"] == "on"
    assert sorted(troubles) == [
        f"the busy is not available: {busy}",
        f"the chipless is not available: there is no GPIO chip 'pinctrl-rp1'; there are: {PI}, pcf8574",
        "the nowhere is not available: there is no GPIO line GPIO99: gpioinfo lists those that there are",
        f"the twice is not available: there are several lines GPIO6, on pcf8574, {PI}: say which chip, by its label",
    ]
    assert busy in health


async def test_a_missing_group_is_named_and_a_lamp_works_once_it_is_there(board: FakeBoard) -> None:
    """Whoever adds the group does not have to wait: the next command asks again."""
    board.fail("open", 0, errno.EACCES)
    async with running(board, relay()) as house:
        (trouble,) = await house.probe()
        board.fail("open", 0)
        told = await house.call("turn_on_light", room="hall light")
        after = await house.health()

    assert trouble.startswith("the hall light is not available: /dev/gpiochip0 is for the group 64321, and ")
    assert "sudo usermod -aG 64321" in trouble
    assert "SupplementaryGroups=64321 in the unit" in trouble
    assert (told["state"], board.level("GPIO17"), after) == ("on", 0, "ok")


async def test_a_board_without_chips_says_so(tmp_path: Path) -> None:
    """And what in the unit could hide them."""
    async with running(FakeBoard(tmp_path / "board"), relay()) as house:
        (trouble,) = await house.probe()
        assert "there is no GPIO chip (/dev/gpiochip*): this board has none, or the unit hides it" in trouble


async def test_a_line_that_fails_is_not_said_to_be_done(board: FakeBoard) -> None:
    """The chip went away: the answer says so, the lamp is unavailable, and is asked for anew at the next command."""
    async with running(board, relay()) as house:
        board.fail("set", 17, errno.EIO)
        told = await house.call("turn_on_light", room="hall light")
        await house.heard("hall_light", available=False)
        board.fail("set", 17)
        again = await house.call("turn_on_light", room="hall light")

    assert told["error"] == (
        "The hall light did not confirm it: GPIO17 fails (Input/output error): "
        "look at the wiring, and at the kernel's log."
    )
    assert again["state"] == "on"


async def test_a_pin_that_does_not_follow_is_not_said_to_be_done(board: FakeBoard) -> None:
    """A short circuit holds it; what is told then is how the pin is."""
    board.found_at("GPIO17", 1)
    board.hold("GPIO17")
    async with running(board, relay()) as house:
        told = await house.call("turn_on_light", room="hall light")

        assert told["error"] == "The hall light did not confirm it: its pin is at off."
        assert house.state("hall_light")["state"] == "off"


async def test_a_house_that_is_only_looked_at_touches_no_line(board: FakeBoard) -> None:
    """`hearth doctor` beside no service: a lamp that is on stays on, whatever its policy."""
    board.found_at("GPIO17", 0)
    button = {"name": "hall button", "toggle": "hall light", "gpio": {"line": "GPIO23"}}
    async with running(board, relay(), store=False, button=[button], gpio={"led": "GPIO22"}) as house:
        assert await house.probe() == []
    assert board.log() == []


async def test_f22_it_works_wherever_it_is_started_and_leaves_no_file_there(board: FakeBoard, tmp_path: Path) -> None:
    """In a folder that cannot be written to, as under systemd; other libraries put a FIFO there, or fail."""
    (tmp_path / "here").mkdir(mode=0o555)
    async with running(board, relay(), folder=tmp_path / "here") as house:
        assert (await house.call("turn_on_light", room="hall light"))["state"] == "on"
    assert os.listdir(tmp_path / "here") == []


@pytest.mark.parametrize(
    ("package", "trouble"),
    [
        ("class Chip: pass", "the Python package gpiod is of version 1, as of Bookworm's apt: pip install 'gpiod>="),
        ("raise ImportError('no such file')", "the Python package gpiod cannot be loaded (no such file): "),
    ],
    ids=["version 1", "missing"],
)
async def test_f22_without_the_right_gpiod_that_is_said_and_nothing_stands_in_for_it(
    board: FakeBoard, tmp_path: Path, package: str, trouble: str
) -> None:
    """The house opens all the same: lamps that hang elsewhere work."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "gpiod.py").write_text(package)
    lamp = {"name": "floor lamp", "kind": "light"}
    async with running(board, relay(), lamp, path=tmp_path / "packages") as house:
        assert trouble in (await house.probe())[0]
        assert (await house.call("turn_on_light", room="floor lamp"))["state"] == "on"
        assert "not available" in (await house.call("turn_on_light", room="hall light"))["error"]


@pytest.mark.parametrize(
    ("table", "error"),
    [
        (device("lamp", {}), 'it needs either the key "line" or the key "pwm"'),
        (device("lamp", {"line": "GPIO1", "pwm": 0}), 'it needs either the key "line" or the key "pwm"'),
        (device("lamp", {"line": "17"}), "a number needs the chip's label"),
        (device("lamp", {"line": "GPIO1"}, can=["brightness"]), "a line only switches; say can = []"),
        (device("lamp", {"pwm": 0}, can=[]), 'a PWM is for what has a brightness; say can = ["brightness"]'),
        (device("lamp", {"pwm": 0}, can=["brightness", "color"]), "one line has no color"),
        (device("lamp", {"line": "GPIO1", "fade_s": 1}), "fade_s is for a PWM"),
        (device("lamp", {"line": "GPIO1", "pull": "up"}), "pull is not for a light"),
        (device("lamp", {"line": "GPIO1", "pwm_chip": "x"}), "pwm_chip is for a pwm"),
        (device("lamp", {"pwm": 0, "chip": PI}), "chip and software_pwm are for a line"),
        (device("lamp", {"line": "GPIO1", "software_pwm": True, "frequency_hz": 1000}), "by software at most 200"),
        (device("kettle", {"pwm": 0}, "plug"), "a plug is only switched"),
        (device("door", {"line": "GPIO1"}, "lock"), "a lock cannot hang on a line"),
        (device("door", {"line": "GPIO1", "boot": "keep"}, "door"), "boot is not for a door"),
        (device("window", {"line": "GPIO1"}, "window", can=["open"]), "a window with a motor cannot hang on a line"),
        (device("lamp", {"line": "GPIO1", "boot": "on"}), "allowed are off, last, keep"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_settings_that_no_pin_can_follow_are_refused(table: dict[str, Any], error: str) -> None:
    """With the key, and what is allowed."""
    with pytest.raises(SettingsError, match=r"lamp|kettle|door|window") as refused:
        check_settings({"device": [table]})
    assert error in str(refused.value)


def test_a_led_needs_a_name_or_a_chip() -> None:
    """As a device does."""
    with pytest.raises(SettingsError, match="needs the chip's label"):
        check_settings({"gpio": {"led": "22"}})
