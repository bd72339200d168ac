"""The settings of bridges, and what a bridge has as devices of the house."""

from __future__ import annotations

from typing import Any

import pytest

from agent.config.tables import Table
from agent.errors import SettingsError
from tools.device import Device, Kind
from tools.drivers.bridges import BridgedOptions, Part, cover_kind, merged, relay_kind, unit_spoken
from tools.house import check_settings


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ({"zigbee2mqtt": {"base_topics": ["a/#"]}}, "base_topics has 'a/#'"),
        ({"zigbee2mqtt": {"base_topics": ["a/"]}}, 'a "/" at an end'),
        ({"zigbee2mqtt": {"base_topics": ["hearth/z"]}}, "below hearth/ are our own topics"),
        ({"zigbee2mqtt": {"base_topics": []}}, "base_topics is empty"),
        ({"zigbee2mqtt": {"base_topic": "z"}}, "has no key 'base_topic'.*did you mean base_topics?"),
        ({"tasmota": {"prefix": "x"}}, "has no key 'prefix'"),
        ({"tasmota": {"port": 0}}, "allowed is 1 to 65535"),
        ({"device": [{"name": "tv", "kind": "television", "tasmota": {"device": "x"}}]}, "a bridge has no television"),
        ({"device": [{"name": "lamp", "kind": "light", "zigbee2mqtt": {}}]}, "needs the key 'device'"),
        ({"device": [
            {"name": "lamp", "kind": "light", "zigbee2mqtt": {"device": "0x1"}},
            {"name": "door", "kind": "lock", "zigbee2mqtt": {"device": "0x1"}},
        ]}, '"lamp" is told what to do on'),
    ],
)  # fmt: skip
def test_a_wrong_table_of_a_bridge_is_one_sentence(tables: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        check_settings(Table(tables, ("tools",)))


def test_what_a_bridge_leaves_out_of_its_broker_is_as_for_the_other_devices(tmp_path: Any) -> None:
    """Also what is wrong with it."""
    secret = tmp_path / "password"
    secret.touch(0o644)
    secret.write_text("x")
    for name in ("zigbee2mqtt", "tasmota"):
        with pytest.raises(SettingsError, match="may be read or changed by others"):
            check_settings(Table({"mqtt": {"password_file": str(secret)}, name: {}}, ("tools",), tmp_path))
    check_settings(Table({"zigbee2mqtt": {}, "tasmota": {"host": "other"}}, ("tools",)))


SWITCH = [
    Part(Device("1_left", "box", Kind.SWITCH), "left", "left"),
    Part(Device("1_right", "box", Kind.SWITCH), "right", "right"),
    Part(Device("1_power", "box", Kind.SENSOR, measures="power", unit="watts"), "power"),
]


def declared(name: str, kind: Kind, device: str = "0x1", part: str | None = None, **fields: Any) -> Device:
    return Device(name, name, kind, options=BridgedOptions(device, part), **fields)


def test_without_a_table_each_part_has_the_name_of_the_whole_and_its_own_behind_it() -> None:
    assert [device.name for device in merged(SWITCH, ("box", "0x1"), [])] == ["box left", "box right", "box power"]


@pytest.mark.parametrize("device", ["box", "0x1"])
def test_a_table_takes_the_part_of_its_kind_by_name_or_by_address(device: str) -> None:
    lamp = declared("lamp", Kind.LIGHT, device, "right", room="hall")
    power = declared("meter", Kind.SENSOR, device, measures="power")
    found = {each.id: (each.name, each.kind, each.room) for each in merged(SWITCH, ("box", "0x1"), [lamp, power])}

    assert found == {
        "1_left": ("box left", Kind.SWITCH, "hall"),
        "lamp": ("lamp", Kind.LIGHT, "hall"),
        "meter": ("meter", Kind.SENSOR, None),
    }


def test_a_table_for_the_whole_names_the_rest_too() -> None:
    parts = [Part(Device("1", "box", Kind.PLUG)), SWITCH[2]]
    found = merged(parts, ("box",), [declared("heater", Kind.PLUG, "box", room="hall")])

    assert [(device.name, device.room) for device in found] == [("heater", "hall"), ("heater power", "hall")]


def test_what_the_bridge_says_that_it_can_goes_before_what_the_table_says() -> None:
    part = Part(Device("1", "box", Kind.LIGHT, can=("brightness", "white"), min_kelvin=2700, max_kelvin=5000))
    lamp = declared("lamp", Kind.LIGHT, "box", can=("color",), aliases=("spot",))
    [found] = merged([part], ("box",), [lamp])
    [plug] = merged([part], ("box",), [declared("plug", Kind.PLUG, "box")])

    assert (found.can, found.min_kelvin, found.max_kelvin) == (("brightness", "white"), 2700, 5000)
    assert found.aliases == ("spot",)
    assert plug.can == ()


def test_a_table_of_another_kind_takes_nothing() -> None:
    found = merged(SWITCH, ("box",), [declared("blind", Kind.BLIND, "box"), declared("far", Kind.LIGHT, "other")])

    assert [device.id for device in found] == ["1_left", "1_right", "1_power"]


@pytest.mark.parametrize(
    ("name", "description", "kind"),
    [
        ("garage", "Cover controller", Kind.GARAGE_DOOR),
        ("garage roller", "", Kind.GARAGE_DOOR),
        ("driveway gate", "", Kind.GARAGE_DOOR),
        ("garage blind", "", Kind.BLIND),
        ("office", "Roller shutter module", Kind.SHUTTER),
        ("office curtain", "Roller shutter module", Kind.CURTAIN),
        ("office", "Motor", Kind.AWNING),
    ],
)
def test_what_a_motor_moves_is_told_by_its_name_and_a_gate_is_never_a_blind(
    name: str, description: str, kind: Kind
) -> None:
    assert cover_kind(name, description, Kind.AWNING) is kind


def test_a_plug_is_one_by_its_name_or_by_its_maker() -> None:
    assert relay_kind("heater", "Smart plug") is Kind.PLUG
    assert relay_kind("heater socket") is Kind.PLUG
    assert relay_kind("heater", "Wall switch") is Kind.SWITCH


def test_units_are_spoken_and_none_is_made_up() -> None:
    assert [unit_spoken(unit) for unit in ("°C", "F", "%", "furlongs", "", None, 3)] == [
        "celsius", "fahrenheit", "percent", "furlongs", None, None, None]  # fmt: skip
