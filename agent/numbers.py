"""Numbers as people say them: digits, words, percentages, and a closed list of expressions.

English numerals up to 999,999, and a closed list of shares and ends of a declared range ("half", "max" ...).
Nothing here looks at a sentence: it reads one span that the model pointed at.
"""

from __future__ import annotations

import re

_UNITS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: number * 10
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1000}
_ARTICLES = {"a": 1, "an": 1}
SHARES = {
    **{"half": 0.5, "halfway": 0.5, "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25},
    **{"low": 0.25, "medium": 0.5, "middle": 0.5},  # the steps of a fan
}
LARGEST = {"max", "maximum", "full", "fully", "high", "highest", "brightest", "all"}
SMALLEST = {"min", "minimum", "lowest", "dimmest"}
_MOST_DIGITS = 15  # what a float can tell apart from its neighbours
_GROUPED = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?"  # "2,700" is no 2.7
_TOKEN = re.compile(_GROUPED + r"|\d+(?:[.,]\d+)?|[a-z]+|%|-")


def parse_number(
    text: str, minimum: float | None = None, maximum: float | None = None, lowest: float | None = None
) -> float | None:
    """The number in a span, or None when there is none or more than one.

    Args:
        text: The span, in any case: "80%", "eighty percent", "twenty-one degrees", "half".
        minimum: Lower end of the declared range, for "min" and fractions.
        maximum: Upper end, for "max", "full" and fractions ("half" of 0 to 100 is 50).
            Without a range, fractions and extremes have no meaning and give None,
            but "a quarter" of nothing declared never becomes a guess.
        lowest: What "min" means, where it is not the lower end.
    """
    tokens = _TOKEN.findall(text.casefold().replace("-", " - "))
    numbers: list[float] = []
    position = 0
    while position < len(tokens):
        read = _read_number(tokens, position)
        if read is None:
            position += 1
            continue
        value, position = read
        numbers.append(value)
    if len(numbers) == 1:
        return numbers[0]
    if numbers or minimum is None or maximum is None:
        return None
    for at, token in enumerate(tokens):
        if token in SHARES and tokens[at + 1 : at + 2] in (["a"], ["an"]):
            return SHARES[token]  # "half a degree" is no share of a range
        if token in SHARES:
            share = SHARES[token] * (3 if "three" in tokens else 2 if "two" in tokens else 1)
            # Half of 1 to 100 is 50: a range that begins at 1 only leaves nothing out.
            low = 0 if minimum == 1 else minimum
            return float(round(low + share * (maximum - low)))
        if token in LARGEST:
            return maximum
        if token in SMALLEST:
            return minimum if lowest is None else lowest
    return None


def _read_number(tokens: list[str], start: int) -> tuple[float, int] | None:
    """A number that begins at `start`, and the place after it."""
    first = tokens[start]
    if first == "-" or first in ("minus", "negative"):
        if start + 1 < len(tokens) and (start == 0 or first != "-"):
            inner = _read_number(tokens, start + 1)
            if inner is not None:
                return -inner[0], inner[1]
        return None
    if first[0].isdigit():
        digits = first.replace(",", "" if re.fullmatch(_GROUPED, first) else ".")
        return _with_point(float(digits), tokens, start + 1) if len(digits) <= _MOST_DIGITS else None
    total, current, position, seen = 0, 0, start, False
    previous = ""
    while position < len(tokens):
        token = tokens[position]
        if token in _UNITS and previous not in ("unit",):
            if previous == "tens" and not 0 < _UNITS[token] < 10:
                break
            current += _UNITS[token]
            previous, seen = "unit", True
        elif token in _TENS and previous not in ("unit", "tens"):
            current += _TENS[token]
            previous, seen = "tens", True
        elif token in _SCALES and (seen or previous == "article"):
            current = max(current, 1) * _SCALES[token]
            if token == "thousand":
                total, current = total + current, 0
            previous, seen = "scale", True
        elif token in _ARTICLES and not seen and tokens[position + 1 : position + 2] in (["hundred"], ["thousand"]):
            previous = "article"
        elif (
            token == "and"
            and previous == "scale"
            and position + 1 < len(tokens)
            and (tokens[position + 1] in _UNITS or tokens[position + 1] in _TENS)
        ) or (token == "-" and previous == "tens"):
            pass
        else:
            break
        position += 1
    if not seen:
        return None
    # "three quarters" is a fraction, not the number three.
    if position < len(tokens) and tokens[position] in ("quarters", "thirds"):
        return None
    return _with_point(float(total + current), tokens, position)


def _with_point(value: float, tokens: list[str], position: int) -> tuple[float, int]:
    """Adds "point five" or "and a half"."""
    if tokens[position : position + 1] == ["point"]:
        digits = ""
        position += 1
        while position < len(tokens) and (tokens[position].isdigit() or _UNITS.get(tokens[position], 10) < 10):
            digits += tokens[position] if tokens[position].isdigit() else str(_UNITS[tokens[position]])
            position += 1
        return (value + float("0." + digits) if digits else value), position
    if tokens[position : position + 3] == ["and", "a", "half"]:
        return value + 0.5, position + 3
    return value, position
