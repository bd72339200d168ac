"""Which port the board is at: what the settings name, or what has a USB id that such boards have, and says hello.

To any other port nothing is ever written, and to one of these one hello: a Zigbee stick has the same chip as half of
all boards of the Arduino kind.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import HearthError
from tools.drivers.serial.link import HELLO_WAIT_S, ForeignError, Link, LinkError
from tools.drivers.serial.port import Port, PortError, identity, pyserial, said

BY_ID = Path("/dev/serial/by-id")

USB_IDS: tuple[tuple[int, int | None], ...] = ((0x1A86, 0x7523), (0x0403, 0x6001), (0x2341, None), (0x2A03, None))
"""Vendor and product of the chips that such boards have: CH340, FT232R, and all of Arduino's own (two vendors)."""


class NoBoardError(HearthError, RuntimeError):
    """There is no board; the text says of each port why not."""


@dataclass(frozen=True)
class Candidate:
    """A port that a board may be at.

    Attributes:
        path: The link in /dev/serial/by-id where there is one, as it stays the same; else the device.
        named: The settings name it.
        usb: Its USB id, such as "1a86:7523"; "" where it is not known.
    """

    path: str
    named: bool = False
    usb: str = ""


def usb_ports() -> list[tuple[str, int, int]]:
    """The serial ports of USB devices: each device with its vendor and product.

    Raises:
        PortError: pyserial is not there.
    """
    ports = pyserial().tools.list_ports.comports()
    return [(port.device, port.vid, port.pid) for port in ports if port.vid is not None]


def candidates(
    port: Path | None = None,
    ports: Callable[[], Sequence[tuple[str, int, int]]] = usb_ports,
    by_id: Path = BY_ID,
) -> list[Candidate]:
    """The ports that may be tried: the one that is named, and then no other; else those with a fitting USB id."""
    if port is not None:
        return [Candidate(str(port), named=True)]
    links = {}
    with suppress(OSError):
        links = {os.path.realpath(link): str(link) for link in sorted(by_id.iterdir())}
    return [
        Candidate(links.get(os.path.realpath(device), device), usb=f"{vendor:04x}:{product:04x}")
        for device, vendor, product in sorted(ports())
        if any(vendor == known and one in (None, product) for known, one in USB_IDS)
    ]


class Finder:
    """Finds the board, again and again, and remembers what is none until that is plugged in anew."""

    def __init__(
        self,
        find: Callable[[], Sequence[Candidate]],
        board: str | None = None,
        link: Callable[[Port], Link] = Link,
        hello_wait_s: float | None = None,
    ) -> None:
        """A finder that has not looked yet.

        Args:
            find: The ports that may be tried.
            board: The id of the board in hexadecimal; None takes the first.
            link: Makes the link at an open port.
            hello_wait_s: How long a board may take to say who it is, in seconds; None is `HELLO_WAIT_S`.
        """
        self._find, self._board, self._link = find, board, link
        self._wait = HELLO_WAIT_S if hello_wait_s is None else hello_wait_s
        self._foreign: dict[tuple[str, int, int], str] = {}
        self._ours: set[tuple[str, int, int]] = set()

    async def open(self) -> Link:
        """The link to the first board that says hello.

        Raises:
            NoBoardError: There is none.
        """
        reasons = []
        for candidate in await asyncio.to_thread(self._find):
            try:
                return await self.greet(candidate)
            except (PortError, LinkError) as error:
                reasons.append(f"{candidate.path}: {error}")
        text = "; ".join(reasons) or (
            "no serial port has the USB id of such a board (1a86:7523, 0403:6001, 2341:*, 2a03:*); "
            "plug it in, or name its port in [tools.serial]"
        )
        raise NoBoardError(text)

    async def greet(self, candidate: Candidate) -> Link:
        """The link to the board at a port.

        Raises:
            PortError: The port cannot be used.
            LinkError: There is no board at it that is ours.
        """
        try:
            key = identity(candidate.path)
        except OSError as error:
            raise PortError(said(error)) from None
        # Whoever names a port says that the board is there; the others were asked once.
        if key in self._foreign and key not in self._ours and not candidate.named:
            raise ForeignError(self._foreign[key])
        port = await Port.open(candidate.path)
        link = self._link(port)
        try:
            hello = await link.greet(self._wait)
            if self._board not in (None, hello.board_id.hex()):
                raise ForeignError(f"the board {hello.board_id.hex()} is there, and not {self._board}")
        except BaseException as error:
            # One of ours of another version is asked again, as it may be given its firmware where it is.
            if isinstance(error, ForeignError) and not error.ours:
                self._foreign[key] = str(error)
            await link.close()
            raise
        self._ours.add(key)
        return link
