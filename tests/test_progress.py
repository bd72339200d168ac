"""A worker's proof of life."""

from __future__ import annotations

import pytest

from agent import progress
from agent.progress import Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the monotonic clock shows."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_worker_without_work_is_never_silent(clock: list[float]) -> None:
    """However long ago its last work was."""
    worker = Progress("the model")
    worker.step()
    with worker.at_work():
        pass
    clock[0] += 1000

    assert worker.silence() == 0


def test_silence_is_counted_from_the_last_step_of_the_work(clock: list[float]) -> None:
    """Not from its beginning: work may take as long as it likes."""
    worker = Progress("the model")
    with worker.at_work():
        clock[0] += 50
        worker.step()
        clock[0] += 7

        assert worker.silence() == 7


def test_work_that_failed_is_over(clock: list[float]) -> None:
    """A worker that raised is free again."""
    worker = Progress("the model")
    with pytest.raises(ValueError, match="broken"), worker.at_work():
        raise ValueError("broken")
    clock[0] += 50

    assert worker.silence() == 0
