"""What a Tasmota device tells of itself on `tasmota/discovery/<MAC>/config` and `/sensors`. No I/O.

The keys are those of Tasmota's own discovery (xdrv_12_discovery.ino), as HATasmota 0.9.2 reads them. Topics are made
of the device's own FullTopic and prefixes only: both are the owner's to set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tools.device import Ability, Device, Kind
from tools.drivers.bridges import Part, cover_kind, relay_kind, unit_spoken
from tools.drivers.mqtt_payloads.wire import is_number, object_of, text_of
from tools.names.words import fold

_RELAY, _LIGHT, _SHUTTER = 1, 2, 3
"""What stands in `rl` for each relay."""

_DIMMER, _WHITES, _RGB, _RGBW, _RGBCW = 1, 2, 3, 4, 5
"""What stands in `lt_st`."""

_MIREDS, _FEW_MIREDS = (153, 500), (200, 380)
"""What CT may be, and what it may be with SetOption82."""

_INVERTED = 1
"""The bit of `sho` for a shutter that counts the other way."""

_OUR_TOPICS = ("hearth/", "homeassistant/", "$")
"""Nothing that a device says makes us publish below these."""


@dataclass(frozen=True)
class Features:
    """How a part of a device is told and tells; None where it has none of that.

    Attributes:
        power: The number of its relay, from 1.
        dimmer: The command that dims it, and the key that tells how far.
        white: Its whites, in mireds.
        color: It has colours.
        always_on: It is told "on" beside each brightness, as that does not turn it on (SetOption20).
        shutter: The number of the shutter, from 1.
        inverted: It counts the other way.
        fan: It has the three speeds of an iFan.
        value: The sensor and the quantity that it is.
    """

    power: int | None = None
    dimmer: tuple[str, str] | None = None
    white: tuple[int, int] | None = None
    color: bool = False
    always_on: bool = False
    shutter: int | None = None
    inverted: bool = False
    fan: bool = False
    value: tuple[str, str] | None = None


@dataclass(frozen=True)
class TasmotaDevice:
    """A device as it tells of itself.

    Attributes:
        mac: Its address, without colons; it stays when it is renamed.
        name: What its owner called it.
        command: What a topic begins with on which it is told something.
        stat: What one begins with on which it answers.
        tele: What one begins with on which it tells by itself.
        online: Its word for being there.
        offline: Its word for being gone.
        off_on: Its words for off and on.
        sleeps: It is away most of the time by design (DeepSleep), and what it told still holds.
        parts: What it is in the house; a sensor's come with `with_sensors`.
    """

    mac: str
    name: str
    command: str
    stat: str
    tele: str
    online: str
    offline: str
    off_on: tuple[str, str]
    sleeps: bool
    parts: tuple[Part, ...]


def read_config(mac: str, payload: bytes) -> TasmotaDevice:
    """A device from its `config`.

    Args:
        mac: That of the topic.
        payload: What is said there.

    Raises:
        ValueError: It is no config, or one of another device.
    """
    data = object_of(text_of(payload))
    if data.get("mac") != mac or not mac.isalnum():
        raise ValueError(f'"mac" is {data.get("mac")!r}, and not that of the topic')
    words = {key: _text(data, key) for key in ("ft", "t", "hn", "onln", "ofln")}
    prefixes, states = _texts(data, "tp", 3), _texts(data, "state", 2)
    command, stat, tele = (_topic(words, mac, prefix, index == 0) for index, prefix in enumerate(prefixes))
    for topic in (command, stat, tele):
        if set(topic) & set("+#\0") or topic.startswith(_OUR_TOPICS):
            raise ValueError(f"{topic[:60]!r} is no topic of a device")
    told = data.get("so")
    options: dict[str, Any] = told if isinstance(told, dict) else {}
    names = [name if isinstance(name, str) else None for name in _list(data.get("fn"))]
    name = f"{next((each for each in (data.get('dn'), *names[:1]) if _is_given(each)), words['t'])}"
    device = TasmotaDevice(
        mac, name, command, stat, tele, words["onln"], words["ofln"], (states[0], states[1]),
        bool(data.get("dslp")), (),
    )  # fmt: skip
    return replace(device, parts=tuple(_called(list(_parts(data, options, device)), names, name)))


def read_sensors(payload: bytes) -> dict[str, Any]:
    """What the sensors of a device have told when it announced itself, from its `sensors`.

    Raises:
        ValueError: It is none.
    """
    sensors = object_of(text_of(payload)).get("sn")
    if not isinstance(sensors, dict):
        raise ValueError('JSON without "sn"')
    return sensors


def with_sensors(device: TasmotaDevice, sensors: Mapping[str, Any]) -> TasmotaDevice:
    """A device with its sensors as parts.

    Args:
        device: The device.
        sensors: What they told: `{"AM2301": {"Temperature": 21.4}, "TempUnit": "C"}`.
    """
    found = [(name, key) for name, told in sensors.items() if isinstance(told, dict) for key in told]
    found = [
        (name, key) for name, key in found if key in _MEASURED and name not in _OWN and is_number(sensors[name][key])
    ]
    quantities = [_MEASURED[key][0] for _, key in found]
    parts = list(device.parts)
    for (name, key), measures in zip(found, quantities, strict=True):
        unit = sensors.get(_MEASURED[key][1]) if _MEASURED[key][1].endswith("Unit") else _MEASURED[key][1]
        own = Device(
            f"{device.mac}_{_segment(name)}_{key}", device.name, Kind.SENSOR, measures=measures, unit=unit_spoken(unit),
            options=Features(value=(name, key)),
        )  # fmt: skip
        several = quantities.count(measures) > 1
        called = "" if not device.parts and len(found) == 1 else f"{name} {measures}" if several else measures
        parts.append(Part(own, called, name))
    return replace(device, parts=tuple(parts))


_MEASURED = {
    "Temperature": ("temperature", "TempUnit"), "Humidity": ("humidity", "%"), "Pressure": ("pressure", "PressureUnit"),
    "Illuminance": ("illuminance", "lx"), "CarbonDioxide": ("co2", "ppm"), "Power": ("power", "W"),
    "Total": ("energy", "kWh"), "Moisture": ("soil moisture", "%"),
}  # fmt: skip
"""What is measured under a key, and its unit or where that is told."""

_OWN = {"ESP32", "ESP8266"}
"""Sensors that feel the chip itself."""


def _parts(data: Mapping[str, Any], options: Mapping[str, Any], device: TasmotaDevice) -> Iterator[tuple[int, Device]]:
    """The number of each part, and the part."""
    relays = [value if isinstance(value, int) else 0 for value in _list(data.get("rl"))]
    ifan = data.get("if") == 1
    if ifan:
        yield 1, _device(device, "fan", 1, Kind.FAN, Features(fan=True), can=("speed",))
    first_light = relays.index(_LIGHT) if _LIGHT in relays else 0
    shutters, index = 0, 0
    while index < len(relays):
        number, what = index + 1, relays[index]
        if what == _SHUTTER and relays[index + 1 : index + 2] == [_SHUTTER]:
            shutters += 1
            inverted = bool((_list(data.get("sho")) + [0] * shutters)[shutters - 1] & _INVERTED)
            made = Features(shutter=shutters, inverted=inverted)
            kind = cover_kind(device.name, "", Kind.SHUTTER)
            yield shutters, _device(device, "shutter", shutters, kind, made, can=("position",))
            index += 1
        elif what == _LIGHT and not ifan:
            yield number, _light(data, options, device, number, index - first_light)
        elif what == _LIGHT or (what == _RELAY and (index == 0 if ifan else options.get("30") == 1)):
            yield number, _device(device, "light", number, Kind.LIGHT, Features(power=number))
        elif what == _RELAY and not ifan:
            yield number, _device(device, "relay", number, relay_kind(device.name), Features(power=number))
        index += 1


def _light(
    data: Mapping[str, Any], options: Mapping[str, Any], device: TasmotaDevice, number: int, place: int
) -> Device:
    kind = data.get("lt_st")
    dimmer = ("Dimmer3" if data.get("ty") == 1 else "Dimmer", "Dimmer")
    if options.get("68") == 1:  # each channel is a lamp of its own
        kind, dimmer = _DIMMER, (f"Channel{number}", f"Channel{number}")
    elif data.get("lk") == 0 and kind in (_RGBW, _RGBCW):  # the colours are one lamp, and the whites another
        dimmer = (f"Dimmer{place + 1}", f"Dimmer{place + 1}")
        kind = _RGB if place == 0 else _DIMMER if kind == _RGBW else _WHITES
    white = (_FEW_MIREDS if options.get("82") == 1 else _MIREDS) if kind in (_WHITES, _RGBCW) else None
    able: dict[Ability, bool] = {
        "brightness": kind in (_DIMMER, _WHITES, _RGB, _RGBW, _RGBCW),
        "color": kind in (_RGB, _RGBW, _RGBCW),
        "white": white is not None,
    }
    features = Features(
        power=number,
        dimmer=dimmer if able["brightness"] else None,
        white=white,
        color=able["color"],
        always_on=options.get("20") == 1,
    )
    limits: dict[str, Any] = {}
    if white is not None:
        limits = {"min_kelvin": round(1e6 / white[1]), "max_kelvin": round(1e6 / white[0])}
    can = tuple(ability for ability, has in able.items() if has)
    return _device(device, "light", number, Kind.LIGHT, features, can=can, **limits)


def _device(device: TasmotaDevice, what: str, number: int, kind: Kind, features: Features, **fields: Any) -> Device:
    return Device(f"{device.mac}_{what}{number}", device.name, kind, options=features, **fields)


def _called(parts: Sequence[tuple[int, Device]], names: Sequence[str | None], whole: str) -> Iterator[Part]:
    """What each part is called: what its owner called it, behind the name of the device; else by its number."""
    with_fan = any(device.options.fan for _, device in parts)
    for number, device in parts:
        is_relay = not device.options.fan and device.options.shutter is None
        own = names[number - 1] if is_relay and number <= len(names) else None
        if own is not None and _is_given(own) and fold(own) != fold(whole):
            says_all = set(fold(whole)) <= set(fold(own))
            yield Part(replace(device, name=own), "", f"{number}") if says_all else Part(device, own, f"{number}")
            continue
        usual = f"{number}" if not with_fan else "fan" if device.options.fan else "light"
        plain = len(parts) == 1 or (usual in fold(whole) if with_fan else number == 1 and names[:1] == [whole])
        yield Part(device, "" if plain else usual, f"{number}")


def _is_given(name: Any) -> bool:
    """Whether a name is one that somebody gave: each device begins as "Tasmota", its relays as "Tasmota2"."""
    if not isinstance(name, str) or not name.strip():
        return False
    rest = name.strip().removeprefix("Tasmota")
    return bool(rest) and not rest.isdigit()


def _topic(words: Mapping[str, str], mac: str, prefix: str, is_command: bool) -> str:
    """A topic's beginning; as in Tasmota commands never share their topics with what is told."""
    whole = words["ft"] if not is_command or "%prefix%" in words["ft"] else f"{words['ft']}/%prefix%"
    values = {"%hostname%": words["hn"], "%id%": mac[-6:], "%prefix%": prefix, "%topic%": words["t"]}
    for name, value in values.items():
        whole = whole.replace(name, value)
    while "//" in whole:
        whole = whole.replace("//", "/")
    return whole if whole.endswith("/") else f"{whole}/"


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f'JSON without "{key}"')
    return value


def _texts(data: Mapping[str, Any], key: str, count: int) -> list[str]:
    values = _list(data.get(key))
    if len(values) < count or not all(isinstance(value, str) and value for value in values[:count]):
        raise ValueError(f'"{key}" has not {count} words')
    return values[:count]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _segment(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
