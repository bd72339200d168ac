"""Alarms: due at a time of day, once or on some days of the week."""

from __future__ import annotations

from typing import Annotated, Any

from agent.due import DueItems
from agent.schema import Format
from agent.tool import AgentTool, tool


class Alarms:
    """The functions of alarms."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (
            AgentTool(self.set_alarm),
            AgentTool(self.cancel_alarm),
            AgentTool(self.get_alarms),
            AgentTool(self.snooze_alarm),
        )

    @tool
    async def set_alarm(
        self,
        time: Annotated[str, Format("time")],
        day: Annotated[str, Format("day")] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Sets an alarm, or wakes somebody.

        Args:
            time: The time of day, such as 7 am or half past six.
            day: The day or days, such as tomorrow or every weekday; absent is the next time.
            name: What it is for.
        """
        raise NotImplementedError

    @tool
    async def cancel_alarm(self, alarm: str | None = None) -> dict[str, Any]:
        """Cancels or turns off an alarm, or all of them.

        Args:
            alarm: Its name, time or day, or all; absent is the only one.
        """
        raise NotImplementedError

    @tool(read_only=True)
    async def get_alarms(self) -> dict[str, Any]:
        """Tells which alarms are set, and for when."""
        raise NotImplementedError

    @tool
    async def snooze_alarm(self, duration: Annotated[str, Format("duration")] | None = None) -> dict[str, Any]:
        """Lets the alarm that just rang ring again a little later.

        Args:
            duration: How much later; absent is nine minutes.
        """
        raise NotImplementedError
