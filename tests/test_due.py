"""What becomes due: on boards that restart, lose their power, and whose clock is set, wrong or not set at all."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import writes
from agent.due import MAX_ITEMS, Announcement, DueItem, DueItems
from agent.due import items as due_module
from agent.due.items import LATE_S, LEAP_S
from agent.errors import AgentError, ArgumentError, ErrorCode, StoreError
from agent.store import SessionStore
from tests.boards import NOON, Board

MINUTE = 60.0
HOUR = 3600.0
EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
NEVER_SET = datetime(1970, 1, 1, 0, 0, 20)


class MemoryStore:
    """Rows of due items, as the session store has them.

    Attributes:
        rows: What is kept.
        openings: How often there was another file.
        writes: How often something was written.
        trouble: Raised instead of reading or writing.
    """

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.openings = 1
        self.writes = 0
        self.trouble: BaseException | None = None

    def due_items(self) -> list[dict[str, Any]]:
        if self.trouble:
            raise self.trouble
        return [json.loads(row) for row in self.rows.values()]

    def put_due(self, id: str, contents: dict[str, Any]) -> None:
        self._write()
        self.rows[id] = json.dumps(contents)

    def remove_due(self, id: str) -> None:
        self._write()
        self.rows.pop(id, None)

    def _write(self) -> None:
        if self.trouble:
            raise self.trouble
        self.writes += 1


class Kitchen:
    """What is due on one board, started again and again.

    Attributes:
        due: Of this start.
        done: The commands that were carried out.
    """

    def __init__(self, store: MemoryStore | SessionStore | None = None, board: Board | None = None) -> None:
        self.board = board or Board()
        self.store = MemoryStore() if store is None else store
        self.done: list[DueItem] = []
        self.restart()

    def restart(self) -> None:
        self.due = DueItems(cast(SessionStore, self.store), self.board)
        self.due._carry_out = self.carry_out
        self._told: list[Announcement] = []
        self._listening = asyncio.create_task(self._listen(self.due.announcements()))

    async def carry_out(self, item: DueItem) -> str:
        self.done.append(item)
        return "The lights are off."

    async def _listen(self, announcements: AsyncIterator[Announcement]) -> None:
        async for announcement in announcements:
            self._told.append(announcement)

    async def heard(self) -> list[Announcement]:
        """What is told at a look at the clocks."""
        await self.due.fire_due()
        await quiet()
        told, self._told = self._told, []
        return told

    async def told(self) -> list[str]:
        """The sentences of it."""
        return [announcement.text for announcement in await self.heard()]

    async def after(self, seconds: float) -> list[str]:
        """Lets time pass, and says what is told then."""
        self.board.go(seconds)
        return await self.told()


async def quiet() -> None:
    """Lets all that is ready run to its end."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
async def kitchen() -> Kitchen:
    return Kitchen()


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# Countdowns


async def test_a_timer_is_told_once_when_it_is_up(kitchen: Kitchen) -> None:
    timer = await kitchen.due.add("timer", "pizza", seconds=600, room="kitchen")

    assert await kitchen.after(599) == []
    assert kitchen.due.left(timer) == 1
    kitchen.board.go(1)
    (announcement,) = await kitchen.heard()
    assert announcement == Announcement(timer, "The pizza timer is up.")
    assert announcement.to_json() == {
        "id": timer.id,
        "kind": "timer",
        "text": "The pizza timer is up.",
        "room": "kitchen",
    }
    assert kitchen.due.items() == ()
    assert kitchen.due.left(timer) == 0
    assert await kitchen.after(600) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "The timer for 5 minutes is up."),
        ("eggs", "The eggs timer is up."),
        ("the pizza timer", "The pizza timer is up."),
        ("my Tea", "The Tea timer is up."),
        ("timer", "The timer for 5 minutes is up."),
    ],
)
async def test_a_timer_is_told_by_its_name_or_by_its_length(kitchen: Kitchen, name: str, sentence: str) -> None:
    await kitchen.due.add("timer", name, seconds=300)

    assert await kitchen.after(300) == [sentence]


async def test_f32_a_ten_minute_timer_is_up_at_ten_though_the_service_restarted_at_five(tmp_path: Path) -> None:
    kitchen = Kitchen(SessionStore(tmp_path / "sessions.db"))
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    assert await kitchen.after(5 * MINUTE) == []
    kitchen.store.close()
    kitchen.store = SessionStore(tmp_path / "sessions.db")
    kitchen.restart()

    assert await kitchen.after(5 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]
    kitchen.restart()
    assert await kitchen.after(10 * MINUTE) == []
    kitchen.store.close()


async def test_f32_a_timer_that_was_up_without_power_is_told_once_at_the_boot_as_late(tmp_path: Path) -> None:
    kitchen = Kitchen(SessionStore(tmp_path / "sessions.db"))
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.go(5 * MINUTE)
    kitchen.restart()
    assert await kitchen.after(4 * MINUTE) == []
    kitchen.store.close()
    kitchen.board.lose_power(11 * MINUTE)
    kitchen.store = SessionStore(tmp_path / "sessions.db")
    kitchen.restart()

    (announcement,) = await kitchen.heard()
    assert announcement.text == "The pizza timer was up 10 minutes ago."
    assert announcement.late_s == pytest.approx(10 * MINUTE)
    assert announcement.to_json()["late_s"] == 600
    assert await kitchen.after(HOUR) == []
    kitchen.restart()
    assert await kitchen.after(HOUR) == []
    kitchen.store.close()


async def test_f32_a_timer_is_cancelled_by_its_name_after_restart_and_power_cut(kitchen: Kitchen) -> None:
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    await kitchen.due.add("timer", "eggs", seconds=10 * MINUTE)
    kitchen.restart()
    kitchen.board.lose_power(MINUTE)
    kitchen.restart()
    (pizza,) = (item for item in kitchen.due.items("timer") if item.text == "pizza")

    assert await kitchen.due.remove(pizza.id)
    assert not await kitchen.due.remove(pizza.id)
    kitchen.restart()
    assert await kitchen.after(10 * MINUTE) == ["The eggs timer is up."]


@pytest.mark.parametrize("leap", [-HOUR, HOUR, -56 * 365 * 24 * HOUR, 400 * 24 * HOUR])
async def test_a_timer_does_not_heed_a_wall_clock_that_is_set_while_it_runs(kitchen: Kitchen, leap: float) -> None:
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.leap(leap)
    assert await kitchen.after(5 * MINUTE) == []
    kitchen.restart()
    kitchen.board.leap(leap / 2)
    kitchen.restart()

    assert await kitchen.after(5 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


async def test_after_a_power_cut_a_clock_at_1970_is_not_believed_until_it_is_set(kitchen: Kitchen) -> None:
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.go(5 * MINUTE)
    kitchen.board.lose_power(HOUR, NEVER_SET)
    kitchen.restart()

    assert await kitchen.after(4 * MINUTE) == []
    kitchen.board.set(NOON + timedelta(minutes=5 + 60 + 4))
    assert await kitchen.told() == ["The pizza timer was up 59 minutes ago."]


async def test_a_clock_that_goes_on_where_it_was_when_the_power_went_is_corrected_later(kitchen: Kitchen) -> None:
    """systemd-timesyncd starts with the last time it knew; the network comes a little later."""
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.lose_power(HOUR, NOON + timedelta(seconds=30))
    kitchen.restart()

    assert await kitchen.after(MINUTE) == []
    kitchen.restart()
    assert await kitchen.after(MINUTE) == []
    kitchen.board.set(NOON + timedelta(minutes=62))
    assert await kitchen.told() == ["The pizza timer was up 52 minutes ago."]


async def test_where_the_clock_is_never_set_a_timer_goes_on_with_what_it_had_left(kitchen: Kitchen) -> None:
    kitchen.board.set(NEVER_SET, synchronized=False)
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.go(4 * MINUTE)
    kitchen.restart()
    await kitchen.told()
    kitchen.board.lose_power(HOUR, NEVER_SET)
    kitchen.restart()
    await kitchen.told()

    # What was kept last is from the start; within this boot a restart of the service costs nothing.
    assert await kitchen.after(6 * MINUTE) == []
    kitchen.restart()
    assert await kitchen.after(4 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


async def test_once_the_clock_was_right_after_a_power_cut_whoever_sets_it_changes_no_timer(kitchen: Kitchen) -> None:
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.lose_power(4 * MINUTE)
    kitchen.restart()
    assert await kitchen.told() == []
    kitchen.board.leap(HOUR)

    assert await kitchen.after(6 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


async def test_a_clock_that_was_set_while_a_timer_ran_counts_from_then_on(kitchen: Kitchen) -> None:
    """Without that the hour would be taken for one without power."""
    kitchen.board.leap(-HOUR)
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    await kitchen.told()
    kitchen.board.leap(HOUR)
    await kitchen.after(MINUTE)
    kitchen.board.lose_power(MINUTE)
    kitchen.restart()

    assert await kitchen.after(8 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


async def test_a_paused_timer_stands_still_through_restart_and_power_cut(kitchen: Kitchen) -> None:
    timer = await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    await kitchen.due.add("timer", "cake", seconds=20 * HOUR)
    kitchen.board.go(4 * MINUTE)
    assert (await kitchen.due.pause(timer.id)).paused
    kitchen.board.go(HOUR)
    kitchen.restart()
    kitchen.board.lose_power(HOUR)
    kitchen.restart()

    assert await kitchen.told() == []
    assert [item.text for item in kitchen.due.items()] == ["cake", "pizza"]
    assert kitchen.due.left(timer) == 6 * MINUTE
    assert (await kitchen.due.pause(timer.id)).paused
    assert not (await kitchen.due.resume(timer.id)).paused
    assert not (await kitchen.due.resume(timer.id)).paused
    assert [item.text for item in kitchen.due.items()] == ["pizza", "cake"]
    assert await kitchen.after(6 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


@pytest.mark.parametrize("paused", [False, True])
async def test_time_is_added_and_taken_off(kitchen: Kitchen, paused: bool) -> None:
    timer = await kitchen.due.add("timer", seconds=10 * MINUTE)
    kitchen.board.go(4 * MINUTE)
    if paused:
        await kitchen.due.pause(timer.id)
    assert (await kitchen.due.extend(timer.id, 5 * MINUTE)).seconds == 15 * MINUTE
    kitchen.restart()
    assert kitchen.due.left(timer) == 11 * MINUTE
    assert (await kitchen.due.extend(timer.id, -10 * MINUTE)).seconds == 5 * MINUTE
    await kitchen.due.resume(timer.id)

    assert await kitchen.after(MINUTE - 1) == []
    assert await kitchen.after(1) == ["The timer for 5 minutes is up."]


@pytest.mark.parametrize("loses_power", [False, True])
async def test_a_timer_that_has_nothing_left_is_up_at_once_and_is_not_late(kitchen: Kitchen, loses_power: bool) -> None:
    timer = await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    if loses_power:
        kitchen.board.lose_power(MINUTE)
        kitchen.board.synchronized = False
        kitchen.restart()
    await kitchen.due.extend(timer.id, -HOUR)

    assert await kitchen.told() == ["The pizza timer is up."]


async def test_time_that_is_added_before_the_clock_is_set_again_counts(kitchen: Kitchen) -> None:
    timer = await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.lose_power(8 * MINUTE, NEVER_SET)
    kitchen.restart()
    await kitchen.due.extend(timer.id, 5 * MINUTE)
    assert kitchen.due.left(timer) == 15 * MINUTE
    kitchen.board.set(NOON + timedelta(minutes=8))

    assert kitchen.due.left(timer) == 7 * MINUTE
    assert await kitchen.after(7 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]


async def test_what_is_gone_or_is_no_countdown_cannot_be_paused(kitchen: Kitchen) -> None:
    alarm = await kitchen.due.add("alarm", at=NOON + timedelta(hours=1))
    for change in (kitchen.due.pause, kitchen.due.resume):
        for id in (alarm.id, "none"):
            with pytest.raises(KeyError):
                await change(id)
    with pytest.raises(KeyError):
        await kitchen.due.extend(alarm.id, 1)


MOVES = st.one_of(
    st.tuples(st.just("go"), st.integers(1, 600)),
    st.tuples(st.just("extend"), st.integers(-300, 300)),
    # By less than that the clock may have drifted, and no more is at stake than that.
    st.tuples(st.just("leap"), st.integers(-864_000, 864_000).filter(lambda seconds: abs(seconds) > LEAP_S)),
    st.tuples(st.just("lose power"), st.integers(5, 600)),
    st.tuples(st.just("lose power, and the time"), st.integers(5, 600)),
    st.tuples(st.sampled_from(["pause", "resume", "restart"]), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 1200), st.lists(MOVES, max_size=14))
def test_a_timer_is_up_after_the_time_that_it_ran_whatever_happens(seconds: int, moves: list[tuple[str, int]]) -> None:
    """Paused time does not count, time without power does, and what the wall clock is set to is of no account."""
    asyncio.run(_runs_as_long_as_it_should(seconds, moves))


async def _runs_as_long_as_it_should(seconds: int, moves: list[tuple[str, int]]) -> None:
    kitchen = Kitchen()
    board = kitchen.board
    timer = await kitchen.due.add("timer", seconds=seconds)
    left, runs, told = seconds + 0.0, True, 0
    for move, value in [*moves, ("resume", 0), ("go", 10**5)]:
        if told:
            break
        passed = 0
        if move == "go":
            board.go(value)
            passed = value
        elif move == "lose power":
            board.lose_power(value)
            kitchen.restart()
            passed = value
        elif move == "lose power, and the time":
            right = board.wall() + value
            board.lose_power(value, NEVER_SET)
            kitchen.restart()
            told += len(await kitchen.told())
            assert not told
            board.set(datetime.fromtimestamp(right))
            passed = value
        elif move == "leap":
            board.leap(value)
        elif move == "restart":
            kitchen.restart()
        elif move == "extend":
            await kitchen.due.extend(timer.id, value)
            left = max(0.0, left + value)
        else:
            await (kitchen.due.pause if move == "pause" else kitchen.due.resume)(timer.id)
            runs = move == "resume"
        left -= passed if runs else 0
        told += len(await kitchen.told())
        assert told == (runs and left <= 0), (move, value, left)
        if not told:
            assert kitchen.due.left(timer) == pytest.approx(left, abs=1e-3)
    assert told == 1
    kitchen.restart()
    assert await kitchen.after(10**5) == []


# What is due by the wall clock


async def test_an_alarm_rings_once_at_its_time(kitchen: Kitchen) -> None:
    alarm = await kitchen.due.add("alarm", at=NOON + timedelta(hours=1, minutes=5))
    await kitchen.due.add("alarm", "swimming", at=NOON + timedelta(hours=19))

    assert kitchen.due.left(alarm) == 65 * MINUTE
    assert await kitchen.after(65 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["It's 13:05: your alarm."]
    rang = kitchen.due.rang_within(0)
    assert rang is not None and rang.text == alarm.text
    assert await kitchen.after(18 * HOUR - 5 * MINUTE) == ["It's 7:00: swimming."]
    assert await kitchen.after(48 * HOUR) == []


async def test_an_alarm_of_some_days_rings_on_each_of_them(kitchen: Kitchen) -> None:
    """Noon is a Thursday's; Monday is the 9th."""
    friday = NOON + timedelta(days=1)
    alarm = await kitchen.due.add("alarm", at=friday, days=(4, 0, 0))
    rang = []
    for _ in range(11 * 24):
        if await kitchen.after(HOUR):
            rang.append(kitchen.due.now())
        kitchen.restart()

    assert rang == [friday + timedelta(days=days) for days in (0, 3, 7, 10)]
    assert [(item.id, item.days, item.at) for item in kitchen.due.items()] == [
        (alarm.id, (0, 4), friday + timedelta(days=14))
    ]


async def test_an_alarm_that_the_clock_leaps_past_rings_once_as_late(kitchen: Kitchen) -> None:
    await kitchen.due.add("alarm", "swimming", at=NOON + timedelta(hours=1))
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1, minutes=1))
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=3))
    kitchen.board.leap(3 * HOUR + 20)

    assert await kitchen.told() == [
        "The 13:00 alarm, swimming, was due 2 hours ago.",
        "The 13:01 alarm was due 1 hour and 59 minutes ago.",
        "It's 15:00: your alarm.",
    ]
    kitchen.board.leap(-3 * HOUR)
    assert await kitchen.after(4 * HOUR) == []


async def test_a_daily_alarm_does_not_ring_again_when_the_clock_is_set_back(kitchen: Kitchen) -> None:
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1), days=EVERY_DAY)
    assert await kitchen.after(HOUR) == ["It's 13:00: your alarm."]
    kitchen.board.leap(-2 * HOUR)

    assert await kitchen.told() == []
    assert await kitchen.after(3 * HOUR) == []
    assert await kitchen.after(23 * HOUR) == ["It's 13:00: your alarm."]


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_daily_alarm_comes_back_from_a_clock_that_was_a_year_ahead(kitchen: Kitchen, restarts: bool) -> None:
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1), days=EVERY_DAY)
    kitchen.board.leap(365 * 24 * HOUR)
    assert len(await kitchen.told()) == 1
    if restarts:
        kitchen.board.lose_power(10)
    kitchen.board.leap(-365 * 24 * HOUR)
    if restarts:
        kitchen.restart()

    assert await kitchen.told() == []
    kitchen.board.set(NOON)
    assert await kitchen.after(HOUR) == ["It's 13:00: your alarm."]


async def test_after_a_week_without_power_a_daily_alarm_is_told_once(kitchen: Kitchen) -> None:
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1), days=EVERY_DAY)
    kitchen.board.lose_power(7 * 24 * HOUR)
    kitchen.restart()

    assert await kitchen.told() == ["The 13:00 alarm was due 23 hours ago."]
    assert await kitchen.after(HOUR) == ["It's 13:00: your alarm."]


async def test_an_alarm_waits_for_a_clock_that_is_set(kitchen: Kitchen) -> None:
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1))
    kitchen.board.lose_power(10 * MINUTE, NEVER_SET)
    kitchen.restart()

    assert not kitchen.due.clock_is_set
    await kitchen.due.add("alarm", "wrong", at=kitchen.due.now() + timedelta(hours=1))
    assert await kitchen.after(4 * HOUR) == []
    kitchen.board.set(NOON + timedelta(minutes=40))
    (wrong,) = await kitchen.told()
    assert wrong.startswith("The 1:00 alarm, wrong, was due 20")  # thousands of days ago
    assert kitchen.due.clock_is_set
    assert await kitchen.after(20 * MINUTE) == ["It's 13:00: your alarm."]


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_clock_that_starts_long_before_what_was_kept_is_not_set(kitchen: Kitchen, by_hand: bool) -> None:
    """It may be the date of the image; until somebody sets it, or the system says that it is right."""
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1))
    kitchen.board.lose_power(10, NOON - timedelta(days=30))
    kitchen.restart()
    assert not kitchen.due.clock_is_set
    assert await kitchen.after(20 * 24 * HOUR) == []
    assert not kitchen.due.clock_is_set

    if by_hand:
        kitchen.board.set(NOON - timedelta(days=40), synchronized=False)
        assert await kitchen.told() == []
    else:
        kitchen.board.synchronized = True
    assert kitchen.due.clock_is_set
    kitchen.board.set(NOON, synchronized=False)
    assert await kitchen.after(HOUR) == ["It's 13:00: your alarm."]


async def test_a_clock_that_was_always_behind_is_as_good_as_any(kitchen: Kitchen) -> None:
    kitchen.board.set(NOON - timedelta(days=100), synchronized=False)
    await kitchen.due.add("alarm", at=kitchen.due.now() + timedelta(hours=1))
    kitchen.board.lose_power(10)
    kitchen.restart()

    assert kitchen.due.clock_is_set
    assert await kitchen.after(HOUR - 10) == ["It's 13:00: your alarm."]


async def test_which_alarm_rang_is_known_after_a_restart_and_a_power_cut_whoever_sets_the_clock(
    kitchen: Kitchen,
) -> None:
    await kitchen.due.add("alarm", "nap", at=NOON + timedelta(hours=1))
    await kitchen.after(HOUR)
    kitchen.restart()
    kitchen.board.leap(-3 * HOUR)
    kitchen.board.go(4 * MINUTE)
    kitchen.board.leap(3 * HOUR)
    kitchen.board.lose_power(5 * MINUTE)
    kitchen.restart()

    rang = kitchen.due.rang_within(9 * MINUTE)
    assert rang is not None and rang.text == "nap"
    assert kitchen.due.rang_within(9 * MINUTE - 1) is None
    assert kitchen.due.items() == ()


@pytest.mark.usefixtures("berlin")
async def test_an_alarm_in_the_hour_that_summer_leaves_out_rings_when_it_has_passed() -> None:
    kitchen = Kitchen(board=Board(datetime(2026, 3, 28, 12)))
    await kitchen.due.add("alarm", at=datetime(2026, 3, 29, 2, 30), days=EVERY_DAY)

    assert await kitchen.after(14 * HOUR - 1) == []
    assert await kitchen.after(1) == ["It's 3:00: your alarm."]
    assert await kitchen.after(HOUR) == []
    assert await kitchen.after(22 * HOUR + 30 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["It's 2:30: your alarm."]


@pytest.mark.usefixtures("berlin")
async def test_an_alarm_in_the_hour_that_comes_twice_rings_once() -> None:
    kitchen = Kitchen(board=Board(datetime(2026, 10, 24, 12)))
    await kitchen.due.add("alarm", at=datetime(2026, 10, 25, 2, 30), days=EVERY_DAY)
    await kitchen.due.add("alarm", at=datetime(2026, 10, 25, 7), days=EVERY_DAY)

    assert await kitchen.after(14 * HOUR + 30 * MINUTE) == ["It's 2:30: your alarm."]
    kitchen.restart()
    assert await kitchen.after(HOUR) == []
    assert kitchen.due.now() == datetime(2026, 10, 25, 2, 30)
    assert await kitchen.after(4 * HOUR + 30 * MINUTE) == ["It's 7:00: your alarm."]
    assert await kitchen.after(19 * HOUR + 30 * MINUTE) == ["It's 2:30: your alarm."]


@pytest.mark.usefixtures("berlin")
async def test_a_start_in_the_hour_that_comes_a_second_time_tells_the_alarm_of_the_first() -> None:
    kitchen = Kitchen(board=Board(datetime(2026, 10, 24, 12)))
    await kitchen.due.add("alarm", at=datetime(2026, 10, 25, 2, 30), days=EVERY_DAY)
    kitchen.board.lose_power(15 * HOUR + 10 * MINUTE)
    kitchen.restart()

    assert kitchen.due.now() == datetime(2026, 10, 25, 2, 10)
    assert await kitchen.told() == ["The 2:30 alarm was due 40 minutes ago."]
    assert await kitchen.after(HOUR) == []


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("days", [(), EVERY_DAY])
async def test_an_alarm_that_is_set_in_the_hour_that_comes_a_second_time_rings_in_it(days: tuple[int, ...]) -> None:
    kitchen = Kitchen(board=Board(datetime(2026, 10, 25, 1)))
    kitchen.board.go(2 * HOUR + 30 * MINUTE)
    assert kitchen.due.now() == datetime(2026, 10, 25, 2, 30)
    await kitchen.due.add("alarm", at=datetime(2026, 10, 25, 2, 45), days=days)
    kitchen.restart()

    assert await kitchen.after(15 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["It's 2:45: your alarm."]
    kitchen.restart()
    assert await kitchen.after(24 * HOUR - 1) == []
    assert await kitchen.after(1) == (["It's 2:45: your alarm."] if days else [])


@pytest.mark.usefixtures("berlin")
async def test_a_time_that_no_clock_shows_is_refused_before_it_is_kept(kitchen: Kitchen) -> None:
    with pytest.raises((ValueError, OverflowError)):
        await kitchen.due.add("reminder", "x", at=datetime(9999, 12, 31, 23))

    assert kitchen.due.items() == ()


@pytest.mark.usefixtures("berlin")
async def test_a_timer_through_the_night_in_which_summer_begins_is_as_long_as_it_should_be() -> None:
    kitchen = Kitchen(board=Board(datetime(2026, 3, 29, 1)))
    await kitchen.due.add("timer", seconds=2 * HOUR)

    assert await kitchen.after(2 * HOUR - 1) == []
    assert await kitchen.after(1) == ["The timer for 2 hours is up."]
    assert kitchen.due.now() == datetime(2026, 3, 29, 4)


@pytest.mark.parametrize(
    ("kind", "text", "on_time", "late"),
    [
        ("alarm", "", "It's 12:10: your alarm.", "The alarm was due 11 minutes ago."),  # one that was snoozed
        ("alarm", "wake up!", "It's 12:10: wake up!", "The alarm, wake up!, was due 11 minutes ago."),
        ("reminder", "call mom", "Reminder: call mom.", "Reminder, due 11 minutes ago: call mom."),
    ],
)
async def test_each_kind_has_its_sentences(kitchen: Kitchen, kind: Any, text: str, on_time: str, late: str) -> None:
    await kitchen.due.add(kind, text, seconds=10 * MINUTE)
    assert await kitchen.after(10 * MINUTE) == [on_time]
    await kitchen.due.add(kind, text, seconds=10 * MINUTE)
    kitchen.board.lose_power(21 * MINUTE)
    kitchen.restart()

    assert await kitchen.told() == [late]


@pytest.mark.parametrize(
    ("overdue", "sentence"), [(LATE_S, "Reminder: tea."), (LATE_S + 1, "Reminder, due 1 minute ago: tea.")]
)
async def test_what_is_due_for_more_than_a_minute_is_late(kitchen: Kitchen, overdue: float, sentence: str) -> None:
    await kitchen.due.add("reminder", "tea", seconds=10)
    await kitchen.due.add("reminder", "tea", at=NOON + timedelta(seconds=10))

    assert await kitchen.after(10 + overdue) == [sentence, sentence]


# Commands


async def test_a_command_is_carried_out_and_its_answer_told(kitchen: Kitchen) -> None:
    item = await kitchen.due.add("command", "turn off the lights", seconds=10 * MINUTE, room="hall")
    at_one = await kitchen.due.add("command", "turn off the lights", at=NOON + timedelta(hours=1))

    assert await kitchen.after(10 * MINUTE) == ["As you asked 10 minutes ago: the lights are off."]
    assert await kitchen.after(50 * MINUTE) == ["As you asked: the lights are off."]
    assert kitchen.done == [item, at_one]


async def test_a_command_that_is_late_is_not_carried_out(kitchen: Kitchen) -> None:
    await kitchen.due.add("command", "open the garage", seconds=10 * MINUTE)
    await kitchen.due.add("command", "turn on the heating", at=NOON + timedelta(minutes=40))
    kitchen.board.lose_power(HOUR)
    kitchen.restart()

    assert await kitchen.told() == [
        'It is too late for "open the garage", which was due 50 minutes ago. I did nothing.',
        'It is too late for "turn on the heating", which was due 20 minutes ago. I did nothing.',
    ]
    assert kitchen.done == []


@pytest.mark.parametrize("was_set", [True, False])
async def test_a_command_of_before_a_power_cut_of_unknown_length_is_not_carried_out(
    kitchen: Kitchen, was_set: bool
) -> None:
    if not was_set:
        kitchen.board.set(NEVER_SET, synchronized=False)
    await kitchen.due.add("command", "open the garage", seconds=10 * MINUTE)
    kitchen.board.lose_power(HOUR, NEVER_SET)
    if not was_set:
        kitchen.board.set(NOON)
    kitchen.restart()
    assert await kitchen.told() == []
    kitchen.restart()

    assert await kitchen.after(10 * MINUTE) == [
        'I cannot tell how long I was without power, so I did not do "open the garage".'
    ]
    assert kitchen.done == []


async def test_a_command_of_before_a_short_power_cut_is_carried_out_in_time(kitchen: Kitchen) -> None:
    item = await kitchen.due.add("command", "turn off the lights", seconds=10 * MINUTE)
    kitchen.board.lose_power(4 * MINUTE)
    kitchen.board.synchronized = False
    kitchen.restart()

    assert await kitchen.after(6 * MINUTE - 1) == []
    assert await kitchen.after(1) == ["As you asked 10 minutes ago: the lights are off."]
    assert kitchen.done == [item]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (
            AgentError(ErrorCode.BUSY, "16 commands are waiting already; try again in a moment."),
            "16 commands are waiting",
        ),
        (RuntimeError("broken on purpose"), "something went wrong inside"),
    ],
)
async def test_a_command_that_fails_says_so(kitchen: Kitchen, error: Exception, why: str) -> None:
    async def fail(item: DueItem) -> str:
        raise error

    kitchen.due._carry_out = fail
    await kitchen.due.add("command", "turn off the lights", seconds=10 * MINUTE)

    (sentence,) = await kitchen.after(10 * MINUTE)
    assert sentence.startswith(f'As you asked 10 minutes ago I tried "turn off the lights", but: {why}')


async def test_a_command_that_takes_long_holds_up_no_timer(kitchen: Kitchen) -> None:
    go_on = asyncio.Event()

    async def slowly(item: DueItem) -> str:
        await go_on.wait()
        return "Done."

    kitchen.due._carry_out = slowly
    await kitchen.due.add("command", "mow the lawn", seconds=1)
    await kitchen.due.add("timer", "pizza", seconds=2)

    assert await kitchen.after(1) == []
    assert await kitchen.after(1) == ["The pizza timer is up."]
    go_on.set()
    assert await kitchen.told() == ["As you asked 1 second ago: Done."]


# Once


class PowerCutError(BaseException):
    """Ends everything at once."""


async def test_power_that_fails_between_telling_and_forgetting_has_it_told_again_as_late(kitchen: Kitchen) -> None:
    """Rather twice than never, and the second time it says so."""
    await kitchen.due.add("timer", "pizza", seconds=10 * MINUTE)
    kitchen.board.go(10 * MINUTE)
    cast(MemoryStore, kitchen.store).trouble = PowerCutError()
    with pytest.raises(PowerCutError):
        await kitchen.due.fire_due()
    await quiet()
    assert [each.text for each in kitchen._told] == ["The pizza timer is up."]
    cast(MemoryStore, kitchen.store).trouble = None
    kitchen.board.lose_power(5 * MINUTE)
    kitchen.restart()

    assert await kitchen.told() == ["The pizza timer was up 5 minutes ago."]


async def test_power_that_fails_around_a_command_never_has_it_done_twice(kitchen: Kitchen) -> None:
    """Not done before it is forgotten, and not again once it is."""
    store = cast(MemoryStore, kitchen.store)
    await kitchen.due.add("command", "open the garage", seconds=10 * MINUTE)
    kitchen.board.go(10 * MINUTE)
    store.trouble = PowerCutError()
    with pytest.raises(PowerCutError):
        await kitchen.due.fire_due()
    await quiet()
    assert kitchen.done == []

    store.trouble = None
    kitchen.restart()
    assert len(await kitchen.told()) == len(kitchen.done) == 1
    kitchen.restart()
    assert await kitchen.told() == []
    assert len(kitchen.done) == 1


async def test_a_command_that_a_full_disk_does_not_forget_is_not_done_and_said_not_to_be(kitchen: Kitchen) -> None:
    store = cast(MemoryStore, kitchen.store)
    await kitchen.due.add("command", "open the garage", seconds=10 * MINUTE)
    store.trouble = StoreError("database or disk is full")

    assert await kitchen.after(10 * MINUTE) == [
        'I did not do "open the garage": the store cannot be written, and after a restart I might do it again.'
    ]
    store.trouble = None
    kitchen.board.go(2 * MINUTE)
    kitchen.restart()
    assert await kitchen.told() == ['It is too late for "open the garage", which was due 2 minutes ago. I did nothing.']
    assert kitchen.done == []


async def test_a_command_that_a_full_disk_never_kept_is_carried_out(kitchen: Kitchen) -> None:
    cast(MemoryStore, kitchen.store).trouble = StoreError("database or disk is full")
    await kitchen.due.add("command", "turn off the lights", seconds=10 * MINUTE)

    assert await kitchen.after(10 * MINUTE) == ["As you asked 10 minutes ago: the lights are off."]


async def test_commands_that_are_due_together_are_carried_out_one_after_another(kitchen: Kitchen) -> None:
    going_on, most, done = 0, 0, []

    async def carry_out(item: DueItem) -> str:
        nonlocal going_on, most
        going_on += 1
        most = max(most, going_on)
        await asyncio.sleep(0)
        going_on -= 1
        done.append(item.text)
        return "Done."

    kitchen.due._carry_out = carry_out
    for number in range(20):
        await kitchen.due.add("command", str(number), seconds=60 - number * 0.1)
    await kitchen.after(60)
    async with asyncio.timeout(10):
        while len(done) < 20:
            await quiet()

    assert most == 1
    assert done == [str(number) for number in reversed(range(20))]


# Keeping


async def test_there_is_one_write_for_each_change_and_none_for_each_second(kitchen: Kitchen) -> None:
    store = cast(MemoryStore, kitchen.store)
    timer = await kitchen.due.add("timer", "pizza", seconds=HOUR)
    await kitchen.due.add("alarm", at=NOON + timedelta(hours=1), days=EVERY_DAY)
    assert store.writes == 2
    for _ in range(30 * 60):
        kitchen.board.go(1)
        await kitchen.due.fire_due()
    assert store.writes == 2
    await kitchen.due.resume(timer.id)
    assert store.writes == 2
    await kitchen.due.pause(timer.id)
    assert store.writes == 3
    kitchen.restart()
    assert await kitchen.after(30 * MINUTE) == ["It's 13:00: your alarm."]

    assert store.writes == 5  # when it is due next, and that it rang


async def test_on_a_full_disk_all_goes_on_with_one_line_and_is_kept_once_there_is_room(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = cast(MemoryStore, kitchen.store)
    soon = await kitchen.due.add("timer", "pizza", seconds=5)
    store.trouble = StoreError("the session store x: database or disk is full")
    later = await kitchen.due.add("timer", "cake", seconds=HOUR)
    await kitchen.due.extend(later.id, HOUR)
    assert await kitchen.after(5) == ["The pizza timer is up."]
    assert kitchen.due.items() == (DueItem(later.id, "timer", "cake", 2 * HOUR),)
    assert set(store.rows) == {soon.id}
    store.trouble = None
    await kitchen.after(60)
    assert set(store.rows) == {soon.id}
    monkeypatch.setattr(writes, "RETRY_S", 0.01)
    running = asyncio.create_task(kitchen.due.run())
    async with asyncio.timeout(10):
        while set(store.rows) != {later.id}:
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    lines = [record.message for record in caplog.records if "disk is full" in record.message]
    assert lines == ["what becomes due is in memory only: the session store x: database or disk is full"]
    kitchen.restart()
    assert kitchen.due.left(later) == pytest.approx(2 * HOUR - 65)


async def test_what_could_not_be_written_is_written_with_the_next_change(kitchen: Kitchen) -> None:
    """All of it: the store may have had to begin anew."""
    store = cast(MemoryStore, kitchen.store)
    one = await kitchen.due.add("timer", "one", seconds=HOUR)
    store.trouble = StoreError("damaged")
    two = await kitchen.due.add("timer", "two", seconds=HOUR)
    store.trouble = None
    store.rows.clear()
    store.openings += 1
    three = await kitchen.due.add("timer", "three", seconds=HOUR)

    assert set(store.rows) == {one.id, two.id, three.id}


async def test_a_store_that_cannot_be_read_at_the_start_is_read_later(kitchen: Kitchen) -> None:
    store = cast(MemoryStore, kitchen.store)
    await kitchen.due.add("timer", "pizza", seconds=30)
    store.trouble = StoreError("the disk is gone")
    kitchen.restart()
    cake = await kitchen.due.add("timer", "cake", seconds=HOUR)
    assert kitchen.due.items() == (cake,)
    store.trouble = None

    assert await kitchen.after(30) == []
    assert await kitchen.after(31) == ["The pizza timer is up."]
    assert kitchen.due.items() == (cake,)


@pytest.mark.parametrize(
    "damage",
    [{"at": "soon"}, {"kind": "party"}, {"seconds": None}, {"left": "long"}, {"days": 3}, {"boot": 1, "since": None}],
)
async def test_a_damaged_row_is_left_out_and_the_others_are_there(
    kitchen: Kitchen, caplog: pytest.LogCaptureFixture, damage: dict[str, Any]
) -> None:
    store = cast(MemoryStore, kitchen.store)
    await kitchen.due.add("timer", "pizza", seconds=HOUR)
    row = json.loads(next(iter(store.rows.values())))
    if "since" in damage:
        damage = {**damage, "boot": row["boot"]}
    store.rows["other"] = json.dumps({**row, "id": "other", **damage})
    kitchen.restart()

    assert [item.text for item in kitchen.due.items()] == ["pizza"]
    assert len([record for record in caplog.records if "is damaged and is left out" in record.message]) == 1


async def test_without_a_store_all_is_kept_in_memory() -> None:
    board = Board()
    due = DueItems(None, board)
    heard = due.announcements()
    await due.add("timer", "pizza", seconds=1)
    board.go(1)
    await due.fire_due()

    assert (await anext(heard)).text == "The pizza timer is up."


async def test_there_is_a_limit_that_is_said(kitchen: Kitchen) -> None:
    for _ in range(MAX_ITEMS):
        timer = await kitchen.due.add("timer", seconds=HOUR)
    with pytest.raises(ArgumentError, match=r"There are 200 timers, alarms and reminders already"):
        await kitchen.due.add("timer", seconds=HOUR)
    await kitchen.due.remove(timer.id)
    await kitchen.due.add("timer", seconds=HOUR)


@pytest.mark.parametrize("wrong", [{}, {"seconds": 1.0, "at": NOON}, {"seconds": 1.0, "days": (1,)}])
async def test_an_item_is_due_in_one_way(kitchen: Kitchen, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a countdown, or a time"):
        await kitchen.due.add("timer", **wrong)


async def test_what_is_announced_is_told_at_once_and_costs_no_write(kitchen: Kitchen) -> None:
    item = kitchen.due.announce("dinner is ready", "hall")
    (announcement,) = await kitchen.heard()

    assert announcement == Announcement(item, "dinner is ready.")
    assert (item.kind, item.room) == ("announcement", "hall")
    assert cast(MemoryStore, kitchen.store).writes == 0


async def test_what_is_due_first_comes_first(kitchen: Kitchen) -> None:
    await kitchen.due.add("timer", "in two hours", seconds=2 * HOUR)
    await kitchen.due.add("alarm", "in an hour", at=NOON + timedelta(hours=1))
    await kitchen.due.add("reminder", "in three hours", seconds=3 * HOUR)

    assert [item.text for item in kitchen.due.items()] == ["in an hour", "in two hours", "in three hours"]
    assert [item.text for item in kitchen.due.items("timer", "reminder")] == ["in two hours", "in three hours"]


# Telling


async def test_every_listener_hears_all_and_one_that_sleeps_misses_the_oldest_only(kitchen: Kitchen) -> None:
    asleep = kitchen.due.announcements()
    told: list[str] = []
    for number in range(MAX_ITEMS + 3):
        kitchen.due.announce(f"number {number}")
        told += await kitchen.told()

    assert told == [f"number {number}." for number in range(MAX_ITEMS + 3)]
    assert [(await anext(asleep)).text for _ in range(MAX_ITEMS)] == told[3:]


async def test_who_listens_soon_after_the_start_hears_what_was_told_before(kitchen: Kitchen) -> None:
    """Channels open one after the other, and what is late is told first of all."""
    await kitchen.due.add("timer", "pizza", seconds=HOUR)
    kitchen.board.lose_power(2 * HOUR)
    kitchen.restart()
    await kitchen.told()
    kitchen.board.go(29)
    early = kitchen.due.announcements()
    kitchen.board.go(1)
    late = kitchen.due.announcements()
    await kitchen.due.add("timer", "cake", seconds=1)
    await kitchen.after(1)

    assert [(await anext(early)).text for _ in "12"] == ["The pizza timer was up 1 hour ago.", "The cake timer is up."]
    assert (await anext(late)).text == "The cake timer is up."


@pytest.fixture
async def run() -> AsyncIterator[Callable[[DueItems], None]]:
    tasks = []
    yield lambda due: tasks.append(asyncio.create_task(due.run()))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_it_runs_by_the_clocks_of_this_machine(run: Callable[[DueItems], None]) -> None:
    due = DueItems(None)
    heard = due.announcements()
    run(due)
    await asyncio.sleep(0)  # it sleeps already: there is nothing to wait for
    await due.add("timer", "pizza", seconds=0.02)
    await due.add("alarm", at=due.now())

    async with asyncio.timeout(10):
        texts = {(await anext(heard)).text for _ in "12"}
    assert "The pizza timer is up." in texts
    assert due.items() == ()


async def test_an_item_that_cannot_be_told_ends_nothing(
    run: Callable[[DueItems], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = due_module.due_sentence

    def sentence(item: DueItem, *arguments: Any) -> str:
        if item.text == "odd":
            raise RuntimeError("broken on purpose")
        return real(item, *arguments)

    monkeypatch.setattr(due_module, "due_sentence", sentence)
    board = Board()
    due = DueItems(None, board)
    heard = due.announcements()
    await due.add("command", "turn off the lights", seconds=1)
    await due.add("timer", "odd", seconds=2)
    await due.add("timer", "pizza", seconds=3)
    daily = await due.add("alarm", "odd", at=NOON + timedelta(seconds=4), days=EVERY_DAY)
    board.go(5)
    run(due)

    async with asyncio.timeout(10):
        assert (await anext(heard)).text == "The pizza timer is up."
        assert "there is nobody here to do it" in (await anext(heard)).text
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert [item.id for item in due.items()] == [daily.id]


async def test_an_item_of_which_nobody_can_say_when_it_is_due_holds_up_no_other(
    kitchen: Kitchen, caplog: pytest.LogCaptureFixture
) -> None:
    odd = await kitchen.due.add("reminder", "odd", at=NOON + timedelta(hours=1))
    await kitchen.due.add("timer", "pizza", seconds=60)
    kitchen.due._entries[odd.id].item = replace(odd, at=datetime.max)

    assert await kitchen.after(60) == ["The pizza timer is up."]
    assert kitchen.due.items() == ()
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_a_fault_in_the_look_at_the_clocks_ends_nothing(
    run: Callable[[DueItems], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    monkeypatch.setattr(due_module, "LOOK_S", 0.01)
    due = DueItems(None)
    heard = due.announcements()
    real, faults = due._follow_the_clock, iter([ZeroDivisionError(), OSError()])

    def follow() -> None:
        for fault in faults:
            raise fault
        real()

    monkeypatch.setattr(due, "_follow_the_clock", follow)
    run(due)
    await due.add("timer", "pizza", seconds=0)

    async with asyncio.timeout(10):
        assert (await anext(heard)).text == "The pizza timer is up."
    assert len(caplog.records) == 2


async def test_stopping_cancels_a_command_that_goes_on() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def slowly(item: DueItem) -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    due = DueItems(None)
    running = asyncio.create_task(due.run(slowly))
    await due.add("command", "mow the lawn", seconds=0)
    async with asyncio.timeout(10):
        await began.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert ended.is_set()
