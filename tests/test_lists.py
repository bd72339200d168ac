"""Shopping and to-do lists."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config.tables import Table
from agent.errors import SettingsError, StoreError
from agent.house_store import HouseStore
from agent.store import SessionStore
from tests.homes import call, said
from tools.lists import MAX_DONE, MAX_ITEMS, MAX_LETTERS, MAX_SAID, Lists, ListSettings, read_lists
from tools.names.words import name_key

unhurried = settings(deadline=None)  # CI may be busy


def lists(*tables: dict[str, Any], store: HouseStore | None = None) -> Lists:
    return Lists(store or HouseStore(), read(*tables))


def read(*tables: dict[str, Any]) -> tuple[ListSettings, ...]:
    return read_lists(Table({"list": list(tables)}, ("tools",)).tables("list"))


async def filled(*items: str) -> Lists:
    """A shopping list with these things on it."""
    known = lists()
    for item in items:
        await call(known.add_to_list, item=item)
    return known


@pytest.mark.parametrize(
    ("said_item", "items"),
    [
        ("milk", ["milk"]),
        ("milk, eggs and bread", ["milk", "eggs", "bread"]),
        ("Milk; eggs , and  bread.", ["Milk", "eggs", "bread"]),
        ("some milk and some eggs", ["milk", "eggs"]),
        ("milk & honey", ["milk", "honey"]),
        ("macaroni and cheese", ["macaroni", "cheese"]),
        ("candy canes", ["candy canes"]),
        ("milk and milk", ["milk"]),
        ("2 l of milk", ["2 l of milk"]),
        ("Käse und Brot", ["Käse und Brot"]),
    ],
)
async def test_what_is_said_for_a_list_is_split_at_commas_and_at_and(said_item: str, items: list[str]) -> None:
    known = await filled(said_item)

    assert (await call(known.get_list))["items"] == items


async def test_a_thing_to_do_is_taken_as_it_is() -> None:
    known = lists()
    await call(known.add_to_list, item="call mom and dad", list="to do")

    assert await said(known.get_list, list="my to-do list") == "On the to-do list: call mom and dad."
    assert await said(known.complete_list_item, item="call mom and dad", list="to do") == (
        "Call mom and dad is checked off the to-do list."
    )


async def test_what_was_added_is_told_and_what_is_there_is_not_doubled() -> None:
    known = lists()

    assert (
        await said(known.add_to_list, item="milk, eggs and bread") == "Milk, eggs and bread are on the shopping list."
    )
    assert await said(known.add_to_list, item="the Milk and butter") == (
        "Butter is on the shopping list; milk was on it already."
    )
    assert await said(known.add_to_list, item="MILK") == "Milk was on the shopping list already."
    assert await said(known.get_list) == "On the shopping list: milk, eggs, bread and butter."


@pytest.mark.parametrize("item", ["", "  ", ",", "and", "..."])
async def test_nothing_is_no_thing(item: str) -> None:
    known = lists()

    assert await call(known.add_to_list, item=item) == {"error": "It was not said what."}
    assert not (await call(known.get_list))["items"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (None, "the shopping list"), ("shopping", "the shopping list"), ("my shopping list", "the shopping list"),
        ("the list", "the shopping list"), ("Groceries", "the shopping list"), ("shoping list", "the shopping list"),
        ("to do", "the to-do list"), ("to-do", "the to-do list"), ("todo list", "the to-do list"),
        ("my tasks", "the to-do list"), ("hardware store", "the hardware store list"),
        ("the hardware store list", "the hardware store list"), ("diy", "the hardware store list"),
    ],
)  # fmt: skip
async def test_a_list_is_found_by_what_people_call_it(words: str | None, name: str) -> None:
    known = lists({"name": "hardware store", "aliases": ["DIY"]})

    assert (await call(known.get_list, **({"list": words} if words else {})))["list"] == name


async def test_a_list_that_there_is_not_is_an_error_with_those_there_are() -> None:
    known = lists({"name": "hardware store"})

    assert await call(known.add_to_list, item="milk", list="christmas") == {
        "error": 'There is no list called "christmas"; there are the shopping list, the to-do list and the hardware'
        " store list."
    }


@pytest.mark.parametrize(
    ("item", "sentence", "left"),
    [
        ("milk", "Milk is off the shopping list.", ["eggs", "brown bread", "white bread", "2 apples"]),
        ("the Milk", "Milk is off the shopping list.", ["eggs", "brown bread", "white bread", "2 apples"]),
        ("egg", "Eggs are off the shopping list.", ["milk", "brown bread", "white bread", "2 apples"]),
        ("milk and eggs", "Milk and eggs are off the shopping list.", ["brown bread", "white bread", "2 apples"]),
        (
            "milk and cheese",
            "Milk is off the shopping list; cheese is not on it.",
            ["eggs", "brown bread", "white bread", "2 apples"],
        ),
        ("brown", "Brown bread is off the shopping list.", ["milk", "eggs", "white bread", "2 apples"]),
        ("two apples", "2 apples are off the shopping list.", ["milk", "eggs", "brown bread", "white bread"]),
        ("everything", "The shopping list is empty.", []),
        ("all of it", "The shopping list is empty.", []),
    ],
)
async def test_a_thing_is_found_by_its_words_and_told_as_it_is_stored(
    item: str, sentence: str, left: list[str]
) -> None:
    known = await filled("milk", "eggs", "brown bread", "white bread", "two apples".replace("two", "2"))

    assert await said(known.remove_from_list, item=item) == sentence
    assert (await call(known.get_list))["items"] == left


@pytest.mark.parametrize(
    ("item", "error"),
    [
        ("bread", '"bread" could be brown bread or white bread.'),
        ("cheese", "Cheese is not on the shopping list."),
        ("cheese and ham", "Cheese and ham are not on the shopping list."),
        ("3 apples", "3 apples are not on the shopping list."),
        ("", "It was not said what."),
    ],
)
async def test_what_fits_none_or_several_changes_nothing(item: str, error: str) -> None:
    known = await filled("milk", "brown bread", "white bread", "2 apples")

    for function in (known.remove_from_list, known.complete_list_item):
        assert await call(function, item=item) == {"error": error}
    assert len((await call(known.get_list))["items"]) == 4


async def test_a_thing_of_two_words_with_and_goes_before_its_parts() -> None:
    known = lists()
    for item in ("wash the car and mow the lawn", "mow the lawn"):
        await call(known.add_to_list, item=item, list="to do")
    await call(known.remove_from_list, item="wash the car and mow the lawn", list="to do")

    assert (await call(known.get_list, list="to do"))["items"] == ["mow the lawn"]


async def test_many_things_at_once_are_refused_before_a_long_list_is_searched() -> None:
    known = await filled(*(f"item {number} " + "abcdefgh " * 20 for number in range(100)))
    words = ", ".join(f"thing {number}" for number in range(MAX_SAID + 1))

    for function in (known.remove_from_list, known.complete_list_item):
        assert "at most 10 things" in (await call(function, item=words))["error"]
    most = ", ".join(f"item {number} " + "abcdefhg " * 20 for number in range(100, 100 + MAX_SAID))
    begun = time.perf_counter()
    assert "not on" in (await call(known.remove_from_list, item=most))["error"]
    assert time.perf_counter() - begun < 1  # by likeness of letters it would be ten


async def test_a_thing_that_is_only_like_another_stays() -> None:
    known = await filled("size 41", "light bulbs", "white wine")

    for words in ("size 40", "night bulbs", "white line"):
        assert "not on" in (await call(known.remove_from_list, item=words))["error"]


async def test_what_is_done_is_kept_apart() -> None:
    known = await filled("milk", "eggs")

    assert await said(known.complete_list_item, item="milk") == "Milk is checked off the shopping list."
    assert await said(known.complete_list_item, item="milk") == "Milk was checked off already."
    assert await said(known.get_list) == "On the shopping list: eggs."
    assert await said(known.complete_list_item, item="everything") == "Eggs are checked off the shopping list."
    assert await said(known.get_list) == "The shopping list is empty."

    assert await said(known.add_to_list, item="milk") == "Milk is on the shopping list."
    assert await said(known.remove_from_list, item="eggs") == "Eggs are off the shopping list."
    assert (await call(known.remove_from_list, item="eggs"))["error"] == "Eggs are not on the shopping list."


async def test_only_the_last_that_were_done_are_kept() -> None:
    store = HouseStore()
    known = lists(store=store)
    for start in (0, MAX_DONE):
        await call(known.add_to_list, item=", ".join(f"thing {start + number}" for number in range(MAX_DONE)))
        await call(known.complete_list_item, item="everything")

    done = (await store.read("lists"))["shopping list"]["done"]
    assert done == [f"thing {number}" for number in range(MAX_DONE, 2 * MAX_DONE)]


async def test_a_list_has_an_end() -> None:
    known = await filled(", ".join(f"thing {number}" for number in range(MAX_ITEMS)))

    assert await call(known.add_to_list, item="one more") == {
        "error": f"The shopping list is full; it holds {MAX_ITEMS} things."
    }
    assert await said(known.add_to_list, item="thing 7") == "Thing 7 was on the shopping list already."
    assert await call(known.add_to_list, item="a" * (MAX_LETTERS + 1), list="to do") == {
        "error": f"That is too long for a list: one thing has at most {MAX_LETTERS} letters."
    }
    assert (
        await said(known.add_to_list, item="a" * MAX_LETTERS, list="to do")
        == f"A{'a' * (MAX_LETTERS - 1)} is on the to-do list."
    )


async def test_a_long_list_is_spoken_in_part() -> None:
    known = await filled(", ".join(f"thing {number}" for number in range(20)))

    assert (await said(known.get_list)).endswith("thing 9 and 10 more.")


async def test_changes_at_once_all_count() -> None:
    known = lists()
    await asyncio.gather(*(call(known.add_to_list, item=f"thing {number}") for number in range(50)))

    assert len((await call(known.get_list))["items"]) == 50


async def test_lists_outlive_a_restart(tmp_path: Path) -> None:
    with closing(SessionStore(tmp_path / "sessions.db")) as store:
        await call(lists(store=HouseStore(store)).add_to_list, item="milk, Käse")
    with closing(SessionStore(tmp_path / "sessions.db")) as store:
        assert (await call(lists(store=HouseStore(store)).get_list))["items"] == ["milk", "Käse"]


@pytest.mark.parametrize(
    "document", [None, [], 7, {"shopping list": []}, {"shopping list": {"open": 3}}, {"shopping list": {"open": [3]}}]
)
async def test_what_is_kept_in_another_form_is_an_empty_list(document: Any) -> None:
    store = HouseStore()
    await store.write("lists", document)
    known = lists(store=store)

    assert (await call(known.get_list))["items"] == []
    assert await said(known.add_to_list, item="milk") == "Milk is on the shopping list."


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ([{"name": "x", "color": "red"}], "\"x\".*'color'; allowed are name, aliases"),
        ([{"aliases": ["x"]}], "the key 'name'"),
        ([{"name": "hardware"}, {"name": "Hardware list"}], '"Hardware list": "hardware" has the same name'),
        ([{"name": "a b", "aliases": ["c"]}, {"name": "C list"}], '"C list": "a b" has the same name'),
        ([{"name": "the list"}], "a word besides list"),
        ([{"name": "garden", "aliases": ["to do"]}], '"garden": "to-do list" has the same name'),
        ([{"name": "to do", "aliases": ["shopping"]}], '"to do": "shopping list" has the same name'),
        ([{"name": "to do"}, {"name": "To-Do list"}], '"To-Do list": "to do" has the same name'),
    ],
)
def test_a_mistake_in_the_settings_is_one_sentence(tables: list[dict[str, Any]], text: str) -> None:
    with pytest.raises(SettingsError, match=text) as raised:
        read(*tables)

    assert raised.value.at[:2] == ("tools", "list")


def test_the_usual_lists_take_aliases_and_give_theirs_away() -> None:
    shopping, to_do, groceries = read({"name": "Shopping List", "aliases": ["Einkaufszettel"]}, {"name": "groceries"})

    assert "Einkaufszettel" in shopping.aliases
    assert "groceries" not in shopping.aliases
    assert (to_do.label, groceries.label) == ("the to-do list", "the groceries list")


@unhurried
@given(st.lists(st.text(alphabet="abc XYZ0,;.'é&", max_size=12), max_size=8))
def test_nothing_is_lost_and_nothing_doubled(said_items: list[str]) -> None:
    async def add_all() -> list[str]:
        known = lists()
        for item in said_items:
            await call(known.add_to_list, item=item)
        return list((await call(known.get_list))["items"])

    items = asyncio.run(add_all())
    words = {name_key(part) for item in said_items for part in item.replace(";", ",").split(",")} - {""}

    assert len({name_key(item) for item in items}) == len(items)
    assert {name_key(item) for item in items} >= {word for word in words if "and" not in word}


async def test_lists_that_cannot_be_read_are_said_to_be_so_and_left_as_they_are() -> None:
    class Unreadable(HouseStore):
        async def read(self, name: str) -> Any:
            raise StoreError("the disk is gone")

    store = Unreadable()
    known = lists(store=store)

    for function, arguments in (
        (known.add_to_list, {"item": "milk"}),
        (known.remove_from_list, {"item": "everything"}),
        (known.complete_list_item, {"item": "milk"}),
        (known.get_list, {}),
    ):
        assert await call(function, **arguments) == {"error": "I cannot read the lists now."}
    assert await HouseStore.read(store, "lists") is None
