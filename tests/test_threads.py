"""Plain functions off the event loop, and what one that hangs does not hold up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent.threads import MAX_THREADS, run_in_thread


async def test_result_and_exception_come_back() -> None:
    assert await run_in_thread(lambda: threading.current_thread().name, "bell") == "bell"
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 // 0, "bell")


@pytest.mark.parametrize(
    "error", [StopIteration(), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
async def test_exception_that_would_end_the_event_loop_comes_back_as_an_error(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=type(error).__name__):
        await asyncio.wait_for(run_in_thread(fail, "bell"), 10)


async def test_functions_that_hang_are_counted_and_leave_the_threads_of_others_alone() -> None:
    go = threading.Event()
    hanging = [asyncio.create_task(run_in_thread(go.wait, "hang")) for _ in range(MAX_THREADS)]
    await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="have not come back"):
        await run_in_thread(go.wait, "hang")
    assert await asyncio.to_thread(lambda: "written") == "written"
    go.set()
    await asyncio.gather(*hanging)
    assert await run_in_thread(lambda: "free again", "bell") == "free again"


async def test_caller_that_is_cancelled_leaves_the_function_to_its_end() -> None:
    entered, go, ended = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        entered.set()
        go.wait()
        ended.set()

    task = asyncio.create_task(run_in_thread(slow, "slow"))
    await asyncio.to_thread(entered.wait)
    task.cancel()
    await asyncio.wait([task])
    go.set()

    assert task.cancelled()
    assert await asyncio.to_thread(ended.wait, 5)


HANGING = """
import asyncio, threading
from agent.threads import run_in_thread

async def main():
    await asyncio.wait_for(run_in_thread(threading.Event().wait, "hang"), 0.01)

asyncio.run(main())
"""


def test_function_that_hangs_does_not_keep_the_process_from_ending() -> None:
    root = Path(__file__).parent.parent
    ended = subprocess.run([sys.executable, "-c", HANGING], cwd=root, capture_output=True, timeout=60, check=False)

    assert b"TimeoutError" in ended.stderr
