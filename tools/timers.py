"""Timers: countdowns in the agent's store, with names of their own."""

from __future__ import annotations

from typing import Annotated, Any

from agent.due import DueItems
from agent.schema import Format
from agent.tool import AgentTool, tool

Duration = Annotated[str, Format("duration")]


class Timers:
    """The functions of timers."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (
            AgentTool(self.set_timer),
            AgentTool(self.cancel_timer),
            AgentTool(self.get_timers),
            AgentTool(self.pause_timer),
            AgentTool(self.resume_timer),
            AgentTool(self.extend_timer),
            AgentTool(self.shorten_timer),
        )

    @tool
    async def set_timer(self, duration: Duration, name: str | None = None) -> dict[str, Any]:
        """Starts a timer.

        Args:
            duration: How long, such as ten minutes or an hour and a half.
            name: What it is for, such as pizza or eggs.
        """
        raise NotImplementedError

    @tool
    async def cancel_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Cancels or stops a timer, or all of them.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        raise NotImplementedError

    @tool(read_only=True)
    async def get_timers(self, timer: str | None = None) -> dict[str, Any]:
        """Tells which timers run and how much time is left.

        Args:
            timer: Its name or its length; absent is all.
        """
        raise NotImplementedError

    @tool
    async def pause_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Pauses a timer.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        raise NotImplementedError

    @tool
    async def resume_timer(self, timer: str | None = None) -> dict[str, Any]:
        """Lets a paused timer go on.

        Args:
            timer: Its name or its length, or all; absent is the only one.
        """
        raise NotImplementedError

    @tool
    async def extend_timer(self, duration: Duration, timer: str | None = None) -> dict[str, Any]:
        """Adds time to a timer.

        Args:
            duration: How much more.
            timer: Its name or its length; absent is the only one.
        """
        raise NotImplementedError

    @tool
    async def shorten_timer(self, duration: Duration, timer: str | None = None) -> dict[str, Any]:
        """Takes time off a timer.

        Args:
            duration: How much less.
            timer: Its name or its length; absent is the only one.
        """
        raise NotImplementedError
