"""Lamps on PWM: how bright they are is measured on a board that is fake.

Field faults: F9 (every percentage comes back as it was said), F23 (no blink at the start), F24 (a PWM by software is
said to be one).
"""

from __future__ import annotations

import errno
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.gpio.fakeboard import FakeBoard
from tests.gpio.houses import device, running
from tools.drivers.gpio import pwm
from tools.drivers.gpio.fade import STEP_S, steps
from tools.drivers.gpio.lightness import brightness_of, light_of


@pytest.fixture
def board(tmp_path: Path) -> FakeBoard:
    return FakeBoard.like_a_pi(tmp_path / "board")


def lamp(**gpio: Any) -> dict[str, Any]:
    return device("desk lamp", {"pwm": 0, "fade_s": 0, **gpio})


def ns(percent: int, period: int = 1_000_000) -> int:
    """How long of each period a lamp has light that looks so bright, in nanoseconds."""
    return round(light_of(percent / 100) * period)


async def test_a_brightness_is_a_part_of_the_time(board: FakeBoard) -> None:
    """Off is off, the last brightness comes back, and full is all of the time."""
    async with running(board, lamp()) as house:
        told = await house.call("turn_on_light", room="desk lamp", brightness=40)
        at_40 = board.duty()
        off = await house.call("turn_off_light", room="desk lamp")
        at_0 = board.duty()
        on = await house.call("turn_on_light", room="desk lamp")
        again = board.duty()
        await house.call("turn_on_light", room="desk lamp", brightness=100)

    assert (told["state"], told["brightness"], at_40) == ("on", 40, (112_510, 1_000_000))
    assert (off["state"], at_0) == ("off", (0, 1_000_000))
    assert (on["brightness"], again) == (40, (112_510, 1_000_000))
    assert board.duty() == (1_000_000, 1_000_000)


@pytest.mark.parametrize(("frequency", "period"), [(1000, 1_000_000), (30_000, 33_333)])
async def test_f9_every_percentage_is_within_the_period_and_comes_back_as_it_was_said(
    board: FakeBoard, frequency: int, period: int
) -> None:
    """1 percent is not off, and 100 percent is all of the time; also where a percent is no whole number."""
    async with running(board, lamp(frequency_hz=frequency)) as house:
        for percent in range(1, 101):
            told = await house.call("turn_on_light", room="desk lamp", brightness=percent)

            assert told["brightness"] == percent
            assert board.duty()[1] == period
            assert 1 <= board.duty()[0] <= period
    assert board.duty()[0] == period


def test_a_fade_has_even_steps_and_ends_exactly() -> None:
    """One each 20 ms, and only the end where nothing changes or it takes no time."""
    way = list(steps(0.1, 0.8, 1.0))
    grown = {round(after - before, 9) for before, after in pairwise(way)}

    assert (len(way), way[-1], grown) == (round(1.0 / STEP_S), 0.8, {0.014})
    assert list(steps(0.8, 0.1, 0.0)) == [0.1]
    assert list(steps(0.5, 0.5, 1.0)) == [0.5]


def test_light_is_spread_as_the_eye_sees_it() -> None:
    """As by the light controller: its table has 1, 8, 50 and 100 percent so, and there is a way back from each."""
    assert [round(light_of(percent / 100) * 65535) for percent in (0, 1, 8, 50, 100)] == [0, 73, 580, 12071, 65535]
    for percent in range(101):
        assert round(brightness_of(light_of(percent / 100)) * 100) == percent


async def test_a_lamp_fades_and_is_said_to_be_done_at_the_end(board: FakeBoard) -> None:
    """All duties on the way rise; going off, they fall."""
    async with running(board, lamp(fade_s=0.2)) as house:
        board.forget()
        await house.call("turn_on_light", room="desk lamp", brightness=60)
        up = board.duties()
        board.forget()
        await house.call("turn_off_light", room="desk lamp")
        down = board.duties()

    assert up == sorted(set(up))
    assert (len(up), up[-1]) == (10, ns(60))
    assert down == sorted(set(down), reverse=True)
    assert down[-1] == 0


async def test_a_lamp_that_is_low_when_on_is_dark_at_all_of_the_time(board: FakeBoard) -> None:
    """It is never disabled, which would light it."""
    async with running(board, lamp(active_low=True)) as house:
        assert board.duty() == (1_000_000, 1_000_000)
        told = await house.call("turn_on_light", room="desk lamp", brightness=30)
        assert (told["brightness"], board.duty()[0]) == (30, 1_000_000 - ns(30))


async def test_a_duty_that_the_kernel_does_not_take_is_not_said_to_be_done(board: FakeBoard) -> None:
    """What is told then is what it reads back."""
    async with running(board, lamp()) as house:
        await house.call("turn_on_light", room="desk lamp", brightness=20)
        (board.folder / "pwm" / "pwmchip0" / "pwm0" / "stuck").touch()
        told = await house.call("turn_on_light", room="desk lamp", brightness=70)

        assert told["error"] == "The desk lamp did not confirm it: its pin is at 20 percent."
        assert house.state("desk_lamp")["brightness"] == 20


@pytest.mark.parametrize(("boot", "percent"), [("keep", 55), ("last", 55), ("off", 0)])
async def test_f23_after_a_crash_a_dimmed_lamp_is_as_its_policy_says_and_does_not_blink(
    board: FakeBoard, boot: str, percent: int
) -> None:
    """The kernel keeps the channel; also another frequency makes no dark moment of it."""
    async with running(board, lamp(boot=boot)) as house:
        await house.call("turn_on_light", room="desk lamp", brightness=55)
        await house.kill()
    board.forget()

    async with running(board, lamp(boot=boot, frequency_hz=2000)) as house:
        assert board.duty() == (ns(percent, 500_000), 500_000)
        assert board.duties() == [board.duty()[0]]
        assert (await house.call("turn_on_light", room="desk lamp"))["brightness"] == 55


@pytest.mark.parametrize(("boot", "percent"), [("last", 55), ("keep", 0)])
async def test_after_a_power_cut_only_last_brings_a_dimmed_lamp_back(board: FakeBoard, boot: str, percent: int) -> None:
    """The kernel has forgotten the channel."""
    async with running(board, lamp(boot=boot)) as house:
        await house.call("turn_on_light", room="desk lamp", brightness=55)
        await house.kill()
    for file in (board.folder / "pwm" / "pwmchip0" / "pwm0").iterdir():
        file.unlink()
    (board.folder / "pwm" / "pwmchip0" / "pwm0").rmdir()

    async with running(board, lamp(boot=boot)):
        assert board.duty() == (ns(percent), 1_000_000)


async def test_what_is_not_to_be_had_at_a_start_comes_back_as_it_was_left(board: FakeBoard) -> None:
    """A line that another program has for a day does not make Hearth forget how its lamp was."""
    relay = device("hall light", {"line": "GPIO17", "boot": "last"})
    async with running(board, lamp(), relay) as house:
        await house.call("turn_on_light", room="hall light")
    board.found_at("GPIO17", 0, "in")
    board.used_by("GPIO17", "gpioset")
    async with running(board, lamp(), relay) as house:
        await house.call("turn_on_light", room="desk lamp")
    board.used_by("GPIO17", None)

    async with running(board, lamp(), relay):
        assert board.level("GPIO17") == 1


async def test_a_pwm_is_found_by_its_device(board: FakeBoard) -> None:
    """Its number changes with the kernel; without a name, one of several is not guessed, and a channel is counted."""
    board.add_pwm(1, "1f0009c000.pwm", 4)
    far = device("far lamp", {"pwm": 3, "pwm_chip": "1f0009c000.pwm", "fade_s": 0})
    high = device("high lamp", {"pwm": 2, "pwm_chip": "fe20c000.pwm"})
    gone = device("gone lamp", {"pwm": 0, "pwm_chip": "pwm-fan"})
    async with running(board, lamp(), far, high, gone) as house:
        await house.call("turn_on_light", room="far lamp", brightness=10)
        troubles = await house.probe()

    known = "there are: fe20c000.pwm, 1f0009c000.pwm"
    assert board.duty(3, chip=1) == (ns(10), 1_000_000)
    assert troubles == [
        f"the desk lamp is not available: there are several hardware PWMs, so say pwm_chip; {known}",
        "the high lamp is not available: there is no channel 2 of the PWM fe20c000.pwm: it has 2, counted from 0",
        f"the gone lamp is not available: there is no hardware PWM 'pwm-fan'; {known}",
    ]


@pytest.mark.parametrize(
    ("operation", "error", "text"),
    [
        ("export-open", errno.EACCES, "is for root alone: install Hearth's udev rule"),
        ("export-open", errno.EROFS, "/sys is read-only for the unit; it needs ReadWritePaths="),
        ("export", errno.EBUSY, "PWM channel 0 is used by a driver of the kernel: take another channel"),
    ],
    ids=["rights", "read-only", "busy"],
)
async def test_a_pwm_that_is_not_to_be_had_says_why(board: FakeBoard, operation: str, error: int, text: str) -> None:
    """The lamp is told to be unavailable, and the cause is one sentence; what can be seen beforehand is."""
    board.fail(operation, error=error)
    async with running(board, lamp()) as house:
        if operation == "export-open":
            assert text in (await house.probe())[0]
        assert text in (await house.call("turn_on_light", room="desk lamp"))["error"]
        assert text in await house.health()
        assert house.state("desk_lamp")["available"] is False


def test_what_the_unit_needs_is_the_folder_of_the_chip_also_when_its_channel_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The channel's own is made by us after each boot, so no unit could name it."""
    (tmp_path / "pwmchip0" / "pwm0").mkdir(parents=True)
    (tmp_path / "pwmchip0" / "npwm").write_text("2\n")
    (tmp_path / "pwmchip0" / "pwm0" / "duty_cycle").touch()

    def refuse(path: Path, flags: int) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(pwm, "SYSFS", tmp_path)
    monkeypatch.setattr(pwm.os, "open", refuse)
    with pytest.raises(pwm.PwmError, match=rf"ReadWritePaths={tmp_path}/pwmchip0$"):
        pwm.examine(pwm.PwmName(0))


async def test_without_the_overlay_that_is_said(tmp_path: Path) -> None:
    """And what to do without it."""
    async with running(FakeBoard(tmp_path / "board"), lamp()) as house:
        (trouble,) = await house.probe()
        assert "there is no hardware PWM: add dtoverlay=pwm-2chan" in trouble
        assert "or say software_pwm = true with a line" in trouble


async def test_f24_a_pwm_by_software_is_said_to_be_one(board: FakeBoard) -> None:
    """One by hardware is not. Off and full are steady; between them the line is switched, and ends where it was."""
    soft = device("shelf lamp", {"line": "GPIO12", "software_pwm": True, "fade_s": 0})
    async with running(board, lamp(), soft) as house:
        health = await house.health()
        note = await house.health("software PWM")
        full = await house.call("turn_on_light", room="shelf lamp")
        steady = board.edges("GPIO12")
        half = await house.call("turn_on_light", room="shelf lamp", brightness=50)
        await board.until(lambda: board.edges("GPIO12")[-4:] in ([0, 1, 0, 1], [1, 0, 1, 0]))
        off = await house.call("turn_off_light", room="shelf lamp")
        board.forget()
        quiet = board.level("GPIO12")

    assert (health, note) == ("ok", "ok, it may flicker while the processor is busy: shelf lamp")
    assert (full["brightness"], steady) == (100, [1])
    assert half["brightness"] == 50
    assert (off["state"], quiet, board.edges("GPIO12")) == ("off", 0, [])


async def test_a_lamp_that_is_dimmed_by_software_fades_as_well(board: FakeBoard) -> None:
    """It is switched on the way, and steady at its end."""
    soft = device("shelf lamp", {"line": "GPIO12", "software_pwm": True, "fade_s": 0.5})
    async with running(board, soft) as house:
        board.forget()
        full = await house.call("turn_on_light", room="shelf lamp")
        up = board.edges("GPIO12")
        board.forget()
        off = await house.call("turn_off_light", room="shelf lamp")
        down = board.edges("GPIO12")

    assert (full["brightness"], up[-1], off["state"], down[-1]) == (100, 1, "off", 0)
    assert min(up.count(1), down.count(0)) >= 5


@pytest.mark.parametrize(("boot", "brightness"), [("last", 30), ("off", None)])
async def test_f23_a_lamp_that_is_dimmed_by_software_comes_back_as_its_policy_says(
    board: FakeBoard, boot: str, brightness: int | None
) -> None:
    """Nobody has dimmed it meanwhile; its line stayed as the last pulse left it."""
    soft = device("shelf lamp", {"line": "GPIO12", "software_pwm": True, "boot": boot})
    async with running(board, soft) as house:
        await house.call("turn_on_light", room="shelf lamp", brightness=30)
        await house.kill()

    async with running(board, soft) as house:
        state = house.state("shelf_lamp")
        assert state["state"] == ("on" if brightness else "off")
        assert brightness is None or state["brightness"] == brightness
        assert (await house.call("turn_on_light", room="shelf lamp"))["brightness"] == 30


async def test_a_fan_has_a_speed(board: FakeBoard) -> None:
    """On a PWM it is as a lamp is."""
    fan = device("desk fan", {"pwm": 1, "fade_s": 0}, "fan", can=["speed"])
    async with running(board, fan) as house:
        told = await house.call("set_fan_speed", fan="desk fan", speed=70)
        assert "error" not in told
        assert board.duty(1) == (700_000, 1_000_000)
