"""What real models of devices are in the house, by what zigbee-herdsman-converters says that they can do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.zigbee2mqtt import MODELS, to_xy
from tools.device import Change, Device, Kind, State
from tools.drivers.zigbee2mqtt.bridge import read_devices, read_groups, read_online, read_output
from tools.drivers.zigbee2mqtt.exposes import parts_of
from tools.drivers.zigbee2mqtt.payloads import command, read

FOUND = [
    ("LED1545G12", "lamp", {"": (Kind.LIGHT, ("brightness", "white"))}),
    ("9290012573A", "lamp", {"": (Kind.LIGHT, ("brightness", "color", "white"))}),
    ("TS0012", "switch", {"left": (Kind.SWITCH, ()), "right": (Kind.SWITCH, ())}),
    ("TS011F_plug_1", "heater", {"": (Kind.PLUG, ()), "power": "power", "energy": "energy"}),
    ("WSDCGQ11LM", "climate", {"": "temperature", "humidity": "humidity", "pressure": "pressure"}),
    ("MCCGQ11LM", "hall door", {"": (Kind.DOOR, ())}),
    ("MCCGQ11LM", "kitchen window", {"": (Kind.WINDOW, ())}),
    ("RTCGQ11LM", "hall", {"": "motion", "illuminance": "illuminance"}),
    ("SJCGQ11LM", "sink", {"": "water leak"}),
    ("E1757", "office", {"": (Kind.BLIND, ("position",))}),
    ("E1757", "garage gate", {"": (Kind.GARAGE_DOOR, ("position",))}),
    ("ZNCLDJ11LM", "office", {"": (Kind.CURTAIN, ("position",))}),
    ("TS130F", "office", {"": (Kind.CURTAIN, ("position",))}),
    ("TS130F", "office shutter", {"": (Kind.SHUTTER, ("position",))}),
    ("YRD426NRSC", "front door", {"": (Kind.LOCK, ())}),
    ("SPZB0001", "heating", {"": (Kind.THERMOSTAT, ())}),
    ("TS0601_thermostat", "heating", {"": (Kind.THERMOSTAT, ())}),
    ("AC201", "living room", {"": (Kind.AIR_CONDITIONER, ()), "fan": (Kind.FAN, ("speed",))}),
    ("99432", "bedroom fan", {"": (Kind.FAN, ("speed",)), "light": (Kind.LIGHT, ("brightness",))}),
    ("E1524/E1810", "remote", {}),
]
"""A model, what its owner called it, and what is in the house: what is called how, and can do or measures what."""


@pytest.mark.parametrize(("model", "name", "expected"), FOUND, ids=[f"{row[0]} {row[1]}" for row in FOUND])
def test_a_model_is_what_people_would_call_it(model: str, name: str, expected: dict[str, Any]) -> None:
    """What is a setting of the device itself, such as a child lock, is nothing in the house."""
    parts = parts_of("0x01", name, MODELS[model])

    assert {part.called: part.device.measures or (part.device.kind, part.device.can) for part in parts} == expected
    assert len({part.device.id for part in parts}) == len(parts)


@pytest.mark.parametrize(
    ("model", "limits"), [("LED1545G12", (2203, 4000)), ("9290012573A", (2000, 6536)), ("ZNLDP12LM", (2703, 6536))]
)
def test_the_limits_of_whites_are_those_of_each_lamp(model: str, limits: tuple[int, int]) -> None:
    [lamp] = [part.device for part in parts_of("0x01", "lamp", MODELS[model])]

    assert (lamp.min_kelvin, lamp.max_kelvin) == limits


def test_the_modes_of_a_thermostat_are_ours_in_its_order_and_its_targets_its_own() -> None:
    heating = parts_of("0x01", "heating", MODELS["SPZB0001"])[0].device
    cooling = parts_of("0x01", "cooling", MODELS["AC201"])[0].device

    assert (heating.modes, heating.min_temperature, heating.max_temperature) == (("off", "auto", "heat"), 5, 30)
    assert cooling.modes == ("off", "heat", "cool", "auto", "dry", "fan")


def device_of(model: str) -> Device:
    return parts_of("0x01", "thing", MODELS[model])[0].device


@given(st.tuples(st.integers(0, 255), st.integers(0, 255)).flatmap(lambda two: st.permutations([255, *two])))
def test_a_colour_that_is_told_as_x_and_y_is_the_same_colour(rgb: list[int]) -> None:
    """As far as sRGB and four places go."""
    x, y = to_xy(*rgb)
    payload = {"state": "ON", "color_mode": "xy", "color": {"x": x, "y": y}}
    state = read(device_of("9290012573A"), payload, State())

    assert state.rgb is not None
    assert max(abs(told - sent) for told, sent in zip(state.rgb, rgb, strict=True)) <= 3


def test_of_a_colour_and_a_white_the_one_is_read_that_is_shown() -> None:
    both = {"state": "ON", "color_temp": 370, "color": {"hue": 240, "saturation": 100}}
    lamp = device_of("9290012573A")

    assert read(lamp, {**both, "color_mode": "color_temp"}, State()).kelvin == 2703
    assert read(lamp, {**both, "color_mode": "hs"}, State(kelvin=2703)) == State(on=True, rgb=(0, 0, 255))
    assert read(device_of("LED1545G12"), {"state": "ON", "color_temp": 370}, State()).kelvin == 2703


def test_a_contact_that_is_closed_is_true() -> None:
    assert read(device_of("MCCGQ11LM"), {"contact": True}, State()).open is False
    assert read(device_of("MCCGQ11LM"), {"contact": False}, State()).open is True


def test_a_lamp_that_is_off_keeps_its_brightness() -> None:
    assert read(device_of("LED1545G12"), {"state": "OFF", "brightness": 0}, State(brightness=40)).brightness == 40


def test_a_cover_tells_that_it_moves() -> None:
    curtain, switch = device_of("ZNCLDJ11LM"), device_of("TS130F")

    assert read(curtain, {"position": 40, "motor_state": "closing"}, State()).word == "closing"
    assert read(switch, {"position": 40, "moving": "UP"}, State()).word == "opening"
    assert read(curtain, {"position": 40, "motor_state": "stopped"}, State()).word == "open"


def test_a_bolt_that_stands_half_way_is_neither_locked_nor_unlocked() -> None:
    assert read(device_of("YRD426NRSC"), {"state": "LOCK", "lock_state": "not_fully_locked"}, State()).locked is None


@pytest.mark.parametrize(("percent", "word"), [(1, "low"), (33, "low"), (50, "medium"), (67, "medium"), (100, "high")])
def test_a_fan_takes_the_nearest_of_its_speeds(percent: int, word: str) -> None:
    fan = next(part.device for part in parts_of("0x01", "ceiling fan", MODELS["99432"]) if part.device.kind is Kind.FAN)

    assert command(fan, Change(on=True, speed=percent), State()) == {"fan_state": "ON", "fan_mode": word}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["type", "name", "property", "access", "features", "value_on", "value_off", "value_min", "value_max", "values",
     "endpoint", "unit", "category"]
)  # fmt: skip
EXPOSE = st.recursive(
    st.dictionaries(KEYS, JSON | st.sampled_from(["light", "climate", "fan", "state", "brightness", "temperature"])),
    lambda inner: st.builds(lambda a, b: {**a, "features": b}, inner, st.lists(inner, max_size=3)),
    max_leaves=4,
)


@given(st.lists(EXPOSE | JSON, max_size=4))
def test_no_exposes_are_more_than_left_out(exposes: list[Any]) -> None:
    for part in parts_of("0x01", "thing", {"exposes": exposes}):
        read(part.device, {"state": 1, "brightness": "x", "temperature": None}, State())


@given(JSON, st.sampled_from(sorted(MODELS)))
def test_no_payload_is_more_than_not_understood(value: Any, model: str) -> None:
    for part in parts_of("0x01", "thing", MODELS[model]):
        for key in ("state", "brightness", "color", "color_mode", "color_temp", "position", "fan_mode", "system_mode"):
            read(part.device, {key: value}, State())


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_what_a_bridge_tells_is_read_or_is_a_value_error(payload: bytes) -> None:
    for reader in (read_devices, read_groups, read_online, read_output):
        try:
            reader(payload)
        except ValueError:
            continue
