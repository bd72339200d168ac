"""Right after the start a board may be opening, and a broker answering: a call about their devices waits for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.tool import AgentTool, ToolCall
from tools.devices import Devices


class ReachedFirst(AgentTool):
    """A function of the house that does not tell of a device, or plan by its state, before its driver has tried it."""

    def __init__(
        self, delegate: AgentTool, devices: Devices, targets: Callable[[str, Mapping[str, Any]], frozenset[str]]
    ) -> None:
        """Wraps a function.

        Args:
            delegate: The function.
            devices: The devices of the home.
            targets: What a call is about, as `agent.house.House.targets`.
        """
        super().__init__(delegate)
        self._devices, self._targets = devices, targets

    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
        """Calls it; how long is waited first is the driver's."""
        await self._devices.reached(self._targets(self.name, arguments))
        return await super().call(arguments, call)
