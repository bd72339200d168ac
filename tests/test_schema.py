"""Declarations: from functions, from JSON Schema, and the checks of arguments against them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.docstring import parse_docstring
from agent.errors import ArgumentError, DeclarationError
from agent.schema import (
    NO_DEFAULT,
    Format,
    FunctionDeclaration,
    FunctionSchema,
    FunctionType,
    Place,
    Range,
)
from agent.signature import signature_of


class Mode(Enum):
    CALM = "calm"
    PARTY = "party"


class Speed(Enum):
    SLOW = 1
    FAST = 2


@dataclass(frozen=True)
class Moment:
    """A time of day.

    Attributes:
        hour: Hour of the day.
        minute: Minute of the hour.
    """

    hour: Annotated[int, Range(0, 23)]
    minute: Annotated[int, Range(0, 59)] = 0


@dataclass
class Scene:
    mode: Mode
    moments: list[Moment] = field(default_factory=list)
    note: str | None = None


@dataclass
class Even:
    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd")


@dataclass
class Endless:
    inner: Endless | None = None


def set_light(
    room: Place,
    brightness: Annotated[int, Range(0, 100)] | None = None,
    color: Annotated[str, Format("color")] | None = None,
    unit: Literal["celsius", "fahrenheit"] = "celsius",
    mode: Mode = Mode.CALM,
    speed: Optional[Speed] = None,  # noqa: UP045 - the older spelling is the case
    fade: float = 0.5,
    scene: Scene | None = None,
    days: list[Annotated[int, Range(1, 7)]] | None = None,
    loud: bool = False,
) -> None:
    """Turns on a light,
    a lamp or a group.

    It may take a while.

    Args:
        room: What the user calls it: a room,
            a lamp or a group.
        brightness (int, optional): Percent.

    Returns:
        Nothing.
    """


SET_LIGHT = FunctionDeclaration.from_function(set_light)


def refusal(declaration: FunctionDeclaration, **arguments: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        declaration.check(arguments)
    return str(caught.value)


class TestFromFunction:
    def test_summary_becomes_the_description_on_one_line(self) -> None:
        assert SET_LIGHT.name == "set_light"
        assert SET_LIGHT.description == "Turns on a light, a lamp or a group. It may take a while."

    def test_entries_of_args_become_descriptions(self) -> None:
        properties = SET_LIGHT.parameters.properties

        assert properties["room"].description == "What the user calls it: a room, a lamp or a group."
        assert properties["brightness"].description == "Percent."
        assert properties["color"].description == ""

    def test_parameter_without_default_is_required(self) -> None:
        assert SET_LIGHT.parameters.required == ("room",)

    def test_place_and_color_are_strings_with_a_format(self) -> None:
        properties = SET_LIGHT.parameters.properties

        assert (properties["room"].type, properties["room"].format) == (FunctionType.STRING, "place")
        assert (properties["color"].type, properties["color"].format) == (FunctionType.STRING, "color")

    def test_range_becomes_bounds(self) -> None:
        brightness = SET_LIGHT.parameters.properties["brightness"]

        assert (brightness.type, brightness.minimum, brightness.maximum) == (FunctionType.INTEGER, 0, 100)

    def test_enum_of_the_schema_holds_values_not_members(self) -> None:
        properties = SET_LIGHT.parameters.properties

        assert properties["unit"].enum == ("celsius", "fahrenheit")
        assert properties["mode"].enum == ("calm", "party")
        assert (properties["speed"].type, properties["speed"].enum) == (FunctionType.INTEGER, (1, 2))

    def test_defaults_are_json_and_none_is_no_default(self) -> None:
        properties = SET_LIGHT.parameters.properties

        assert properties["mode"].default == "calm"
        assert properties["fade"].default == 0.5
        assert properties["loud"].default is False
        assert properties["brightness"].default is NO_DEFAULT

    def test_dataclass_becomes_a_nested_object(self) -> None:
        scene = SET_LIGHT.parameters.properties["scene"]
        moment = scene.properties["moments"].items

        assert scene.required == ("mode",)
        assert moment is not None
        assert moment.description == "A time of day."
        assert moment.properties["hour"].description == "Hour of the day."
        assert moment.properties["minute"].default == 0

    def test_range_of_an_item_is_the_item_s(self) -> None:
        days = SET_LIGHT.parameters.properties["days"]

        assert days.type is FunctionType.ARRAY
        assert days.items == FunctionSchema(FunctionType.INTEGER, minimum=1, maximum=7)

    def test_metadata_of_others_is_ignored(self) -> None:
        def f(x: Annotated[int, "of someone else", Range(minimum=1)]) -> None:
            """Does it."""

        declared = FunctionDeclaration.from_function(f).parameters.properties["x"]

        assert declared == FunctionSchema(FunctionType.INTEGER, minimum=1)

    def test_declaration_of_a_function_survives_json(self) -> None:
        assert FunctionDeclaration.from_json(json.loads(json.dumps(SET_LIGHT.to_json()))) == SET_LIGHT

    def test_declarations_can_be_keys(self) -> None:
        assert hash(SET_LIGHT) == hash(FunctionDeclaration.from_function(set_light))


def no_annotation(room) -> None:  # type: ignore[no-untyped-def]
    """Does it."""


def star_args(*rooms: str) -> None:
    """Does it."""


def star_kwargs(**rooms: str) -> None:
    """Does it."""


def positional_only(room: str, /) -> None:
    """Does it."""


def no_docstring(room: str) -> None: ...


def only_args(room: str) -> None:
    """
    Args:
        room: The room.
    """


def unknown_entry(room: str) -> None:
    """Does it.

    Args:
        romo: The room.
    """


def no_entry(room: str) -> None:
    """Does it.

    Args:
        The room.
    """


def unsupported(room: dict[str, int]) -> None:
    """Does it."""


def union_of_two(room: int | str) -> None:
    """Does it."""


def bare_list(room: list) -> None:  # type: ignore[type-arg]
    """Does it."""


def mixed_literal(room: Literal["a", 1]) -> None:
    """Does it."""


def default_outside(room: Annotated[int, Range(0, 100)] = 101) -> None:
    """Does it."""


def default_no_member(room: Literal["a", "b"] = "c") -> None:  # type: ignore[assignment]
    """Does it."""


def default_none(room: int = None) -> None:  # type: ignore[assignment]
    """Does it."""


def empty_range(room: Annotated[int, Range(5, 1)]) -> None:
    """Does it."""


def range_of_a_string(room: Annotated[str, Range(0, 1)]) -> None:
    """Does it."""


def recursive(room: Endless) -> None:
    """Does it."""


def unresolved(room: Nowhere) -> None:  # type: ignore[name-defined] # noqa: F821
    """Does it."""


def ä_name(room: str) -> None:
    """Does it."""


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        (no_annotation, "no_annotation.room: it has no type annotation"),
        (star_args, "star_args.rooms: variadic positional"),
        (star_kwargs, "star_kwargs.rooms: variadic keyword"),
        (positional_only, "positional_only.room: positional-only"),
        (no_docstring, "no_docstring: it needs a docstring"),
        (only_args, "only_args: it needs a docstring"),
        (unknown_entry, "unknown_entry: the docstring describes 'romo', but that is no parameter"),
        (no_entry, "no_entry: 'The room.' under Args: is not `name: description`"),
        (unsupported, r"unsupported.room: type dict\[str, int\] is not supported"),
        (union_of_two, "union_of_two.room: type"),
        (bare_list, "bare_list.room: type list is not supported"),
        (mixed_literal, "mixed_literal.room: the values of an enum are all"),
        (default_outside, "default_outside.room: default: 101 is out of range; allowed is 0 to 100"),
        (default_no_member, "default_no_member.room: default: 'c' is not allowed; allowed are a, b"),
        (default_none, "default_none.room: the default is None"),
        (empty_range, "empty_range.room: the range 5 to 1 is empty"),
        (range_of_a_string, "range_of_a_string.room: 0 cannot be a bound of type string"),
        (recursive, "recursive.room.inner: Endless contains itself"),
        (unresolved, "unresolved: an annotation has no meaning at module level: .*Nowhere"),
        (ä_name, "'ä_name' cannot be the name of a function"),
        (len, "is not a function"),
    ],
)
def test_wrong_function_fails_when_declared_and_is_named(function: Any, cause: str) -> None:
    with pytest.raises(DeclarationError, match=cause):
        FunctionDeclaration.from_function(function)


class TestCheck:
    def test_fitting_arguments_pass_and_absent_ones_stay_absent(self) -> None:
        assert SET_LIGHT.check({"brightness": 80, "room": "kitchen"}) == {"room": "kitchen", "brightness": 80}

    def test_whole_number_becomes_the_integer_it_is(self) -> None:
        checked = SET_LIGHT.check({"room": "kitchen", "brightness": 80.0})["brightness"]

        assert (checked, type(checked)) == (80, int)

    def test_null_for_an_optional_argument_is_absence(self) -> None:
        assert SET_LIGHT.check({"room": "kitchen", "brightness": None}) == {"room": "kitchen"}

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"brightness": 180}, "brightness: 180 is out of range; allowed is 0 to 100"),
            ({"brightness": -1}, "brightness: -1 is out of range; allowed is 0 to 100"),
            ({"brightness": "80"}, "brightness: '80' is a string; allowed is an integer, 0 to 100"),
            ({"brightness": 80.5}, "brightness: 80.5 is a number; allowed is an integer, 0 to 100"),
            ({"brightness": True}, "brightness: True is a boolean; allowed is an integer, 0 to 100"),
            ({"brightness": math.nan}, "brightness: nan is a number; allowed is an integer, 0 to 100"),
            ({"unit": "kelvin"}, "unit: 'kelvin' is not allowed; allowed are celsius, fahrenheit"),
            ({"speed": True}, "speed: True is not allowed; allowed are 1, 2"),
            ({"fade": math.inf}, "fade: inf is a number; allowed is a number"),
            ({"loud": 1}, "loud: 1 is an integer; allowed is true or false"),
            ({"color": ["red"]}, "color: ['red'] is an array; allowed is a string"),
            ({"days": "monday"}, "days: 'monday' is a string; allowed is an array"),
            ({"days": [1, 8]}, "days[1]: 8 is out of range; allowed is 1 to 7"),
            ({"scene": {}}, "scene.mode: it is missing; allowed are calm, party"),
            (
                {"scene": {"mode": "calm", "moments": [{"hour": 24}]}},
                "scene.moments[0].hour: 24 is out of range; allowed is 0 to 23",
            ),
            ({"scene": {"mode": "calm", "loud": True}}, "scene.loud: there is no such argument"),
            ({"colour": "red"}, "colour: there is no such argument; allowed are room, brightness, color"),
            ({"room": None}, "room: None is null; allowed is a string"),
        ],
    )
    def test_wrong_argument_is_named_with_what_was_given_and_what_is_allowed(
        self, arguments: dict[str, Any], text: str
    ) -> None:
        assert refusal(SET_LIGHT, **{"room": "kitchen", **arguments}).startswith(text)

    def test_missing_argument_is_named(self) -> None:
        assert refusal(SET_LIGHT, brightness=80) == "room: it is missing; allowed is a string"

    def test_one_sided_bounds_are_said(self) -> None:
        schema = FunctionSchema(
            FunctionType.OBJECT,
            properties={
                "low": FunctionSchema(FunctionType.NUMBER, minimum=0.5),
                "high": FunctionSchema(FunctionType.NUMBER, maximum=2),
            },
        )
        declaration = FunctionDeclaration("f", "Does it.", schema)

        assert refusal(declaration, low=0) == "low: 0 is out of range; allowed is at least 0.5"
        assert refusal(declaration, high=3) == "high: 3 is out of range; allowed is at most 2"

    def test_argument_of_a_function_without_parameters_is_refused(self) -> None:
        declaration = FunctionDeclaration("f", "Does it.")

        assert refusal(declaration, a=1) == "a: there is no such argument; none is allowed"

    @pytest.mark.parametrize("arguments", [None, [], "room", 1])
    def test_arguments_that_are_no_object_are_refused(self, arguments: Any) -> None:
        with pytest.raises(ArgumentError, match=r"arguments: .* allowed is an object"):
            SET_LIGHT.check(arguments)

    def test_long_value_is_cut_in_the_error(self) -> None:
        assert len(refusal(SET_LIGHT, room="kitchen", unit="x" * 10_000)) < 200


class TestBind:
    def bind(self, function: Any, **arguments: Any) -> dict[str, Any]:
        checked = FunctionDeclaration.from_function(function).check(arguments)
        return signature_of(function).bind(checked)

    def test_arguments_reach_the_function_with_their_declared_types(self) -> None:
        bound = self.bind(
            set_light,
            room="kitchen",
            mode="party",
            speed=2,
            fade=1,
            scene={"mode": "calm", "moments": [{"hour": 7.0}]},
            days=[1, 7],
        )

        assert bound == {
            "room": "kitchen",
            "mode": Mode.PARTY,
            "speed": Speed.FAST,
            "fade": 1.0,
            "scene": Scene(Mode.CALM, [Moment(7)]),
            "days": [1, 7],
        }
        assert type(bound["fade"]) is float

    def test_absent_optional_without_python_default_is_none(self) -> None:
        def f(room: str | None, level: int = 3) -> None:
            """Does it."""

        assert self.bind(f) == {"room": None}

    def test_dataclass_that_refuses_its_fields_is_a_wrong_argument(self) -> None:
        def f(numbers: list[Even]) -> None:
            """Does it."""

        with pytest.raises(ArgumentError, match=r"numbers\[1\]: 3 is odd"):
            self.bind(f, numbers=[{"number": 2}, {"number": 3}])


class TestJsonSchema:
    def read(self, **schema: Any) -> FunctionSchema:
        data = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
        return FunctionSchema.from_json_schema(data, "f")

    def test_open_app_declared_as_data(self) -> None:
        parameters = {
            "type": "object",
            "properties": {"appName": {"type": "string", "description": "The app."}},
            "required": ["appName"],
        }
        data = {"name": "open_app", "description": "Opens an app.", "parameters": parameters}

        declaration = FunctionDeclaration.from_json(data)

        assert declaration.read_only is None
        assert declaration.check({"appName": "Camera"}) == {"appName": "Camera"}
        assert declaration.to_json() == data

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": ["integer", "null"], "minimum": 1},
            {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
            {"anyOf": [{"type": "null"}, {"type": "integer"}], "minimum": 1},
            {"type": "integer", "minimum": 1, "nullable": True},
        ],
    )
    def test_property_that_may_be_null_is_optional(self, schema: dict[str, Any]) -> None:
        read = self.read(**schema)

        assert read.properties["x"] == FunctionSchema(FunctionType.INTEGER, minimum=1)
        assert read.required == ()

    def test_null_among_the_values_of_a_nullable_enum_is_dropped(self) -> None:
        assert self.read(type=["string", "null"], enum=["a", None]).properties["x"].enum == ("a",)

    def test_annotations_are_ignored(self) -> None:
        annotated = self.read(type="string", title="X", examples=["a"], deprecated=True, **{"x-order": 1})

        assert annotated == self.read(type="string")

    def test_const_is_an_enum_of_one(self) -> None:
        assert self.read(const="a").properties["x"] == FunctionSchema(FunctionType.STRING, enum=("a",))

    @pytest.mark.parametrize(
        ("schema", "cause"),
        [
            ({"oneOf": [{"type": "string"}]}, r"f\.x: oneOf is not supported"),
            ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "f.x: anyOf is not supported"),
            ({"$ref": "#/definitions/x"}, r"f.x: \$ref is not supported"),
            ({"type": "string", "pattern": "a+"}, "f.x: pattern is not supported"),
            ({"type": "object", "additionalProperties": {"type": "string"}}, "f.x: additionalProperties"),
            ({"type": ["string", "integer"]}, "f.x: type .* is not supported; there are string, integer"),
            ({"type": "float"}, "f.x: type 'float' is not supported"),
            ({}, "f.x: type None is not supported"),
            ({"type": "array"}, "f.x: type array needs items"),
            ({"type": "array", "items": {"type": ["string", "null"]}}, r"f.x\[\]: null is supported for a"),
            ({"type": "string", "enum": ["a", 1]}, "f.x: enum: 1 is an integer; allowed is a string"),
            ({"type": "string", "enum": "a"}, "f.x: enum cannot be 'a'"),
            ({"type": "integer", "minimum": "0"}, "f.x: '0' cannot be a bound"),
            ({"type": "integer", "maximum": 5, "default": 6}, "f.x: default: 6 is out of range"),
            ({"type": "object", "required": ["y"]}, "f.x: 'y' is required but is not among"),
            ({"type": "object", "required": [[]]}, "f.x: required cannot be"),
            ({"type": "string", "description": 5}, "f.x: description cannot be 5"),
        ],
    )
    def test_schema_that_cannot_be_honoured_is_refused_by_name(self, schema: dict[str, Any], cause: str) -> None:
        with pytest.raises(DeclarationError, match=f"^{cause}"):
            self.read(**schema)

    @pytest.mark.parametrize(
        ("data", "cause"),
        [
            ("open_app", "a declaration is an object with a name"),
            ({"description": "Opens."}, "a declaration is an object with a name"),
            ({"name": "open app"}, "'open app' cannot be the name of a function"),
            ({"name": "f" * 65}, "cannot be the name of a function"),
            ({"name": "f", "read_only": "yes"}, "f: read_only is true or false, not 'yes'"),
            ({"name": "f", "description": 1}, "f: description is a string, not 1"),
            ({"name": "f", "parameters": {"type": "string"}}, "f: parameters are an object, not string"),
            ({"name": "f", "parameters": [1]}, "f: a schema is an object"),
        ],
    )
    def test_wrong_declaration_is_refused_by_name(self, data: Any, cause: str) -> None:
        with pytest.raises(DeclarationError, match=cause):
            FunctionDeclaration.from_json(data)


WORDS = st.text(max_size=8)
NUMBERS = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)


@st.composite
def primitives(draw: st.DrawFn) -> FunctionSchema:
    kind = draw(st.sampled_from([FunctionType.STRING, FunctionType.INTEGER, FunctionType.NUMBER]))
    values: st.SearchStrategy[Any] = {
        FunctionType.STRING: WORDS,
        FunctionType.INTEGER: st.integers(-1000, 1000),
        FunctionType.NUMBER: NUMBERS,
    }[kind]
    if draw(st.booleans()):
        enum = tuple(draw(st.lists(values, min_size=1, max_size=3)))
        default = draw(st.sampled_from([None, *enum]))
        return FunctionSchema(kind, draw(WORDS), enum=enum, default=default)
    if kind is FunctionType.STRING:
        return FunctionSchema(kind, format=draw(st.none() | st.just("place")), default=draw(st.none() | WORDS))
    low, high = sorted([draw(values), draw(values)])
    return FunctionSchema(kind, draw(WORDS), minimum=low, maximum=high, default=draw(st.sampled_from([None, low])))


def objects(inner: st.SearchStrategy[FunctionSchema]) -> st.SearchStrategy[FunctionSchema]:
    @st.composite
    def build(draw: st.DrawFn) -> FunctionSchema:
        properties = draw(st.dictionaries(WORDS, inner, max_size=3))
        required = tuple(name for name in properties if draw(st.booleans()))
        return FunctionSchema(FunctionType.OBJECT, draw(WORDS), properties=properties, required=required)

    return build()


SCHEMAS = st.recursive(
    primitives() | st.just(FunctionSchema(FunctionType.BOOLEAN, default=False)),
    lambda inner: objects(inner) | inner.map(lambda item: FunctionSchema(FunctionType.ARRAY, items=item)),
    max_leaves=6,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def fitting(schema: FunctionSchema) -> st.SearchStrategy[Any]:
    """Values that the schema allows."""
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.type is FunctionType.OBJECT:
        required = {name: fitting(schema.properties[name]) for name in schema.required}
        optional = {name: fitting(inner) for name, inner in schema.properties.items() if name not in required}
        return st.fixed_dictionaries(required, optional=optional)
    if schema.items is not None:
        return st.lists(fitting(schema.items), max_size=3)
    if schema.type is FunctionType.INTEGER:
        return st.integers(schema.minimum, schema.maximum)  # type: ignore[arg-type]
    if schema.type is FunctionType.NUMBER:
        return st.sampled_from([schema.minimum, schema.maximum])
    return WORDS if schema.type is FunctionType.STRING else st.booleans()


class TestProperties:
    @given(SCHEMAS)
    def test_schema_survives_json(self, schema: FunctionSchema) -> None:
        data = json.loads(json.dumps(schema.to_json_schema()))

        assert FunctionSchema.from_json_schema(data, "f") == schema

    @given(st.data())
    def test_fitting_value_passes_unchanged_and_survives_a_second_check(self, data: st.DataObject) -> None:
        schema = data.draw(SCHEMAS)
        value = data.draw(fitting(schema))

        assert schema.check(value, "x") == value

    @given(SCHEMAS, JSON)
    def test_any_value_passes_or_is_an_argument_error(self, schema: FunctionSchema, value: Any) -> None:
        try:
            checked = schema.check(value, "x")
        except ArgumentError as error:
            assert str(error).startswith("x")
        else:
            assert schema.check(checked, "x") == checked

    @given(JSON)
    def test_any_json_is_read_or_is_a_declaration_error(self, data: Any) -> None:
        try:
            FunctionSchema.from_json_schema(data, "f")
        except DeclarationError as error:
            assert str(error).startswith("f")

    @given(st.dictionaries(st.sampled_from(["type", "enum", "anyOf", "properties", "items", "required"]), JSON))
    def test_any_value_of_a_keyword_is_read_or_is_a_declaration_error(self, data: dict[str, Any]) -> None:
        for kind in (None, "string", "object", ["integer", "null"]):
            try:
                FunctionSchema.from_json_schema({**data, **({"type": kind} if kind else {})}, "f")
            except DeclarationError as error:
                assert str(error).startswith("f")

    @given(st.text())
    def test_any_docstring_is_read_or_is_a_declaration_error(self, text: str) -> None:
        try:
            docstring = parse_docstring(f"Does it.\n\nArgs:\n{text}", "Args", "f")
        except DeclarationError as error:
            assert str(error).startswith("f")
        else:
            assert docstring.summary.startswith("Does it.")
