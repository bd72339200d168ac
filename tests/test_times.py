"""Lengths of time, times of day and days, as people say them; and the moments that they mean."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.due.durations import spoken_duration
from agent.errors import ArgumentError
from tools.times import LONGEST, Day, parse_day, parse_duration, parse_time, parse_time_and_day
from tools.times.moments import Moment, next_moment, read_when, spoken_moment

THURSDAY = date(2026, 3, 5)
NOW = datetime(2026, 3, 5, 14, 7)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("ten minutes", 600),
        ("Ten Minutes.", 600),
        ("for ten minutes", 600),
        ("10 min", 600),
        ("10min", 600),
        ("25 mins.", 1500),
        ("5-minute", 300),
        ("ninety-five seconds", 95),
        ("a hundred minutes", 6000),
        ("a minute", 60),
        ("an hour", 3600),
        ("hour", 3600),
        ("a full hour", 3600),
        ("1 hour 5 minutes 30 seconds", 3930),
        ("1 hour, 5 minutes and 30 seconds", 3930),
        ("an hour and 20 minutes", 4800),
        ("an hour and a half", 5400),
        ("an hour and a quarter", 4500),
        ("hour and a half", 5400),
        ("two hours and a half", 9000),
        ("two and a half hours", 9000),
        ("one and three quarters hours", 6300),
        ("1.5 h", 5400),
        ("1,5 hours", 5400),
        ("1½ hours", 5400),
        ("1 1/2 hours", 5400),
        ("half an hour", 1800),
        ("a half hour", 1800),
        ("half-hour", 1800),
        ("half a minute", 30),
        ("a minute and a half", 90),
        ("quarter of an hour", 900),
        ("three quarters of an hour", 2700),
        ("zero point five hours", 1800),
        ("an hour thirty", 5400),
        ("1h30", 5400),
        ("two minutes thirty", 150),
        ("five more minutes", 300),
        ("another half hour", 1800),
        ("half an hour more", 1800),
        ("a couple of minutes", 120),
        ("two minutes' time", 120),
        ("1,500 seconds", 1500),
        ("two days", 172_800),
        ("a week", 604_800),
        ("30 days", 2_592_000),
    ],
)
def test_a_length_of_time_is_read_however_it_is_said(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("forever", 'I do not understand "forever" as a length of time; say it like "10 minutes"'),
        ("", "I do not understand"),
        ("minutes", "I do not understand"),
        ("a few minutes", "I do not understand"),
        ("not 5 minutes", "I do not understand"),
        ("-5 minutes", "I do not understand"),
        ("5-10 minutes", "I do not understand"),
        ("five six minutes", "I do not understand"),
        ("point five hours", "I do not understand"),
        ("5 minutes 1 hour", "I do not understand"),
        ("5 minutes 6 minutes", "I do not understand"),
        ("5 minutes and", "I do not understand"),
        ("and 5 minutes", "I do not understand"),
        ("half", "I do not understand"),
        ("1 hour half", "I do not understand"),
        ("5 minutes ninety", "I do not understand"),
        ("10", 'It was not said whether "10" is in seconds, minutes or hours'),
        ("ten", 'It was not said whether "ten" is in seconds, minutes or hours'),
        ("1:30", '"1:30" could be 1 hour and 30 minutes, or 1 minute and 30 seconds; say which.'),
        ("0 seconds", "A length of time is from 1 second to 30 days."),
        ("0.2 seconds", "A length of time is from 1 second to 30 days."),
        ("31 days", "A length of time is from 1 second to 30 days."),
        ("999999 weeks", "A length of time is from 1 second to 30 days."),
        ("9" * 50 + " minutes", "I do not understand"),
        ("5 minutes " * 30, "That is too long for a time."),
        ("1 " * 25, "That is too long for a time."),
    ],
)
def test_what_is_no_length_of_time_is_refused_and_never_guessed(text: str, error: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        parse_duration(text)

    assert error in str(refused.value)


@given(st.integers(1, LONGEST))
def test_every_length_of_time_is_read_back_from_its_words(seconds: int) -> None:
    assert parse_duration(spoken_duration(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("7", "7:00 19:00"),
        ("at seven", "7:00 19:00"),
        ("12", "12:00 0:00"),
        ("7 am", "7:00"),
        ("7am", "7:00"),
        ("7 p.m.", "19:00"),
        ("7 p m", "19:00"),
        ("12 am", "0:00"),
        ("12 pm", "12:00"),
        ("7 o'clock", "7:00 19:00"),
        ("seven o’clock pm", "19:00"),
        ("seven thirty", "7:30 19:30"),
        ("seven oh five", "7:05 19:05"),
        ("eleven fifty nine pm", "23:59"),
        ("twenty one thirty", "21:30"),
        ("twenty-one", "21:00"),
        ("half past six", "6:30 18:30"),
        ("half six", "6:30 18:30"),
        ("a quarter past ten", "10:15 22:15"),
        ("quarter of nine", "8:45 20:45"),
        ("quarter to nine in the evening", "20:45"),
        ("quarter to 1", "12:45 0:45"),
        ("twenty to 7", "6:40 18:40"),
        ("20 minutes past 6 am", "6:20"),
        ("ten to midnight", "23:50"),
        ("19:05", "19:05"),
        ("7:30", "7:30 19:30"),
        ("07:30", "7:30"),
        ("0:30", "0:30"),
        ("7.30", "7:30 19:30"),
        ("730", "7:30 19:30"),
        ("0730", "7:30"),
        ("nineteen hundred", "19:00"),
        ("oh seven hundred hours", "7:00"),
        ("noon", "12:00"),
        ("12 noon", "12:00"),
        ("midnight", "0:00"),
        ("6 in the morning", "6:00"),
        ("3 in the afternoon", "15:00"),
        ("9 at night", "21:00"),
        ("1 at night", "1:00"),
        ("12:30 at night", "0:30"),
        ("19:05 pm", "19:05"),
        ("7 sharp", "7:00 19:00"),
    ],
)
def test_a_time_of_day_is_read_however_it_is_said(text: str, times: str) -> None:
    assert " ".join(f"{each.hour}:{each.minute:02d}" for each in parse_time(text).times) == times


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "24:00", "25", "7:60", "7:5", "7 5", "twenty five", "13 am", "19:00 in the morning", "00:15 pm",
        "half past", "half to six", "past six", "quarter past half past six", "7 hours", "seven seven", "-7", "7.5",
        "7 or 8", "7 kitchen", "7:30:10", "am", "hundred",
    ],
)  # fmt: skip
def test_what_is_no_time_of_day_is_refused_with_some_that_are(text: str) -> None:
    with pytest.raises(ArgumentError, match='as a time of day; say it like "7 am", "half past six" or "19:05"'):
        parse_time(text)


@given(st.times())
def test_every_time_of_the_clock_is_read_and_is_certain_but_from_ten_to_one(clock: time) -> None:
    times = parse_time(f"{clock:%H:%M}").times

    assert times[0] == clock.replace(second=0, microsecond=0)
    assert len(times) == (2 if 10 <= clock.hour <= 12 else 1)


@given(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm"]))
def test_every_time_is_read_in_twelve_hours(hour: int, minute: int, half: str) -> None:
    wanted = time(hour % 12 + (12 if half == "pm" else 0), minute)

    assert parse_time(f"{hour}:{minute:02d} {half}").times == (wanted,)
    assert wanted in parse_time(f"{hour}:{minute:02d}").times


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-03-05"),
        ("later today", "2026-03-05"),
        ("tomorrow", "2026-03-06"),
        ("tomorrow's", "2026-03-06"),
        ("the day after tomorrow", "2026-03-07"),
        ("in two days", "2026-03-07"),
        ("a week from now", "2026-03-12"),
        ("friday", "2026-03-06"),
        ("on Monday", "2026-03-09"),
        ("this saturday", "2026-03-07"),
        ("thursday", "2026-03-05"),
        ("next friday", "2026-03-13"),
        ("friday next week", "2026-03-13"),
        ("next thursday", "2026-03-12"),
        ("next week", "2026-03-09"),
        ("this weekend", "2026-03-07"),
        ("next weekend", "2026-03-14"),
        ("december 24", "2026-12-24"),
        ("Dec 24th", "2026-12-24"),
        ("the 24th of december", "2026-12-24"),
        ("24 december 2027", "2027-12-24"),
        ("december 24, 2027", "2027-12-24"),
        ("2027-12-24", "2027-12-24"),
        ("christmas eve", "2026-12-24"),
        ("new year’s eve", "2026-12-31"),
        ("march 3", "2027-03-03"),
        ("march 5", "2026-03-05"),
        ("february 29", "2028-02-29"),
        ("the 3rd", "2026-04-03"),
        ("the third", "2026-04-03"),
        ("the twenty-first", "2026-03-21"),
        ("the 31st", "2026-03-31"),
        ("friday the 13th", "2026-03-13"),
        ("friday, march 13", "2026-03-13"),
    ],
)
def test_a_date_is_read_however_it_is_said(text: str, day: str) -> None:
    read = parse_day(text, THURSDAY)

    assert read.date == date.fromisoformat(day)
    assert (read.weekdays, read.part) == ((), None)


@pytest.mark.parametrize(
    ("text", "weekdays"),
    [
        ("every day", "0123456"),
        ("daily", "0123456"),
        ("every single day", "0123456"),
        ("every weekday", "01234"),
        ("on weekdays", "01234"),
        ("working days", "01234"),
        ("monday to friday", "01234"),
        ("saturday through monday", "056"),
        ("weekends", "56"),
        ("every weekend", "56"),
        ("mondays", "0"),
        ("every tuesday and thursday", "13"),
        ("tuesdays and thursdays", "13"),
        ("every monday, wednesday and friday", "024"),
    ],
)
def test_days_of_the_week_come_again(text: str, weekdays: str) -> None:
    assert parse_day(text, THURSDAY) == Day(weekdays=tuple(int(number) for number in weekdays))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("tonight", Day(THURSDAY, part="night")),
        ("this evening", Day(THURSDAY, part="evening")),
        ("tomorrow morning", Day(date(2026, 3, 6), part="morning")),
        ("tomorrow in the afternoon", Day(date(2026, 3, 6), part="afternoon")),
        ("friday night", Day(date(2026, 3, 6), part="night")),
        ("every morning", Day(weekdays=(0, 1, 2, 3, 4, 5, 6), part="morning")),
        ("every sunday evening", Day(weekdays=(6,), part="evening")),
        ("in the evening", Day(part="evening")),
    ],
)
def test_a_day_may_say_which_part_of_it(text: str, day: Day) -> None:
    assert parse_day(text, THURSDAY) == day


@pytest.mark.parametrize(
    "text",
    [
        "", "someday", "next month", "every other day", "the next few days", "monday and tuesday", "12/24", "may", "3",
        "february 30", "the 32nd", "the 0th", "thursday march 13", "in 10 minutes", "not tomorrow", "monday to monday",
        "friday friday", "the 24th of", "tomorrow today", "2027-13-01", "day", "the",
    ],
)  # fmt: skip
def test_what_is_no_day_is_refused_with_some_that_are(text: str) -> None:
    with pytest.raises(ArgumentError, match='as a day; say "tomorrow", "Friday", "every weekday" or "December 24"'):
        parse_day(text, THURSDAY)


@given(st.dates(THURSDAY, date(2030, 12, 31)))
def test_every_date_is_read_with_its_year(day: date) -> None:
    assert parse_day(f"{day:%B} {day.day}, {day.year}", THURSDAY).date == day
    assert parse_day(f"{day:%A} the {day.day}th of {day:%B} {day.year}", THURSDAY).date == day


@given(st.dates(date(2026, 1, 1), date(2026, 12, 31)), st.integers(0, 6))
def test_a_day_of_the_week_is_the_next_of_its_name(today: date, number: int) -> None:
    read = parse_day(f"{today + timedelta(number):%A}", today)

    assert read.date == today + timedelta(number)
    assert read.or_week_later is (number == 0)


@given(st.dates(date(2026, 1, 1), date(2026, 12, 31)), st.integers(0, 6))
def test_the_next_day_of_a_name_is_in_the_week_that_begins_on_the_coming_monday(today: date, number: int) -> None:
    day = parse_day(f"next {date(2026, 3, 2) + timedelta(number):%A}", today).date
    assert day is not None

    assert day.weekday() == number
    assert day.isocalendar()[:2] == (today + timedelta(7)).isocalendar()[:2]


@given(st.text(max_size=40) | st.lists(st.sampled_from("""a an half quarter quarters of and minute minutes hour 5 30
    seven past to midnight noon am night tomorrow every monday mondays next week the 3rd december in 7:30 - 1/2 , second
    oh hundred o'clock weekend first this ½ point""".split()), max_size=8).map(" ".join))  # fmt: skip
def test_any_words_are_read_or_refused_in_a_sentence(text: str) -> None:
    with suppress(ArgumentError):
        assert 1 <= parse_duration(text) <= LONGEST
    with suppress(ArgumentError):
        assert 1 <= len(parse_time(text).times) <= 2
    with suppress(ArgumentError):
        assert parse_day(text, THURSDAY) != Day()
    with suppress(ArgumentError):
        assert parse_time_and_day(text, THURSDAY) != (None, None)


@pytest.mark.parametrize(
    ("clock", "day", "moment", "spoken"),
    [
        ("7", None, "2026-03-05 19:00", "19:00 today"),
        ("2", None, "2026-03-06 02:00", "2:00 tomorrow"),
        ("7 am", None, "2026-03-06 07:00", "7:00 tomorrow"),
        ("14:07", None, "2026-03-06 14:07", "14:07 tomorrow"),
        ("7 in the evening", None, "2026-03-05 19:00", "19:00 today"),
        ("midnight", None, "2026-03-06 00:00", "0:00 tomorrow"),
        ("3", "today", "2026-03-05 15:00", "15:00 today"),
        ("3", "tomorrow", "2026-03-06 15:00", "15:00 tomorrow"),
        ("7", "tomorrow", "2026-03-06 07:00", "7:00 tomorrow"),
        ("7", "tomorrow evening", "2026-03-06 19:00", "19:00 tomorrow"),
        ("7", "tonight", "2026-03-05 19:00", "19:00 today"),
        ("1", "tonight", "2026-03-06 01:00", "1:00 tomorrow"),
        ("midnight", "tomorrow", "2026-03-07 00:00", "0:00 on Saturday"),
        ("12 am", "tomorrow", "2026-03-06 00:00", "0:00 tomorrow"),
        ("2 pm", "thursday", "2026-03-12 14:00", "14:00 on Thursday, March 12"),
        ("3 pm", "thursday", "2026-03-05 15:00", "15:00 today"),
        (None, "friday", "2026-03-06 09:00", "9:00 tomorrow"),
        (None, "monday afternoon", "2026-03-09 15:00", "15:00 on Monday"),
        (None, "tonight", "2026-03-05 20:00", "20:00 today"),
        (None, "in the morning", "2026-03-06 09:00", "9:00 tomorrow"),
        (None, "january 1", "2027-01-01 09:00", "9:00 on Friday, January 1, 2027"),
        ("tomorrow at 7", None, "2026-03-06 07:00", "7:00 tomorrow"),
        ("7 in the morning", "tomorrow", "2026-03-06 07:00", "7:00 tomorrow"),
        ("7 tomorrow", "in the evening", "2026-03-06 19:00", "19:00 tomorrow"),
    ],
)
def test_a_moment_is_the_one_that_most_people_mean(
    clock: str | None, day: str | None, moment: str, spoken: str
) -> None:
    meant = next_moment(*read_when(clock, day, THURSDAY), NOW)

    assert meant == Moment(datetime.fromisoformat(moment))
    assert spoken_moment(meant, NOW) == spoken


@pytest.mark.parametrize(
    ("clock", "day", "moment"),
    [
        ("7", None, "2026-03-06 07:00"),
        ("3", None, "2026-03-06 03:00"),
        ("12", None, "2026-03-06 12:00"),
        ("7", "today", "2026-03-05 19:00"),
        ("3", "tomorrow", "2026-03-06 03:00"),
        ("7", "tomorrow evening", "2026-03-06 19:00"),
        ("7 pm", "tomorrow", "2026-03-06 19:00"),
    ],
)
def test_an_alarm_means_the_morning_unless_the_evening_was_said(clock: str, day: str | None, moment: str) -> None:
    assert next_moment(*read_when(clock, day, THURSDAY), NOW, alarm=True).at == datetime.fromisoformat(moment)


@pytest.mark.parametrize(
    ("clock", "day", "at", "days", "spoken"),
    [
        ("7", "every weekday", "2026-03-06 07:00", (0, 1, 2, 3, 4), "every weekday at 7:00"),
        ("8 pm", "every day", "2026-03-05 20:00", (0, 1, 2, 3, 4, 5, 6), "every day at 20:00"),
        ("8", "every evening", "2026-03-05 20:00", (0, 1, 2, 3, 4, 5, 6), "every day at 20:00"),
        ("9", "weekends", "2026-03-07 09:00", (5, 6), "every Saturday and Sunday at 9:00"),
        ("2 pm", "thursdays", "2026-03-12 14:00", (3,), "every Thursday at 14:00"),
        ("midnight", "every sunday", "2026-03-09 00:00", (0,), "every Monday at 0:00"),
    ],
)
def test_what_comes_again_is_due_first_on_the_next_of_its_days(
    clock: str, day: str, at: str, days: tuple[int, ...], spoken: str
) -> None:
    meant = next_moment(*read_when(clock, day, THURSDAY), NOW)

    assert meant == Moment(datetime.fromisoformat(at), days)
    assert spoken_moment(meant, NOW) == spoken


@pytest.mark.parametrize(
    ("clock", "day", "error"),
    [
        ("7 am", "today", "7:00 today is past; say another time."),
        (None, "today", "9:00 today is past; say another time."),
        ("noon", "march 5, 2025", "12:00 on Wednesday, March 5, 2025 is past; say another time."),
        ("23:00", "9999-12-31", "9999 is too far ahead; say a day within 10 years."),
        ("midnight", "9999-12-31", "9999 is too far ahead"),
        ("19:00", "tomorrow morning", "There is no 19:00 in the morning."),
        ("tomorrow at 7", "on friday evening", '"tomorrow at 7" and "on friday evening" are two different times'),
        ("7", "at 8", '"7" and "at 8" are two different times'),
    ],
)
def test_what_is_past_or_contradicts_itself_is_refused(clock: str | None, day: str, error: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        next_moment(*read_when(clock, day, THURSDAY), NOW)

    assert error in str(refused.value)


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)),
    st.sampled_from(["7", "12", "midnight", "1 at night", "7 am", "19:05", "half past twelve"]),
    st.sampled_from([None, "tomorrow", "friday", "next friday", "every day", "weekends", "the 3rd", "tonight"]),
    st.booleans(),
)
def test_a_moment_is_never_past(now: datetime, clock: str, day: str | None, alarm: bool) -> None:
    with suppress(ArgumentError):
        moment = next_moment(*read_when(clock, day, now.date()), now, alarm=alarm)

        assert moment.at > now
        assert not moment.days or moment.at.weekday() in moment.days
        assert spoken_moment(moment, now)
