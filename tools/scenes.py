"""Scenes and scripts: what the owner has put together under one name.

A scene moves devices, all at once; a script calls functions, one after another (`tools.scripts`). People do not
know which of the two they made, so each function here finds the names of both. A slip does not count
(`tools.names.slips`), but for the name of a script that has to ask; what is only like a name is asked about, as
"lights off" is like "lights on".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from agent.config.tables import Table
from agent.errors import ArgumentError
from agent.schema import Name
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool
from tools.devices import Devices
from tools.home import Home
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.slips import alike, are_slips
from tools.names.words import fold, key_of, name_key
from tools.results import said, told
from tools.scene_states import Scene, read_scene
from tools.scripts import (
    Asked,
    Script,
    access_of,
    check_script,
    question_of,
    read_script,
    risky_steps,
    run_script,
    say_script,
    scene_named,
)
from tools.speech import listed, sentence
from tools.targets import of_name

FUNCTIONS = {"activate_scene": "scene", "run_script": "script"}
"""The functions of this file with their parameter."""

_KIND_WORDS = {"scene", "scenes", "mode", "script", "routine", "program", "programme", "automation"}
"""Words around a name that do not belong to it: "the movie night scene", "good night mode"."""

_NOTHING: Mapping[int, Asked] = {}

_confirmed: ContextVar[Mapping[int, Asked]] = ContextVar("_confirmed", default=_NOTHING)
"""What the question of this call named, by the step of the script. A tool is handed no context, and the answer to a
question takes its time: what has to be asked only since then was not said yes to."""


def read_scenes_and_scripts(settings: Table, home: Home) -> tuple[tuple[Scene, ...], tuple[Script, ...]]:
    """Those of the tables `[[tools.scene]]` and `[[tools.script]]`.

    Raises:
        SettingsError: A key or a name is wrong, or two of them have the same name.
    """
    tables = [*settings.tables("scene"), *settings.tables("script")]
    scenes = tuple(read_scene(table, home) for table in settings.tables("scene"))
    scripts = tuple(read_script(table, scenes) for table in settings.tables("script"))
    both: tuple[Scene | Script, ...] = (*scenes, *scripts)
    names: dict[str, str] = {}
    for table, each in zip(tables, both, strict=True):
        for key in dict.fromkeys(map(name_key, (each.name, *each.aliases))):
            if not key:
                raise table.wrong("a name needs a letter or a digit", "name")
            if key in names:
                raise table.wrong(f'"{names[key]}" has the same name; give one another name', "name")
            names[key] = each.name
    return scenes, scripts


def _say(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if "script" in result:
        return say_script(result)
    return said(result, f"the scene {result['scene']} is on")


class Scenes:
    """The functions of scenes and scripts."""

    def __init__(self, devices: Devices, scenes: Sequence[Scene] = (), scripts: Sequence[Script] = ()) -> None:
        self._devices = devices
        self._scenes = tuple(scenes)
        self._both: tuple[Scene | Script, ...] = (*scenes, *scripts)
        self._functions: dict[str, AgentTool] = {}
        self.tools: tuple[AgentTool, ...] = (
            ConfirmationTool(
                self.activate_scene,
                lambda given: self._question(given["scene"]),
                lambda given: self._access(given["scene"]),
            ),
            ConfirmationTool(
                self.run_script,
                lambda given: self._question(given["script"]),
                lambda given: self._access(given["script"]),
            ),
        )

    def bind(
        self,
        tools: Iterable[AgentTool],
        places: Mapping[str, tuple[str, Wish]],
        checks: Mapping[str, Callable[[Mapping[str, Any]], object]],
    ) -> None:
        """Hands the house's functions to the scripts. A script never calls a script: these are left out.

        Args:
            tools: All functions of the house.
            places: For each function of one place its parameter, and what it looks for.
            checks: What else is known of a call before it is made, by the function; raises an ArgumentError.

        Raises:
            SettingsError: A script calls what there is not, or with arguments that do not fit.
        """
        self._functions = {each.name: each for each in tools if each.name not in FUNCTIONS}

        def find(function: str, arguments: Mapping[str, Any]) -> None:
            if function in checks:
                checks[function](arguments)
            parameter, wish = places.get(function, ("", None))
            if wish is None or parameter not in arguments:
                return
            try:
                self._devices.find(arguments[parameter], wish)
            except PlaceError:
                # A function may have its own answer for a room that it has nothing in.
                if self._devices.area(arguments[parameter]) is None:
                    raise

        for each in self._both:
            if isinstance(each, Script):
                check_script(each, self._functions, find)

    @property
    def names(self) -> tuple[str, ...]:
        """What scenes and scripts are called, in all their names."""
        return tuple(name for each in self._both for name in (each.name, *each.aliases))

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str] | None:
        """As `agent.house.House.targets`: the scene or script itself; None for what is not of this file."""
        if name not in FUNCTIONS:
            return None
        words = arguments.get(FUNCTIONS[name])
        if not isinstance(words, str):
            return frozenset()
        try:
            return frozenset({of_name(self._meant(words).name)})
        except ArgumentError:
            return frozenset({of_name(words)})

    @tool(say=_say)
    async def activate_scene(self, scene: Name) -> dict[str, Any]:
        """Activates a scene or a mode of the home, such as movie night.

        Args:
            scene: What it is called.
        """
        return await self._do(scene)

    @tool(say=_say)
    async def run_script(self, script: Name) -> dict[str, Any]:
        """Runs a script or a routine of the home.

        Args:
            script: What it is called.
        """
        return await self._do(script)

    async def _do(self, words: str) -> dict[str, Any]:
        meant = self._meant(words)
        if isinstance(meant, Scene):
            return await self._activate(meant)
        confirmed = _confirmed.get()
        _confirmed.set(_NOTHING)
        return await run_script(meant, self._functions, self._activate_named, confirmed)

    async def _activate_named(self, name: str) -> dict[str, Any]:
        scene = scene_named(name, self._scenes)
        assert scene is not None  # checked when the settings were read
        return await self._activate(scene)

    async def _activate(self, scene: Scene) -> dict[str, Any]:
        """Moves all devices of a scene at once.

        Returns:
            As `tools.results.told`, with its name as `"scene"`.
        """
        changes = {device.id: change for device, change in scene.states}
        devices = tuple(device for device, _ in scene.states)
        outcomes = await self._devices.move(devices, lambda device, state: changes[device.id])
        place = Found(devices, f"the scene {scene.name}", plural=False)
        return told(place, outcomes, "scene", lambda outcome: scene.name)

    def _question(self, words: str) -> str | None:
        meant = self._meant(words)
        if isinstance(meant, Scene):
            return None
        asked = risky_steps(meant, self._functions)
        _confirmed.set(asked)
        return question_of(meant, [each.question for each in asked.values()]) if asked else None

    def _access(self, words: str) -> AccessLevel:
        meant = self._meant(words)
        return access_of(meant, self._functions) if isinstance(meant, Script) else AccessLevel.TRUSTED

    def _meant(self, words: str) -> Scene | Script:
        """The scene or script of a name.

        Raises:
            ArgumentError: There is none.
        """
        if not self._both:
            raise ArgumentError("There are no scenes and no scripts in this home.")
        exact: dict[str, Scene | Script] = {}
        bare: dict[str, set[str]] = {}
        for each in self._both:
            for name in (each.name, *each.aliases):
                exact[name_key(name)] = each
                bare.setdefault(key_of(_bare(name)), set()).add(name_key(each.name))
        for key in (name_key(words), key_of(_bare(words))):
            if key in exact:
                return exact[key]
            if len(bare.get(key, ())) == 1:
                return exact[next(iter(bare[key]))]
        heard = _bare(words)
        slips = [
            each for each in self._both if any(are_slips(heard, _bare(name)) for name in (each.name, *each.aliases))
        ]
        if len(slips) == 1 and (isinstance(slips[0], Scene) or not self._may_ask(slips[0])):
            return slips[0]
        near = [*slips, *(exact[key] for key in alike(key_of(heard), exact))]
        candidates = list(dict.fromkeys(each.name for each in near))
        hint = f"did you mean {listed(candidates, last='or')}?" if candidates else self._there()
        raise ArgumentError(sentence(f'there is no scene or script called "{" ".join(words.split())}"', hint))

    def _there(self) -> str:
        names = [each.name for each in self._both]
        return f"there {'is' if len(names) == 1 else 'are'} {listed(names, most=5)}"

    def _may_ask(self, script: Script) -> bool:
        return any(isinstance(self._functions.get(step.function or ""), ConfirmationTool) for step in script.steps)


def _bare(words: str) -> list[str]:
    """The words of a name without "scene", "mode" or the like before and after it."""
    tokens = [token for token in fold(words) if token != "the"]
    while len(tokens) > 1 and tokens[-1] in _KIND_WORDS:
        tokens = tokens[:-1]
    while len(tokens) > 1 and tokens[0] in _KIND_WORDS:
        tokens = tokens[1:]
    return tokens
