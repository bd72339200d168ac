"""The service: its parts put together, started, reached and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
import pytest

from agent import service
from agent.channels.local import LocalClient
from agent.channels.mqtt import publish
from agent.command import MAX_COMMAND_LENGTH, Command
from agent.config import read_settings
from agent.content import Content, FunctionCallPart, Role
from agent.due import DueItems
from agent.errors import AgentError, ErrorCode
from agent.events import ConfirmationRequest, FunctionResponse, TextMessage
from agent.house import HouseEvent
from agent.model.generative import Candidate, GenerateContentResponse, Outcome
from agent.service import open_service
from agent.store import SessionStore
from agent.tool import AccessLevel
from tests import disks

disk = disks.disk  # a fixture

ROOT = Path(__file__).resolve().parent.parent

HOUSE = '''
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from agent.house import HouseEvent
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, tool


class House:
    def __init__(self, settings):
        self.settings = settings
        self.closed = False
        self.changes = asyncio.Queue()
        self.tools = (AgentTool(self.ring_bell), ConfirmationTool(AgentTool(self.open_gate)))

    @tool(say="The bell rang {times} times.")
    def ring_bell(self, times: int) -> dict:
        """Ring the bell.

        Args:
            times: How often.
        """
        self.changes.put_nowait(HouseEvent("bell", {"name": "Bell", "state": "on"}))
        return {"times": times}

    @tool(access=AccessLevel.SELF, say="The gate is open.")
    def open_gate(self) -> dict:
        """Open the gate."""
        return {"open": True}

    async def events(self):
        yield HouseEvent("bell", {"name": "Bell", "state": "off"})
        while True:
            yield await self.changes.get()

    async def show(self, status):
        pass

    def targets(self, name, arguments):
        return frozenset()

    def health(self):
        return {"bell": "ok"}


@asynccontextmanager
async def open_house(settings, store):
    house = House(settings)
    try:
        yield house
    finally:
        house.closed = True
        print("the house is closed", flush=True)
'''


class Scripted:
    """Makes the call that the text names, then answers."""

    unavailable = None

    async def generate_content(self, request):
        last = request.contents[-1]
        if last.responses:
            return _response(Content.model(""), Outcome.ANSWER)
        name, _, times = last.text.partition(" ")
        call = FunctionCallPart("1", name, {"times": int(times)} if times else {})
        return _response(Content(Role.MODEL, (call,)), Outcome.ACT)

    async def generate_content_stream(self, request):
        yield await self.generate_content(request)

    async def close(self):
        pass


def _response(content, outcome):
    return GenerateContentResponse((Candidate(content, outcome, 1.0),))


@pytest.fixture
def directories(tmp_path, monkeypatch):
    """Directories of our own for all that a service writes, and a house package beside them."""
    for name in ("RUNTIME_DIRECTORY", "STATE_DIRECTORY"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "bell_house.py").write_text(HOUSE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    return tmp_path


@pytest.fixture
def write(directories):
    def write(more: str = "") -> Path:
        path = directories / "hearth.toml"
        path.write_text(
            f'[agent]\nname = "node"\nhouse = "bell_house"\n[model]\npath = "no-such.tflite"\n'
            f"[bell_house]\nloud = true\n{more}"
        )
        return path

    return write


@pytest.fixture
async def scripted(write, monkeypatch):
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    async with open_service(read_settings(write())) as opened:
        yield opened


async def events_of(opened, text, **fields):
    return [event async for event in opened.handle(Command(text, "test", **fields))]


async def test_a_command_runs_on_the_house_that_the_settings_name(scripted):
    """Which gets its own table, whole."""
    events = await events_of(scripted, "ring_bell 3")

    assert events[-1] == TextMessage("The bell rang 3 times.")
    assert scripted.house.settings == {"loud": True}


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_COMMAND_LENGTH + 1), "\ud800"])
async def test_a_text_that_is_no_command_is_refused(scripted, text):
    """Whatever channel it comes by."""
    with pytest.raises(AgentError) as caught:
        await events_of(scripted, text)

    assert caught.value.code is ErrorCode.INVALID_REQUEST


async def test_a_single_turn_leaves_nothing_and_a_session_is_kept(scripted):
    """In the store."""
    await events_of(scripted, "ring_bell 1")
    assert await scripted.sessions() == []

    await events_of(scripted, "ring_bell 2", session="s")
    (kept,) = await scripted.sessions()
    assert kept["id"] == "s"
    assert (await scripted.export("s"))["id"] == "s"
    assert await scripted.export("t") is None
    assert await scripted.delete("s")
    assert not await scripted.delete("s")
    assert await scripted.sessions() == []


async def test_a_session_goes_on_after_a_restart(write, monkeypatch):
    """What was said before is in its history."""
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    settings = read_settings(write())
    async with open_service(settings) as opened:
        await events_of(opened, "ring_bell 2", session="s")
    async with open_service(settings) as opened:
        history = opened.runner.get_or_create_session("s").history

    assert history[0] == Content.user("ring_bell 2")


@pytest.mark.parametrize("broken", ["garbage", "a file for a folder"])
async def test_a_store_that_cannot_be_opened_takes_no_lamp_away(write, directories, monkeypatch, caplog, broken):
    """A card that is full, broken or read-only: commands are carried out, and the log says what is not kept."""
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    if broken == "garbage":
        (directories / "STATE_DIRECTORY" / "sessions.db").write_bytes(b"no database" * 1000)
    else:
        (directories / "STATE_DIRECTORY").rmdir()
        (directories / "STATE_DIRECTORY").touch()
    async with open_service(read_settings(write())) as opened:
        events = await events_of(opened, "ring_bell 2", session="s")

    assert any(isinstance(event, FunctionResponse) for event in events)
    assert [record for record in caplog.records if "the session store" in record.message]


async def test_f29_a_full_disk_costs_one_line_and_sessions_are_kept_again_when_there_is_room(
    write, disk, monkeypatch, caplog
):
    """F29: nothing crashes, nothing old is lost, and nobody has to restart anything."""
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    monkeypatch.setenv("STATE_DIRECTORY", str(disk.folder))
    async with open_service(read_settings(write())) as opened:
        await events_of(opened, "ring_bell 2", session="before")
        disk.fill()
        for number in range(20):
            events = await events_of(opened, f"ring_bell {number % 5 + 1}", session="full" + "x" * 150)
            assert any(isinstance(event, FunctionResponse) for event in events)
        said = [record.message for record in caplog.records if "kept in memory only" in record.message]
        disk.free()
        await events_of(opened, "ring_bell 2", session="after")
        kept = {each["id"] for each in await opened.sessions()}

    assert len([record for record in caplog.records if record.levelname == "WARNING"]) <= 2  # full, and kept again
    assert len(said) <= 20
    assert {"before", "after"} <= kept


async def test_volatile_sessions_are_kept_beside_the_socket(write, directories, monkeypatch):
    """Where a restart leaves them and a reboot does not."""
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    async with open_service(read_settings(write('[sessions]\nstore = "volatile"\n'))) as opened:
        await events_of(opened, "ring_bell 2", session="s")

    assert (directories / "RUNTIME_DIRECTORY" / "sessions.db").exists()
    assert not list((directories / "STATE_DIRECTORY").iterdir())


async def test_a_question_is_answered_through_the_service(scripted):
    """And only under its own id."""
    events = []
    async for event in scripted.handle(Command("open_gate", "test")):
        events.append(event)
        if isinstance(event, ConfirmationRequest):
            assert not await scripted.confirm("another", True)
            assert await scripted.confirm(event.id, True)

    assert [each.response for each in events if isinstance(each, FunctionResponse)] == [{"open": True}]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ring_bell 3", "As you asked 0 seconds ago: the bell rang 3 times."),
        (
            "open_gate",
            'As you asked 0 seconds ago I tried "open_gate", but: it needs a yes, and nobody could be asked "Really'
            ' open gate?", so that was not done.',
        ),
    ],
)
async def test_a_command_that_is_due_runs_and_a_question_of_it_is_a_no(scripted, words, sentence):
    """At once: there is nobody who could be asked."""
    told = scripted.announcements()
    running = asyncio.create_task(scripted.kept.due.run(scripted.carry_out))
    await scripted.kept.due.add("command", words, seconds=0)
    async with asyncio.timeout(20):
        announcement = await anext(told)
    running.cancel()

    assert announcement.text == sentence
    assert await scripted.sessions() == []


async def test_a_timer_that_was_up_while_nothing_ran_is_told_at_the_start(write, directories):
    """Once, to who listens soon after the start."""
    store = SessionStore(directories / "STATE_DIRECTORY" / "sessions.db")
    await DueItems(store).add("timer", "pizza", seconds=0)
    store.close()
    async with running(write(), directories):
        told = (await LocalClient.find()).announcements()
        assert (await anext(told)).text == "The pizza timer is up."
        await told.aclose()
    store = SessionStore(directories / "STATE_DIRECTORY" / "sessions.db")

    assert DueItems(store).items() == ()
    store.close()


async def test_tools_are_listed_by_access(scripted):
    """The gate is the loop's own."""
    names = {level: [each["name"] for each in await scripted.tools(level)] for level in AccessLevel}

    assert names == {
        AccessLevel.SELF: ["ring_bell", "open_gate"],
        AccessLevel.SYSTEM: ["ring_bell"],
        AccessLevel.TRUSTED: ["ring_bell"],
    }


async def test_a_users_own_tools_are_beside_those_of_the_house(write, directories, monkeypatch):
    """From the folder that the settings name."""
    monkeypatch.setattr(service, "load_model", lambda _: Scripted())
    (directories / "mine").mkdir()
    (directories / "mine" / "fish.py").write_text(
        "from agent.tool import tool\n\n@tool(say='The fish are fed.')\n"
        'def feed_fish() -> None:\n    """Feed the fish."""\n'
    )
    path = write()
    path.write_text(path.read_text().replace("[agent]\n", '[agent]\ntools_folder = "mine"\n'))
    async with open_service(read_settings(path)) as opened:
        events = await events_of(opened, "feed_fish")

    assert events[-1] == TextMessage("The fish are fed.")


async def test_without_a_model_the_service_stays_up_and_says_why(write):
    """Each command is NOT_AVAILABLE, and the status has the reason."""
    async with open_service(read_settings(write())) as opened:
        for _ in range(2):
            with pytest.raises(AgentError) as caught:
                await events_of(opened, "ring the bell")
            assert caught.value.code is ErrorCode.NOT_AVAILABLE
        status = await opened.status()

    assert "no-such.tflite" in status["model"]
    assert status["house"] == {"bell": "ok"}
    assert status["node"] == "node"


class Systemd:
    """The end of NOTIFY_SOCKET at which systemd listens."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)

    async def told(self) -> str:
        return (await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self._socket, 4096), 60)).decode()

    def close(self) -> None:
        self._socket.close()


@asynccontextmanager
async def running(path: Path, directories: Path, *arguments: str):
    """`hearth run` as a process of its own, once it has said READY; with it, systemd's end."""
    systemd = Systemd(directories / "notify")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agent",
        "run",
        "--config",
        str(path),
        *arguments,
        cwd=directories,
        env={**os.environ, "NOTIFY_SOCKET": str(directories / "notify")},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert (await systemd.told()).startswith("READY=1\n")
        yield process, systemd
    finally:
        if process.returncode is None:
            process.terminate()  # not kill: an embedded broker ends with it
            await process.communicate()
        systemd.close()
        (directories / "notify").unlink()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_stops_cleanly_when_it_is_told_to(write, directories, number):
    """The house is closed, the socket gone, the status 0."""
    async with running(write(), directories) as (process, systemd):
        assert await LocalClient.find()
        process.send_signal(number)
        assert await systemd.told() == "STOPPING=1"
        out, err = await process.communicate()

    assert process.returncode == 0
    assert b"the house is closed" in out
    assert b"Traceback" not in err
    assert await LocalClient.find() is None


async def test_it_is_ready_and_commands_work_while_the_broker_cannot_be_found(write, directories):
    """F8: booted without a network, the house is still ours, and the broker is waited for."""
    path = write('[mqtt]\nbroker = "no-such-broker.invalid"\n')
    async with running(path, directories) as (process, _):
        client = await LocalClient.find()
        with pytest.raises(AgentError) as caught:  # the model's absence is the model's; the command got there
            await events_of(client, "ring the bell")
        status = await client.status()

        assert caught.value.code is ErrorCode.NOT_AVAILABLE
        assert status["broker"] == {"host": "no-such-broker.invalid", "port": 1883}
        assert status["mqtt"].startswith("not connected to no-such-broker.invalid:1883")
        assert process.returncode is None


@pytest.mark.timeout(300)  # a machine so busy that it misses the first attempts waits a minute between the later ones
async def test_it_works_once_the_broker_is_there(write, directories):
    """F8: plugged in at last, without a restart."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with running(write(f'[mqtt]\nbroker = "127.0.0.1"\nport = {port}\n'), directories):
        client = await LocalClient.find()
        async with asyncio.timeout(60):
            while "refused" not in (await client.status())["mqtt"]:
                await asyncio.sleep(0.1)  # until it has tried in vain
        silent = asyncio.subprocess.DEVNULL
        broker = await asyncio.create_subprocess_exec(mosquitto(), "-p", str(port), stderr=silent)
        try:
            await online(port)
            reply = await publish("127.0.0.1", port, "node", "ring the bell", timeout_s=60)
        finally:
            broker.terminate()
            await broker.wait()

    assert reply["error"]["name"] == "NOT_AVAILABLE"


def mosquitto() -> str:
    return shutil.which("mosquitto") or "/usr/sbin/mosquitto"


async def online(port: int) -> None:
    """Waits until the broker is up and the node says that it is."""
    async with asyncio.timeout(150):
        while True:
            try:
                async with aiomqtt.Client("127.0.0.1", port) as client:
                    await client.subscribe("hearth/node/availability")
                    async for message in client.messages:
                        if message.payload == b"online":
                            return
            except aiomqtt.MqttError:
                await asyncio.sleep(0.05)  # it is only just starting


async def test_the_first_who_asks_starts_it_by_its_socket(write, directories):
    """systemd's own program holds the socket, and waits for a caller."""
    program = shutil.which("systemd-socket-activate")
    if program is None:
        (pytest.fail if "CI" in os.environ else pytest.skip)("systemd-socket-activate is not installed")
    path = directories / "RUNTIME_DIRECTORY" / "hearth.sock"
    command = [sys.executable, "-m", "agent", "run", "--config", str(write())]
    names = ("RUNTIME_DIRECTORY", "STATE_DIRECTORY", "PYTHONPATH")
    passed = [f"--listen={path}", "--fdname=local", *(f"--setenv={name}={os.environ[name]}" for name in names)]
    process = await asyncio.create_subprocess_exec(
        program, *passed, *command, cwd=directories, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(60):
            while not path.exists():
                await asyncio.sleep(0.02)  # there is no event for a socket that somebody else makes
            status = await LocalClient(path).status()
    finally:
        process.terminate()
        await process.communicate()

    assert status["node"] == "node"
    assert process.returncode == 0
    assert path.exists()


async def test_a_second_service_in_the_same_place_ends_with_one_sentence(write, directories):
    """And the first one goes on."""
    path = write()
    async with running(path, directories):
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "agent", "run", "--config", str(path), stderr=asyncio.subprocess.PIPE
        )
        _, err = await second.communicate()

        assert second.returncode == 1
        assert b"another service already listens" in err
        assert b"Traceback" not in err
        assert (await (await LocalClient.find()).status())["node"] == "node"


async def hearth(*arguments: str) -> tuple[int, str, str]:
    """Runs `hearth`; returns its status, output and errors."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agent",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_ask_without_a_running_service_opens_the_house_itself(write):
    """And closes it again; here the model is what is missing."""
    status, out, err = await hearth("ask", "ring the bell", "--config", str(write()))

    assert status == 1
    assert out == "the house is closed\n"
    assert "no service is running" in err
    assert err.splitlines()[-1].startswith("NOT_AVAILABLE: ")
    assert err.count("\n") == 2


async def test_tools_without_a_running_service_are_listed_at_any_level(write):
    """Whoever opens the house is not outside of it."""
    path = str(write())
    _, everything, _ = await hearth("tools", "--level", "100", "--config", path)
    _, declared, _ = await hearth("tools", "--json", "--config", path)

    assert everything.splitlines()[1:5] == [
        "ring_bell(times)  [300]",
        "    Ring the bell.",
        "open_gate()  [100]",
        "    Open the gate.",
    ]
    declared = json.loads(declared.removeprefix("the house is closed\n"))
    assert [each["name"] for each in declared] == ["ring_bell"]


async def test_the_house_is_watched_through_the_socket(write, directories):
    """First each device as it is."""
    async with running(write(), directories):
        events = (await LocalClient.find()).watch()
        assert await anext(events) == HouseEvent("bell", {"name": "Bell", "state": "off"})
        await events.aclose()


async def test_the_embedded_broker_is_told_and_reachable(write, directories):
    """By the status on the local socket, for `hearth publish` and everyone else."""
    async with running(write('[mqtt]\nbroker = "embedded"\n'), directories):
        broker = (await (await LocalClient.find()).status())["broker"]
        _, writer = await asyncio.open_connection(broker["host"], broker["port"])
        writer.close()
        status, out, err = await hearth("publish", "ring the bell")

    assert json.loads(out)["error"]["name"] == "NOT_AVAILABLE"
    assert json.loads(out)["id"]
    assert err.startswith("NOT_AVAILABLE: ")
    assert status == 1


async def test_the_prompt_without_a_terminal_outlives_its_input(write, directories):
    """`hearth run --prompt < /dev/null` is a service like any other."""
    async with running(write(), directories, "--prompt") as (process, systemd):
        assert (await (await LocalClient.find()).status())["node"] == "node"
        process.terminate()
        assert await systemd.told() == "STOPPING=1"
        out, _ = await process.communicate()

    assert process.returncode == 0
    assert b"  Bell: off\n" in out
