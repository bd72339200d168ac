"""Words for slots: hand-written lists, and generated amounts, times and the like."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import yaml

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(number: int) -> str:
    """A number from 0 to 999,999 in words."""
    if number < 20:
        return _WORDS[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return _TENS[tens - 2] + (f" {_WORDS[unit]}" if unit else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_WORDS[hundreds]} hundred" + (f" {in_words(rest)}" if rest else "")
    thousands, rest = divmod(number, 1000)
    return f"{in_words(thousands)} thousand" + (f" {in_words(rest)}" if rest else "")


def number_between(rng: random.Random, low: int, high: int) -> str:
    """A number in a range, as digits or words; round ones more often."""
    step = rng.choice((1, 1, 5, 10)) if high - low > 20 else 1
    number = max(low, min(high, rng.randint(low, high) // step * step))
    if rng.random() < 0.3 and number >= 0:
        return in_words(number)
    return str(number)


def _percent(rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.08:
        return rng.choice(("half", "a quarter", "max", "maximum", "full", "minimum", "three quarters", "full power"))
    number = rng.choice((rng.randint(1, 100), rng.randrange(5, 105, 5), rng.randrange(10, 110, 10)))
    words = in_words(number) if number < 100 else rng.choice(("a hundred", "one hundred"))
    digits = str(number) if rng.random() < 0.65 else words
    return (
        digits + rng.choice(("%", " percent", " percent", " %", "", " per cent"))
        if digits[0].isdigit()
        else (digits + rng.choice((" percent", " percent", "", " per cent")))
    )


def _temperature(rng: random.Random) -> str:
    number = number_between(rng, 15, 28) if rng.random() < 0.7 else number_between(rng, 60, 80)
    if rng.random() < 0.1:
        number = str(rng.randint(15, 25)) + ".5"
    return number + rng.choice((" degrees", " degrees", "°", " celsius"))


def _setting(rng: random.Random) -> str:
    """A temperature that may be said without its unit: to a thermostat a bare number means degrees."""
    temperature = _temperature(rng)
    return (
        temperature
        if rng.random() < 0.6
        else temperature.removesuffix(" degrees").removesuffix("°").removesuffix(" celsius")
    )


def _time(rng: random.Random) -> str:
    """A time of day as it is said, heard and typed: "7", "half past six", "18:30", "seven in the morning"."""
    hour, minute = rng.randint(1, 12), rng.choice((0, 0, 15, 30, 45, rng.randint(1, 59)))
    draw = rng.random()
    if draw < 0.04:
        return rng.choice(("noon", "midnight", "midday"))
    if draw < 0.13:
        past = rng.choice(("half", "quarter", "a quarter", "ten", "twenty", "five"))
        to = " past " if past == "half" or rng.random() < 0.5 else " to "
        return past + to + (in_words(hour) if rng.random() < 0.7 else str(hour))
    if draw < 0.21:
        evening = "at night" if hour > 8 else "in the evening" if hour > 4 else "in the afternoon"
        part = "in the morning" if rng.random() < 0.5 else evening
        return f"{hour if rng.random() < 0.6 else in_words(hour)} {part}"
    if draw < 0.29:
        return f"{rng.randint(0, 23):{rng.choice(('02', ''))}}:{minute:02d}"
    if draw < 0.38:
        return str(hour) if rng.random() < 0.7 else in_words(hour)
    if draw < 0.55:
        spoken = f" {in_words(minute)}" if minute > 9 else f" oh {in_words(minute)}" if minute else ""
        return in_words(hour) + spoken + rng.choice((" am", " pm", "", " o'clock" if minute == 0 else ""))
    clock = f"{hour}:{minute:02d}" if minute or rng.random() < 0.3 else str(hour)
    return clock + rng.choice((" am", " pm", "am", "pm", " a.m.", " p.m.", "" if ":" in clock else " o'clock"))


_UNITS = {"second": ("sec", "secs"), "minute": ("min", "mins"), "hour": ("hr", "hrs")}

_SPOKEN_DURATIONS = (
    "half an hour", "half an hour", "a half hour", "half a minute", "an hour", "one hour", "a minute",
    "an hour and a half", "one and a half hours", "a minute and a half", "a quarter of an hour",
    "quarter of an hour", "three quarters of an hour", "two and a half hours", "two hours and a half",
    "two and a half minutes", "three and a half minutes", "1.5 hours", "an hour and fifteen minutes",
    "an hour and 20 minutes", "an hour and a quarter", "a full hour",
)  # fmt: skip


def _counted(rng: random.Random, unit: str, most: int) -> str:
    """A number of units: "10 minutes", "ten minutes", now and then "10 min"."""
    usual = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 45)
    number = rng.choice([each for each in usual if each <= most] + [rng.randint(1, most)])
    if rng.random() < 0.35:
        return f"{in_words(number)} {unit}{'' if number == 1 else 's'}"
    if rng.random() < 0.1:
        return f"{number} {rng.choice(_UNITS[unit])}"
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _duration(rng: random.Random) -> str:
    """A length of time: "10 minutes", "an hour and a half", "1 hour 5 minutes", "2 minutes and 30 seconds"."""
    draw = rng.random()
    if draw < 0.17:
        return rng.choice(_SPOKEN_DURATIONS)
    if draw < 0.27:
        first = _counted(rng, "hour", 5)
        return f"{first}{rng.choice((' and ', ' ', ', '))}{_counted(rng, 'minute', 59)}"
    if draw < 0.33:
        first = _counted(rng, "minute", 20)
        return f"{first}{rng.choice((' and ', ' '))}{rng.choice((10, 15, 20, 30, 45))} seconds"
    unit = rng.choice(("second", "minute", "minute", "minute", "minute", "hour"))
    return _counted(rng, unit, {"second": 90, "minute": 90, "hour": 12}[unit])


def _length(rng: random.Random) -> str:
    """A length of time before a noun: the "10 minute" timer, a "half-hour" timer."""
    if rng.random() < 0.15:
        return rng.choice(("half hour", "half-hour", "hour", "one hour", "hour and a half", "two hour", "90 second"))
    unit = rng.choice(("second", "minute", "minute", "minute", "minute", "hour"))
    number = {
        "second": rng.choice((10, 15, 20, 30, 45, 90)),
        "minute": rng.choice((1, 2, 3, 5, 7, 8, 10, 12, 15, 20, 25, 30, 40, 45, 60, 90)),
        "hour": rng.randint(1, 6),
    }[unit]
    count = str(number) if rng.random() < 0.7 else in_words(number)
    return count + rng.choice((" ", " ", " ", "-")) + unit


def _date(rng: random.Random) -> str:
    month = rng.choice("january february march april may june july august september october november december".split())
    month = month if rng.random() < 0.5 else month.capitalize()
    day = rng.randint(1, 28)
    ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day, "th")
    return rng.choice(
        (
            f"{month} {day}",
            f"{month} {day}{ending}",
            f"the {day}{ending} of {month}",
            "today",
            "tomorrow",
            f"next {rng.choice(('monday', 'tuesday', 'friday', 'week'))}",
            f"{rng.choice(('saturday', 'sunday', 'wednesday'))}",
        )
    )


def _money(rng: random.Random) -> str:
    number = number_between(rng, 1, 500)
    return (
        rng.choice((f"{number} dollars", f"{number} euros", f"{number} pounds", number))
        if not number[0].isdigit()
        else (rng.choice((f"${number}", f"{number} dollars", f"{number} euros", f"€{number}", number, f"{number}.50")))
    )


def _phone(rng: random.Random) -> str:
    return rng.choice(
        (
            f"555-{rng.randint(1000, 9999)}",
            f"0{rng.randint(100, 999)} {rng.randint(100000, 999999)}",
            f"+44 20 {rng.randint(1000, 9999)} {rng.randint(1000, 9999)}",
        )
    )


GENERATED: dict[str, Callable[[random.Random], str]] = {
    "percent": _percent,
    "number": lambda rng: number_between(rng, 1, 100),
    "small_number": lambda rng: number_between(rng, 1, 10),
    "temperature": _temperature,
    "setting": _setting,
    "time": _time,
    "date": _date,
    "duration": _duration,
    "length": _length,
    "money": _money,
    "phone": _phone,
}


class Classes:
    """The shared classes by name."""

    def __init__(self, folder: Path) -> None:
        """Reads the files `classes*.yaml` of a folder: a list of words for each name.

        Raises:
            ValueError: Two files have a class of one name.
        """
        self._lists: dict[str, list[str]] = {}
        for path in sorted(folder.glob("classes*.yaml")):
            for name, words in yaml.safe_load(path.read_text()).items():
                if name in self._lists:
                    raise ValueError(f"{path.name}: there is a class {name!r} already")
                self._lists[name] = [str(word) for word in words]

    def __contains__(self, name: str) -> bool:
        return name in self._lists or name in GENERATED

    def draw(self, name: str, rng: random.Random) -> str:
        """Words of a class.

        Raises:
            KeyError: There is no such class.
        """
        if name in GENERATED:
            return GENERATED[name](rng)
        return rng.choice(self._lists[name])
