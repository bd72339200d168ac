"""Tasmota devices at a real broker, that only think of their relays and lamps.

Topics and payloads are those of Tasmota 14: what it announces (as HATasmota 0.9.2 checks it), how it answers, that a
lamp is turned on by a brightness, and that an empty message asks.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiomqtt

from tests.brokers import Mosquitto
from tools.drivers import beside

MAC = "DC4F22A1B2C3"


def config(mac: str = MAC, **changes: Any) -> dict[str, Any]:
    """What a device with one relay announces."""
    return {
        "ip": "192.168.1.9", "dn": "Tasmota", "fn": ["Tasmota", None, None, None, None, None, None, None],
        "hn": f"tasmota-{mac[-6:]}-1234", "mac": mac, "md": "Sonoff Basic", "ty": 0, "if": 0, "cam": 0,
        "ofln": "Offline", "onln": "Online", "state": ["OFF", "ON", "TOGGLE", "HOLD"], "sw": "14.2.0",
        "t": f"tasmota_{mac[-6:]}", "ft": "%prefix%/%topic%/", "tp": ["cmnd", "stat", "tele"],
        "rl": [1, 0, 0, 0, 0, 0, 0, 0], "swc": [-1] * 8, "swn": [None] * 8, "btn": [0] * 8,
        "so": {"4": 0, "11": 0, "13": 0, "17": 0, "20": 0, "30": 0, "68": 0, "73": 0, "82": 0, "114": 0, "117": 0},
        "lk": 1, "lt_st": 0, "bat": 0, "dslp": 0, "sho": [], "sht": [], "ver": 1,
        **changes,
    }  # fmt: skip


def options(**changes: int) -> dict[str, int]:
    """The `so` of a device, by the numbers of its SetOptions: `options(_30=1)`."""
    return {**config()["so"], **{name.removeprefix("_"): value for name, value in changes.items()}}


class Tasmota:
    """A device, while it runs.

    Attributes:
        config: What it announces.
        sent: The commands and arguments that it was sent, in order; the parts of a Backlog one by one.
        topics: Their topics.
        state: What it tells in its STATE.
        sensors: What it tells in its SENSOR.
        silent: It is told, and says nothing.
    """

    def __init__(self, client: aiomqtt.Client, config: dict[str, Any], sensors: dict[str, Any]) -> None:
        self.client = client
        self.config = config
        self.sensors = sensors
        self.silent = False
        self.sent: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.topics: list[str] = []
        relays = [number for number, what in enumerate(config["rl"], 1) if what]
        self._plain = len(relays) == 1  # its key is POWER, and not POWER1
        self.state: dict[str, Any] = {self._power(number): config["state"][0] for number in relays}
        if config["lt_st"]:
            self.state |= {"Dimmer": 60}
        if config["lt_st"] in (2, 5):
            self.state |= {"CT": 250}
        if config["lt_st"] >= 3:
            self.state |= {"HSBColor": "0,0,60", "White": 60 if config["lt_st"] > 3 else 0}
        if config["if"]:
            self.state |= {"FanSpeed": 0}

    def topic(self, prefix: int, subtopic: str) -> str:
        """A topic of it: 0 is for commands, 1 for answers, 2 for what it tells."""
        topic = self.config["ft"]
        for name, value in (
            ("%prefix%", self.config["tp"][prefix]),
            ("%topic%", self.config["t"]),
            ("%hostname%", self.config["hn"]),
            ("%id%", self.config["mac"][-6:]),
        ):
            topic = topic.replace(name, value)
        return f"{topic}{subtopic}"

    async def publish(self, topic: str, payload: Any, retain: bool = False) -> None:
        """Tells something."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        await self.client.publish(topic, text, qos=1, retain=retain)

    async def announce(self) -> None:
        """Tells what it is, as it does at its start."""
        place = f"tasmota/discovery/{self.config['mac']}"
        await self.publish(f"{place}/config", self.config, retain=True)
        await self.publish(f"{place}/sensors", {"sn": {"Time": "2026-01-01T00:00:00", **self.sensors}, "ver": 1}, True)

    async def say_online(self, online: bool) -> None:
        """Tells that it is there, or is gone, in its own words."""
        await self.publish(self.topic(2, "LWT"), self.config["onln" if online else "ofln"], retain=True)

    async def result(self, command: str, data: dict[str, Any]) -> None:
        """Answers."""
        await self.publish(self.topic(1, command if self.config["so"]["4"] else "RESULT"), data)

    async def run(self) -> None:
        """Does what it is told, until cancelled."""
        begin = self.topic(0, "")
        async for message in self.client.messages:
            assert not message.retain, "a command was retained"
            command, payload = str(message.topic).removeprefix(begin), bytes(message.payload).decode()  # type: ignore[arg-type]
            self.topics.append(str(message.topic))
            if command == "Backlog":
                commands = [part.partition(" ")[::2] for part in payload.split(";") if part != "NoDelay"]
            else:
                commands = [(command, payload)]
            for each in commands:
                self.sent.put_nowait(each)
                if not self.silent:
                    await self._do(*each)

    def _power(self, number: int) -> str:
        return "POWER" if self._plain else f"POWER{number}"

    async def _do(self, command: str, payload: str) -> None:
        name = command.rstrip("0123456789")
        number = int(command[len(name) :] or 1)
        off, on = self.config["state"][:2]
        if command == "STATE":
            await self.result("STATE", {"Time": "2026-01-01T00:00:00", "Uptime": "0T00:00:10", **self.state})
        elif command == "STATUS" and payload == "10":
            await self.publish(self.topic(1, "STATUS10"), {"StatusSNS": {"Time": "x", **self.sensors}})
        elif name == "Power":
            if payload:
                self.state[self._power(number)] = payload
            key = self._power(number)
            await self.result(key, {key: self.state[key]})
            await self.publish(self.topic(1, key), self.state[key])
        elif name == "FanSpeed":
            assert payload in ("0", "1", "2", "3")
            self.state["FanSpeed"] = int(payload)
            await self.result(name, {"FanSpeed": int(payload)})
        elif name.startswith("Shutter"):
            await self._move(name, number, payload)
        else:
            await self._light(name, number, payload, off, on)

    async def _light(self, name: str, number: int, payload: str, off: str, on: str) -> None:
        if name == "Dimmer":
            assert 0 <= int(payload) <= 100
            self.state["Dimmer"] = int(payload)
        elif name == "Channel":
            self.state[f"Channel{number}"] = int(payload)
        elif name == "CT":
            assert 153 <= int(payload) <= 500
            self.state |= {"CT": int(payload), "White": self.state["Dimmer"]}
        elif name == "HSBColor":
            parts = self.state["HSBColor"].split(",")
            parts[number - 1] = payload
            self.state |= {"HSBColor": ",".join(parts), "White": 0}
        light = self.config["rl"].index(2) + 1
        power = self._power(number if name == "Channel" else light)
        if not self.config["so"]["20"]:
            self.state[power] = on
        await self.result(name, {power: self.state[power], **{k: v for k, v in self.state.items() if "POWER" not in k}})

    async def _move(self, name: str, number: int, payload: str) -> None:
        own = self.sensors[f"Shutter{number}"]
        target = {"ShutterOpen": 100, "ShutterClose": 0}.get(name, int(payload or own["Position"]))
        direction = (target > own["Position"]) - (target < own["Position"])
        if name == "ShutterStop":
            direction = 0
        elif direction:
            await self.result(name, {f"Shutter{number}": {**own, "Direction": direction, "Target": target}})
        own |= {"Position": target, "Direction": 0, "Target": target}
        await self.result(name, {f"Shutter{number}": own})


@asynccontextmanager
async def tasmota(
    broker: Mosquitto,
    announced: dict[str, Any] | None = None,
    sensors: dict[str, Any] | None = None,
    online: bool = True,
) -> AsyncIterator[Tasmota]:
    """A device that has announced itself and is there, or gone."""
    at_once = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    async with aiomqtt.Client(broker.host, broker.port, socket_options=at_once) as client:
        made = Tasmota(client, announced or config(), sensors or {})
        await client.subscribe(made.topic(0, "+"), qos=1)
        await made.announce()
        await made.say_online(online)
        async with beside(made.run(), "simulated"):
            yield made
