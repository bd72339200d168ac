"""Devices in memory."""

from __future__ import annotations

import pytest

from tools.drivers import Change, Device, Kind, State
from tools.drivers.memory import MemoryDriver, MemoryOptions

LAMP = Device("lamp", "lamp", Kind.LIGHT, can=("brightness", "color", "white"), options=MemoryOptions(True, 40))
PLUG = Device("plug", "plug", Kind.PLUG)
DOOR = Device("door", "door", Kind.GARAGE_DOOR, options=MemoryOptions(open=True))


@pytest.fixture
def states() -> dict[str, State]:
    return {}


@pytest.fixture
def driver(states: dict[str, State]) -> MemoryDriver:
    return MemoryDriver([LAMP, PLUG, DOOR], states.__setitem__)


def test_the_first_states_are_those_of_the_settings(driver: MemoryDriver, states: dict[str, State]) -> None:
    assert states == {
        "lamp": State(on=True, brightness=40),
        "plug": State(on=False),
        "door": State(open=True),
    }


@pytest.mark.parametrize("percent", range(1, 101))
async def test_every_percentage_is_read_back_as_it_was_set(driver: MemoryDriver, percent: int) -> None:
    assert (await driver.move(LAMP, Change(on=True, brightness=percent))).brightness == percent


async def test_a_change_is_reported(driver: MemoryDriver, states: dict[str, State]) -> None:
    await driver.move(LAMP, Change(on=False))
    await driver.move(DOOR, Change(open=False))

    assert states["lamp"] == State(on=False, brightness=40)
    assert states["door"].word == "closed"


async def test_a_colour_ends_a_white_and_a_white_a_colour(driver: MemoryDriver) -> None:
    await driver.move(LAMP, Change(on=True, rgb=(255, 0, 0)))
    white = await driver.move(LAMP, Change(on=True, kelvin=2700))
    red = await driver.move(LAMP, Change(on=True, rgb=(255, 0, 0)))

    assert (white.rgb, white.kelvin) == (None, 2700)
    assert (red.rgb, red.kelvin) == ((255, 0, 0), None)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (State(on=True), "on"), (State(on=False), "off"), (State(open=True), "open"), (State(open=False), "closed"),
        (State(open=True, moving=True), "opening"), (State(open=False, moving=True), "closing"),
        (State(), "unknown"), (State(on=True, available=False), "unknown"),
    ],
)  # fmt: skip
def test_a_state_has_one_word(state: State, word: str) -> None:
    assert state.word == word
