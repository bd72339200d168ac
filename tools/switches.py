"""Switches: plugs, fans, the coffee machine; what is on or off and is no light.

A bare room stands for its only switch, never for all of them: cutting the fridge's plug with the kettle's is
worse than asking. A lamp, a television or a speaker that is named itself is switched here too.
"""

from __future__ import annotations

from typing import Any

from agent.schema import Place
from agent.tool import AgentTool, tool
from tools.device import Change
from tools.devices import Devices
from tools.names.resolve import SWITCH_PLUGS
from tools.results import moved, say_moved

PLACES = {"turn_on_switch": ("device", SWITCH_PLUGS), "turn_off_switch": ("device", SWITCH_PLUGS)}
"""For each function of one place: its parameter, and what it looks for."""


class Switches:
    """The functions that move switches."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (AgentTool(self.turn_on_switch), AgentTool(self.turn_off_switch))

    @tool(say=say_moved)
    async def turn_on_switch(self, device: Place) -> dict[str, Any]:
        """Turns on a switch, a plug, a fan or an appliance such as the coffee machine.

        Args:
            device: What it is called.
        """
        return await self._switch(device, on=True)

    @tool(say=say_moved)
    async def turn_off_switch(self, device: Place) -> dict[str, Any]:
        """Turns off a switch, a plug, a fan or an appliance such as the coffee machine.

        Args:
            device: What it is called.
        """
        return await self._switch(device, on=False)

    async def _switch(self, words: str, on: bool) -> dict[str, Any]:
        place = self._devices.find(words, SWITCH_PLUGS)
        result = moved(place, await self._devices.move(place.devices, lambda device, state: Change(on=on)))
        if result.get("state") in ("playing", "paused"):
            result["state"] = "on"  # what was asked for, and not what it goes on playing
        return result
