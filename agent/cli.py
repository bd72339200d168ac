"""The command `hearth`: arguments in, an exit status out. What is heavy is imported by what needs it."""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import json
import logging
import os
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import AgentError, DeclarationError, HearthError, SettingsError
from agent.journal import start_logging

if TYPE_CHECKING:
    from agent.channels.local import Appliance, LocalClient
    from agent.service import StoredSessions

log = logging.getLogger(__name__)

DONE = 0
FAILED = 1
INTERRUPTED = 130
CONFIG_ERROR = 78
"""EX_CONFIG of sysexits.h: systemd need not try again what only an editor can mend."""

PUBLISH_TIMEOUT_S = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: Without the command's name; None takes those of the process.

    Returns:
        0 for done, 1 for an error, 78 for a service whose settings are wrong; 2 is bad usage.
    """
    args = _parser().parse_args(arguments)
    try:
        status: int = args.command(args)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough; the interpreter's own flush at exit would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _failed(error)


def _failed(error: BaseException) -> int:
    """Says in one sentence what went wrong."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, AgentError):
        print(f"{error.code.name}: {error.message}", file=sys.stderr)
    elif isinstance(error, (HearthError, OSError)):
        print(f"hearth: {error}", file=sys.stderr)
    else:
        log.debug("an error that nobody expected", exc_info=error)
        print(f"hearth: an error of its own: {type(error).__name__}: {error}", file=sys.stderr)
    return FAILED


def _parser() -> argparse.ArgumentParser:
    from agent.board import add_actions

    parser = argparse.ArgumentParser(prog="hearth", description="A home that understands a sentence.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=help, description=help)
        one.set_defaults(command=command)
        return one

    run = add("run", _run, "Run the service until it is told to stop.")
    _add_config(run)
    run.add_argument("--prompt", action="store_true", help="with a prompt and a view of the house")

    ask = add("ask", _ask, "Say one command and print its answer.")
    ask.add_argument("text", metavar="TEXT", nargs="+", help="the command, in words")
    ask.add_argument("--session", metavar="ID", help="the conversation it belongs to; without it, none")
    ask.add_argument("--room", help='where it is said, for "here"')
    ask.add_argument("--json", action="store_true", help="print each event as a line of JSON")
    _add_config(ask)

    chat = add("chat", _chat, "Talk, line by line.")
    chat.add_argument("--session", metavar="ID", help="go on with this conversation; without it, a new one")
    chat.add_argument("--room", help='where it is said, for "here"')
    _add_config(chat)

    publish = add("publish", _publish, "Send a command by MQTT and print the reply.")
    publish.add_argument("text", metavar="TEXT", nargs="+", help="the command, in words")
    publish.add_argument("--session", metavar="ID", help="the conversation it belongs to")
    publish.add_argument("--room", help='where it is said, for "here"')
    _add_config(publish)

    tools = add("tools", _tools, "List the functions that can be called.")
    tools.add_argument(
        "--level", type=int, choices=(100, 200, 300), default=200, help="as a caller of this level sees them"
    )
    tools.add_argument("--json", action="store_true", help="print their declarations as JSON")
    _add_config(tools)

    sessions = add("sessions", _sessions, "List, show, take out or erase conversations.")
    _add_config(sessions)
    actions = sessions.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    actions.add_parser("list", help="each conversation on a line")
    for action, what in (("show", "read one"), ("export", "print one as JSON")):
        actions.add_parser(action, help=what).add_argument("ids", metavar="ID", nargs=1)
    actions.add_parser("rm", help="erase them").add_argument("ids", metavar="ID", nargs="+")
    actions.add_parser("expire", help="erase those without a word for the days that the settings name")
    actions.add_parser("compact", help="give back the room of what was erased")

    journal = add("log", _log, "Show the commands in the journal, one a line.")
    journal.add_argument("-n", "--lines", metavar="N", type=int, help="the newest N; without it 20, or all since")
    journal.add_argument("-f", "--follow", action="store_true", help="wait for more")
    journal.add_argument("--since", metavar="TIME", help='the oldest: "today", "-1h", "2026-05-01" ...')
    journal.add_argument("--all", action="store_true", help="all that Hearth wrote, not only the commands")
    journal.add_argument("--json", action="store_true", help="each record as a line of JSON, with all its fields")

    evaluate = add("eval", _eval, "Measure the model on cases; nothing is executed.")
    evaluate.add_argument("cases", metavar="CASES.jsonl", type=_file)
    evaluate.add_argument("--tools", metavar="TOOLS.json", type=_file, help="the functions, as data")
    evaluate.add_argument("--home", metavar="SETTINGS.toml", type=_file, help="compare by what would move")
    evaluate.add_argument("--json", action="store_true", help="print the figures and each case as JSON")

    status = add("status", _status, "Say how the running service is, in a line.")
    status.add_argument("--wait", metavar="SECONDS", type=float, default=0.0, help="until all is well, so long at most")
    _add_config(status)

    doctor = add("doctor", _doctor, "Look at every part, and say what is wrong and what to do about it.")
    _add_config(doctor)

    backup = add("backup", _backup, "Write the settings and all that is kept into one file.")
    backup.add_argument("file", metavar="FILE", type=Path)
    _add_config(backup)

    restore = add("restore", _restore, "Put a backup back; the service is not to run.")
    restore.add_argument("file", metavar="FILE", type=Path)
    _add_config(restore)

    retract = add("retract", _retract, "Clear what the broker keeps of this node; the service is not to run.")
    _add_config(retract)
    board = add("board", _board, "Look for the light controller, ask it, try a lamp, renew its firmware.")
    _add_config(board)
    add_actions(board)

    listen = add("listen", _listen, "Hear a command in a recording and speak its answer.")
    listen.add_argument("--wav", metavar="IN", type=_file, required=True, help="the recording")
    listen.add_argument("--out", metavar="OUT", type=Path, help="where the spoken answer goes")
    _add_config(listen)
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="the settings; else $HEARTH_CONFIG or the system's")


def _file(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {name}")
    return path


def _run(args: argparse.Namespace) -> int:
    from agent.config import find_settings, read_settings
    from agent.service import serve

    start_logging(logging.INFO)
    faulthandler.enable()  # what ends a stuck process, such as systemd's watchdog, leaves in the log where it was stuck
    try:
        asyncio.run(serve(read_settings(find_settings(args.config)), prompt=args.prompt))
    except (SettingsError, DeclarationError) as error:
        # Also the house's own tables and the user's tools: starting again would not help.
        print(f"hearth: {error}", file=sys.stderr)
        _refuse_who_waits(error)
        return CONFIG_ERROR
    return DONE


def _refuse_who_waits(error: Exception) -> None:
    from agent.activation import activated_socket
    from agent.channels.local import refuse

    with suppress(OSError):  # of a socket that was served already
        given = activated_socket("local")
        if given:
            refuse(given, f"the service does not start: {error}")


def _ask(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.cli import ask, one_shot_lines
        from agent.channels.local import LocalClient
        from agent.command import Command

        async with _appliance(args) as appliance:
            command = Command(" ".join(args.text), "cli", session=args.session, room=args.room)
            if not isinstance(appliance, LocalClient):
                log.warning("no service is running: this house, and what is due in it, ends with the command")
            await ask(appliance, command, one_shot_lines(), as_json=args.json)
        return DONE

    return _wait(run())


def _chat(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.cli import Lines, chat

        session = args.session or f"chat-{uuid.uuid4().hex[:8]}"
        async with _appliance(args) as appliance:
            await chat(appliance, Lines(), session=session, room=args.room)
        return DONE

    return _wait(run())


def _publish(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.mqtt import publish
        from agent.config import find_settings, read_settings

        client = await _running(args)
        status = await client.status() if client else None
        settings = read_settings(status["settings"] if status else find_settings(args.config))
        mqtt = settings.mqtt
        if status:
            node, broker = status["node"], status["broker"]
        else:
            node, broker = settings.node, mqtt and {"host": mqtt.broker, "port": mqtt.port}
        if not mqtt or not broker:
            raise SettingsError(f"{settings.path} has no [mqtt]: there is no broker to send to")
        if broker["host"] == "embedded":
            raise SettingsError("the embedded broker lives in the running service: start hearth run first")
        reply = await publish(
            broker["host"],
            broker["port"],
            node,
            " ".join(args.text),
            room=args.room,
            session=args.session,
            username=mqtt.username,
            password=mqtt.password(),
            tls=mqtt.tls,
            ca_file=mqtt.ca_file,
            timeout_s=PUBLISH_TIMEOUT_S,
        )
        print(json.dumps(reply, ensure_ascii=False))
        if error := reply.get("error"):
            print(f"{error['name']}: {error['message']}", file=sys.stderr)
            return FAILED
        return DONE

    return _wait(run())


def _tools(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.local import LocalClient
        from agent.tool import AccessLevel

        level = AccessLevel(args.level)
        async with _appliance(args, look=True) as appliance:
            if level < AccessLevel.SYSTEM and isinstance(appliance, LocalClient):
                print("hearth: the running service lists what callers from outside may call", file=sys.stderr)
            tools = await appliance.tools(level)
        if args.json:
            print(json.dumps(tools, ensure_ascii=False, indent=2))
        else:
            for each in tools:
                print(f"{_signature(each)}  [{each['access']}]\n    {each['description']}")
        return DONE

    return _wait(run())


def _signature(declaration: dict[str, Any]) -> str:
    parameters = declaration["parameters"]
    required = parameters.get("required", [])
    names = (name if name in required else f"{name}?" for name in parameters.get("properties", {}))
    return f"{declaration['name']}({', '.join(names)})"


def _sessions(args: argparse.Namespace) -> int:
    async def run() -> int:
        async with _stored(args) as stored:
            if args.action == "list":
                for row in await stored.sessions():
                    updated = datetime.fromtimestamp(row["updated"]).astimezone()
                    print(f"{row['id']}\t{updated:%Y-%m-%d %H:%M:%S}\t{row['turns']} turns")
                return DONE
            if args.action == "expire":
                print(f"{await stored.expire()} conversations erased")
                return DONE
            if args.action == "compact":
                print(f"{await stored.compact()} bytes given back")
                return DONE
            missing = 0
            for session in args.ids:
                if args.action == "rm":
                    found: Any = await stored.delete(session)
                elif found := await stored.export(session):
                    as_json = args.action == "export"
                    print(json.dumps(found, ensure_ascii=False, indent=2) if as_json else _talk(found))
                if not found:
                    missing += 1
                    print(f"hearth: there is no session {session}", file=sys.stderr)
        return FAILED if missing else DONE

    return _wait(run())


def _talk(session: dict[str, Any]) -> str:
    """A conversation as a person reads it."""
    from agent.channels.cli import printable
    from agent.content import Content

    lines = []
    for content in (Content.from_json(each) for turn in session["turns"] for each in turn["contents"]):
        if content.text:
            lines.append(f"{content.role.value}: {content.text}")
        for call in content.calls:
            lines.append(f"  {call.name} {json.dumps(call.arguments, ensure_ascii=False)}")
        for response in content.responses:
            lines.append(f"  -> {json.dumps(response.response, ensure_ascii=False)}")
    return "\n".join(printable(line) for line in lines)


def _eval(args: argparse.Namespace) -> int:
    from agent.evaluation.command import main as evaluate

    start_logging(logging.WARNING)
    status: int = evaluate(args)
    return status


def _status(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.status_line import status_line

        client = await _running(args)
        if client is None:
            raise HearthError("no service runs")
        ends = time.monotonic() + args.wait
        while True:
            status = await client.status()
            well = status["model"] == "ready" and not status["mqtt"].startswith("not connected")
            well &= all(how.partition(",")[0] == "ok" for how in status["house"].values())
            if well or time.monotonic() >= ends:
                print(status_line(status))
                return DONE if well else FAILED
            await asyncio.sleep(0.05)  # the socket tells nobody of a change

    return _wait(run())


def _doctor(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.doctor import Mark, diagnose

        status = DONE
        async for finding in diagnose(args.config or os.environ.get("HEARTH_CONFIG")):
            print(finding, flush=True)
            if finding.mark is Mark.TROUBLE:
                status = FAILED
        return status

    logging.disable()  # what the parts would say of it is on the lines
    return asyncio.run(run())


def _log(args: argparse.Namespace) -> int:
    from agent.channels.cli import printable
    from agent.journal_reader import arguments, records, told

    count = 20 if args.lines is None and args.since is None else args.lines
    for record in records(arguments(count, args.since, args.follow, args.all)):
        print(json.dumps(record, ensure_ascii=False) if args.json else printable(told(record)), flush=True)
    return DONE


def _backup(args: argparse.Namespace) -> int:
    from agent.backup import back_up, files_of
    from agent.config import SYSTEM_SETTINGS, find_settings, read_settings
    from agent.service import installed_store_path

    settings = read_settings(find_settings(args.config))
    assert settings.path is not None
    files = files_of(settings.path, settings.path == SYSTEM_SETTINGS)
    for name in back_up(args.file, settings.path.parent, files, installed_store_path(settings)):
        print(name)
    return DONE


def _restore(args: argparse.Namespace) -> int:
    from agent.backup import restore
    from agent.config import SYSTEM_SETTINGS, Settings
    from agent.machine import unit
    from agent.service import installed_store_path

    given = args.config or os.environ.get("HEARTH_CONFIG")
    path = Path(given or SYSTEM_SETTINGS).resolve()
    found = None if given else unit()
    if found and found.active in ("active", "activating", "reloading"):
        raise HearthError("the service runs: systemctl stop hearth.socket hearth.service, and start them afterwards")
    for name in restore(args.file, path.parent, installed_store_path(Settings(path=path))):
        print(name)
    return DONE


def _retract(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.mqtt_retract import retract
        from agent.config import find_settings, read_settings
        from agent.mqtt.connection import Endpoint

        settings = read_settings(find_settings(args.config))
        mqtt = settings.mqtt
        if mqtt is None or mqtt.broker == "embedded":
            return DONE  # nobody keeps anything
        for topic in await retract(Endpoint.of(mqtt), settings.node):
            print(topic)
        return DONE

    return _wait(run())


def _board(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.board import run as act
        from agent.config import find_settings, read_settings
        from agent.service import house_controller

        await act(args, house_controller(read_settings(find_settings(args.config))))
        return DONE

    return _wait(run())


def _listen(args: argparse.Namespace) -> int:
    async def run() -> int:
        from agent.channels.voice import listen
        from agent.config import read_settings

        async with _appliance(args) as appliance:
            settings = read_settings((await appliance.status())["settings"])
            names = await appliance.names()
            await listen(appliance, args.wav, args.out, names=names, voice=settings.voice)
        return DONE

    return _wait(run())


def _wait(work: Coroutine[Any, Any, int]) -> int:
    start_logging(logging.WARNING)
    return asyncio.run(work)


@asynccontextmanager
async def _appliance(args: argparse.Namespace, *, look: bool = False) -> AsyncIterator[Appliance]:
    """The running service, or one in this process for as long as the command lasts.

    Args:
        args: With the settings.
        look: It is only looked at: its outputs stay as they are.
    """
    client = await _running(args)
    if client:
        yield client
        return
    from agent.config import find_settings, read_settings
    from agent.service import open_service

    async with open_service(read_settings(find_settings(args.config)), look=look) as service:
        yield service


@asynccontextmanager
async def _stored(args: argparse.Namespace) -> AsyncIterator[LocalClient | StoredSessions]:
    """The conversations: of the running service, else of the store; no house is opened for them."""
    client = await _running(args)
    if client:
        yield client
        return
    from agent.config import find_settings, read_settings
    from agent.service import StoredSessions, open_store

    settings = read_settings(find_settings(args.config))
    store = open_store(settings)
    try:
        yield StoredSessions(store, settings)
    finally:
        store.close()


async def _running(args: argparse.Namespace) -> LocalClient | None:
    """The running service, unless the person named settings that it does not use."""
    from agent.channels.local import LocalClient

    client = await LocalClient.find()
    given = args.config or os.environ.get("HEARTH_CONFIG")
    if client and given:
        theirs = (await client.status())["settings"]
        if Path(given).resolve() != Path(theirs):
            print(f"hearth: the running service uses {theirs}; this is done without it", file=sys.stderr)
            return None
    return client
