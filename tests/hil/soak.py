"""`make soak`: many frames on a line with errors, the driver as it ships at one end and the real image at the other.

    python -m tests.hil.soak [FRAMES] [SPOILT BYTES IN A MILLION] [SEED]

Fails if a set was half believed: said to be done where the pin does otherwise, or told otherwise than it is.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hil.board import EmulatedBoard, images, missing_packages
from tests.hil.rounds import DEVICES, LOOK_S, Rounds
from tests.serial_bench import bench
from tools.drivers.serial.port import Port

FRAMES = 100_000
PER_MILLION = 100
SEED = 1


@contextmanager
def counted_frames() -> Iterator[list[bytes]]:
    """Every frame that is sent to a port from now on."""
    sent: list[bytes] = []
    write = Port.write

    async def counted(port: Port, data: bytes) -> None:
        sent.append(data)
        await write(port, data)

    Port.write = counted  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        Port.write = write  # type: ignore[method-assign]


async def soak(board: EmulatedBoard, frames: int, per_million: int, seed: int, reply_timeout_s: float = 0.1) -> Rounds:
    """Sets all channels until so many frames were sent; then once more on a line without errors.

    Args:
        board: A board whose time runs.
        frames: How many requests are sent at least; each is answered, so about twice as many are on the wire.
        per_million: How many of a million bytes have a bit turned, both ways.
        seed: Of the levels and of the errors.
        reply_timeout_s: How long the driver waits for an answer.
    """
    begun = told = time.monotonic()
    with counted_frames() as sent:
        async with bench(
            board.tty, *DEVICES, look_s=LOOK_S, within_s=60, reply_timeout_s=reply_timeout_s, silence_s=0
        ) as made:
            await made.until_connected()
            rounds = Rounds(made, board, random.Random(seed))
            board.do(f"noise {per_million} {seed}")
            while len(sent) < frames:
                await rounds.go()
                if time.monotonic() - told > 10:
                    told = time.monotonic()
                    print(f"{len(sent)} frames, {len(rounds.half_believed)} half believed", flush=True)
            board.do("noise 0 1")
            await rounds.tells_the_truth()
            failed = rounds.failed
            await rounds.go()
            if rounds.failed > failed:
                rounds.half_believed.append("a set failed on a line without errors")
        spoilt = board.state()["turned"]
        print(
            f"{len(sent)} requests sent in {time.monotonic() - begun:.0f} s, {spoilt} bytes spoilt of "
            f"{board.state()['received']} to the board and {board.state()['sent']} from it (seed {seed})\n"
            f"{rounds.confirmed} sets confirmed, {rounds.failed} reported failed, "
            f"{len(rounds.half_believed)} half believed",
            flush=True,
        )
    return rounds


def main() -> None:
    """Exits with 1 where something was half believed."""
    frames, per_million, seed = (
        int(sys.argv[at]) if len(sys.argv) > at else default
        for at, default in ((1, FRAMES), (2, PER_MILLION), (3, SEED))
    )
    if missing := missing_packages():
        sys.exit(f"not installed: {' '.join(missing)} (sudo apt install {' '.join(missing)})")
    with tempfile.TemporaryDirectory() as folder, EmulatedBoard(images(), Path(folder), fast=True) as board:
        rounds = asyncio.run(soak(board, frames, per_million, seed))
    print(*rounds.half_believed[:20], sep="\n")
    sys.exit(1 if rounds.half_believed or not rounds.confirmed else 0)


if __name__ == "__main__":
    main()
