"""What opens and closes: blinds, curtains, shutters, awnings, garage doors, doors and windows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tools.device import Change, Device, State
from tools.drivers.mqtt_payloads.options import MqttOptions
from tools.drivers.mqtt_payloads.switches import is_on
from tools.drivers.mqtt_payloads.wire import from_position, is_number, object_of, one_of, to_position, word_of

_WORDS: dict[str, tuple[bool | None, bool]] = {
    "open": (True, False), "opening": (True, True),
    "closed": (False, False), "close": (False, False), "closing": (False, True),
    "stopped": (None, False), "stop": (None, False),
}  # fmt: skip
"""Whether it is open or opens, and whether it moves; some call the states as the commands."""


def command(device: Device, change: Change) -> str | None:
    """ "OPEN", "CLOSE", "STOP" or `{"position": 40}`."""
    options: MqttOptions = device.options
    if change.stop:
        return options.payload_stop
    if change.position is not None and "position" in device.can:
        raw = to_position(change.position, options.position_open, options.position_closed)
        return json.dumps({"position": raw})
    if change.open is None:
        return None
    return options.payload_open if change.open else options.payload_close


def read(device: Device, text: str, before: State) -> State:
    """A word, or `{"state": "opening", "position": 40}` with either of the two."""
    options: MqttOptions = device.options
    if not device.moves:
        return replace(before, open=_is_open(word_of(text, options.value_key), options))
    data: dict[str, Any] = object_of(text) if text.startswith("{") else {"state": text}
    word, raw = data.get("state"), data.get("position")
    if not isinstance(word, str) and not is_number(raw):
        raise ValueError('neither a "state" nor a "position"')
    is_open, moving = one_of(word, _WORDS) if isinstance(word, str) else (None, False)
    state = replace(before, open=before.open if is_open is None else is_open, moving=moving)
    if "position" not in device.can:
        return state
    if is_number(raw):
        state = replace(state, position=from_position(raw, options.position_open, options.position_closed))
    elif is_open is False and not moving:
        state = replace(state, position=0)
    elif is_open and not moving and (before.moving or before.position == 0):
        state = replace(state, position=None)  # it is somewhere else than it was
    if state.position is not None and not moving:
        return replace(state, open=state.position > 0)
    return state


def _is_open(word: str, options: MqttOptions) -> bool:
    """Of a door or a window that only reports."""
    if word.casefold() in ("open", "closed"):
        return word.casefold() == "open"
    return is_on(word, options)
