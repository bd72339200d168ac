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
    hour, minute = rng.randint(1, 12), rng.choice((0, 0, 15, 30, 45, rng.randint(1, 59)))
    draw = rng.random()
    if draw < 0.1:
        return rng.choice(("noon", "midnight", "half past " + in_words(hour), "quarter to " + in_words(hour)))
    if draw < 0.3:
        return (
            in_words(hour)
            + (f" {in_words(minute)}" if minute > 9 else "")
            + rng.choice((" am", " pm", "", " o'clock" if minute == 0 else ""))
        )
    clock = f"{hour}:{minute:02d}" if minute or rng.random() < 0.3 else str(hour)
    return clock + rng.choice((" am", " pm", "am", "pm", " a.m.", "" if ":" in clock else " o'clock"))


def _duration(rng: random.Random) -> str:
    unit = rng.choice(("second", "minute", "minute", "minute", "hour", "hour"))
    number = rng.choice((1, 2, 3, 5, 10, 15, 20, 30, 45, rng.randint(1, 90)))
    if rng.random() < 0.15:
        return rng.choice(
            ("half an hour", "an hour", "a minute", "an hour and a half", "quarter of an hour", "two and a half hours")
        )
    count = str(number) if rng.random() < 0.7 else in_words(number)
    text = f"{count} {unit}{'' if number == 1 else 's'}"
    if unit == "hour" and rng.random() < 0.25:
        text += f" and {rng.choice((10, 15, 20, 30, 45))} minutes"
    return text


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
