"""Heating and cooling: targets, modes, and how warm and humid it is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import CLIMATE, Kind, Mode
from tools.resolve import Wish
from tools.results import say_moved

_CLIMATE = Wish(CLIMATE, CLIMATE)
_MEASURED = Wish(CLIMATE | {Kind.SENSOR}, CLIMATE | {Kind.SENSOR}, asking=True)

_FUNCTIONS = ("set_temperature", "raise_temperature", "lower_temperature", "set_climate_mode")

PLACES = {
    **dict.fromkeys(_FUNCTIONS, ("room", _CLIMATE)),
    "get_temperature": ("room", _MEASURED),
    "get_humidity": ("room", _MEASURED),
}
"""For each function of one place: its parameter, and what it looks for."""


class Climate:
    """The functions of thermostats, air conditioners and what measures the air."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.set_temperature),
            AgentTool(self.raise_temperature),
            AgentTool(self.lower_temperature),
            AgentTool(self.set_climate_mode),
            AgentTool(self.get_temperature),
            AgentTool(self.get_humidity),
        )

    @tool(say=say_moved)
    async def set_temperature(
        self,
        temperature: Annotated[float, Range(5, 95)],
        room: Place | None = None,
        unit: Literal["celsius", "fahrenheit"] | None = None,
    ) -> dict[str, Any]:
        """Sets the temperature that the heating or the air conditioning is to reach.

        Args:
            temperature: The target, in degrees.
            room: The room or the thermostat.
            unit: The unit; absent is that of the home.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def raise_temperature(
        self, room: Place | None = None, amount: Annotated[float, Range(0.5, 20)] | None = None
    ) -> dict[str, Any]:
        """Makes a room warmer: raises the target of the heating.

        Args:
            room: The room or the thermostat.
            amount: By how many degrees; absent is a bit.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def lower_temperature(
        self, room: Place | None = None, amount: Annotated[float, Range(0.5, 20)] | None = None
    ) -> dict[str, Any]:
        """Makes a room cooler: lowers the target of the heating.

        Args:
            room: The room or the thermostat.
            amount: By how many degrees; absent is a bit.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def set_climate_mode(self, mode: Mode, room: Place | None = None) -> dict[str, Any]:
        """Turns the heating or the air conditioning on or off, or sets its mode.

        Args:
            mode: What it is to do.
            room: The room, the thermostat or the air conditioner.
        """
        raise NotImplementedError

    @tool(read_only=True, say=say_moved)
    async def get_temperature(self, room: Place) -> dict[str, Any]:
        """Tells how warm or cold it is in a room.

        Args:
            room: The room, or a thermometer.
        """
        raise NotImplementedError

    @tool(read_only=True, say=say_moved)
    async def get_humidity(self, room: Place) -> dict[str, Any]:
        """Tells how humid the air in a room is.

        Args:
            room: The room, or a sensor.
        """
        raise NotImplementedError
