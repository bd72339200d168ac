"""Lights: on, off, brighter, dimmer, in colours and whites.

A plug or switch that is named itself is turned on and off here too: a person who says "turn on the fairy
lights" does not know that they hang on a plug. It has no brightness and no colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from agent.schema import Format, Place, Range
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import LIGHTS, Ability, Change, Device, State
from tools.resolve import DIM_LIGHTS, SWITCH_LIGHTS, Found
from tools.results import moved, say_moved, verb
from tools.speech import failures, listed, sentence, the
from tools.words import Color, parse_color

STEP = 10
"""How much "brighter" is, in percent points."""

DIMMEST, BRIGHTEST = 1, 100
"""Where "dimmer" and "brighter" end, in percent: neither ever turns a light off."""


PLACES = {
    "turn_on_light": ("room", SWITCH_LIGHTS),
    "turn_off_light": ("room", SWITCH_LIGHTS),
    "brighten_light": ("room", DIM_LIGHTS),
    "dim_light": ("room", DIM_LIGHTS),
    "set_light_effect": ("room", DIM_LIGHTS),
}
"""For each function of one place: its parameter, and what it looks for."""


def _say_relative(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if "brightness" in result:
        done = f"{result['place']} {verb(result['devices'])} at {result['brightness']} percent"
    else:
        levels = [f"{the(name)} is at {percent} percent" for name, percent in result["levels"].items()]
        done = listed(levels, most=4)
    return sentence(done, result.get("note", ""), failures(result.get("failed", {})))


class Lights:
    """The functions that move lights."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.turn_on_light),
            AgentTool(self.turn_off_light),
            AgentTool(self.brighten_light),
            AgentTool(self.dim_light),
            AgentTool(self.set_light_effect),
        )

    @tool(say=say_moved)
    async def turn_on_light(
        self,
        room: Place,
        brightness: Annotated[int, Range(0, 100)] | None = None,
        color: Annotated[str, Format("color")] | None = None,
    ) -> dict[str, Any]:
        """Turns lights on, or sets their brightness or colour.

        Args:
            room: The room, lamp or group of lights.
            brightness: How bright, in percent; 0 is off.
            color: A colour or a white, such as red, warm white or 2700 K; also warmer or cooler.
        """
        shade = parse_color(color) if color is not None else None
        place = self._devices.find(room, SWITCH_LIGHTS)
        if brightness == 0:
            return await self._turn_off(place)
        lamps, note = list(place.devices), ""
        if shade is not None:
            lamps = [device for device in lamps if _shows(device, shade)]
            if not lamps:
                return {"error": sentence(_cannot(place.devices, f"show {shade.name}"))}
            note = _cannot([device for device in place.devices if device not in lamps], f"show {shade.name}")
        if brightness not in (None, BRIGHTEST):
            plain = [device for device in lamps if not _can(device, "brightness")]
            if len(plain) == len(lamps):
                return {"error": sentence(_cannot(plain, "be dimmed"))}
            note = "; ".join(filter(None, [note, _cannot(plain, "be dimmed")]))
        nearest = "" if shade is None else _nearest_white(lamps, shade)
        note = "; ".join(filter(None, [note, nearest]))

        def plan(device: Device, state: State) -> Change:
            dims = _can(device, "brightness")
            change = Change(on=True, brightness=brightness if dims else None)
            return change if shade is None else replace(change, **_painted(device, shade))

        # Where some were left out, those that were not are named.
        part = place if len(lamps) == len(place.devices) else _only(lamps)
        result = moved(part, await self._devices.move(lamps, plan), note)
        if shade is not None and not nearest and "error" not in result:
            result["color"] = shade.name  # as it was said, not as a lamp reports it
        return result

    @tool(say=say_moved)
    async def turn_off_light(self, room: Place) -> dict[str, Any]:
        """Turns lights off.

        Args:
            room: The room, lamp or group of lights.
        """
        return await self._turn_off(self._devices.find(room, SWITCH_LIGHTS))

    @tool(say=_say_relative)
    async def brighten_light(self, room: Place, amount: Annotated[int, Range(1, 100)] | None = None) -> dict[str, Any]:
        """Makes lights brighter than they are.

        Args:
            room: The room, lamp or group of lights.
            amount: By how much, in percent points; absent is a bit.
        """
        return await self._change(room, amount or STEP)

    @tool(say=_say_relative)
    async def dim_light(self, room: Place, amount: Annotated[int, Range(1, 100)] | None = None) -> dict[str, Any]:
        """Makes lights darker than they are.

        Args:
            room: The room, lamp or group of lights.
            amount: By how much, in percent points; absent is a bit.
        """
        return await self._change(room, -(amount or STEP))

    @tool(say=say_moved)
    async def set_light_effect(self, room: Place, effect: str) -> dict[str, Any]:
        """Starts an effect of lights, such as rainbow, candle or party, or ends it.

        Args:
            room: The room, lamp or group of lights.
            effect: What the effect is called; none ends it.
        """
        raise NotImplementedError

    async def _turn_off(self, place: Found) -> dict[str, Any]:
        return moved(place, await self._devices.move(place.devices, lambda device, state: Change(on=False)))

    async def _change(self, room: str, step: int) -> dict[str, Any]:
        """Moves the lamps that are on; with none on, "brighter" starts from dark and "dimmer" has nothing to do."""
        place = self._devices.find(room, DIM_LIGHTS)
        lamps = [device for device in place.devices if _can(device, "brightness")]
        if not lamps:
            return {"error": sentence(_cannot(place.devices, "be dimmed"))}
        states = {device.id: self._devices.state(device) for device in lamps}
        unavailable = [device for device in lamps if not states[device.id].available]
        on = [device for device in lamps if states[device.id].on]
        if not on and not unavailable and step < 0:
            return {"error": sentence(f"{place.label} {verb([device.name for device in place.devices])} off")}
        lamps = [*on, *unavailable] if on or unavailable else lamps
        unknown = [device for device in on if states[device.id].brightness is None]
        if unknown:
            names = listed([the(device.name) for device in unknown])
            return {
                "error": sentence(f"it is not known how bright {names} {verb([device.name for device in unknown])}")
            }
        ends: set[str] = set()

        def plan(device: Device, state: State) -> Change:
            # Planned when its turn has come: two "brighter" at once are two steps.
            now = state.brightness if state.on and state.brightness is not None else 0
            wanted = now + step
            if not DIMMEST <= wanted <= BRIGHTEST:
                ends.add("that is as bright as it goes" if step > 0 else "that is as dim as it goes")
            return Change(on=True, brightness=min(BRIGHTEST, max(DIMMEST, wanted)))

        part = place if len(lamps) == len(place.devices) else _only(lamps)
        outcomes = await self._devices.move(lamps, plan)
        result = moved(part, outcomes, "; ".join(ends))
        if "error" not in result:
            result["changed_by"] = step
            if "brightness" not in result:
                done = [outcome for outcome in outcomes if not outcome.failure]
                result["levels"] = {outcome.device.name: outcome.state.brightness for outcome in done}
        return result


def _can(device: Device, ability: Ability) -> bool:
    return device.kind in LIGHTS and ability in device.can


def _shows(device: Device, shade: Color) -> bool:
    return _can(device, "color") or (shade.kelvin is not None and _can(device, "white"))


def _painted(device: Device, shade: Color) -> dict[str, Any]:
    """What a lamp is told to show a colour: a white as a white, if it has whites."""
    if shade.kelvin is not None and _can(device, "white"):
        return {"kelvin": min(device.max_kelvin, max(device.min_kelvin, shade.kelvin))}
    return {"rgb": shade.rgb}


def _nearest_white(lamps: list[Device], shade: Color) -> str:
    """A clause about lamps that do not go as warm or as cool as was asked for."""
    nearest = {device.name: _painted(device, shade).get("kelvin", shade.kelvin) for device in lamps}
    clauses = [
        f"{kelvin} kelvin is the nearest that {the(name)} has"
        for name, kelvin in nearest.items()
        if kelvin != shade.kelvin
    ]
    return listed(clauses, most=2)


def _only(lamps: list[Device]) -> Found:
    return Found(tuple(lamps), listed([the(device.name) for device in lamps], most=4))


def _cannot(devices: list[Device] | tuple[Device, ...], what: str) -> str:
    return f"{listed([the(device.name) for device in devices], most=4)} cannot {what}" if devices else ""
