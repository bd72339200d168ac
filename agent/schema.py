"""Declarations as data: what a function is called, what it takes, and whether given arguments fit.

A schema is the part of JSON Schema that a small model can honour and this file can check. There is
no null among arguments: an optional parameter is given or it is absent.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, Any, Final

from agent.errors import ArgumentError, DeclarationError

NO_DEFAULT: Final = None
"""Says that a schema has no default. It is None because null is no argument, so no default can be it."""

Say = str | Callable[[Mapping[str, Any], Mapping[str, Any]], str]
"""How a result is put into words: a template of `{field}`s, which are looked up in the response and then
in the arguments, or a function of (arguments, response)."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class FunctionType(str, Enum):
    """The type of a value, by its JSON Schema name."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"


NUMERIC: Final = (FunctionType.INTEGER, FunctionType.NUMBER)
_NESTED: Final = (FunctionType.ARRAY, FunctionType.OBJECT)


@dataclass(frozen=True)
class Range:
    """Bounds of a number, both inclusive: `Annotated[int, Range(0, 100)]`. None is no bound.

    Attributes:
        minimum: The lower one.
        maximum: The upper one.
        lowest: What "minimum", "lowest" and the like mean, where it is not the lower bound: a lamp that is to be as
            dim as it goes is on.
    """

    minimum: float | None = None
    maximum: float | None = None
    lowest: float | None = None


@dataclass(frozen=True)
class Format:
    """What the characters of a string mean: `Annotated[str, Format("place")]`."""

    name: str


Place = Annotated[str, Format("place")]
"""What a person calls a room, a lamp or a group; absent, the agent fills in the requester's room."""

Name = Annotated[str, Format("name")]
"""As `Place`, but what is absent stays absent: "open the garage door" is not about the requester's room."""

_A_TYPE: Final[dict[FunctionType, str]] = {
    FunctionType.STRING: "a string",
    FunctionType.INTEGER: "an integer",
    FunctionType.NUMBER: "a number",
    FunctionType.BOOLEAN: "true or false",
    FunctionType.ARRAY: "an array",
    FunctionType.OBJECT: "an object",
}


@dataclass(frozen=True)
class FunctionSchema:
    """The schema of one value.

    Attributes:
        type: Its type.
        description: What it means, for the model.
        enum: The allowed values of a primitive; empty allows all.
        minimum: Lower bound of a number, inclusive.
        maximum: Upper bound of a number, inclusive.
        format: What a string means ("place", "color" ...); not checked here.
        items: The schema of an array's items.
        properties: The schemas of an object's fields, by name.
        required: The names of the fields that must be there.
        default: What absence stands for, as JSON; `NO_DEFAULT` for nothing.
        lowest: As in `Range`: of how words are read, and no part of the declaration as others see it.

    Raises:
        DeclarationError: The fields contradict each other.
    """

    type: FunctionType
    description: str = ""
    enum: tuple[Any, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    format: str | None = None
    items: FunctionSchema | None = None
    properties: Mapping[str, FunctionSchema] = field(default_factory=dict, hash=False)
    required: tuple[str, ...] = ()
    default: Any = field(default=NO_DEFAULT, hash=False)
    lowest: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        kind = self.type.value
        for bound in (self.minimum, self.maximum):
            if bound is not None and (self.type not in NUMERIC or not _is_number(bound)):
                raise DeclarationError(f"{bound!r} cannot be a bound of type {kind}")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise DeclarationError(f"the range {self.minimum} to {self.maximum} is empty")
        if (self.items is not None) != (self.type is FunctionType.ARRAY):
            raise DeclarationError(f"type {kind} {'has no' if self.items else 'needs'} items")
        if self.properties and self.type is not FunctionType.OBJECT:
            raise DeclarationError(f"type {kind} has no properties")
        for name in self.required:
            if name not in self.properties:
                raise DeclarationError(f"{name!r} is required but is not among the properties")
        if self.enum and self.type in _NESTED:
            raise DeclarationError(f"type {kind} cannot be an enum")
        try:
            allowing_all = replace(self, enum=(), default=NO_DEFAULT) if self.enum else self
            object.__setattr__(self, "enum", tuple(allowing_all.check(value, "enum") for value in self.enum))
            if self.default is not NO_DEFAULT:
                object.__setattr__(self, "default", self.check(self.default, "default"))
        except ArgumentError as error:
            raise DeclarationError(str(error)) from error

    def check(self, value: Any, where: str) -> Any:
        """The value, if it fits; a whole number such as 80.0 becomes the integer it is.

        Args:
            value: A value as JSON has it.
            where: The path that errors name ("brightness", "color.red", "days[2]").

        Raises:
            ArgumentError: It does not fit; the text names the place, what was given and what is allowed.
        """
        if self.enum:
            for member in self.enum:
                if value == member and isinstance(value, bool) == isinstance(member, bool):
                    return member
            raise ArgumentError(f"{where}: {shown(value)} is not allowed; {self.allowed}")
        if self.type is FunctionType.OBJECT and isinstance(value, Mapping):
            return self._check_fields(value, where)
        if self.type is FunctionType.ARRAY and isinstance(value, list) and self.items:
            return [self.items.check(item, f"{where}[{index}]") for index, item in enumerate(value)]
        if self.type is FunctionType.STRING and isinstance(value, str):
            return value
        if self.type is FunctionType.BOOLEAN and isinstance(value, bool):
            return value
        if self.type is FunctionType.NUMBER and _is_number(value):
            return self._check_range(value, where)
        if self.type is FunctionType.INTEGER and _is_whole(value):
            return self._check_range(int(value), where)
        raise ArgumentError(f"{where}: {shown(value)} is {_kind_of(value)}; {self.allowed}")

    @property
    def allowed(self) -> str:
        """What fits, as the end of an error: "allowed is an integer, 0 to 100"."""
        if self.enum:
            return f"allowed are {', '.join(str(member) for member in self.enum)}"
        bounds = f", {self._bounds}" if self._bounds else ""
        return f"allowed is {_A_TYPE[self.type]}{bounds}"

    @property
    def _bounds(self) -> str:
        if self.minimum is None:
            return "" if self.maximum is None else f"at most {self.maximum}"
        return f"at least {self.minimum}" if self.maximum is None else f"{self.minimum} to {self.maximum}"

    def _check_range(self, value: float, where: str) -> float:
        below = self.minimum is not None and value < self.minimum
        above = self.maximum is not None and value > self.maximum
        if below or above:
            raise ArgumentError(f"{where}: {shown(value)} is out of range; allowed is {self._bounds}")
        return value

    def _check_fields(self, value: Mapping[str, Any], where: str) -> dict[str, Any]:
        inside = f"{where}." if where else ""
        for name in value:
            if name not in self.properties:
                names = ", ".join(self.properties)
                allowed = f"allowed are {names}" if names else "none is allowed"
                raise ArgumentError(f"{inside}{name}: there is no such argument; {allowed}")
        checked: dict[str, Any] = {}
        for name, schema in self.properties.items():
            if name in self.required and name not in value:
                raise ArgumentError(f"{inside}{name}: it is missing; {schema.allowed}")
            # A model that writes null for an optional argument means that it gives none.
            if name in self.required or value.get(name) is not None:
                checked[name] = schema.check(value[name], f"{inside}{name}")
        return checked

    def to_json_schema(self) -> dict[str, Any]:
        """This schema as JSON Schema; the reverse of `from_json_schema`."""
        data: dict[str, Any] = {"type": self.type.value}
        if self.description:
            data["description"] = self.description
        if self.enum:
            data["enum"] = list(self.enum)
        for keyword in ("minimum", "maximum", "format", "default"):
            if getattr(self, keyword) is not None:
                data[keyword] = getattr(self, keyword)
        if self.items is not None:
            data["items"] = self.items.to_json_schema()
        if self.type is FunctionType.OBJECT:
            data["properties"] = {name: schema.to_json_schema() for name, schema in self.properties.items()}
        if self.required:
            data["required"] = list(self.required)
        return data

    @classmethod
    def from_json_schema(cls, data: Any, where: str) -> FunctionSchema:
        """Reads JSON Schema.

        A property that may be null (`"type": [T, "null"]`, `anyOf` of it, `"nullable": true`) is optional.
        Annotations are ignored; a keyword that would change what is allowed is refused.

        Args:
            data: The JSON Schema.
            where: What errors name ("open_app.appName").

        Raises:
            DeclarationError: It is no schema, or holds what is not supported.
        """
        from agent.json_schema import read_schema  # it builds on this module

        return read_schema(data, where)


@dataclass(frozen=True)
class FunctionDeclaration:
    """A function that a model may call.

    Attributes:
        name: Letters, digits and underscores, not a digit first, at most 64.
        description: What it does, in a sentence or two for the model.
        parameters: An OBJECT schema of its parameters.
        read_only: True if a call changes nothing, None if that is not known.
        say: How a result is put into words; None for a plain rendering.

    Raises:
        DeclarationError: The name or the kind of the parameters is wrong.
    """

    name: str
    description: str
    parameters: FunctionSchema = FunctionSchema(FunctionType.OBJECT)
    read_only: bool | None = None
    say: Say | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise DeclarationError(
                f"{self.name!r} cannot be the name of a function; allowed are 1 to 64 letters, digits and"
                " underscores, not a digit first"
            )
        if self.parameters.type is not FunctionType.OBJECT:
            raise DeclarationError(f"{self.name}: parameters are an object, not {self.parameters.type.value}")

    @classmethod
    def from_function(
        cls, function: Callable[..., Any], *, read_only: bool | None = False, say: Say | None = None
    ) -> FunctionDeclaration:
        """The declaration of a typed Python function or method, from its signature and docstring.

        Raises:
            DeclarationError: It cannot be declared; the text names the function and the parameter.
        """
        from agent.signature import signature_of  # it builds on this module

        return signature_of(function).declaration(read_only=read_only, say=say)

    @classmethod
    def from_json(cls, data: Any) -> FunctionDeclaration:
        """Reads `{"name", "description"?, "parameters"?: JSON Schema, "read_only"?}`; other keys are ignored.

        Raises:
            DeclarationError: A key is missing or wrong; the text names the function and the place.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
            raise DeclarationError(f"a declaration is an object with a name, not {shown(data)}")
        name = data["name"]
        description = data.get("description", "")
        if not isinstance(description, str):
            raise DeclarationError(f"{name}: description is a string, not {shown(description)}")
        read_only = data.get("read_only")
        if read_only is not None and not isinstance(read_only, bool):
            raise DeclarationError(f"{name}: read_only is true or false, not {shown(read_only)}")
        parameters = FunctionSchema.from_json_schema(data.get("parameters") or {"type": "object"}, name)
        return cls(name, description, parameters, read_only)

    def to_json(self) -> dict[str, Any]:
        """Returns `{"name", "description", "parameters", "read_only"?}`; the reverse of `from_json`."""
        data: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters.to_json_schema(),
        }
        return data if self.read_only is None else {**data, "read_only": self.read_only}

    def check(self, arguments: Any) -> dict[str, Any]:
        """The arguments as JSON has them, in the order of the declaration; absent ones stay absent.

        Raises:
            ArgumentError: One is wrong, missing or unknown.
        """
        if not isinstance(arguments, Mapping):
            given = f"{shown(arguments)} is {_kind_of(arguments)}"
            raise ArgumentError(f"arguments: {given}; allowed is an object")
        checked: dict[str, Any] = self.parameters.check(arguments, "")
        return checked


def _is_number(value: Any) -> bool:
    """A number that a float can hold; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_whole(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    for kind, name in ((str, "a string"), (int, "an integer"), (float, "a number"), (Mapping, "an object")):
        if isinstance(value, kind):
            return name
    return "an array" if isinstance(value, list) else f"a {type(value).__name__}"


def shown(value: Any) -> str:
    """The value as errors show it, cut where it is long: the model reads it again."""
    shown = reprlib.Repr()
    shown.maxstring = shown.maxother = 80
    return shown.repr(value)
