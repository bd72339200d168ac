"""The small words around names: "all", "except", "in", "both". Pure functions over folded words."""

from __future__ import annotations

from collections.abc import Sequence

from tools.names.words import key_of, without_determiner

ALL = {"all", "every", "everything", "each", "everywhere"}
ANY_OF = {"any", "anything", "anywhere"}
"""As `ALL`, in a question: "is anything on?"."""

WHOLE = {"whole", "entire"}
HOUSE = {f"{whole}{noun}" for whole in ("", *WHOLE) for noun in ("house", "home", "flat", "apartment")}
HOUSE |= {f"{whole}place" for whole in WHOLE}
PARTS = {"room", "rooms", "floor", "floors", "area", "areas"}
"""What a home is made of: "every room", "all areas"."""

EVERYWHERE = {*ALL, *HOUSE, "allrooms", "everyroom", "allareas", "everyarea", "allfloors", "everyfloor"}
"""Places, folded, that are all there is."""

INDOORS = {"inside", "indoors"}
"""All there is, in a question; what is outdoors is not known, so nothing is moved by these."""

STATES = {"on", "off", "open", "opened", "closed", "shut", "locked", "unlocked", "up", "down", "running"}
"""How something is or is to be, said between it and where it is: "the blind down in the office"."""

IN = {"in", "on", "at", "of", "from", "inside", "within", "throughout", "around"}
BETWEEN = {*IN, "by", "near", "next", "to", "beside", "over", "above", "under", "below", "behind", "with", "for"}
"""What may stand between a thing and where it is: "lamp by the window"."""

ONE = {"1", "ones"}
""" "One" is folded to 1: "the kitchen one", "the ones upstairs"."""

AFTER = {*ONE, "room", "floor", "area", "there"}
"""Words after a name that do not belong to it."""

NAMELESS = {*IN, *AFTER, "rooms", "it", "them", "both", "off", "up", "down", "the", "and", "please"}
"""Words that alone name nothing."""

_EXCEPT = [
    phrase.split()
    for phrase in (
        "with the exception of", "except for", "except", "but not", "but", "apart from", "aside from", "other than",
        "excluding", "excepting", "without", "besides", "not",
    )
]  # fmt: skip

SMALL_WORDS = {*ALL, *ANY_OF, *BETWEEN, *NAMELESS, *HOUSE, *(word for phrase in _EXCEPT for word in phrase)} | {
    *WHOLE, "my", "our", "your", "a", "an", "this", "that", "these", "those",
}  # fmt: skip
"""Words that are not looked for among names, however like one they are."""

_NO_NAMES = SMALL_WORDS - ONE | {"here", "they", "same"}
"""Words that stand for what was said before, or for all that there is: nothing is called so."""


def names_nothing(tokens: list[str]) -> bool:
    """Whether no thing can be called so: "everything", "it", "all but the hall" are said of whatever is meant."""
    before, after = split_exception(tokens)
    said = before if after else tokens
    return all(token in _NO_NAMES for token in said)


def without_all(tokens: list[str], asking: bool) -> tuple[list[str], bool]:
    """The words without an "all", "every" or "everywhere" around them, and whether there was one."""
    all_words = ALL | ANY_OF if asking else ALL
    every = False
    while len(tokens) > 1 and tokens[-1] in ("on", "off"):
        tokens = tokens[:-1]  # "turn it all off"
    while tokens and key_of(tokens) not in HOUSE and tokens[0] in {*all_words, *IN, "any"}:
        every = every or tokens[0] in all_words
        tokens = without_determiner(tokens[1:])
        if every and len(tokens) > 1 and tokens[0] == "single":
            tokens = tokens[1:]
    if len(tokens) > 2 and tokens[-1] in PARTS:  # "lights in every room", "the lamps in all the rooms"
        cut = len(tokens) - (3 if tokens[-2] == "the" else 2)
        if tokens[cut] in all_words:
            tokens, every = ending(tokens[:cut]), True
    if tokens and tokens[-1] in all_words:
        tokens, every = tokens[:-1], True
    return tokens, every


def without_house(tokens: list[str]) -> list[str]:
    """Without "in the house" behind it."""
    for cut in range(1, len(tokens)):
        if tokens[cut] in IN and key_of(stripped(tokens[cut:])) in HOUSE:
            return tokens[:cut]
    return tokens


def without_states(tokens: list[str]) -> list[str]:
    """Without how it is, or is to be: never the first word, which is of a name."""
    return [token for index, token in enumerate(tokens) if index == 0 or token not in STATES]


def counted(tokens: list[str]) -> tuple[list[str], int | None]:
    """The words without "both" or "three" before them, and how many that is."""
    if len(tokens) > 1 and tokens[0] == "both":
        return without_determiner(tokens[2 if tokens[1] == "of" else 1 :]), 2
    if len(tokens) > 1 and tokens[0].isdecimal() and 2 <= int(tokens[0]) <= 12:
        return without_determiner(tokens[2 if tokens[1] == "of" else 1 :]), int(tokens[0])
    return tokens, None


def split(tokens: Sequence[str], at: str) -> list[list[str]]:
    """The words between each two of that word."""
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == at:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def split_exception(tokens: list[str]) -> tuple[list[str], list[str]]:
    """What comes before and after "except" or its like; no exception, no words after."""
    for index in range(len(tokens)):
        for words in _EXCEPT:
            if tokens[index : index + len(words)] == words:
                after = without_determiner(tokens[index + len(words) :])
                while after and after[0] in {*IN, *ONE}:
                    after = without_determiner(after[1:])
                before = tokens[:index]
                return (before[:-1] if before[-1:] == ["and"] else before), after
    return tokens, []


def stripped(tokens: list[str]) -> list[str]:
    """Without "in the" or "in the whole" before it."""
    while tokens and (tokens[0] in IN or tokens[0] == "the" or (tokens[0] in WHOLE and len(tokens) > 1)):
        tokens = tokens[1:]
    return tokens


def ending(tokens: list[str]) -> list[str]:
    """Without "in the" behind it."""
    while tokens and (tokens[-1] in IN or tokens[-1] == "the"):
        tokens = tokens[:-1]
    return tokens
