"""Tables of the settings into dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.tables import MOST_NAMES, Table, choice, read_table
from agent.errors import SettingsError
from agent.schema import Range


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Lamp:
    name: str
    pin: Annotated[int, Range(0, 27)] = 4
    level: Annotated[float, Range(0.5, 2)] | None = None
    warmth: float = 1.0
    scale: Literal[100, 255] = 255
    colour: Colour | None = None
    aliases: tuple[str, ...] = ()
    dims: bool = False
    file: Path | None = None
    note: str = ""
    driver: str = "memory"


def read(table: dict[str, Any]) -> Lamp:
    return read_table(Lamp, Table({"name": "desk", **table}, ("tools", "lamp"), Path("/etc")), hidden=("driver",))


def test_each_key_arrives_in_the_type_of_its_field() -> None:
    given = {"pin": 27, "level": 2, "warmth": 3, "scale": 100, "colour": "red", "aliases": ["a", "b"], "dims": True,
             "file": "a/b", "note": ""}  # fmt: skip
    lamp = read(given)

    assert lamp == Lamp("desk", 27, 2.0, 3.0, 100, Colour.RED, ("a", "b"), True, Path("/etc/a/b"))
    assert isinstance(lamp.level, float)
    assert isinstance(lamp.warmth, float)


@pytest.mark.parametrize(
    ("table", "at", "text"),
    [
        ({"pin": 28}, ("pin",), "pin is 28; allowed is 0 to 27"),
        ({"pin": 4.0}, ("pin",), "pin is 4.0; it must be a whole number"),
        ({"pin": True}, ("pin",), "pin is true; it must be a whole number"),
        ({"level": float("nan")}, ("level",), "level is nan; allowed is 0.5 to 2"),
        ({"level": "1"}, ("level",), "level is '1'; it must be a number"),
        ({"warmth": float("inf")}, ("warmth",), "warmth is inf; it must be a finite number"),
        ({"warmth": 10**400}, ("warmth",), "it must be a finite number"),
        ({"warmth": 16**5000}, ("warmth",), "warmth is a very long number; it must be a finite number"),
        ({"scale": 254}, ("scale",), "scale is 254; allowed are 100, 255"),
        ({"scale": 255.0}, ("scale",), "scale is 255.0; allowed are 100, 255"),
        ({"scale": []}, ("scale",), "scale is []; allowed are 100, 255"),
        ({"colour": "read"}, ("colour",), "colour is 'read'; allowed are red (did you mean red?)"),
        ({"aliases": "a"}, ("aliases",), "aliases is 'a'; it must be a list"),
        ({"aliases": ["a", 5]}, ("aliases", 1), "aliases has 5; it must be a text"),
        ({"aliases": ["a", " "]}, ("aliases", 1), "aliases has ' '; it must not be empty"),
        ({"dims": 1}, ("dims",), "dims is 1; it must be true or false"),
        ({"file": ""}, ("file",), "file is ''; it must not be empty"),
        ({"file": 1}, ("file",), "file is 1; it must be a path"),
        ({"name": ""}, ("name",), "name is ''; it must not be empty"),
        ({"name": "x" * 200, "pin": "y" * 200}, ("pin",), f"pin is '{'y' * 59}...; it must be a whole number"),
    ],
)
def test_a_wrong_value_is_named_with_its_place_and_what_is_allowed(
    table: dict[str, Any], at: tuple[str | int, ...], text: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read(table)

    assert str(caught.value).endswith(text)
    assert str(caught.value).startswith("[tools.lamp]: ")
    assert caught.value.at == ("tools", "lamp", *at)


@pytest.mark.parametrize(
    ("table", "at", "text"),
    [
        ({"name": "x", "driver": "y"}, ("driver",), "[tools.lamp] has no key 'driver'; allowed are name, pin, level"),
        ({"name": "x", "pins": 3}, ("pins",), "note, gpio (did you mean pin?)"),
        ({"pin": 3}, (), "[tools.lamp] needs the key 'name'"),
    ],
)
def test_a_key_that_nobody_knows_or_that_is_missing_is_named(
    table: dict[str, Any], at: tuple[str, ...], text: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read_table(Lamp, Table(table, ("tools", "lamp")), hidden=("driver",), also=("gpio",))

    assert text in str(caught.value)
    assert caught.value.at == ("tools", "lamp", *at)


def test_a_table_knows_where_it_stands_and_what_it_is_called() -> None:
    file = Table(
        {"tools": {"mqtt": {}, "device": [{}, {"name": "lamp", "mqtt": {"a": [[{"b": {}}]]}}]}}, folder=Path("/etc")
    )
    tools = file.table("tools")
    first, lamp = tools.tables("device")
    deepest = lamp.table("mqtt")["a"][0][0].table("b")

    assert [each.where for each in (tools, tools.table("mqtt"), tools.table("none"), first, lamp, deepest)] == [
        "[tools]", "[tools.mqtt]", "[tools.none]", "[[tools.device]] number 1", '[[tools.device]] "lamp"',
        '[[tools.device]] "lamp": mqtt: a 1 1: b',
    ]  # fmt: skip
    assert deepest.at == ("tools", "device", 1, "mqtt", "a", 0, 0, "b")
    assert deepest.folder == Path("/etc")
    assert lamp.wrong("it is broken", "mqtt").at == ("tools", "device", 1, "mqtt")
    assert Table.of(lamp, "elsewhere") is lamp
    assert Table.of({"a": {}}, "tools").table("a").where == "[tools.a]"


@pytest.mark.parametrize("value", [3, [], [{}], [3]])
def test_what_is_no_table_or_no_array_of_tables_is_said(value: Any) -> None:
    with pytest.raises(SettingsError, match=r"^\[tools\]: it is .*; it must be a table$"):
        Table({"it": value}, ("tools",)).table("it")
    if value not in ([], [{}]):
        with pytest.raises(SettingsError, match=r"^\[tools\]: it is .*; it must be an array of tables$"):
            Table({"it": value}, ("tools",)).tables("it")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(["pin", "level", "scale", "colour", "aliases", "dims", "file", "x"]), VALUES))
def test_any_table_is_read_or_is_a_settings_error(table: dict[str, Any]) -> None:
    """Nothing else comes out."""
    try:
        read(table)
    except SettingsError as error:
        assert error.at[:2] == ("tools", "lamp")


def test_of_many_names_some_are_listed_and_the_nearest_is_found_among_all() -> None:
    names = [f"room {number}" for number in range(100)]

    assert choice(names, "zoom 99") == ", ".join(names[:MOST_NAMES]) + " and 76 more (did you mean room 99?)"
    assert choice([], "x") == "none"
    assert choice(["Küche"], "kuche") == "Küche (did you mean Küche?)"
