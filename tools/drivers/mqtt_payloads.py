"""What a plain MQTT device is sent and says: Home Assistant's JSON light schema, or one word. No I/O."""

from __future__ import annotations

import colorsys
import json
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

from tools.drivers import LIGHTS, ON_OFF, RGB, Change, Device, State

MAX_PAYLOAD = 16_384
"""A longer state is not looked into, in bytes."""


@dataclass(frozen=True)
class MqttOptions:
    """A device's table `mqtt`."""

    state_topic: str
    """Where the device tells how it is; without that nothing could be confirmed."""

    command_topic: str | None = None
    """Where the device is told what to do; doors and windows that only report need none."""

    availability_topic: str | None = None
    """Where the device, or its broker for it, tells whether it is there."""

    schema: Literal["json", "plain"] | None = None
    """Home Assistant's JSON schema (lights, when nothing is said) or one word (all others)."""

    brightness_scale: Literal[100, 254, 255] = 255
    """What the device calls full brightness."""

    color_mode: Literal["rgb", "hs"] = "rgb"
    """How the device wants a colour."""

    color_temp_kelvin: bool = False
    """Whites are sent in kelvin; else in mireds."""

    payload_on: str = "ON"
    """The word for on."""

    payload_off: str = "OFF"
    """The word for off."""

    payload_open: str = "OPEN"
    """The word that opens a garage door."""

    payload_close: str = "CLOSE"
    """The word that closes it."""

    payload_available: str = "online"
    """What is said on `availability_topic` when the device is there."""

    payload_not_available: str = "offline"
    """What is said when it is gone."""


def speaks_json(device: Device) -> bool:
    """Whether the device speaks Home Assistant's JSON."""
    schema = device.options.schema or ("json" if device.kind in LIGHTS else "plain")
    return bool(schema == "json")


def to_scale(percent: int, scale: int) -> int:
    """Percent (1 to 100) in the steps of a device; never 0, which some take for off."""
    return max(1, round(percent * scale / 100))


def from_scale(value: float, scale: int) -> int:
    """The reverse of `to_scale`, for every percent and scale."""
    return min(100, max(1, round(value * 100 / scale)))


def command(device: Device, change: Change) -> str:
    """The payload that makes a change."""
    options: MqttOptions = device.options
    if change.open is not None:
        return options.payload_open if change.open else options.payload_close
    off = change.on is False
    if not speaks_json(device):
        return options.payload_off if off else options.payload_on
    # Every command says "ON" or "OFF", also where only the colour changes.
    data: dict[str, Any] = {"state": "OFF" if off else "ON"}
    if change.brightness is not None:
        data["brightness"] = to_scale(change.brightness, options.brightness_scale)
    if change.rgb is not None:
        data["color"] = _color(change.rgb, options.color_mode)
    if change.kelvin is not None:
        kelvin = change.kelvin
        data["color_temp"] = kelvin if options.color_temp_kelvin else round(1e6 / kelvin)
    return json.dumps(data)


def read_state(device: Device, payload: bytes, before: State) -> State:
    """What the device says about itself, on top of what it said before.

    Raises:
        ValueError: It says nothing that can be understood.
    """
    text = _text(payload)
    if device.kind not in ON_OFF:
        return _read_door(text, before)
    if not speaks_json(device):
        return replace(before, on=_on(text, device.options))
    data = _object(text)
    if data.get("state") not in ("ON", "OFF"):
        raise ValueError(f'"state" is {data.get("state")!r}, neither "ON" nor "OFF"')
    state = replace(before, on=data["state"] == "ON")
    brightness = data.get("brightness")
    if _is_number(brightness) and brightness > 0:
        state = replace(state, brightness=from_scale(brightness, device.options.brightness_scale))
    return _with_color(state, data, device.options)


def read_availability(payload: bytes, options: MqttOptions) -> bool:
    """Whether the device is there, said as a word or as `{"state": word}`.

    Raises:
        ValueError: It is neither of the two words.
    """
    word = _text(payload)
    if word.startswith("{"):
        word = str(_object(word).get("state"))
    if word in (options.payload_available, options.payload_not_available):
        return word == options.payload_available
    raise ValueError(f"{word[:40]!r} is neither {options.payload_available!r} nor {options.payload_not_available!r}")


def confirms(state: State, change: Change) -> bool:
    """Whether the state is that of a device which did as it was told.

    A colour is not compared: lamps report the nearest one that they can show.
    """
    if change.on is not None and state.on is not change.on:
        return False
    if change.open is not None and state.open is not change.open:
        return False
    if change.brightness is not None and state.brightness is not None:
        return abs(state.brightness - change.brightness) <= 1
    return True


def _text(payload: bytes) -> str:
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"longer than {MAX_PAYLOAD} bytes")
    return payload.decode().strip()  # a UnicodeDecodeError is a ValueError


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("JSON, but no object")
    return data


def _on(text: str, options: MqttOptions) -> bool:
    word = text.casefold()
    if word == options.payload_on.casefold():
        return True
    if word == options.payload_off.casefold():
        return False
    raise ValueError(f"{text[:40]!r} is neither {options.payload_on!r} nor {options.payload_off!r}")


_DOOR = {
    "open": (True, False), "on": (True, False), "opening": (True, True),
    "closed": (False, False), "off": (False, False), "closing": (False, True),
}  # fmt: skip


def _read_door(text: str, before: State) -> State:
    if text.startswith("{"):
        text = str(_object(text).get("state"))
    if text.casefold() not in _DOOR:
        raise ValueError(f"{text[:40]!r} is none of {', '.join(_DOOR)}")
    is_open, moving = _DOOR[text.casefold()]
    return replace(before, open=is_open, moving=moving)


def _with_color(state: State, data: dict[str, Any], options: MqttOptions) -> State:
    """Read only where "color_mode" says which of the values is in force, as Home Assistant does."""
    mode, color, white = data.get("color_mode"), data.get("color"), data.get("color_temp")
    if mode == "color_temp" and _is_number(white) and white > 0:
        return replace(state, rgb=None, kelvin=round(white if options.color_temp_kelvin else 1e6 / white))
    if mode == "rgb" and isinstance(color, dict):
        return replace(state, rgb=_rgb([color.get(key) for key in "rgb"]), kelvin=None)
    if mode == "hs" and isinstance(color, dict):
        hue, saturation = color.get("h"), color.get("s")
        if _is_number(hue) and _is_number(saturation):
            parts = colorsys.hsv_to_rgb(hue % 360 / 360, min(100, max(0, saturation)) / 100, 1)
            return replace(state, rgb=_rgb([part * 255 for part in parts]), kelvin=None)
    return state


def _rgb(parts: list[Any]) -> RGB:
    if not all(_is_number(part) and 0 <= part <= 255 for part in parts):
        raise ValueError(f'"color" is {parts}')
    red, green, blue = (round(part) for part in parts)
    return red, green, blue


def _color(rgb: RGB, mode: str) -> dict[str, float]:
    if mode == "rgb":
        return dict(zip("rgb", rgb, strict=True))
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    return {"h": round(hue * 360, 1), "s": round(saturation * 100, 1)}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
