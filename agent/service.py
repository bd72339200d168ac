"""The running appliance: reads nothing, decides nothing, only puts the parts together and waits."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from agent.activity import Activity
from agent.answer import LEFT_AS_IT_IS
from agent.channels.local import LocalServer, socket_path
from agent.command import Command, words_of
from agent.config import MqttSettings, Settings, in_file, runtime_directory, state_directory
from agent.disk import disk_of
from agent.due import Announcement, DueItem, DueItems, NobodyToAskError
from agent.errors import HearthError, SettingsError
from agent.events import AgentEvent, ConfirmationRequest, TextMessage
from agent.grounding import room_among
from agent.house import Controller, House, HouseEvent
from agent.house_store import HouseStore
from agent.model.generative import GenerativeModel, load_model, misfits
from agent.overheard import Overheard
from agent.runner import Agent, AgentRunner, Limits
from agent.store import SessionStore
from agent.tool import AccessLevel, AgentTool, load_folder, visible

log = logging.getLogger(__name__)


class StoredSessions:
    """The conversations in the store, for listing them and taking them out."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    async def sessions(self) -> list[dict[str, Any]]:
        """One `{"id", "created", "updated", "turns"}` each."""
        return [asdict(row) for row in await asyncio.to_thread(self._store.sessions)]

    async def export(self, session: str) -> dict[str, Any] | None:
        """All of one, or None when there is none of that id."""
        if not await self._has(session):
            return None
        return await asyncio.to_thread(self._store.export, session)

    async def delete(self, session: str) -> bool:
        """Erases one; False when there is none of that id."""
        found = await self._has(session)
        await asyncio.to_thread(self._store.delete, session)
        return found

    async def _has(self, session: str) -> bool:
        return any(row.id == session for row in await asyncio.to_thread(self._store.sessions))


class Service(StoredSessions):
    """What every channel talks to: the open house, the model and the runner over both.

    Attributes:
        runner: Runs the commands.
        house: What they move.
        activity: What the house shows of what we are doing.
        kept: What the house keeps, what becomes due among it.
        broker: Where MQTT is, as `{"host", "port"}`; None without it.
        mqtt: Says how the MQTT connection stands.
    """

    def __init__(
        self,
        settings: Settings,
        store: SessionStore,
        house: House,
        model: GenerativeModel,
        runner: AgentRunner,
        kept: HouseStore,
        left_out: Sequence[str] = (),
    ) -> None:
        super().__init__(store)
        self.settings = settings
        self.house = house
        self.runner = runner
        self.kept = kept
        self.activity = Activity(house.show)
        self.broker: dict[str, Any] | None = None
        self.mqtt: Callable[[], str] | None = None
        self._model = model
        self._left_out = tuple(left_out)
        self._overheard = Overheard(self._run)
        self._unknown_rooms: set[str] = set()

    async def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        """Runs one command that a person has said; what several rooms heard, once.

        Raises:
            AgentError: It ended without an answer; INVALID_REQUEST for a text that is empty, longer than
                `MAX_COMMAND_LENGTH` or none at all.
        """
        command = replace(command, text=words_of(command.text), room=self._room(command))
        async with aclosing(self._overheard.handle(command)) as events:
            async for event in events:
                yield event

    async def _run(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        if command.session is None:
            events = self.runner.run_single_turn(command.text, room=command.room)
        else:
            events = self.runner.get_or_create_session(command.session).run(command.text, room=command.room)
        async with aclosing(self.activity.follow(events)) as followed:
            async for event in followed:
                yield event

    def _room(self, command: Command) -> str | None:
        """Where it was said, if that is a room of the house. Another one is said once, and not heeded."""
        room = command.room
        if room is None or room_among(room, self.house.rooms()):
            return room
        if room not in self._unknown_rooms and len(self._unknown_rooms) < 100:  # it comes from outside
            self._unknown_rooms.add(room)
            log.warning("the house has no room %r: a command by %s is taken without it", room, command.channel)
        return None

    async def confirm(self, call_id: str, answer: bool) -> bool:
        """Answers a question; False when none is waiting under this id."""
        return self.runner.confirm(call_id, answer)

    async def tools(self, level: AccessLevel) -> list[dict[str, Any]]:
        """The declarations that a caller of this level sees."""
        seen = visible(self.runner.agent.all_tools, level)
        return [{**each.declaration.to_json(), "access": int(each.access)} for each in seen]

    async def names(self) -> tuple[str, ...]:
        """What the house and its parts are called."""
        return self.house.names()

    async def status(self) -> dict[str, Any]:
        """How the parts are."""
        unavailable = getattr(self._model, "unavailable", None)
        return {
            "node": self.settings.node,
            "settings": str(self.settings.path),
            "broker": self.broker,
            "mqtt": self.mqtt() if self.mqtt else "off",
            "model": unavailable or "ready",
            "house": self.house.health(),
        }

    async def probe(self) -> list[str]:
        """What is wrong with the house and its functions, a sentence for each trouble; nothing moves for it."""
        return [*self._left_out, *await self.house.probe()]

    async def watch(self) -> AsyncGenerator[HouseEvent, None]:
        """The house's events, as they happen."""
        async for event in self.house.events():
            yield event

    async def follow_buttons(self) -> None:
        """Shows that we listen while a button to talk is held, until cancelled."""
        async for event in self.house.events():
            press = event.state.get("state")
            if event.state.get("talk") and press in ("pressed", "released"):
                await self.activity.listen(event.device, press == "pressed")

    def announcements(self) -> AsyncIterator[Announcement]:
        """What is told when a timer is up, an alarm rings, a later command was carried out ..., from now on."""
        return self.kept.due.announcements()

    async def carry_out(self, item: DueItem) -> str:
        """Runs a command that is due, in a turn of its own, and returns the answer.

        Raises:
            AgentError: It ended without an answer.
            NobodyToAskError: It had a question; what was done all the same is told too.
        """
        answer, questions, nobody = "", [], "nobody"
        command = Command(item.text, "due", room=item.room)
        async with aclosing(self._run(replace(command, room=self._room(command)))) as events:
            async for event in events:
                if isinstance(event, ConfirmationRequest):
                    questions.append(event.question)
                    nobody = "it needs a yes, and nobody"
                    await self.confirm(event.id, False)
                elif isinstance(event, TextMessage) and not event.is_partial:
                    answer = event.text
        if answer.endswith("?"):  # "Which room?"
            questions.append(answer)
            answer = ""
        if questions:
            asked = " and ".join(f'"{question}"' for question in questions)
            done = answer.replace(LEFT_AS_IT_IS, "")
            raise NobodyToAskError(" ".join(f"{nobody} could be asked {asked}, so that was not done. {done}".split()))
        return answer

    async def delete(self, session: str) -> bool:
        """Erases one, also from a conversation that goes on; False when there is none of that id."""
        found = await self._has(session)
        await self.runner.delete_session(session)
        return found


def open_store(settings: Settings) -> SessionStore:
    """The session store, where the settings want it.

    Raises:
        StoreError: It was written by a newer Hearth.
    """
    return SessionStore(store_path(settings))


def store_path(settings: Settings) -> Path:
    """Where the settings want the session store."""
    kept = settings.sessions.store == "kept"
    return (state_directory() if kept else runtime_directory()) / "sessions.db"


@asynccontextmanager
async def open_service(settings: Settings, *, look: bool = False) -> AsyncIterator[Service]:
    """Store, house, model and runner, opened and closed in their order; no channel yet.

    Args:
        settings: Of all of them.
        look: The house is only looked at, so that nothing in it moves.

    Raises:
        HearthError: One of them cannot be opened. A missing model is no such case: it answers NOT_AVAILABLE.
    """
    async with AsyncExitStack() as stack:
        store = open_store(settings)
        stack.callback(store.close)
        kept = HouseStore(store, DueItems(store))
        house = await stack.enter_async_context(open_house(settings, None if look else kept))
        own = load_folder(settings.tools_folder) if settings.tools_folder else ()
        model = await asyncio.to_thread(load_model, settings.model)
        stack.push_async_callback(model.close)
        tools, left_out = readable(model, (*house.tools, *own))
        for trouble in left_out:
            log.error("%s", trouble)
        agent = Agent(settings.node, settings.instructions, tools=tools, max_turns=settings.max_turns)
        limits = Limits(
            **asdict(settings.limits),
            history_turns=settings.sessions.history_turns,
            idle_s=settings.sessions.idle_minutes * 60,
        )
        runner = await stack.enter_async_context(AgentRunner(agent, model, store=store, limits=limits))
        yield Service(settings, store, house, model, runner, kept, left_out)


def readable(model: GenerativeModel, tools: Sequence[AgentTool]) -> tuple[tuple[AgentTool, ...], list[str]]:
    """The functions that a model can read, and a sentence for each of the others: with it no command would work."""
    too_large = misfits(model, [each.declaration for each in tools])
    kept = tuple(each for each in tools if each.name not in too_large)
    troubles = [
        f"{why.rstrip('.')}: the function {name} is left out; shorten its declaration"
        for name, why in too_large.items()
    ]
    return kept, troubles


@asynccontextmanager
async def open_house(settings: Settings, kept: HouseStore | None) -> AsyncIterator[House]:
    """The house that the settings name; without a store it keeps nothing.

    Raises:
        SettingsError: There is no such package, or its own table is wrong; the text names the file.
    """
    async with AsyncExitStack() as stack:
        try:
            opening = _package(settings.house).open_house(settings.house_table, kept or HouseStore())
            house: House = await stack.enter_async_context(opening)
        except SettingsError as error:
            raise (in_file(settings.path, error) if settings.path else error) from error
        yield house


def check_house(settings: Settings) -> None:
    """Reads the house's own table and opens nothing, as far as its package can do that.

    Raises:
        SettingsError: As for `open_house`.
    """
    try:
        check = getattr(_package(settings.house), "check_settings", None)
        if check:
            check(settings.house_table)
    except SettingsError as error:
        raise (in_file(settings.path, error) if settings.path else error) from error


def house_controller(settings: Settings) -> Controller:
    """The board of the house that the settings name.

    Raises:
        SettingsError: There is no such package, its own table is wrong, or it knows of no board.
    """
    try:
        controller = getattr(_package(settings.house), "controller", None)
        if controller is None:
            raise SettingsError(f"the house package {settings.house} knows of no board")
        found: Controller = controller(settings.house_table)
    except SettingsError as error:
        raise (in_file(settings.path, error) if settings.path else error) from error
    return found


def _package(house: str) -> ModuleType:
    problem, at = f"[agent]: house is {house!r}; ", ("agent", "house")
    if not all(name.isidentifier() for name in house.split(".")):
        raise SettingsError(problem + "it must be the name of a Python package", at)
    try:
        package = importlib.import_module(house)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{house}.".startswith(f"{error.name}."):
            raise
        raise SettingsError(problem + "there is no such package", at) from error
    if not hasattr(package, "open_house"):
        raise SettingsError(problem + "that package has no open_house", at)
    return package


async def serve(settings: Settings, *, prompt: bool = False) -> None:
    """Runs until SIGTERM or SIGINT, or until the person at the prompt leaves.

    Raises:
        HearthError: It could not start.
    """
    run_prompt = _prompt() if prompt else None
    stop = asyncio.Event()
    # With its terminal gone a prompt has nobody to talk to, and an embedded broker must not be left behind.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(open_service(settings))
        _warn_of_loss(settings)
        await stack.enter_async_context(LocalServer(service, socket_path()))
        mqtt = await _broker(service, stack)
        service.broker = {"host": mqtt.broker, "port": mqtt.port} if mqtt else None
        async with asyncio.TaskGroup() as tasks:
            keeping = [
                tasks.create_task(service.kept.due.run(service.carry_out), name="due"),
                tasks.create_task(service.kept.run(), name="house store"),
                tasks.create_task(service.follow_buttons(), name="buttons"),
            ]
            channel = tasks.create_task(_mqtt(service, mqtt), name="mqtt") if mqtt else None
            if run_prompt:
                tasks.create_task(run_prompt(service, stop), name="prompt")
            # Usable is what this says. A broker may be away for a week, and the lamps are still ours.
            notify(f"READY=1\nSTATUS=model: {(await service.status())['model']}")
            log.info("%s is ready, on %s", settings.node, socket_path())
            await stop.wait()
            notify("STOPPING=1")
            for task in (*keeping, channel):
                if task:
                    task.cancel()


def _warn_of_loss(settings: Settings) -> None:
    """Says once where what is to be kept will not be: a read-only root has a /var in memory."""
    with contextlib.suppress(OSError):  # of a folder that is not there the store tells
        folder = state_directory()
        disk = disk_of(folder)
        if settings.sessions.store == "kept" and disk.forgets:
            log.warning("%s lies on %s: a reboot may forget conversations, timers and lists", folder, disk.kind)


def _prompt() -> Callable[[Service, asyncio.Event], Coroutine[Any, Any, None]]:
    try:
        from agent.channels.prompt import run_prompt
    except ImportError as error:
        raise HearthError(f"the prompt needs the extra hearth[prompt]: {error}") from error
    return run_prompt


async def _broker(service: Service, stack: AsyncExitStack) -> MqttSettings | None:
    """The settings with the broker's real address; None without a broker."""
    mqtt = service.settings.mqtt
    if mqtt and mqtt.broker == "embedded":
        from agent.channels.broker import embedded_broker

        try:
            broker = await stack.enter_async_context(embedded_broker())
        except (HearthError, OSError) as error:
            log.error("there is no MQTT: %s", error)
            return None
        log.info("%s listens on %s:%d", broker.kind, broker.host, broker.port)
        mqtt = replace(mqtt, broker=broker.host, port=broker.port)
    return mqtt


async def _mqtt(service: Service, mqtt: MqttSettings) -> None:
    from agent.channels.mqtt import MqttChannel

    channel = MqttChannel(
        mqtt, service.settings.node, service.handle, service.runner.confirm, service.house, service.announcements()
    )
    service.mqtt = channel.status
    await channel.run()


def notify(state: str) -> None:
    """Tells systemd, where it listens; with systemd-python, or the same datagram without it."""
    try:
        importlib.import_module("systemd.daemon").notify(state)
    except ImportError:
        address = os.environ.get("NOTIFY_SOCKET", "")
        if address:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
                datagram.connect(address.replace("@", "\0", 1) if address[0] == "@" else address)
                datagram.send(state.encode())
