"""Commands for later: "turn off the lights in ten minutes"."""

from __future__ import annotations

from typing import Annotated, Any

from agent.due import DueItems
from agent.schema import Format
from agent.tool import AgentTool, tool


class Later:
    """The function that has a command carried out later."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self.tools = (AgentTool(self.do_later),)

    @tool
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
        raise NotImplementedError
