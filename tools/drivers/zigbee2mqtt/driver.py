"""Devices at Zigbee2MQTT: found by themselves, moved by their properties, heard on the topics of their names."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tools.device import Change, Device, State
from tools.drivers import FoundGroup, Report
from tools.drivers.bridge_driver import BridgeDriver
from tools.drivers.bridges import merged
from tools.drivers.broker import MqttBroker, Read
from tools.drivers.confirm import Steps, confirmed
from tools.drivers.mqtt_payloads.wire import object_of, text_of
from tools.drivers.zigbee2mqtt.bridge import (
    ZigbeeDevice,
    ZigbeeGroup,
    read_devices,
    read_groups,
    read_online,
    read_output,
)
from tools.drivers.zigbee2mqtt.exposes import Features
from tools.drivers.zigbee2mqtt.payloads import command, read


@dataclass(frozen=True)
class Zigbee2MqttSettings(MqttBroker):
    """The table `[tools.zigbee2mqtt]`; what it does not say of the broker is as in `[tools.mqtt]`."""

    base_topics: tuple[str, ...] = ("zigbee2mqtt",)
    """What the topics of each Zigbee2MQTT begin with: its own `mqtt: base_topic`."""


MOST_KEPT = 1_000
"""How many topics of devices that are not known yet are kept."""


class _Bridge:
    """One Zigbee2MQTT, as it tells of itself.

    Attributes:
        base: What its topics begin with.
        online: Whether it says so; None where it says nothing.
        devices: Its devices; None before it told of them.
        groups: Its groups.
        output: How it tells states.
    """

    def __init__(self, base: str) -> None:
        self.base = base
        self.online: bool | None = None
        self.devices: list[ZigbeeDevice] | None = None
        self.groups: list[ZigbeeGroup] = []
        self.output = "json"


@dataclass(frozen=True)
class _Known:
    """A part of a device that is in the house.

    Attributes:
        device: As the house has it; its options are its `Features`.
        bridge: Where it is.
        name: The friendly name of the whole.
    """

    device: Device
    bridge: _Bridge
    name: str

    @property
    def topic(self) -> str:
        """Where the whole tells how it is."""
        return f"{self.bridge.base}/{self.name}"


class Zigbee2MqttDriver(BridgeDriver):
    """Moves what Zigbee2MQTT has."""

    table = "zigbee2mqtt"
    maker = "Zigbee2MQTT"

    def __init__(self, devices: Sequence[Device], settings: Zigbee2MqttSettings, report: Report) -> None:
        """As for `BridgeDriver`."""
        super().__init__(devices, settings, report)
        self._bridges = [_Bridge(base) for base in settings.base_topics]
        self._known: dict[str, _Known] = {}
        self._by_topic: dict[str, list[_Known]] = {}
        self._gone: set[str] = set()
        self._kept: dict[str, tuple[bytes, bool]] = {}

    def topics(self) -> Collection[str]:
        """All of each Zigbee2MQTT: a new device tells at once, and names may have any "/"."""
        return [f"{bridge.base}/#" for bridge in self._bridges]

    def readers(self, topic: str) -> Iterator[Read]:
        """What is known by its whole topic, as a name may look like two."""
        for bridge in self._bridges:
            said = {
                f"{bridge.base}/bridge/state": self._hear_bridge,
                f"{bridge.base}/bridge/info": self._hear_info,
                f"{bridge.base}/bridge/devices": self._hear_devices,
                f"{bridge.base}/bridge/groups": self._hear_groups,
            }.get(topic)
            if said is not None:
                yield partial(said, bridge)
                return
        whole = topic.removesuffix("/availability")
        if topic in self._by_topic:
            yield partial(self._hear_state, topic)
        elif whole != topic and whole in self._by_topic:
            yield partial(self._hear_availability, whole)
        elif not topic.endswith(("/set", "/get")) and "/bridge/" not in topic:
            yield partial(self._keep, topic)

    def absence(self, device_id: str) -> str | None:
        """That its Zigbee2MQTT is, or does not know it, or says that it is."""
        known = self._known.get(device_id)
        if known is None:
            return f"is not available: {self._nowhere()}"
        if known.bridge.online is False:
            return "is not available: Zigbee2MQTT is offline"
        return "is not available" if known.topic in self._gone else None

    def message(self, device: Device, change: Change) -> tuple[str, str] | None:
        """JSON for its `set`."""
        known = self._known[device.id]
        data = command(known.device, change, self._states[device.id])
        return None if data is None else (f"{known.topic}/set", json.dumps(data))

    def confirmed(self, device: Device, change: Change, before: State, state: State) -> State | None:
        """By the state that Zigbee2MQTT publishes of it."""
        known = self._known.get(device.id)  # it may have left meanwhile
        features: Features = known.device.options if known is not None else Features()
        return confirmed(
            device, change, before, state, Steps(speed=len(features.speeds[1]) if features.speeds else 100)
        )

    def forget(self) -> None:
        """Who is there is told anew; what there is stays until something else is told."""
        self._gone.clear()
        for bridge in self._bridges:
            bridge.online = None

    def health(self) -> str:
        """As for every broker; then that a Zigbee2MQTT is away."""
        line = super().health()
        away = [bridge.base for bridge in self._bridges if bridge.online is False]
        unheard = [bridge.base for bridge in self._bridges if bridge.devices is None]
        if line != "ok" or not (away or unheard):
            return line
        return f"Zigbee2MQTT at {away[0]} is offline" if away else f"nothing was heard of Zigbee2MQTT at {unheard[0]}"

    async def probe(self) -> list[str]:
        """Tries the connection, and to write to every device.

        A device's `set` is sent `{}`, which Zigbee2MQTT takes for a change of nothing, so nothing moves, and each
        that has told nothing yet is asked how it is.
        """
        from tools.drivers import mqtt_probe

        troubles = await self.no_connection()
        if troubles or self._publisher is None:
            return troubles
        troubles = [mqtt_probe.unreadable(topic) for topic in self._refused]
        for bridge in self._bridges:
            troubles += self._troubles_of(bridge)
        there = [((each.name, each.ieee_address), each.parts) for each in self._all()]
        if all(bridge.devices is not None for bridge in self._bridges):
            troubles += [self._missing(device, there) for device in self._declared if device.id not in self._known]
        reached = [known for known in self._known.values() if self.absence(known.device.id) is None]
        movable = {f"{known.topic}/set": known.name for known in reached if known.device.moves}
        troubles += await mqtt_probe.write_troubles(self._publisher, movable, "{}", "start Zigbee2MQTT")
        for known in reached:
            if known.topic not in self._told:
                self._ask_for(known)
        troubles += [mqtt_probe.silent(topic) for topic in await self.heard_all(lambda: self._silent(reached))]
        troubles += [mqtt_probe.garbled(topic, why) for topic, why in self._unread.items()]
        away = {known.topic: known.name for known in self._known.values() if known.topic in self._gone}
        return troubles + [mqtt_probe.gone(name, f"{topic}/availability") for topic, name in away.items()]

    def _troubles_of(self, bridge: _Bridge) -> list[str]:
        if bridge.online is False:
            return [f"Zigbee2MQTT at {bridge.base} says that it is offline: start it, and see its log"]
        if bridge.devices is None:
            return [
                f"nothing was heard on {bridge.base}/bridge/devices: start Zigbee2MQTT, correct base_topics of "
                "[tools.zigbee2mqtt], or allow the topic in the broker's ACL"
            ]
        troubles = [f'"{device.name}" {device.trouble}' for device in bridge.devices if device.trouble]
        if bridge.output == "attribute":
            troubles.append(
                f'Zigbee2MQTT at {bridge.base} tells states by attribute: set advanced: output to "json" there'
            )
        return troubles

    def _nowhere(self) -> str:
        if any(bridge.online is False for bridge in self._bridges):
            return "Zigbee2MQTT is offline"
        if all(bridge.devices is None for bridge in self._bridges):
            return "nothing was heard of Zigbee2MQTT yet"
        return "Zigbee2MQTT does not have it"

    def _all(self) -> list[ZigbeeDevice]:
        return [device for bridge in self._bridges for device in bridge.devices or ()]

    def _silent(self, among: Sequence[_Known]) -> list[str]:
        """Topics of devices that were asked how they are, and told nothing."""
        askable = dict.fromkeys(known.topic for known in among if known.device.options.asked)
        return [topic for topic in askable if topic not in self._told]

    def _hear_bridge(self, bridge: _Bridge, payload: bytes, retained: bool) -> None:
        was, bridge.online = bridge.online, read_online(payload)
        mine = [known for known in self._known.values() if known.bridge is bridge]
        self._look_who_is_there([known.device.id for known in mine])
        if bridge.online and was is False:
            for known in mine:
                self._ask_for(known)

    def _hear_info(self, bridge: _Bridge, payload: bytes, retained: bool) -> None:
        bridge.output = read_output(payload)

    def _hear_devices(self, bridge: _Bridge, payload: bytes, retained: bool) -> None:
        bridge.devices = read_devices(payload)
        self._settle_in()

    def _hear_groups(self, bridge: _Bridge, payload: bytes, retained: bool) -> None:
        bridge.groups = read_groups(payload)
        self._settle_in()

    def _hear_state(self, topic: str, payload: bytes, retained: bool) -> None:
        if not payload:
            return  # the broker forgets what it kept of a device that was renamed
        data: Mapping[str, Any] = object_of(text_of(payload))
        for known in self._by_topic[topic]:
            before = self._states[known.device.id]
            state = read(known.device, data, before)
            old = retained and f"{topic}/availability" not in self._told
            self._tell(known.device.id, replace(state, old=old), retained)

    def _hear_availability(self, topic: str, payload: bytes, retained: bool) -> None:
        (self._gone.add if read_online(payload) is False else self._gone.discard)(topic)
        self._look_who_is_there([known.device.id for known in self._by_topic[topic]])

    def _keep(self, topic: str, payload: bytes, retained: bool) -> None:
        """Keeps what is told of a device that is not known yet: what a broker kept comes in any order."""
        self._kept.pop(topic, None)
        self._kept[topic] = (payload, retained)
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def _hear_kept(self) -> None:
        """Takes in what was kept of devices that are known by now."""
        for topic in [topic for topic in self._kept if topic.removesuffix("/availability") in self._by_topic]:
            payload, retained = self._kept.pop(topic)
            for reader in list(self.readers(topic)):
                self._read(reader, topic, payload, retained)

    def _settle_in(self) -> None:
        """Takes in what there is now: in the house, and on which topics."""
        before = self._known
        self._known, self._by_topic = {}, {}
        for bridge in self._bridges:
            for each in bridge.devices or ():
                for device in merged(each.parts, (each.name, each.ieee_address), self._declared):
                    known = _Known(device, bridge, each.name)
                    self._known.setdefault(device.id, known)
                    self._by_topic.setdefault(known.topic, []).append(known)
        for device_id in self._known:
            self._states.setdefault(device_id, State())
        self._found([known.device for known in self._known.values()], self._groups())
        self._look_who_is_there([*self._known, *(device_id for device_id in before if device_id not in self._known)])
        self._hear_kept()
        for device_id, known in self._known.items():
            was = before.get(device_id)
            if was is None or was.topic != known.topic:
                self._ask_for(known)

    def _groups(self) -> list[FoundGroup]:
        groups = []
        for bridge in self._bridges:
            ids = {
                (each.ieee_address, number): self._ids(bridge, each, number)
                for each in bridge.devices or ()
                for number in (*each.endpoints, -1)
            }
            for group in bridge.groups:
                members = [
                    device_id
                    for address, number in group.members
                    for device_id in ids.get((address, number), ids.get((address, -1), ()))
                ]
                groups.append(FoundGroup(group.name, tuple(dict.fromkeys(members))))
        return groups

    def _ids(self, bridge: _Bridge, whole: ZigbeeDevice, endpoint: int) -> list[str]:
        """The parts of a device that a group means: those of the endpoint where it has a name, else all that move."""
        name = whole.endpoints.get(endpoint)
        topic = f"{bridge.base}/{whole.name}"
        mine = [known.device for known in self._by_topic.get(topic, ()) if known.device.moves]
        of_endpoint = [device.id for device in mine if name and device.options.suffix == f"_{name}"]
        return of_endpoint or [device.id for device in mine]

    def _ask_for(self, known: _Known) -> None:
        """Asks a device for what can be asked for; one that sleeps cannot be."""
        if known.device.options.asked:
            self.ask(f"{known.topic}/get", json.dumps(dict.fromkeys(known.device.options.asked, "")))
