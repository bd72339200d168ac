"""A device's table `mqtt`, and which of its keys are for which kind of device."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from tools.device import ANY, CLIMATE, FANS, LIGHTS, LOCKS, OPENING, PLAYERS, ROBOTS, SENSORS, SWITCHES, Device, Kind


@dataclass(frozen=True)
class MqttOptions:
    """A device's table `mqtt`."""

    state_topic: str
    """Where the device tells how it is; without that nothing could be confirmed."""

    command_topic: str | None = None
    """Where the device is told what to do; what only reports needs none."""

    availability_topic: str | None = None
    """Where the device, or its broker for it, tells whether it is there."""

    schema: Literal["json", "plain"] | None = None
    """For lights, switches, plugs and fans: JSON (lights, and fans with a speed, when nothing is said) or one word."""

    brightness_scale: Literal[100, 254, 255] = 255
    """What a light calls full brightness."""

    color_mode: Literal["rgb", "hs"] = "rgb"
    """How a light wants a colour."""

    color_temp_kelvin: bool = False
    """A light's whites are in kelvin; else in mireds."""

    speed_scale: int = 100
    """What a fan calls full speed; 3 for one with three speeds."""

    position_open: int = 100
    """The position of a cover that is open."""

    position_closed: int = 0
    """The position of a cover that is closed; some count the other way."""

    volume_scale: int = 100
    """What a player calls full volume."""

    temperature_unit: Literal["celsius", "fahrenheit"] = "celsius"
    """What a thermostat or an air conditioner counts in."""

    value_key: str = "state"
    """For what only reports: where a JSON object has its word or number."""

    payload_on: str = "ON"
    """The word for on; of a door or a window that only reports for open, of a detector for detected."""

    payload_off: str = "OFF"
    """The word for off, closed or clear."""

    payload_open: str = "OPEN"
    """The word that opens a door or a cover."""

    payload_close: str = "CLOSE"
    """The word that closes it."""

    payload_stop: str = "STOP"
    """The word that stops it where it is; also for a robot with words of its own."""

    payload_lock: str = "LOCK"
    """The word that locks a lock."""

    payload_unlock: str = "UNLOCK"
    """The word that unlocks it."""

    payload_start: str | None = None
    """The word that starts a robot; without it Home Assistant's words are used, also for the other two."""

    payload_return: str | None = None
    """The word that sends it home; a robot with `payload_start` has it, and stops at `payload_stop`."""

    payload_available: str = "online"
    """What is said on `availability_topic` when the device is there."""

    payload_not_available: str = "offline"
    """What is said when it is gone."""


_REPORTING = frozenset({Kind.DOOR, Kind.WINDOW})

_KINDS: dict[str, frozenset[Kind]] = {
    "schema": LIGHTS | SWITCHES,
    **dict.fromkeys(("brightness_scale", "color_mode", "color_temp_kelvin"), LIGHTS),
    "speed_scale": FANS,
    **dict.fromkeys(("position_open", "position_closed", "payload_open", "payload_close"), OPENING),
    "payload_stop": OPENING | ROBOTS,
    **dict.fromkeys(("payload_start", "payload_return"), ROBOTS),
    "volume_scale": PLAYERS,
    "temperature_unit": CLIMATE,
    "value_key": SENSORS | _REPORTING,
    **dict.fromkeys(("payload_on", "payload_off"), LIGHTS | SWITCHES | _REPORTING | {Kind.DETECTOR}),
    **dict.fromkeys(("payload_lock", "payload_unlock"), LOCKS),
}
"""Keys that are not for every kind of device."""


_OPPOSITES = (
    ("payload_on", "payload_off"),
    ("payload_open", "payload_close", "payload_stop"),
    ("payload_lock", "payload_unlock"),
    ("payload_start", "payload_stop", "payload_return"),
    ("payload_available", "payload_not_available"),
)
"""Keys whose words must not be taken for one another."""


def speaks_json(device: Device) -> bool:
    """Whether a light, a switch or a fan speaks JSON."""
    usual = "json" if device.kind in LIGHTS or "speed" in device.can else "plain"
    return bool((device.options.schema or usual) == "json")


def check(device: Device) -> None:
    """Refuses a table that is not for this device.

    Raises:
        ValueError: The text names the key, and what is allowed.
    """
    options: MqttOptions = device.options
    kind = device.kind.value.replace("_", " ")
    for field in fields(options):
        if getattr(options, field.name) != field.default and device.kind not in _KINDS.get(field.name, ANY):
            raise ValueError(f"{field.name} is not for a {kind}; allowed are {', '.join(_allowed(device.kind))}")
    if (options.payload_start is None) is not (options.payload_return is None):
        raise ValueError("payload_start and payload_return belong together: a robot that leaves is to come home")
    for topic in (options.state_topic, options.command_topic, options.availability_topic):
        if topic is not None and (set(topic) & set("+#\0") or len(topic.encode()) > 65535):
            raise ValueError(f'{topic!r} is no topic of one device: "+" and "#" are not allowed')
    if device.moves and options.command_topic is None:
        raise ValueError("command_topic is missing")
    if options.availability_topic == options.state_topic:
        raise ValueError("availability_topic is state_topic; a device that tells both has two topics")
    if options.command_topic == options.state_topic:
        raise ValueError("state_topic is command_topic; our own words are not the device's")
    if (options.command_topic or "").startswith("hearth/"):
        raise ValueError("command_topic is below hearth/; there are our own commands, not a device's")
    for opposites in _OPPOSITES:
        given = [word for key in opposites if (word := getattr(options, key)) is not None]
        if len({word.casefold() for word in given}) < len(given):
            raise ValueError(f"{', '.join(opposites)} must be different words; case does not count")
    if device.can and device.kind in LIGHTS | SWITCHES and not speaks_json(device):
        raise ValueError('schema "plain" only switches; set can = [], or schema = "json"')
    for key in ("speed_scale", "volume_scale"):
        if not 1 <= getattr(options, key) <= 65535:
            raise ValueError(f"{key} is {getattr(options, key)}; allowed is 1 to 65535")
    if abs(options.position_open - options.position_closed) < 2:
        raise ValueError("position_open and position_closed must be at least 2 apart")


def _allowed(kind: Kind) -> list[str]:
    return [field.name for field in fields(MqttOptions) if kind in _KINDS.get(field.name, ANY)]
