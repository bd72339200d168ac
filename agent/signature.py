"""The declaration of a Python function, from its signature and docstring, and arguments in its own types."""

from __future__ import annotations

import dataclasses
import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union

from agent.docstring import Docstring, parse_docstring
from agent.errors import ArgumentError, DeclarationError
from agent.schema import Format, FunctionDeclaration, FunctionSchema, FunctionType, Range, Say

_PRIMITIVES: Final[dict[Any, FunctionType]] = {
    bool: FunctionType.BOOLEAN,
    int: FunctionType.INTEGER,
    float: FunctionType.NUMBER,
    str: FunctionType.STRING,
}

_SUPPORTED: Final = "str, int, float, bool, Literal, Enum, list[T], dataclasses, and any of them | None"

_MADE: Final = object()  # stands for a default that a factory makes: there is one, but nobody can say which


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function or a field of a dataclass.

    Attributes:
        annotation: Its resolved type, with `Annotated` metadata.
        has_default: Python fills it in where the argument is absent.
        schema: What the model is told of it.
    """

    annotation: Any
    has_default: bool
    schema: FunctionSchema


@dataclass(frozen=True)
class Signature:
    """A function as a model sees it, and as Python calls it.

    Attributes:
        name: The function's name.
        description: The summary of its docstring.
        parameters: In the order of the signature.
    """

    name: str
    description: str
    parameters: Mapping[str, Parameter]

    def declaration(self, *, read_only: bool | None, say: Say | None) -> FunctionDeclaration:
        """The function as data."""
        return FunctionDeclaration(self.name, self.description, _object(self.parameters), read_only, say)

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Checked arguments in the types that the function declares.

        Raises:
            ArgumentError: A dataclass refused its fields.
        """
        return _bind_fields(self.parameters, arguments, "")


def signature_of(function: Callable[..., Any]) -> Signature:
    """Reads a function or a method; the first parameter is skipped if it is `self` or `cls`.

    Raises:
        DeclarationError: It cannot be declared; the text names the function and the parameter.
    """
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise DeclarationError(
            f"{function!r} is not a function or a method; put @tool beneath @classmethod or @staticmethod"
        )
    name = function.__name__
    docstring = parse_docstring(function.__doc__, "Args", name)
    if not docstring.summary:
        raise DeclarationError(f"{name}: it needs a docstring; its summary is what the model knows it by")
    hints = _resolved_hints(function, name)
    parameters: dict[str, Parameter] = {}
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        if index == 0 and is_receiver(parameter):
            continue
        where = f"{name}.{parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DeclarationError(f"{where}: {parameter.kind.description} parameters cannot be declared")
        if parameter.name not in hints:
            raise DeclarationError(f"{where}: it has no type annotation")
        parameters[parameter.name] = _parameter(
            hints[parameter.name], parameter.default, docstring.entries.get(parameter.name, ""), where, ()
        )
    _refuse_unknown_entries(docstring, parameters, name, "parameter")
    return Signature(name, docstring.summary, parameters)


def is_receiver(parameter: inspect.Parameter) -> bool:
    """Whether it is the object or class that a method is called on."""
    return parameter.name in ("self", "cls") and parameter.annotation is parameter.empty


def to_json(value: Any) -> Any:
    """A Python value as JSON has it: an Enum as its value, a dataclass as its fields, a tuple as a list.

    Raises:
        TypeError: JSON has nothing for it.
    """
    if isinstance(value, Enum):
        return to_json(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a surrogate pair is no text to any other part
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise TypeError(f"a number of {value.bit_length()} bits is too large for JSON")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is no number of JSON")
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: to_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(inner) for inner in value]
    raise TypeError(f"{value!r} is no JSON value")


def _resolved_hints(owner: Any, where: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        raise DeclarationError(f"{where}: an annotation has no meaning at module level: {error}") from error


def _refuse_unknown_entries(docstring: Docstring, parameters: Mapping[str, Parameter], where: str, noun: str) -> None:
    """An entry that describes nothing is a misspelling, or outlived what it described."""
    for entry in docstring.entries:
        if entry not in parameters:
            names = ", ".join(parameters) or "none"
            raise DeclarationError(
                f"{where}: the docstring describes {entry!r}, but that is no {noun} (there are: {names})"
            )


def _parameter(annotation: Any, default: Any, description: str, where: str, outer: tuple[type, ...]) -> Parameter:
    inner, optional = _without_none(annotation)
    schema = _schema(inner, where, outer)
    if description:
        schema = replace(schema, description=description)
    has_default = default is not inspect.Parameter.empty
    if has_default and default is None and not optional:
        raise DeclarationError(f"{where}: the default is None; annotate it as `| None`")
    if has_default and default is not None and default is not _MADE:
        try:
            schema = replace(schema, default=to_json(default))
        except (DeclarationError, TypeError) as error:
            raise DeclarationError(f"{where}: {error}") from error
    return Parameter(annotation, has_default, schema)


def _object(parameters: Mapping[str, Parameter], description: str = "") -> FunctionSchema:
    return FunctionSchema(
        FunctionType.OBJECT,
        description,
        properties={name: parameter.schema for name, parameter in parameters.items()},
        required=tuple(
            name
            for name, parameter in parameters.items()
            if not parameter.has_default and not _without_none(parameter.annotation)[1]
        ),
    )


def _schema(annotation: Any, where: str, outer: tuple[type, ...]) -> FunctionSchema:
    """The schema of a type; `outer` are the dataclasses that it is a part of."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _annotated(_schema(arguments[0], where, outer), arguments[1:], where)
    if annotation in _PRIMITIVES:
        return FunctionSchema(_PRIMITIVES[annotation])
    if origin is Literal:
        return _enum(arguments, where)
    if origin is list and arguments:
        return FunctionSchema(FunctionType.ARRAY, items=_schema(arguments[0], f"{where}[]", outer))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _enum(tuple(member.value for member in annotation), where)
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        if annotation in outer:
            raise DeclarationError(f"{where}: {annotation.__name__} contains itself")
        docstring = _class_docstring(annotation)
        return _object(_fields(annotation, where, outer), docstring.summary)
    shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    raise DeclarationError(f"{where}: type {shown} is not supported; there are {_SUPPORTED}")


def _annotated(schema: FunctionSchema, metadata: tuple[Any, ...], where: str) -> FunctionSchema:
    """The schema with our own metadata; that of others is none of our business (PEP 593)."""
    try:
        for item in metadata:
            if isinstance(item, Range):
                schema = replace(schema, minimum=item.minimum, maximum=item.maximum, lowest=item.lowest)
            elif isinstance(item, Format):
                schema = replace(schema, format=item.name)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error}") from error
    return schema


def _enum(values: tuple[Any, ...], where: str) -> FunctionSchema:
    # Literal["a", Mode.B] may hold members: their values are what the model sees.
    plain = tuple(value.value if isinstance(value, Enum) else value for value in values)
    kinds = {type(value) for value in plain}
    if len(kinds) != 1 or not kinds <= _PRIMITIVES.keys():
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
        raise DeclarationError(f"{where}: the values of an enum are all str, int, float or bool, not {names}")
    return FunctionSchema(_PRIMITIVES[kinds.pop()], enum=plain)


def _class_docstring(kind: type) -> Docstring:
    written = kind.__dict__.get("__doc__")
    # A dataclass without a docstring is given its own signature for one.
    generated = written is not None and written.startswith(f"{kind.__name__}(")
    return parse_docstring(None if generated else written, "Attributes", kind.__name__)


def _fields(kind: Any, where: str, outer: tuple[type, ...]) -> dict[str, Parameter]:
    hints = _resolved_hints(kind, where)
    docstring = _class_docstring(kind)
    parameters: dict[str, Parameter] = {}
    for item in dataclasses.fields(kind):
        if not item.init:
            continue
        default = item.default
        if default is dataclasses.MISSING:
            made = item.default_factory is not dataclasses.MISSING
            default = _MADE if made else inspect.Parameter.empty
        description = docstring.entries.get(item.name, "")
        parameters[item.name] = _parameter(
            hints[item.name], default, description, f"{where}.{item.name}", (*outer, kind)
        )
    _refuse_unknown_entries(docstring, parameters, where, "field")
    return parameters


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """The type without `| None`, and whether it had it; also within `Annotated`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        inner, optional = _without_none(arguments[0])
        return Annotated[(inner, *arguments[1:])], optional
    if origin in (Union, types.UnionType):
        others = tuple(argument for argument in arguments if argument is not types.NoneType)
        if len(others) == 1 and len(others) < len(arguments):
            return others[0], True
    return annotation, False


def _bind_fields(parameters: Mapping[str, Parameter], arguments: Mapping[str, Any], where: str) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    for name, parameter in parameters.items():
        if name in arguments:
            bound[name] = _bind(parameter.annotation, arguments[name], f"{where}{name}")
        elif not parameter.has_default:
            bound[name] = None
    return bound


def _bind(annotation: Any, value: Any, where: str) -> Any:
    annotation = _without_none(annotation)[0]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _bind(arguments[0], value, where)
    if annotation is float:
        return float(value)
    if origin is Literal:
        return next(member for member in arguments if value == to_json(member))
    if origin is list:
        return [_bind(arguments[0], item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return annotation(value)
    if dataclasses.is_dataclass(annotation):
        construct: Any = annotation
        try:
            return construct(**_bind_fields(_fields(annotation, where, ()), value, f"{where}."))
        except ArgumentError:
            raise
        except ValueError as error:
            raise ArgumentError(f"{where}: {error}") from error
    return value
