"""The running appliance: reads nothing, decides nothing, only puts the parts together and waits."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from agent.activation import activated_socket
from agent.activity import Activity
from agent.answer import LEFT_AS_IT_IS
from agent.channels.local import LocalServer, socket_path
from agent.command import Command, words_of
from agent.command_log import logged
from agent.config import SYSTEM_SETTINGS, MqttSettings, Settings, in_file, runtime_directory, state_directory
from agent.disk import disk_of
from agent.due import Announcement, DueItem, DueItems, NobodyToAskError
from agent.errors import HearthError, SettingsError
from agent.events import AgentEvent, ConfirmationRequest, TextMessage
from agent.grounding import room_among
from agent.house import Controller, House, HouseEvent
from agent.house_store import HouseStore
from agent.journal import words
from agent.model.generative import GenerativeModel, load_model, misfits
from agent.notify import notify, notify_ready
from agent.overheard import Overheard
from agent.progress import Progress
from agent.reload import reload_when_told
from agent.runner import Agent, AgentRunner, Limits
from agent.status_line import keep_status, status_line
from agent.store import SessionStore
from agent.tool import AccessLevel, AgentTool, load_folder, visible
from agent.watchdog import Watchdog, watchdog_s

log = logging.getLogger(__name__)

DAY_S = 86_400.0

INSTALLED_STATE = Path("/var/lib/hearth")
"""The state folder of the unit; with a dynamic user a link to one below /var/lib/private."""


class StoredSessions:
    """The conversations in the store, for listing them and taking them out."""

    def __init__(self, store: SessionStore, settings: Settings) -> None:
        self.settings = settings
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

    async def expire(self) -> int:
        """Erases those that are older than the settings keep them, and returns how many."""
        return await asyncio.to_thread(self._store.expire, self.settings.sessions.keep_days * DAY_S, time.time())

    async def compact(self) -> int:
        """Gives back room on the disk, and returns how many bytes."""
        return await asyncio.to_thread(self._store.compact)

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
        settings: Those that hold now.
        settings_trouble: Why the settings that were to be read last were not taken; "" where they were.
        settings_waiting: What of them waits for a restart.
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
        super().__init__(store, settings)
        self.house = house
        self.runner = runner
        self.kept = kept
        self.activity = Activity(house.show)
        self.broker: dict[str, Any] | None = None
        self.mqtt: Callable[[], str] | None = None
        self.settings_trouble = ""
        self.settings_waiting: tuple[str, ...] = ()
        self._model = model
        self._workers: list[Progress] = [kept.due.progress]
        if progress := getattr(model, "progress", None):
            self._workers.append(progress)
        self._left_out = tuple(left_out)
        self._overheard = Overheard(self._run)
        self._unknown_rooms: set[str] = set()

    async def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        """Runs one command that a person has said; what several rooms heard, once.

        Raises:
            AgentError: It ended without an answer; INVALID_REQUEST for a text that is empty, longer than
                `MAX_COMMAND_LENGTH` or none at all.
        """
        async with aclosing(logged(command, self._checked(command), self._drivers)) as events:
            async for event in events:
                yield event

    async def _checked(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        command = replace(command, text=words_of(command.text), room=self._room(command))
        async with aclosing(self._overheard.handle(command)) as events:
            async for event in events:
                yield event

    def _drivers(self, name: str, arguments: Mapping[str, Any]) -> Iterable[str]:
        """What a call moves; a house that does not tell is fine."""
        drivers: Callable[[str, Mapping[str, Any]], Iterable[str]] | None = getattr(self.house, "drivers", None)
        return drivers(name, arguments) if drivers else ()

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
            "settings_trouble": self.settings_trouble,
            "settings_waiting": self.settings_waiting,
        }

    def change(self, settings: Settings, waiting: Sequence[str] = ()) -> None:
        """Goes on with other settings of the same parts (see `agent.reload`); conversations stay.

        Args:
            settings: Those that hold from now on.
            waiting: What else the file asks for, and only a restart gives.
        """
        self.settings = settings
        self.settings_trouble = ""
        self.settings_waiting = tuple(waiting)
        self.runner.change(settings.instructions, settings.max_turns, limits_of(settings))
        words.shown = settings.log.words

    def watch_over(self, worker: Progress) -> None:
        """One more worker that has to get on for systemd to believe that we live."""
        self._workers.append(worker)

    def workers(self) -> Sequence[Progress]:
        """Those that have to get on."""
        return self._workers

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
        running = self._run(replace(command, room=self._room(command)))
        async with aclosing(logged(command, running, self._drivers)) as events:
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


def installed_store_path(settings: Settings) -> Path:
    """Where the store of the installed service lies, for root beside it; else that of `store_path`.

    What is volatile is of no use on another board, so that of the service is always the kept one.
    """
    if "STATE_DIRECTORY" not in os.environ and settings.path == SYSTEM_SETTINGS and os.geteuid() == 0:
        return INSTALLED_STATE / "sessions.db"
    return store_path(settings)


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
        runner = await stack.enter_async_context(AgentRunner(agent, model, store=store, limits=limits_of(settings)))
        yield Service(settings, store, house, model, runner, kept, left_out)


def limits_of(settings: Settings) -> Limits:
    """The limits that the settings name in several tables."""
    return Limits(
        **asdict(settings.limits),
        history_turns=settings.sessions.history_turns,
        idle_s=settings.sessions.idle_minutes * 60,
    )


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
    """Runs until SIGTERM or SIGINT, or until the person at the prompt leaves; SIGHUP reads the settings again.

    Raises:
        HearthError: It could not start.
    """
    run_prompt = _prompt() if prompt else None
    words.shown = settings.log.words
    stop, reload = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # With its terminal gone a prompt has nobody to talk to, and an embedded broker must not be left behind.
    loop.add_signal_handler(signal.SIGHUP, stop.set if prompt else reload.set)
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(open_service(settings))
        _warn_of_loss(settings)
        given = activated_socket("local")
        await stack.enter_async_context(LocalServer(service, socket_path(), given))
        mqtt = await _broker(service, stack)
        service.broker = {"host": mqtt.broker, "port": mqtt.port} if mqtt else None
        async with asyncio.TaskGroup() as tasks:
            keeping = [
                tasks.create_task(service.kept.due.run(service.carry_out), name="due"),
                tasks.create_task(service.kept.run(), name="house store"),
                tasks.create_task(service.follow_buttons(), name="buttons"),
            ]
            channel = tasks.create_task(_mqtt(service, mqtt), name="mqtt") if mqtt else None
            if mqtt and settings.mqtt == mqtt:  # an embedded one forgets us by itself
                from agent.channels.mqtt_renamed import leave_old_name

                leaving = leave_old_name(mqtt, settings.node, service.kept)
                keeping.append(tasks.create_task(leaving, name="old name"))
            if run_prompt:
                tasks.create_task(run_prompt(service, stop), name="prompt")
            # Usable is what this says. A broker may be away for a week, and the lamps are still ours.
            line = status_line(await service.status())
            notify_ready(line)
            keeping += [
                tasks.create_task(keep_status(service.status, line), name="status"),
                tasks.create_task(reload_when_told(service, reload), name="reload"),
            ]
            if timeout_s := watchdog_s():
                keeping.append(tasks.create_task(Watchdog(timeout_s, service.workers).run(), name="watchdog"))
            log.info("%s is ready, on %s", settings.node, given.getsockname() if given else socket_path())
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
    service.watch_over(channel.progress)
    await channel.run()
