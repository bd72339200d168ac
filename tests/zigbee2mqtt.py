"""A Zigbee2MQTT at a real broker, with devices that it only thinks of.

Topics and payloads are those of Zigbee2MQTT 2.14: what it keeps at the broker, how it takes topics apart, that it tells
a whole state after a `set`, and that it tells nothing of one that it could not do. What its devices can do, their
`exposes`, is what zigbee-herdsman-converters 26.112.0 (MIT) says of real models, without labels and descriptions.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiomqtt

from tests.brokers import Mosquitto
from tools.drivers import beside

MODELS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "zigbee2mqtt.json").read_text(encoding="utf-8")
)
"""The `definition` of a device by its model."""

COORDINATOR = {"ieee_address": "0x00124b0000000000", "type": "Coordinator", "friendly_name": "Coordinator"}


@dataclass
class Zigbee:
    """A device, and how it is.

    Attributes:
        silent: It is told, and Zigbee2MQTT tells nothing: it could not reach it.
        interview: Its `interview_state`.
        endpoints: The names of its endpoints by their numbers.
    """

    ieee_address: str
    friendly_name: str
    model: str
    state: dict[str, Any] = field(default_factory=dict)
    silent: bool = False
    interview: str = "SUCCESSFUL"
    endpoints: dict[int, str] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """It in `bridge/devices`."""
        known = self.interview == "SUCCESSFUL" and self.model in MODELS
        endpoints = {str(number): {"name": name} for number, name in (self.endpoints or {1: None}).items()}
        entry = {
            "ieee_address": self.ieee_address, "type": "Router", "network_address": 1, "supported": known,
            "friendly_name": self.friendly_name, "disabled": False, "endpoints": endpoints,
            "interviewing": self.interview == "IN_PROGRESS", "interview_completed": self.interview == "SUCCESSFUL",
            "interview_state": self.interview,
        }  # fmt: skip
        return entry | ({"definition": MODELS[self.model]} if known else {})

    def set(self, data: Mapping[str, Any]) -> None:
        """Does what is published to its `set`."""
        for key, value in data.items():
            self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        name = key.split("_", maxsplit=1)[0]
        if name == "brightness":
            assert 0 <= value <= 254
            on = key.replace("brightness", "state")
            self.state |= {on: "ON", key: value} if value else {on: "OFF"}
        elif key == "color":
            x, y = to_xy(*(value[part] for part in "rgb"))
            self.state |= {"color_mode": "xy", "color": {"x": x, "y": y}}
        elif key == "color_temp":
            self.state |= {"color_mode": "color_temp", key: value}
        elif key == "position":
            self.state |= {key: value, "state": "OPEN" if value else "CLOSE"}
        elif key == "state" and value in ("OPEN", "CLOSE") and "position" in self.state:
            self.state |= {key: value, "position": 100 if value == "OPEN" else 0}
        elif value != "STOP":
            self.state[key] = value


def to_xy(red: int, green: int, blue: int) -> tuple[float, float]:
    """A colour of sRGB in CIE 1931, with four places as Zigbee2MQTT tells it."""
    parts = (red / 255, green / 255, blue / 255)
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    x = 0.4124 * r + 0.3576 * g + 0.1805 * b
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = 0.0193 * r + 0.1192 * g + 0.9505 * b
    return round(x / (x + y + z), 4), round(y / (x + y + z), 4)


class Zigbee2Mqtt:
    """The bridge, while it runs.

    Attributes:
        devices: What it has; after a change `publish_devices` tells it.
        groups: Name and members (address and endpoint) of each group.
        sent: The topics and payloads of every `set` and `get` that it was sent, in order.
    """

    def __init__(self, client: aiomqtt.Client, base: str, devices: list[Zigbee], words: bool, retain: bool) -> None:
        self.client = client
        self.base = base
        self.devices = devices
        self.groups: dict[str, list[tuple[str, int]]] = {}
        self.sent: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._words = words
        self._retain = retain

    def named(self, name: str) -> Zigbee:
        """The device of that friendly name."""
        return next(device for device in self.devices if device.friendly_name == name)

    async def publish(self, topic: str, payload: Any, retain: bool = False) -> None:
        """Tells something below the base topic."""
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)
        await self.client.publish(f"{self.base}/{topic}", text, qos=1, retain=retain)

    async def say_online(self, online: bool, name: str = "") -> None:
        """Tells that it, or one of its devices, is there; as 1.x did where that is wanted."""
        word = "online" if online else "offline"
        topic = f"{name}/availability" if name else "bridge/state"
        await self.publish(topic, word if self._words else {"state": word}, retain=True)

    async def publish_devices(self) -> None:
        """Tells of all devices and groups, as it does after each change."""
        await self.publish("bridge/devices", [COORDINATOR, *(device.entry() for device in self.devices)], retain=True)
        groups = [{"id": 901, "friendly_name": "default_bind_group", "scenes": [], "members": []}] + [
            {"id": number, "friendly_name": name, "scenes": [], "members": [
                {"ieee_address": address, "endpoint": endpoint} for address, endpoint in members]}
            for number, (name, members) in enumerate(self.groups.items(), 1)
        ]  # fmt: skip
        await self.publish("bridge/groups", groups, retain=True)

    async def publish_state(self, device: Zigbee) -> None:
        """Tells how a device is."""
        await self.publish(device.friendly_name, device.state, retain=self._retain)

    async def rename(self, old: str, new: str) -> None:
        """Renames a device as a person does in the frontend."""
        device = self.named(old)
        device.friendly_name = new
        await self.publish(old, "", retain=True)
        await self.publish(f"{old}/availability", "", retain=True)
        await self.publish_devices()
        await self.publish_state(device)

    async def run(self) -> None:
        """Does what it is told, until cancelled."""
        pattern = re.compile(f"^{re.escape(self.base)}/(?!bridge)(.+?)/(get|set)(?:/(.+))?$")
        async for message in self.client.messages:
            match = pattern.match(str(message.topic))
            if match is None:
                continue
            assert not message.retain, "a command was retained"
            data = json.loads(bytes(message.payload))  # type: ignore[arg-type]
            self.sent.put_nowait((str(message.topic), data))
            device = next((each for each in self.devices if each.friendly_name == match[1]), None)
            if device is None or device.silent or not data:
                continue
            if match[2] == "set":
                device.set(data)
            await self.publish_state(device)


@asynccontextmanager
async def zigbee2mqtt(
    broker: Mosquitto,
    *devices: Zigbee,
    base: str = "zigbee2mqtt",
    groups: dict[str, list[tuple[str, int]]] | None = None,
    words: bool = False,
    retain: bool = False,
    availability: Mapping[str, bool] | None = None,
) -> AsyncIterator[Zigbee2Mqtt]:
    """A Zigbee2MQTT that has told what there is.

    Args:
        broker: Where it is.
        devices: What it has.
        base: What its topics begin with.
        groups: Its groups.
        words: It tells who is there in words, as Zigbee2MQTT 1 did.
        retain: The broker keeps the states of its devices.
        availability: Which device it says is there or not, by name.
    """
    at_once = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    async with aiomqtt.Client(broker.host, broker.port, socket_options=at_once) as client:
        made = Zigbee2Mqtt(client, base, list(devices), words, retain)
        made.groups = groups or {}
        await client.subscribe(f"{base}/#", qos=1)
        await made.say_online(True)
        await made.publish(
            "bridge/info", {"version": "2.14.1", "config": {"advanced": {"output": "json"}}}, retain=True
        )
        for name, there in (availability or {}).items():
            await made.say_online(there, name)
        if retain:
            for device in made.devices:
                await made.publish_state(device)
        await made.publish_devices()
        async with beside(made.run(), "simulated"):
            yield made
