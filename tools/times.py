"""Lengths of time, times of day and days, read from words. Pure functions.

Each reads the whole of what was said: a word that has no meaning here makes an `ArgumentError` that says what is
understood, never a guess at the rest. Numbers are read in one place only, `agent.model.numbers`.

- A length of time is a sum of falling units: "1 hour 5 minutes", "an hour and a half", "two and a half hours",
  "three quarters of an hour", "1.5 h". A bare number at the end counts the next smaller unit ("an hour thirty").
  "1:30" could be hours or minutes, and is refused.
- A time of day is certain ("7 am", "19:05", "07:00", "noon", "6 in the morning") or has two readings ("7",
  "half past six", "7:30"); which one is meant depends on what it is for, see `tools.moments`.
- A day is one date, or days of the week that come again ("every weekday", "tuesdays and thursdays", "monday to
  friday"), or only a part of a day ("in the evening"). "Friday" said on a Friday is today while its time is still
  to come; "next friday" is that of the week which begins on the coming Monday; "next week" is its Monday, and "the
  weekend" its Saturday; "the 3rd" and "december 24" are the next such dates.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Literal

from agent.due.durations import spoken_duration
from agent.errors import ArgumentError
from agent.model.numbers import parse_number

SHORTEST, LONGEST = 1, 30 * 86_400
"""The bounds of a length of time, in seconds."""

Part = Literal["am", "pm", "morning", "afternoon", "evening", "night"]
"""A part of the day."""

_HOURS: dict[Part, frozenset[int]] = {
    "am": frozenset(range(12)),
    "pm": frozenset(range(12, 24)),
    "morning": frozenset(range(12)),
    "afternoon": frozenset(range(12, 20)),
    "evening": frozenset({*range(15, 24), 0}),
    "night": frozenset({*range(17, 24), *range(5)}),
}
"""The hours of each part of the day: where they overlap people do not agree either."""

_MOST_CHARACTERS, _MOST_WORDS = 200, 24
"""A longer text is no time; reading one would take long."""


@dataclass(frozen=True)
class TimeOfDay:
    """A time of day as it was said.

    Attributes:
        times: One, or two where it was not said which half of the day: the one between 1:00 and 12:59 first.
        night: It is counted with the day before, as "midnight" and "1 at night" are.
    """

    times: tuple[time, ...]
    night: bool = False

    def within(self, part: Part | None) -> TimeOfDay | None:
        """This time in a part of the day; None where there is no such time."""
        if part is None:
            return self
        times = tuple(each for each in self.times if each.hour in _HOURS[part])
        late = part in ("evening", "night") and len(times) == 1 and times[0].hour < 5
        return TimeOfDay(times, self.night or late) if times else None


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


def parse_duration(text: str) -> int:
    """A length of time, in whole seconds.

    Args:
        text: What was said: "ten minutes", "an hour and a half", "1.5 h", "5 more minutes".

    Raises:
        ArgumentError: It is none, or not within 1 second and 30 days.
    """
    tokens = _tokens(text)
    seconds = _read_duration([token for token in tokens if token not in _AROUND_DURATION])
    if seconds is None:
        raise ArgumentError(_no_duration(text, tokens))
    if not SHORTEST <= round(seconds) <= LONGEST:
        raise ArgumentError("A length of time is from 1 second to 30 days.")
    return round(seconds)


def parse_time(text: str) -> TimeOfDay:
    """A time of day.

    Args:
        text: What was said: "7", "7 am", "half past six", "quarter to nine in the evening", "19:05", "noon".

    Raises:
        ArgumentError: It is none.
    """
    read = _read_time(_tokens(text))
    if read is None:
        raise ArgumentError(f'I do not understand "{_shown(text)}" as a time of day; {_LIKE_TIME}.')
    return read


def parse_day(text: str, today: date) -> Day:
    """A day, or days of the week.

    Args:
        text: What was said: "tomorrow", "next friday", "every weekday", "december 24", "the 3rd", "in two days".
        today: The date on which it was said.

    Raises:
        ArgumentError: It is none.
    """
    read = _read_day(_tokens(text), today)
    if read is None:
        raise ArgumentError(f'I do not understand "{_shown(text)}" as a day; {_LIKE_DAY}.')
    return read


def parse_time_and_day(text: str, today: date) -> tuple[TimeOfDay | None, Day | None]:
    """A time of day, a day, or both in either order: "7 am", "tomorrow at 7", "7 on weekdays".

    Args:
        text: What was said.
        today: The date on which it was said.

    Raises:
        ArgumentError: It is neither.
    """
    tokens = _tokens(text)
    clock = _read_time(tokens)
    if clock is not None:
        return clock, None
    day = _read_day(tokens, today)
    if day is not None:
        return None, day
    for cut in range(1, len(tokens)):
        for first, second in ((tokens[:cut], tokens[cut:]), (tokens[cut:], tokens[:cut])):
            clock, day = _read_time(first), _read_day(second, today)
            if clock is not None and day is not None:
                return clock, day
    raise ArgumentError(f'I do not understand "{_shown(text)}" as a time; {_LIKE_TIME}, or {_LIKE_DAY[4:]}.')


_LIKE_TIME = 'say it like "7 am", "half past six" or "19:05"'
_LIKE_DAY = 'say "tomorrow", "Friday", "every weekday" or "December 24"'


# Words.

_TOO_LONG = "That is too long for a time."
_SPELLED_FRACTIONS = {"½": " 1/2 ", "¼": " 1/4 ", "¾": " 3/4 "}
_TOKEN = re.compile(
    r"\d+:\d+(?::\d+)?"  # 19:05
    r"|\d+/\d+"  # 1/2
    r"|\d+(?:st|nd|rd|th)(?![a-z])"  # 3rd
    r"|\d+(?:[.,]\d+)*"  # 5, 1.5, 1,500
    r"|[a-z]+|\S",
    re.ASCII,
)


def _tokens(text: str) -> list[str]:
    """The words, numbers and other marks of a text, folded; a mark without a meaning stays, and fits nothing."""
    if len(text) > _MOST_CHARACTERS:
        raise ArgumentError(_TOO_LONG)
    for mark, spelled in _SPELLED_FRACTIONS.items():
        text = text.replace(mark, spelled)
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    plain = re.sub(r"\bo'? ?clock\b", "oclock", plain)
    plain = re.sub(r"'s\b", "", plain).replace("'", "")
    plain = re.sub(r"(?<![a-z])([ap])\.? ?m\b\.?", r" \1m ", plain)  # 7 a.m.
    plain = re.sub(r"(?<=[a-z0-9])-(?=[a-z])", " ", plain)  # twenty-five, 5-minute
    plain = re.sub(r"(?<=[a-z0-9])[.!?]+(?=\s|$)", " ", plain)  # 5 min.
    tokens = _TOKEN.findall(plain)
    if len(tokens) > _MOST_WORDS:
        raise ArgumentError(_TOO_LONG)
    return tokens


def _shown(text: str) -> str:
    """The text as an error quotes it."""
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:60]}..."


_JOINED = {"and", ","}
_IN_NUMBERS = {"a", "an", "and", "point", "hundred", "thousand"}
"""Words of numbers that alone are none."""


def _number(tokens: Sequence[str]) -> float | None:
    """The number that all of the words together are."""
    if not tokens or tokens[0] in ("and", "point") or tokens[-1] in ("a", "an", "and", "point"):
        return None
    if any(token not in _IN_NUMBERS and (token == "-" or parse_number(token) is None) for token in tokens):
        return None
    return parse_number(" ".join(tokens))


def _whole_number(tokens: Sequence[str]) -> int | None:
    number = _number(tokens)
    return int(number) if number is not None and number == int(number) else None


_IRREGULAR = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve", "twentieth": "twenty", "thirtieth": "thirty",
}  # fmt: skip


def parse_ordinal(tokens: Sequence[str]) -> int | None:
    """The number of "first", "twenty second" or "3rd"; None where it is none."""
    if not tokens:
        return None
    last = tokens[-1]
    if last[0].isdigit():
        cardinal = re.sub(r"(?:st|nd|rd|th)$", "", last)
    else:
        cardinal = _IRREGULAR.get(last) or last.removesuffix("th")
    return None if cardinal == last else _whole_number([*tokens[:-1], cardinal])


def _without(tokens: Sequence[str], before: set[str], after: set[str] | None = None) -> list[str]:
    """The words without some at the beginning and at the end."""
    start, end = 0, len(tokens)
    while start < end and tokens[start] in before:
        start += 1
    while end > start and tokens[end - 1] in (after or ()):
        end -= 1
    return list(tokens[start:end])


# Lengths of time.

_UNITS = {
    word: size
    for words, size in (
        ("second seconds sec secs s", 1),
        ("minute minutes min mins m", 60),
        ("hour hours hr hrs h", 3_600),
        ("day days d", 86_400),
        ("week weeks", 604_800),
    )
    for word in words.split()
}
_SINGLE = {"second", "minute", "hour", "day", "week"}
_SMALLER = {3_600: 60, 60: 1}
_SHARES = {"half": 0.5, "quarter": 0.25, "quarters": 0.25, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75}
_AROUND_DURATION = {
    "for", "in", "after", "by", "about", "exactly", "more", "extra", "additional", "full", "whole", "longer",
    "later", "from", "now", "time", "please",
}  # fmt: skip
"""Words around a length of time that do not change it."""


def _read_duration(tokens: Sequence[str]) -> float | None:
    total, unit, position = 0.0, float("inf"), 0
    while position < len(tokens):
        if position and tokens[position] in _JOINED:
            position += 1
            if position == len(tokens):
                return None
            continue
        end = next((index for index in range(position, len(tokens)) if tokens[index] in _UNITS), None)
        if end is None:
            rest = _rest(tokens[position:], unit, joined=tokens[position - 1] == "and")
            return None if rest is None else total + rest
        count, size = _count(tokens[position:end], tokens[end]), _UNITS[tokens[end]]
        if count is None or size >= unit:
            return None
        total, unit, position = total + count * size, size, end + 1
    return total if tokens else None


def _rest(tokens: Sequence[str], unit: float, joined: bool) -> float | None:
    """What follows a unit without one of its own: "and a half" of it, or "thirty" of the next smaller one."""
    if joined and tokens[-1] in _SHARES:
        share = _share(tokens)
        return None if share is None or unit == float("inf") else share * unit
    number, smaller = _whole_number(tokens), _SMALLER.get(int(unit) if unit != float("inf") else 0)
    return number * smaller if number is not None and smaller is not None and 0 < number < 60 else None


def _count(tokens: Sequence[str], unit: str) -> float | None:
    """How many of a unit: "ten", "a", "half an", "two and a half", "three quarters of an", "1 1/2"."""
    words = ["a" if token == "another" else token for token in tokens]
    of_a = _without(words, set(), {"a", "an", "of"})
    if of_a and of_a[-1] in (*_SHARES, "couple"):
        words = of_a
    if not words:
        return 1 if unit in _SINGLE else None
    if words in (["a"], ["an"]):
        return 1
    if words in (["a", "couple"], ["couple"]):
        return 2
    if words[-1] not in _SHARES:
        return _number(words)
    cut = max((index for index, word in enumerate(words) if word == "and"), default=0)
    whole, share = words[:cut], words[cut + 1 if cut else 0 :]
    if not cut and len(words) > 1 and "/" in words[-1]:
        whole, share = words[:-1], words[-1:]
    count, part = _number(whole) if whole else 0.0, _share(share)
    return None if count is None or part is None else count + part


def _share(tokens: Sequence[str]) -> float | None:
    """ "half", "a quarter", "three quarters"."""
    above = tokens[:-1]
    count = 1 if list(above) in ([], ["a"], ["an"]) else _whole_number(above)
    share = _SHARES[tokens[-1]] * (count or 0)
    return share if 0 < share < 1 else None


def _no_duration(text: str, tokens: Sequence[str]) -> str:
    said = _shown(text)
    if len(tokens) == 1 and re.fullmatch(r"\d+:\d\d", tokens[0]):
        first, second = (int(part) for part in tokens[0].split(":"))
        small = first * 60 + second
        return f'"{said}" could be {spoken_duration(small * 60)}, or {spoken_duration(small)}; say which.'
    if _number(tokens) is not None:
        return f'It was not said whether "{said}" is in seconds, minutes or hours; say it like "10 minutes".'
    return f'I do not understand "{said}" as a length of time; say it like "10 minutes" or "an hour and a half".'


# Times of day.

_AROUND_TIME = {"at", "for", "by", "about", "around", "exactly", "the"}
_PAST, _TO = {"past", "after"}, {"to", "till", "til", "before", "of"}
_PART_WORDS: dict[str, Part] = {
    "morning": "morning",
    "mornings": "morning",
    "afternoon": "afternoon",
    "afternoons": "afternoon",
    "evening": "evening",
    "evenings": "evening",
    "night": "night",
    "nights": "night",
}
_IN_PART: dict[tuple[str, ...], Part] = {
    ("am",): "am",
    ("pm",): "pm",
    ("in", "the", "morning"): "morning",
    ("in", "the", "afternoon"): "afternoon",
    ("in", "the", "evening"): "evening",
    ("in", "the", "night"): "night",
    ("at", "night"): "night",
}


def _read_time(tokens: Sequence[str]) -> TimeOfDay | None:
    words = _without(tokens, _AROUND_TIME, {"sharp", "exactly", "please"})
    part: Part | None = None
    for ending, meant in _IN_PART.items():
        if len(words) > len(ending) and tuple(words[-len(ending) :]) == ending:
            words, part = words[: -len(ending)], meant
            break
    read = _read_clock(words)
    return None if read is None else read.within(part)


def _read_clock(words: Sequence[str]) -> TimeOfDay | None:
    """A time without its part of the day."""
    if words and words[-1] in ("noon", "midday", "midnight") and list(words[:-1]) in ([], ["12"], ["twelve"]):
        night = words[-1] == "midnight"
        return TimeOfDay((time(0 if night else 12),), night)
    for index, word in enumerate(words):
        if index and word in _PAST | _TO:
            minutes = _minutes_beside(words[:index], past=word in _PAST)
            beside = _read_clock(words[index + 1 :])
            if minutes is None or beside is None or any(each.minute for each in beside.times):
                return None
            shifted = (_shifted(each, minutes if word in _PAST else -minutes) for each in beside.times)
            times = tuple(sorted(shifted, key=lambda each: not 1 <= each.hour <= 12))
            return TimeOfDay(times, beside.night and word in _PAST)
    if len(words) > 1 and words[0] == "half":  # "half six", as in "half past six"
        read = _hour_and_minute(words[1:])
        return None if read is None or read[1] else TimeOfDay(_readings(read[0], 30, read[2]))
    read = _hour_and_minute(words)
    return None if read is None else TimeOfDay(_readings(*read))


def _minutes_beside(words: Sequence[str], past: bool) -> int | None:
    """The "quarter", "half" or "20 minutes" that is past an hour, or left to it."""
    if list(words) == ["half"]:
        return 30 if past else None
    if list(words) in (["quarter"], ["a", "quarter"]):
        return 15
    if words[-1] in ("minutes", "minute", "min", "mins"):
        words = words[:-1]
    minutes = _whole_number(words)
    return minutes if minutes is not None and 1 <= minutes <= 59 else None


def _shifted(clock: time, minutes: int) -> time:
    return (datetime.combine(date(2000, 1, 1), clock) + timedelta(minutes=minutes)).time()


def _readings(hour: int, minute: int, certain: bool) -> tuple[time, ...]:
    if certain or not 1 <= hour <= 12:
        return (time(hour, minute),)
    return time(hour, minute), time((hour + 12) % 24, minute)


def _hour_and_minute(words: Sequence[str]) -> tuple[int, int, bool] | None:
    """Hour, minute, and whether it is certain which half of the day: "07:00" and "seven hundred" are."""
    if len(words) == 1:
        clock = re.fullmatch(r"(\d{1,2})[:.](\d\d)", words[0]) or re.fullmatch(r"(\d{1,2})(\d\d)", words[0])
        if clock:
            return _valid(int(clock[1]), int(clock[2]), clock[1].startswith("0"))
    if words and words[-1] == "oclock":
        hour = _hour(words[:-1])
        return None if hour is None else (hour, 0, False)
    if words and words[-1] in ("hundred", "hours"):
        digits = _without(words, {"oh", "o"}, {"hours"})
        number = _whole_number(digits)
        if number is not None and number >= 100 and number % 100 == 0:
            return _valid(number // 100, 0, True)
        return None
    hour = _hour(words)
    if hour is not None:
        return hour, 0, words[0].startswith("0")
    for cut in range(1, len(words)):
        hour, minute = _hour(words[:cut]), _minute(words[cut:])
        if hour is not None and minute is not None:
            return hour, minute, words[0].startswith("0")
    return None


def _valid(hour: int, minute: int, certain: bool) -> tuple[int, int, bool] | None:
    return (hour, minute, certain) if hour <= 23 and minute <= 59 else None


def _hour(words: Sequence[str]) -> int | None:
    hour = _whole_number(words)
    return hour if hour is not None and 0 <= hour <= 23 and "," not in words else None


def _minute(words: Sequence[str]) -> int | None:
    """The minutes after an hour: "thirty", "oh five", "05"; a bare "five" is none."""
    if words[0] in ("oh", "o", "zero") and len(words) == 2:
        minute = _whole_number(words[1:])
        return minute if minute is not None and 0 <= minute <= 9 else None
    minute = _whole_number(words)
    if len(words) == 1 and words[0].isdigit():
        return minute if len(words[0]) == 2 and int(words[0]) <= 59 else None
    return minute if minute is not None and 10 <= minute <= 59 else None


# Days.

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
    words = _without(tokens, _AROUND_DAY, {"please"})
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
    if not words or words[-1] not in _PART_WORDS:
        return list(words), None
    return _without(words[:-1], set(), {"in", "the", "at"}), _PART_WORDS[words[-1]]


def _read_date(words: Sequence[str], today: date) -> Day | None:
    for read in (_near_day, _several_days, _day_of_week, _day_of_year):
        day = read(words, today)
        if day is not None:
            return day
    return None


def _near_day(words: Sequence[str], today: date) -> Day | None:
    """ "today", "tomorrow", "in two days", "a week from now"."""
    plain = _without(words, {"later", "the"})
    if plain == ["today"]:
        return Day(today)
    if plain in (["tomorrow"], ["tomorrows"]):
        return Day(today + timedelta(1))
    if plain == ["day", "after", "tomorrow"]:
        return Day(today + timedelta(2))
    if (words[:1] == ["in"] or words[-1:] == ["later"] or words[-2:] == ["from", "now"]) and {
        "day", "days", "week", "weeks"
    } & set(words):  # fmt: skip
        seconds = _read_duration([word for word in words if word not in _AROUND_DURATION])
        if seconds is not None and seconds % 86_400 == 0 and seconds <= LONGEST:
            return Day(today + timedelta(seconds=seconds))
    return None


def _several_days(words: Sequence[str], today: date) -> Day | None:
    """ "every day", "weekdays", "mondays and fridays", "every tuesday and thursday", "monday to friday"."""
    every = bool(words) and words[0] in _EVERY
    plain = _without(words, {*_EVERY, "single", "of", "the"} if every else set())
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
    listed = [word for word in plain if word not in (*_JOINED, *_EVERY, "on")]
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
        year, month, day = (_whole_number([word]) or 0 for word in words[::2])
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
    number = parse_ordinal(rest) or _whole_number(rest)
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
