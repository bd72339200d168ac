"""The wire once more, apart from the driver's own codec, so that neither can hide the other's fault."""

from __future__ import annotations

import os
import termios
import time
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tests.hil.board import DEADLINE, EmulatedBoard
from tools.drivers.serial.protocol import ANSWERS, EVENTS, Message


def crc(data: bytes) -> int:
    """CRC-16/CCITT-FALSE, bit by bit as the catalogue has it."""
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ 0x1021 if value & 0x8000 else value << 1) & 0xFFFF
    return value


def stuffed(data: bytes) -> bytes:
    """COBS."""
    return b"".join(bytes([len(part) + 1]) + part for part in data.split(b"\0"))


def unstuffed(data: bytes) -> bytes:
    """COBS backwards, of data that is sound."""
    plain = b""
    while data:
        plain += data[1 : data[0]] + b"\0"
        data = data[data[0] :]
    return plain[:-1]


def frame(sequence: int, kind: int, body: bytes) -> bytes:
    """A frame with both its zeros."""
    plain = bytes([len(body), sequence, kind]) + body
    return b"\0" + stuffed(plain + crc(plain).to_bytes(2, "little")) + b"\0"


class Host:
    """Speaks with a board whose time stands still: what is asked and answered takes the same cycles in every run."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board
        self._sequence = 0
        self._bytes = b""
        self._sent = self._read = 0
        self.heard: list[tuple[int, Message]] = []
        """All that the board has said: sequence, message."""

    def __enter__(self) -> Self:
        self._port = os.open(self._board.tty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._port, termios.TCSANOW)
        state = self._board.state()
        self._sent, self._read = state["taken"], state["given"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._port)

    def run(self, milliseconds: int) -> None:
        """Lets time pass, and hears what is said in it."""
        while milliseconds > 0:
            self._until(lambda state: state["taken"] >= self._sent or state["full"])
            self._board.run(min(milliseconds, 50))
            milliseconds -= 50
            self._listen()

    def send(self, data: bytes) -> None:
        """Puts bytes on the wire."""
        self._sent += os.write(self._port, data)

    def ask(self, request: Message, sequence: int | None = None) -> Message | None:
        """The answer; None where none came within 50 ms."""
        self._sequence = self._sequence % 255 + 1 if sequence is None else sequence
        self.send(frame(self._sequence, request.TYPE, request.pack()))
        before = len(self.heard)
        self.run(50)
        answers = [message for number, message in self.heard[before:] if number == self._sequence]
        return answers[0] if answers else None

    def _until(self, condition: Callable[[dict[str, Any]], bool]) -> None:
        """Waits until it holds: the kernel hands bytes from one end of a pty to the other when it finds the time."""
        end = time.monotonic() + DEADLINE
        while not condition(state := self._board.state()):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {DEADLINE} s: {state}")
            time.sleep(0.001)  # another process: there is nothing to await

    def _take(self, state: dict[str, Any]) -> bool:
        try:
            data = os.read(self._port, 65536)
        except BlockingIOError:
            data = b""
        self._bytes += data
        self._read += len(data)
        return self._read >= int(state["given"])

    def _listen(self) -> None:
        self._until(self._take)
        *whole, self._bytes = self._bytes.split(b"\0")
        for coded in filter(None, whole):
            plain = unstuffed(coded)
            assert crc(plain[:-2]) == int.from_bytes(plain[-2:], "little"), plain
            assert plain[0] == len(plain) - 5
            self.heard.append((plain[1], {**ANSWERS, **EVENTS}[plain[2]].unpack(plain[3:-2])))
