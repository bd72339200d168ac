"""When something is due by the clock, from what was said of it; and how a moment is spoken.

A time that was said without its half of the day ("7", "half past six") means:

- for an alarm the morning, and noon for 12; "today", when that is past, the evening;
- for everything else the next such time to come, where the day was not said or is today;
- on another day, and on days that come again, the one that most people are awake at: from 7:00 to 18:59;
- whatever the words say, where they name a part of the day ("tomorrow evening").

Midnight, and the hours after it where "night" was said, belong to the night of the day that was named: "midnight
tomorrow" is the end of tomorrow. A day without a time is 9:00, or 9:00, 15:00, 19:00 or 20:00 in its morning,
afternoon, evening or night. Spoken times are in 24 hours, as 7:05 and 19:05.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import TypedDict

from agent.due import DueItem, DueItems
from agent.due.durations import spoken_duration
from agent.errors import ArgumentError
from tools.speech import listed
from tools.times import Day, Part, TimeOfDay, parse_duration, parse_time_and_day

NO_CLOCK = "I do not know what time it is: the clock has not been set since the start."
"""What is said of all that needs the time, until there is one."""

_USUAL_HOURS: dict[Part | None, int] = {None: 9, "morning": 9, "afternoon": 15, "evening": 19, "night": 20}
"""When something is due on a day of which no time was said."""

_FARTHEST_YEARS = 10
"""How far ahead a date may be: beyond it somebody was misheard, and near the year 9999 no clock can count."""

_AWAKE = range(7, 19)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Moment:
    """When something is due.

    Attributes:
        at: The first time, as naive local time.
        days: The weekdays on which it is due again, Monday is 0; none is once.
    """

    at: datetime
    days: tuple[int, ...] = ()


class Timing(TypedDict, total=False):
    """When something is due, as `DueItems.add` takes it: after so many seconds, or at a time."""

    seconds: float
    at: datetime
    days: tuple[int, ...]


def timing(
    due: DueItems,
    ask: str,
    *,
    delay: str | None = None,
    time: str | None = None,
    day: str | None = None,
    needs_time: bool = True,
    alarm: bool = False,
) -> Timing:
    """When something that was asked for is due.

    Args:
        due: Knows what time it is.
        ask: The question where that was not said.
        delay: After how long, in words.
        time: At what time of day.
        day: On what day.
        needs_time: A day alone is not enough.
        alarm: As for `next_moment`.

    Raises:
        ArgumentError: It was not said, or is not understood; or the clock was never set.
    """
    if delay is not None:
        if time is not None or day is not None:
            raise ArgumentError("Say either after how long or at what time.")
        return {"seconds": parse_duration(delay)}
    if time is None and day is None:
        raise ArgumentError(ask)
    if not due.clock_is_set:
        raise ArgumentError(NO_CLOCK)
    now = due.now()
    clock, said_day = read_when(time, day, now.date())
    if clock is None and needs_time:
        raise ArgumentError(ask)
    moment = next_moment(clock, said_day, now, alarm=alarm)
    return {"at": moment.at, "days": moment.days}


def read_when(clock: str | None, day: str | None, today: date) -> tuple[TimeOfDay | None, Day | None]:
    """The time and the day that were said; either may hold both, as in "tomorrow at 7".

    Raises:
        ArgumentError: One is not understood, or they differ.
    """
    read = [parse_time_and_day(text, today) for text in (clock, day) if text is not None]
    clocks = [each for each, _ in read if each is not None]
    days = [each for _, each in read if each is not None]
    if len(days) == 2:
        # "7 in the evening" of one and "tomorrow" of the other are one day.
        parts = [each for each in days if each.date is None and not each.weekdays]
        whole = [each for each in days if each not in parts]
        if len(parts) == 1 and whole[0].part in (None, parts[0].part):
            days = [replace(whole[0], part=parts[0].part)]
    if len(set(clocks)) > 1 or len(set(days)) > 1:
        raise ArgumentError(f'"{clock}" and "{day}" are two different times; say one.')
    return (clocks[0] if clocks else None), (days[0] if days else None)


def next_moment(clock: TimeOfDay | None, day: Day | None, now: datetime, *, alarm: bool = False) -> Moment:
    """The moment that was meant, later than now.

    Args:
        clock: The time of day; None is the usual one of the day.
        day: The day; None is the next on which there is such a time.
        now: When it was said, as naive local time.
        alarm: It is an alarm: where the half of the day was not said, the morning is meant.

    Raises:
        ArgumentError: It is past or too far ahead, or there is no such time in that part of the day.
    """
    part = day.part if day is not None else None
    if clock is None:
        clock = TimeOfDay((time(_USUAL_HOURS[part]),))
    read = clock.within(part)
    if read is None:
        raise ArgumentError(f"There is no {spoken_time(clock.times[0])} in the {part}.")
    night = timedelta(days=1 if read.night else 0)
    if day is None or (day.date is None and not day.weekdays):
        wanted = read.times[:1] if alarm else read.times
        return Moment(min(_after(now, each) for each in wanted))
    if day.weekdays:
        days = tuple(sorted((number + night.days) % 7 for number in day.weekdays))
        at = _after(now, _likely(read, alarm))
        while at.weekday() not in days:
            at += timedelta(days=1)
        return Moment(at, days)
    assert day.date is not None
    if day.date.year > now.year + _FARTHEST_YEARS:
        raise ArgumentError(f"{day.date.year} is too far ahead; say a day within {_FARTHEST_YEARS} years.")
    wanted = read.times if day.date == now.date() else (_likely(read, alarm),)
    coming = [at for at in (datetime.combine(day.date, each) + night for each in wanted) if at > now]
    if coming:
        return Moment(coming[0] if alarm else min(coming))
    at = datetime.combine(day.date, _likely(read, alarm)) + night
    if not day.or_week_later:
        raise ArgumentError(f"{spoken_moment(Moment(at), now)} is past; say another time.")
    return Moment(at + timedelta(days=7))


def spoken_time(clock: time) -> str:
    """ "7:05", "19:05"."""
    return f"{clock.hour}:{clock.minute:02d}"


def spoken_moment(moment: Moment, now: datetime) -> str:
    """ "7:00 tomorrow", "9:00 on Friday, March 13", "every weekday at 7:00"."""
    clock = spoken_time(moment.at.time())
    if moment.days:
        return f"{spoken_days(moment.days)} at {clock}"
    return f"{clock} {spoken_date(moment.at.date(), now.date())}"


def at_moment(moment: Moment, now: datetime) -> str:
    """The moment as an adverb: "at 7:00 tomorrow", "every weekday at 7:00"."""
    return ("" if moment.days else "at ") + spoken_moment(moment, now)


def due_at(due: DueItems, item: DueItem) -> str:
    """When an item is due, as an adverb: "in 10 minutes", "at 7:00 tomorrow"."""
    if item.at is None:
        return f"in {spoken_duration(math.ceil(due.left(item)))}"
    return at_moment(Moment(item.at, item.days), due.now())


def of_moment(due: DueItems, words: str, items: Sequence[DueItem]) -> list[DueItem]:
    """Those that are due at the time of day, or on the day, that the words say; none where they say neither.

    One day of something that comes again on several is not all of it, so it is found by all of its days only.
    """
    try:
        clock, day = parse_time_and_day(words, due.now().date())
    except ArgumentError:
        return []
    return [item for item in items if item.at is not None and _fits(item.at, item.days, clock, day)]


def _fits(at: datetime, days: tuple[int, ...], clock: TimeOfDay | None, day: Day | None) -> bool:
    shown = time(at.hour, at.minute)
    read = (clock or TimeOfDay((shown,))).within(day.part if day else None)
    if read is None or shown not in read.times:
        return False
    if day is None or (day.date is None and not day.weekdays):
        return True
    nights = timedelta(days=1 if read.night else 0)
    if day.date is None:
        return set(days) == {(number + nights.days) % 7 for number in day.weekdays}
    ahead = at.date() - nights - day.date
    return len(days) < 2 and ahead in (timedelta(0), timedelta(days=7 if day.or_week_later else 0))


def spoken_date(day: date, today: date) -> str:
    """ "today", "tomorrow", "on Friday", "on Friday, March 13", with its year where it is far."""
    ahead = (day - today).days
    if ahead in (-1, 0, 1):
        return ("yesterday", "today", "tomorrow")[ahead + 1]
    if 1 < ahead < 7:
        return f"on {_WEEKDAYS[day.weekday()]}"
    year = f", {day.year}" if not 0 < ahead < 300 else ""
    return f"on {_WEEKDAYS[day.weekday()]}, {day:%B} {day.day}{year}"


def spoken_days(days: Sequence[int]) -> str:
    """ "every day", "every weekday", "every Tuesday and Thursday"."""
    if len(days) == 7:
        return "every day"
    if tuple(days) == (0, 1, 2, 3, 4):
        return "every weekday"
    return f"every {listed([_WEEKDAYS[number] for number in days])}"


def _likely(clock: TimeOfDay, alarm: bool) -> time:
    """The reading that is meant where the next to come is no measure."""
    if alarm or len(clock.times) == 1:
        return clock.times[0]
    return next(each for each in clock.times if each.hour in _AWAKE)


def _after(now: datetime, clock: time) -> datetime:
    """The next time that the clock shows this."""
    at = datetime.combine(now.date(), clock)
    return at if at > now else at + timedelta(days=1)
