"""Plain functions off the event loop, each in a thread of its own.

The threads are not those of `asyncio.to_thread`: a function that hangs for ever would keep one of these few
from the session store, and the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Final, TypeVar

T = TypeVar("T")

MAX_THREADS: Final = 64
"""How many functions may run, or hang, at once."""

_free = threading.BoundedSemaphore(MAX_THREADS)


async def run_in_thread(function: Callable[[], T], name: str) -> T:
    """Runs a function; if the caller is cancelled it goes on, and its result is lost.

    Args:
        function: What is run.
        name: That of the thread.

    Raises:
        RuntimeError: There are `MAX_THREADS` already.
        Exception: Whatever the function raises.
    """
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()

    def work() -> None:
        try:
            result.set_result(function())
        except Exception as error:
            result.set_exception(error if _can_be_handed_over(error) else _named(error))
        except BaseException as error:  # `sys.exit()` there is no reason to end everything here
            result.set_exception(_named(error))
        finally:
            _free.release()

    if not _free.acquire(blocking=False):
        raise RuntimeError(f"{MAX_THREADS} calls have not come back")
    try:
        threading.Thread(target=work, name=name, daemon=True).start()
    except BaseException:
        _free.release()
        raise
    return await asyncio.wrap_future(result)


def _can_be_handed_over(error: Exception) -> bool:
    """A future takes no StopIteration, and would take a CancelledError for its own."""
    return not isinstance(error, (StopIteration, CancelledError))


def _named(error: BaseException) -> RuntimeError:
    named = RuntimeError(f"{type(error).__name__}: {error}")
    named.__cause__ = error
    return named
