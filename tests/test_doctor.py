"""`hearth doctor`: each planted fault is one line with its cause and its cure."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from aiomqtt import Client, ProtocolVersion

from agent import doctor
from agent.channels import mqtt_loop_back
from agent.channels.local import LocalServer
from agent.channels.mqtt_messages import Topics
from agent.content import Content
from agent.doctor import Finding, Mark, diagnose
from agent.due.clocks import FIRST_YEAR, SystemClocks
from agent.model.generative import GenerativeModel, ModelConfig, load_model
from agent.model.tflite import FILES
from agent.mqtt import trouble as mqtt_trouble
from agent.mqtt.connection import Endpoint
from agent.service import open_service
from agent.store import SessionStore
from tests import brokers, disks
from tests.brokers import Mosquitto
from tests.disks import SmallDisk

mosquitto, guarded, disk = brokers.mosquitto, brokers.guarded, disks.disk  # fixtures

ROOT = Path(__file__).resolve().parent.parent
NODE = Topics("desk")


class Lent:
    """A model that is not closed by who uses it: reading its file takes a while."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def shipped() -> Iterator[GenerativeModel]:
    model = load_model(ModelConfig())
    yield Lent(model)
    asyncio.run(model.close())


@pytest.fixture(autouse=True)
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shipped: GenerativeModel) -> Path:
    """Directories of our own, a model that is read already, room enough, and a broker that answers at once."""
    for name in ("RUNTIME_DIRECTORY", "STATE_DIRECTORY"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(doctor, "load_model", lambda config: load_model(config) if config.path else shipped)
    monkeypatch.setattr(mqtt_loop_back, "BACK_WITHIN_S", 0.5)
    monkeypatch.setattr(mqtt_trouble, "LOOKED_WITHIN_S", 2.0)
    for name in ("temperature", "throttling", "unit"):  # how this machine feels: see test_board.py
        monkeypatch.setattr(doctor.machine, name, lambda: None)
    return tmp_path


@pytest.fixture
def write(board: Path) -> Callable[..., str]:
    """Writes settings; the path of the file."""

    def write(more: str = "") -> str:
        (board / "hearth.toml").write_text(f'[agent]\nname = "desk"\n{more}', encoding="utf-8")
        return str(board / "hearth.toml")

    return write


class Wall(SystemClocks):
    """A clock on the wall that stands still."""

    def __init__(self, year: int, right: bool) -> None:
        super().__init__()
        self._now, self._right = datetime(year, 3, 5, 14, 7).timestamp(), right

    def wall(self) -> float:
        return self._now

    def is_synchronized(self) -> bool:
        return self._right


async def found(settings: str, year: int = 2026) -> list[Finding]:
    return [finding async for finding in diagnose(settings, Wall(year, right=True))]


async def troubles(settings: str, year: int = 2026) -> list[str]:
    """The lines of trouble."""
    return [str(finding) for finding in await found(settings, year) if finding.mark is Mark.TROUBLE]


async def test_where_all_is_well_each_part_says_so(write: Callable[..., str], mosquitto: Mosquitto) -> None:
    """The notes are about the disk of the test and nothing else."""
    findings = await found(write(f'[mqtt]\nbroker = "127.0.0.1"\nport = {mosquitto.port}\n'))
    parts = [finding.part for finding in findings]

    assert parts == ["settings", "service", "model", "house", "store", "disk", "clock", "broker", "topics", "versions"]
    assert all(finding.mark is Mark.OK for finding in findings if finding.part != "disk")
    assert findings[5].mark is not Mark.TROUBLE


LAMP = '[[tools.device]]\nname = "lamp"\nkind = "light"\n'


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("[mqtt]\nbrokr = 'x'\n", 4, "[mqtt] has no key 'brokr'; allowed are broker, port"),
        ("[mqtt]\nport = 'x'\n", 4, "[mqtt]: port is 'x'; it must be a whole number"),
        (f"[[tools.room]]\nname = 'office'\n{LAMP}room = 'offce'\n", 8, "there is no room 'offce'; there are: office"),
        (f"{LAMP}id = 'a b'\n", 6, "id is 'a b'; allowed are 1 to 64 letters"),
        (f"{LAMP}{LAMP}", 7, '"lamp" has the name "lamp" already'),
        ("[tools\n", 3, "Expected ']'"),
        ("[mqtt]\nbroker = 'x'\npassword_file = 'none'\n", 5, "none cannot be read: No such file"),
        ("[mqtt]\nbroker = 'x'\npassword_file = 'open'\n", 5, "open may be read or changed by others: chmod 600"),
        ("[tools.mqtt]\npassword_file = 'open'\n", 4, "open may be read or changed by others: chmod 600"),
    ],
)
async def test_a_mistake_in_the_settings_is_one_line_with_file_and_line(
    write: Callable[..., str], board: Path, more: str, line: int, said: str
) -> None:
    (board / "open").write_text("secret")
    (board / "open").chmod(0o644)
    settings = write(more)

    (trouble,) = await troubles(settings)
    assert trouble.startswith(f"!!  settings: {settings}:{line}: ")
    assert said in trouble


async def test_a_mistake_in_one_part_does_not_hide_the_others(write: Callable[..., str], mosquitto: Mosquitto) -> None:
    """Of the house, of the password, of the broker."""
    mosquitto.stop()
    wrong = f"{at(mosquitto)}[tools.mqtt]\nport = 0\n"
    found = await troubles(write(wrong))

    assert [line[:14] for line in found] == ["!!  settings: ", "!!  broker: th"]


async def test_settings_that_are_not_there_are_said(board: Path) -> None:
    (trouble,) = await troubles(str(board / "none.toml"))

    assert trouble == f"!!  settings: {board}/none.toml: No such file or directory"


@pytest.mark.parametrize("broken", ["hearth.tflite", "tokenizer.model", "calibration.json"])
@pytest.mark.parametrize("how", ["is missing", "is cut off"])
async def test_a_broken_file_of_the_model_is_said(
    write: Callable[..., str], board: Path, broken: str, how: str
) -> None:
    for name in ("hearth.tflite", "tokenizer.model", "calibration.json"):
        (board / name).symlink_to(FILES / name)
    (board / broken).unlink()
    if how == "is cut off":
        (board / broken).write_bytes((FILES / broken).read_bytes()[:40])

    (trouble,) = await troubles(write('[model]\npath = "hearth.tflite"\n'))
    assert trouble.startswith("!!  model: ")
    assert trouble.endswith(": correct [model] path, or leave it out")


async def test_a_language_model_without_its_file_is_said(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "load_model", load_model)
    trouble, *_ = await troubles(write('[model]\npreference = "full"\npath = "absent.gguf"\n'))

    assert trouble.startswith("!!  model: ")
    assert "absent.gguf" in trouble
    assert trouble.endswith(': cure that, or say preference = "fast"')


async def test_a_model_that_does_not_understand_is_said(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file was changed in the middle, where no check of its form sees it."""
    monkeypatch.setattr(doctor, "SENTENCE", "what is the capital of France")

    (trouble,) = await troubles(write())
    assert trouble.startswith('!!  model: it does not understand "what is the capital of France": the file is damaged')


TOO_LARGE = '''
from typing import Literal

from agent.tool import tool

What = Literal[{members}]


@tool
def pick_one(what: What) -> dict:
    """Picks.

    Args:
        what: What.
    """
    return {{}}
'''


async def test_a_function_that_the_model_cannot_read_is_said_and_left_out(
    write: Callable[..., str], board: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It would make every command fail."""
    (board / "own").mkdir()
    members = ", ".join(f'"number {n}"' for n in range(60))
    (board / "own" / "picks.py").write_text(TOO_LARGE.format(members=members))
    settings = write('tools_folder = "own"\n')

    (trouble,) = await troubles(settings)
    assert "pick_one" in trouble
    assert "has 60 members; this model reads at most" in trouble
    assert trouble.endswith("the function pick_one is left out; shorten its declaration")
    async with open_service(doctor.read_settings(settings)) as service:
        assert trouble == f"!!  house: {(await service.probe())[0]}"
        assert "pick_one" not in [each["name"] for each in await service.tools(100)]
    assert [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]


async def test_tools_that_cannot_be_loaded_are_said(write: Callable[..., str], board: Path) -> None:
    (board / "own").mkdir()
    (board / "own" / "broken.py").write_text("def wrong(:\n")

    (trouble,) = await troubles(write('tools_folder = "own"\n'))
    assert trouble.startswith(f"!!  house: {board}/own/broken.py")


async def test_weather_that_cannot_be_read_is_said(write: Callable[..., str], board: Path) -> None:
    (trouble,) = await troubles(write('[tools.weather]\npath = "now.json"\n'))

    assert trouble == (
        f"!!  house: no weather data: {board}/now.json: No such file or directory: mend that file, or correct "
        "[tools.weather]"
    )


# The store and its disk


def store_at(folder: Path) -> Path:
    path = folder / "sessions.db"
    with closing(SessionStore(path)) as store:
        store.append("a", (Content.user("hello"), Content.model("hello")))
    return path


async def test_a_store_is_said_to_be_whole_and_nothing_in_it_changes(write: Callable[..., str], board: Path) -> None:
    path = store_at(board / "STATE_DIRECTORY")
    before = path.read_bytes()
    findings = {finding.part: finding for finding in await found(write())}

    assert findings["store"].mark is Mark.OK
    assert "with 1 conversations" in findings["store"].text
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["sessions.db"]


@pytest.mark.parametrize("how", ["garbage", "a flipped page"])
async def test_a_damaged_store_is_said_and_left_for_the_service(
    write: Callable[..., str], board: Path, how: str
) -> None:
    path = store_at(board / "STATE_DIRECTORY")
    damaged = b"garbage" * 1000 if how == "garbage" else path.read_bytes()[:4096] + b"\xff" * 4096 * 4
    path.write_bytes(damaged)

    (trouble,) = await troubles(write())
    assert trouble.startswith(f"!!  store: the session store {path} is damaged (")
    assert trouble.endswith(": the service sets it aside when it starts, and begins an empty one")
    assert path.read_bytes() == damaged


async def test_a_store_of_a_newer_hearth_is_said(write: Callable[..., str], board: Path) -> None:
    path = store_at(board / "STATE_DIRECTORY")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO migration VALUES (99, 'later', 0)")

    (trouble,) = await troubles(write())
    assert "was made by a newer Hearth: its schema is 99" in trouble
    assert trouble.endswith(": use that version, or move the file away")


async def test_a_damaged_store_that_was_set_aside_is_a_note(write: Callable[..., str], board: Path) -> None:
    for ending in ("", "-wal"):
        (board / "STATE_DIRECTORY" / f"sessions.db.damaged-20260305-140700{ending}").touch()

    notes = [str(each) for each in await found(write()) if each.mark is Mark.NOTE and each.part == "store"]
    assert notes == [
        f"--  store: {board}/STATE_DIRECTORY/sessions.db.damaged-20260305-140700 was damaged and set aside: "
        "look at it, or remove it"
    ]


async def test_a_folder_of_somebody_else_is_said(
    write: Callable[..., str], board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no systemd that makes one."""
    (board / "file").touch()
    monkeypatch.delenv("STATE_DIRECTORY")
    monkeypatch.setenv("XDG_STATE_HOME", str(board / "file"))

    (trouble,) = await troubles(write())
    assert trouble.startswith("!!  store: there is no folder for it (")
    assert trouble.endswith("): mend the rights of the one above")


@pytest.fixture
def state(disk: SmallDisk, monkeypatch: pytest.MonkeyPatch) -> SmallDisk:
    """A small disk with a store, which is large enough here."""
    monkeypatch.setenv("STATE_DIRECTORY", str(disk.folder))
    monkeypatch.setattr(doctor, "ENOUGH_SPACE", 1_000_000)
    store_at(disk.folder)
    return disk


async def test_f29_a_full_disk_is_said(write: Callable[..., str], state: SmallDisk) -> None:
    assert await troubles(write()) == []

    state.fill()
    (trouble,) = await troubles(write())
    assert trouble == f"!!  disk: 0.0 MB are free in {state.folder}: make room, 1.0 MB at least"


async def test_f30_a_read_only_disk_is_said(write: Callable[..., str], state: SmallDisk) -> None:
    state.fail()

    (trouble,) = await troubles(write())
    assert trouble == (
        f"!!  disk: {state.folder} cannot be written to (Read-only file system): mend the disk, its mount or its rights"
    )


async def test_f30_a_state_that_a_reboot_forgets_is_a_note(
    write: Callable[..., str], board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only root has /var in memory; a volatile store is to be there."""
    mounts = board / "mounts"
    folder = str(board / "STATE_DIRECTORY").replace(" ", r"\040")
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/mmcblk0p2 rw\n2 1 0:1 / {folder} rw,nosuid shared:1 - tmpfs tmpfs rw\n"
        f"3 1 0:2 / {folder}/below rw - ext4 /dev/sda1 rw\n"
    )
    monkeypatch.setattr("agent.disk.MOUNTS", mounts)

    (note,) = [str(each) for each in await found(write()) if each.part == "disk"]
    assert note == (
        f"--  disk: {board}/STATE_DIRECTORY lies on tmpfs: a reboot may forget it; give it a disk of its own"
    )
    (fine,) = [each for each in await found(write('[sessions]\nstore = "volatile"\n')) if each.part == "disk"]
    assert fine.mark is Mark.OK


# The clock


async def test_a_clock_that_was_never_set_is_said(write: Callable[..., str]) -> None:
    (trouble,) = await troubles(write(), year=1970)

    assert trouble == (
        "!!  clock: it shows 1970-03-05 14:07, so it was never set: connect the network, or timedatectl set-time"
    )


async def test_a_clock_that_nothing_keeps_right_is_a_note(write: Callable[..., str]) -> None:
    findings = [each async for each in diagnose(write(), Wall(FIRST_YEAR, right=False))]

    (clock,) = [each for each in findings if each.part == "clock"]
    assert clock.mark is Mark.NOTE
    assert clock.text.endswith("nothing keeps it right: timedatectl set-ntp true")


# The broker


def at(broker: Mosquitto, **keys: str) -> str:
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[mqtt]\nbroker = "{broker.host}"\nport = {broker.port}\n{more}'


async def test_a_broker_that_is_down_is_said(write: Callable[..., str], mosquitto: Mosquitto) -> None:
    mosquitto.stop()

    (trouble,) = await troubles(write(at(mosquitto)))
    assert trouble == (
        f"!!  broker: the broker of [mqtt] at 127.0.0.1:{mosquitto.port} is not there, nothing listens: start it, or "
        "correct broker and port"
    )


async def test_a_broker_whose_name_is_unknown_is_said(write: Callable[..., str]) -> None:
    (trouble,) = await troubles(write('[mqtt]\nbroker = "no-such-broker.invalid"\n'))

    assert "no-such-broker.invalid:1883 has an unknown name: correct broker, or the network's name service" in trouble


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (0, "says nothing: that may be its port for TLS, or no broker; correct broker, port and tls"),
        (3, "does not answer: look at the network and its firewall, or correct broker, port and tls"),
    ],
)
async def test_a_broker_that_does_not_answer_is_said(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch, waiting: int, said: str
) -> None:
    """Also one that nothing comes back from at all, as behind a firewall: so many wait that Linux says no word."""
    monkeypatch.setattr(mqtt_trouble, "LOOKED_WITHIN_S", 0.3)
    with ExitStack() as stack:
        deaf = stack.enter_context(socket.socket())
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0 if waiting else 5)
        for _ in range(waiting):
            other = stack.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(deaf.getsockname())
        (trouble,) = await troubles(write(f'[mqtt]\nbroker = "127.0.0.1"\nport = {deaf.getsockname()[1]}\n'))

    assert trouble.endswith(said)


@pytest.mark.parametrize("keys", [{}, {"username": '"hearth"', "password_file": '"password"'}])
async def test_a_wrong_password_is_said(
    write: Callable[..., str], board: Path, guarded: Callable[..., Mosquitto], keys: dict[str, str]
) -> None:
    """Also none at all."""
    broker = guarded(users={"hearth": "right"})
    (board / "password").touch(0o600)
    (board / "password").write_text("wrong\n")

    (trouble,) = await troubles(write(at(broker, **keys)))
    assert trouble.endswith("refuses our name or password: correct username and password_file")
    assert "wrong" not in trouble

    (board / "password").write_text("right\n")
    assert bool(await troubles(write(at(broker, **keys)))) is not bool(keys)


@pytest.mark.parametrize(
    ("ca_file", "said"),
    [
        ("", "is not reached with TLS ("),
        ("none.pem", "is not reached with TLS, as there is no file "),
        ("hearth.toml", "is not reached with TLS ("),
    ],
)
async def test_tls_that_cannot_be_is_said(
    write: Callable[..., str], mosquitto: Mosquitto, ca_file: str, said: str
) -> None:
    """At a port without it, and with a file that is not there or holds no certificate."""
    keys = {"tls": "true"} | ({"ca_file": f'"{ca_file}"'} if ca_file else {})
    (trouble,) = await troubles(write(at(mosquitto, **keys)))

    assert said in trouble
    assert trouble.endswith("correct ca_file" if ca_file == "none.pem" else "): correct tls and ca_file")


@pytest.mark.parametrize("denied", [NODE.command, NODE.confirm])
async def test_f7_a_topic_that_we_may_not_read_is_said(
    write: Callable[..., str], guarded: Callable[..., Mosquitto], denied: str
) -> None:
    """The subscription is granted all the same."""
    allowed = "\n".join(f"topic readwrite {topic}" for topic in everything() if topic != denied)
    broker = guarded(f"{allowed}\ntopic write {denied}")
    async with asyncio.timeout(10):
        (trouble,) = await troubles(write(at(broker)))

    assert trouble == (
        f"!!  topics: what is sent to {denied} does not reach us: add `topic read {denied}` to its access list"
    )


def everything() -> list[str]:
    """What we need of a broker."""
    return [
        NODE.command, NODE.confirm, NODE.reply, NODE.event, NODE.announcement, NODE.availability, NODE.light("+"),
    ]  # fmt: skip


@pytest.mark.parametrize("denied", [NODE.reply, NODE.event, NODE.announcement, NODE.light("+")])
async def test_f7_a_topic_that_we_may_not_write_is_said(
    write: Callable[..., str], guarded: Callable[..., Mosquitto], denied: str
) -> None:
    allowed = "\n".join(f"topic readwrite {topic}" for topic in everything() if topic != denied)
    broker = guarded(f"{allowed}\ntopic read {denied}")

    (trouble,) = await troubles(write(at(broker)))
    assert trouble == (
        f"!!  topics: the broker does not let us write to {denied}: add `topic write {denied}` to its access list"
    )


async def test_f7_with_mqtt_3_a_denial_is_said_though_the_broker_keeps_silent(
    write: Callable[..., str], guarded: Callable[..., Mosquitto], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def oldest(endpoint: Endpoint) -> ProtocolVersion:
        return ProtocolVersion.V311

    monkeypatch.setattr(Endpoint, "protocol", oldest)
    broker = guarded("\n".join(f"topic readwrite {topic}" for topic in everything() if topic != NODE.event))

    (trouble,) = await troubles(write(at(broker)))
    assert trouble == (
        f"!!  topics: what we write to {NODE.event} does not come back: add `topic readwrite {NODE.event}` to its "
        "access list"
    )


async def test_f7_where_our_own_user_may_not_command_it_cannot_be_tried(
    write: Callable[..., str], board: Path, guarded: Callable[..., Mosquitto]
) -> None:
    """A note, as nothing is wrong with it; the user is named in the cure of what is."""
    acl = f"user hearth\ntopic read {NODE.command}\ntopic readwrite {NODE.confirm}\ntopic write {NODE.reply}\n"
    acl += f"topic write {NODE.event}\ntopic write {NODE.light('+')}"
    broker = guarded(acl, users={"hearth": "right"})
    (board / "password").touch(0o600)
    (board / "password").write_text("right\n")
    findings = await found(write(at(broker, username='"hearth"', password_file='"password"')))

    assert [str(each) for each in findings if each.part == "topics"] == [
        f"!!  topics: the broker does not let us write to {NODE.announcement}: add `topic write {NODE.announcement}` "
        "to its access list under `user hearth`",
        f"--  topics: whether we hear {NODE.command} cannot be tried, as our own user may not write there",
    ]


DEVICE = """
[[tools.device]]
name = "lamp"
kind = "light"
mqtt = { state_topic = "lamp", command_topic = "lamp/set" }
"""


async def test_f7_a_device_that_we_may_not_command_is_said(
    write: Callable[..., str], guarded: Callable[..., Mosquitto]
) -> None:
    broker = guarded("topic readwrite #\ntopic deny lamp/set")
    async with Client(broker.host, broker.port) as lamp:
        await lamp.publish("lamp", '{"state": "ON"}', qos=1, retain=True)
    house = f'[tools.mqtt]\nhost = "{broker.host}"\nport = {broker.port}\n{DEVICE}'

    assert await troubles(write(house)) == [
        "!!  house: the broker does not let us write to lamp/set: allow it in its ACL"
    ]


async def test_the_broker_of_the_devices_is_told_apart(write: Callable[..., str], mosquitto: Mosquitto) -> None:
    mosquitto.stop()

    (trouble,) = await troubles(write(f"[tools.mqtt]\nport = {mosquitto.port}\n{DEVICE}"))
    assert trouble.startswith(f"!!  house: the broker of [tools.mqtt] at 127.0.0.1:{mosquitto.port} is not there")


@pytest.mark.parametrize(("installed", "mark"), [("mosquitto", Mark.OK), ("amqtt", Mark.NOTE), ("", Mark.TROUBLE)])
async def test_the_embedded_broker_is_looked_for(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch, installed: str, mark: Mark
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: name if name == installed else None)
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: name if name == installed else None)
    findings = await found(write("[mqtt]\n"))

    assert [each.mark for each in findings if each.part == "broker"] == [mark]


# Beside a running service


class Running:
    """A service, as far as the doctor asks it."""

    def __init__(self, settings: str, mqtt: str = "off") -> None:
        self.settings, self.mqtt = settings, mqtt
        self.troubles: list[str] = []

    async def status(self) -> dict[str, Any]:
        return {"node": "desk", "settings": self.settings, "broker": None, "mqtt": self.mqtt, "model": "ready"}

    async def probe(self) -> list[str]:
        return self.troubles


@asynccontextmanager
async def beside(service: Running, board: Path) -> AsyncIterator[None]:
    async with LocalServer(service, board / "RUNTIME_DIRECTORY" / "hearth.sock"):  # type: ignore[arg-type]
        yield


async def test_the_house_of_a_running_service_is_asked_and_not_opened_again(
    write: Callable[..., str], board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only one may have a serial port."""
    monkeypatch.setattr(doctor, "open_house", None)
    service = Running(write())
    async with beside(service, board):
        assert await troubles(service.settings) == []
        service.troubles = ["the lamp is offline: switch it on"]
        assert await troubles(service.settings) == ["!!  house: the lamp is offline: switch it on"]


async def test_without_a_name_the_settings_of_the_running_service_are_looked_at(
    write: Callable[..., str], board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEARTH_CONFIG", raising=False)
    async with beside(Running(write()), board):
        findings = [each async for each in diagnose(None)]

    assert str(findings[0]) == f"ok  settings: {board}/hearth.toml"


async def test_a_service_with_other_settings_is_a_note(write: Callable[..., str], board: Path) -> None:
    async with beside(Running("/etc/hearth/hearth.toml"), board):
        findings = await found(write())

    assert str(findings[1]) == "--  service: one runs with /etc/hearth/hearth.toml; all is tried without it"


async def test_a_service_that_is_not_connected_to_a_broker_that_takes_us_is_said(
    write: Callable[..., str], board: Path, mosquitto: Mosquitto
) -> None:
    service = Running(write(at(mosquitto)), "not connected to x: another client took our place")
    async with beside(service, board):
        (trouble,) = await troubles(service.settings)

    assert "the service is not connected to x: another client took our place" in trouble


async def test_a_service_whose_availability_cannot_be_seen_is_said(
    write: Callable[..., str], board: Path, mosquitto: Mosquitto
) -> None:
    service = Running(write(at(mosquitto)), "connected to x")
    async with beside(service, board):
        (trouble,) = await troubles(service.settings)

    assert trouble == (
        f"!!  topics: {NODE.availability} does not say that the service is online: "
        f"add `topic readwrite {NODE.availability}` to its access list"
    )


async def hearth(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "agent", *arguments, cwd=ROOT, stdout=pipe, stderr=pipe
    )


async def test_a_real_service_is_not_disturbed_and_hears_no_command(
    write: Callable[..., str], mosquitto: Mosquitto
) -> None:
    """It stays online, answers nothing, and logs nothing."""
    settings = write(at(mosquitto, client_id='"hearth"'))
    async with Client(mosquitto.host, mosquitto.port) as peer:
        await peer.subscribe("hearth/desk/#", qos=1)
        running = await hearth("run", "--config", settings)
        async with asyncio.timeout(60):
            async for message in peer.messages:
                if message.payload == b"online":
                    break
        looking = await hearth("doctor")
        out, err = await looking.communicate()
        await peer.publish("hearth/desk/last", "x", qos=1)
        heard = []
        async for message in peer.messages:
            if str(message.topic) == "hearth/desk/last":
                break
            heard.append(bytes(message.payload))
        running.terminate()
        _, log = await running.communicate()

    lines = out.decode().splitlines()
    assert "ok  service: desk runs" in lines
    assert "ok  topics: all of hearth/desk/ work" in lines
    assert not [line for line in lines if line.startswith("!!")]
    assert (looking.returncode, err) == (0, b"")
    assert heard
    assert all(payload.startswith(b'{"probe"') for payload in heard)
    assert b"ERROR" not in log
    assert b"WARNING agent.channels" not in log


async def test_trouble_ends_with_status_1(write: Callable[..., str]) -> None:
    """And its line is on standard output, as all are."""
    looking = await hearth("doctor", "--config", write("[mqtt]\nbrokr = 'x'\n"))
    out, err = await looking.communicate()

    assert (looking.returncode, err) == (1, b"")
    assert out.startswith(b"!!  settings: ")
    assert [line[:4] for line in out.splitlines()[1:2]] == [b"ok  "]
