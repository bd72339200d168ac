"""Lengths of time, times of day and days, read from words. Pure functions.

Each reads the whole of what was said: a word that has no meaning here makes an `ArgumentError` that says what is
understood, never a guess at the rest.
"""

from tools.times.days import Day, parse_day, parse_time_and_day
from tools.times.durations import LONGEST, parse_duration
from tools.times.hours import Part, TimeOfDay, parse_time
from tools.times.tokens import parse_ordinal

__all__ = [
    "LONGEST", "Day", "Part", "TimeOfDay", "parse_day", "parse_duration", "parse_ordinal", "parse_time",
    "parse_time_and_day",
]  # fmt: skip
