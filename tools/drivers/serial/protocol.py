"""The wire to the light controller: numbers, and messages that pack and unpack themselves.

Made by firmware/generate.py from firmware/protocol.toml; change it there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import ClassVar, Self

BAUD = 115200
VERSION = 1
MAGIC = b"HRTH"
MAX_BODY = 32
ANSWER_BIT = 128
MAX_LEVEL = 1000
FADE_UNIT_MS = 10
SILENCE_UNIT_MS = 100
PAGE = 7


class Kind(IntEnum):
    """What hangs on a channel."""

    DIM = 0
    RELAY = 1


class BootLevel(IntEnum):
    """What a channel does after power was away. A reset without a loss of power keeps the levels, whatever is said
    here.
    """

    OFF = 0
    SAFE = 1
    LAST = 2


class Press(IntEnum):
    """What an input did. A short press ends with released, then short; a long one gives long while it is still held."""

    PRESSED = 0
    RELEASED = 1
    SHORT = 2
    LONG = 3


class Reason(IntEnum):
    """Why a request was refused."""

    UNKNOWN_TYPE = 1
    BAD_LENGTH = 2
    BAD_CHANNEL = 3
    BAD_VALUE = 4
    WRONG_STATE = 5


class ResetCause(IntFlag):
    """What began this run, as the chip's MCUSR has it; none where a bootloader took it away."""

    POWER_ON = 1
    EXTERNAL = 2
    BROWN_OUT = 4
    WATCHDOG = 8


@dataclass(frozen=True)
class Message:
    """A body of one type."""

    TYPE: ClassVar[int] = 0
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")

    def pack(self) -> bytes:
        """The body.

        Raises:
            ValueError: A value does not fit its field.
        """
        try:
            return self.LAYOUT.pack(*vars(self).values())
        except struct.error as error:
            raise ValueError(f"{self} does not fit its frame: {error}") from error

    @classmethod
    def unpack(cls, body: bytes) -> Self:
        """Reads a body.

        Raises:
            ValueError: It is too long or too short.
        """
        if len(body) != cls.LAYOUT.size:
            raise ValueError(f"{cls.__name__} has {len(body)} bytes; {cls.LAYOUT.size} are right")
        return cls(*cls.LAYOUT.unpack(body))


@dataclass(frozen=True)
class Level(Message):
    """One level of a list.

    Attributes:
        level: Now, per mille.
        target: Where a fade ends, per mille.
    """

    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<HH")

    level: int
    target: int


@dataclass(frozen=True)
class HelloRequest(Message):
    """Who are you? Moves nothing."""

    TYPE: ClassVar[int] = 0x01
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")


@dataclass(frozen=True)
class HelloAnswer(Message):
    """Answers hello.

    Attributes:
        magic: HRTH.
        protocol: Version of this description; another one is another wire.
        major: Of the firmware's version.
        minor: Of the firmware's version.
        board_id: Zeros until the name request has set it.
        dim_channels: They are numbered from 0.
        relay_channels: They are numbered after the dimmable ones.
        inputs: How many.
        reset_cause: Bits of reset_cause.
        boots: Counts the starts that lasted 20 ms, wraps; a new number means a reset was between.
    """

    TYPE: ClassVar[int] = 0x81
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<4sBBB8sBBBBH")

    magic: bytes
    protocol: int
    major: int
    minor: int
    board_id: bytes
    dim_channels: int
    relay_channels: int
    inputs: int
    reset_cause: int
    boots: int


@dataclass(frozen=True)
class SetRequest(Message):
    """Brings a channel to a level, which is absolute: sent twice it does no more than once.

    Attributes:
        channel: Dimmable ones first, then relays.
        level: 0 to 1000 per mille of perceived brightness; a relay takes 0 or 1000 only.
        fade: In 10 ms, 0 is at once; a relay takes 0 only.
    """

    TYPE: ClassVar[int] = 0x02
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BHH")

    channel: int
    level: int
    fade: int


@dataclass(frozen=True)
class SetAnswer(Message):
    """Answers set.

    Attributes:
        channel: As asked.
        level: Now, per mille; where a fade begins.
        target: Per mille.
    """

    TYPE: ClassVar[int] = 0x82
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BHH")

    channel: int
    level: int
    target: int


@dataclass(frozen=True)
class GetRequest(Message):
    """How a channel is.

    Attributes:
        channel: Which.
    """

    TYPE: ClassVar[int] = 0x03
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<B")

    channel: int


@dataclass(frozen=True)
class GetAnswer(Message):
    """Answers get.

    Attributes:
        channel: As asked.
        level: Now, per mille.
        target: Per mille.
        kind: One of kind.
    """

    TYPE: ClassVar[int] = 0x83
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BHHB")

    channel: int
    level: int
    target: int
    kind: int


@dataclass(frozen=True)
class GetAllRequest(Message):
    """How the channels from one on are; at most 7 in an answer, so ask again from first + 7 on.

    Attributes:
        first: A channel that is there.
    """

    TYPE: ClassVar[int] = 0x04
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<B")

    first: int


@dataclass(frozen=True)
class GetAllAnswer(Message):
    """Answers get_all.

    Attributes:
        first: As asked.
        count: How many follow.
        levels: One for each channel.
    """

    TYPE: ClassVar[int] = 0x84
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BB")

    first: int
    count: int
    levels: tuple[Level, ...]

    def pack(self) -> bytes:
        """The body; ValueError where a value does not fit."""
        try:
            head = self.LAYOUT.pack(self.first, self.count)
        except struct.error as error:
            raise ValueError(f"{self} does not fit its frame: {error}") from error
        return head + b"".join(each.pack() for each in self.levels)

    @classmethod
    def unpack(cls, body: bytes) -> Self:
        """Reads a body; ValueError where it is too long or too short."""
        head, step = cls.LAYOUT.size, Level.LAYOUT.size
        if len(body) < head or len(body) != head + step * body[head - 1]:
            raise ValueError(f"{cls.__name__} has {len(body)} bytes, which its count does not say")
        items = tuple(Level.unpack(body[at : at + step]) for at in range(head, len(body), step))
        [first, count] = cls.LAYOUT.unpack(body[:head])
        return cls(first, count, items)


@dataclass(frozen=True)
class InputsRequest(Message):
    """Which inputs are active now, debounced."""

    TYPE: ClassVar[int] = 0x05
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")


@dataclass(frozen=True)
class InputsAnswer(Message):
    """Answers inputs.

    Attributes:
        bits: Bit n is input n, 1 is pressed.
    """

    TYPE: ClassVar[int] = 0x85
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<B")

    bits: int


@dataclass(frozen=True)
class SafeRequest(Message):
    """What a channel falls to when the host is silent, and what it does after power was away. Kept in EEPROM.

    Attributes:
        channel: Which.
        safe_level: 0 to 1000 per mille; a relay takes 0 or 1000 only.
        boot_level: One of boot_level.
    """

    TYPE: ClassVar[int] = 0x06
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BHB")

    channel: int
    safe_level: int
    boot_level: int


@dataclass(frozen=True)
class SafeAnswer(Message):
    """Answers safe.

    Attributes:
        channel: As asked.
        safe_level: Per mille.
        boot_level: One of boot_level.
    """

    TYPE: ClassVar[int] = 0x86
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BHB")

    channel: int
    safe_level: int
    boot_level: int


@dataclass(frozen=True)
class SilenceRequest(Message):
    """After how long without a good frame of the host all channels fall to their safe level. Kept in EEPROM.

    Attributes:
        period: In 100 ms; 0 is never, as it leaves the factory.
    """

    TYPE: ClassVar[int] = 0x07
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<H")

    period: int


@dataclass(frozen=True)
class SilenceAnswer(Message):
    """Answers silence.

    Attributes:
        period: In 100 ms.
    """

    TYPE: ClassVar[int] = 0x87
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<H")

    period: int


@dataclass(frozen=True)
class StatsRequest(Message):
    """What the board counted since it started. Counters of 16 bits stay at 65535."""

    TYPE: ClassVar[int] = 0x08
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")


@dataclass(frozen=True)
class StatsAnswer(Message):
    """Answers stats.

    Attributes:
        frames: Good frames.
        damaged: Frames with a wrong checksum, length or coding.
        overruns: Bytes lost before they were read, and bytes with a framing error.
        refused: Requests refused.
        silences: Times that the host's silence moved the channels to their safe levels.
        level_writes: Times that the levels were written to EEPROM.
        longest_loop: The longest turn of the main loop, in microseconds.
        uptime: In seconds.
    """

    TYPE: ClassVar[int] = 0x88
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<HHHHHHHI")

    frames: int
    damaged: int
    overruns: int
    refused: int
    silences: int
    level_writes: int
    longest_loop: int
    uptime: int


@dataclass(frozen=True)
class NameRequest(Message):
    """Gives a board without an id its own, once; refused with wrong_state where it has one. Kept in EEPROM.

    Attributes:
        board_id: Random bytes of the host, not all zeros.
    """

    TYPE: ClassVar[int] = 0x09
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<8s")

    board_id: bytes


@dataclass(frozen=True)
class NameAnswer(Message):
    """Answers name.

    Attributes:
        board_id: As given.
    """

    TYPE: ClassVar[int] = 0x89
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<8s")

    board_id: bytes


@dataclass(frozen=True)
class RefusalAnswer(Message):
    """The answer to any request that was not done. Nothing has moved.

    Attributes:
        refused: The request's type.
        reason: One of reason.
    """

    TYPE: ClassVar[int] = 0xFF
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BB")

    refused: int
    reason: int


@dataclass(frozen=True)
class InputEvent(Message):
    """An input changed.

    Attributes:
        input: Which.
        press: One of press.
    """

    TYPE: ClassVar[int] = 0xC0
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<BB")

    input: int
    press: int


@dataclass(frozen=True)
class BootedEvent(HelloAnswer):
    """The board has started: its hello, unasked."""

    TYPE: ClassVar[int] = 0xC1


REQUESTS: dict[int, type[Message]] = {
    0x01: HelloRequest,
    0x02: SetRequest,
    0x03: GetRequest,
    0x04: GetAllRequest,
    0x05: InputsRequest,
    0x06: SafeRequest,
    0x07: SilenceRequest,
    0x08: StatsRequest,
    0x09: NameRequest,
}

ANSWERS: dict[int, type[Message]] = {
    0x81: HelloAnswer,
    0x82: SetAnswer,
    0x83: GetAnswer,
    0x84: GetAllAnswer,
    0x85: InputsAnswer,
    0x86: SafeAnswer,
    0x87: SilenceAnswer,
    0x88: StatsAnswer,
    0x89: NameAnswer,
    0xFF: RefusalAnswer,
}

EVENTS: dict[int, type[Message]] = {
    0xC0: InputEvent,
    0xC1: BootedEvent,
}
