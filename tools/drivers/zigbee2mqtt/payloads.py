"""What a device at Zigbee2MQTT is sent and tells: JSON with a key for each property. No I/O.

Its steps (254 of brightness, mireds within each lamp's limits) are converted here, and nowhere else.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.device import CLIMATE, LIGHTS, LOCKS, OPENING, RGB, Change, Device, Kind, Mode, State
from tools.drivers.mqtt_payloads.wire import from_scale, is_number, to_scale
from tools.drivers.zigbee2mqtt.exposes import Choice, Features, Number


def command(device: Device, change: Change, before: State) -> dict[str, Any] | None:
    """What is published to the device's `set`; None where it cannot do that.

    Args:
        device: Which one; its `options` are its `Features`.
        change: What it is to do.
        before: How it is.
    """
    features: Features = device.options
    if device.kind in CLIMATE:
        return _regulate(features, change, before) or None
    if features.motor is not None:
        return _open(features, change)
    if device.kind in LOCKS:
        return None if change.locked is None else _chosen(features.state, change.locked)
    if features.state is None or not device.moves:
        return None
    if change.on is False:
        return _chosen(features.state, False)
    data: dict[str, Any] = _chosen(features.state, True)
    if change.speed is not None:
        data |= _speed(features, change.speed)
    if change.brightness is not None and features.brightness is not None:
        data[features.brightness.property] = to_scale(change.brightness, int(features.brightness.high))
    if change.rgb is not None and features.color is not None:
        data[features.color] = dict(zip("rgb", change.rgb, strict=True))
    if change.kelvin is not None and features.white is not None:
        # Within the lamp's limits after the conversion, which rounds.
        white = features.white
        data[white.property] = int(min(white.high, max(white.low, round(1e6 / change.kelvin))))
    return data


def read(device: Device, data: Mapping[str, Any], before: State) -> State:
    """What a payload tells of a device, on top of what was known; the same where it tells nothing of it."""
    features: Features = device.options
    state = before
    if device.kind in CLIMATE:
        return _regulated(features, data, state)
    if device.kind in LOCKS:
        return _locked(features, data, state)
    if features.motor is not None:
        return _moved(features, data, state)
    told = _choice(features.state, data)
    if device.kind in OPENING:
        return state if told is None else replace(state, open=told)
    if device.kind is Kind.DETECTOR:
        return state if told is None else replace(state, detected=told)
    if device.kind is Kind.SENSOR:
        value = data.get(features.value) if features.value else None
        return replace(state, value=float(value)) if is_number(value) else state
    if told is not None:
        state = replace(state, on=told)
    state = _with_speed(features, data, state)
    return _lit(device, features, data, state) if device.kind in LIGHTS else state


def _chosen(state: Choice | None, on: bool) -> dict[str, Any]:
    assert state is not None
    return {state.property: state.on if on else state.off}


def _choice(choice: Choice | None, data: Mapping[str, Any]) -> bool | None:
    """Which of its two words is said; None for neither."""
    if choice is None or choice.property not in data:
        return None
    told = data[choice.property]
    for word, meant in ((choice.on, True), (choice.off, False)):
        # A number is no bool, though Python takes 1 for True.
        if type(word) is type(told) and (word == told or f"{word}".casefold() == f"{told}".casefold()):
            return meant
    return None


def _lit(device: Device, features: Features, data: Mapping[str, Any], state: State) -> State:
    brightness = data.get(features.brightness.property) if features.brightness else None
    # 0 is no brightness: a lamp that is off keeps what it had.
    if features.brightness is not None and is_number(brightness) and brightness > 0:
        state = replace(state, brightness=from_scale(brightness, int(features.brightness.high)))
    mode = data.get(f"color_mode{features.suffix}", "color_temp" if features.color is None else None)
    white = data.get(features.white.property) if features.white else None
    if mode == "color_temp" and is_number(white) and white > 0:
        return replace(state, rgb=None, kelvin=device.nearest_white(round(1e6 / white)))
    color = data.get(features.color) if features.color else None
    if mode in ("xy", "hs") and isinstance(color, Mapping):
        rgb = _rgb(color)
        return state if rgb is None else replace(state, rgb=rgb, kelvin=None)
    return state


def _rgb(color: Mapping[str, Any]) -> RGB | None:
    """The colour that is told as x and y, or as hue and saturation, at full brightness."""
    x, y, hue, saturation = (color.get(key) for key in ("x", "y", "hue", "saturation"))
    if is_number(hue) and is_number(saturation) and not (is_number(x) and is_number(y)):
        parts = colorsys.hsv_to_rgb(hue % 360 / 360, min(100, max(0, saturation)) / 100, 1)
    elif is_number(x) and is_number(y) and 0 < y <= 1 and 0 <= x <= 1:
        parts = _from_xy(x, y)
    else:
        return None
    red, green, blue = (round(255 * part) for part in parts)
    return red, green, blue


def _from_xy(x: float, y: float) -> tuple[float, float, float]:
    """CIE 1931 x and y as sRGB with its largest part 1 (the matrix of IEC 61966-2-1, for the white D65)."""
    big_x, big_z = x / y, (1 - x - y) / y
    linear = (
        3.2406 * big_x - 1.5372 - 0.4986 * big_z,
        -0.9689 * big_x + 1.8758 + 0.0415 * big_z,
        0.0557 * big_x - 0.2040 + 1.0570 * big_z,
    )
    most = max(*linear, 1e-6)
    parts = [max(0.0, part / most) for part in linear]
    red, green, blue = (12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in parts)
    return red, green, blue


def _open(features: Features, change: Change) -> dict[str, Any] | None:
    assert features.motor is not None
    if change.stop:
        return {features.motor: "STOP"}
    if change.position is not None:
        return {features.position.property: change.position} if features.position else None
    return None if change.open is None else {features.motor: "OPEN" if change.open else "CLOSE"}


def _moved(features: Features, data: Mapping[str, Any], state: State) -> State:
    direction = data.get(features.direction) if features.direction else None
    moving, opens = _DIRECTIONS.get(direction if isinstance(direction, str) else "", (False, None))
    word = data.get(features.motor) if features.motor else None
    position = data.get(features.position.property) if features.position else None
    if is_number(position):
        percent = min(100, max(0, round(position)))
        state = replace(state, position=percent, open=percent > 0)
    elif word in ("OPEN", "CLOSE"):
        state = replace(state, open=word == "OPEN")
    return replace(state, moving=moving, open=state.open if opens is None else opens)


_DIRECTIONS: dict[str, tuple[bool, bool | None]] = {
    "opening": (True, True), "closing": (True, False), "UP": (True, True), "DOWN": (True, False),
}  # fmt: skip
"""What a cover tells of its way; anything else is that it stands."""


def _locked(features: Features, data: Mapping[str, Any], state: State) -> State:
    told = _choice(features.state, data)
    if told is not None:
        state = replace(state, locked=told)
    # The bolt may stand half-way: then nobody knows.
    jammed = features.jam is not None and data.get(features.jam) == "not_fully_locked"
    return replace(state, locked=None) if jammed else state


def _regulate(features: Features, change: Change, before: State) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if change.mode is not None:
        if features.mode is None or change.mode not in features.modes:
            return {}
        data[features.mode] = features.modes[change.mode]
    if change.target is not None:
        number = _target(features, change.mode or before.mode)
        if number is None:
            return {}
        data[number.property] = round(change.target, 2)
    return data


def _regulated(features: Features, data: Mapping[str, Any], state: State) -> State:
    mode = data.get(features.mode) if features.mode else None
    if isinstance(mode, str):
        # One that is not known is no longer the one before.
        state = replace(state, mode=next((ours for ours, word in features.modes.items() if word == mode), None))
    number = _target(features, state.mode)
    target = data.get(number.property) if number else None
    temperature = data.get(features.temperature) if features.temperature else None
    if is_number(target):
        state = replace(state, target=float(target))
    return replace(state, temperature=float(temperature)) if is_number(temperature) else state


def _target(features: Features, mode: Mode | None) -> Number | None:
    return features.cooling if mode == "cool" and features.cooling is not None else features.target


def _speed(features: Features, percent: int) -> dict[str, Any]:
    if features.speed is not None:
        return {features.speed.property: to_scale(percent, int(features.speed.high))}
    if features.speeds is not None:
        name, words = features.speeds
        return {name: words[to_scale(percent, len(words)) - 1]}
    return {}


def _with_speed(features: Features, data: Mapping[str, Any], state: State) -> State:
    if features.speed is not None:
        speed = data.get(features.speed.property)
        if is_number(speed) and speed > 0:
            return replace(state, speed=from_scale(speed, int(features.speed.high)))
    elif features.speeds is not None:
        name, words = features.speeds
        if data.get(name) in words:
            return replace(state, speed=from_scale(words.index(data[name]) + 1, len(words)))
    return state
