"""The hand-written text: tools with their sentences, and free entries.

Read from `patterns/*.yaml` (the house's own functions) and `declarations/*.yaml`
(other people's tools); `declarations/heldout/*.yaml` is never trained on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agent.model.prompt import leaves_of
from agent.schema import FunctionDeclaration
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
    """

    declaration: FunctionDeclaration
    domain: str
    says: tuple[str, ...]
    asks: tuple[str, ...]
    declines: tuple[str, ...]
    values: dict[str, list[str] | str]
    reads: bool

    @property
    def name(self) -> str:
        """The declared name."""
        return self.declaration.name


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
        steps: For a run: results already received, each `(call, result)`.
        domain: The file it stands in.
    """

    text: str
    history: tuple[str, ...] = ()
    calls: tuple[WrittenCall, ...] = ()
    ask: str | None = None
    steps: tuple[tuple[WrittenCall, dict[str, Any]], ...] = ()
    domain: str = ""


@dataclass
class Corpus:
    """Everything that was written."""

    house: list[Tool] = field(default_factory=list)
    others: list[Tool] = field(default_factory=list)
    heldout: list[Tool] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


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
        for item in yaml.safe_load(path.read_text()) or []:
            if "function" in item:
                if item["function"] not in declared:
                    raise ValueError(f"{path.name}: there is no function {item['function']}")
                kinds = said.setdefault(item["function"], {"domain": [path.stem]})
                for kind in ("says", "asks", "declines"):
                    kinds.setdefault(kind, []).extend(map(str, item.get(kind) or []))
            else:
                corpus.entries.append(_entry(item, path))
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
                )
            )
        )
    for path in sorted((HERE / "declarations").glob("*.yaml")):
        corpus.others += _tools(path)
    for path in sorted((HERE / "declarations" / "heldout").glob("*.yaml")):
        corpus.heldout += _tools(path)
    return corpus


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


def _tools(path: Path) -> list[Tool]:
    tools = []
    for item in yaml.safe_load(path.read_text()):
        where = f"{path.name}: {item.get('name')}"
        try:
            tools.append(_tool(item, path.stem))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{where}: {error}") from error
    return tools


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
        )
    )


def _checked(tool: Tool) -> Tool:
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


def _entry(item: dict[str, Any], path: Path) -> Entry:
    patterns = [item["text"], *(item.get("history") or [])]
    for pattern in patterns:
        markup.check(str(pattern))
    ask = None
    if "ask" in item:
        ask = item["ask"] or ""
    steps = tuple((_call(step["call"]), step["result"]) for step in item.get("steps") or [])
    return Entry(
        str(item["text"]),
        tuple(map(str, item.get("history") or ())),
        tuple(_call(call) for call in item.get("calls") or ()),
        ask,
        steps,
        path.stem,
    )


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
