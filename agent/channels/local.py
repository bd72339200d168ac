"""The local socket: how other commands of this machine reach the running service.

JSON lines over a Unix socket. A request is one object with a "type":

    {"type": "command", "text", "id"?, "session"?, "room"?}   each AgentEvent, an "error" if one ended it,
                                                              and at last {"type": "end", "id"}
    {"type": "confirm", "id", "answer"}                       {"type": "confirm", "id", "accepted"}
    {"type": "tools", "level"?}                               {"type": "tools", "level", "tools"}
    {"type": "names"}                                         {"type": "names", "names"}
    {"type": "status"}                                        {"type": "status", "node", "broker", ...}
    {"type": "probe"}                                         {"type": "probe", "troubles": [a sentence each]}
    {"type": "watch"}                                         {"type": "house", "device", "state"}, and so on,
                                                              {"type": "announcement", "id", "kind", "text",
                                                              "room"?, "late_s"?} when something is due
    {"type": "sessions"}                                      {"type": "sessions", "sessions"}
    {"type": "export", "session"}                             {"type": "export", "session"}
    {"type": "delete", "session"}                             {"type": "delete", "found"}
    {"type": "expire"}                                        {"type": "expire", "erased"}
    {"type": "compact"}                                       {"type": "compact", "freed"}

Commands of one connection are answered one after the other, so that their events need no name; the
other requests are answered at once, even while a command runs: that is how its question gets its "y".
What cannot be read is answered with an "error" line and the connection goes on. Who closes it gives up the commands
that were sent on it; who only ends the sending is still answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol

from agent.channels.hang_up import hang_up
from agent.command import Command
from agent.config import runtime_directory
from agent.due import Announcement
from agent.errors import AgentError, ErrorCode, HearthError, StoreError
from agent.events import AgentEvent, event_from_json
from agent.house import HouseEvent
from agent.tool import AccessLevel

log = logging.getLogger(__name__)

SYSTEM_SOCKET = Path("/run/hearth/hearth.sock")
MAX_LINE = 64 * 1024
MAX_WAITING = 16

REFUSED_S = 1.0
"""How long who is refused may take to say what for, in seconds."""


class Appliance(Protocol):
    """What can be asked of Hearth: by the service itself in its process, by `LocalClient` from outside."""

    def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]: ...

    async def confirm(self, call_id: str, answer: bool) -> bool: ...

    async def tools(self, level: AccessLevel) -> list[dict[str, Any]]: ...

    async def names(self) -> tuple[str, ...]: ...

    async def status(self) -> dict[str, Any]: ...

    async def probe(self) -> list[str]: ...

    def watch(self) -> AsyncGenerator[HouseEvent, None]: ...

    def announcements(self) -> AsyncIterator[Announcement]: ...

    async def sessions(self) -> list[dict[str, Any]]: ...

    async def export(self, session: str) -> dict[str, Any] | None: ...

    async def delete(self, session: str) -> bool: ...

    async def expire(self) -> int: ...

    async def compact(self) -> int: ...


def socket_path() -> Path:
    """Where this user's service listens."""
    return runtime_directory() / "hearth.sock"


class LocalServer:
    """Answers on the socket for as long as it is entered.

    Args:
        appliance: What answers.
        path: The socket; one that nobody listens on any more is replaced.
        given: The socket, open, in the place of one at the path; systemd's, which stays when we go.

    Raises:
        HearthError: On entering, when another service listens there or the socket cannot be made.
    """

    def __init__(self, appliance: Appliance, path: Path, given: socket.socket | None = None) -> None:
        self._appliance = appliance
        self._path = path
        self._given = given
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> LocalServer:
        if self._given:
            # Python 3.13 would take the socket away with us, which is not ours.
            stays: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
            self._server = await asyncio.start_unix_server(self._connected, sock=self._given, limit=MAX_LINE, **stays)
            return self
        if await _listening(self._path):
            raise HearthError(f"another service already listens on {self._path}")
        try:
            self._path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._connected, self._path, limit=MAX_LINE)
            self._path.chmod(0o600)
        except OSError as error:
            raise HearthError(f"the local socket {self._path} cannot be made: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if not self._given:
            self._path.unlink(missing_ok=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await _Connection(self._appliance, reader, writer).run()
        except (ConnectionError, asyncio.CancelledError):
            pass  # They went away, or we do.
        except Exception:
            log.exception("a local connection failed")
        finally:
            self._connections.discard(task)
            writer.close()


def refuse(given: socket.socket, why: str) -> None:
    """Answers all who wait at a listening socket of systemd's that nobody will serve.

    A connection that nobody takes makes systemd start the service for it, and again whenever that ends.
    """
    with contextlib.suppress(BlockingIOError):
        while True:
            connection, _ = given.accept()
            with connection, contextlib.suppress(OSError):  # who has gone is answered all the same
                connection.settimeout(REFUSED_S)
                connection.recv(MAX_LINE)  # what is left unread would take the answer along
                connection.sendall(_line(_error(ErrorCode.NOT_AVAILABLE, why)))


class _Connection:
    def __init__(self, appliance: Appliance, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._appliance = appliance
        self._reader = reader
        self._writer = writer
        self._commands: asyncio.Queue[Command | None] = asyncio.Queue(MAX_WAITING)

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                answering = tasks.create_task(self._answer_commands())
                await self._read(tasks)
                # Who has said all may still be listening; who has gone hears nothing, and wants nothing any more.
                leaving = tasks.create_task(hang_up(self._writer))
                answering.add_done_callback(lambda _: leaving.cancel())
                await self._commands.put(None)
        except* ConnectionError:
            pass  # A failed write ends whatever still ran for it.

    async def _read(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # What is left of the line cannot be told from a new one.
                await self._send(_refusal(f"a line is at most {MAX_LINE} bytes long"))
                break
            if not line:
                break
            if line.strip():
                await self._take(line, tasks)

    async def _take(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        request: dict[str, Any] = {}
        try:
            request = _request(line)
            if request["type"] == "command":
                self._commands.put_nowait(_command(request))
            elif request["type"] == "watch":
                tasks.create_task(self._watch())
                tasks.create_task(self._listen())
            else:
                await self._send(await self._answer(request))
        except asyncio.QueueFull:
            await self._send(_error(ErrorCode.BUSY, f"{MAX_WAITING} commands wait already"))
            await self._send({"type": "end", "id": request.get("id")})
        except StoreError as error:
            await self._send(_error(ErrorCode.NOT_AVAILABLE, str(error)))
        except ValueError as error:
            await self._send(_refusal(str(error)))
            if request.get("type") == "command":
                await self._send({"type": "end", "id": request.get("id")})

    async def _answer_commands(self) -> None:
        while (command := await self._commands.get()) is not None:
            try:
                async with aclosing(self._appliance.handle(command)) as events:
                    async for event in events:
                        await self._send(event.to_json())
            except AgentError as error:
                await self._send({"type": "error", **error.to_json()})
            await self._send({"type": "end", "id": command.id})

    async def _watch(self) -> None:
        async for event in self._appliance.watch():
            await self._send({"type": "house", "device": event.device, "state": event.state})

    async def _listen(self) -> None:
        async for announcement in self._appliance.announcements():
            await self._send({"type": "announcement", **announcement.to_json()})

    async def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        kind = request["type"]
        if kind == "confirm":
            call, answer = _text(request, "id"), request.get("answer")
            if not isinstance(answer, bool):
                raise ValueError(f"answer is {answer!r}; allowed is true or false")
            return {"type": kind, "id": call, "accepted": await self._appliance.confirm(call, answer)}
        if kind == "tools":
            level = _level(request.get("level", AccessLevel.SYSTEM))
            return {"type": kind, "level": level, "tools": await self._appliance.tools(level)}
        if kind == "names":
            return {"type": kind, "names": await self._appliance.names()}
        if kind == "status":
            return {"type": kind, **await self._appliance.status()}
        if kind == "probe":
            return {"type": kind, "troubles": await self._appliance.probe()}
        if kind == "sessions":
            return {"type": kind, "sessions": await self._appliance.sessions()}
        if kind == "export":
            return {"type": kind, "session": await self._appliance.export(_text(request, "session"))}
        if kind == "delete":
            return {"type": kind, "found": await self._appliance.delete(_text(request, "session"))}
        if kind == "expire":
            return {"type": kind, "erased": await self._appliance.expire()}
        if kind == "compact":
            return {"type": kind, "freed": await self._appliance.compact()}
        known = "command, confirm, tools, names, status, probe, watch, sessions, export, delete, expire, compact"
        raise ValueError(f"type is {kind!r}; there are {known}")

    async def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(_line(message))
        await self._writer.drain()


class LocalClient:
    """The running service, from another process. Each request has a connection of its own.

    Raises:
        AgentError: From any of its methods: what the service answered, or NOT_AVAILABLE where it went away.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    async def find(cls) -> LocalClient | None:
        """The service of this user or else of the system; None when neither runs.

        Raises:
            AgentError: NOT_AVAILABLE: there is one that this user may not talk to.
        """
        paths = [socket_path()]
        if not os.environ.get("RUNTIME_DIRECTORY"):
            paths.append(SYSTEM_SOCKET)
        for path in paths:
            if await _listening(path):
                return cls(path)
        return None

    async def handle(self, command: Command) -> AsyncGenerator[AgentEvent, None]:
        fields = {"id": command.id, "text": command.text, "session": command.session, "room": command.room}
        async with aclosing(self._exchange({"type": "command", **fields})) as lines:
            async for line in lines:
                if line["type"] == "end":
                    return
                yield event_from_json(line)

    async def watch(self) -> AsyncGenerator[HouseEvent, None]:
        async with aclosing(self._exchange({"type": "watch"})) as lines:
            async for line in lines:
                if line["type"] == "house":
                    yield HouseEvent(line["device"], line["state"])

    async def announcements(self) -> AsyncGenerator[Announcement, None]:
        async with aclosing(self._exchange({"type": "watch"})) as lines:
            async for line in lines:
                if line["type"] == "announcement":
                    yield Announcement.from_json(line)

    async def confirm(self, call_id: str, answer: bool) -> bool:
        reply = await self._ask({"type": "confirm", "id": call_id, "answer": answer})
        return bool(reply["accepted"])

    async def tools(self, level: AccessLevel) -> list[dict[str, Any]]:
        reply = await self._ask({"type": "tools", "level": level})
        return list(reply["tools"])

    async def names(self) -> tuple[str, ...]:
        return tuple((await self._ask({"type": "names"}))["names"])

    async def status(self) -> dict[str, Any]:
        return await self._ask({"type": "status"})

    async def probe(self) -> list[str]:
        return list((await self._ask({"type": "probe"}))["troubles"])

    async def sessions(self) -> list[dict[str, Any]]:
        return list((await self._ask({"type": "sessions"}))["sessions"])

    async def export(self, session: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = (await self._ask({"type": "export", "session": session}))["session"]
        return found

    async def delete(self, session: str) -> bool:
        return bool((await self._ask({"type": "delete", "session": session}))["found"])

    async def expire(self) -> int:
        return int((await self._ask({"type": "expire"}))["erased"])

    async def compact(self) -> int:
        return int((await self._ask({"type": "compact"}))["freed"])

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        async with aclosing(self._exchange(request)) as lines:
            async for line in lines:
                return line
        raise AssertionError("an exchange without an answer raises")

    async def _exchange(self, request: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        try:
            reader, writer = await asyncio.open_unix_connection(self._path, limit=2**24)
        except OSError as error:
            raise _gone() from error
        try:
            writer.write(_line(request))
            await writer.drain()
            while line := await reader.readline():
                message = json.loads(line)
                if message["type"] == "error":
                    raise AgentError(ErrorCode[message["name"]], message["message"])
                yield message
            raise _gone()
        except (ConnectionError, json.JSONDecodeError) as error:
            raise _gone() from error
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def _listening(path: Path) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(path)
    except PermissionError as error:
        raise AgentError(ErrorCode.NOT_AVAILABLE, f"the service's socket {path} is not for you") from error
    except OSError:
        return False
    writer.close()
    return True


def _request(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"a request is one JSON object on a line: {error}") from error
    if not isinstance(request, dict) or not isinstance(request.get("type"), str):
        raise ValueError('a request is one JSON object on a line, with a "type"')
    return request


def _command(request: dict[str, Any]) -> Command:
    return Command(
        text=_text(request, "text"),
        channel="local",
        id=_text(request, "id", uuid.uuid4().hex[:12]),
        session=_text(request, "session", None),
        room=_text(request, "room", None),
    )


_REQUIRED: Any = object()


def _text(request: dict[str, Any], key: str, default: Any = _REQUIRED) -> Any:
    value = request.get(key)
    if value is None and default is not _REQUIRED:
        return default
    if not isinstance(value, str):
        raise ValueError(f"{key} is {value!r}; it is to be a text")
    return value


def _level(given: object) -> AccessLevel:
    """A local caller is a SYSTEM caller: a lower level is not for it."""
    if isinstance(given, bool) or not isinstance(given, int) or given not in list(AccessLevel):
        raise ValueError(f"level is {given!r}; allowed are {', '.join(str(int(e)) for e in AccessLevel)}")
    return max(AccessLevel(given), AccessLevel.SYSTEM)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _error(code: ErrorCode, message: str) -> dict[str, Any]:
    return {"type": "error", **AgentError(code, message).to_json()}


def _refusal(message: str) -> dict[str, Any]:
    return _error(ErrorCode.INVALID_REQUEST, message)


def _gone() -> AgentError:
    return AgentError(ErrorCode.NOT_AVAILABLE, "the service went away before it had answered")
