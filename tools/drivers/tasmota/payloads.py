"""What a Tasmota device is sent and tells: commands, and JSON with a key for each of them. No I/O.

What belongs together goes in one `Backlog`, so that nothing comes between and no lamp flickers. Commands and answers
are those of Tasmota's own description (https://tasmota.github.io/docs/Commands/).
"""

from __future__ import annotations

import colorsys
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.device import LIGHTS, Change, Device, State
from tools.drivers.mqtt_payloads.wire import from_scale, is_number, object_of, to_scale
from tools.drivers.tasmota.discovery import Features

FAN_SPEEDS = 3

Command = tuple[str, str]
"""A command and its argument; an empty one asks, but for a shutter's."""


def command(device: Device, change: Change, before: State, off_on: tuple[str, str]) -> Command | None:
    """What makes a change; None where the device cannot do it.

    Args:
        device: Which one; its `options` are its `Features`.
        change: What it is to do.
        before: How it is.
        off_on: Its words for off and on.
    """
    features: Features = device.options
    if features.shutter is not None:
        return _shutter(features, change)
    if features.fan:
        return _fan(change, before)
    if features.power is None or (change.on is None and change.brightness is None):
        return None
    power = (f"Power{features.power}", off_on[change.on is not False])
    if change.on is False:
        return power
    commands: list[Command] = []
    if change.kelvin is not None and features.white is not None:
        # Within the limits after the conversion, which rounds.
        low, high = features.white
        commands.append(("CT", f"{min(high, max(low, round(1e6 / change.kelvin)))}"))
    if change.rgb is not None and features.color:
        hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in change.rgb))
        commands += [("HSBColor1", f"{round(hue * 360)}"), ("HSBColor2", f"{round(saturation * 100)}")]
    if change.brightness is not None and features.dimmer is not None:
        commands.append((features.dimmer[0], f"{change.brightness}"))
    # Each of these turns it on as well, but where SetOption20 is set.
    if not commands or features.always_on or change.brightness is None:
        commands.append(power)
    if len(commands) == 1:
        return commands[0]
    return "Backlog", ";".join(f"NoDelay;{name} {argument}" for name, argument in commands)


def _shutter(features: Features, change: Change) -> Command | None:
    if change.stop:
        return f"ShutterStop{features.shutter}", ""
    if change.position is not None:
        position = 100 - change.position if features.inverted else change.position
        return f"ShutterPosition{features.shutter}", f"{position}"
    if change.open is None:
        return None
    return f"Shutter{'Open' if change.open else 'Close'}{features.shutter}", ""


def _fan(change: Change, before: State) -> Command | None:
    if change.on is False:
        return "FanSpeed", "0"
    if change.speed is not None:
        return "FanSpeed", f"{to_scale(change.speed, FAN_SPEEDS)}"
    # It knows no "on": the speed that it had, else the middle one, as Home Assistant has it.
    speed = to_scale(before.speed, FAN_SPEEDS) if before.speed is not None else 2
    return ("FanSpeed", f"{speed}") if change.on else None


def told_in(subtopic: str, text: str) -> dict[str, Any]:
    """What is told on a topic of a device, by the names of its commands.

    Args:
        subtopic: What follows `stat/<device>/` or `tele/<device>/`: "RESULT", "STATE", "POWER1", "STATUS10".
        text: What is said there: JSON, or the word alone.

    Raises:
        ValueError: It looks like JSON and is none.
    """
    if not text.startswith("{"):
        return {subtopic: text} if subtopic.startswith("POWER") else {}
    data = object_of(text)
    for status in ("StatusSTS", "StatusSNS"):
        if isinstance(data.get(status), dict):
            return dict(data[status])
    return data


def read(device: Device, data: Mapping[str, Any], before: State, off_on: tuple[str, str]) -> State | None:
    """What is told of a device, on top of what was known; None where nothing is told of it."""
    features: Features = device.options
    if features.value is not None:
        sensor = data.get(features.value[0])
        value = sensor.get(features.value[1]) if isinstance(sensor, dict) else None
        return replace(before, value=float(value)) if is_number(value) else None
    if features.shutter is not None:
        return _moved(features, data.get(f"Shutter{features.shutter}"), before)
    if features.fan:
        speed = data.get("FanSpeed")
        if not is_number(speed):
            return None
        return replace(before, on=speed > 0, speed=from_scale(speed, FAN_SPEEDS) if speed > 0 else before.speed)
    state = before
    word = data.get(f"POWER{features.power}", data.get("POWER") if features.power == 1 else None)
    if isinstance(word, str) and word.casefold() in (each.casefold() for each in off_on):
        state = replace(state, on=word.casefold() == off_on[1].casefold())
    elif features.dimmer is None or not is_number(data.get(features.dimmer[1])):
        return None
    return _lit(device, features, data, state) if device.kind in LIGHTS else state


def _lit(device: Device, features: Features, data: Mapping[str, Any], state: State) -> State:
    dimmer = data.get(features.dimmer[1]) if features.dimmer is not None else None
    if is_number(dimmer) and dimmer > 0:
        state = replace(state, brightness=from_scale(dimmer, 100))
    white, ct = data.get("White"), data.get("CT")
    color = data.get("HSBColor") if features.color else None
    shows_white = not features.color or (is_number(white) and white > 0)
    if features.white is not None and shows_white and is_number(ct) and ct > 0:
        return replace(state, rgb=None, kelvin=device.nearest_white(round(1e6 / ct)))
    if isinstance(color, str) and not shows_white:
        try:
            hue, saturation, _ = (float(part) for part in color.split(","))
        except ValueError as error:
            raise ValueError(f'"HSBColor" is {json.dumps(color[:40])}') from error
        if not (0 <= hue <= 360 and 0 <= saturation <= 100):
            raise ValueError(f'"HSBColor" is {json.dumps(color[:40])}')
        red, green, blue = (round(255 * part) for part in colorsys.hsv_to_rgb(hue / 360, saturation / 100, 1))
        return replace(state, rgb=(red, green, blue), kelvin=None)
    return state


def _moved(features: Features, told: Any, state: State) -> State | None:
    if not isinstance(told, dict) or not is_number(told.get("Position")):
        return None
    position = min(100, max(0, round(told["Position"])))
    direction = told.get("Direction") if is_number(told.get("Direction")) else 0
    if features.inverted:
        position, direction = 100 - position, -(direction or 0)
    moving = direction not in (0, None)
    opens = (direction or 0) > 0
    return replace(state, position=position, moving=moving, open=opens if moving else position > 0)
