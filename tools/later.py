"""Commands for later: "turn off the lights in ten minutes"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from agent.due import DueItems
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.speech import sentence
from tools.times import parse_duration
from tools.times.moments import NO_CLOCK, due_at, next_moment, read_when


def _say_later(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"{result['when']}: {result['command']}")


class Later:
    """The function that has a command carried out later."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (AgentTool(self.do_later),)

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
        words = " ".join(command.split())
        if not words:
            return {"error": "What shall I do then?"}
        if delay is not None and time is not None:
            return {"error": "Say either after how long or at what time."}
        if delay is not None:
            item = await self._due.add("command", words, seconds=parse_duration(delay))
        elif time is None:
            return {"error": "When?"}
        elif not self._due.clock_is_set:
            return {"error": NO_CLOCK}
        else:
            now = self._due.now()
            clock, day = read_when(time, None, now.date())
            if clock is None:
                return {"error": "At what time?"}
            moment = next_moment(clock, day, now)
            item = await self._due.add("command", words, at=moment.at, days=moment.days)
        return {"command": words, "when": due_at(self._due, item)}
