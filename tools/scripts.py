"""Scripts as the settings describe them: functions of the house, scenes and waits, one after another.

A step is the call of a function as the model would make it, so that everything which holds for that function
holds here: its ranges, its limits, its names. A step that fails is named, and the rest goes on.

A step may move what can hurt or let somebody in. Then a person is asked once, before the first step, and told
what it is; what was not named then is not done. Whoever calls from outside runs no script with a step that they
could not call themselves: a script is no way around the access of its steps.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Annotated, Any

from agent.config.tables import Table, choice, read_table
from agent.errors import ArgumentError
from agent.schema import FunctionDeclaration, Range
from agent.tool import CANCELLED_BY_USER, AccessLevel, AgentTool, ConfirmationTool, ToolCall
from tools import risky
from tools.colors import parse_color, parse_warmth
from tools.names.words import name_key
from tools.scene_states import Scene
from tools.speech import failures, listed, sentence
from tools.times.days import parse_time_and_day
from tools.times.durations import parse_duration

_log = logging.getLogger(__name__)

MAX_WAIT_S = 8.0
"""How long a script may wait altogether."""

MAX_RUN_S = 9.0
"""How long a script may take: the agent gives a call of a function ten seconds, and is to hear what was done."""

_NO_TIME = "there was no time for it"


@dataclass(frozen=True)
class Step:
    """One of the `steps` of a table `[[tools.script]]`: a function, a scene or a wait."""

    function: str | None = None
    """The name of a function that moves something."""

    scene: str | None = None
    """The name of a scene."""

    wait_s: Annotated[float, Range(0, MAX_WAIT_S)] | None = None
    """How many seconds to wait; of all steps together at most 8."""

    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """A table of the function's arguments."""

    source: Table = field(default_factory=lambda: Table({}), compare=False, repr=False)
    """Where it stands, for errors."""


@dataclass(frozen=True)
class Script:
    """The table `[[tools.script]]`."""

    name: str
    """What it is called, and how it is spoken."""

    steps: tuple[Step, ...]
    """What is done, in order."""

    aliases: tuple[str, ...] = ()
    """What else it is called."""


@dataclass(frozen=True)
class _Names:
    """What a script is called."""

    name: str
    aliases: tuple[str, ...] = ()


def read_script(table: Table, scenes: Collection[Scene]) -> Script:
    """A script from its table; its functions are checked by `check_script`.

    Raises:
        SettingsError: A key is wrong, a scene is unknown, or it waits too long; the text names the script.
    """
    read = read_table(_Names, table, also=("steps",))
    steps = tuple(_step(each, scenes) for each in table.tables("steps"))
    if not steps:
        raise table.wrong("the key 'steps' is missing: tables with a function, a scene or wait_s")
    waits = sum(step.wait_s or 0 for step in steps)
    if waits > MAX_WAIT_S:
        raise table.wrong(f"it waits {waits:g} seconds altogether; allowed is {MAX_WAIT_S:g}", "steps")
    return Script(read.name, steps, read.aliases)


def _step(table: Table, scenes: Collection[Scene]) -> Step:
    step = read_table(Step, table, hidden=("arguments", "source"), also=("arguments",))
    kinds = [key for key in ("function", "scene", "wait_s") if getattr(step, key) is not None]
    if len(kinds) != 1:
        raise table.wrong("it needs one of function, scene and wait_s")
    if step.wait_s == 0:
        raise table.wrong("wait_s is 0; it must be more", "wait_s")
    if step.scene is not None and scene_named(step.scene, scenes) is None:
        known = choice([scene.name for scene in scenes], step.scene)
        raise table.wrong(f"there is no scene {step.scene!r}; there are {known}", "scene")
    if "arguments" in table and step.function is None:
        raise table.wrong("arguments are for a function", "arguments")
    return replace(step, arguments=dict(table.table("arguments")), source=table)


def scene_named(name: str, scenes: Collection[Scene]) -> Scene | None:
    """The scene of that name or alias."""
    key = name_key(name)
    return next((scene for scene in scenes if key in map(name_key, (scene.name, *scene.aliases))), None)


def check_script(
    script: Script, tools: Mapping[str, AgentTool], find: Callable[[str, Mapping[str, Any]], object]
) -> None:
    """Checks the calls of a script before it is ever run.

    Args:
        script: Which one.
        tools: The functions that it may call, by name.
        find: Looks up the places that a call names; raises an ArgumentError where there is none.

    Raises:
        SettingsError: There is no such function, or its arguments do not fit.
    """
    for step in script.steps:
        if step.function is None:
            continue
        tool = tools.get(step.function)
        if tool is None:
            known = choice([name for name, each in tools.items() if not each.declaration.read_only], step.function)
            raise step.source.wrong(
                f"there is no function {step.function!r} that a script can call; there are {known}", "function"
            )
        if tool.declaration.read_only:
            raise step.source.wrong(f"{step.function} only tells, and a script is not heard", "function")
        try:
            arguments = tool.declaration.check(step.arguments)
            _check_words(tool.declaration, arguments)
            find(step.function, arguments)
        except ArgumentError as error:
            raise step.source.wrong(f"{step.function}: {error}", "arguments") from error


_DAY = date(2000, 1, 1)
"""Any: whether words are a time does not depend on it."""

_FORMATS: dict[str, Callable[[str], object]] = {
    "duration": parse_duration,
    "time": lambda words: parse_time_and_day(words, _DAY),
    "color": lambda words: parse_warmth(words) or parse_color(words),
}
"""What reads the words of a parameter, by its format."""


def _check_words(declaration: FunctionDeclaration, arguments: Mapping[str, Any]) -> None:
    """Reads the words of a call as the function will.

    Raises:
        ArgumentError: They are nothing.
    """
    for name, schema in declaration.parameters.properties.items():
        read = _FORMATS.get(schema.format or "")
        if read is not None and isinstance(arguments.get(name), str):
            read(arguments[name])


@dataclass(frozen=True)
class Asked:
    """What a person is asked about a step before a script is run.

    Attributes:
        question: That of the step alone.
        devices: The ids of what it names.
    """

    question: str
    devices: frozenset[str]


def access_of(script: Script, tools: Mapping[str, AgentTool]) -> AccessLevel:
    """Who may run a script: whoever may call all of its steps."""
    called = (tools.get(step.function or "") for step in script.steps)
    return min((tool.access for tool in called if tool is not None), default=AccessLevel.TRUSTED)


def risky_steps(script: Script, tools: Mapping[str, AgentTool]) -> dict[int, Asked]:
    """What has to be asked now before a script is run, by the index of the step."""
    asked: dict[int, Asked] = {}
    for index, step in enumerate(script.steps):
        tool = tools.get(step.function or "")
        if isinstance(tool, ConfirmationTool):
            try:
                question = tool.question(tool.declaration.check(step.arguments))
            except ArgumentError:
                continue  # the step will say so itself, and does nothing
            if question is not None:
                asked[index] = Asked(question, risky.named())
    return asked


def question_of(script: Script, questions: Collection[str]) -> str:
    """One question for all: "Shall I run leaving home? It locks the front door."."""
    before, does, others = [], [], []
    for question in questions:
        asked = re.fullmatch(r"(.*?)\s*Shall I (\w+)\b(.*)\?", question)
        if asked is None:
            others.append(question)
            continue
        before += [asked[1]] if asked[1] else []
        does.append(f"{asked[2]}s{asked[3]}")
    run = f"Shall I run {script.name}?"
    return " ".join([*before, run, *([f"It {listed(does)}."] if does else []), *others])


async def run_script(
    script: Script,
    tools: Mapping[str, AgentTool],
    activate: Callable[[str], Awaitable[dict[str, Any]]],
    confirmed: Mapping[int, Asked],
) -> dict[str, Any]:
    """Runs a script.

    Args:
        script: Which one.
        tools: The functions that it may call, by name.
        activate: Activates the scene of a name.
        confirmed: What a person has said yes to, by the index of the step.

    Returns:
        `{"script", "done": how many steps, "failed"?: {"step 2, lock door": why}}`, or `{"error"}` where none was done.
    """
    failed: dict[str, str] = {}
    done = 0
    clock = asyncio.get_running_loop().time
    end = clock() + MAX_RUN_S
    for index, step in enumerate(script.steps):
        if step.wait_s is not None:
            await asyncio.sleep(min(step.wait_s, max(0, end - clock())))
            continue
        trouble = _NO_TIME
        try:
            if clock() < end:
                async with asyncio.timeout_at(end):
                    if step.scene is not None:
                        result = await activate(step.scene)
                    else:
                        result = await _call(tools[step.function or ""], step, confirmed.get(index))
                trouble = _trouble(result)
                done += "error" not in result and result.get("status") != CANCELLED_BY_USER
        except TimeoutError:
            trouble = "it took too long"
        except Exception:  # a fault of one function costs its own step, and is seen in the log
            _log.exception("the script %s: step %d failed", script.name, index + 1)
            trouble = "it failed"
        if trouble:
            what = (step.function or f"the scene {step.scene}").replace("_", " ")
            failed[f"step {index + 1}, {what}"] = trouble
    if not done and failed:
        return {"error": sentence(*(f"{step}: {why}" for step, why in failed.items()))}
    return {"script": script.name, "done": done} | ({"failed": failed} if failed else {})


async def _call(tool: AgentTool, step: Step, confirmed: Asked | None) -> dict[str, Any]:
    async def confirm(question: str) -> bool:
        return confirmed is not None and risky.only(confirmed.devices)

    return await tool.call(step.arguments, ToolCall("script", tool.name, confirm))


def _trouble(result: Mapping[str, Any]) -> str:
    """What of a step was not done, as a clause; "" when all was."""
    if result.get("status") == CANCELLED_BY_USER:
        return "it was not confirmed"
    if "error" in result:
        text = str(result["error"]).rstrip(".")
        return text[:1].lower() + text[1:] if text.startswith(("The ", "There ", "It ")) else text
    failed = result.get("failed")
    return failures(failed) if isinstance(failed, Mapping) else ""


def say_script(result: Mapping[str, Any]) -> str:
    """ "The script leaving home is done, but not all of it; step 2, lock door: the back door is not available."."""
    failed = [f"{step}: {why}" for step, why in result.get("failed", {}).items()]
    return sentence(f"the script {result['script']} is done{', but not all of it' if failed else ''}", *failed)
