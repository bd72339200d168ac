"""Sensors and detectors: they only report."""

from __future__ import annotations

from dataclasses import replace

from tools.device import Change, Device, Kind, State
from tools.drivers.mqtt_payloads.options import MqttOptions
from tools.drivers.mqtt_payloads.switches import is_on
from tools.drivers.mqtt_payloads.wire import number_of, word_of


def command(device: Device, change: Change) -> None:
    """They are told nothing."""


def read(device: Device, text: str, before: State) -> State:
    """A number or a word, alone or under `value_key` of a JSON object."""
    options: MqttOptions = device.options
    word = word_of(text, options.value_key)
    if device.kind is Kind.SENSOR:
        return replace(before, value=number_of(word))
    if word in ("true", "false"):
        words = {options.payload_on, options.payload_off}
        return replace(before, detected=is_on(word, options) if word in words else word == "true")
    return replace(before, detected=is_on(word, options))
