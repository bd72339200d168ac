"""How bright light looks to an eye: CIE 1931, as the light controller's firmware has it.

At half of the light a lamp looks three quarters as bright. Unlike a plain power the curve begins with a straight
line, so that also 1 percent is a pulse that a lamp can show.
"""

from __future__ import annotations

_LINE = 0.08
"""Up to this brightness it is a straight line."""

_SLOPE = 9.033


def light_of(brightness: float) -> float:
    """The part of the full light that looks so bright; both are 0.0 to 1.0."""
    if brightness <= _LINE:
        return max(0.0, brightness) / _SLOPE
    return 1.0 if brightness >= 1 else float(((brightness + 0.16) / 1.16) ** 3)


def brightness_of(light: float) -> float:
    """How bright that part of the full light looks; the opposite of `light_of`."""
    if light <= _LINE / _SLOPE:
        return max(0.0, light) * _SLOPE
    return 1.0 if light >= 1 else float(light ** (1 / 3) * 1.16 - 0.16)
