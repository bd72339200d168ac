"""A channel of the kernel's hardware PWM, through files: /sys/class/pwm/pwmchip0/pwm1/{period,duty_cycle,enable}.

The kernel refuses a duty that is longer than the period, so the order of writes matters. A channel stays as it is
when we end: a lamp on it burns on, and is found at its level by the next start. It is never disabled, as some chips
then leave the pin where it was.
"""

from __future__ import annotations

import asyncio
import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import HearthError

SYSFS = Path("/sys/class/pwm")
"""Where the chips are."""

EXPORTED_WITHIN_S = 3.0
"""How long udev may take to give a new channel to the group gpio, in seconds."""


class PwmError(HearthError, OSError):
    """A channel that is not to be had, or does not do as it is told. The text says why, and what to do."""


@dataclass(frozen=True)
class PwmName:
    """A channel as the settings name it; the chip by its device, as its number changes with the kernel."""

    channel: int
    chip: str | None = None

    def __str__(self) -> str:
        return f"channel {self.channel} of the PWM {self.chip}" if self.chip else f"PWM channel {self.channel}"


class HardwarePwm:
    """A channel that we drive. Its levels are from 0.0, off, to 1.0, fully on."""

    def __init__(self, name: PwmName, folder: Path, period_ns: int, active_low: bool) -> None:
        """Takes over a channel that is set up; `open_pwm` does that."""
        self._name = name
        self._folder = folder
        self._period_ns = period_ns
        self._active_low = active_low

    def set(self, level: float) -> None:
        """Sets how much of its time it is on; what is not off is on for a nanosecond at least.

        Raises:
            PwmError: The kernel refuses it.
        """
        on_ns = max(1, round(level * self._period_ns)) if level > 0 else 0
        self._write("duty_cycle", self._period_ns - on_ns if self._active_low else on_ns)

    def read(self) -> float:
        """What the kernel says that it is at.

        Raises:
            PwmError: It says nothing.
        """
        period, duty = self._number("period"), self._number("duty_cycle")
        enabled = self._number("enable") == 1
        high = duty / period if enabled and period else 0.0
        return 1.0 - high if self._active_low else high

    def close(self) -> None:
        """Leaves the channel as it is. Twice is fine."""

    def _write(self, file: str, value: int) -> None:
        try:
            (self._folder / file).write_text(f"{value}\n")
        except OSError as error:
            raise _refused(self._name, self._folder, error) from error

    def _number(self, file: str) -> int:
        return _number(self._name, self._folder, file)


async def open_pwm(name: PwmName, frequency_hz: int, active_low: bool, level: float | None) -> HardwarePwm:
    """Sets up a channel at a level; a lamp that is on already does not blink.

    Args:
        name: Which channel.
        frequency_hz: How often a second it switches.
        active_low: The lamp is on while the pin is low.
        level: 0.0 to 1.0; None keeps the one that it is found at, which is off for one that nobody had set up.

    Raises:
        PwmError: It is not to be had.
    """
    folder = await _exported(name, _find(name))
    if _text(name, folder, "polarity") == "inversed":  # a device tree may say so; then the kernel inverts
        active_low = not active_low
    period, old = round(1e9 / frequency_hz), _number(name, folder, "period")
    pwm = HardwarePwm(name, folder, period, active_low)
    enabled = _number(name, folder, "enable") == 1
    if level is None:
        before = HardwarePwm(name, folder, old, active_low)
        level = before.read() if enabled and old else 0.0
    for file in ("period", "duty_cycle") if period >= old else ("duty_cycle", "period"):
        if file == "period":
            pwm._write("period", period)
        else:
            pwm.set(level)
    if not enabled:
        pwm._write("enable", 1)
    return pwm


def examine(name: PwmName) -> None:
    """Looks whether there is such a channel and whether we may write to it, and changes nothing.

    Raises:
        PwmError: There is none, or we may not.
    """
    chip = _find(name)
    channel = chip / f"pwm{name.channel}"
    file = channel / "duty_cycle" if channel.exists() else chip / "export"
    try:
        os.close(os.open(file, os.O_WRONLY))
    except OSError as error:
        raise _refused(name, file.parent, error) from error


def _find(name: PwmName) -> Path:
    """The folder of the chip.

    Raises:
        PwmError: There is none, or it was not said which.
    """
    chips = {_device(path): path for path in sorted(SYSFS.glob("pwmchip*"))}
    if not chips:
        raise PwmError(
            "there is no hardware PWM: add dtoverlay=pwm-2chan to /boot/firmware/config.txt and boot, "
            "or say software_pwm = true with a line"
        )
    known = ", ".join(chips)
    if name.chip is None and len(chips) > 1:
        raise PwmError(f"there are several hardware PWMs, so say pwm_chip; there are: {known}")
    folder = next(iter(chips.values())) if name.chip is None else chips.get(name.chip)
    if folder is None:
        raise PwmError(f"there is no hardware PWM {name.chip!r}; there are: {known}")
    count = _number(name, folder, "npwm")
    if name.channel >= count:
        raise PwmError(f"there is no {name}: it has {count}, counted from 0")
    return folder


def _device(chip: Path) -> str:
    """The name of a chip's device, which stays; such as "fe20c000.pwm"."""
    try:
        return (chip / "device").readlink().name
    except OSError:
        return chip.name


async def _exported(name: PwmName, chip: Path) -> Path:
    """The folder of the channel, once it is there and ours."""
    folder = chip / f"pwm{name.channel}"
    if not folder.exists():
        try:
            (chip / "export").write_text(f"{name.channel}\n")
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise PwmError(f"{name} is used by a driver of the kernel: take another channel") from error
            raise _refused(name, chip, error) from error
    # Sysfs tells nobody when udev has changed the group of a file, so this is the one thing that is asked for again.
    with suppress(TimeoutError):
        async with asyncio.timeout(EXPORTED_WITHIN_S):
            while not _is_ours(folder / "duty_cycle"):
                await asyncio.sleep(0.01)
    return folder


def _is_ours(file: Path) -> bool:
    try:
        with file.open("r+"):
            return True
    except OSError:
        return False


def _text(name: PwmName, folder: Path, file: str) -> str:
    try:
        return (folder / file).read_text().strip()
    except OSError as error:
        raise _refused(name, folder, error) from error


def _number(name: PwmName, folder: Path, file: str) -> int:
    try:
        return int(_text(name, folder, file))
    except ValueError as error:
        raise PwmError(f"{name} fails: {folder / file} has no number") from error


def _refused(name: PwmName, folder: Path, error: OSError) -> PwmError:
    if error.errno == errno.EROFS:
        # A channel's own folder is not there yet after a boot, and a unit that names it would not start.
        chip = folder if folder.name.startswith("pwmchip") else folder.parent
        return PwmError(f"{name}: /sys is read-only for the unit; it needs ReadWritePaths={chip.resolve()}")
    if error.errno in (errno.EACCES, errno.EPERM):
        return PwmError(f"{name}: {folder} is for root alone: install Hearth's udev rule, which gives it to the "
                        "group gpio, and be in that group")  # fmt: skip
    return PwmError(f"{name} fails ({error.strerror}): look at the overlay, and at the kernel's log")
