"""Tasmota devices: found by what they announce, moved by commands on their own topics, heard there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tools.device import SENSORS, Change, Device, State
from tools.drivers import Report
from tools.drivers.bridge_driver import BridgeDriver
from tools.drivers.bridges import Part, merged
from tools.drivers.broker import MqttBroker, Read
from tools.drivers.confirm import Steps, confirmed
from tools.drivers.mqtt_payloads.wire import text_of
from tools.drivers.tasmota.discovery import TasmotaDevice, read_config, read_sensors, with_sensors
from tools.drivers.tasmota.payloads import FAN_SPEEDS, command, read, told_in

DISCOVERY = "tasmota/discovery"


@dataclass(frozen=True)
class TasmotaSettings(MqttBroker):
    """The table `[tools.tasmota]`, which may be empty; what it does not say of the broker is as in `[tools.mqtt]`."""


@dataclass(frozen=True)
class _Known:
    """A part of a device that is in the house."""

    device: Device
    whole: TasmotaDevice


class TasmotaDriver(BridgeDriver):
    """Moves what announces itself as Tasmota does."""

    table = "tasmota"
    maker = "Tasmota"

    def __init__(self, devices: Sequence[Device], settings: MqttBroker, report: Report) -> None:
        """As for `BridgeDriver`."""
        super().__init__(devices, settings, report)
        self._configs: dict[str, TasmotaDevice] = {}
        self._sensors: dict[str, dict[str, object]] = {}
        self._known: dict[str, _Known] = {}
        self._by_topic: dict[str, list[_Known]] = {}
        self._gone: set[str] = set()

    def topics(self) -> Collection[str]:
        """What is announced, and what each that did answers and tells."""
        of_devices = [
            f"{prefix}+" for whole in self._configs.values() for prefix in dict.fromkeys((whole.stat, whole.tele))
        ]
        return [f"{DISCOVERY}/+/config", f"{DISCOVERY}/+/sensors", *of_devices]

    def readers(self, topic: str) -> Iterator[Read]:
        """By the topics that are known from the announcements."""
        if topic.startswith(f"{DISCOVERY}/"):
            mac, _, what = topic.removeprefix(f"{DISCOVERY}/").partition("/")
            yield partial(self._hear_config if what == "config" else self._hear_sensors, mac)
            return
        begin, _, subtopic = topic.rpartition("/")
        for whole in self._configs.values():
            if f"{begin}/" == whole.tele and subtopic == "LWT":
                yield partial(self._hear_presence, whole)
            elif f"{begin}/" in (whole.stat, whole.tele):
                yield partial(self._hear_state, whole, subtopic)

    def absence(self, device_id: str) -> str | None:
        """That it said so, or was never announced; one that sleeps is away by design."""
        known = self._known.get(device_id)
        if known is None:
            return "is not available: no Tasmota device has announced it"
        return "is not available" if known.whole.mac in self._gone and not known.whole.sleeps else None

    def message(self, device: Device, change: Change) -> tuple[str, str] | None:
        """A command, or several that belong together."""
        known = self._known[device.id]
        made = command(known.device, change, self._states[device.id], known.whole.off_on)
        return None if made is None else (f"{known.whole.command}{made[0]}", made[1])

    def confirmed(self, device: Device, change: Change, before: State, state: State) -> State | None:
        """By what it answers."""
        known = self._known.get(device.id)
        fan = known is not None and known.device.options.fan
        return confirmed(device, change, before, state, Steps(speed=FAN_SPEEDS if fan else 100))

    def forget(self) -> None:
        """Who is there is told anew."""
        self._gone.clear()

    async def probe(self) -> list[str]:
        """Tries the connection, and asks every device how it is, which moves nothing."""
        from tools.drivers import mqtt_probe

        troubles = await self.no_connection()
        if troubles or self._publisher is None:
            return troubles
        troubles = [mqtt_probe.unreadable(topic) for topic in self._refused]
        if not self._configs:
            troubles.append(
                f"nothing was heard on {DISCOVERY}: switch on a Tasmota device, set SetOption19 0 there, or allow the "
                "topic in the broker's ACL"
            )
        there = [((whole.name, whole.mac), self._parts(whole)) for whole in self._configs.values()]
        troubles += [self._missing(device, there) for device in self._declared if device.id not in self._known]
        awake = [whole for whole in self._configs.values() if whole.mac not in self._gone]
        asked = {f"{whole.command}STATE": whole.name for whole in awake if not whole.sleeps}
        cure = "switch on the {}, or see its MQTT settings"
        troubles += await mqtt_probe.write_troubles(self._publisher, asked, "", cure)
        troubles += [mqtt_probe.silent(topic) for topic in await self.heard_all(lambda: self._silent(awake))]
        troubles += [mqtt_probe.garbled(topic, why) for topic, why in self._unread.items()]
        away = [whole for whole in self._configs.values() if whole.mac in self._gone and not whole.sleeps]
        return troubles + [mqtt_probe.gone(whole.name, f"{whole.tele}LWT") for whole in away]

    def _silent(self, among: Sequence[TasmotaDevice]) -> list[str]:
        """Where each device answers, of those that never did."""
        quiet = [whole for whole in among if not whole.sleeps]
        begun = {f"{topic.rpartition('/')[0]}/" for topic in self._told}
        return [f"{whole.stat}RESULT" for whole in quiet if whole.stat not in begun]

    def _parts(self, whole: TasmotaDevice) -> Sequence[Part]:
        return with_sensors(whole, self._sensors.get(whole.mac, {})).parts

    def _hear_config(self, mac: str, payload: bytes, retained: bool) -> None:
        if payload:
            self._configs[mac] = read_config(mac, payload)
        else:
            self._configs.pop(mac, None)
        self._settle_in()

    def _hear_sensors(self, mac: str, payload: bytes, retained: bool) -> None:
        self._sensors[mac] = read_sensors(payload) if payload else {}
        if mac in self._configs:
            self._settle_in()

    def _hear_presence(self, whole: TasmotaDevice, payload: bytes, retained: bool) -> None:
        word = text_of(payload)
        if not word:
            return  # the broker forgets what it kept
        if word not in (whole.online, whole.offline):
            raise ValueError(f"{word[:40]!r} is neither {whole.online!r} nor {whole.offline!r}")
        was_gone = whole.mac in self._gone
        (self._gone.discard if word == whole.online else self._gone.add)(whole.mac)
        mine = [known.device.id for known in self._known.values() if known.whole.mac == whole.mac]
        self._look_who_is_there(mine)
        if word == whole.online and was_gone:
            self._ask_for(whole)

    def _hear_state(self, whole: TasmotaDevice, subtopic: str, payload: bytes, retained: bool) -> None:
        data = told_in(subtopic, text_of(payload))
        unit = data.get("TempUnit")
        sensors = self._sensors.get(whole.mac)
        if unit is not None and sensors is not None and sensors.get("TempUnit") != unit:
            sensors["TempUnit"] = unit  # its owner chose another one meanwhile
            self._settle_in()
        for known in [known for known in self._known.values() if known.whole.mac == whole.mac]:
            state = read(known.device, data, self._states[known.device.id], whole.off_on)
            if state is not None:
                old = retained and f"{whole.tele}LWT" not in self._told
                self._tell(known.device.id, replace(state, old=old), retained)

    def _settle_in(self) -> None:
        """Takes in what there is now."""
        before, self._known = self._known, {}
        for whole in self._configs.values():
            all_of_it = with_sensors(whole, self._sensors.get(whole.mac, {}))
            for device in merged(all_of_it.parts, (whole.name, whole.mac), self._declared):
                self._known[device.id] = _Known(device, whole)
        for device_id in self._known:
            self._states.setdefault(device_id, State())
        self._found([known.device for known in self._known.values()], ())
        self._look_who_is_there([*self._known, *(device_id for device_id in before if device_id not in self._known)])
        for device_id, known in self._known.items():
            was = before.get(device_id)
            if was is None or was.whole.command != known.whole.command:
                self._ask_for(known.whole)

    def _ask_for(self, whole: TasmotaDevice) -> None:
        """Asks for its state, and for those of its sensors and shutters; an empty message asks."""
        mine = [known.device for known in self._known.values() if known.whole.mac == whole.mac]
        if any(device.kind not in SENSORS and device.options.shutter is None for device in mine):
            self.ask(f"{whole.command}STATE", "")
        if any(device.kind in SENSORS or device.options.shutter is not None for device in mine):
            self.ask(f"{whole.command}STATUS", "10")
