"""systemd's watchdog: fed by progress, starved by a stuck worker."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator

import pytest

from agent.content import Content
from agent.model.generative import GenerateContentRequest
from agent.model.tflite import TfliteModel
from agent.progress import Progress
from agent.watchdog import Watchdog, watchdog_s

TIME_S = 0.4
"""The watchdog's own time in these tests, in seconds."""


class Feeder:
    """Counts the feedings, and lets a test wait for them."""

    def __init__(self) -> None:
        self.count = 0
        self._fed = asyncio.Event()

    def feed(self) -> None:
        self.count += 1
        self._fed.set()

    async def feeds(self, times: int) -> None:
        async with asyncio.timeout(60):
            for _ in range(times):
                self._fed.clear()
                await self._fed.wait()


@pytest.fixture
async def feeder() -> Feeder:
    return Feeder()


@pytest.fixture
async def worker(feeder: Feeder) -> AsyncIterator[Progress]:
    """A worker that is watched."""
    worker = Progress("the model")
    running = asyncio.create_task(Watchdog(TIME_S, lambda: [worker], feeder.feed).run())
    yield worker
    running.cancel()


async def test_it_is_fed_twice_in_its_time_while_nothing_is_to_be_done(feeder: Feeder, worker: Progress) -> None:
    """As sd_watchdog_enabled(3) wants it; the event loop itself is what proves that it runs."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    await feeder.feeds(20)

    assert (loop.time() - started) / 20 < TIME_S / 2 + 1  # a busy machine is late, not wrong


async def test_f28_long_work_lives_while_it_takes_its_steps(feeder: Feeder, worker: Progress) -> None:
    """F28: many times the watchdog's own time, in a thread."""
    ended = threading.Event()

    def infer() -> None:
        with worker.at_work():
            while not ended.wait(TIME_S / 20):
                worker.step()

    working = asyncio.create_task(asyncio.to_thread(infer))
    await feeder.feeds(20)  # five times its time
    ended.set()
    await working


async def test_f28_a_stuck_worker_starves_it_and_is_named(
    feeder: Feeder, worker: Progress, caplog: pytest.LogCaptureFixture
) -> None:
    """F28: after the watchdog's own time, so that systemd ends the process within twice that."""
    said = _said(caplog, "no progress: the model")
    with worker.at_work():
        await said.wait()
        count = feeder.count
        await asyncio.sleep(TIME_S)  # to see that nothing happens there is no event

        assert feeder.count == count


async def test_a_worker_that_goes_on_feeds_it_again(
    feeder: Feeder, worker: Progress, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that was slow for once: systemd may not have lost its patience yet."""
    said = _said(caplog, "no progress")
    with worker.at_work():
        await said.wait()
        worker.step()
        await feeder.feeds(1)


async def test_a_worker_may_have_more_patience_of_its_own(feeder: Feeder) -> None:
    """A language model reads a long conversation without a sign."""
    worker = Progress("the language model", patience_s=3600)
    running = asyncio.create_task(Watchdog(TIME_S, lambda: [worker], feeder.feed).run())
    with worker.at_work():
        await feeder.feeds(12)
    running.cancel()


async def test_the_model_shows_each_graph_that_it_runs() -> None:
    """Many in one decision, and none when it is done."""
    model = TfliteModel()
    steps: list[float] = []
    step = model.progress.step
    model.progress.step = lambda: (steps.append(model.progress.silence()), step())[1]  # type: ignore[method-assign]
    from agent.doctor import TURN_ON_LIGHT

    await model.generate_content(GenerateContentRequest((Content.user("turn on the kitchen light"),), (TURN_ON_LIGHT,)))

    assert len(steps) > 3
    assert any(steps), "it is at work meanwhile"
    assert model.progress.silence() == 0
    await model.close()


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getppid())}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_it_is_ours_only_with_our_pid(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], seconds: float | None
) -> None:
    """A process that we start inherits the variables and is not watched."""
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert watchdog_s() == seconds


def _said(caplog: pytest.LogCaptureFixture, text: str) -> asyncio.Event:
    """Set when the watchdog says it."""
    event = asyncio.Event()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if text in record.getMessage():
                event.set()

    caplog.handler.addFilter(lambda record: (Listener().emit(record), True)[1])
    return event
