"""Which of several timers, alarms, reminders or later commands a person means.

The first that fits ends the search:

1. nothing said, or "it": the only one;
2. the name, exactly after folding (`tools.names.words`): "pizza", "the pizza timer", "timer named pizza";
3. the order in which they are listed, which is that in which they are due: "first", "the second one", "last";
4. what else is known of it: a timer's length, an alarm's time or day;
5. some of the words of the name, where only one has them: "the dentist reminder";
6. the order among those that the other words mean: "the last pizza timer", "the first 5 minute one";
7. for timers, where a mistake is harmless, the name with one letter wrong, added, left out or swapped with the next.

"All", "both", "every" and "them" stand for all that fit, but not after "named". Everything else that fits none, or
several, is an `ArgumentError` that names what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.due import DueItem
from agent.errors import ArgumentError
from agent.plain_text import shortened, within
from tools.names.slips import distance
from tools.names.words import fold
from tools.speech import listed, sentence, there_are
from tools.times import parse_ordinal

_MOST_NAMED = 5
_LONGEST_NAME = 100
_ALL = {"all", "every", "everything", "each", "both", "them", "they", "these", "those"}
_BESIDE_ALL = {"1", "single", "of"}
_EMPTY = {"the", "a", "an", "my", "our", "your", "for", "of", "named", "called", "please", "it", "this", "that"}
_SPOKEN_BESIDE = {"the", "my", "our", "your", "for", "named", "called", "please"}
_NAMED = {"named", "called"}
"""What follows is a name, even "all"."""

_ONE = {"1", "ones"}
"""The "one" of "the pizza one", folded."""


@dataclass(frozen=True)
class Kind:
    """What is chosen from.

    Attributes:
        noun: What one of them is called.
        describe: One of them among others: "pizza with 3 minutes left".
        read: Those that the words mean by something else than a name; none where they mean nothing.
        misspelt: Whether one letter of a name may be wrong.
    """

    noun: str
    describe: Callable[[DueItem], str]
    read: Callable[[str, Sequence[DueItem]], list[DueItem]]
    misspelt: bool = False

    def count(self, items: Sequence[DueItem]) -> str:
        """ "there are 2 timers: pizza with 3 minutes left and eggs with 5 minutes left"."""
        described = [self.describe(item) for item in items]
        return f"{there_are(len(items), self.noun)}: {listed(described, most=_MOST_NAMED)}"


class SeveralError(ArgumentError):
    """Several are meant where one has to be."""


def choose(words: str | None, items: Sequence[DueItem], kind: Kind, many: bool = True) -> list[DueItem]:
    """Those that are meant: one, or all that fit where the words say so.

    Args:
        words: What was said of it.
        items: What there is, in the order in which it is listed.
        kind: What it is.
        many: Whether "all" is allowed.

    Raises:
        ArgumentError: None is meant, or it was not said which.
    """
    if not items:
        raise ArgumentError(f"There is no {kind.noun}.")
    beside, after = _split(words or "", kind.noun)
    every = bool(_ALL & set(beside))
    name = [token for token in beside if token not in (_ALL | _BESIDE_ALL if every else ())] + after
    said = words is not None and bool(name) and name != ["1"]
    found = _found(words or "", name, items, kind) if said else list(items)
    if not found:
        none = f'There is no {kind.noun} for "{shortened(words or "", _LONGEST_NAME)}".'
        raise ArgumentError(f"{none} {sentence(kind.count(items))}")
    two = "both" not in beside or len(found) == 2
    if len(found) > 1 and not (every and many and two):
        raise SeveralError(sentence(kind.count(found), "say which"))
    return found


def unnamed(words: str | None, noun: str) -> bool:
    """Whether the words say no more than that one is meant: nothing, "it", "the timer"."""
    return not set(_core(words or "", noun)) - _ONE


def clean_name(name: str | None, noun: str) -> str:
    """A name without its article and without the noun: "the pizza timer" is "pizza"; "" where nothing is left.

    Raises:
        ArgumentError: It is too long.
    """
    kept = within(name or "", _LONGEST_NAME, f"The {noun}'s name").split()
    while kept and set(fold(kept[0])) <= {"the", "a", "an", "my", "our", "your"}:
        kept = kept[1:]
    while kept and kept[-1].casefold().strip(".,!?") in (noun, f"{noun}s"):
        kept = kept[:-1]
    return " ".join(kept)


def _split(words: str, noun: str) -> tuple[list[str], list[str]]:
    """What was said, and what was said to be a name: "all timers called pizza" is "all" and "pizza"."""
    tokens = fold(words)
    at = next((index for index, token in enumerate(tokens) if token in _NAMED), len(tokens))
    return _telling(tokens[:at], noun), _telling(tokens[at:], noun)


def _core(words: str, noun: str) -> list[str]:
    return _telling(fold(words), noun)


def _telling(tokens: Sequence[str], noun: str) -> list[str]:
    return [token for token in tokens if token not in _EMPTY and token not in (noun, f"{noun}s")]


def _found(words: str, name: list[str], items: Sequence[DueItem], kind: Kind) -> list[DueItem]:
    plain = name[:-1] if len(name) > 1 and name[-1] in _ONE else name
    names = {item.id: _core(item.text, kind.noun) for item in items}
    exact = [item for item in items if names[item.id] in (name, plain)]
    if exact:
        return exact
    place = _place(plain, len(items))
    if place is not None:
        return [items[place]]
    # "One" and "every" may belong to a time or a day, or not.
    for beside in (set(), {"one", "ones"}, {"one", "ones", *_ALL}):
        read = kind.read(_spoken(words, {kind.noun, f"{kind.noun}s", *_SPOKEN_BESIDE, *beside}), items)
        if read:
            return read
    some = [item for item in items if names[item.id] and set(plain) <= set(names[item.id])]
    if some:
        return some
    if len(plain) > 1 and plain[0] != "next" and _place(plain[:1], len(items)) is not None:  # "next Friday" is a day
        several = _found(" ".join(plain[1:]), plain[1:], items, kind)
        place = _place(plain[:1], len(several))
        return [several[place]] if several and place is not None else []
    if not kind.misspelt:
        return []
    return [item for item in items if _alike(plain, names[item.id])]


def _place(tokens: list[str], count: int) -> int | None:
    """The index that "first", "2nd" or "last" means."""
    if tokens in (["last"], ["latest"]):
        return count - 1
    if tokens == ["next"]:
        return 0
    number = parse_ordinal(tokens) if len(tokens) == 1 else None
    return number - 1 if number is not None and 1 <= number <= count else None


def _spoken(words: str, beside: set[str]) -> str:
    """The words as they were said, without those that say nothing about a time."""
    return " ".join(word for word in words.split() if word.casefold().strip(".,!?") not in beside)


def _alike(said: Sequence[str], name: Sequence[str]) -> bool:
    """Whether all words are the same but for one letter of longer ones."""
    return len(said) == len(name) and all(
        one == other or (max(len(one), len(other)) >= 4 and distance(one, other, 1) == 1)
        for one, other in zip(said, name, strict=True)
    )
