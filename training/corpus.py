"""The hand-written text: tools with their sentences, and free entries.

Read from `patterns/*.yaml` (the house's own functions), `variants.yaml` (how others would
have declared those) and `declarations/*.yaml` (other people's tools);
`declarations/heldout/*.yaml` is never trained on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from agent.model.prompt import leaves_of
from agent.schema import FunctionDeclaration, FunctionSchema
from tools import declarations
from training import markup

HERE = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Tool:
    """A declared function and what people say for it.

    Attributes:
        declaration: As the model sees it.
        domain: The file it stands in; tools of one domain are declared together.
        says: Patterns of fitting wishes.
        asks: Patterns in which a required value is missing.
        declines: Patterns that sound close and fit no tool.
        values: For each parameter the words that may fill it, or the name of a class.
        reads: It only reads; where its author did not say, judged by its name.
        variants: How others would have declared it.
    """

    declaration: FunctionDeclaration
    domain: str
    says: tuple[str, ...]
    asks: tuple[str, ...]
    declines: tuple[str, ...]
    values: dict[str, list[str] | str]
    reads: bool
    variants: tuple[Variant, ...] = ()

    @property
    def name(self) -> str:
        """The declared name."""
        return self.declaration.name


@dataclass(frozen=True, eq=False)
class Variant:
    """A tool as another developer would have declared it.

    Attributes:
        tool: It, without sentences of its own.
        parameters: Its name for each parameter.
    """

    tool: Tool
    parameters: dict[str, str]


@dataclass(frozen=True)
class WrittenCall:
    """A call as written in an entry: arguments are `$slot` or a literal."""

    name: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Entry:
    """A sentence of its own: several wishes, a follow-up, something to decline or to ask about.

    Attributes:
        text: The pattern of what is said now.
        history: Patterns of what was said before, oldest first, user and agent in turn.
        calls: What is to be called, in order.
        ask: The function to ask about; "" is a question without one; None is no question.
        steps: For a run: results already received, each `(call, result)`; slots stand in their strings.
        domain: The file it stands in.
    """

    text: str
    history: tuple[str, ...] = ()
    calls: tuple[WrittenCall, ...] = ()
    ask: str | None = None
    steps: tuple[tuple[WrittenCall, Any], ...] = ()
    domain: str = ""

    @cached_property
    def needed(self) -> frozenset[str]:
        """The functions it speaks of."""
        called = [call.name for call in self.calls] + [call.name for call, _ in self.steps]
        return frozenset([*called, self.ask] if self.ask else called)


@dataclass
class Corpus:
    """Everything that was written."""

    house: list[Tool] = field(default_factory=list)
    others: list[Tool] = field(default_factory=list)
    heldout: list[Tool] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """Of the house."""
    other_entries: list[Entry] = field(default_factory=list)
    """Of other people's tools."""


_READING = (
    "get",
    "read",
    "check",
    "list",
    "find",
    "search",
    "is",
    "how",
    "what",
    "show",
    "current",
    "lookup",
    "look",
    "count",
    "status",
    "query",
    "fetch",
    "forecast",
)


def house_declarations() -> dict[str, FunctionDeclaration]:
    """The declarations of the house, by name."""
    return {declaration.name: declaration for declaration in declarations()}


def read_corpus() -> Corpus:
    """Reads and checks every file.

    Raises:
        ValueError: A pattern that cannot be read, a slot without a parameter, an unknown
            function; file and text are named.
    """
    corpus = Corpus()
    declared = house_declarations()
    said: dict[str, dict[str, list[str]]] = {}
    for path in sorted((HERE / "patterns").glob("*.yaml")):
        if path.stem.startswith("classes"):
            continue
        for item in _read(path):
            if "function" in item:
                if item["function"] not in declared:
                    raise ValueError(f"{path.name}: there is no function {item['function']}")
                kinds = said.setdefault(item["function"], {"domain": [path.stem]})
                for kind in ("says", "asks", "declines"):
                    kinds.setdefault(kind, []).extend(map(str, item.get(kind) or []))
            else:
                corpus.entries.append(_entry(item, "house." + path.stem))
    variants = _read(HERE / "variants.yaml")
    if unknown := sorted(set(variants) - set(declared)):
        raise ValueError(f"variants.yaml: there is no function {', '.join(unknown)}")
    for name, declaration in declared.items():
        kinds = said.get(name, {"domain": ["none"]})
        corpus.house.append(
            _checked(
                Tool(
                    declaration,
                    "house." + kinds["domain"][0],
                    tuple(kinds.get("says", ())),
                    tuple(kinds.get("asks", ())),
                    tuple(kinds.get("declines", ())),
                    _house_values(declaration),
                    bool(declaration.read_only),
                ),
                variants.get(name),
            )
        )
    for path in sorted((HERE / "declarations").glob("*.yaml")):
        tools, entries = _domain(path)
        corpus.others += tools
        corpus.other_entries += entries
    for path in sorted((HERE / "declarations" / "heldout").glob("*.yaml")):
        corpus.heldout += _domain(path)[0]
    return corpus


def _read(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(), Loader=yaml.CSafeLoader) or []
    except yaml.YAMLError as error:
        raise ValueError(f"{path.name} is no YAML: {error}") from error


def _house_values(declaration: FunctionDeclaration) -> dict[str, list[str] | str]:
    """The classes that fill the house's parameters where a pattern names none."""
    classes = {
        "room": "room",
        "device": "switch",
        "brightness": "percent",
        "amount": "percent",
        "color": "color",
        "location": "city",
    }
    return {name: classes.get(name, "room") for name in declaration.parameters.properties}


def _domain(path: Path) -> tuple[list[Tool], list[Entry]]:
    """The tools of a file, and the free entries about them."""
    tools, entries = [], []
    for item in _read(path):
        where = f"{path.name}: {item.get('name') or item.get('text')}"
        try:
            if "text" in item:
                entries.append(_entry(item, path.stem))
            else:
                tools.append(_tool(item, path.stem))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from error
    names = {tool.name for tool in tools}
    for entry in entries:
        for call in (*entry.calls, *(call for call, _ in entry.steps)):
            if call.name not in names:
                raise ValueError(f"{path.name}: {entry.text!r} calls {call.name}, which is not declared there")
    return tools, entries


def _tool(item: dict[str, Any], domain: str) -> Tool:
    properties, required, values = {}, [], {}
    for name, written in (item.get("parameters") or {}).items():
        schema = dict(written)
        if schema.pop("required", False):
            required.append(name)
        if "values" in schema:
            value = schema.pop("values")
            values[name] = value if isinstance(value, str) else [str(each) for each in value]
        elif schema["type"] in ("integer", "number"):
            values[name] = "number"
        properties[name] = schema
    data = {
        "name": item["name"],
        "description": item["description"],
        "parameters": {"type": "object", "properties": properties, "required": required},
    }
    if "read_only" in item:
        data["read_only"] = item["read_only"]
    declaration = FunctionDeclaration.from_json(data)
    first_word = "".join(c if c.islower() else " " for c in item["name"].replace("_", " ")).split()[:1]
    reads = item.get("read_only", bool(first_word) and first_word[0] in _READING)
    return _checked(
        Tool(
            declaration,
            domain,
            tuple(map(str, item.get("says") or ())),
            tuple(map(str, item.get("asks") or ())),
            tuple(map(str, item.get("declines") or ())),
            values,
            bool(reads),
        ),
        item.get("variants"),
    )


def _variant(tool: Tool, written: dict[str, Any]) -> Variant:
    """Reads `{name, description, parameters: {own name: theirs, or {name, description}}}`."""
    renamed: dict[str, str] = {}
    properties: dict[str, FunctionSchema] = {}
    changes = written.get("parameters") or {}
    declared = tool.declaration.parameters
    if unknown := sorted(set(changes) - set(declared.properties)):
        raise ValueError(f"{tool.name}: its variant {written['name']} renames {', '.join(unknown)}, which it has not")
    for name, schema in declared.properties.items():
        change = changes.get(name) or name
        change = change if isinstance(change, dict) else {"name": change}
        renamed[name] = change.get("name", name)
        properties[renamed[name]] = replace(schema, description=change.get("description", schema.description))
    if len(properties) < len(renamed):
        raise ValueError(f"{tool.name}: its variant {written['name']} has two parameters of one name")
    required = tuple(renamed[name] for name in declared.required)
    declaration = replace(
        tool.declaration,
        name=written["name"],
        description=written.get("description") or "",
        parameters=replace(declared, properties=properties, required=required),
    )
    return Variant(replace(tool, declaration=declaration, says=(), asks=(), declines=(), variants=()), renamed)


def _checked(tool: Tool, variants: list[dict[str, Any]] | None = None) -> Tool:
    tool = replace(tool, variants=tuple(_variant(tool, each) for each in variants or ()))
    leaves = {".".join(leaf.path): leaf for leaf in leaves_of(tool.declaration)}
    for pattern in tool.says + tool.asks + tool.declines:
        markup.check(pattern)
        for name, member, _ in markup.slots_of(pattern):
            if pattern in tool.declines:
                continue
            if name not in leaves:
                raise ValueError(f"{tool.name}: {pattern!r}: no parameter {name!r}")
            if member is not None and member.lower() not in [str(m).lower() for m in leaves[name].members]:
                raise ValueError(f"{tool.name}: {pattern!r}: {member!r} is no member of {name!r}")
    return tool


def _entry(item: dict[str, Any], domain: str) -> Entry:
    patterns = [item["text"], *(item.get("history") or [])]
    for pattern in patterns:
        markup.check(str(pattern))
    ask = None
    if "ask" in item:
        ask = item["ask"] or ""
    steps = tuple((_call(step["call"]), step["result"]) for step in item.get("steps") or [])
    for text in (each for _, result in steps for each in strings_of(result)):
        markup.check(text)
    return Entry(
        str(item["text"]),
        tuple(map(str, item.get("history") or ())),
        tuple(_call(call) for call in item.get("calls") or ()),
        ask,
        steps,
        domain,
    )


def strings_of(value: Any) -> list[str]:
    """Every string in a result."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings_of(each)]
    return [value] if isinstance(value, str) else []


def _call(written: str) -> WrittenCall:
    """Reads `name(room=$a, unit="celsius", state=on)`."""
    name, _, rest = written.strip().partition("(")
    arguments: dict[str, str] = {}
    body = rest.rpartition(")")[0]
    for part in [each for each in body.split(",") if each.strip()]:
        key, _, value = part.partition("=")
        value = value.strip()
        if value[:1] in "\"'":
            value = str(ast.literal_eval(value))
        arguments[key.strip()] = value
    return WrittenCall(name.strip(), arguments)
