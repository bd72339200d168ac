"""Frames to bytes and bytes to frames, without any I/O.

A frame on the wire is 00 COBS(length sequence type body crc-low crc-high) 00; firmware/protocol.toml says the rest.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass

from tools.drivers.serial.protocol import MAX_BODY

_HEAD = 3
_CRC = 2

LONGEST = _HEAD + MAX_BODY + _CRC + 1
"""The bytes of a frame between its zeros, at most; COBS adds one to less than 255."""


class DamagedError(ValueError):
    """Bytes that are no frame."""


@dataclass(frozen=True)
class Frame:
    """What stands in a frame.

    Attributes:
        sequence: 1 to 255, the same in a request and its answer; 0 where the board speaks unasked.
        type: One of those of the protocol.
        body: At most `MAX_BODY` bytes.
    """

    sequence: int
    type: int
    body: bytes = b""


def encode(frame: Frame) -> bytes:
    """A frame as it is sent, with the zero before it that ends whatever noise stood there.

    Raises:
        ValueError: The body is too long, or a number is no byte.
    """
    if len(frame.body) > MAX_BODY:
        raise ValueError(f"a body of {len(frame.body)} bytes is longer than {MAX_BODY}")
    data = bytes((len(frame.body), frame.sequence, frame.type)) + frame.body
    return b"\0" + stuff(data + crc16(data).to_bytes(_CRC, "little")) + b"\0"


def decode(stuffed: bytes) -> Frame:
    """The frame between two zeros.

    Raises:
        DamagedError: It is none; the text says why.
    """
    data = unstuff(stuffed)
    if len(data) < _HEAD + _CRC:
        raise DamagedError(f"{len(data)} bytes are too few for a frame")
    content, crc = data[:-_CRC], int.from_bytes(data[-_CRC:], "little")
    if crc16(content) != crc:
        raise DamagedError("the checksum is wrong")
    if content[0] != len(content) - _HEAD or content[0] > MAX_BODY:
        raise DamagedError(f"the length is {content[0]}, and {len(content) - _HEAD} bytes are there")
    return Frame(content[1], content[2], content[_HEAD:])


class Decoder:
    """Takes bytes as they come, in pieces of any size, and gives the frames that end in them.

    Attributes:
        damaged: How many pieces between zeros were no frames.
    """

    def __init__(self) -> None:
        self.damaged = 0
        self._kept = bytearray()
        self._too_long = False

    @property
    def unfinished(self) -> bytes:
        """What has come of a frame whose end has not."""
        return bytes(self._kept)

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now, in their order. What is no frame is counted and left out."""
        frames = []
        *ended, rest = data.split(b"\0")
        for piece in ended:
            self._keep(piece)
            if (frame := self._take()) is not None:
                frames.append(frame)
        self._keep(rest)
        return frames

    def _keep(self, piece: bytes) -> None:
        """Keeps no more than a frame can have: a device that never sends a zero costs no memory."""
        self._too_long = self._too_long or len(self._kept) + len(piece) > LONGEST
        self._kept += piece[: LONGEST - len(self._kept)]

    def _take(self) -> Frame | None:
        stuffed, too_long = bytes(self._kept), self._too_long
        self._kept.clear()
        self._too_long = False
        if not stuffed:
            return None  # two zeros in a row are nothing
        try:
            if too_long:
                raise DamagedError("it is too long")
            return decode(stuffed)
        except DamagedError:
            self.damaged += 1
            return None


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, begins with 0xFFFF; of "123456789" it is 0x29B1."""
    return binascii.crc_hqx(data, 0xFFFF)


def stuff(data: bytes) -> bytes:
    """COBS (Cheshire and Baker, 1999): the same without zeros.

    Raises:
        ValueError: There are more than 254 bytes, which no frame has.
    """
    if len(data) > 254:
        raise ValueError(f"{len(data)} bytes are more than one block holds")
    return b"".join(bytes((len(block) + 1,)) + block for block in data.split(b"\0"))


def unstuff(stuffed: bytes) -> bytes:
    """The reverse of `stuff`.

    Raises:
        DamagedError: There is a zero in it, or a block ends after the end.
    """
    if not stuffed or 0 in stuffed:
        raise DamagedError("it is empty, or has a zero")
    blocks, at = [], 0
    while at < len(stuffed):
        end = at + stuffed[at]
        # A count of 255 stands for 254 bytes without a zero after them: no frame is that long.
        if end > len(stuffed) or stuffed[at] == 255:
            raise DamagedError("a block ends after the end")
        blocks.append(stuffed[at + 1 : end])
        at = end
    return b"\0".join(blocks)
