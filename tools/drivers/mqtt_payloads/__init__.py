"""What a plain MQTT device is sent and says: one word, or Home Assistant's JSON. No I/O.

One file for each family of devices has the two functions `command` and `read`; here they are put together.
"""

from __future__ import annotations

from types import ModuleType

from tools.device import CLIMATE, LIGHTS, LOCKS, OPENING, PLAYERS, ROBOTS, SENSORS, SWITCHES, Change, Device, State
from tools.drivers.mqtt_payloads import climate, covers, lights, locks, players, robots, sensors, switches
from tools.drivers.mqtt_payloads.options import MqttOptions, check
from tools.drivers.mqtt_payloads.wire import text_of, word_of

__all__ = ["MqttOptions", "check", "command", "read_availability", "read_state"]

_FAMILIES: dict[frozenset[object], ModuleType] = {
    LIGHTS: lights,
    SWITCHES: switches,
    OPENING: covers,
    LOCKS: locks,
    CLIMATE: climate,
    PLAYERS: players,
    ROBOTS: robots,
    SENSORS: sensors,
}


def command(device: Device, change: Change) -> str | None:
    """The payload that makes a change; None where the device cannot do it."""
    return _family(device).command(device, change)  # type: ignore[no-any-return]


def read_state(device: Device, payload: bytes, before: State) -> State:
    """What the device says about itself, on top of what it said before.

    Raises:
        ValueError: It says nothing that can be understood.
    """
    return _family(device).read(device, text_of(payload), before)  # type: ignore[no-any-return]


def read_availability(payload: bytes, options: MqttOptions) -> bool:
    """Whether the device is there, said as a word or as `{"state": word}`.

    Raises:
        ValueError: It is neither of the two words.
    """
    word = word_of(text_of(payload))
    if word in (options.payload_available, options.payload_not_available):
        return word == options.payload_available
    raise ValueError(f"{word[:40]!r} is neither {options.payload_available!r} nor {options.payload_not_available!r}")


def _family(device: Device) -> ModuleType:
    return next(family for kinds, family in _FAMILIES.items() if device.kind in kinds)
