"""Fans: how fast they turn. On and off are in `tools.switches`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.device import FANS, Change, Device, State
from tools.devices import Devices
from tools.drivers import DeviceError
from tools.names.places import by_names
from tools.names.resolve import Found, Wish
from tools.results import moved, say_moved
from tools.speech import sentence

STEP = 33
"""How much "faster" is, in percent points: a third of the range, as most fans have three speeds."""

SLOWEST, FASTEST = 33, 100
"""Where "slower" and "faster" end, in percent: neither ever turns a fan off."""

_FANS = Wish(FANS, FANS)

PLACES = {"set_fan_speed": ("fan", _FANS), "change_fan_speed": ("fan", _FANS)}
"""For each function of one place: its parameter, and what it looks for."""


class Fans:
    """The functions that set the speed of fans."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (AgentTool(self.set_fan_speed), AgentTool(self.change_fan_speed))

    @tool(say=say_moved)
    async def set_fan_speed(self, fan: Place, speed: Annotated[int, Range(0, 100, lowest=SLOWEST)]) -> dict[str, Any]:
        """Sets how fast a fan turns.

        Args:
            fan: The fan or its room.
            speed: How fast, in percent; 0 is off.
        """
        place = self._devices.find(fan, _FANS)
        if speed == 0:
            return moved(place, await self._devices.move(place.devices, lambda device, state: Change(on=False)))
        if speed == FASTEST:
            # Also one without speeds can do this: it is on.
            return moved(place, await self._devices.move(place.devices, lambda device, state: _at(device, FASTEST)))
        fans, note = _with_speeds(place)
        if not fans:
            return {"error": sentence(note)}
        outcomes = await self._devices.move(fans, lambda device, state: _at(device, speed))
        return moved(place, outcomes, note)

    @tool(say=say_moved)
    async def change_fan_speed(self, fan: Place, direction: Literal["faster", "slower"]) -> dict[str, Any]:
        """Makes a fan turn faster or slower than it does.

        Args:
            fan: The fan or its room.
            direction: Faster or slower.
        """
        place = self._devices.find(fan, _FANS)
        fans, note = _with_speeds(place)
        if not fans:
            return {"error": sentence(note)}
        states = {device.id: self._devices.state(device) for device in fans}
        on = [device for device in fans if states[device.id].on or not states[device.id].available]
        if not on and direction == "slower":
            return {"error": sentence(place.clause("off"))}
        fans = on or fans
        ends: set[str] = set()

        def plan(device: Device, state: State) -> Change:
            # Planned when its turn has come: two "faster" at once are two steps.
            if not state.on:
                return _at(device, SLOWEST)
            if state.speed is None:
                raise DeviceError("has an unknown speed")
            speed, ended = stepped(state.speed, direction)
            if ended:
                ends.add("that is as fast as it goes" if direction == "faster" else "that is as slow as it goes")
            return _at(device, speed)

        outcomes = await self._devices.move(fans, plan)
        return moved(place, outcomes, "; ".join(filter(None, [note, *ends])))


def stepped(speed: int, direction: Literal["faster", "slower"]) -> tuple[int, bool]:
    """The speed a step away, and whether the step was cut short at the end of the range.

    Three steps of 33 percent are the whole range, so what is a point from an end is that end. A fan that is
    slower than the slowest step stays as it is.
    """
    if direction == "faster":
        wanted = speed + STEP
        return (FASTEST, wanted > FASTEST) if wanted >= FASTEST - 1 else (wanted, False)
    wanted = speed - STEP
    return (min(speed, SLOWEST), wanted < SLOWEST) if wanted <= SLOWEST + 1 else (wanted, False)


def _with_speeds(place: Found) -> tuple[Sequence[Device], str]:
    """The fans that have speeds, and a clause about those that have none."""
    fans = [device for device in place.devices if "speed" in device.can]
    plain = [device for device in place.devices if "speed" not in device.can]
    return fans, by_names(plain).clause("no speeds", "has", "have") if plain else ""


def _at(device: Device, speed: int) -> Change:
    return Change(on=True, speed=speed if "speed" in device.can else None)
