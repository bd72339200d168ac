"""Ends tasks, even those that lose a cancellation."""

from __future__ import annotations

import asyncio
from typing import Any, Final

AGAIN_S: Final = 0.5
"""After so long a task that goes on is told once more to end, in seconds."""


async def end(*tasks: asyncio.Task[Any]) -> list[Any]:
    """Cancels tasks, and waits until they are over.

    `asyncio.wait_for` of Python 3.11, with which aiomqtt waits for each acknowledgement, loses a cancellation that
    comes together with what it waits for. So a task that goes on is told again: else a service that is stopped while
    it connects would never end.

    Returns:
        What each returned, or the exception that ended it.
    """
    going: set[asyncio.Task[Any]] = set(tasks)
    while going:
        for task in going:
            task.cancel()
        _, going = await asyncio.wait(going, timeout=AGAIN_S)
    return await asyncio.gather(*tasks, return_exceptions=True)
