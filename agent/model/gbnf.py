"""What a language model may say: a grammar for llama.cpp (GBNF), compiled from the declarations in force.

It writes a JSON list: of calls, or of one `say` with words in it, in which a small model chooses better than between
JSON and bare words. A call has the name of a declared function,
its parameters in the order of the declaration, and values of their types; JSON is spaced as `json.dumps` does it.
Whole numbers keep to their range. A number with a fraction keeps to the whole numbers around its range, and has
no exponent; texts have at most 200 characters, lists 8 items. What the grammar cannot say is left to
`FunctionDeclaration.check`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent.grounding import FORMATS
from agent.model.grammar import MOST_ITEMS
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType

MOST_CALLS: Final = 8
"""In one step."""

MOST_DIGITS: Final = 15
"""Of a number, before and after the point: more than a float tells apart."""

_LARGEST: Final = 10**MOST_DIGITS - 1

SAY: Final = "say"
"""The name under which words are written; no function of this name can be called."""

BEGIN_WORDS: Final = '[{"name": "say", "arguments": {"text": "'
END_WORDS: Final = '"}}]'
"""What is around words. In them nothing is escaped, and no brackets, braces or quotation marks can be."""

_FIXED: Final = r"""
words ::= [^\[\]{}<>`"\\\x00-\x20] [^\[\]{}<>`"\\\x00-\x1f]*
string ::= "\"" char{0,200} "\""
char ::= [^"\\\x00-\x1f\x7f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])
""".strip()


def compile_grammar(tools: Sequence[FunctionDeclaration]) -> str:
    """The grammar whose `root` is words or calls of these functions; only words where there are none."""
    grammar = _Grammar()
    calls = [
        f"{_literal(json.dumps(each.name) + ', ' + _key('arguments'))} {grammar.value(each.parameters)}"
        for each in tools
        if each.name != SAY
    ]
    say = f"say ::= {_literal(BEGIN_WORDS)} words {_literal(END_WORDS)}"
    if not calls:
        return f"root ::= say\n{say}\n{_FIXED}\n"
    call = f"{_literal('{' + _key('name'))} ({_any(calls)}) {_literal('}')}"
    head = ["root ::= say | calls", say, f"calls ::= {_listed('call', MOST_CALLS)}", f"call ::= {call}"]
    return "\n".join([*head, *grammar.rules, _FIXED]) + "\n"


class _Grammar:
    """Rules under their names; the same rule is written once.

    Attributes:
        rules: A line for each.
    """

    def __init__(self) -> None:
        self.rules: list[str] = []
        self._names: dict[str, str] = {}

    def value(self, schema: FunctionSchema) -> str:
        """The name of the rule, or an expression in brackets, for a value."""
        if schema.enum:
            return self._rule(_any(_literal(json.dumps(member, ensure_ascii=False)) for member in schema.enum))
        if schema.type is FunctionType.OBJECT:
            return self._fields(schema)
        if schema.type is FunctionType.ARRAY and schema.items is not None:
            return self._rule(f"{_literal('[]')} | {_listed(self.value(schema.items), MOST_ITEMS)}")
        if schema.type is FunctionType.BOOLEAN:
            return '("true" | "false")'
        if schema.type is FunctionType.STRING:
            return "string"
        whole = schema.type is FunctionType.INTEGER
        return self._rule(_range(schema.minimum, schema.maximum, whole))

    def _fields(self, schema: FunctionSchema) -> str:
        """An object. Behind each field two rules go on: one where there was a field before, and one where not."""
        after, first = '""', '""'
        for name, field in reversed(list(schema.properties.items())):
            given = f"{_literal(_key(name))} {self.value(field)}"
            more = f"{_literal(', ')} {given}"
            one = f"{given} {after}"
            if _may_be_absent(name, field, schema):
                more, one = f"({more})?", f"{one} | {first}"
            more += f" {after}"
            after, first = self._rule(more), self._rule(one)
        return self._rule(f"{_literal('{')} {first} {_literal('}')}")

    def _rule(self, expression: str) -> str:
        name = self._names.get(expression)
        if name is None:
            name = self._names[expression] = f"r{len(self._names)}"
            self.rules.append(f"{name} ::= {expression}")
        return name


def _may_be_absent(name: str, field: FunctionSchema, schema: FunctionSchema) -> bool:
    """A required place may be left out too: the requester's room is put in later."""
    return name not in schema.required or field.format == FORMATS[0]


def _listed(item: str, most: int) -> str:
    return f"{_literal('[')} {item} ({_literal(', ')} {item}){{0,{most - 1}}} {_literal(']')}"


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) + ": "


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _any(alternatives: Iterable[str]) -> str:
    return " | ".join(alternatives)


def _range(minimum: float | None, maximum: float | None, whole: bool) -> str:
    """The numbers in a range, as JSON writes them; "-0" is none."""
    low = -_LARGEST if minimum is None else max(minimum, -_LARGEST)
    high = _LARGEST if maximum is None else min(maximum, _LARGEST)
    magnitudes = _whole_magnitudes if whole else _magnitudes
    found: list[str] = []
    if high >= 0:
        found += magnitudes(max(low, 0), high)
    if low < 0:
        found += [f'"-" {each}' for each in magnitudes(max(-high, 1 if whole else 0), -low)]
    # A range without a whole number in it has no values; a grammar without alternatives would be broken.
    return _any(found) or '"0"'


def _whole_magnitudes(low: float, high: float) -> list[str]:
    return _digits(math.ceil(low), math.floor(high))


def _magnitudes(low: float, high: float) -> list[str]:
    """Not negative; the last whole number of a range has no fraction but zero, where the range ends with it."""
    fraction = f'("." [0-9]{{1,{MOST_DIGITS}}})?'
    last = math.floor(high)
    found = [f"{each} {fraction}" for each in _digits(math.floor(low), last if last < high else last - 1)]
    return found if last < high else [*found, f'{_digits(last, last)[0]} ("." "0")?']


def _digits(low: int, high: int) -> list[str]:
    """The whole numbers from `low`, which is not negative, to `high`, as alternatives of digit classes."""
    found = []
    while low <= high:
        # The largest block of numbers that begins here and differs in its last digits only.
        zeros = 0
        while zeros < MOST_DIGITS and low % 10 ** (zeros + 1) == 0 and low + 10 ** (zeros + 1) - 1 <= high and low:
            zeros += 1
        block = 10**zeros
        last = low % (10 * block) // block
        steps = min(9 - last, (high - low + 1) // block - 1)
        head = str(low // (10 * block)) if low >= 10 * block else ""
        digit = str(last) if not steps else f"[{last}-{last + steps}]"
        literal = f'"{head}" ' if head else ""
        found.append(f"{literal}{digit if steps else _literal(digit)}" + (f" [0-9]{{{zeros}}}" if zeros else ""))
        low += (steps + 1) * block
    return found


def loads_calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a text that the grammar let pass.

    Raises:
        ValueError: It was cut off before its end.
    """
    try:
        return [(each["name"], each["arguments"]) for each in json.loads(text)]
    except (TypeError, KeyError) as error:
        raise ValueError(f"it is no list of calls: {error}") from error


def dumps_calls(calls: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """Calls as the grammar has them."""
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls], ensure_ascii=False)
