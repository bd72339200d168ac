"""Lights: Home Assistant's JSON schema for them, or a word."""

from __future__ import annotations

import colorsys
import json
from dataclasses import replace
from typing import Any

from tools.device import RGB, Change, Device, State
from tools.drivers.mqtt_payloads.options import MqttOptions, speaks_json
from tools.drivers.mqtt_payloads.switches import is_on, is_on_in
from tools.drivers.mqtt_payloads.wire import from_scale, is_number, object_of, to_scale, word_of

_NO_EFFECT = "none"


def command(device: Device, change: Change) -> str:
    """ "ON", or `{"state": "ON", "brightness": 128}`."""
    options: MqttOptions = device.options
    off = change.on is False
    if not speaks_json(device):
        return options.payload_off if off else options.payload_on
    # Every command says "ON" or "OFF", also where only the colour changes.
    data: dict[str, Any] = {"state": "OFF" if off else "ON"}
    if off:
        return json.dumps(data)
    if change.brightness is not None and "brightness" in device.can:
        data["brightness"] = to_scale(change.brightness, options.brightness_scale)
    if change.rgb is not None and "color" in device.can:
        data["color"] = _color(change.rgb, options.color_mode)
    if change.kelvin is not None and "white" in device.can:
        data["color_temp"] = _white(change.kelvin, device)
    if change.effect is not None and device.effects:
        data["effect"] = change.effect or _NO_EFFECT
    return json.dumps(data)


def read(device: Device, text: str, before: State) -> State:
    """A word, or Home Assistant's JSON."""
    options: MqttOptions = device.options
    if not speaks_json(device):
        return replace(before, on=is_on(word_of(text), options))
    data = object_of(text)
    state = replace(before, on=is_on_in(data))
    brightness = data.get("brightness")
    # 0 is no brightness: some say it of a lamp that is off.
    if "brightness" in device.can and is_number(brightness) and brightness > 0:
        state = replace(state, brightness=from_scale(brightness, options.brightness_scale))
    if device.effects and "effect" in data:
        state = replace(state, effect=_effect(device, data["effect"]))
    return _with_color(state, data, device)


def _white(kelvin: int, device: Device) -> int:
    if device.options.color_temp_kelvin:
        return device.nearest_white(kelvin)
    # Within the limits after the conversion, which rounds.
    coolest, warmest = round(1e6 / device.max_kelvin), round(1e6 / device.min_kelvin)
    return min(warmest, max(coolest, round(1e6 / kelvin)))


def _effect(device: Device, told: Any) -> str:
    """The device's own spelling; "" for none."""
    word = told.casefold() if isinstance(told, str) else _NO_EFFECT
    return next((effect for effect in device.effects if effect.casefold() == word), "")


def _with_color(state: State, data: dict[str, Any], device: Device) -> State:
    """Read only where "color_mode" says which of the values is in force, as Home Assistant does."""
    mode, color, white = data.get("color_mode"), data.get("color"), data.get("color_temp")
    if mode == "color_temp" and "white" in device.can and is_number(white) and white > 0:
        kelvin = white if device.options.color_temp_kelvin else 1e6 / white
        return replace(state, rgb=None, kelvin=round(min(device.max_kelvin, max(device.min_kelvin, kelvin))))
    if "color" not in device.can or not isinstance(color, dict):
        return state
    if mode == "rgb":
        return replace(state, rgb=_rgb([color.get(key) for key in "rgb"]), kelvin=None)
    hue, saturation = color.get("h"), color.get("s")
    if mode == "hs" and is_number(hue) and is_number(saturation):
        parts = colorsys.hsv_to_rgb(hue % 360 / 360, min(100, max(0, saturation)) / 100, 1)
        return replace(state, rgb=_rgb([part * 255 for part in parts]), kelvin=None)
    return state


def _rgb(parts: list[Any]) -> RGB:
    if not all(is_number(part) and 0 <= part <= 255 for part in parts):
        raise ValueError(f'"color" is {parts}')
    red, green, blue = (round(part) for part in parts)
    return red, green, blue


def _color(rgb: RGB, mode: str) -> dict[str, float]:
    if mode == "rgb":
        return dict(zip("rgb", rgb, strict=True))
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    return {"h": round(hue * 360, 1), "s": round(saturation * 100, 1)}
