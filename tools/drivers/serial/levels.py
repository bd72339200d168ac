"""Brightness in percent, and the board's levels in per mille.

The pair is exact: every percentage comes back as it was, 1 percent is never off, and a level that is not off is
never told as 0 percent.
"""

from __future__ import annotations

from tools.drivers.serial.protocol import MAX_LEVEL

_STEP = MAX_LEVEL // 100


def level_of(percent: int) -> int:
    """The level for a brightness, in per mille.

    Args:
        percent: 0 to 100; 0 is off.

    Raises:
        ValueError: It is something else.
    """
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} percent is not within 0 to 100")
    return percent * _STEP


def percent_of(level: int) -> int:
    """The nearest brightness to a level that is not off, 1 to 100 percent.

    Args:
        level: 1 to 1000 per mille.

    Raises:
        ValueError: It is something else.
    """
    if not 0 < level <= MAX_LEVEL:
        raise ValueError(f"{level} per mille is not within 1 to {MAX_LEVEL}")
    return max(1, (level + _STEP // 2) // _STEP)
