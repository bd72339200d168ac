"""Fans: how fast they turn. On and off are in `tools.switches`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import FANS
from tools.resolve import Wish
from tools.results import say_moved

_FANS = Wish(FANS, FANS)

PLACES = {"set_fan_speed": ("fan", _FANS), "change_fan_speed": ("fan", _FANS)}
"""For each function of one place: its parameter, and what it looks for."""


class Fans:
    """The functions that set the speed of fans."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (AgentTool(self.set_fan_speed), AgentTool(self.change_fan_speed))

    @tool(say=say_moved)
    async def set_fan_speed(self, fan: Place, speed: Annotated[int, Range(0, 100)]) -> dict[str, Any]:
        """Sets how fast a fan turns.

        Args:
            fan: The fan or its room.
            speed: How fast, in percent; 0 is off.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def change_fan_speed(self, fan: Place, direction: Literal["faster", "slower"]) -> dict[str, Any]:
        """Makes a fan turn faster or slower than it does.

        Args:
            fan: The fan or its room.
            direction: Faster or slower.
        """
        raise NotImplementedError
