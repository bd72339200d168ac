"""A light controller of a few lines at a pseudo-terminal, in a thread: it does as a test says, also the wrong thing."""

from __future__ import annotations

import os
import pty
import select
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.drivers.serial.codec import Decoder, Frame, encode
from tools.drivers.serial.protocol import (
    MAGIC,
    MAX_LEVEL,
    PAGE,
    REQUESTS,
    VERSION,
    BootedEvent,
    GetAllAnswer,
    GetAllRequest,
    GetAnswer,
    GetRequest,
    HelloAnswer,
    HelloRequest,
    InputEvent,
    InputsAnswer,
    InputsRequest,
    Kind,
    Level,
    Message,
    NameAnswer,
    NameRequest,
    Press,
    Reason,
    RefusalAnswer,
    SafeAnswer,
    SafeRequest,
    SetAnswer,
    SetRequest,
    SilenceAnswer,
    SilenceRequest,
    StatsAnswer,
    StatsRequest,
)

HELLO = HelloAnswer(MAGIC, VERSION, 1, 0, bytes.fromhex("0123456789abcdef"), 6, 2, 3, 1, 41)


class ScriptedBoard:
    """A board that keeps levels, and answers at once.

    Attributes:
        hello: What it says of itself.
        levels: Those of its channels, per mille.
        heard: Every frame that it was sent.
        raw: Every byte that it was sent.
        spoil: Takes a request and its answer's bytes, and gives what is sent instead; None is silence.
        safe: What it was told of safe levels, by channel.
        silence: The period of silence that it was told, in 100 ms.
        bits: Its inputs.
    """

    def __init__(self, path: Path, hello: HelloAnswer = HELLO) -> None:
        """A board that is plugged in at a path."""
        self.path = path
        self.hello = hello
        self.levels = [0] * (hello.dim_channels + hello.relay_channels)
        self.heard: list[Frame] = []
        self.raw = b""
        self.spoil: Callable[[Message, bytes], bytes | None] = lambda request, answer: answer
        self.safe: dict[int, SafeRequest] = {}
        self.silence = 0
        self.bits = 0
        self._news = threading.Condition()
        self._master = -1
        self.plug()

    def plug(self, path: Path | None = None) -> None:
        """Plugs it in, perhaps elsewhere."""
        self.path = path or self.path
        # Our own open end of the slave keeps what is written between two programs that open the port.
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.path.symlink_to(os.ttyname(self._slave))
        self._stop, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def unplug(self) -> None:
        """Pulls it out; twice is fine."""
        if self._master < 0:
            return
        self.path.unlink()
        os.write(self._wake, b"x")
        self._thread.join(5)
        for descriptor in (self._master, self._slave, self._stop, self._wake):
            os.close(descriptor)
        self._master = -1

    def reset(self, levels: list[int] | None = None) -> None:
        """Starts anew, with levels as they were or others, and says so."""
        self.levels = levels or self.levels
        self.hello = replace(self.hello, boots=self.hello.boots + 1)
        self.tell(BootedEvent(*vars(self.hello).values()))

    def press(self, number: int, press: Press) -> None:
        """Tells of an input."""
        self.tell(InputEvent(number, press))

    def tell(self, event: Message) -> None:
        """Sends what nobody asked for."""
        self.send(encode(Frame(0, event.TYPE, event.pack())))

    def send(self, data: bytes) -> None:
        """Sends any bytes."""
        with suppress(OSError):
            os.write(self._master, data)

    def requests(self, kind: type[Message]) -> list[Any]:
        """The requests of a type that it was sent."""
        return [kind.unpack(frame.body) for frame in list(self.heard) if frame.type == kind.TYPE]

    def wait_for(self, kind: type[Message], count: int = 1, within_s: float = 10) -> None:
        """Waits, in a thread, until it was sent so many requests of a type."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.requests(kind)) >= count, within_s), self.heard

    def _serve(self) -> None:
        decoder = Decoder()
        while True:
            ready, _, _ = select.select([self._master, self._stop], [], [])
            if self._stop in ready:
                return
            data = os.read(self._master, 1000)
            self.raw += data
            for frame in decoder.feed(data):
                request = REQUESTS[frame.type].unpack(frame.body)
                answer = self._answer(request)
                sent = self.spoil(request, encode(Frame(frame.sequence, answer.TYPE, answer.pack())))
                with self._news:
                    self.heard.append(frame)
                    self._news.notify_all()
                if sent is not None:
                    self.send(sent)

    def _answer(self, request: Message) -> Message:
        match request:
            case HelloRequest():
                return self.hello
            case SetRequest(channel, level, fade):
                if channel >= len(self.levels):
                    return RefusalAnswer(request.TYPE, Reason.BAD_CHANNEL)
                relay = channel >= self.hello.dim_channels
                if level > MAX_LEVEL or (relay and (level not in (0, MAX_LEVEL) or fade)):
                    return RefusalAnswer(request.TYPE, Reason.BAD_VALUE)
                before, self.levels[channel] = self.levels[channel], level
                return SetAnswer(channel, before if fade else level, level)
            case GetRequest(channel):
                level = self.levels[channel]
                return GetAnswer(channel, level, level, Kind.DIM if channel < self.hello.dim_channels else Kind.RELAY)
            case GetAllRequest(first):
                page = tuple(Level(level, level) for level in self.levels[first : first + PAGE])
                return GetAllAnswer(first, len(page), page)
            case InputsRequest():
                return InputsAnswer(self.bits)
            case SafeRequest(channel):
                self.safe[channel] = request
                return SafeAnswer(*vars(request).values())
            case SilenceRequest(period):
                self.silence = period
                return SilenceAnswer(period)
            case StatsRequest():
                return StatsAnswer(len(self.heard), 1, 2, 3, 4, 5, 640, 3723)
            case NameRequest(board_id):
                if any(self.hello.board_id):
                    return RefusalAnswer(request.TYPE, Reason.WRONG_STATE)
                self.hello = replace(self.hello, board_id=board_id)
                return NameAnswer(board_id)
        raise AssertionError(f"{request} has no answer")


@contextmanager
def scripted_board(path: Path, hello: HelloAnswer = HELLO) -> Iterator[ScriptedBoard]:
    """A board for a test; no thread of it outlives that."""
    board = ScriptedBoard(path, hello)
    try:
        yield board
    finally:
        board.unplug()


@contextmanager
def foreign_device(path: Path, says: bytes = b"") -> Iterator[list[bytes]]:
    """Something else at a port, such as a Zigbee stick: what it was sent, and it says one thing to whatever comes."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    path.symlink_to(os.ttyname(slave))
    stop, wake = os.pipe()
    got: list[bytes] = []

    def serve() -> None:
        while stop not in select.select([master, stop], [], [])[0]:
            got.append(os.read(master, 1000))
            os.write(master, says)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield got
    finally:
        os.write(wake, b"x")
        thread.join(5)
        path.unlink()
        for descriptor in (master, slave, stop, wake):
            os.close(descriptor)
