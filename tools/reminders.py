"""Reminders: words that are told at a time, or after one."""

from __future__ import annotations

from typing import Annotated, Any

from agent.due import DueItems
from agent.schema import Format
from agent.tool import AgentTool, tool


class Reminders:
    """The functions of reminders."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (
            AgentTool(self.add_reminder),
            AgentTool(self.cancel_reminder),
            AgentTool(self.get_reminders),
        )

    @tool
    async def add_reminder(
        self,
        text: str,
        time: Annotated[str, Format("time")] | None = None,
        day: Annotated[str, Format("day")] | None = None,
        delay: Annotated[str, Format("duration")] | None = None,
    ) -> dict[str, Any]:
        """Reminds somebody of something later.

        Args:
            text: What to be reminded of, such as call grandma.
            time: The time of day.
            day: The day, such as tomorrow or on Friday.
            delay: After how long, such as ten minutes.
        """
        raise NotImplementedError

    @tool
    async def cancel_reminder(self, reminder: str | None = None) -> dict[str, Any]:
        """Cancels a reminder, or all of them.

        Args:
            reminder: What it is about, or all; absent is the only one.
        """
        raise NotImplementedError

    @tool(read_only=True)
    async def get_reminders(self) -> dict[str, Any]:
        """Tells which reminders there are."""
        raise NotImplementedError
