"""A broker of our own, for a house that has none: on a free port of this machine, for this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pwd
import shutil
import socket
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

from agent.errors import HearthError

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
START_S = 5.0
"""How long a broker may take until it listens, in seconds."""

END_S = 3.0
"""How long it may take to end by itself, in seconds."""

RESTART_S = 1.0
"""How long after its end mosquitto is started again, in seconds."""


class BrokerError(HearthError, RuntimeError):
    """The embedded broker cannot be started; says why."""


@dataclass(frozen=True)
class Broker:
    """A broker that listens.

    Attributes:
        host: Always of this machine.
        port: A free one, the same for as long as the broker lives.
        kind: "mosquitto" speaks MQTT 5, "amqtt" 3.1.1.
    """

    host: str
    port: int
    kind: Literal["mosquitto", "amqtt"]


@asynccontextmanager
async def embedded_broker() -> AsyncIterator[Broker]:
    """Runs a broker: mosquitto as a child process where it is installed, else amqtt in this one.

    Nothing is kept on disk and nobody is asked for a password: it is heard on this machine alone.

    Raises:
        BrokerError: It did not start.
    """
    # Debian keeps it in /usr/sbin, which the PATH of a user does not name.
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/local/sbin:/usr/sbin")
    broker = _mosquitto(program) if program else _amqtt()
    async with broker as running:
        yield running


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def _mosquitto(program: str) -> AsyncIterator[Broker]:
    child = _Mosquitto(program, _free_port())
    await child.start()
    keeper = asyncio.create_task(child.keep())
    try:
        yield Broker(HOST, child.port, "mosquitto")
    finally:
        keeper.cancel()
        await asyncio.wait({keeper})
        await child.end()


class _Mosquitto:
    """The child process."""

    def __init__(self, program: str, port: int) -> None:
        self.port = port
        self._command = [*_bound_to_us(), program]

    async def start(self) -> None:
        """Returns when it listens."""
        settings = os.memfd_create("mosquitto.conf")  # a file of nobody's disk
        try:
            os.write(settings, _mosquitto_settings(self.port).encode())
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                "-c",
                f"/dev/fd/{settings}",
                pass_fds=[settings],
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=PIPE,
                start_new_session=True,  # a Ctrl-C at the prompt is for us; we end it after our last word
            )
        except OSError as error:
            raise BrokerError(f"mosquitto cannot be started: {error}") from error
        finally:
            os.close(settings)
        try:
            await self._listening()
        except BaseException:
            await self.end()
            raise

    async def _listening(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                while self._process.returncode is None:
                    with contextlib.suppress(OSError):
                        _, writer = await asyncio.open_connection(HOST, self.port)
                        writer.close()
                        return
                    await asyncio.sleep(0.02)  # a start has no event to wait for but the open port
        if self._process.returncode is None:
            raise BrokerError(f"mosquitto does not listen on {HOST}:{self.port} after {START_S:g} s")
        words = (await _pipe(self._process.stderr).read()).decode(errors="replace").strip()
        why = words or "it does not say why"
        raise BrokerError(f"mosquitto ended with {self._process.returncode}: {why}")

    async def keep(self) -> None:
        """Passes on what it says, and starts it again when it ends by itself."""
        while True:
            async for line in _pipe(self._process.stderr):
                log.warning("mosquitto: %s", line.decode(errors="replace").strip())
            log.error("the embedded mosquitto ended with %s; it is started again", await self._process.wait())
            await asyncio.sleep(RESTART_S)
            try:
                await self.start()
            except BrokerError as error:
                log.error("%s", error)

    async def end(self) -> None:
        """Ends it; twice is fine."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), END_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


Pipe = TypeVar("Pipe")


def _pipe(pipe: Pipe | None) -> Pipe:
    assert pipe is not None  # it was asked for
    return pipe


def _bound_to_us() -> list[str]:
    """How to start a child that does not outlive a `kill -9` of ours, which only the kernel can see to.

    It forgets that when the child changes its user, as mosquitto does as root; so that is done first.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        return []
    command = [setpriv, "--pdeathsig", "TERM"]
    if os.geteuid() == 0:
        user = _user("mosquitto") or _user("nobody")
        if user is not None:
            command += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return command


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _mosquitto_settings(port: int) -> str:
    # "log_type" without "notice" and "information": no line for each client that comes and goes.
    return (
        f"listener {port} {HOST}\nallow_anonymous true\npersistence false\n"
        "log_dest stderr\nlog_type error\nlog_type warning\n"
    )


@asynccontextmanager
async def _amqtt() -> AsyncIterator[Broker]:
    try:  # here, because where mosquitto is nobody has to wait for it
        from amqtt.broker import Broker as AmqttBroker
        from amqtt.errors import BrokerError as AmqttError
    except ImportError as error:
        raise BrokerError("there is no broker: install mosquitto, or the Python package amqtt") from error
    # It reports each client, and each one that asks for MQTT 5 first, as a warning with a traceback.
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    port = _free_port()
    broker = AmqttBroker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"{HOST}:{port}"}},
            "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
        }
    )
    try:
        await broker.start()
    except AmqttError as error:
        raise BrokerError(f"amqtt cannot be started: {error}") from error
    log.warning(
        "mosquitto is not installed: the broker is amqtt, with MQTT 3.1.1; off are response topics, message "
        "expiry, and telling that another client took our place"
    )
    try:
        yield Broker(HOST, port, "amqtt")
    finally:
        await broker.shutdown()
