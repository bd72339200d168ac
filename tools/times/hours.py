"""Times of day, read from words.

One is certain ("7 am", "19:05", "07:00", "noon", "6 in the morning") or has two readings ("7", "half past six",
"7:30"); which one is meant depends on what it is for, see `tools.times.moments`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

from agent.errors import ArgumentError
from tools.times.tokens import read_whole_number, shown, tokens_of, without

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


def parse_time(text: str) -> TimeOfDay:
    """A time of day.

    Args:
        text: What was said: "7", "7 am", "half past six", "quarter to nine in the evening", "19:05", "noon".

    Raises:
        ArgumentError: It is none.
    """
    read = read_time(tokens_of(text))
    if read is None:
        raise ArgumentError(f'I do not understand "{shown(text)}" as a time of day; {LIKE_TIME}.')
    return read


LIKE_TIME = 'say it like "7 am", "half past six" or "19:05"'


_AROUND_TIME = {"at", "for", "by", "about", "around", "exactly", "the"}
_PAST, _TO = {"past", "after"}, {"to", "till", "til", "before", "of"}
PART_WORDS: dict[str, Part] = {
    "morning": "morning",
    "mornings": "morning",
    "afternoon": "afternoon",
    "afternoons": "afternoon",
    "evening": "evening",
    "evenings": "evening",
    "night": "night",
    "nights": "night",
}
IN_PART: dict[tuple[str, ...], Part] = {
    ("am",): "am",
    ("pm",): "pm",
    ("in", "the", "morning"): "morning",
    ("in", "the", "afternoon"): "afternoon",
    ("in", "the", "evening"): "evening",
    ("in", "the", "night"): "night",
    ("at", "night"): "night",
}


def read_time(tokens: Sequence[str]) -> TimeOfDay | None:
    words = without(tokens, _AROUND_TIME, {"sharp", "exactly", "please"})
    part: Part | None = None
    for ending, meant in IN_PART.items():
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
    minutes = read_whole_number(words)
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
        digits = without(words, {"oh", "o"}, {"hours"})
        number = read_whole_number(digits)
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
    hour = read_whole_number(words)
    return hour if hour is not None and 0 <= hour <= 23 and "," not in words else None


def _minute(words: Sequence[str]) -> int | None:
    """The minutes after an hour: "thirty", "oh five", "05"; a bare "five" is none."""
    if words[0] in ("oh", "o", "zero") and len(words) == 2:
        minute = read_whole_number(words[1:])
        return minute if minute is not None and 0 <= minute <= 9 else None
    minute = read_whole_number(words)
    if len(words) == 1 and words[0].isdigit():
        return minute if len(words[0]) == 2 and int(words[0]) <= 59 else None
    return minute if minute is not None and 10 <= minute <= 59 else None
