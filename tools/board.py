"""The light controller for who wires it: found, asked, tried and given its firmware, without the house."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agent.config.tables import Table, read_table
from agent.errors import HearthError
from tools.drivers.serial.finding import Candidate, Finder, NoBoardError, candidates
from tools.drivers.serial.levels import level_of, percent_of
from tools.drivers.serial.link import ForeignError, Link, LinkError
from tools.drivers.serial.options import SerialSettings, check_settings
from tools.drivers.serial.port import Port, PortError, held
from tools.drivers.serial.protocol import FADE_UNIT_MS, HelloAnswer, Level, ResetCause

FLASHED_WITHIN_S = 300.0
"""How long avrdude may take; 30 kB need 10 s."""


class BoardError(HearthError, RuntimeError):
    """It was not done; the text is a sentence."""


class BoardController:
    """See `agent.house.Controller`."""

    def __init__(self, settings: SerialSettings) -> None:
        """A controller that has opened nothing.

        Args:
            settings: The table `[tools.serial]`.
        """
        self._settings = settings

    async def ports(self) -> AsyncIterator[str]:
        """A line for each port that a board may be at."""
        found = await asyncio.to_thread(candidates, self._settings.port)
        if not found:
            yield str(await self._nothing())
        for candidate in found:
            try:
                link = await self._finder([candidate], any_board=True).greet(candidate)
            except (PortError, LinkError) as error:
                yield f"{candidate.path}: {error}"
                continue
            await link.close()
            yield f"{candidate.path}: {_board(link.hello)}"

    async def info(self, port: Path | None) -> list[str]:
        """What the board tells of itself."""
        async with self._link(port) as link:
            hello, stats, levels = link.hello, await link.stats(), await link.levels()
            bits = await link.inputs() if hello.inputs else 0
        return [
            f"{link.path}: {_board(hello)}",
            f"started {hello.boots} times, the last time by {_cause(hello.reset_cause)}, {stats.uptime} s ago",
            f"{stats.frames} frames heard, {stats.damaged} damaged, {stats.overruns} bytes lost, "
            f"{stats.refused} requests refused, {stats.silences} times nobody spoke, "
            f"levels kept {stats.level_writes} times, longest loop {stats.longest_loop} microseconds",
            *(f"{_channel(hello, number)}: {_level(level)}" for number, level in enumerate(levels)),
            *(f"input {number}: {'pressed' if bits >> number & 1 else 'released'}" for number in range(hello.inputs)),
        ]

    async def set(self, port: Path | None, channel: int, percent: int, fade_s: float) -> str:
        """Brings a channel to a brightness, and says what the board confirmed."""
        async with self._link(port) as link:
            hello = link.hello
            count = hello.dim_channels + hello.relay_channels
            if not 0 <= channel < count:
                raise BoardError(f"there is no channel {channel}; there are 0 to {count - 1}")
            relay = channel >= hello.dim_channels
            if relay and percent not in (0, 100):
                raise BoardError(f"{_channel(hello, channel)} takes 0 or 100 percent")
            fade = 0 if relay else round(fade_s * 1000 / FADE_UNIT_MS)
            return f"{_channel(hello, channel)}: {_level(await link.set(channel, level_of(percent), fade))}"

    async def flash(self, port: Path | None, image: Path, baud: int) -> AsyncIterator[str]:
        """Writes firmware with avrdude, and says hello to it."""
        avrdude = shutil.which("avrdude")
        if avrdude is None:
            raise BoardError("avrdude is not installed, and it is what writes firmware: sudo apt install avrdude")
        if not image.is_file():
            raise BoardError(f"there is no file {image}: make firmware, or name another")
        path = await self._port_to_flash(port)
        command = [avrdude, "-p", "atmega328p", "-c", "arduino", "-P", path, "-b", str(baud), "-D"]
        yield f"writing {image} to {path}"
        with held(path):  # a running service that looks for its board must not speak into this
            await _run([*command, "-U", f"flash:w:{image}:i"])
        candidate = Candidate(path, named=True)
        try:
            link = await self._finder([candidate], any_board=True).greet(candidate)
        except (PortError, LinkError) as error:
            raise BoardError(f"it was written, and yet {path}: {error}") from error
        try:
            if not any(link.hello.board_id):
                await link.name(secrets.token_bytes(8))
        finally:
            await link.close()
        yield f"{path}: {_board(link.hello)}"

    async def _port_to_flash(self, port: Path | None) -> str:
        """A port that was given is trusted; else a board of ours must be at it, of whatever version."""
        if port is not None:
            await (await Port.open(str(port))).close()  # somebody else may have it, and avrdude does not ask
            return str(port)
        found = await asyncio.to_thread(candidates, self._settings.port)
        for candidate in found:
            try:
                link = await self._finder([candidate]).greet(candidate)
            except ForeignError as error:
                if error.ours:
                    return candidate.path
            except (PortError, LinkError):
                continue
            else:
                await link.close()
                return candidate.path
        raise BoardError("no port has a Hearth board; if a new one is plugged in, name its port with --port")

    @asynccontextmanager
    async def _link(self, port: Path | None) -> AsyncIterator[Link]:
        found = await asyncio.to_thread(candidates, port or self._settings.port)
        link = await self._finder(found, any_board=port is not None).open()
        try:
            yield link
        finally:
            await link.close()

    def _finder(self, found: Sequence[Candidate], any_board: bool = False) -> Finder:
        wait_s = self._settings.reply_timeout_s
        return Finder(
            lambda: found, None if any_board else self._settings.board, lambda port: Link(port, reply_wait_s=wait_s)
        )

    async def _nothing(self) -> NoBoardError:
        try:
            await self._finder([]).open()
        except NoBoardError as error:
            return error
        raise AssertionError("nothing was found where nothing was looked at")


def controller(settings: Mapping[str, Any]) -> BoardController:
    """The board of the table `[tools]`.

    Raises:
        SettingsError: `[tools.serial]` is wrong.
    """
    read = read_table(SerialSettings, Table.of(settings, "tools").table("serial"))
    check_settings(read)
    return BoardController(read)


async def _run(command: Sequence[str]) -> None:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(FLASHED_WITHIN_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise BoardError(f"avrdude has not ended within {FLASHED_WITHIN_S:g} s") from None
    if process.returncode:
        last = output.decode(errors="replace").strip().splitlines()[-1:] or ["it says nothing"]
        raise BoardError(f"avrdude failed ({last[0]}): an old Nano needs --baud 57600")


def _board(hello: HelloAnswer) -> str:
    called = f"board {hello.board_id.hex()}" if any(hello.board_id) else "a board without an id"
    return (
        f"{called}, firmware {hello.major}.{hello.minor}, {hello.dim_channels} dimmable channels, "
        f"{hello.relay_channels} relays, {hello.inputs} inputs"
    )


def _channel(hello: HelloAnswer, number: int) -> str:
    return f"channel {number}" + (f" (relay {number - hello.dim_channels})" if number >= hello.dim_channels else "")


def _level(level: Level) -> str:
    target = f"{percent_of(level.target)} percent" if level.target else "off"
    return target if level.level == level.target else f"on its way to {target}"


def _cause(bits: int) -> str:
    names = [(each.name or "").lower().replace("_", " ") for each in ResetCause(bits)]
    return " and ".join(names) or "an unknown cause"
