"""Reads JSON Schema as others write it: what we can check is taken, what we cannot is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.errors import DeclarationError
from agent.schema import FunctionSchema, FunctionType, shown

# Keywords that change what is allowed and that nothing here would check. Every other unknown keyword
# (title, examples, $comment, x-...) is an annotation and is ignored.
_REFUSED: Final = (
    *("$ref", "$dynamicRef", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"),
    *("pattern", "minLength", "maxLength", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
    *("minItems", "maxItems", "uniqueItems", "prefixItems", "additionalItems", "unevaluatedItems"),
    *("contains", "minContains", "maxContains", "minProperties", "maxProperties", "patternProperties"),
    *("propertyNames", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
)

_PRIMITIVES: Final = (
    (bool, FunctionType.BOOLEAN),
    (str, FunctionType.STRING),
    (int, FunctionType.INTEGER),
    (float, FunctionType.NUMBER),
)


def read_schema(data: Any, where: str) -> FunctionSchema:
    """Does the work of `FunctionSchema.from_json_schema`."""
    schema, nullable = _without_null(data, where)
    if nullable:
        raise DeclarationError(f"{where}: null is supported for a property only")
    for keyword in _REFUSED:
        if keyword in schema:
            raise DeclarationError(f"{where}: {keyword} is not supported")
    if not isinstance(schema.get("additionalProperties", False), bool):
        raise DeclarationError(f"{where}: additionalProperties with a schema is not supported")
    enum = [schema["const"]] if "const" in schema else _typed(schema, "enum", list, where)
    kind = _type_of(schema, enum, where)
    properties: dict[str, FunctionSchema] = {}
    required = _typed(schema, "required", list, where)
    if not all(isinstance(name, str) for name in required):
        raise DeclarationError(f"{where}: required cannot be {shown(required)}")
    for name, given in _typed(schema, "properties", dict, where).items():
        inner, optional = _without_null(given, f"{where}.{name}")
        properties[name] = read_schema(inner, f"{where}.{name}")
        if optional:
            required = [other for other in required if other != name]
    items = read_schema(schema["items"], f"{where}[]") if "items" in schema else None
    description = _typed(schema, "description", str, where)
    format = _typed(schema, "format", str, where) or None
    try:
        return FunctionSchema(
            type=kind,
            description=description,
            enum=tuple(enum),
            minimum=schema.get("minimum"),
            maximum=schema.get("maximum"),
            format=format,
            items=items,
            properties=properties,
            required=tuple(required),
            default=schema.get("default"),
        )
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error}") from error


def _typed(schema: Mapping[str, Any], keyword: str, kind: type, where: str) -> Any:
    """The value of a keyword; an empty one of its kind if it is absent."""
    value = schema.get(keyword)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise DeclarationError(f"{where}: {keyword} cannot be {shown(value)}")
    return value


def _type_of(schema: Mapping[str, Any], enum: list[Any], where: str) -> FunctionType:
    """The type that is stated, or the only one that the other keywords leave."""
    stated = schema.get("type")
    if stated is None and "properties" in schema:
        return FunctionType.OBJECT
    if stated is None and "items" in schema:
        return FunctionType.ARRAY
    if stated is None and enum:
        for python, kind in _PRIMITIVES:
            if all(isinstance(value, python) for value in enum):
                return kind
    try:
        return FunctionType(stated)
    except ValueError:
        names = ", ".join(kind.value for kind in FunctionType)
        raise DeclarationError(f"{where}: type {shown(stated)} is not supported; there are {names}") from None


def _without_null(data: Any, where: str) -> tuple[dict[str, Any], bool]:
    """The schema without the null that it allows, and whether it allowed it."""
    if not isinstance(data, Mapping):
        raise DeclarationError(f"{where}: a schema is an object, not {shown(data)}")
    schema = dict(data)
    nullable = schema.pop("nullable", False) is True
    choices = schema.get("anyOf")
    if isinstance(choices, list) and len(choices) == 2 and {"type": "null"} in choices:
        other = choices[1 - choices.index({"type": "null"})]
        if isinstance(other, Mapping):
            del schema["anyOf"]
            schema = {**other, **schema}
            nullable = True
    if isinstance(schema.get("type"), list):
        kinds = [kind for kind in schema["type"] if kind != "null"]
        nullable = nullable or len(kinds) < len(schema["type"])
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
    if nullable and isinstance(schema.get("enum"), list):
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    return schema, nullable
