"""`hearth doctor`: looks at every part, changes nothing, and says what is wrong and what to do about it.

It works beside a running service, and does not disturb it: the house, which only one may have open, is asked for
through the service; the broker is tried by connections with ids of their own.
"""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from aiomqtt import MqttError

from agent import machine
from agent.channels.cli import printable
from agent.channels.local import LocalClient
from agent.channels.mqtt_doctor import try_topics
from agent.config import MqttSettings, Settings, find_settings, in_file, read_settings
from agent.content import Content
from agent.disk import DiskError, check_writable, disk_of
from agent.due.clocks import FIRST_YEAR, Clocks, SystemClocks, local_time
from agent.errors import AgentError, DamagedStoreError, HearthError, NewerStoreError, SettingsError, StoreError
from agent.model.generative import GenerateContentRequest, GenerativeModel, ModelConfig, ModelPreference, load_model
from agent.mqtt.connection import Endpoint
from agent.mqtt.trouble import connection_trouble
from agent.runner import Agent
from agent.schema import FunctionDeclaration
from agent.service import check_house, open_house, readable, store_path
from agent.store import examine
from agent.tool import AgentTool, load_folder

ENOUGH_SPACE = 50_000_000
"""Free space on the disk of the state below which it is said, in bytes."""

ANSWER_S = 10.0
"""How long the service may take to answer: systemd lets who asks wait while it starts, and where it cannot for ever."""

SENTENCE = "turn on the kitchen light"
"""What the model has to understand, with the only function that there is."""

TURN_ON_LIGHT = FunctionDeclaration.from_json(
    {
        "name": "turn_on_light",
        "description": "Turns on the lights of a room.",
        "parameters": {
            "type": "object",
            "properties": {"room": {"type": "string", "description": "The room.", "format": "place"}},
            "required": ["room"],
        },
    }
)


class Mark(Enum):
    """How it is; what a line begins with."""

    OK = "ok"
    NOTE = "--"
    """Worth knowing, and no reason to fail."""
    TROUBLE = "!!"


@dataclass(frozen=True)
class Finding:
    """One line.

    Attributes:
        mark: How it is.
        part: What was looked at, in a word.
        text: What was found; of trouble its cause and its cure.
    """

    mark: Mark
    part: str
    text: str

    def __str__(self) -> str:
        return f"{self.mark.value}  {self.part}: {printable(' '.join(self.text.split()))}"


def _ok(part: str, text: str) -> Finding:
    return Finding(Mark.OK, part, text)


def _note(part: str, text: str) -> Finding:
    return Finding(Mark.NOTE, part, text)


def _trouble(part: str, text: str) -> Finding:
    return Finding(Mark.TROUBLE, part, text)


async def diagnose(given: str | None, clocks: Clocks | None = None) -> AsyncIterator[Finding]:
    """Looks at one part after the other.

    Args:
        given: The settings file that was asked for; without one that of the running service, or the usual one.
        clocks: Those of the board.
    """
    client, status, service = await _service(given)
    try:
        settings = read_settings(given or status.get("settings") or find_settings())
    except SettingsError as error:
        yield _trouble("settings", str(error))
        yield service
        yield _clock(clocks or SystemClocks())
        for finding in await asyncio.to_thread(_machine):
            yield finding
        return
    password, house = _wrong_password(settings), _wrong_house(settings)
    for each in filter(None, (password, house)):
        yield _trouble("settings", str(each))
    if not password and not house:
        yield _ok("settings", str(settings.path))
    if waiting := status.get("settings_waiting"):
        yield _note("settings", f"a restart is needed for {', '.join(waiting)}: systemctl restart hearth")
    yield service
    model = await asyncio.to_thread(load_model, settings.model)
    yield await _model(model, settings.model)
    if not house:
        for finding in await _house(settings, model, client, status.get("house", {})):
            yield finding
    await model.close()
    for finding in await asyncio.to_thread(_state, settings):
        yield finding
    yield _clock(clocks or SystemClocks())
    if not password:
        for finding in await _broker(settings, status):
            yield finding
    for finding in await asyncio.to_thread(_machine):
        yield finding


async def _service(given: str | None) -> tuple[LocalClient | None, dict[str, Any], Finding]:
    """The running service, if it has these settings, and its status."""
    try:
        client = await LocalClient.find()
    except (AgentError, SettingsError) as error:
        return None, {}, _trouble("service", f"{error}: run this as the user that it runs as, or as root")
    try:
        async with asyncio.timeout(ANSWER_S):
            status = await client.status() if client else {}
    except TimeoutError:
        return None, {}, _trouble("service", f"no answer in {ANSWER_S:g} s: systemctl status hearth tells more")
    except AgentError as error:
        return None, {}, _trouble("service", error.message)
    if client is None:
        return None, {}, _ok("service", "it does not run; all is tried without it")
    if given and Path(given).resolve() != Path(status["settings"]):
        return None, {}, _note("service", f"one runs with {status['settings']}; all is tried without it")
    return client, status, _ok("service", f"{status['node']} runs")


def _machine() -> list[Finding]:
    """The machine itself, as far as it tells of itself."""
    name = machine.model()
    found = [_ok("versions", f"{machine.versions()}{f', on a {name}' if name else ''}")]
    warmth = machine.temperature()
    if warmth is not None:
        found.append(_warmth(warmth))
    clauses = machine.throttling()
    if clauses is not None:
        found.append(_power(clauses))
    unit = machine.unit()
    if unit is not None:
        found.append(_unit(unit))
    return found


def _warmth(degrees: float) -> Finding:
    text = f"the processor has {degrees:.0f} degrees Celsius"
    if degrees >= machine.HOT_C:
        return _trouble("temperature", f"{text}, and slows down: give it a heat sink, or air")
    if degrees >= machine.WARM_C:
        return _note("temperature", f"{text}: it slows down from {machine.HOT_C:.0f} on")
    return _ok("temperature", text)


def _power(clauses: list[str]) -> Finding:
    if not clauses:
        return _ok("power", "the firmware has nothing to complain of since the start")
    text = "; ".join(clauses)
    cure = "take the board's own power supply and a short cable" if "voltage" in text else "give it air"
    return (_trouble if " now" in text else _note)("power", f"{text}: {cure}")


def _unit(unit: machine.Unit) -> Finding:
    starts = "starts with the board" if unit.enabled == "enabled" else "does not start with the board"
    again = f", started again {unit.restarts} times" if unit.restarts else ""
    text = f"{machine.UNIT} is {unit.active} and {starts}{again}"
    if unit.missing_groups:
        names = " and ".join(unit.missing_groups)
        return _trouble("unit", f"{text}; there is no group {names}, and it cannot start (216/GROUP): systemd-sysusers")
    if unit.active == "failed":
        return _trouble("unit", f"{text}; it ended with {unit.result}: journalctl -u hearth -n 50")
    if unit.restarts:
        return _note("unit", f"{text}; the last end was {unit.result}: hearth log --all")
    if unit.enabled != "enabled":
        return _note("unit", f"{text}: systemctl enable --now hearth")
    return _ok("unit", text)


def _wrong_password(settings: Settings) -> SettingsError | None:
    try:
        if settings.mqtt and settings.mqtt.broker != "embedded":
            settings.mqtt.password()
    except SettingsError as error:
        return in_file(settings.path, error) if settings.path else error
    return None


def _wrong_house(settings: Settings) -> SettingsError | None:
    try:
        check_house(settings)
    except SettingsError as error:
        return error
    return None


async def _model(model: GenerativeModel, config: ModelConfig) -> Finding:
    why: str | None = getattr(model, "unavailable", None)
    if why:
        return _trouble("model", f"{why}: {_cure(why, config)}")
    started = time.perf_counter()
    try:
        request = GenerateContentRequest((Content.user(SENTENCE),), (TURN_ON_LIGHT,))
        calls = (await model.generate_content(request)).candidates[0].function_calls
    except Exception as error:  # whatever a damaged file makes of itself
        return _trouble("model", f"it fails ({type(error).__name__}: {error}): install Hearth anew, or run make model")
    took = (time.perf_counter() - started) * 1e3
    if [(call.name, call.arguments) for call in calls] != [("turn_on_light", {"room": "kitchen"})]:
        if config.preference is ModelPreference.FULL:
            return _trouble("model", f'it does not understand "{SENTENCE}": take a larger one')
        return _trouble("model", f'it does not understand "{SENTENCE}": the file is damaged, install Hearth anew')
    return _ok("model", f"loads with its tokenizer, and decides a sentence in {took:.0f} ms")


def _cure(why: str, config: ModelConfig) -> str:
    if config.preference is ModelPreference.FULL:
        return 'cure that, or say preference = "fast"'
    if "No module named" in why:
        return "pip install ai-edge-litert"
    return "correct [model] path, or leave it out" if config.path else "install Hearth anew, or run make model"


async def _house(
    settings: Settings, model: GenerativeModel, client: LocalClient | None, health: Mapping[str, str]
) -> list[Finding]:
    """The house and its functions: through the service that has it open and told its health, or opened here."""
    if client:
        try:
            troubles = await client.probe()
        except AgentError as error:
            troubles = [f"the service does not answer ({error}): see its log"]
        found = [_trouble("house", each) for each in troubles] or [_ok("house", "the service has it open")]
        return found + _worth_knowing(health)
    async with AsyncExitStack() as stack:
        try:
            house = await stack.enter_async_context(open_house(settings, None))
            own = load_folder(settings.tools_folder) if settings.tools_folder else ()
            tools: tuple[AgentTool, ...] = (*house.tools, *own)
            Agent(settings.node, tools=tools)  # two of one name are refused
        except (HearthError, OSError) as error:
            return [_trouble("house", str(error))]
        _, troubles = readable(model, tools)
        troubles += await house.probe()
        found = [_trouble("house", each) for each in troubles]
        return (found or [_ok("house", f"opens, with {len(tools)} functions")]) + _worth_knowing(house.health())


def _worth_knowing(health: Mapping[str, str]) -> list[Finding]:
    """What parts of the house say beside that they are well."""
    return [_note("house", f"{part}: {line[4:]}") for part, line in health.items() if line.startswith("ok, ")]


def _state(settings: Settings) -> list[Finding]:
    """The store and the disk that it lies on."""
    try:
        path = store_path(settings)
    except (SettingsError, OSError) as error:
        return [_trouble("store", f"there is no folder for it ({error}): mend the rights of the one above")]
    kept = settings.sessions.store == "kept"
    return [_store(path), *_set_aside(path), _disk(path.parent, kept)]


def _store(path: Path) -> Finding:
    try:
        if not path.exists():
            return _ok("store", f"{path} is made with the first conversation")
        count = examine(path)
        return _ok("store", f"whole, {_size(path.stat().st_size)} with {count} conversations in {path}")
    except NewerStoreError as error:
        return _trouble("store", f"{error}: use that version, or move the file away")
    except DamagedStoreError as error:
        return _trouble("store", f"{error}: the service sets it aside when it starts, and begins an empty one")
    except (StoreError, OSError) as error:
        return _trouble("store", f"{error}: mend its rights, or its disk")


def _set_aside(path: Path) -> list[Finding]:
    found = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    return [
        _note("store", f"{each} was damaged and set aside: look at it, or remove it")
        for each in found
        if not each.name.endswith(("-wal", "-shm"))
    ]


def _disk(folder: Path, kept: bool) -> Finding:
    try:
        disk = disk_of(folder)
        free = f"{_size(disk.free)} are free in {folder}"
        if disk.free < ENOUGH_SPACE:
            return _trouble("disk", f"{free}: make room, {_size(ENOUGH_SPACE)} at least")
        check_writable(folder)
    except (DiskError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return _trouble("disk", f"{folder} cannot be written to ({why}): mend the disk, its mount or its rights")
    if kept and disk.forgets:
        return _note("disk", f"{folder} lies on {disk.kind}: a reboot may forget it; give it a disk of its own")
    return _ok("disk", free)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _clock(clocks: Clocks) -> Finding:
    now = local_time(clocks.wall())
    shown = f"{now:%Y-%m-%d %H:%M}"
    if now.year < FIRST_YEAR:
        return _trouble("clock", f"it shows {shown}, so it was never set: connect the network, or timedatectl set-time")
    if not clocks.is_synchronized():
        return _note("clock", f"it shows {shown}, and nothing keeps it right: timedatectl set-ntp true")
    return _ok("clock", shown)


async def _broker(settings: Settings, status: dict[str, Any]) -> list[Finding]:
    mqtt = settings.mqtt
    if mqtt is None:
        return [_ok("broker", "there is no [mqtt], so none is needed")]
    if mqtt.broker == "embedded":
        if not status.get("broker"):
            return [_embedded(bool(status))]
        mqtt = replace(mqtt, broker=status["broker"]["host"], port=status["broker"]["port"])
    return await _tried(mqtt, settings.node, str(status.get("mqtt", "")))


def _embedded(runs: bool) -> Finding:
    if runs:
        return _trouble("broker", "the embedded one did not start: see the log of the service")
    # Debian keeps it in /usr/sbin, which the PATH of a user does not name.
    if shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/local/sbin:/usr/sbin"):
        return _ok("broker", "the embedded one, a mosquitto, starts with the service")
    if importlib.util.find_spec("amqtt"):
        return _note("broker", "the embedded one is amqtt, with MQTT 3.1.1: apt install mosquitto, for MQTT 5")
    return _trouble("broker", "no program for the embedded one is installed: apt install mosquitto")


async def _tried(mqtt: MqttSettings, node: str, service: str) -> list[Finding]:
    """The broker and each of our topics; `service` is what the running service says of its connection."""
    # Without our id, which would throw out the service.
    endpoint = Endpoint.of(mqtt)
    name = f"the broker of [mqtt] at {endpoint.host}:{endpoint.port}"
    trouble = await connection_trouble(endpoint, name, "broker")
    if trouble:
        return [_trouble("broker", trouble)]
    if service.startswith("not connected"):
        return [_trouble("broker", f"it takes us, and yet the service is {service}: see its log")]
    online = service.startswith("connected")
    try:
        report = await try_topics(endpoint, node, online)
    except (MqttError, OSError) as error:
        return [_trouble("broker", f"{name} went away ({error}): see its log")]
    notes = [
        _note("topics", f"whether we hear {topic} cannot be tried, as our own user may not write there")
        for topic in report.unknown
    ]
    broker = _ok("broker", f"{endpoint.host}:{endpoint.port} takes us")
    troubles = [_trouble("topics", each) for each in report.troubles]
    return [broker, *(troubles or [_ok("topics", f"all of hearth/{node}/ work")]), *notes]
