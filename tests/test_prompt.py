"""The prompt: full screen with textual's pilot, and line by line where there is no terminal."""

from __future__ import annotations

import asyncio
import logging
import os
import re

import pytest
from test_local import PIZZA, Parrot
from textual.widgets import Input, RichLog, Static

from agent.channels.cli import Lines
from agent.channels.prompt import HouseView, PromptApp, device_line, plain_prompt, run_prompt
from agent.house import HouseEvent

LAMP = HouseEvent("reading_lamp", {"name": "Reading lamp", "kind": "light", "state": "off"})


@pytest.fixture
async def parrot():
    return Parrot()


@pytest.fixture
async def app(parrot):
    return PromptApp(parrot)


def said(app: PromptApp) -> list[str]:
    return [line.text.rstrip() for line in app.query_one(RichLog).lines]


def seen(app: PromptApp) -> str:
    view = app.query_one(HouseView).query_one(Static)
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


async def until(condition) -> None:
    """Lets the app work until the condition holds."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def type_in(pilot, text: str) -> None:
    pilot.app.query_one(Input).value = text
    await pilot.press("enter")


def columns(app):
    """The view of the house: names and states."""
    return [re.split(r" {2,}", line.strip()) for line in seen(app).splitlines()]


async def test_a_command_is_typed_and_its_answer_said(app, parrot):
    """In the prompt's own conversation."""
    async with app.run_test() as pilot:
        await type_in(pilot, "hello")
        await until(lambda: "hello ü" in said(app))

        assert said(app)[0] == "> hello"
        assert app.query_one(Input).value == ""
        assert parrot.heard[0].session == "prompt"


async def test_an_empty_line_is_no_command(app, parrot):
    """Nothing happens."""
    async with app.run_test() as pilot:
        await type_in(pilot, "   ")
        await pilot.pause()

        assert said(app) == []
        assert not parrot.heard


async def test_what_is_typed_is_never_taken_for_markup(app):
    """Brackets are words."""
    async with app.run_test() as pilot:
        await type_in(pilot, "[bold]x[/] [/nothing]")
        await until(lambda: len(said(app)) == 2)

        assert said(app)[0] == "> [bold]x[/] [/nothing]"


@pytest.mark.parametrize("answer, opened", [("y", True), ("n", False), ("", False)])
async def test_a_question_is_answered_by_the_next_line(app, parrot, answer, opened):
    """And only yes is yes."""
    async with app.run_test() as pilot:
        await type_in(pilot, "ask")
        await until(lambda: "Open the garage door? (y/n)" in said(app))
        assert app.query_one(Input).placeholder == "y or n"
        await type_in(pilot, answer)
        await until(lambda: "ask ü" in said(app))

        assert parrot._answer.result() is opened
        assert app.query_one(Input).placeholder != "y or n"
        assert [each.text for each in parrot.heard] == ["ask"]


async def test_a_question_that_ended_by_itself_takes_no_later_line(app, parrot):
    """What is typed then is a command again."""
    async with app.run_test() as pilot:
        await type_in(pilot, "ask")
        await until(lambda: "Open the garage door? (y/n)" in said(app))
        parrot._answer.set_result(False)
        await until(lambda: "ask ü" in said(app))
        await type_in(pilot, "y")
        await until(lambda: "y ü" in said(app))

        assert [each.text for each in parrot.heard] == ["ask", "y"]


async def test_an_error_is_said_by_name_and_the_prompt_goes_on(app):
    """The next command works."""
    async with app.run_test() as pilot:
        await type_in(pilot, "fail")
        await until(lambda: "NOT_AVAILABLE: There is no model." in said(app))
        await type_in(pilot, "hello")
        await until(lambda: "hello ü" in said(app))


async def test_the_house_is_one_line_a_device_and_follows_its_events(app, parrot):
    """In the order in which the devices were first told."""
    parrot.house.put_nowait(LAMP)
    door = {"name": "Garage door", "kind": "garage_door", "state": "closed"}
    parrot.house.put_nowait(HouseEvent("garage", door))
    async with app.run_test():
        await until(lambda: "Garage door" in seen(app))
        assert columns(app) == [["Reading lamp", "off"], ["Garage door", "closed"]]

        parrot.house.put_nowait(HouseEvent("reading_lamp", {**LAMP.state, "state": "on", "brightness": 80}))
        await until(lambda: "80 %" in seen(app))

        assert columns(app) == [["Reading lamp", "on, 80 %"], ["Garage door", "closed"]]


async def test_a_device_that_has_left_the_house_has_no_line(app, parrot):
    parrot.house.put_nowait(LAMP)
    parrot.house.put_nowait(HouseEvent("l1", {"name": "Lamp 1", "state": "off"}))
    async with app.run_test():
        await until(lambda: "Lamp 1" in seen(app))
        parrot.house.put_nowait(HouseEvent("l1", {}))
        await until(lambda: "Lamp 1" not in seen(app))

        assert columns(app) == [["Reading lamp", "off"]]


async def test_a_device_that_changes_is_in_sight(app, parrot):
    """Also in a house with more devices than lines."""
    for number in range(50):
        parrot.house.put_nowait(HouseEvent(f"l{number}", {"name": f"Lamp {number}", "state": "off"}))
    async with app.run_test(size=(80, 24)):
        await until(lambda: "Lamp 49" in seen(app))
        parrot.house.put_nowait(HouseEvent("l40", {"name": "Lamp 40", "state": "on"}))
        view = app.query_one(HouseView)
        await until(lambda: view.scroll_y <= 40 < view.scroll_y + view.size.height)

        parrot.house.put_nowait(HouseEvent("l1", {"name": "Lamp 1", "state": "on"}))
        await until(lambda: view.scroll_y <= 1 < view.scroll_y + view.size.height)


async def test_what_is_due_is_a_line_of_its_own(app, parrot):
    """Also while a question waits, which it does not answer."""
    async with app.run_test() as pilot:
        await type_in(pilot, "ask")
        await until(lambda: "Open the garage door? (y/n)" in said(app))
        parrot.due.put_nowait(PIZZA)
        await until(lambda: PIZZA.text in " ".join(said(app)))
        await type_in(pilot, "y")
        await until(lambda: "ask ü" in said(app))

        assert parrot._answer.result()


async def test_a_warning_is_shown_among_what_is_said(app):
    """Written to the terminal it would tear the picture."""
    root = logging.getLogger()
    kept = list(root.handlers)
    async with app.run_test():
        with app.log_on_screen():
            await asyncio.to_thread(logging.getLogger("hearth").warning, "the broker %s is away", "b")
            await until(lambda: said(app) == ["the broker b is away"])

    assert root.handlers == kept


async def test_ctrl_c_leaves(app):
    """As in every program at a terminal."""
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()

        assert not app.is_running or app._exit


async def test_a_long_answer_is_wrapped(app):
    """No word of it is out of sight."""
    words = [f"word{number}" for number in range(40)]
    async with app.run_test() as pilot:
        await type_in(pilot, " ".join(words))
        await until(lambda: len(" ".join(said(app)).split()) == 2 * len(words) + 2)

        assert " ".join(said(app)).split() == [">", *words, *words, "ü"]
        assert max(len(line) for line in said(app)) <= app.query_one(RichLog).size.width


async def test_leaving_while_a_question_waits_cancels_its_command(app, parrot):
    """Without a complaint, and without a yes."""
    async with app.run_test() as pilot:
        await type_in(pilot, "ask")
        await until(lambda: "Open the garage door? (y/n)" in said(app))

    await parrot.ended.wait()
    assert parrot._answer.cancelled()


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ({"name": "A", "state": "off", "brightness": 100}, ("A", "off")),
        ({"name": "A", "state": "on", "brightness": 1}, ("A", "on, 1 %")),
        ({"name": "A", "state": "on", "brightness": 50, "kelvin": 2700}, ("A", "on, 50 %, 2700 K")),
        ({"name": "A", "state": "on", "rgb": [255, 0, 10]}, ("A", "on, #ff000a")),
        ({"name": "A", "state": "on", "available": False}, ("A", "not available")),
        ({"name": "Lamp", "room": "Attic", "state": "off"}, ("Lamp (Attic)", "off")),
        ({"name": "Attic lamp", "room": "attic", "state": "off"}, ("Attic lamp", "off")),
        ({"name": "T", "state": "heat", "target": 21.0, "temperature": 20.5}, ("T", "heat, to 21 °C, 20.5 °C now")),
        ({"name": "B", "state": "open", "position": 40}, ("B", "open, 40 %")),
        ({"name": "S", "state": "playing", "volume": 30, "muted": True}, ("S", "playing, volume 30, muted")),
        ({"name": "H", "state": "known", "value": 64.0, "unit": "percent"}, ("H", "64 percent")),
        ({}, ("device", "unknown")),
    ],
)
def test_a_state_is_said_as_a_person_reads_it(state, line):
    """With its units."""
    assert device_line(HouseEvent("device", state)) == line


async def test_without_a_terminal_it_goes_line_by_line(parrot, capsys):
    """Answers and changes of the house on a line each, until the input ends."""
    reading, writing = os.pipe()
    prompt = asyncio.create_task(plain_prompt(parrot, Lines(reading)))
    printed = ""

    async def until_printed(text: str) -> None:
        nonlocal printed
        async with asyncio.timeout(60):
            while text not in printed:
                printed += capsys.readouterr().out
                await asyncio.sleep(0.01)

    parrot.house.put_nowait(LAMP)
    await until_printed("  Reading lamp: off\n")
    parrot.due.put_nowait(PIZZA)
    await until_printed("The pizza timer was up 2 minutes ago.\n")
    os.write(writing, b"hello\n")
    await until_printed("hello ü\n")
    os.close(writing)
    await prompt
    os.close(reading)


async def test_without_a_terminal_the_end_of_input_does_not_stop_the_service(parrot, monkeypatch):
    """`make run < /dev/null &` goes on until it is told to stop."""
    stop = asyncio.Event()
    ended = asyncio.Event()

    class Ended(Lines):
        async def next(self):
            ended.set()

    monkeypatch.setattr("agent.channels.prompt.Lines", Ended)
    prompt = asyncio.create_task(run_prompt(parrot, stop))
    await ended.wait()
    await asyncio.sleep(0)

    assert not stop.is_set()
    assert not prompt.done()
    stop.set()
    await prompt
