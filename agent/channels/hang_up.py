"""Telling a peer that has said all from one that has gone: both end what can be read of them."""

from __future__ import annotations

import asyncio
import select
from asyncio import StreamWriter


async def hang_up(writer: StreamWriter) -> None:
    """Waits until the other end of a Unix socket is closed altogether.

    Raises:
        ConnectionError: It is.
    """
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    with select.epoll() as poll:
        # Registered for nothing, it still tells of a hang-up; asyncio does not, once all is read.
        poll.register(writer.get_extra_info("socket").fileno(), 0)
        loop.add_reader(poll.fileno(), gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(poll.fileno())
    raise ConnectionError("the other end is closed")
