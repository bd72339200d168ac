"""Hearth on the pins of a real board, with a wire from OUT to IN: `make hil-pi OUT=GPIO17 IN=GPIO27`.

All that is claimed of a pin is seen at the other end of the wire, by a program that is not Hearth's. What a wire does
not show is named at the end, and is not run.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.gpio.houses import device, running
from tests.pi.far_end import IN, OUT, RealBoard, driving, let_go, listening
from tools.drivers.gpio.lightness import light_of
from tools.drivers.gpio.lines import LineError, examine


@pytest.fixture
def board(tmp_path: Path) -> RealBoard:
    """Fails where one of the lines is not to be had, with the reason."""
    for line in (OUT, IN):
        try:
            examine(line)
        except LineError as error:
            pytest.fail(str(error))
    (tmp_path / "board").mkdir()
    return RealBoard(tmp_path / "board")


async def test_a_lamp_that_is_turned_on_is_on_at_the_far_end(board: RealBoard) -> None:
    """And off when it is turned off: one edge each."""
    with listening() as far_end:
        async with running(board, device("hall light", {"line": OUT.line})) as house:
            far_end.edges()
            assert (await house.call("turn_on_light", room="hall light"))["state"] == "on"
            assert far_end.level is True
            assert (await house.call("turn_off_light", room="hall light"))["state"] == "off"
            assert far_end.level is False
        assert [edge.active for edge in far_end.edges()] == [True, False]


async def test_f23_a_relay_that_is_on_at_low_does_not_blink_when_it_is_asked_for(board: RealBoard) -> None:
    """Its resistor keeps it off until Hearth is there; direction and level are then set at once."""
    let_go()
    with listening("up") as far_end:
        assert far_end.level is True
        async with running(board, device("pump", {"line": OUT.line, "active_low": True}, "plug")) as house:
            assert far_end.level is True
            assert house.state("pump")["state"] == "off"
        assert [edge.active for edge in far_end.edges()] == []


@pytest.mark.parametrize("boot", ["keep", "last", "off"])
async def test_f23_after_a_crash_the_far_end_sees_no_edge_but_that_of_the_policy(board: RealBoard, boot: str) -> None:
    """Whatever this kernel makes of a pin whose program was killed."""
    lamp = device("hall light", {"line": OUT.line, "boot": boot})
    with listening() as far_end:
        async with running(board, lamp) as house:
            await house.call("turn_on_light", room="hall light")
            await house.kill()
        left = far_end.level
        print(f"a pin that was high is {'high' if left else 'low'} once its program was killed")
        far_end.edges()
        async with running(board, lamp) as house:
            wanted = {"keep": left, "last": True, "off": False}[boot]
            assert far_end.level is wanted
            assert house.state("hall_light")["state"] == ("on" if wanted else "off")
        assert [edge.active for edge in far_end.edges()] == ([] if wanted is left else [wanted])


async def test_f24_a_lamp_that_is_dimmed_by_software_is_on_for_its_part_of_the_time(board: RealBoard) -> None:
    """As far as the scheduler allows; the median of a second's pulses is exact enough."""
    lamp = device("shelf lamp", {"line": OUT.line, "software_pwm": True, "fade_s": 0})
    with listening() as far_end:
        async with running(board, lamp) as house:
            await house.call("turn_on_light", room="shelf lamp", brightness=60)
            far_end.edges()
            await asyncio.sleep(1)
            edges = far_end.edges()
    rises = [edge.at_s for edge in edges if edge.active]
    falls = [edge.at_s for edge in edges if not edge.active]
    pulses = sorted(next((fall for fall in falls if fall > rise), rise) - rise for rise in rises[1:-1])

    assert len(rises) >= 10, "the far end sees no pulses"
    assert pulses[len(pulses) // 2] * 100 == pytest.approx(light_of(0.6), abs=0.1)


async def test_a_contact_tells_how_it_is_and_what_becomes_of_it(board: RealBoard) -> None:
    """OUT is the contact now."""
    with driving(True) as contact:
        async with running(board, device("front door", {"line": IN.line}, "door")) as house:
            await house.heard("front_door", state="open")
            contact.set(False)
            await house.heard("front_door", state="closed")


async def test_a_press_is_short_or_long(board: RealBoard) -> None:
    """Of a button that is debounced by the kernel."""
    button = {"name": "button", "gpio": {"line": IN.line, "active_low": False, "pull": "down", "long_ms": 400}}
    with driving(False) as finger:
        async with running(board, button=[button]) as house:
            finger.set(True)
            await asyncio.sleep(0.1)
            finger.set(False)
            await house.heard("button", state="short")
            finger.set(True)
            await house.heard("button", state="long")
            finger.set(False)
            await house.heard("button", state="released")


async def test_a_line_of_another_program_is_busy(board: RealBoard) -> None:
    """With its name; here it is ours."""
    with driving(False):
        async with running(board, device("hall light", {"line": OUT.line})) as house:
            assert f'{OUT} is used by "hearth"' in (await house.call("turn_on_light", room="hall light"))["error"]


NOT_SEEN = {
    "the hardware PWM": "its pins are others than OUT, and its duty is the fake board's to show",
    "a chip without a group, or none at all": "this board has its chips and this user its groups",
    "the status LED": "it is a line as the lamp is; when it is lit, the fake board shows",
    "what a pin does while the board boots": "no program of the board sees that: it takes a second board or an eye",
    "whether a lamp flickers": "it takes an eye",
}


@pytest.mark.parametrize("what", NOT_SEEN)
def test_what_a_wire_does_not_show(what: str) -> None:
    """By name, so that nobody takes it for tested here."""
    pytest.skip(f"{what}: {NOT_SEEN[what]}")
