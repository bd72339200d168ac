"""From a sentence to the pin of the real image and back: agent, model and house as they ship, the board emulated.

Field faults: F24 (a lamp does not flicker while the model works), F26 (the opened port resets the board, and its lamps
are as they were).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent import Agent, AgentRunner, GenerativeModel, ModelConfig, TextMessage, load_model
from tests.hil.board import COUNTS, DEADLINE, NEAR, EmulatedBoard, duty_of
from tools import open_house

LAMP = 0
SHELF = 2
BUTTON = 1


@pytest.fixture(scope="module")
def model() -> Iterator[GenerativeModel]:
    """The one that ships."""
    loaded = load_model(ModelConfig())
    yield loaded
    asyncio.run(loaded.close())


def settings(board: EmulatedBoard) -> dict[str, Any]:
    """An office with two lamps on the board, and a button on its wall."""
    return {
        "serial": {"port": str(board.tty)},
        "room": [{"name": "office"}],
        "device": [
            {"name": "desk lamp", "kind": "light", "room": "office", "serial": {"channel": LAMP}},
            {"name": "shelf lamp", "kind": "light", "room": "office", "serial": {"channel": SHELF}},
        ],
        "scene": [{"name": "welcome", "states": [{"device": "shelf lamp", "brightness": 70}]}],
        "button": [
            {"name": "office button", "toggle": "desk lamp", "long_scene": "welcome", "serial": {"input": BUTTON}}
        ],
    }


class Desk:
    """Who sits there and speaks."""

    def __init__(self, runner: AgentRunner) -> None:
        self._runner = runner

    async def says(self, sentence: str) -> str:
        """What the agent answers."""
        async with asyncio.timeout(DEADLINE):
            events = [event async for event in self._runner.run_single_turn(sentence)]
        last = events[-1]
        assert isinstance(last, TextMessage)
        return last.text


@asynccontextmanager
async def desk(board: EmulatedBoard, model: GenerativeModel) -> AsyncIterator[Desk]:
    """A house that has just been opened, with the agent in it: who speaks now need not wait for the board."""
    async with (
        open_house(settings(board)) as house,
        AgentRunner(Agent("desk", tools=house.tools), model) as runner,
    ):
        yield Desk(runner)


async def test_a_sentence_ends_as_the_duty_of_the_pin_and_is_read_back(
    board: EmulatedBoard, model: GenerativeModel
) -> None:
    async with desk(board, model) as office:
        said = await office.says("turn on the desk lamp to 40 percent")
        await board.shows(LAMP, 400)

        assert "40 percent" in said
        assert "40 percent" in await office.says("how bright is the desk lamp?")
        assert board.duty(SHELF) == 0


async def test_f26_a_restart_of_the_agent_leaves_the_lamp_as_it_was_and_knows_it(
    board: EmulatedBoard, model: GenerativeModel
) -> None:
    """The board is a Nano: that its port is opened resets it."""
    async with desk(board, model) as office:
        await office.says("turn on the desk lamp to 40 percent")
        await board.shows(LAMP, 400)
    resets = board.state()["external_resets"]
    async with desk(board, model) as office:
        said = await office.says("how bright is the desk lamp?")

        assert board.state()["external_resets"] > resets
        assert "40 percent" in said
        await board.shows(LAMP, 400)


def has_rested(state: dict[str, Any]) -> bool:
    """Whether the lamp's fade ended 50 ms ago or earlier; one of its steps takes 10 ms."""
    return bool(state["cycle"] - state["outputs"][LAMP]["changed_cycle"] > 50 * 16000)


async def test_f24_a_dimmed_lamp_does_not_flicker_while_the_model_works(
    board: EmulatedBoard, model: GenerativeModel
) -> None:
    """Its pulses come from the chip's timers: not one is longer, shorter or missing, whatever the host does."""
    async with desk(board, model) as office:
        await office.says("turn on the desk lamp to 30 percent")
        await board.shows(LAMP, 300)
        await board.until(lambda: has_rested(board.state()))
        before = board.state()
        duties: list[float] = []

        async def watch() -> None:
            while True:
                duties.append(board.duty(LAMP))
                await asyncio.sleep(0.01)

        watching = asyncio.create_task(watch())
        for question in ("is the shelf lamp on?", "which lights are on?", "how bright is the desk lamp?") * 2:
            await office.says(question)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        after = board.state()

    first, last = before["outputs"][LAMP], after["outputs"][LAMP]
    periods = (after["cycle"] - before["cycle"]) / COUNTS[LAMP]
    assert max(abs(duty - duty_of(300, LAMP)) for duty in duties) <= NEAR[LAMP]
    assert last["changed_cycle"] == first["changed_cycle"]
    assert last["edges"] - first["edges"] == pytest.approx(2 * periods, abs=8)
    assert periods > 100


async def test_a_press_toggles_a_lamp_and_a_long_one_activates_a_scene(
    board: EmulatedBoard, model: GenerativeModel
) -> None:
    async with desk(board, model) as office:
        await office.says("turn on the desk lamp to 40 percent")
        await board.shows(LAMP, 400)
        board.do(f"input {BUTTON} 1")
        await asyncio.sleep(0.15)  # what a short press is
        board.do(f"input {BUTTON} 0")
        await board.shows(LAMP, 0)
        board.do(f"input {BUTTON} 1")
        await board.shows(SHELF, 700)
        board.do(f"input {BUTTON} 0")

        assert "70 percent" in await office.says("how bright is the shelf lamp?")
        assert board.duty(LAMP) == 0


async def test_a_hung_board_is_not_said_to_have_done_it(board: EmulatedBoard, model: GenerativeModel) -> None:
    async with desk(board, model) as office:
        await office.says("turn on the desk lamp to 40 percent")
        await board.shows(LAMP, 400)
        board.do("freeze")
        said = await office.says("turn off the desk lamp")
        board.do("thaw")

        assert "desk lamp" in said and "is off" not in said
