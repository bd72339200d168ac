"""The clock and the calendar. Times are told in 24 hours, as 7:05 and 19:05, everywhere in this house."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent.due import DueItems
from agent.tool import AgentTool, tool
from tools.times.moments import NO_CLOCK, spoken_time


def _say_time(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return f"It's {result['time']}."


def _say_date(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    day = datetime.fromisoformat(result["date"])
    return f"It's {result['weekday']}, {day:%B} {day.day}, {day.year}."


class Clock:
    """The functions that tell the time."""

    def __init__(self, due: DueItems) -> None:
        """A clock: that by which things become due, so that both are set or neither is."""
        self._due = due
        self.tools = (AgentTool(self.get_time), AgentTool(self.get_date))

    @tool(read_only=True, say=_say_time)
    async def get_time(self) -> dict[str, str]:
        """Tells what time it is."""
        if not self._due.clock_is_set:
            return {"error": NO_CLOCK}
        return {"time": spoken_time(self._due.now().time())}

    @tool(read_only=True, say=_say_date)
    async def get_date(self) -> dict[str, str]:
        """Tells today's date and day of the week."""
        if not self._due.clock_is_set:
            return {"error": NO_CLOCK}
        now = self._due.now()
        return {"date": f"{now:%Y-%m-%d}", "weekday": f"{now:%A}"}
