"""The grammar for a language model: every valid call is a text of it, and what is wrong is not."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.model.gbnf import BEGIN_WORDS, END_WORDS, MOST_CALLS, compile_grammar, dumps_calls, loads_calls
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType
from tests.gbnf import Grammar
from tools import declarations


def declared(required: tuple[str, ...] = (), name: str = "f", **properties: FunctionSchema) -> FunctionDeclaration:
    schema = FunctionSchema(FunctionType.OBJECT, properties=properties, required=required)
    return FunctionDeclaration(name, "", schema)


TEXT = FunctionSchema(FunctionType.STRING)
WHOLE = FunctionSchema(FunctionType.INTEGER, minimum=0, maximum=100)


def says(text: str, *tools: FunctionDeclaration) -> bool:
    return Grammar(compile_grammar(tools)).allows(text)


def calls(tool: FunctionDeclaration, **arguments: Any) -> bool:
    return says(dumps_calls([(tool.name, arguments)]), tool)


def test_without_functions_there_are_only_words() -> None:
    assert says(BEGIN_WORDS + "Good morning!" + END_WORDS)
    assert not says(dumps_calls([("f", {})]))


@pytest.mark.parametrize("words", ["", " ", "{", "[f]", "a `code`", 'a "quote"', "<tool_call>", "a\nb", "back\\slash"])
def test_words_are_never_what_could_be_a_call(words: str) -> None:
    """Nor empty, nor anything that JSON would have to escape."""
    assert not says(BEGIN_WORDS + words + END_WORDS, declared())


def test_only_declared_functions_are_called() -> None:
    assert says(dumps_calls([("f", {})]), declared())
    assert not says(dumps_calls([("g", {})]), declared())
    assert not says("f()", declared())
    assert not says("[]", declared())


def test_a_text_may_be_escaped_as_json_does() -> None:
    text = 'größe "\\\n🙂'
    assert says(json.dumps([{"name": "f", "arguments": {"a": text}}]), declared(a=TEXT))
    assert calls(declared(a=TEXT), a=text)


def test_several_calls_are_a_list_and_there_is_a_limit() -> None:
    assert says(dumps_calls([("f", {})] * MOST_CALLS), declared())
    assert not says(dumps_calls([("f", {})] * (MOST_CALLS + 1)), declared())


def test_words_and_calls_are_not_mixed() -> None:
    call = dumps_calls([("f", {})])
    assert not says(call + BEGIN_WORDS + "Done." + END_WORDS, declared())
    assert not says(call + " Done.", declared())


def test_what_is_required_has_to_be_there_and_the_rest_may_be_absent() -> None:
    tool = declared(("b",), a=TEXT, b=WHOLE, c=TEXT)
    for given_, valid in (
        ("b", True),
        ("ab", True),
        ("bc", True),
        ("abc", True),
        ("a", False),
        ("ac", False),
        ("", False),
    ):
        arguments = {name: 5 if name == "b" else "x" for name in given_}
        assert calls(tool, **arguments) is valid, given_


def test_a_required_place_may_be_absent_as_the_room_is_put_in_later() -> None:
    tool = declared(("room",), room=FunctionSchema(FunctionType.STRING, format="place"))
    assert calls(tool)


def test_a_parameter_that_is_not_declared_or_comes_twice_is_refused() -> None:
    assert not calls(declared(a=TEXT), b="x")
    assert not says('[{"name": "f", "arguments": {"a": "x", "a": "y"}}]', declared(a=TEXT))


def test_an_enum_allows_its_members_only() -> None:
    """Also those with letters that a grammar or JSON would escape."""
    members = ("on", 'a "b"', "back\\slash", "größe", "line\nbreak")
    tool = declared(
        a=FunctionSchema(FunctionType.STRING, enum=members), n=FunctionSchema(FunctionType.INTEGER, enum=(1, 20))
    )
    assert all(calls(tool, a=member) for member in members)
    assert calls(tool, n=20)
    assert not calls(tool, a="off")
    assert not calls(tool, n=2)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 100), (1, 100), (5, 95), (-20, 40), (-7, -3), (17, 17), (0, 0), (199, 2003), (2700, 6500), (-1, 0), (99, 101)],
)
def test_whole_numbers_are_exactly_those_of_the_range(low: int, high: int) -> None:
    grammar = Grammar(compile_grammar([declared(a=FunctionSchema(FunctionType.INTEGER, minimum=low, maximum=high))]))
    for value in range(low - 120, high + 120):
        assert grammar.allows(dumps_calls([("f", {"a": value})])) is (low <= value <= high), value


@pytest.mark.parametrize("text", ["-0", "007", "1.5", "1e2", "+1", '"5"', "true", "null"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    assert not says(f'[{{"name": "f", "arguments": {{"a": {text}}}}}]', declared(a=WHOLE))


BOUNDS = st.none() | st.integers(-2_000, 2_000) | st.floats(-50, 50).map(lambda value: round(value, 2))


@st.composite
def primitives(draw: st.DrawFn) -> FunctionSchema:
    kind = draw(st.sampled_from([FunctionType.STRING, FunctionType.BOOLEAN, FunctionType.INTEGER, FunctionType.NUMBER]))
    if kind is FunctionType.STRING and draw(st.booleans()):
        return FunctionSchema(
            kind, enum=tuple(draw(st.lists(st.text(max_size=5), min_size=1, max_size=3, unique=True)))
        )
    if kind in (FunctionType.INTEGER, FunctionType.NUMBER):
        low, high = draw(BOUNDS), draw(BOUNDS)
        if low is not None and high is not None and (low > high or math.floor(high) < math.ceil(low)):
            low, high = None, None
        return FunctionSchema(kind, minimum=low, maximum=high)
    return FunctionSchema(kind)


def nested(inner: st.SearchStrategy[FunctionSchema]) -> st.SearchStrategy[FunctionSchema]:
    lists = inner.map(lambda items: FunctionSchema(FunctionType.ARRAY, items=items))
    return lists | objects(inner)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[FunctionSchema]) -> FunctionSchema:
    names = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
    properties = draw(st.dictionaries(names, inner, max_size=4))
    required = tuple(name for name in properties if draw(st.booleans()))
    return FunctionSchema(FunctionType.OBJECT, properties=properties, required=required)


SCHEMAS = objects(st.recursive(primitives(), nested, max_leaves=5))


def values(schema: FunctionSchema) -> st.SearchStrategy[Any]:
    """Valid values within the stated limits of the grammar."""
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.type is FunctionType.OBJECT:
        fields = {name: values(each) for name, each in schema.properties.items()}
        needed = {name: each for name, each in fields.items() if name in schema.required}
        rest = {name: each for name, each in fields.items() if name not in schema.required}
        found = st.fixed_dictionaries(needed, optional=rest)
        return found.map(lambda value: {name: value[name] for name in schema.properties if name in value})
    if schema.type is FunctionType.ARRAY:
        assert schema.items
        return st.lists(values(schema.items), max_size=8)
    low = -(10**9) if schema.minimum is None else schema.minimum
    high = 10**9 if schema.maximum is None else schema.maximum
    if schema.minimum is not None and schema.minimum > high:
        high = schema.minimum + 10
    if schema.maximum is not None and schema.maximum < low:
        low = schema.maximum - 10
    if schema.type is FunctionType.INTEGER:
        return st.integers(math.ceil(low), math.floor(high))
    if schema.type is FunctionType.NUMBER:
        return st.floats(low, high).map(lambda value: round(value, 3)).filter(lambda value: low <= value <= high)
    if schema.type is FunctionType.BOOLEAN:
        return st.booleans()
    return st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=30)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_valid_call_is_a_text_of_the_grammar_and_comes_back(data: st.DataObject) -> None:
    """For any declaration."""
    tool = FunctionDeclaration("f", "", data.draw(SCHEMAS))
    arguments = data.draw(values(tool.parameters))
    text = dumps_calls([("f", arguments)])

    assert says(text, tool)
    assert loads_calls(text) == [("f", arguments)]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_another_declaration_allows_is_refused_where_it_does_not_fit(data: st.DataObject) -> None:
    """Of a text that the grammar lets pass, names and types are right; a bound with a fraction is checked later."""
    tool = FunctionDeclaration("f", "", data.draw(SCHEMAS))
    arguments = data.draw(values(data.draw(SCHEMAS)))
    if says(dumps_calls([("f", arguments)]), tool):
        widened = FunctionDeclaration("f", "", without_bounds(tool.parameters))
        assert widened.check(arguments) == arguments


def without_bounds(schema: FunctionSchema) -> FunctionSchema:
    return FunctionSchema(
        schema.type,
        enum=schema.enum,
        items=schema.items and without_bounds(schema.items),
        properties={name: without_bounds(each) for name, each in schema.properties.items()},
        required=schema.required,
    )


def test_the_house_has_a_grammar() -> None:
    """All of its functions at once."""
    tools = tuple(declarations())
    call = dumps_calls([("turn_on_light", {"room": "living room", "brightness": 80})])

    assert says(call, *tools)
    assert not says(call.replace("80", "180"), *tools)


def test_calls_that_were_cut_off_are_no_calls() -> None:
    with pytest.raises(ValueError):
        loads_calls('[{"name": "f", "arguments": {"a": "b')
