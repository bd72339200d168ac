"""Lights: on, off, brighter, dimmer, in colours and whites.

A plug or switch that is named itself is turned on and off here too: a person who says "turn on the fairy
lights" does not know that they hang on a plug. It has no brightness and no colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from agent.errors import ArgumentError
from agent.schema import Format, Place, Range
from agent.tool import AgentTool, tool
from tools.colors import Color, parse_color, parse_warmth
from tools.device import LIGHTS, Ability, Change, Device, State
from tools.devices import Devices
from tools.drivers import DeviceError
from tools.names.resolve import DIM_LIGHTS, SWITCH_LIGHTS, Found
from tools.names.slips import alike
from tools.names.words import fold, key_of, without_determiner
from tools.results import being, cannot, clause, moved, said, say_moved, say_told, told
from tools.speech import listed, sentence, the

STEP = 10
"""How much "brighter" is, in percent points."""

DIMMEST, BRIGHTEST = 1, 100
"""Where "dimmer" and "brighter" end, in percent: neither ever turns a light off."""

KELVIN_STEP = 500
"""How much "cooler" is; "much cooler" is twice that. It ends at the lamp's own coolest and warmest white."""

PLACES = {
    "turn_on_light": ("room", SWITCH_LIGHTS),
    "turn_off_light": ("room", SWITCH_LIGHTS),
    "brighten_light": ("room", DIM_LIGHTS),
    "dim_light": ("room", DIM_LIGHTS),
    "set_light_effect": ("room", DIM_LIGHTS),
}
"""For each function of one place: its parameter, and what it looks for."""


def _say_relative(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_told(result, "brightness", lambda percent: being("on" if percent is None else f"at {percent} percent"))


def _say_effect(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    shown = result["effect"] if result["effect"] != "none" else "no effect"
    return said(result, clause(result, shown, "shows", "show"))


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
        brightness: Annotated[int, Range(0, 100, lowest=DIMMEST)] | None = None,
        color: Annotated[str, Format("color")] | None = None,
    ) -> dict[str, Any]:
        """Turns lights on, or sets their brightness or colour.

        Args:
            room: The room, lamp or group of lights.
            brightness: How bright, in percent; 0 is off.
            color: A colour or a white, such as red, warm white or 2700 K; also warmer or cooler.
        """
        step = parse_warmth(color) if color is not None else None
        shade = parse_color(color) if color is not None and step is None else None
        place = self._devices.find(room, SWITCH_LIGHTS)
        if brightness == 0:
            return await self._turn_off(place)
        if step is not None:
            return await self._warm(place, step * KELVIN_STEP, brightness)
        lamps, note = list(place.devices), ""
        if shade is not None:
            lamps = [device for device in lamps if _shows(device, shade)]
            if not lamps:
                return {"error": sentence(cannot(place.devices, f"show {shade.name}"))}
            note = cannot([device for device in place.devices if device not in lamps], f"show {shade.name}")
        if brightness not in (None, BRIGHTEST):
            plain = [device for device in lamps if not _can(device, "brightness")]
            if len(plain) == len(lamps):
                return {"error": sentence(cannot(plain, "be dimmed"))}
            note = "; ".join(filter(None, [note, cannot(plain, "be dimmed")]))
        nearest = "" if shade is None else _nearest_white(lamps, shade)
        note = "; ".join(filter(None, [note, nearest]))

        def plan(device: Device, state: State) -> Change:
            change = _lit(device, brightness)
            return change if shade is None else replace(change, **shade.on(device))

        result = moved(place, await self._devices.move(lamps, plan), note)
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

    @tool(say=_say_effect)
    async def set_light_effect(self, room: Place, effect: str) -> dict[str, Any]:
        """Starts an effect of lights, such as rainbow, candle or party, or ends it.

        Args:
            room: The room, lamp or group of lights.
            effect: What the effect is called; none ends it.
        """
        place = self._devices.find(room, DIM_LIGHTS)
        lamps = [device for device in place.devices if device.effects]
        if not lamps:
            return {"error": sentence(cannot(place.devices, "show effects"))}
        if key_of(_effect_words(effect)) in _NO_EFFECT:
            return await self._end_effect(place, lamps)
        names = {device.id: _effect_named(effect, device.effects) for device in lamps}
        able = [device for device in lamps if names[device.id]]
        if not able:
            known = dict.fromkeys(name for device in lamps for name in device.effects)
            there = listed([the(device.name) for device in lamps], most=4)
            return {"error": sentence(f'{there} cannot show "{effect}"', f"say {listed(list(known), last='or')}")}
        name = names[able[0].id]
        outcomes = await self._devices.move(able, lambda device, state: Change(on=True, effect=names[device.id]))
        others = [device for device in place.devices if device not in able]
        result = moved(place, outcomes, cannot(others, f"show {name}"))
        return result if "error" in result else {**result, "effect": name}

    def check_effect(self, given: Mapping[str, Any]) -> None:
        """Whether any of the lamps has the effect of a call.

        Raises:
            ArgumentError: None has.
        """
        effect = given["effect"]
        devices = self._devices.find(given["room"], DIM_LIGHTS).devices
        if key_of(_effect_words(effect)) not in _NO_EFFECT and not any(
            _effect_named(effect, device.effects) for device in devices
        ):
            raise ArgumentError(cannot(devices, f'show "{effect}"'))

    async def _turn_off(self, place: Found) -> dict[str, Any]:
        return moved(place, await self._devices.move(place.devices, lambda device, state: Change(on=False)))

    async def _change(self, room: str, step: int) -> dict[str, Any]:
        """Moves the lamps that are on; with none on, "brighter" starts from dark and "dimmer" has nothing to do."""
        place = self._devices.find(room, DIM_LIGHTS)
        lamps = [device for device in place.devices if _can(device, "brightness")]
        if not lamps:
            return {"error": sentence(cannot(place.devices, "be dimmed"))}
        on = self._on(lamps)
        if not on and step < 0:
            return {"error": sentence(place.clause("off"))}
        lamps = on or lamps
        ends: set[str] = set()

        def plan(device: Device, state: State) -> Change:
            # Planned when its turn has come: two "brighter" at once are two steps.
            if state.on and state.brightness is None:
                raise DeviceError("has an unknown brightness")
            wanted = step + ((state.brightness or 0) if state.on else 0)
            if not DIMMEST <= wanted <= BRIGHTEST:
                ends.add("that is as bright as it goes" if step > 0 else "that is as dim as it goes")
            return Change(on=True, brightness=min(BRIGHTEST, max(DIMMEST, wanted)))

        outcomes = await self._devices.move(lamps, plan)
        result = told(place, outcomes, "brightness", lambda outcome: outcome.state.brightness, "; ".join(ends))
        return result if "error" in result else {**result, "changed_by": step}

    async def _warm(self, place: Found, step: int, brightness: int | None) -> dict[str, Any]:
        """Makes the white warmer or cooler than it is; of several lamps that of those that are on."""
        lit = self._on(place.devices) or list(place.devices)
        lamps = [device for device in lit if _can(device, "white")]
        plain = cannot([device for device in lit if device not in lamps], "show a white of another warmth")
        if not lamps:
            return {"error": sentence(plain)}
        ends: set[str] = set()

        def plan(device: Device, state: State) -> Change:
            # A lamp that shows a colour, or does not tell its white, starts from the middle of its range.
            now = state.kelvin or (device.min_kelvin + device.max_kelvin) // 2
            kelvin = device.nearest_white(now + step)
            if kelvin != now + step:
                ends.add("that is as cool as it goes" if step > 0 else "that is as warm as it goes")
            return replace(_lit(device, brightness), kelvin=kelvin)

        outcomes = await self._devices.move(lamps, plan)
        return moved(place, outcomes, "; ".join(filter(None, [plain, *ends])))

    async def _end_effect(self, place: Found, lamps: Sequence[Device]) -> dict[str, Any]:
        """Ends effects where lamps are on: one that is off shows none, and is not to be turned on by this."""
        lit = self._on(lamps)
        if not lit:
            return {"error": sentence(place.clause("off"))}
        result = moved(place, await self._devices.move(lit, lambda device, state: Change(effect="")))
        return result if "error" in result else {**result, "effect": "none"}

    def _on(self, lamps: Sequence[Device]) -> list[Device]:
        """Those that are on, and those that are gone, so that it is said of them."""
        states = {device.id: self._devices.state(device) for device in lamps}
        return [each for each in lamps if states[each.id].on or not states[each.id].available]


_NO_EFFECT = {"none", "no", "off", "normal", "nothing", "stop"}
"""What ends an effect."""

_OF_EFFECTS = {"effect", "effects", "mode", "light", "lights"}


def _effect_words(effect: str) -> list[str]:
    """Without the word for it: "the rainbow effect", "party mode"."""
    words = without_determiner(fold(effect))
    return words[:-1] if len(words) > 1 and words[-1] in _OF_EFFECTS else words


def _effect_named(effect: str, effects: Sequence[str]) -> str:
    """The stored name of an effect, "" where there is none.

    It may be said whole, as those of its words that no other effect has, or with a small error of spelling.
    """
    names = {key_of(fold(name)): name for name in effects}
    words = _effect_words(effect)
    for key in (key_of(fold(effect)), key_of(words)):
        if key in names:
            return names[key]
    with_words = [name for name in effects if words and set(words) <= set(fold(name))]
    if len(with_words) == 1:
        return with_words[0]
    near = alike(key_of(words), names)
    return names[near[0]] if near else ""


def _lit(device: Device, brightness: int | None) -> Change:
    return Change(on=True, brightness=brightness if _can(device, "brightness") else None)


def _can(device: Device, ability: Ability) -> bool:
    return device.kind in LIGHTS and ability in device.can


def _shows(device: Device, shade: Color) -> bool:
    return _can(device, "color") or (shade.kelvin is not None and _can(device, "white"))


def _nearest_white(lamps: list[Device], shade: Color) -> str:
    """A clause about lamps that do not go as warm or as cool as was asked for."""
    nearest = {device.name: shade.on(device).get("kelvin", shade.kelvin) for device in lamps}
    clauses = [
        f"{kelvin} kelvin is the nearest that {the(name)} has"
        for name, kelvin in nearest.items()
        if kelvin != shade.kelvin
    ]
    return listed(clauses, most=2)
