"""Commands for later: "turn off the lights in ten minutes"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from agent.command import MAX_COMMAND_LENGTH
from agent.due import DueItems
from agent.errors import ArgumentError
from agent.plain_text import within
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.speech import sentence
from tools.times.moments import due_at, timing

_POINTING = re.compile(
    r"\b(?:it|them|(?:that|this|these|those|both)(?: ones?)?(?= (?:on|off|up|down|to|by|again)\b|$))"
    r"(?!['’]| (?:is|was|has|will)\b)",
    re.IGNORECASE,
)
"""A word for a thing that was spoken of before: "turn it off", "dim that"; not "announce that dinner is ready"."""

_NAMING = re.compile(r"\b(?:(?:the|my|our|here)\b|(?:all|every) \w{5})", re.IGNORECASE)
"""A word beside which there is a name: "turn on the lamp and dim it", "make it warmer in here"; not "them all off"."""


def _say_later(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"{result['when']}: {result['command']}")


def _pointing(command: str) -> str:
    """The word that stands for what is meant, where no name does; "" without one.

    The command runs in a conversation of its own, in which nothing was spoken of.
    """
    found = _POINTING.search(command.strip(" .,!?"))
    return found[0] if found and not _NAMING.search(command) else ""


class Later:
    """The function that has a command carried out later."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (AgentTool(self.do_later),)

    def check(self, given: Mapping[str, Any]) -> None:
        """Whether it is said when.

        Raises:
            ArgumentError: It is not, or twice.
        """
        if (given.get("delay") is None) is (given.get("time") is None):
            raise ArgumentError("it needs one of delay and time")

    @tool(say=_say_later)
    async def do_later(
        self,
        command: str,
        delay: Annotated[str, Format("duration")] | None = None,
        time: Annotated[str, Format("time")] | None = None,
    ) -> dict[str, Any]:
        """Carries out a command after some time, or at a time of day.

        Args:
            command: What is to be done then, such as turn off the lights.
            delay: After how long, such as ten minutes.
            time: The time of day.
        """
        words = within(command, MAX_COMMAND_LENGTH, "The command")
        if not words:
            return {"error": "What shall I do then?"}
        if pointing := _pointing(words):
            return {"error": f'Say what by its name: what "{pointing}" is may have changed by then.'}
        item = await self._due.add("command", words, **timing(self._due, "When?", delay=delay, time=time))
        return {"command": words, "when": due_at(self._due, item)}
