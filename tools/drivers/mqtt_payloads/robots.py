"""Robots that clean and mow: Home Assistant's words for both, or those of the device's own; Valetudo's states too."""

from __future__ import annotations

import json
from dataclasses import replace

from tools.device import Activity, Change, Device, Kind, State
from tools.drivers.mqtt_payloads.options import MqttOptions
from tools.drivers.mqtt_payloads.wire import one_of, word_of

_COMMANDS: dict[Kind, dict[Activity, str]] = {
    Kind.VACUUM: {"working": "start", "stopped": "stop", "returning": "return_to_base"},
    Kind.MOWER: {"working": "start_mowing", "stopped": "pause", "returning": "dock"},
}
_AREAS = {Kind.VACUUM: "clean_area", Kind.MOWER: "mow_area"}

_WORDS: dict[str, Activity] = {
    "cleaning": "working", "mowing": "working", "returning": "returning", "docked": "docked",
    "idle": "stopped", "paused": "stopped", "error": "stuck", "moving": "working", "manual_control": "working",
}  # fmt: skip


def command(device: Device, change: Change) -> str | None:
    """ "start", or `{"command": "clean_area", "area": "kitchen"}`."""
    options: MqttOptions = device.options
    if change.activity is None:
        return None
    if options.payload_start is not None:
        words = {"working": options.payload_start, "stopped": options.payload_stop, "returning": options.payload_return}
        return None if change.area is not None else words.get(change.activity)
    if change.activity == "working" and change.area is not None:
        return json.dumps({"command": _AREAS[device.kind], "area": change.area}, ensure_ascii=False)
    return _COMMANDS[device.kind].get(change.activity)


def read(device: Device, text: str, before: State) -> State:
    """A word, or `{"state": "cleaning"}`."""
    return replace(before, activity=one_of(word_of(text), _WORDS))
