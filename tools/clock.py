"""The clock and the calendar. Times are told in 24 hours, as 7:05 and 19:05, everywhere in this house."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from agent.due.clocks import FIRST_YEAR
from agent.tool import AgentTool, tool
from tools.times.moments import spoken_time


def _say_time(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return f"It's {result['time']}."


def _say_date(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    day = datetime.fromisoformat(result["date"])
    return f"It's {result['weekday']}, {day:%B} {day.day}, {day.year}."


class Clock:
    """The functions that tell the time."""

    def __init__(self, now: Callable[[], datetime] = datetime.now) -> None:
        """A clock.

        Args:
            now: Tells the local time.
        """
        self._now = now
        self.tools = (AgentTool(self.get_time), AgentTool(self.get_date))

    @tool(read_only=True, say=_say_time)
    async def get_time(self) -> dict[str, str]:
        """Tells what time it is."""
        now = self._now()
        return {"time": spoken_time(now.time())} if now.year >= FIRST_YEAR else _NOT_SET

    @tool(read_only=True, say=_say_date)
    async def get_date(self) -> dict[str, str]:
        """Tells today's date and day of the week."""
        now = self._now()
        return {"date": f"{now:%Y-%m-%d}", "weekday": f"{now:%A}"} if now.year >= FIRST_YEAR else _NOT_SET


_NOT_SET = {"error": "I do not know: the clock has not been set since the start."}
