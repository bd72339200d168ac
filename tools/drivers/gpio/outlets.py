"""What a device hangs on: a line, a hardware PWM, or a line that a thread switches.

All have levels from 0.0 to 1.0. Those of a lamp are how bright it looks; those of a fan, how long it has power.
"""

from __future__ import annotations

from typing import Protocol

from tools.drivers.gpio import lines, pwm
from tools.drivers.gpio.lightness import brightness_of, light_of
from tools.drivers.gpio.lines import LineName, Output, request_output
from tools.drivers.gpio.options import HARDWARE_HZ, SOFTWARE_HZ, GpioOptions
from tools.drivers.gpio.pwm import PwmName, open_pwm
from tools.drivers.gpio.software_pwm import SoftwarePwm


class Outlet(Protocol):
    """What is driven. Each function may raise an `OSError`, whose text says why."""

    def set(self, level: float) -> None:
        """Drives it; 0.0 is off, 1.0 fully on."""
        ...

    def read(self) -> float:
        """What it is at, as far as that can be read."""
        ...

    def close(self) -> None:
        """Gives it back; twice is fine."""
        ...


class SwitchedLine:
    """A line that is on or off."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def set(self, level: float) -> None:
        """Any level but 0.0 is on."""
        self._output.set(level > 0)

    def read(self) -> float:
        """1.0 or 0.0, as the pin is."""
        return 1.0 if self._output.read() else 0.0

    def close(self) -> None:
        """Gives the line back."""
        self._output.close()


class Lamp:
    """A PWM with a lamp, whose levels are how bright it looks."""

    def __init__(self, pwm: Outlet) -> None:
        self._pwm = pwm

    def set(self, level: float) -> None:
        """Gives it the light that looks so bright."""
        self._pwm.set(light_of(level))

    def read(self) -> float:
        """How bright its light looks."""
        return brightness_of(self._pwm.read())

    def close(self) -> None:
        """Gives the PWM back."""
        self._pwm.close()


async def open_outlet(options: GpioOptions, is_lamp: bool, level: float | None) -> Outlet:
    """What the settings name, at a level from its first moment on.

    Args:
        options: The device's table.
        is_lamp: Where it can be dimmed, levels are how bright it looks.
        level: 0.0 to 1.0; None is the level that it is found at.

    Raises:
        LineError: The line is not to be had.
        PwmError: The channel is not to be had.
    """
    if is_lamp and (options.pwm is not None or options.software_pwm):
        return Lamp(await open_outlet(options, False, None if level is None else light_of(level)))
    if options.pwm is not None:
        frequency = options.frequency_hz or HARDWARE_HZ
        return await open_pwm(PwmName(options.pwm, options.pwm_chip), frequency, options.active_low, level)
    on = None if level is None else level > 0
    output = request_output(_line(options), options.active_low, on)
    if not options.software_pwm:
        return SwitchedLine(output)
    if level is None:
        level = 1.0 if output.read() else 0.0
    return SoftwarePwm(output, options.frequency_hz or SOFTWARE_HZ, level)


def examine(options: GpioOptions) -> None:
    """Looks whether it is to be had, and changes nothing.

    Raises:
        LineError: The line is not.
        PwmError: The channel is not.
    """
    if options.pwm is not None:
        pwm.examine(PwmName(options.pwm, options.pwm_chip))
    else:
        lines.examine(_line(options))


def _line(options: GpioOptions) -> LineName:
    assert options.line is not None  # by `options.check`
    return LineName(options.line, options.chip)
