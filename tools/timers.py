"""Timers: countdowns in the agent's store, with names of their own.

Two timers may have the same name. Which one is meant is told in `tools.which`. What is to be done later is
listed with the timers, and cancelled like one: by its words, or where there is no timer at all.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from agent.due import DueItem, DueItems
from agent.due.durations import spoken_duration
from agent.errors import ArgumentError
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.speech import listed, sentence, the
from tools.times import LONGEST, parse_duration
from tools.times.moments import due_at, of_moment
from tools.which import Kind, SeveralError, choose, clean_name, unnamed

Duration = Annotated[str, Format("duration")]

_MOST_SPOKEN = 8
"""How many timers an answer speaks of."""


def _say_set(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    named = the(f"{result['name']} timer") if "name" in result else "the timer"
    return sentence(f"{named} is set for {result['length']}")


def _say_cancelled(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    names = result["cancelled"]
    return sentence(f"{listed(names, most=4)} {'is' if len(names) == 1 else 'are'} cancelled")


def _say_timers(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    clauses = [_state_of(timer) for timer in result["timers"]]
    clauses += [f"{command['when']}: {command['command']}" for command in result.get("commands", ())]
    if len(clauses) > _MOST_SPOKEN:
        clauses = [*clauses[:_MOST_SPOKEN], f"and {len(clauses) - _MOST_SPOKEN} more"]
    return sentence(*clauses) if clauses else "There is no timer."


def _state_of(timer: Mapping[str, Any]) -> str:
    if timer["paused"]:
        return f"{timer['timer']} is paused with {timer['left']} left"
    return f"{timer['timer']} has {timer['left']} left"


class Timers:
    """The functions of timers."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self._timers = Kind("timer", self._described, self._of_length, misspelt=True)
        self._commands = Kind("command", lambda item: f'"{item.text}" {due_at(due, item)}', self._of_time)
        self.tools = (
            AgentTool(self.set_timer),
            AgentTool(self.cancel_timer),
            AgentTool(self.get_timers),
            AgentTool(self.pause_timer),
            AgentTool(self.resume_timer),
            AgentTool(self.extend_timer),
            AgentTool(self.shorten_timer),
        )

    @tool(say=_say_set)
    async def set_timer(self, duration: Duration, name: str | None = None) -> dict[str, Any]:
        """Starts a timer.

        Args:
            duration: How long, such as ten minutes or an hour and a half.
            name: What it is for, such as pizza or eggs.
        """
        seconds = parse_duration(duration)
        item = await self._due.add("timer", clean_name(name, "timer"), seconds=seconds)
        result = {"length": spoken_duration(seconds), "seconds": seconds}
        return {"name": item.text, **result} if item.text else result

    @tool(say=_say_cancelled)
    async def cancel_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Cancels or stops a timer, or all of them.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        cancelled = [item for item in self._chosen(timer, commands=True) if await self._due.remove(item.id)]
        if not cancelled:
            return {"error": "It was up just now."}
        return {"cancelled": [_label(item) for item in cancelled]}

    @tool(read_only=True, say=_say_timers)
    async def get_timers(self, timer: str | None = None) -> dict[str, Any]:
        """Tells which timers run and how much time is left.

        Args:
            timer: Its name or its length; absent is all.
        """
        every = unnamed(timer, "timer")  # who asks may be told more than was asked for
        items = self._due.items("timer", "command") if every else self._chosen(timer, commands=True)
        result: dict[str, Any] = {"timers": [self._state(item) for item in items if item.kind == "timer"]}
        commands = [item for item in items if item.kind == "command"]
        if commands:
            result["commands"] = [{"command": item.text, "when": due_at(self._due, item)} for item in commands]
        return result

    @tool(say=_say_timers)
    async def pause_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Pauses a timer.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        return await self._each(self._fitting(timer, paused=False), self._due.pause)

    @tool(say=_say_timers)
    async def resume_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Lets a paused timer go on.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        return await self._each(self._fitting(timer, paused=True), self._due.resume)

    @tool(say=_say_timers)
    async def extend_timer(self, duration: Duration, timer: str | None = None) -> dict[str, Any]:
        """Adds time to a timer.

        Args:
            duration: How much more.
            timer: Its name or its length; absent is the only one.
        """
        seconds = parse_duration(duration)
        (item,) = self._chosen(timer, many=False)
        if (item.seconds or 0) + seconds > LONGEST:
            return {"error": f"A timer is at most {spoken_duration(LONGEST)} long; {self._told(item)}."}
        return await self._each([item], lambda id: self._due.extend(id, seconds))

    @tool(say=_say_timers)
    async def shorten_timer(self, duration: Duration, timer: str | None = None) -> dict[str, Any]:
        """Takes time off a timer.

        Args:
            duration: How much less.
            timer: Its name or its length; absent is the only one.
        """
        seconds = parse_duration(duration)
        (item,) = self._chosen(timer, many=False)
        if seconds >= self._left(item):
            less = f"it cannot be shortened by {spoken_duration(seconds)}"
            return {"error": sentence(self._told(item), less)}
        return await self._each([item], lambda id: self._due.extend(id, -seconds))

    def _chosen(self, words: str | None, many: bool = True, commands: bool = False) -> list[DueItem]:
        """The timers that are meant; with `commands` what is to be done later, where no timer is."""
        timers = self._due.items("timer")
        waiting = self._due.items("command") if commands else ()
        bare = unnamed(words, "timer")
        try:
            return choose(words, timers, self._timers, many)
        except ArgumentError as no_timer:
            if not waiting or (timers and bare):
                raise
            try:
                return choose(words, waiting, self._commands, many)
            except SeveralError:
                raise
            except ArgumentError as no_command:
                raise (no_command if bare else no_timer) from None

    def _fitting(self, words: str | None, paused: bool) -> list[DueItem]:
        """As `_chosen`; of several those that can be paused or can go on come into question."""
        timers = self._due.items("timer")
        fitting = [item for item in timers if item.paused is paused]
        return choose(words, fitting, self._timers) if fitting and unnamed(words, "timer") else self._chosen(words)

    async def _each(self, items: Sequence[DueItem], change: Callable[[str], Awaitable[DueItem]]) -> dict[str, Any]:
        changed = []
        for item in items:
            try:
                changed.append(self._state(await change(item.id)))
            except KeyError:
                continue  # it was due between being chosen and being changed
        return {"timers": changed} if changed else {"error": "It was up just now."}

    def _state(self, item: DueItem) -> dict[str, Any]:
        left = self._left(item)
        return {"timer": _label(item), "left": spoken_duration(left), "seconds_left": left, "paused": item.paused}

    def _told(self, item: DueItem) -> str:
        return _state_of(self._state(item))

    def _left(self, item: DueItem) -> int:
        """In whole seconds, rounded up: a timer that was just set has all of its time."""
        return math.ceil(self._due.left(item))

    def _described(self, item: DueItem) -> str:
        name = item.text or f"one for {spoken_duration(item.seconds or 0)}"
        paused = "paused " if item.paused else ""
        return f"{name} {paused}with {spoken_duration(self._left(item))} left"

    def _of_length(self, words: str, items: Sequence[DueItem]) -> list[DueItem]:
        try:
            seconds = parse_duration(words)
        except ArgumentError:
            return []
        return [item for item in items if item.seconds == seconds]

    def _of_time(self, words: str, items: Sequence[DueItem]) -> list[DueItem]:
        return self._of_length(words.removeprefix("in "), items) or of_moment(self._due, words, items)


def _label(item: DueItem) -> str:
    """ "the pizza timer", "the timer for 10 minutes", 'the command "turn off the lights"'."""
    if item.kind == "command":
        return f'the command "{item.text}"'
    return the(f"{item.text} timer") if item.text else f"the timer for {spoken_duration(item.seconds or 0)}"
