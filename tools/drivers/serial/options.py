"""What the settings say of the board and of what hangs on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from agent.errors import SettingsError
from agent.schema import Range
from tools.device import Device, Kind
from tools.drivers.serial.levels import level_of
from tools.drivers.serial.link import REPLY_WAIT_S
from tools.drivers.serial.protocol import FADE_UNIT_MS, SILENCE_UNIT_MS, BootLevel

_SWITCHED = frozenset({Kind.LIGHT, Kind.SWITCH, Kind.PLUG, Kind.FAN})


@dataclass(frozen=True)
class SerialOptions:
    """The table `serial` of a device: what it hangs on; one of `channel`, `relay` and `input`."""

    channel: Annotated[int, Range(0, 63)] | None = None
    """A dimmable channel of the board, from 0 on."""

    relay: Annotated[int, Range(0, 63)] | None = None
    """A relay of the board, from 0 on."""

    input: Annotated[int, Range(0, 7)] | None = None
    """An input of the board, from 0 on, for a detector: a contact, or what has one."""

    fade_s: Annotated[float, Range(0, 600)] = 0.4
    """How long a lamp on a dimmable channel takes from one brightness to another, in seconds; 0 is at once."""

    safe: Annotated[int, Range(0, 100)] = 0
    """What it falls to when Hearth is silent for `silence_s`, in percent; a relay takes 0 or 100."""

    boot: Literal["off", "safe", "last"] | None = None
    """What it does after power was away; "last" for a light, else "off", when nothing is said."""

    @property
    def fade(self) -> int:
        """The fade in the board's unit; a relay has none."""
        return 0 if self.channel is None else round(self.fade_s * 1000 / FADE_UNIT_MS)

    def boot_level(self, kind: Kind) -> BootLevel:
        """The board's policy for a device of that kind."""
        return BootLevel[(self.boot or ("last" if kind is Kind.LIGHT else "off")).upper()]

    @property
    def safe_level(self) -> int:
        """The safe level in per mille."""
        return level_of(self.safe)


@dataclass(frozen=True)
class SerialButton:
    """A button's table `serial`. The board itself tells short presses from long ones, and needs no more."""

    input: Annotated[int, Range(0, 7)]
    """The board's input, from 0 on."""


@dataclass(frozen=True)
class SerialSettings:
    """The table `[tools.serial]`: the board that the devices hang on."""

    port: Path | None = None
    """Its port, best one of /dev/serial/by-id; without it the board is looked for."""

    board: str | None = None
    """Its id, 16 hexadecimal digits, where there are several; `hearth board list` shows it."""

    silence_s: Annotated[float, Range(0, 6553)] = 0.0
    """After so long without Hearth the devices fall to their `safe` level, in seconds; 0 is never."""

    reply_timeout_s: Annotated[float, Range(0.05, 10)] = REPLY_WAIT_S
    """How long one answer of the board is waited for, in seconds; a request is sent four times at most."""

    @property
    def silence(self) -> int:
        """The period of silence in the board's unit."""
        return round(self.silence_s * 1000 / SILENCE_UNIT_MS)


def check_settings(settings: SerialSettings | None) -> None:
    """Refuses what only the use of the settings would show.

    Raises:
        SettingsError: The board's id is none.
    """
    if settings and settings.board is not None and not re.fullmatch(r"[0-9a-f]{16}", settings.board):
        raise SettingsError(
            f"[tools.serial]: board is {settings.board!r}; it must be 16 digits from 0 to 9 and a to f",
            ("tools", "serial", "board"),
        )
    if settings and settings.silence_s and settings.silence_s < 1:
        raise SettingsError(
            f"[tools.serial]: silence_s is {settings.silence_s:g}; allowed is 0, or 1 to 6553",
            ("tools", "serial", "silence_s"),
        )


def check(device: Device) -> None:
    """Refuses a device that a board cannot move.

    Raises:
        ValueError: The text says why.
    """
    options: SerialOptions = device.options
    kind = device.kind.value.replace("_", " ")
    hangs_on = [name for name in ("channel", "relay", "input") if getattr(options, name) is not None]
    if device.kind is Kind.DETECTOR:
        if hangs_on != ["input"]:
            raise ValueError("a detector needs the key input, and neither channel nor relay")
        return
    if device.kind not in _SWITCHED:
        raise ValueError(f"the board moves lights, switches, plugs and fans, and tells of detectors; this is a {kind}")
    if len(hangs_on) != 1 or options.input is not None:
        raise ValueError(f"a {kind} needs one of the keys channel and relay")
    if set(device.can) - {"brightness"} or device.effects:
        raise ValueError(f"the board cannot give a {kind} {', '.join((*device.can, *device.effects))}")
    if options.relay is not None:
        if "brightness" in device.can:
            raise ValueError("a relay cannot dim: say can = [], or use a channel")
        if options.safe not in (0, 100):
            raise ValueError(f"safe is {options.safe}; a relay takes 0 or 100")
