"""Televisions and speakers. Home Assistant has no MQTT player, so the words are those of its own actions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agent.plain_text import shortened
from tools.device import Change, Device, State
from tools.drivers.mqtt_payloads.options import MqttOptions
from tools.drivers.mqtt_payloads.wire import from_volume, is_number, object_of, one_of, to_volume

MAX_TITLE = 200
"""What of a longer title is not kept, in characters: it is shown and spoken."""

_WORDS: dict[str, tuple[bool, bool | None]] = {
    "playing": (True, True), "buffering": (True, True), "paused": (True, False),
    "idle": (True, None), "on": (True, None), "off": (False, None), "standby": (False, None),
}  # fmt: skip
"""Whether it is on, and whether it plays or pauses."""


def command(device: Device, change: Change) -> str | None:
    """`{"command": "pause"}`, `{"play": "jazz"}`, `{"volume": 30}`, `{"muted": true}`, or several of them."""
    options: MqttOptions = device.options
    data: dict[str, Any] = {}
    word = _word(change)
    if word is not None:
        data["command"] = word
    if change.play is not None:
        data["play"] = change.play
    if change.volume is not None:
        data["volume"] = to_volume(change.volume, options.volume_scale)
    if change.muted is not None:
        data["muted"] = change.muted
    return json.dumps(data, ensure_ascii=False) if data else None


def read(device: Device, text: str, before: State) -> State:
    """`{"state", "volume", "muted", "title"}` with any of the four; or the word of the state alone."""
    data: dict[str, Any] = object_of(text) if text.startswith("{") else {"state": text}
    told: dict[str, Any] = {}
    if isinstance(data.get("state"), str):
        told["on"], told["playing"] = one_of(data["state"], _WORDS)
        if told["playing"] is None:
            told["title"] = None  # nothing is played
    if is_number(data.get("volume")):
        told["volume"] = from_volume(data["volume"], device.options.volume_scale)
    if isinstance(data.get("muted"), bool):
        told["muted"] = data["muted"]
    if isinstance(data.get("title"), str) and told.get("playing", before.playing) is not None:
        told["title"] = shortened(data["title"], MAX_TITLE) or None
    if not told:
        raise ValueError('none of "state", "volume", "muted" and "title"')
    return replace(before, **told)


def _word(change: Change) -> str | None:
    if change.on is False:
        return "turn_off"
    if change.skip is not None:
        return "next" if change.skip == 1 else "previous"
    if change.playing is not None and change.play is None:
        return "play" if change.playing else "pause"
    return "turn_on" if change.on and change.play is None else None
