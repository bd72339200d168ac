"""Tasks that speak to a broker end, also where a cancellation is lost."""

from __future__ import annotations

import asyncio

from agent.ending import end


async def test_a_task_that_loses_its_first_cancellation_is_told_again() -> None:
    """As one that waits by `wait_for` of Python 3.11 when its acknowledgement comes at that moment."""
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost += 1
        await asyncio.Event().wait()

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)  # it begins
    async with asyncio.timeout(60):
        (how,) = await end(task)

    assert lost == 1
    assert isinstance(how, asyncio.CancelledError)


async def test_what_ended_by_itself_is_told_as_it_ended() -> None:
    """In the order of the tasks."""

    async def broken() -> None:
        raise OSError("gone")

    async def done() -> int:
        return 3

    tasks = asyncio.create_task(broken()), asyncio.create_task(done())
    await asyncio.wait(tasks)
    first, second = await end(*tasks)

    assert isinstance(first, OSError)
    assert second == 3


async def test_nothing_to_end_is_fine() -> None:
    """At once."""
    assert await end() == []
