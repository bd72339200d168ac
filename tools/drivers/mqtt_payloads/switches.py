"""Switches, plugs and fans: a word, or JSON with a speed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tools.device import Change, Device, State
from tools.drivers.mqtt_payloads.options import MqttOptions, speaks_json
from tools.drivers.mqtt_payloads.wire import from_scale, is_number, object_of, to_scale, word_of


def command(device: Device, change: Change) -> str | None:
    """ "ON", or `{"state": "ON", "percentage": 40}`."""
    options: MqttOptions = device.options
    if change.on is None and change.speed is None:
        return None
    off = change.on is False
    if not speaks_json(device):
        return options.payload_off if off else options.payload_on
    data: dict[str, Any] = {"state": "OFF" if off else "ON"}
    if change.speed is not None and not off and "speed" in device.can:
        data["percentage"] = to_scale(change.speed, options.speed_scale)
    return json.dumps(data)


def read(device: Device, text: str, before: State) -> State:
    """A word, or `{"state": "ON", "percentage": 40}`."""
    if not speaks_json(device):
        return replace(before, on=is_on(word_of(text), device.options))
    data = object_of(text)
    state = replace(before, on=is_on_in(data))
    speed = data.get("percentage")
    if "speed" in device.can and is_number(speed) and speed > 0:
        return replace(state, speed=from_scale(speed, device.options.speed_scale))
    return state


def is_on(word: str, options: MqttOptions) -> bool:
    """Whether a word is that for on.

    Raises:
        ValueError: It is neither that nor the one for off.
    """
    if word.casefold() == options.payload_on.casefold():
        return True
    if word.casefold() == options.payload_off.casefold():
        return False
    raise ValueError(f"{word[:40]!r} is neither {options.payload_on!r} nor {options.payload_off!r}")


def is_on_in(data: dict[str, Any]) -> bool:
    """Whether JSON says so; Home Assistant knows no other words there.

    Raises:
        ValueError: It says neither on nor off.
    """
    if data.get("state") not in ("ON", "OFF"):
        raise ValueError(f'"state" is {data.get("state")!r}, neither "ON" nor "OFF"')
    return bool(data["state"] == "ON")
