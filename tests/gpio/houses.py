"""A house on a fake board, in a program of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.gpio.fakeboard import WITHIN_S

ROOT = Path(__file__).resolve().parent.parent.parent


def device(name: str, gpio: dict[str, Any], kind: str = "light", **keys: Any) -> dict[str, Any]:
    """A device's table."""
    can = ["brightness"] if "pwm" in gpio or gpio.get("software_pwm") else []
    return {"name": name, "kind": kind, **({"can": can} if kind == "light" else {}), **keys, "gpio": gpio}


class Board(Protocol):
    """A board for a house: a `FakeBoard`, or the one that this runs on."""

    folder: Path
    """For what the house keeps."""

    @property
    def environment(self) -> dict[str, str]:
        """What its program needs to see it."""
        ...


class GpioHouse:
    """A house that runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._answers: asyncio.Queue[Any] = asyncio.Queue()
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def call(self, function: str, **arguments: Any) -> dict[str, Any]:
        """The response of a function of the house."""
        return await self._ask({"call": function, "arguments": arguments})

    async def show(self, status: str) -> None:
        """Tells the house what Hearth is doing."""
        await self._ask({"show": status})

    async def health(self, part: str = "gpio") -> str:
        """The line of the driver, or of another part of the house."""
        return await self._ask({"health": part})

    async def probe(self) -> list[str]:
        """What `hearth doctor` says of the house."""
        found = await self._ask({"probe": True})
        return [each for each in found if "weather" not in each]

    async def heard(self, device_id: str, **state: Any) -> None:
        """Waits until a device has told that it is so, at any time since the start."""

        def is_so() -> bool:
            return any(id == device_id and state.items() <= told.items() for id, told in self.events)

        async with asyncio.timeout(WITHIN_S), self._news:
            await self._news.wait_for(is_so)

    def state(self, device_id: str) -> dict[str, Any]:
        """What a device told last."""
        return next(told for id, told in reversed(self.events) if id == device_id)

    def presses(self, button_id: str) -> list[str]:
        """All that a button told."""
        return [told["state"] for id, told in self.events if id == button_id]

    async def kill(self) -> None:
        """Ends it as a power cut does."""
        self._process.kill()
        await self._process.wait()

    async def close(self) -> None:
        """Ends it as systemd does. Twice is fine."""
        if self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                async with asyncio.timeout(WITHIN_S):
                    await self._process.wait()
            except TimeoutError:
                await self.kill()
                raise
        await self._reading

    async def ready(self) -> None:
        """Waits until it is open."""
        assert await self._answer() == "ready"

    async def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return await self._answer()

    async def _answer(self) -> Any:
        async with asyncio.timeout(WITHIN_S * 3):
            answer = await self._answers.get()
        assert answer is not EOFError, "the program of the house ended"
        return answer

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            told = json.loads(line)
            if "answer" in told:
                self._answers.put_nowait(told["answer"])
                continue
            async with self._news:
                self.events.append((told["device"], told["state"]))
                self._news.notify_all()
        self._answers.put_nowait(EOFError)


@asynccontextmanager
async def running(
    board: Board,
    *devices: dict[str, Any],
    store: bool = True,
    again_s: float | None = None,
    folder: Path = ROOT,
    path: Path | None = None,
    **tables: Any,
) -> AsyncIterator[GpioHouse]:
    """A house with these devices on a board.

    Args:
        board: The board; its folder also has what the house keeps.
        devices: Tables of devices.
        store: False for a house that is only looked at.
        again_s: How long after a failure an input is asked for anew, in seconds; None as it ships.
        folder: Where the program runs.
        path: A folder of Python packages that come before all others.
        tables: More of `[tools]`.
    """
    settings = board.folder / "settings.json"
    settings.write_text(json.dumps({"device": list(devices), **tables}))
    paths = [str(each) for each in (path, ROOT, os.environ.get("PYTHONPATH")) if each]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.gpio.child", str(settings), *([str(board.folder / "kept.db")] if store else []),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", **board.environment,
             **({} if again_s is None else {"AGAIN_S": str(again_s)})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    house = GpioHouse(process)
    try:
        await house.ready()
        yield house
    finally:
        if process.returncode is None and sys.exc_info()[0] is not None:
            await house.kill()
        await house.close()
