"""Lamps, switches, contacts, buttons and a status LED on the pins of the board itself.

`lines` speaks to the GPIO chips, `pwm` to the hardware PWM, `software_pwm` makes one by a thread; `outlets` gives all
three one face, which `driver` moves devices by. `presses` makes short and long presses of edges, `led` shows what
Hearth is doing.
"""

from tools.drivers.gpio.driver import GPIO

__all__ = ["GPIO"]
