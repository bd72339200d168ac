"""The line of a settings file on which something stands."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config import EXAMPLE_SETTINGS
from agent.config.lines import line_of, syntax_error
from agent.config.tables import Key

TEXT = '''\
[agent]
name = "desk"   # a comment
instructions = """
[agent]
name = "no key"
"""

mqtt.port = 5
[[room]]
name = "hall"

[[room]]
name = "office"
aliases = [
    "study",  # ]
    "den", "study",
]
[room.memory]
on = { left = true, right = [1,
    2, 3] }

[[room.lamp]]
[[room.lamp]]
states = [
    { device = "a", on = true },
    [ "x",
      "y" ],
]
last = 1'''


@pytest.mark.parametrize(
    ("at", "line"),
    [
        (("agent",), 1),
        (("agent", "name"), 2),
        (("agent", "instructions"), 3),
        (("agent", "mqtt"), 8),
        (("agent", "mqtt", "port"), 8),
        (("room",), 9),
        (("room", 0), 9),
        (("room", 0, "name"), 10),
        (("room", 1), 12),
        (("room", 1, "name"), 13),
        (("room", 1, "aliases"), 14),
        (("room", 1, "aliases", 0), 15),
        (("room", 1, "aliases", 2), 16),
        (("room", 1, "memory"), 18),
        (("room", 1, "memory", "on", "left"), 19),
        (("room", 1, "lamp", 1, "states"), 24),
        (("room", 1, "lamp", 1, "states", 0, "device"), 25),
        (("room", 1, "lamp", 1, "states", 1), 26),
        (("room", 1, "lamp", 1, "states", 1, 1), 27),
        (("room", 1, "lamp", 1, "last"), 29),
        (("room", 2), None),
        (("room", 1, "floor"), None),
        ((), None),
    ],
)
def test_a_key_a_table_and_an_entry_have_their_line(at: tuple[Key, ...], line: int | None) -> None:
    assert line_of(TEXT, at) == line
    assert line_of(TEXT.replace("\n", "\r\n"), at) == line


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "# [[room]]", "\n"]), st.integers(0, 3), st.booleans()), min_size=1, max_size=12
    ),
    st.data(),
)
def test_whatever_stands_between_the_line_is_found(rooms: list[tuple[str, int, bool]], data: st.DataObject) -> None:
    """Comments, space, and arrays over many lines."""
    lines: list[str] = []
    places: dict[tuple[Key, ...], int] = {}

    def write(text: str, *at: Key) -> None:
        lines.append(text)
        if at:
            places[at] = len(lines)

    for index, (between, aliases, wide) in enumerate(rooms):
        lines.extend(between.split("\n"))
        write("[[room]]", "room", index)
        write(f'name = "room {index}"', "room", index, "name")
        write("aliases = [" if wide else f"aliases = {[str(n) for n in range(aliases)]}", "room", index, "aliases")
        if wide:
            for number in range(aliases):
                write(f'  "{number}",', "room", index, "aliases", number)
            write("]")
    text = "\n".join(lines)
    at = data.draw(st.sampled_from(list(places)))
    tomllib.loads(text)

    assert line_of(text, at) == places[at]


def test_the_last_key_of_the_example_house_is_found() -> None:
    """The search reads the file about ten times, and not once a line."""
    text = EXAMPLE_SETTINGS.read_text(encoding="utf-8")
    tables = tomllib.loads(text)["tools"]
    name = tables["device"][-1]["name"]
    line = line_of(text, ("tools", "device", len(tables["device"]) - 1, "name"))

    assert line is not None
    assert text.split("\n")[line - 1] == f'name = "{name}"'


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = 1\nb == 2\n", 2, "Invalid value (column 4)"),
        ("a = 1\na = 2\n", 2, "this key is there already (column 6)"),
        ("[a]\n[a]\n", 2, "Cannot declare ('a',) twice (column 3)"),
        ('a = """\n\n\n', 1, "Unterminated string (at the end of the file)"),
        ("a = [\n1\n", 2, "Unclosed array (at the end of the file)"),
    ],
)
def test_what_is_no_toml_has_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)

    assert syntax_error(text, caught.value) == (line, what)
