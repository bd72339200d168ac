"""Shopping and to-do lists.

"Milk, eggs and bread" are three things: what is said for a list is split at commas and at "and". So are "macaroni
and cheese", as nobody can know from the words; taken off again they are found by their own words. Only the to-do
list takes a sentence as it is, since "call mom and dad" is one thing to do.

What is on a list is found by its words after folding, else by a small error of spelling, else by some of its
words ("the trash" for "take out the trash"); the stored words are spoken. Where several fit, nothing is changed.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.config.tables import Table, read_table
from agent.errors import ArgumentError, StoreError
from agent.house_store import HouseStore
from agent.tool import AgentTool, tool
from tools.names.slips import alike, are_slips
from tools.names.words import fold, key_of, name_key
from tools.speech import listed, sentence, the, verb

_log = logging.getLogger(__name__)

MAX_ITEMS = 500
"""How many things a list holds."""

MAX_LETTERS = 200
"""How long one of them may be."""

MAX_SAID = 10
"""How many things are looked for at once."""

MAX_DONE = 100
"""How many of those that are done are kept."""

_DOCUMENT = "lists"
"""What the store keeps them under: `{LIST: {"open": [...], "done": [...]}}`, what was done last at the end."""

_MOST_SPOKEN = 10
"""How many things an answer speaks; the rest is counted."""

_EVERYTHING = {"everything", "all", "allofit", "allofthem", "allitems", "everyitem", "everythingonit", "allthings"}


@dataclass(frozen=True)
class ListSettings:
    """The table `[[tools.list]]`: a list besides the shopping list and the to-do list."""

    name: str
    """What it is called, and how it is spoken."""

    aliases: tuple[str, ...] = ()
    """What else it is called."""

    @property
    def label(self) -> str:
        """ "the shopping list", "the hardware store list"."""
        return the(self.name if fold(self.name)[-1:] == ["list"] else f"{self.name} list")

    @property
    def keys(self) -> set[str]:
        """Its names, folded; the word "list" does not count."""
        return {_list_key(name) for name in (self.name, *self.aliases)}


SHOPPING = ListSettings("shopping list", ("groceries", "grocery list", "grocery", "shop list"))
TO_DO = ListSettings("to-do list", ("to-dos", "tasks", "task list", "things to do"))


def read_lists(tables: Iterable[Table]) -> tuple[ListSettings, ...]:
    """The lists of the settings, after the two that every home has.

    A table for one of these two adds aliases to it, and a name that is given to another list is no longer theirs.

    Raises:
        SettingsError: A key is wrong, or two lists have the same name.
    """
    known = {_list_key(each.name): each for each in (SHOPPING, TO_DO)}
    names = {key: each.name for key, each in known.items()}
    usual = set(known)
    for table in tables:
        read = read_table(ListSettings, table)
        own = _list_key(read.name)
        for key in read.keys:
            if not key:
                raise table.wrong("a name needs a letter or a digit, and a word besides list", "name")
            if key in names and not (key == own and own in usual):
                raise table.wrong(f'"{names[key]}" has the same name; give one another name', "name")
            names[key] = read.name
        known[own] = replace(known[own], aliases=(*known[own].aliases, *read.aliases)) if own in usual else read
        usual.discard(own)
    shopping, to_do, *others = known.values()
    given = {key for each in others for key in each.keys}
    return (_without(shopping, given), _without(to_do, given), *others)


def _without(usual: ListSettings, given: set[str]) -> ListSettings:
    """One of the lists of every home, without the aliases that another list has."""
    return replace(usual, aliases=tuple(name for name in usual.aliases if _list_key(name) not in given))


def _list_key(name: str) -> str:
    words = fold(name)
    return key_of(words[:-1] if words[-1:] in (["list"], ["lists"]) else words)


def _say_added(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    added, already = result["added"], result.get("already", ())
    first = f"{_names(added)} {verb(added)} on {result['list']}" if added else ""
    where = "it" if added else result["list"]
    second = f"{_names(already)} {verb(already, 'was', 'were')} on {where} already" if already else ""
    return sentence(first, second)


def _say_removed(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if result.get("all"):
        return sentence(f"{result['list']} is empty")
    return _say_changed(result, f"off {result['list']}")


def _say_completed(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if not result["items"]:
        return _say_changed(result, "")
    return _say_changed(result, f"checked off {result['list']}")


def _say_changed(result: Mapping[str, Any], done: str) -> str:
    items, already, missing = result["items"], result.get("already", ()), result.get("missing", ())
    where = "it" if items else result["list"]
    return sentence(
        f"{_names(items)} {verb(items)} {done}" if items else "",
        f"{_names(already)} {verb(already, 'was', 'were')} checked off already" if already else "",
        f"{_names(missing)} {verb(missing)} not on {where}" if missing else "",
    )


def _say_list(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if not result["items"]:
        return sentence(f"{result['list']} is empty")
    return sentence(f"on {result['list']}: {_names(result['items'])}")


def _names(items: Sequence[str]) -> str:
    return listed(items, most=_MOST_SPOKEN)


@dataclass
class _Contents:
    """What is on a list.

    Attributes:
        open: As it was said, in the order in which it was.
        done: What was checked off, the latest at the end.
    """

    open: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)


class Lists:
    """The functions of lists."""

    def __init__(self, store: HouseStore, lists: Sequence[ListSettings] = (SHOPPING, TO_DO)) -> None:
        self._store = store
        self._lists = tuple(lists)
        self._changing = asyncio.Lock()  # one change is read, made and written before the next
        self.tools = (
            AgentTool(self.add_to_list),
            AgentTool(self.remove_from_list),
            AgentTool(self.complete_list_item),
            AgentTool(self.get_list),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What the lists of this home are called, in all their names; the usual two are known everywhere."""
        own = [each for each in self._lists if each.name not in (SHOPPING.name, TO_DO.name)]
        return tuple(name for each in own for name in (each.name, *each.aliases))

    @tool(say=_say_added)
    async def add_to_list(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Puts something on a list.

        Args:
            item: What, such as milk and eggs.
            list: Which list, such as shopping or to-do; absent is the shopping list.
        """
        meant = self.meant(list)
        items = _items(item, whole=meant.name == TO_DO.name)
        async with self._changing:
            contents = await self._read(meant)
            there = {name_key(each): each for each in contents.open}
            already = [there[name_key(each)] for each in items if name_key(each) in there]
            added = [each for each in items if name_key(each) not in there]
            if len(contents.open) + len(added) > MAX_ITEMS:
                return {"error": sentence(f"{meant.label} is full", f"it holds {MAX_ITEMS} things")}
            if added:
                keys = {name_key(each) for each in added}
                done = [each for each in contents.done if name_key(each) not in keys]
                await self._write(meant, _Contents([*contents.open, *added], done))
        return {"list": meant.label, "added": added} | ({"already": already} if already else {})

    @tool(say=_say_removed)
    async def remove_from_list(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Takes something off a list.

        Args:
            item: What, or everything.
            list: Which list; absent is the shopping list.
        """
        meant = self.meant(list)
        async with self._changing:
            contents = await self._read(meant)
            if name_key(item) in _EVERYTHING:
                await self._write(meant, _Contents())
                return {"list": meant.label, "items": [], "all": True}
            found, missing = _found(item, contents.open)
            checked, missing = _split_off(missing, contents.done)
            if not found and not checked:
                return _not_there(meant, missing)
            left = [each for each in contents.open if each not in found]
            await self._write(meant, _Contents(left, [each for each in contents.done if each not in checked]))
        return {"list": meant.label, "items": [*found, *checked]} | ({"missing": missing} if missing else {})

    @tool(say=_say_completed)
    async def complete_list_item(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Checks something off a list: it is done or bought.

        Args:
            item: What.
            list: Which list; absent is the shopping list.
        """
        meant = self.meant(list)
        async with self._changing:
            contents = await self._read(meant)
            everything = name_key(item) in _EVERYTHING
            found, missing = (contents.open, []) if everything else _found(item, contents.open)
            already, missing = _split_off(missing, contents.done)
            if not found and not already:
                return _not_there(meant, missing)
            if found:
                left = [each for each in contents.open if each not in found]
                await self._write(meant, _Contents(left, [*contents.done, *found][-MAX_DONE:]))
        others = {"already": already, "missing": missing}
        return {"list": meant.label, "items": found} | {key: names for key, names in others.items() if names}

    @tool(read_only=True, say=_say_list)
    async def get_list(self, list: str | None = None) -> dict[str, Any]:
        """Tells what is on a list.

        Args:
            list: Which list; absent is the shopping list.
        """
        meant = self.meant(list)
        return {"list": meant.label, "items": (await self._read(meant)).open}

    def meant(self, words: str | None) -> ListSettings:
        """The list that is meant; a small error of spelling does not count.

        Raises:
            ArgumentError: There is none of that name.
        """
        key = "" if words is None else _list_key(words)
        if not key:  # "the list"
            return self._lists[0]
        by_key = {name: each for each in self._lists for name in each.keys}
        near = [key] if key in by_key else alike(key, by_key)
        if near:
            return by_key[near[0]]
        there = listed([each.label for each in self._lists], most=6)
        raise ArgumentError(sentence(f'there is no list called "{_shown(words or "")}"', f"there are {there}"))

    async def _read(self, meant: ListSettings) -> _Contents:
        """What is on a list, as new lists; what is kept in another form is as if it was not there."""
        kept = (await self._document()).get(meant.name)
        if not isinstance(kept, dict):
            return _Contents()
        return _Contents(_texts(kept.get("open")), _texts(kept.get("done")))

    async def _write(self, meant: ListSettings, contents: _Contents) -> None:
        others = await self._document()
        await self._store.write(_DOCUMENT, {**others, meant.name: {"open": contents.open, "done": contents.done}})

    async def _document(self) -> dict[str, Any]:
        """All lists as they are kept.

        Raises:
            ArgumentError: They cannot be read. None is taken for empty then: a change would write over it.
        """
        try:
            document = await self._store.read(_DOCUMENT)
        except StoreError as error:
            _log.warning("the lists cannot be read: %s", error)
            raise ArgumentError("I cannot read the lists now.") from error
        return document if isinstance(document, dict) else {}


def _texts(kept: Any) -> list[str]:
    return [text for text in kept if isinstance(text, str)] if isinstance(kept, list) else []


def _items(said: str, whole: bool = False) -> list[str]:
    """The things that were said, each once.

    Raises:
        ArgumentError: There is none, or one is too long.
    """
    parts = [said] if whole else re.split(r"[,;\n]+|\s+(?:and|&|plus)\s+", said, flags=re.IGNORECASE)
    items: dict[str, str] = {}
    for part in parts:
        text = _plain(part)
        if name_key(text) not in ("", "and"):
            items.setdefault(name_key(text), text)
    if not items:
        raise ArgumentError("It was not said what.")
    if any(len(text) > MAX_LETTERS for text in items.values()):
        raise ArgumentError(f"That is too long for a list: one thing has at most {MAX_LETTERS} letters.")
    return list(items.values())


def _plain(said: str) -> str:
    """Without the words around a thing: "some milk", "and bread."."""
    words = said.strip(" \t.,;!?\"'").split()
    while len(words) > 1 and words[0].casefold() in ("and", "some", "also", "the", "my", "more"):
        words = words[1:]
    return " ".join(words)


def _found(said: str, there: Sequence[str]) -> tuple[list[str], list[str]]:
    """What of a list is meant, and what was said that is not on it.

    Raises:
        ArgumentError: Several fit.
    """
    parts = _items(said)
    if len(parts) > MAX_SAID:
        raise ArgumentError(f"That is too much at once: say at most {MAX_SAID} things, or everything.")
    for some in ([said], parts):  # "macaroni and cheese" may be on the to-do list as it is
        exact, missing = _split_off(some, there)
        if not missing:
            return exact, []
    whole = _one(said, there) if len(parts) > 1 else None
    if whole is not None:
        return [whole], []
    pairs = [(each, _one(each, there)) for each in parts]
    found = dict.fromkeys(one for _, one in pairs if one is not None)
    return list(found), [each for each, one in pairs if one is None]


def _split_off(said: Sequence[str], there: Sequence[str]) -> tuple[list[str], list[str]]:
    """What of a list is called exactly so, and what was said that is not."""
    keys = {name_key(each): each for each in there}
    said_keys = {each: name_key(_plain(each)) for each in said}
    found = dict.fromkeys(keys[key] for key in said_keys.values() if key in keys)
    return list(found), [each for each, key in said_keys.items() if key not in keys]


def _one(said: str, there: Sequence[str]) -> str | None:
    """The one thing of a list that is meant.

    Raises:
        ArgumentError: Several fit.
    """
    heard = fold(_plain(said))
    key, words = key_of(heard), set(heard) - _SMALL
    keys = {name_key(each): each for each in there}
    if key in keys:
        return keys[key]
    known = {each: fold(each) for each in keys.values()}
    near = [each for each, name in known.items() if are_slips(heard, name)]
    fitting = near or [each for each, name in known.items() if words and words <= set(name)]
    if len(fitting) > 1:
        raise ArgumentError(sentence(f'"{_shown(said)}" could be {listed(fitting, most=5, last="or")}'))
    return fitting[0] if fitting else None


_SMALL = {"the", "a", "an", "my", "some", "of", "and"}


def _not_there(meant: ListSettings, missing: Sequence[str]) -> dict[str, Any]:
    names = [_shown(each) for each in missing]
    if not names:
        return {"error": sentence(f"{meant.label} is empty")}
    return {"error": sentence(f"{listed(names, most=5)} {verb(names)} not on {meant.label}")}


def _shown(said: str) -> str:
    """Words as an answer quotes them."""
    words = " ".join(said.split())
    return words if len(words) <= 60 else f"{words[:60]}..."
