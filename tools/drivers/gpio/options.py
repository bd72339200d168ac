"""What the settings say about GPIO: a device's table `gpio`, a button's, and `[tools.gpio]`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from agent.errors import SettingsError
from agent.schema import Range
from tools.device import FANS, LIGHTS, SWITCHES, Device, Kind

Pull = Literal["up", "down", "none"]
"""What the chip's own resistor does with an input that nothing drives."""

MOVED = LIGHTS | SWITCHES
"""What hangs on an output."""

TOLD = frozenset({Kind.DETECTOR, Kind.DOOR, Kind.WINDOW})
"""What hangs on an input: active is detected, or open."""

HARDWARE_HZ, SOFTWARE_HZ = 1000, 100
"""The usual frequencies: no eye sees either, and a thread of ours can keep the second."""

HIGHEST_SOFTWARE_HZ = 200
"""What a thread can keep with 1 percent steps of 50 microseconds, on a board that has nothing else to do."""


@dataclass(frozen=True)
class GpioOptions:
    """A device's table `gpio`. It hangs on a line, or on a channel of a hardware PWM."""

    line: str | None = None
    """The line's name, such as "GPIO17"; or its number, as a text, on `chip`."""

    chip: str | None = None
    """The label of the chip with the line; needed for a number, and where two chips have a line of that name."""

    pwm: Annotated[int, Range(0, 63)] | None = None
    """The channel of a hardware PWM, in the place of a line."""

    pwm_chip: str | None = None
    """The device of the hardware PWM, such as "fe20c000.pwm"; needed where there are several."""

    software_pwm: bool = False
    """Dims a line by a thread of ours; the lamp may flicker while the processor is busy."""

    frequency_hz: Annotated[int, Range(10, 50_000)] | None = None
    """How often a second a PWM switches; else 1000, and 100 by software, which can do 200."""

    active_low: bool = False
    """The device is on, or the contact closed, while the line is low."""

    pull: Pull | None = None
    """For inputs: the chip's own resistor; as it is when nothing is said."""

    debounce_ms: Annotated[int, Range(0, 1000)] = 20
    """For inputs: how long a level must stay to count."""

    fade_s: Annotated[float, Range(0, 5)] = 0.4
    """For what is dimmed: how long it takes to another brightness, in seconds."""

    boot: Literal["off", "last", "keep"] = "off"
    """For outputs, when Hearth starts: off; as Hearth left it, or off if that is not known; as it is found."""


@dataclass(frozen=True)
class GpioButton:
    """A button's table `gpio`."""

    line: str
    """The line's name, or its number, as a text, on `chip`."""

    chip: str | None = None
    """The label of the chip with the line."""

    active_low: bool = True
    """The line is low while the button is pressed, as with one that connects it to ground."""

    pull: Pull = "up"
    """The chip's own resistor."""

    debounce_ms: Annotated[int, Range(0, 1000)] = 20
    """How long a level must stay to count."""

    long_ms: Annotated[int, Range(200, 10_000)] = 600
    """From when on it is held long."""


@dataclass(frozen=True)
class GpioSettings:
    """The table `[tools.gpio]`: a LED that shows what Hearth is doing."""

    led: str | None = None
    """The line of the LED: its name, or its number, as a text, on `led_chip`."""

    led_chip: str | None = None
    """The label of the chip with that line."""

    led_active_low: bool = False
    """The LED is on while the line is low."""


_FOR_OUTPUTS = ("pwm", "pwm_chip", "software_pwm", "frequency_hz", "fade_s", "boot")
_FOR_INPUTS = ("pull", "debounce_ms")
_FOR_PWM = ("frequency_hz", "fade_s")


def check(device: Device) -> None:
    """Refuses what no line can do.

    Raises:
        ValueError: The text says what is wrong.
    """
    options: GpioOptions = device.options
    given = {field.name for field in fields(options) if getattr(options, field.name) != field.default}
    kind = device.kind.value.replace("_", " ")
    if device.kind not in MOVED | TOLD:
        raise ValueError(f"a {kind} cannot hang on a line; what can are a light, a switch, a plug, a fan, a detector "
                         "and the contact of a door or a window")  # fmt: skip
    if device.kind in TOLD and device.can:
        raise ValueError(f"a {kind} with a motor cannot hang on a line")
    _check_place(options)
    _refuse(given, _FOR_OUTPUTS if device.kind in TOLD else _FOR_INPUTS, f"is not for a {kind}")
    if not (pulsed := options.pwm is not None or options.software_pwm):
        _refuse(given, _FOR_PWM, "is for a PWM")
    if impossible := [ability for ability in device.can if ability not in ("brightness", "speed")]:
        raise ValueError(f"one line has no {impossible[0]}; leave it out of can")
    if device.can and not pulsed:
        raise ValueError(f"a line only switches; say can = [], or give the {kind} a pwm, or software_pwm = true")
    if pulsed and not device.can:
        able = "brightness" if device.kind is Kind.LIGHT else "speed"
        raise ValueError(f'a PWM is for what has a {able}; say can = ["{able}"]' if device.kind in LIGHTS | FANS
                         else f"a {kind} is only switched; a PWM would wear it out")  # fmt: skip
    if options.software_pwm and (options.frequency_hz or 0) > HIGHEST_SOFTWARE_HZ:
        raise ValueError(f"frequency_hz is {options.frequency_hz}; by software at most {HIGHEST_SOFTWARE_HZ}")


def _check_place(options: GpioOptions) -> None:
    if (options.line is None) is (options.pwm is None):
        raise ValueError('it needs either the key "line" or the key "pwm"')
    if options.pwm is not None and (options.chip is not None or options.software_pwm):
        raise ValueError("chip and software_pwm are for a line, and it has a pwm; pwm_chip says which")
    if options.pwm is None and options.pwm_chip is not None:
        raise ValueError("pwm_chip is for a pwm")
    if options.line is not None:
        check_line(options.line, options.chip)


def check_line(line: str, chip: str | None) -> None:
    """Refuses a number without its chip.

    Raises:
        ValueError: It is one.
    """
    if line.isdecimal() and chip is None:
        raise ValueError(f'line is "{line}"; a number needs the chip\'s label, as chips have no fixed order')


def _refuse(given: set[str], keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if key in given:
            raise ValueError(f"{key} {why}")


def check_button(options: GpioButton) -> None:
    """As `check`.

    Raises:
        ValueError: The text says what is wrong.
    """
    check_line(options.line, options.chip)


def check_settings(settings: GpioSettings) -> None:
    """As `check`, for `[tools.gpio]`.

    Raises:
        SettingsError: The text says what is wrong.
    """
    if settings.led is not None:
        try:
            check_line(settings.led, settings.led_chip)
        except ValueError as error:
            raise SettingsError(f"[tools.gpio]: led: {error}", ("tools", "gpio", "led")) from error
