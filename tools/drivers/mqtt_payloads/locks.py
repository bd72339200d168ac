"""Locks."""

from __future__ import annotations

from dataclasses import replace

from tools.device import Change, Device, State
from tools.drivers.mqtt_payloads.options import MqttOptions
from tools.drivers.mqtt_payloads.wire import one_of, word_of

_WORDS: dict[str, tuple[bool | None, bool]] = {
    "locked": (True, False), "lock": (True, False), "locking": (True, True),
    "unlocked": (False, False), "unlock": (False, False), "unlocking": (False, True),
    "jammed": (None, False),
}  # fmt: skip
"""Whether it is or will be locked, and whether it moves; of one that is jammed nobody knows."""


def command(device: Device, change: Change) -> str | None:
    """ "LOCK" or "UNLOCK"."""
    options: MqttOptions = device.options
    if change.locked is None:
        return None
    return options.payload_lock if change.locked else options.payload_unlock


def read(device: Device, text: str, before: State) -> State:
    """A word, or `{"state": "LOCKED"}`."""
    locked, moving = one_of(word_of(text), _WORDS)
    return replace(before, locked=locked, moving=moving)
