"""What an installed Hearth writes to its card: per idle hour, and per 100 commands. `make bench-writes`; needs root.

Counted by the kernel at a disk of its own (ext4 in a file, with the journal and the bookkeeping of the file system), so
that what the page cache saves is saved here too. An idle hour is an idle time of MINUTES, taken to 60.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from agent.channels.local import LocalClient
from agent.command import Command

ROOT = Path(__file__).resolve().parent.parent
MINUTES = float(os.environ.get("MINUTES", "2"))
COMMANDS = 100
SENTENCES = ("turn on the reading lamp", "turn it off", "set the kitchen lights to 40 percent", "is the hall light on?")


class Card:
    """A disk that counts what reaches it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "card"
        self.folder.mkdir()
        image = folder / "card.ext4"
        with image.open("wb") as file:
            file.truncate(64 << 20)
        # All of its tables now: the kernel would else write them in the background while we count.
        _run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image))
        _run("mount", "-o", "loop,noatime", str(image), str(self.folder))
        device = Path(_run("findmnt", "-no", "SOURCE", str(self.folder)))
        self._statistics = Path("/sys/block") / device.name / "stat"

    def written(self) -> int:
        """How many bytes so far."""
        _run("sync", "-f", str(self.folder))
        return int(self._statistics.read_text().split()[6]) * 512

    def close(self) -> None:
        _run("umount", str(self.folder))


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


async def measure(folder: Path, store: str) -> None:
    """One service with conversations kept or volatile, on a card of its own."""
    card = Card(folder)
    settings = folder / "hearth.toml"
    example = (ROOT / "deploy" / "hearth.example.toml").read_text()
    settings.write_text(example.replace('store = "kept"', f'store = "{store}"'))
    runtime = folder / "run"
    runtime.mkdir()
    os.environ |= {"STATE_DIRECTORY": str(card.folder), "RUNTIME_DIRECTORY": str(runtime)}
    command = [sys.executable, "-m", "agent", "run", "--config", str(settings)]
    service = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=asyncio.subprocess.PIPE)
    assert service.stderr is not None
    while b"is ready, on" not in await service.stderr.readline():
        pass
    drain = asyncio.create_task(service.stderr.read())
    client = await LocalClient.find()
    assert client is not None
    before = card.written()
    await asyncio.sleep(MINUTES * 60)  # nothing happens: that is what is measured
    idle = card.written() - before
    single = await _count(card, client, None)
    sessions = await _count(card, client, "evening")
    service.terminate()
    await service.wait()
    await drain
    card.close()
    print(f"{store:9} idle hour {idle * 60 / MINUTES / 1e3:8.0f} kB", end="   ")
    print(f"{COMMANDS} commands: {single / 1e3:.0f} kB without a conversation, {sessions / 1e3:.0f} kB in one")


async def _count(card: Card, client: LocalClient, session: str | None) -> int:
    before = card.written()
    for number in range(COMMANDS):
        await _say(client, SENTENCES[number % len(SENTENCES)], session)
    return card.written() - before


async def _say(client: LocalClient, text: str, session: str | None) -> None:
    async for _ in client.handle(Command(text, "bench", session=session)):
        pass


if __name__ == "__main__":
    for each in ("kept", "volatile"):
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(measure(Path(place), each))
