"""When two calls are the same to a person: of articles, defaults and the like nothing depends."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from agent.grounding import FORMATS
from agent.house import House
from agent.schema import NO_DEFAULT, FunctionDeclaration, FunctionSchema

ARTICLES: Final = frozenset({"a", "an", "the"})


def call_key(
    name: str,
    arguments: Mapping[str, Any],
    declaration: FunctionDeclaration | None = None,
    house: House | None = None,
) -> Hashable:
    """What a call comes to: equal for two calls that are the same.

    Strings are trimmed, case-folded and without articles; an omitted optional parameter is its default, and
    null is omitted; 80 is 80.0 but not "80"; objects are compared by their fields, arrays item by item.

    Args:
        name: The function.
        arguments: As JSON has them; they need not fit the declaration.
        declaration: Tells the defaults; None where there is none.
        house: With it, a call to one of its functions is compared by what it is about, and by the arguments
            that are no places or names.
    """
    about: frozenset[str] = frozenset()
    if house is not None and (tool := next((each for each in house.tools if each.name == name), None)):
        about = _about(house, name, arguments)
        properties = tool.declaration.parameters.properties
        places = {each for each, schema in properties.items() if schema.format in FORMATS}
        arguments = {each: value for each, value in arguments.items() if each not in places}
    return name, about, value_key(arguments, declaration.parameters if declaration else None)


def value_key(value: object, schema: FunctionSchema | None = None) -> Hashable:
    """What a JSON value comes to: equal for two values that are the same, see `call_key`."""
    if isinstance(value, str):
        return _words(value)
    if isinstance(value, bool):
        return "boolean", value  # to Python True is 1
    if isinstance(value, Mapping):
        return _fields(value, schema)
    if isinstance(value, (list, tuple)):
        return "array", *(value_key(item, schema.items if schema else None) for item in value)
    return value


def _words(text: str) -> str:
    folded = text.casefold().split()
    # Of "The The" all would be dropped, and then it would equal "A".
    return " ".join([word for word in folded if word not in ARTICLES] or folded)


def _fields(value: Mapping[str, Any], schema: FunctionSchema | None) -> Hashable:
    properties = schema.properties if schema else {}
    required = schema.required if schema else ()
    fields = {name: each.default for name, each in properties.items() if name not in required}
    fields |= {name: given for name, given in value.items() if given is not None}
    return frozenset(
        (name, value_key(each, properties.get(name))) for name, each in fields.items() if each is not NO_DEFAULT
    )


def _about(house: House, name: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    try:
        return house.targets(name, arguments)
    except TypeError:  # arguments of a case may be of any type; such ones are about nothing
        return frozenset()
