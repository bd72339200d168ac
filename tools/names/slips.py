"""How far a slip it is to spell or to hear one word for another: by edit distance, and by sound.

Home commands are short, and many a word of English is one letter away from the name of a room: "garbage" is no
garage, "deck" no desk and "officer" no office. So an edit is believed where it looks like a slip of fingers or
ears: letters swapped, doubled or left out, the next key, a like sound. Any other is believed only beside another
word of the same name ("loving room").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise

SHORTEST, LONGEST = 4, 24
"""Letters of words that are compared."""

LONG = 8
"""From so many letters on two may be wrong."""

_LIKENESS = 0.84
"""How alike two spellings are that mean the same: "egg" and "eggs", "brocoli" and "broccoli"."""

_CONSONANT = "[b-df-hj-np-tv-z0-9]"
_VOWELS = "aiouAEIOUWY"
_SOUNDS = [
    (re.compile(pattern.replace("#", _CONSONANT)), sound)
    for pattern, sound in (
        # Letters that are not spoken, and those that share a sound. Digits stand for ch (2), sh (3), th (0).
        (r"^[kgp]n", "n"), (r"^wr", "r"), (r"^wh", "w"), (r"^ps", "s"), (r"^y(?=[aeou])", "8"),
        (r"mb(?=s?$)", "mp"),  # "lamb" is what a recogniser makes of a lamp
        (r"(#)\1", r"\1"), (r"igh(?=t)", "I"), (r"[ao]ugh", "o"), (r"ph", "f"), (r"(?<=.)gh", ""), (r"sch", "sk"),
        (r"t?ch", "2"), (r"sh|ti(?=on)", "3"), (r"th", "0"), (r"ck", "k"), (r"[cs]ei", "sE"), (r"c(?=[eiy])", "s"),
        (r"c", "k"), (r"qu?", "kw"), (r"x", "ks"), (r"z", "s"), (r"d?ge(?=s?$)", "j"), (r"dg", "j"),
        (r"ng(?=s?$)", "n"),
        # Vowels that an e at the end makes long, then the e, then the other vowels.
        (r"a(#)e(?=s?$)", r"A\1"), (r"i(#)e(?=s?$)", r"I\1"), (r"o(#)e(?=s?$)", r"O\1"), (r"u(#)e(?=s?$)", r"U\1"),
        (r"(?<=#)e(?=s?$)", ""), (r"al(?=[dkt]|s?$)", "ol"), (r"a[uw]", "o"), (r"a[iy]|e[iy](?=.)", "A"),
        (r"o[ae]|ow$", "O"), (r"o[uw]", "W"), (r"oo|eu|ew", "U"), (r"o[iy]", "Y"), (r"i(?=[ao])", "E9"),
        (r"(?<![eiy])[iy](?![eiya])", "i"), (r"[ey][eiy]*a?|i[eiya]+", "E"), (r"(?<!^)h", ""),
        (r"(?<=[aiouAEIOUWY])w", ""),
    )
]  # fmt: skip


@lru_cache(1024)
def sound(word: str) -> str:
    """How a word sounds, roughly, and as English: its consonants, its first vowel, and a dot for each other one.

    "lite" and "light" are the same, and "kichen" and "kitchen"; "desk" and "deck" are not.
    """
    for pattern, letters in _SOUNDS:
        word = pattern.sub(letters, word)
    first = re.search(f"[{_VOWELS}]+", word)
    end = first.end() if first else 0
    return re.sub(r"(.)\1", r"\1", word[:end] + re.sub(f"[{_VOWELS}]+", ".", word[end:]))


def distance(one: str, other: str, most: int) -> int:
    """How many letters to insert, to leave out, to change or to swap with the next; `most` + 1 for more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one):
        earlier, before, row = before, row, [index + 1]
        for column, its in enumerate(other):
            best = min(before[column] + (letter != its), before[column + 1] + 1, row[column] + 1)
            if index and column and letter == other[column - 1] and one[index - 1] == its:
                best = min(best, earlier[column - 1] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def slip(heard: str, word: str, beside: bool = False, loosely: bool = False) -> int | None:
    """How far a slip it is to say the one for the other, 1 or 2; None where it is none.

    Args:
        heard: What was said.
        word: A word of a name.
        beside: What stands beside it is of the same name too.
        loosely: It only has to be good enough to ask about.
    """
    fewer = min(len(heard), len(word))
    if not SHORTEST <= max(len(heard), len(word)) <= LONGEST or fewer < SHORTEST - 1:
        return None
    apart = distance(heard.replace("ight", "ite"), word.replace("ight", "ite"), 2)
    if apart > 2:
        return None
    if sound(heard) == sound(word):
        return 1
    if loosely:
        return apart if apart == 1 or fewer >= LONG else None
    if apart == 1 and ((beside and heard[0] == word[0]) or _is_slip(heard, word)):
        return 1
    if fewer < LONG or heard[0] != word[0]:
        return None
    # One consonant for another makes another word: no bathroom is meant by "ballroom".
    its, other = _without_dots(heard), _without_dots(word)
    swallowed = len(heard) < len(word) and len(its) <= len(other) and distance(its, other, 1) == len(other) - len(its)
    return 2 if beside or swallowed else None


def are_slips(heard: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a name is meant, each of its words said as it is or with a slip: never "off" for "on", or another number.

    Args:
        heard: What was said, folded.
        name: The words of the name, folded.
    """
    return len(heard) == len(name) and all(
        one == other or (one.isalpha() and other.isalpha() and slip(one, other) is not None)
        for one, other in zip(heard, name, strict=True)
    )


def alike(said: str, names: Iterable[str]) -> list[str]:
    """The names that are spelt much like what was said, the likest first; for what was written down by its owner."""
    return get_close_matches(said, list(names), n=4, cutoff=_LIKENESS)


def _is_slip(heard: str, word: str) -> bool:
    """Whether words of distance 1 differ as slips do, and not as two words of English do."""
    if len(heard) == len(word):
        at = _first_difference(heard, word)
        swapped = sorted(heard) == sorted(word)
        # The key beside it was hit, or a sound taken for one like it; "printed" and "toiled" end on other letters.
        return len(word) >= 5 and (swapped or (0 < at < len(word) - 1 and _are_alike(heard[at], word[at])))
    if len(heard) > len(word):
        at = _first_difference(word, heard)
        # One letter too many makes another word easily ("officer"), but not where it is doubled.
        return heard[at] == heard[at - 1] or heard == f"{word}s"
    at = _first_difference(heard, word)
    missing, around = word[at], {*word[max(0, at - 1) : at], *word[at + 1 : at + 2]}
    if word == f"{heard}s" or missing in around - set("eo"):
        return True
    if missing in "aeiou":  # without it there is no word of English, as two vowels can lose one
        return len(word) >= 5 and at > 0 and not around & set("aeiou")
    return len(word) >= (6 if at else 7)


def _first_difference(short: str, long: str) -> int:
    return next((index for index, letter in enumerate(short) if letter != long[index]), len(short))


_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = [pair for row in _KEYS for pair in pairwise(row)]
_BELOW = [
    (key, other)
    for row, below in pairwise(_KEYS)
    for index, key in enumerate(row)
    for other in below[max(0, index - 1) : index + 1]
]
_ALIKE = {frozenset(pair) for pair in (*_BESIDE, *_BELOW, *"dt bp gk fv sz mn".split())}
"""Letters whose keys lie beside each other, and those that sound alike."""


def _are_alike(one: str, other: str) -> bool:
    """Vowels are not: another one makes another word, as in "loving" for "living"."""
    return frozenset((one, other)) in _ALIKE and not {one, other} <= set("aeiou")


def _without_dots(word: str) -> str:
    """The sound without the vowels that are hardly heard."""
    return sound(word).replace(".", "")
