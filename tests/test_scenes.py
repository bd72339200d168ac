"""Scenes and scripts, read from the settings and run in memory."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

from agent.config.tables import Table
from agent.errors import SettingsError
from agent.events import ConfirmationRequest
from agent.house_store import HouseStore
from agent.runner import Agent, AgentRunner
from agent.tool import AccessLevel, AgentTool, ToolCall, visible
from tests.fakes import ScriptedModel
from tests.homes import SETTINGS, Stubborn, named, with_devices
from tools import open_house
from tools.device import Change, State
from tools.devices import Devices
from tools.home import Home
from tools.house import House
from tools.scenes import read_scenes_and_scripts

MOVIE_NIGHT: dict[str, Any] = {
    "name": "movie night",
    "aliases": ["cinema"],
    "states": [
        {"device": "reading lamp", "brightness": 20, "color": "warm white"},
        {"device": "attic lamp 2", "on": False},
        {"device": "office blind", "position": 40},
        {"device": "projector", "play": "a film"},
    ],
}
PARTY: dict[str, Any] = {
    "name": "party mode",
    "states": [{"device": "floor lamp", "on": True}, {"device": "fairy lights", "on": True}],
}
LEAVING: dict[str, Any] = {
    "name": "leaving home",
    "aliases": ["goodbye"],
    "steps": [
        {"function": "turn_off_light", "arguments": {"room": "everywhere"}},
        {"wait_s": 0.001},
        {"scene": "Party Mode"},
        {"function": "unlock_door", "arguments": {"door": "back door"}},
    ],
}
TIDY_UP: dict[str, Any] = {
    "name": "tidy up",
    "steps": [{"function": "turn_off_light", "arguments": {"room": "kitchen"}}, {"function": "start_vacuum"}],
}


class OpenHouse:
    """A house in memory whose devices can be told to fail, and the person in it, who is asked questions."""

    def __init__(
        self,
        scenes: Any = (MOVIE_NIGHT, PARTY),
        scripts: Any = (LEAVING, TIDY_UP),
        answer: bool = True,
        settings: Any = SETTINGS,
        **trouble: Any,
    ) -> None:
        settings = {**settings, "scene": list(scenes), "script": list(scripts)}
        self.devices = Devices(Home.from_settings(settings))
        read = read_scenes_and_scripts(Table.of(settings, "tools"), self.devices.home)
        self.house = House(self.devices, None, HouseStore(), scenes=read[0], scripts=read[1])
        self.driver = Stubborn(self.devices, **trouble)
        self.devices.attach("memory", self.driver)
        self.answer = answer
        self.questions: list[str] = []
        self.tools: dict[str, AgentTool] = {tool.name: tool for tool in self.house.tools}

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return self.answer

    async def call(self, function: str, words: str) -> dict[str, Any]:
        tool = self.tools[function]
        [parameter] = tool.declaration.parameters.properties
        return await tool.call({parameter: words}, ToolCall("1", tool.name, self.confirm))

    async def said(self, function: str, words: str) -> str:
        response = await self.call(function, words)
        say = self.tools[function].declaration.say
        assert callable(say)
        return str(response["error"]) if "error" in response else say({}, response)

    def state(self, name: str) -> State:
        return named(self.devices, name)


def with_steps(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"name": "routine", "steps": list(steps)}


async def test_a_scene_moves_all_of_its_devices() -> None:
    home = OpenHouse()

    assert await home.said("activate_scene", "movie night") == "The scene movie night is on."
    assert dict(home.driver.moves) == {
        "reading lamp": Change(on=True, brightness=20, kelvin=2700),
        "attic lamp 2": Change(on=False),
        "office blind": Change(position=40),
        "projector": Change(play="a film"),
    }
    assert home.state("projector").title == "a film"
    assert not home.questions


async def test_the_devices_of_a_scene_move_at_once() -> None:
    home = OpenHouse()
    home.driver.free.clear()
    activating = asyncio.create_task(home.call("activate_scene", "movie night"))
    while len(home.driver.moves) < 4:  # none waits for another to be done
        await asyncio.sleep(0)
    home.driver.free.set()

    assert "error" not in await activating


async def test_a_partial_failure_of_a_scene_is_named() -> None:
    home = OpenHouse(gone=["office blind"], silent=["projector"])

    assert await home.said("activate_scene", "movie night") == (
        "The scene movie night is on; the office blind is not available; the projector did not confirm it in time."
    )


async def test_a_scene_of_which_nothing_was_done_is_not_on() -> None:
    home = OpenHouse(gone=["floor lamp", "fairy lights"])

    assert await home.call("activate_scene", "party") == {
        "error": "The floor lamp and the fairy lights are not available."
    }


@pytest.mark.parametrize("function", ["activate_scene", "run_script"])
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("movie night", "movie night"), ("the Movie-Night scene", "movie night"), ("cinema", "movie night"),
        ("movie nite", "movie night"), ("scene cinema", "movie night"), ("party", "party mode"),
        ("party mode", "party mode"), ("tidy up", "tidy up"), ("the tidy up routine", "tidy up"),
        ("tidi up", "tidy up"), ("goodbye script", "leaving home"),
    ],
)  # fmt: skip
async def test_a_scene_or_a_script_is_found_by_both_functions(function: str, words: str, name: str) -> None:
    home = OpenHouse()
    result = await home.call(function, words)

    assert result.get("scene", result.get("script")) == name


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("rainy day", 'There is no scene or script called "rainy day"; there are movie night, party mode, leaving'),
        ("leaving hom", 'There is no scene or script called "leaving hom"; did you mean leaving home?'),
        ("scene", 'There is no scene or script called "scene"'),
    ],
)
async def test_a_name_that_there_is_not_moves_nothing(words: str, error: str) -> None:
    home = OpenHouse()

    for function in ("activate_scene", "run_script"):
        assert error in (await home.call(function, words))["error"]
    assert not home.driver.moves
    assert not home.questions


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("lights on", "lights off"), ("heating off", "heating on"), ("everything on", "everything off"),
        ("vacation off", "vacation on"), ("close everything", "open everything"), ("arm alarm", "disarm the alarm"),
        ("unlock all", "lock all"), ("movie 1", "movie 2"), ("movie one", "movie two"),
        ("not good night", "good night"), ("deactivate nursery", "activate nursery"), ("inside only", "outside only"),
    ],
)  # fmt: skip
async def test_a_name_that_is_only_like_another_is_asked_about(words: str, name: str) -> None:
    for scenes, scripts in (([{**PARTY, "name": name}], []), ([], [{**TIDY_UP, "name": name}])):
        home = OpenHouse(scenes, scripts)

        for function in ("activate_scene", "run_script"):
            assert "There is no scene or script called" in (await home.call(function, words))["error"]
        assert not home.driver.moves


async def test_a_home_without_scenes_says_so() -> None:
    home = OpenHouse([], [])

    assert await home.call("run_script", "tidy up") == {"error": "There are no scenes and no scripts in this home."}


@pytest.mark.parametrize("function", ["activate_scene", "run_script"])
async def test_a_script_with_a_lock_asks_once_and_says_what_it_does(function: str) -> None:
    home = OpenHouse()

    assert await home.said(function, "leaving home") == "The script leaving home is done."
    assert home.questions == ["Shall I run leaving home? It unlocks the back door."]
    assert home.state("back door").locked is False
    assert home.state("floor lamp").on is True
    assert home.state("hall light").on is False


async def test_a_no_runs_nothing_of_the_script() -> None:
    home = OpenHouse(answer=False)

    assert (await home.call("run_script", "leaving home"))["status"] == "CANCELLED_BY_USER"
    assert not home.driver.moves


async def test_a_script_without_anything_risky_does_not_ask() -> None:
    home = OpenHouse()

    assert await home.said("run_script", "tidy up") == "The script tidy up is done."
    assert home.driver.moved == ["ceiling light", "worktop light", "robbie"]
    assert not home.questions


async def test_two_risky_steps_are_one_question() -> None:
    script = with_steps(
        {"function": "open_garage_door"},
        {"function": "unlock_door", "arguments": {"door": "back door"}},
        {"function": "set_garage_door_position", "arguments": {"position": 100}},
    )
    home = OpenHouse([], [script])
    await home.call("run_script", "routine")

    [question] = home.questions
    assert question.startswith("Shall I run routine? It opens the garage door, unlocks the back door and ")


async def test_what_needs_no_moving_when_it_is_asked_is_not_moved_without_a_yes() -> None:
    """The back door is unlocked when the question is put, so that its step is not in it; then somebody locks it."""
    script = with_steps(
        {"function": "open_garage_door"}, {"function": "unlock_door", "arguments": {"door": "back door"}}
    )
    home = OpenHouse([], [script])
    home.driver.tell("back door", locked=False)
    ask = home.confirm

    async def locked_meanwhile(question: str) -> bool:
        home.driver.tell("back door", locked=True)
        return await ask(question)

    home.confirm = locked_meanwhile  # type: ignore[method-assign]

    assert await home.said("run_script", "routine") == (
        "The script routine is done, but not all of it; step 2, unlock door: it was not confirmed."
    )
    assert home.questions == ["Shall I run routine? It opens the garage door."]
    assert home.state("back door").locked is True
    assert home.state("garage door").open is True


async def test_a_lock_that_comes_back_after_the_question_is_not_moved_by_a_script_either() -> None:
    gates = ({"name": name, "kind": "lock", "room": "garage", "memory": {"locked": False}} for name in ("gate", "side"))
    script = with_steps({"function": "lock_door", "arguments": {"door": "garage"}})
    home = OpenHouse([], [script], settings=with_devices(*gates))
    home.driver.tell("side", available=False)
    ask = home.confirm

    async def comes_back(question: str) -> bool:
        home.driver.tell("side", available=True)
        return await ask(question)

    home.confirm = comes_back  # type: ignore[method-assign]

    assert await home.said("run_script", "routine") == (
        "The script routine is done, but not all of it; step 1, lock door: the side was not asked about."
    )
    assert home.questions == ["The side is not available. Shall I run routine? It locks the gate."]
    assert home.driver.moved == ["gate"]


async def test_who_asks_from_outside_cannot_say_yes_to_a_step_that_is_not_theirs() -> None:
    home = OpenHouse()
    async with AgentRunner(Agent("house", tools=home.house.tools), ScriptedModel()) as runner:

        def nod(question: ConfirmationRequest) -> None:
            asyncio.get_running_loop().call_soon(runner.confirm, question.id, True)

        async def called(name: str, level: AccessLevel, words: str = "leaving home") -> dict[str, Any]:
            [parameter] = home.tools[name].declaration.parameters.properties
            return await runner.call_tool(name, {parameter: words}, level, nod)

        refused = {"error": "Only somebody who is at home can ask for that."}
        for level in (AccessLevel.TRUSTED, AccessLevel.SYSTEM):
            assert await called("run_script", level) == refused
            assert await called("activate_scene", level) == refused
        assert not home.driver.moves

        assert (await called("run_script", AccessLevel.TRUSTED, "tidy up"))["script"] == "tidy up"
        assert (await called("activate_scene", AccessLevel.TRUSTED, "party"))["scene"] == "party mode"
        assert home.state("back door").locked is True
        assert (await called("run_script", AccessLevel.SELF))["script"] == "leaving home"
        assert home.state("back door").locked is False


async def test_an_assistant_outside_cannot_unlock_by_a_script() -> None:
    home = OpenHouse(answer=False)  # nobody of this turn to ask is a no
    seen = {tool.name: tool for tool in visible(home.house.tools, AccessLevel.TRUSTED)}

    assert "unlock_door" not in seen
    for name, parameter in (("run_script", "script"), ("activate_scene", "scene")):
        response = await seen[name].call({parameter: "leaving home"}, ToolCall("1", name, home.confirm))
        assert response["status"] == "CANCELLED_BY_USER"
    assert home.state("back door").locked is True


async def test_a_step_that_fails_is_named_and_the_rest_goes_on() -> None:
    home = OpenHouse(gone=["robbie", "back door"], silent=["ceiling light"])

    assert await home.said("run_script", "tidy up") == (
        "The script tidy up is done, but not all of it;"
        " step 1, turn off light: the ceiling light did not confirm it in time;"
        " step 2, start vacuum: the robbie is not available."
    )
    assert home.state("worktop light").on is False


async def test_a_script_of_which_nothing_was_done_is_not_done() -> None:
    home = OpenHouse([], [with_steps({"function": "start_vacuum"}, {"wait_s": 0.001})], gone=["robbie"])

    assert await home.call("run_script", "routine") == {"error": "Step 1, start vacuum: the robbie is not available."}


async def test_a_fault_in_a_function_costs_its_own_step(caplog: pytest.LogCaptureFixture) -> None:
    home = OpenHouse()

    async def broken(*_: Any) -> Any:
        raise RuntimeError("oh")

    home.tools["start_vacuum"].call = broken  # type: ignore[method-assign]

    assert await home.said("run_script", "tidy up") == (
        "The script tidy up is done, but not all of it; step 2, start vacuum: it failed."
    )
    assert "RuntimeError: oh" in caplog.text


async def test_a_script_waits_between_its_steps() -> None:
    script = with_steps(
        {"function": "turn_off_light", "arguments": {"room": "hall"}}, {"wait_s": 5}, {"scene": "party mode"}
    )
    home = OpenHouse([PARTY], [script])
    running = asyncio.create_task(home.call("run_script", "routine"))
    while not home.driver.moves:
        await asyncio.sleep(0)
    for _ in range(20):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert home.driver.moved == ["hall light"]


async def test_a_script_that_runs_out_of_time_tells_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.scripts.MAX_RUN_S", 0.05)
    script = with_steps(
        {"function": "set_timer", "arguments": {"duration": "5 minutes"}},
        {"function": "turn_off_light", "arguments": {"room": "hall"}},
        {"wait_s": 8},
        {"scene": "party mode"},
    )
    home = OpenHouse([PARTY], [script])
    home.driver.free.clear()  # the hall light never confirms

    assert await home.said("run_script", "routine") == (
        "The script routine is done, but not all of it; step 2, turn off light: it took too long;"
        " step 4, the scene party mode: there was no time for it."
    )
    assert home.driver.moved == ["hall light"]


def scene_with(**state: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [{"name": "evening", "states": [state]}], []


def script_with(*steps: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [PARTY], [with_steps(*steps)]


@pytest.mark.parametrize(
    ("scenes_and_scripts", "text"),
    [
        (scene_with(device="ufo", on=True), "there is no device 'ufo'; there are reading lamp, floor lamp"),
        (scene_with(device="kettle", brightness=20), '"kettle": it has no brightness; it has on'),
        (scene_with(device="floor lamp", color="red"), '"floor lamp": it has no color'),
        (scene_with(device="reading lamp", color="mauvish"), '"reading lamp": mauvish is not a colour'),
        (scene_with(device="reading lamp", brightness=101), "brightness is 101; allowed is 0 to 100"),
        (scene_with(device="reading lamp", brightness="20"), "brightness is '20'; it must be a whole number"),
        (scene_with(device="reading lamp", dim=20), "'dim'; allowed are device, on, brightness"),
        (scene_with(device="reading lamp"), "it was not said how it is to be"),
        (scene_with(device="reading lamp", on=False, brightness=20), "it is off, and has a brightness"),
        (scene_with(device="reading lamp", on=True, brightness=0), "on is true, and 0 percent is off"),
        (scene_with(device="office curtain", position=50), "position is 50; it can be 0 or 100 only"),
        (scene_with(device="den thermostat", target=40), "target is 40; allowed is 5 to 30"),
        (scene_with(device="den thermostat", mode="cool"), "it has no mode 'cool'; there are off, heat"),
        (
            scene_with(device="kitchen window", position=0),
            '"kitchen window": it has no position; a scene cannot move it',
        ),
        (scene_with(device="front door", position=100), '"front door": it has no position; a scene cannot move it'),
        (scene_with(device="robbie", on=True), '"robbie": it has no on; a scene cannot move it'),
        (scene_with(device="back door", on=True), "a scene cannot move a lock; a script can, and asks"),
        (scene_with(device="garage door", position=100), "a scene cannot move a garage door; a script can, and asks"),
        (([{**PARTY, "states": PARTY["states"] * 2}], []), '"floor lamp" is in this scene twice'),
        (([{"name": "x"}], []), "\"x\": the key 'states' is missing"),
        (([{"states": []}], []), "the key 'name'"),
        (([{**PARTY, "colour": 1}], []), "'colour'; allowed are name, aliases, states"),
        (([PARTY, {**MOVIE_NIGHT, "aliases": ["Party-Mode"]}], []), '"movie night": "party mode" has the same name'),
        (([PARTY], [{**TIDY_UP, "name": "PARTY mode"}]), '"PARTY mode": "party mode" has the same name'),
        (([{**PARTY, "name": "!"}], []), "needs a letter or a digit"),
        (script_with({"function": "make_coffee"}), "there is no function 'make_coffee' that a script can call"),
        (script_with({"function": "run_script", "arguments": {"script": "x"}}), "no function 'run_script'"),
        (script_with({"function": "activate_scene", "arguments": {"scene": "x"}}), "no function 'activate_scene'"),
        (script_with({"function": "get_time"}), "get_time only tells"),
        (script_with({"function": "turn_off_light"}), "turn_off_light: room: it is missing"),
        (
            script_with({"function": "turn_on_light", "arguments": {"room": "hall", "brightness": 200}}),
            "turn_on_light: brightness: 200 is out of range",
        ),
        (
            script_with({"wait_s": 1}, {"function": "turn_off_light", "arguments": {"room": "pool"}}),
            'steps 2: turn_off_light: I know nothing called "pool"',
        ),
        (script_with({"function": "stop_vacuum", "scene": "party mode"}), "needs one of function, scene and wait_s"),
        (script_with({}), "it needs one of function, scene and wait_s"),
        (script_with({"scene": "x"}), "there is no scene 'x'; there are party mode"),
        (script_with({"scene": "party mode", "arguments": {}}), "arguments are for a function"),
        (script_with({"function": "set_timer", "arguments": {"duration": "five"}}), "set_timer: "),
        (script_with({"function": "set_alarm", "arguments": {"time": "blue"}}), "set_alarm: "),
        (script_with({"function": "do_later", "arguments": {"command": "lock up"}}), "it needs one of delay and time"),
        (
            script_with({"function": "announce", "arguments": {"message": "hello", "room": "nowhere"}}),
            'announce: There is no room called "nowhere"',
        ),
        (
            script_with({"function": "add_to_list", "arguments": {"item": "milk", "list": "nope"}}),
            'add_to_list: There is no list called "nope"',
        ),
        (
            script_with({"function": "turn_on_light", "arguments": {"room": "lounge", "color": "blurple"}}),
            "turn_on_light: blurple is not a colour",
        ),
        (
            script_with({"function": "set_light_effect", "arguments": {"room": "lounge", "effect": "disco"}}),
            'cannot show "disco"',
        ),
        (script_with({"wait_s": 5}, {"wait_s": 4}), "it waits 9 seconds altogether; allowed is 8"),
        (script_with({"wait_s": 0}), "wait_s is 0; it must be more"),
        (script_with("stop"), "it must be an array of tables"),
        (script_with(), "the key 'steps' is missing"),
    ],
)
async def test_a_mistake_in_the_settings_is_one_sentence(scenes_and_scripts: Any, text: str) -> None:
    scenes, scripts = copy.deepcopy(scenes_and_scripts)
    with pytest.raises(SettingsError) as raised:
        async with open_house({**SETTINGS, "scene": scenes, "script": scripts}):
            pass

    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ({"device": "lounge", "on": True}, None),
        ({"device": "lamp by the couch", "color": "blue"}, Change(on=True, rgb=(0, 0, 255))),
        ({"device": "reading lamp", "brightness": 0}, Change(on=False)),
        ({"device": "kettle", "on": True}, Change(on=True)),
        ({"device": "office curtain", "position": 100}, Change(open=True)),
        ({"device": "office blind", "position": 0}, Change(open=False)),
        ({"device": "den thermostat", "target": 21, "mode": "heat"}, Change(target=21.0, mode="heat")),
        ({"device": "den speaker", "volume": 0, "muted": True}, Change(volume=0, muted=True)),
    ],
)
def test_a_state_is_read_into_a_change(state: dict[str, Any], change: Change | None) -> None:
    settings = Table.of({**SETTINGS, "scene": [{"name": "evening", "states": [state]}]}, "tools")
    home = Home.from_settings(settings)
    if change is None:
        with pytest.raises(SettingsError, match="no device 'lounge'"):
            read_scenes_and_scripts(settings, home)
    else:
        [scene], _ = read_scenes_and_scripts(settings, home)
        assert [each for _, each in scene.states] == [change]


def test_a_scene_is_the_same_by_all_of_its_names() -> None:
    home = OpenHouse()

    assert home.house.targets("run_script", {"script": "leaving home"}) == {"? leavinghome"}
    assert home.house.targets("activate_scene", {"scene": "cinema"}) == {"? movienight"}
    assert home.house.targets("run_script", {"script": "x"}) == home.house.targets("activate_scene", {"scene": "X"})
    assert {"movie night", "cinema", "tidy up"} <= set(home.house.names())
