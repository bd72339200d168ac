"""What Zigbee2MQTT tells of itself, its devices and its groups on `bridge/...`. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.drivers.bridges import Part
from tools.drivers.mqtt_payloads.wire import text_of, word_of
from tools.drivers.zigbee2mqtt.exposes import parts_of

MAX_DEVICES = 16 * 1024 * 1024
"""A longer list of devices is not looked into, in bytes; one of a few hundred devices has some hundred thousand."""


@dataclass(frozen=True)
class ZigbeeDevice:
    """A device of `bridge/devices`.

    Attributes:
        ieee_address: Its address; it stays when it is renamed.
        name: Its friendly name, which may have "/" in it.
        parts: What it is in the house; nothing where it cannot be used.
        trouble: Why it cannot be used, following its name; "" where all is well.
        endpoints: The names of its endpoints by their numbers.
    """

    ieee_address: str
    name: str
    parts: tuple[Part, ...] = ()
    trouble: str = ""
    endpoints: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ZigbeeGroup:
    """A group of `bridge/groups`.

    Attributes:
        name: Its friendly name.
        members: The address and the number of the endpoint of each.
    """

    name: str
    members: tuple[tuple[str, int], ...]


def read_devices(payload: bytes) -> list[ZigbeeDevice]:
    """All devices but the coordinator and those that are disabled.

    Raises:
        ValueError: It is no list of devices.
    """
    return [device for each in _entries(payload) if (device := _device(each)) is not None]


def read_groups(payload: bytes) -> list[ZigbeeGroup]:
    """All groups but the one that Zigbee2MQTT keeps for itself.

    Raises:
        ValueError: It is no list of groups.
    """
    groups = []
    for each in _entries(payload):
        name, members = each.get("friendly_name"), each.get("members")
        if isinstance(name, str) and name != "default_bind_group" and isinstance(members, list):
            known = [member for member in members if isinstance(member, dict)]
            of = [(f"{member.get('ieee_address')}", _number(member.get("endpoint"))) for member in known]
            groups.append(ZigbeeGroup(name, tuple(of)))
    return groups


def read_online(payload: bytes) -> bool | None:
    """Whether it is there, said as a word or as `{"state": word}`; None where nothing is said any more.

    Raises:
        ValueError: It is neither "online" nor "offline".
    """
    text = text_of(payload)
    if not text:
        return None
    word = word_of(text).casefold()
    if word not in ("online", "offline"):
        raise ValueError(f"{word[:40]!r} is neither 'online' nor 'offline'")
    return word == "online"


def read_output(payload: bytes) -> str:
    """How states are told, from `bridge/info`: "json", "attribute" or "attribute_and_json".

    Raises:
        ValueError: It is no JSON.
    """
    info = _json(payload)
    config = info.get("config") if isinstance(info, dict) else None
    advanced = config.get("advanced") if isinstance(config, dict) else None
    return f"{advanced.get('output', 'json')}" if isinstance(advanced, dict) else "json"


def _entries(payload: bytes) -> list[dict[str, Any]]:
    entries = _json(payload)
    if not isinstance(entries, list):
        raise ValueError("JSON, but no list")
    return [entry for entry in entries if isinstance(entry, dict)]


def _json(payload: bytes) -> Any:
    if len(payload) > MAX_DEVICES:
        raise ValueError(f"longer than {MAX_DEVICES} bytes")
    try:
        return json.loads(payload)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _device(entry: Mapping[str, Any]) -> ZigbeeDevice | None:
    address, name = entry.get("ieee_address"), entry.get("friendly_name")
    if not isinstance(address, str) or not address.isalnum() or not isinstance(name, str):
        return None
    # Zigbee2MQTT has none with these either, and they would be no topic.
    if entry.get("type") == "Coordinator" or entry.get("disabled") or set(name) & set("+#\0") or not name:
        return None
    trouble = _trouble(entry)
    definition = entry.get("definition")
    if trouble or not isinstance(definition, dict):
        return ZigbeeDevice(address, name, trouble=trouble)
    endpoints = entry.get("endpoints")
    named = {
        _number(number): endpoint["name"]
        for number, endpoint in (endpoints.items() if isinstance(endpoints, dict) else ())
        if isinstance(endpoint, dict) and isinstance(endpoint.get("name"), str)
    }
    return ZigbeeDevice(address, name, tuple(parts_of(address, name, definition)), endpoints=named)


def _trouble(entry: Mapping[str, Any]) -> str:
    state = entry.get("interview_state")
    if state is None:  # before Zigbee2MQTT 2
        state = "SUCCESSFUL" if entry.get("interview_completed", True) else "PENDING"
        state = "IN_PROGRESS" if entry.get("interviewing") else state
    if state == "FAILED":
        return "could not be interviewed: pair it again, close to the coordinator, and wake it meanwhile"
    if state != "SUCCESSFUL":
        return "is not interviewed yet: wait, and wake it if it runs on a battery"
    if not entry.get("supported", True) or entry.get("definition") is None:
        return "is not supported by Zigbee2MQTT: update Zigbee2MQTT, or see its page on new devices"
    return ""


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return -1
