"""`hearth board`: its words and what it prints; the house's package does the work.

What it prints is the board's own, so it is made printable first.
"""

from __future__ import annotations

import argparse
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from agent.house import Controller

BOOTLOADER_BAUD = 115200
"""Of an Arduino Uno, and of a Nano since 2018; one that is older has 57600."""


def add_actions(parser: argparse.ArgumentParser) -> None:
    """The arguments of `hearth board`."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION", dest="action")
    actions.add_parser("list", help="each port that a board may be at, and what is there")
    info = actions.add_parser("info", help="what the board tells of itself")
    level = actions.add_parser("set", help="bring a channel to a brightness")
    level.add_argument("channel", metavar="CHANNEL", type=int, help="its number, as info shows it")
    level.add_argument("percent", metavar="PERCENT", type=_percent, help="0 to 100")
    level.add_argument("--fade", metavar="SECONDS", type=_seconds, default=0.0, help="how long it takes; else at once")
    flash = actions.add_parser("flash", help="write firmware to the board, with avrdude")
    flash.add_argument("image", metavar="FILE.hex", type=Path, help="what make firmware made")
    flash.add_argument(
        "--baud", type=int, default=BOOTLOADER_BAUD, help=f"of its bootloader: {BOOTLOADER_BAUD}, or 57600 if it is old"
    )
    for each in (info, level, flash):
        each.add_argument("--port", metavar="PORT", type=Path, help="where it is; else it is looked for")


def _percent(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"{number} is not within 0 to 100")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 600:
        raise argparse.ArgumentTypeError(f"{text} is not within 0 to 600")
    return seconds


async def run(args: argparse.Namespace, controller: Controller) -> None:
    """Does what the arguments say, and prints it line by line.

    Raises:
        HearthError: It was not done; the text says why.
    """
    from agent.channels.cli import printable

    if args.action == "list":
        await _print(controller.ports())
    elif args.action == "info":
        for line in await controller.info(args.port):
            print(printable(line))
    elif args.action == "set":
        print(printable(await controller.set(args.port, args.channel, args.percent, args.fade)))
    else:
        await _print(controller.flash(args.port, args.image, args.baud))


async def _print(lines: AsyncIterator[str]) -> None:
    from agent.channels.cli import printable

    async with aclosing(cast("AsyncGenerator[str, Any]", lines)) as each:
        async for line in each:
            print(printable(line), flush=True)
