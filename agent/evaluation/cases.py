"""Reading what `hearth eval` is given: the cases, and the tools where they are data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.content import Content, FunctionCallPart
from agent.errors import DeclarationError, HearthError
from agent.schema import FunctionDeclaration, shown


class MalformedError(HearthError, ValueError):
    """A file that cannot be used: a sentence for each line that is wrong, naming file and line."""


@dataclass(frozen=True)
class Step:
    """What is due when the model is asked once.

    Attributes:
        calls: What is to be called; nothing where words are due.
        responses: In a run, what is then fed back: one for each call.
    """

    calls: tuple[FunctionCallPart, ...]
    responses: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Case:
    """A line of CASES.

    Attributes:
        where: Its file and line, for messages.
        text: What is said.
        steps: What is due; a single one for a case that is no run.
        run: The responses are fed back, and the model has to answer at the end.
        answer_contains: What the answer has to hold, whatever its case.
        category: Under which it is counted too.
        room: The requester's.
        history: What was said before.
        tools: Declarations of its own, in place of the others.
    """

    where: str
    text: str
    steps: tuple[Step, ...]
    run: bool = False
    answer_contains: tuple[str, ...] = ()
    category: str | None = None
    room: str | None = None
    history: tuple[Content, ...] = ()
    tools: tuple[FunctionDeclaration, ...] | None = None


def read_cases(path: Path) -> list[Case]:
    """The cases of a file of JSON lines; empty lines are passed over.

    Raises:
        MalformedError: Lines are wrong, it has none, or it cannot be read.
    """
    cases: list[Case] = []
    wrong: list[str] = []
    # Not splitlines(): JSON may hold the other characters at which that splits.
    for number, line in enumerate(_read(path).split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            cases.append(_case(_json(line, path, number), where))
        except MalformedError as error:
            wrong.append(str(error))
        except ValueError as error:
            wrong.append(f"{where}: {error}")
    if wrong or not cases:
        raise MalformedError("\n".join(wrong) or f"{path}, line 1: there are no cases in the file")
    return cases


def read_tools(path: Path) -> tuple[FunctionDeclaration, ...]:
    """The declarations of a file that holds a list of them.

    Raises:
        MalformedError: Declarations are wrong, or the file cannot be read.
    """
    raw = _read(path)
    if not isinstance(_json(raw, path, 1), list):
        raise MalformedError(f"{path}, line 1: it is to be a list of declarations")
    declarations: dict[str, FunctionDeclaration] = {}
    wrong: list[str] = []
    for line, item in _items(raw.decode("utf-8-sig")):
        try:
            _declare(item, declarations)
        except DeclarationError as error:
            wrong.append(f"{path}, line {line}: {error}")
    if wrong:
        raise MalformedError("\n".join(wrong))
    return tuple(declarations.values())


# Files


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MalformedError(f"{path}: {error.strerror}") from error


def _json(raw: bytes, path: Path, line: int) -> Any:
    """The JSON that begins at that line of the file; a MalformedError names the line where it ends to be any."""
    try:
        data = json.loads(raw.decode("utf-8-sig"))
        # JSON can spell half of a surrogate pair, which is no text and could not be printed again.
        json.dumps(data, ensure_ascii=False).encode()
        return data
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        what = "it is no text in UTF-8"
    except UnicodeEncodeError:
        what = "it holds characters that are no text"
    except json.JSONDecodeError as error:
        line += error.lineno - 1
        what = f"it is no JSON: {error.msg} at column {error.colno}"
    except RecursionError:
        what = "it is nested too deeply"
    except ValueError as error:  # a number of thousands of digits
        what = str(error)
    raise MalformedError(f"{path}, line {line}: {what}")


def _items(text: str) -> Iterator[tuple[int, Any]]:
    """The items of what is known to be a JSON list, each with the line at which it begins."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return
        item, end = decoder.raw_decode(text, at)
        yield text.count("\n", 0, at) + 1, item
        at = end


# What is in them


def _case(data: Any, where: str) -> Case:
    case = _Object(data)
    text = case.get("text", str)
    if not text.strip():
        raise ValueError("text has no words")
    run = "steps" in case.data
    if run == ("calls" in case.data):
        raise ValueError("a case has either calls or steps")
    tools = case.get("tools", list, None)
    return Case(
        where,
        text,
        _steps(case) if run else (Step(_calls(case)),),
        run,
        tuple(_typed(each, str, "each of answer_contains") for each in case.get("answer_contains", list, ())),
        category=case.get("category", str, None),
        room=case.get("room", str, None),
        history=tuple(_turn(turn) for turn in case.objects("history", ())),
        tools=None if tools is None else _declared(tools),
    )


def _steps(case: _Object) -> tuple[Step, ...]:
    steps = tuple(_step(step) for step in case.objects("steps"))
    if not steps:
        raise ValueError("steps is empty")
    for index, step in enumerate(steps[:-1]):
        if not step.calls:
            raise ValueError(f"steps[{index}] has no calls, so no step can follow it")
    return steps


def _step(step: _Object) -> Step:
    calls = _calls(step)
    responses = step.get("responses", list, ())
    if len(responses) != len(calls):
        raise ValueError(f"{step.path} has {len(calls)} calls and {len(responses)} responses")
    # As a tool's own result becomes a response.
    return Step(calls, tuple(each if isinstance(each, dict) else {"result": each} for each in responses))


def _calls(parent: _Object) -> tuple[FunctionCallPart, ...]:
    calls = parent.objects("calls")
    return tuple(FunctionCallPart("", call.get("name", str), call.get("arguments", dict)) for call in calls)


def _turn(turn: _Object) -> Content:
    role = turn.get("role", str)
    text = turn.get("text", str)
    if role not in ("user", "model"):
        raise ValueError(f"{turn.path}.role is {shown(role)}; allowed are user and model")
    return Content.user(text) if role == "user" else Content.model(text)


def _declared(items: Iterable[Any]) -> tuple[FunctionDeclaration, ...]:
    declarations: dict[str, FunctionDeclaration] = {}
    for item in items:
        _declare(item, declarations)
    return tuple(declarations.values())


def _declare(data: Any, declarations: dict[str, FunctionDeclaration]) -> None:
    declaration = FunctionDeclaration.from_json(data)
    if declaration.name in declarations:
        raise DeclarationError(f"{declaration.name}: two functions have this name")
    declarations[declaration.name] = declaration


_NEEDED: Final = object()
_KINDS: Final[dict[type, str]] = {str: "a text", list: "a list", dict: "an object"}


class _Object:
    """An object of a case, or the case itself; a ValueError says what in it is wrong, and where.

    Attributes:
        data: Its keys and values.
        path: Where it is in its case, as "steps[0].calls[1]"; "" for the case itself.
    """

    def __init__(self, data: Any, path: str = "") -> None:
        self.data: dict[str, Any] = _typed(data, dict, path or "a case")
        self.path = path

    def get(self, key: str, kind: type, default: Any = _NEEDED) -> Any:
        """The value of a key; null is absent."""
        value = self.data.get(key)
        if value is not None:
            return _typed(value, kind, self._path(key))
        if default is _NEEDED:
            raise ValueError(f"{self._path(key)} is missing")
        return default

    def objects(self, key: str, default: Any = _NEEDED) -> Iterator[_Object]:
        """The items of a list of objects."""
        for index, item in enumerate(self.get(key, list, default)):
            yield _Object(item, self._path(f"{key}[{index}]"))

    def _path(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


def _typed(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where} is {shown(value)}; it is to be {_KINDS[kind]}")
    return value
