"""Days, read from words.

One date, or days of the week that come again ("every weekday", "tuesdays and thursdays", "monday to friday"), or only
a part of a day ("in the evening"). "Friday" said on a Friday is today while its time is still to come; "next friday" is
that of the week which begins on the coming Monday; "next week" is its Monday, and "the weekend" its Saturday; "the 3rd"
and "december 24" are the next such dates.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.errors import ArgumentError
from tools.times.durations import AROUND_DURATION, LONGEST, read_duration
from tools.times.hours import LIKE_TIME, PART_WORDS, Part, TimeOfDay, read_time
from tools.times.tokens import JOINED, parse_ordinal, read_whole_number, shown, tokens_of, without


@dataclass(frozen=True)
class Day:
    """A day as it was said.

    Attributes:
        date: Which one; None where it is several, or only a part of one.
        weekdays: The days of the week that are meant again and again, Monday is 0.
        part: The part of the day, where it was said.
        or_week_later: Where the time is past on this date, the same day of the next week is meant.
    """

    date: date | None = None
    weekdays: tuple[int, ...] = ()
    part: Part | None = None
    or_week_later: bool = False


def parse_day(text: str, today: date) -> Day:
    """A day, or days of the week.

    Args:
        text: What was said: "tomorrow", "next friday", "every weekday", "december 24", "the 3rd", "in two days".
        today: The date on which it was said.

    Raises:
        ArgumentError: It is none.
    """
    read = _read_day(tokens_of(text), today)
    if read is None:
        raise ArgumentError(f'I do not understand "{shown(text)}" as a day; {_LIKE_DAY}.')
    return read


def parse_time_and_day(text: str, today: date) -> tuple[TimeOfDay | None, Day | None]:
    """A time of day, a day, or both in either order: "7 am", "tomorrow at 7", "7 on weekdays".

    Args:
        text: What was said.
        today: The date on which it was said.

    Raises:
        ArgumentError: It is neither.
    """
    tokens = tokens_of(text)
    clock = read_time(tokens)
    if clock is not None:
        return clock, None
    day = _read_day(tokens, today)
    if day is not None:
        return None, day
    for cut in range(1, len(tokens)):
        for first, second in ((tokens[:cut], tokens[cut:]), (tokens[cut:], tokens[:cut])):
            clock, day = read_time(first), _read_day(second, today)
            if clock is not None and day is not None:
                return clock, day
    raise ArgumentError(f'I do not understand "{shown(text)}" as a time; {LIKE_TIME}, or {_LIKE_DAY[4:]}.')


_LIKE_DAY = 'say "tomorrow", "Friday", "every weekday" or "December 24"'


_AROUND_DAY = {"on", "for", "at", "by", "from"}
_WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for word in words.split()
}
_WEEKLY = {f"{word}s": number for word, number in _WEEKDAYS.items() if word.endswith("day")}
_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for word in words.split()
}
_FEASTS = {
    "new year day": (1, 1), "valentine day": (2, 14), "halloween": (10, 31), "christmas eve": (12, 24),
    "christmas": (12, 25), "christmas day": (12, 25), "boxing day": (12, 26), "new year eve": (12, 31),
}  # fmt: skip
_EVERY_DAY, _WORKDAYS, _WEEKEND = (0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4), (5, 6)
_SETS = {
    "day": _EVERY_DAY, "days": _EVERY_DAY, "daily": _EVERY_DAY,
    "weekday": _WORKDAYS, "weekdays": _WORKDAYS, "workday": _WORKDAYS, "workdays": _WORKDAYS,
    "weekend": _WEEKEND, "weekends": _WEEKEND,
}  # fmt: skip
_IN_DATES = {"the", "of", "on", ","}
_EVERY = {"every", "each", "all"}


def _read_day(tokens: Sequence[str], today: date) -> Day | None:
    words = without(tokens, _AROUND_DAY, {"please"})
    if words == ["tonight"]:
        return Day(today, part="night")
    words, part = _split_part(words)
    if part is None:
        return _read_date(words, today)
    if words in ([], ["the"]):
        return Day(part=part)
    if words in (["this"], ["today"]):
        return Day(today, part=part)
    if words[0] in _EVERY and len(words) == 1:
        return Day(weekdays=_EVERY_DAY, part=part)
    day = _read_date(words, today)
    return None if day is None else replace(day, part=part)


def _split_part(words: Sequence[str]) -> tuple[list[str], Part | None]:
    """ "tomorrow in the evening" and "tomorrow evening" as "tomorrow" and the evening."""
    if not words or words[-1] not in PART_WORDS:
        return list(words), None
    return without(words[:-1], set(), {"in", "the", "at"}), PART_WORDS[words[-1]]


def _read_date(words: Sequence[str], today: date) -> Day | None:
    for read in (_near_day, _several_days, _day_of_week, _day_of_year):
        day = read(words, today)
        if day is not None:
            return day
    return None


def _near_day(words: Sequence[str], today: date) -> Day | None:
    """ "today", "tomorrow", "in two days", "a week from now"."""
    plain = without(words, {"later", "the"})
    if plain == ["today"]:
        return Day(today)
    if plain in (["tomorrow"], ["tomorrows"]):
        return Day(today + timedelta(1))
    if plain == ["day", "after", "tomorrow"]:
        return Day(today + timedelta(2))
    if (words[:1] == ["in"] or words[-1:] == ["later"] or words[-2:] == ["from", "now"]) and {
        "day", "days", "week", "weeks"
    } & set(words):  # fmt: skip
        seconds = read_duration([word for word in words if word not in AROUND_DURATION])
        if seconds is not None and seconds % 86_400 == 0 and seconds <= LONGEST:
            return Day(today + timedelta(seconds=seconds))
    return None


def _several_days(words: Sequence[str], today: date) -> Day | None:
    """ "every day", "weekdays", "mondays and fridays", "every tuesday and thursday", "monday to friday"."""
    every = bool(words) and words[0] in _EVERY
    plain = without(words, {*_EVERY, "single", "of", "the"} if every else set())
    if plain in (["week", "day"], ["week", "days"], ["working", "day"], ["working", "days"], ["work", "days"]):
        return Day(weekdays=_WORKDAYS)
    if len(plain) == 1 and plain[0] in _SETS and (every or plain[0] not in ("day", "days")):
        return Day(weekdays=_SETS[plain[0]])
    if len(plain) == 3 and plain[1] in ("to", "through", "till", "until"):
        ends = [{**_WEEKDAYS, **_WEEKLY}.get(word) for word in (plain[0], plain[2])]
        first, last = ends
        if first is None or last is None or first == last:
            return None
        span = range(first, last + 1 if last > first else last + 8)
        return Day(weekdays=tuple(sorted({number % 7 for number in span})))
    names = {**_WEEKDAYS, **_WEEKLY} if every or any(word in _WEEKLY for word in plain) else {}
    listed = [word for word in plain if word not in (*JOINED, *_EVERY, "on")]
    if not listed or any(word not in names for word in listed):
        return None
    return Day(weekdays=tuple(sorted({names[word] for word in listed})))


def _day_of_week(words: Sequence[str], today: date) -> Day | None:
    """ "friday", "this friday", "next friday", "next week", "this weekend"."""
    monday = today + timedelta(7 - today.weekday())
    plain = [word for word in words if word not in ("the", "on", "coming")]
    if plain == ["next", "week"]:
        return Day(monday)
    if plain == ["next", "weekend"]:
        return Day(monday + timedelta(5))
    if plain in (["this", "weekend"], ["weekend"]):
        return Day(today if today.weekday() >= 5 else monday - timedelta(2))
    following = plain[:1] == ["next"] or plain[-2:] == ["next", "week"]
    plain = [word for word in plain if word not in ("this", "next", *(("week",) if following else ()))]
    if len(plain) != 1 or plain[0] not in _WEEKDAYS:
        return None
    number = _WEEKDAYS[plain[0]]
    if following:
        return Day(monday + timedelta(number))
    ahead = (number - today.weekday()) % 7
    return Day(today + timedelta(ahead), or_week_later=ahead == 0)


def _day_of_year(words: Sequence[str], today: date) -> Day | None:
    """ "december 24", "the 24th of december 2027", "the 3rd", "friday the 13th", "2027-12-24", "christmas eve"."""
    plain = [word for word in words if word not in _IN_DATES]
    if words[-1:] and words[-1] in _IN_DATES:
        return None  # more was to come
    weekday = _WEEKDAYS[plain[0]] if len(plain) > 1 and plain[0] in _WEEKDAYS else None
    found = _date(plain if weekday is None else plain[1:], today)
    # A day of the week that is not the date's: one of both was meant, and nobody knows which.
    return None if found is None or (weekday is not None and found.weekday() != weekday) else Day(found)


def _date(words: Sequence[str], today: date) -> date | None:
    if len(words) == 5 and words[1] == words[3] == "-" and len(words[0]) == 4:
        year, month, day = (read_whole_number([word]) or 0 for word in words[::2])
        return _existing(year, month, day)
    if " ".join(words) in _FEASTS:
        return _next_date(*_FEASTS[" ".join(words)], today)
    months = [index for index, word in enumerate(words) if word in _MONTHS]
    if not months:
        number = parse_ordinal(words)
        return None if number is None else _next_of_month(number, today)
    dated = len(words) > 2 and re.fullmatch(r"20[0-9]{2}", words[-1])
    rest = list(words[:-1] if dated else words)
    month = _MONTHS[rest.pop(months[0])]
    number = parse_ordinal(rest) or read_whole_number(rest)
    if number is None or 0 < months[0] < len(rest):
        return None
    return _existing(int(words[-1]), month, number) if dated else _next_date(month, number, today)


def _existing(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _next_date(month: int, day: int, today: date) -> date | None:
    """The next date of a month and day; None for one that no year has, as February 30."""
    dates = (_existing(today.year + years, month, day) for years in range(9))
    return next((each for each in dates if each is not None and each >= today), None)


def _next_of_month(day: int, today: date) -> date | None:
    first = today.replace(day=1)
    while 1 <= day <= 31:
        days = monthrange(first.year, first.month)[1]
        if day <= days and first.replace(day=day) >= today:
            return first.replace(day=day)
        first += timedelta(days)
    return None
