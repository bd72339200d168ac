"""`hearth eval`: asks the model what it would call, case by case, and counts. Nothing is executed."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import math
import re
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from agent.config import EXAMPLE_SETTINGS, Settings, read_settings
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.equality import call_key
from agent.errors import AgentError, DeclarationError, ErrorCode, HearthError, SettingsError
from agent.grounding import fill_places, spoken_places, which
from agent.house import House
from agent.model.generative import (
    Candidate,
    GenerateContentRequest,
    GenerativeModel,
    ModelConfig,
    Outcome,
    load_model,
)
from agent.runner import Agent
from agent.schema import FunctionDeclaration, shown
from agent.tool import load_folder

DONE: Final = 0
BAD_USAGE: Final = 2

WORDS: Final = (Outcome.ASK, Outcome.DECLINE, Outcome.ANSWER)
"""Outcomes with which nothing is called."""


class MalformedError(HearthError, ValueError):
    """A file that cannot be used: a sentence for each line that is wrong, naming file and line."""


# Cases


@dataclass(frozen=True)
class Step:
    """What is due when the model is asked once.

    Attributes:
        calls: What is to be called; nothing where words are due.
        responses: What is then fed back, one for each call.
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


_BETWEEN: Final = re.compile(r"[\s,]*")


def _items(text: str) -> Iterator[tuple[int, Any]]:
    """The items of what is known to be a JSON list, each with the line at which it begins."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    while True:
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        if text[at] == "]":
            return
        item, end = decoder.raw_decode(text, at)
        yield text.count("\n", 0, at) + 1, item
        at = end


def _declare(data: Any, declarations: dict[str, FunctionDeclaration]) -> None:
    declaration = FunctionDeclaration.from_json(data)
    if declaration.name in declarations:
        raise DeclarationError(f"{declaration.name}: two functions have this name")
    declarations[declaration.name] = declaration


def _case(data: Any, where: str) -> Case:
    case = _typed(data, dict, "a case")
    text = _get(case, "text", str)
    if not text.strip():
        raise ValueError("text has no words")
    run = "steps" in case
    if run == ("calls" in case):
        raise ValueError("a case has either calls or steps")
    if run:
        steps = tuple(_step(step, f"steps[{index}]") for index, step in enumerate(_get(case, "steps", list)))
        if not steps:
            raise ValueError("steps is empty")
        for index, step in enumerate(steps[:-1]):
            if not step.calls:
                raise ValueError(f"steps[{index}] has no calls, so no step can follow it")
    else:
        steps = (Step(_calls(case, "calls")),)
    answer = [_typed(each, str, "each of answer_contains") for each in _get(case, "answer_contains", list, [])]
    tools: dict[str, FunctionDeclaration] = {}
    for each in _get(case, "tools", list, []):
        _declare(each, tools)
    return Case(
        where,
        text,
        steps,
        run,
        tuple(answer),
        _get(case, "category", str, None),
        _get(case, "room", str, None),
        tuple(_turn(turn, f"history[{index}]") for index, turn in enumerate(_get(case, "history", list, []))),
        tuple(tools.values()) if case.get("tools") is not None else None,
    )


def _step(data: Any, where: str) -> Step:
    step = _typed(data, dict, where)
    calls = _calls(step, f"{where}.calls")
    responses = _get(step, "responses", list, [], f"{where}.responses")
    if len(responses) != len(calls):
        raise ValueError(f"{where} has {len(calls)} calls and {len(responses)} responses")
    # As a tool's own result becomes a response.
    return Step(calls, tuple(each if isinstance(each, dict) else {"result": each} for each in responses))


def _calls(data: dict[str, Any], where: str) -> tuple[FunctionCallPart, ...]:
    calls = []
    for index, each in enumerate(_get(data, "calls", list, where=where)):
        here = f"{where}[{index}]"
        call = _typed(each, dict, here)
        name = _get(call, "name", str, where=f"{here}.name")
        calls.append(FunctionCallPart("", name, _get(call, "arguments", dict, where=f"{here}.arguments")))
    return tuple(calls)


def _turn(data: Any, where: str) -> Content:
    turn = _typed(data, dict, where)
    role = _get(turn, "role", str, where=f"{where}.role")
    text = _get(turn, "text", str, where=f"{where}.text")
    if role not in ("user", "model"):
        raise ValueError(f"{where}.role is {shown(role)}; allowed are user and model")
    return Content.user(text) if role == "user" else Content.model(text)


_NEEDED: Final = object()
_KINDS: Final[dict[type, str]] = {str: "a text", list: "a list", dict: "an object"}


def _get(data: dict[str, Any], key: str, kind: type, default: Any = _NEEDED, where: str = "") -> Any:
    """The value of a key, or a ValueError that says what is wrong with it; null is absent."""
    value = data.get(key)
    if value is None:
        if default is _NEEDED:
            raise ValueError(f"{where or key} is missing")
        return default
    return _typed(value, kind, where or key)


def _typed(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{where} is {shown(value)}; it is to be {_KINDS[kind]}")
    return value


# Asking


@dataclass(frozen=True)
class StepResult:
    """What became of a step.

    Attributes:
        due: What was to be called.
        called: What the model called, its places filled in.
        exact: They are the same calls.
        none_due: No function that may change something was due.
        wrongful: None was due, and one was called.
    """

    due: tuple[FunctionCallPart, ...]
    called: tuple[FunctionCallPart, ...]
    exact: bool
    none_due: bool
    wrongful: bool

    @property
    def functions_right(self) -> bool:
        """The functions called are those due, whatever their arguments."""
        return {call.name for call in self.called} == {call.name for call in self.due}


@dataclass(frozen=True)
class Result:
    """What became of a case.

    Attributes:
        case: Which one.
        steps: As far as it went: a run ends at the first step that is not right.
        outcome: The model's first decision: act, query, ask or decline.
        confidence: The lowest of its decisions, 0 to 1; None from a model that does not tell.
        ms: How long the model took for all of it, in milliseconds.
        answer: What it said in the end; "" where it ended with calls.
    """

    case: Case
    steps: tuple[StepResult, ...]
    outcome: Outcome
    confidence: float | None
    ms: float
    answer: str

    @property
    def functions_right(self) -> bool:
        """In every step."""
        return all(step.functions_right for step in self.steps)

    @property
    def calls_right(self) -> bool:
        """In every step."""
        return all(step.exact for step in self.steps)

    @property
    def exact(self) -> bool:
        """Every call is right, and the answer holds what it has to."""
        said = self.answer.casefold()
        return self.calls_right and all(part.casefold() in said for part in self.case.answer_contains)

    @property
    def none_due(self) -> bool:
        """In some step, no function that may change something was due."""
        return any(step.none_due for step in self.steps)

    @property
    def wrongful(self) -> bool:
        """A function that may change something was called in such a step."""
        return any(step.wrongful for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it. The calls of a run are those of its steps, one after the other."""
        data = {
            "text": self.case.text,
            "expected": _plain(call for step in self.case.steps for call in step.calls),
            "predicted": _plain(call for step in self.steps for call in step.called),
            "outcome": self.outcome.value,
            "exact": self.exact,
            "confidence": self.confidence,
            "ms": round(self.ms, 3),
        }
        if self.case.run:
            # The answer that follows the last step is not one of the case's steps.
            asked = self.steps[: len(self.case.steps)]
            data["steps"] = [{"predicted": _plain(step.called), "exact": step.exact} for step in asked]
        return {**data, "answer": self.answer} if self.answer else data


def _plain(calls: Iterable[FunctionCallPart]) -> list[dict[str, Any]]:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


async def evaluate(
    cases: Iterable[Case],
    model: GenerativeModel,
    tools: Sequence[FunctionDeclaration],
    *,
    house: House | None = None,
    instructions: str | None = None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> list[Result]:
    """Asks the model about each case, in their order.

    Args:
        cases: What is asked.
        model: Who is asked.
        tools: The declarations in force, for a case without its own.
        house: With it, calls are compared by what they would move.
        instructions: What the model is told about its task.
        warn: Takes a sentence about a case that cannot come out right.

    Raises:
        AgentError: NOT_AVAILABLE, there is no usable model. A case that passes a limit of the model is a
            case in which it declined, as nothing is called then.
    """
    return [await _Asking(case, model, tools, house, instructions, warn).run() for case in cases]


class _Asking:
    """One case while it is asked."""

    def __init__(
        self,
        case: Case,
        model: GenerativeModel,
        tools: Sequence[FunctionDeclaration],
        house: House | None,
        instructions: str | None,
        warn: Callable[[str], None],
    ) -> None:
        self._case = case
        self._model = model
        self._tools = tuple(tools if case.tools is None else case.tools)
        self._by_name = {each.name: each for each in self._tools}
        self._house = house
        self._instructions = instructions
        self._warn = warn
        self._contents = [*case.history, Content.user(case.text)]
        self._earlier: list[str] = []
        self._ms = 0.0

    async def run(self) -> Result:
        self._check_due()
        due = list(self._case.steps)
        if self._case.run and due[-1].calls:
            due.append(Step(()))  # and then an answer
        results: list[StepResult] = []
        candidates: list[Candidate] = []
        for step in due:
            candidate = await self._ask()
            candidates.append(candidate)
            results.append(self._judged(step, candidate.function_calls))
            if not self._case.run or not step.calls or not results[-1].exact:
                break
            self._feed_back(step, candidate.function_calls)
        sure = [each.confidence for each in candidates if each.confidence is not None]
        return Result(
            self._case,
            tuple(results),
            self._outcome(candidates[0]),
            min(sure, default=None),
            self._ms,
            "" if candidates[-1].function_calls else candidates[-1].text,
        )

    def _check_due(self) -> None:
        """A misspelt expectation would otherwise be seen as the model's mistake."""
        for call in (call for step in self._case.steps for call in step.calls):
            declaration = self._by_name.get(call.name)
            if declaration is None:
                names = ", ".join(self._by_name) or "none"
                self._warn(f"{self._case.where}: there is no function {call.name}; there are {names}")
                continue
            for name in call.arguments.keys() - declaration.parameters.properties.keys():
                self._warn(f"{self._case.where}: {call.name} has no parameter {name}")

    async def _ask(self) -> Candidate:
        """What the model says, with calls only where the loop would make them, and places filled in."""
        request = GenerateContentRequest(tuple(self._contents), self._tools, self._instructions)
        started = time.perf_counter()
        try:
            candidate = (await self._model.generate_content(request)).candidates[0]
        except AgentError as error:
            if error.code is not ErrorCode.INVALID_REQUEST:
                raise
            self._warn(f"{self._case.where}: {error.code.name}: {error.message}")
            candidate = Candidate(Content.model(error.message), Outcome.DECLINE)
        finally:
            self._ms += (time.perf_counter() - started) * 1e3
        if candidate.outcome in WORDS or not candidate.function_calls:
            return Candidate(Content.model(candidate.text), candidate.outcome, candidate.confidence)
        calls: dict[Hashable, FunctionCallPart] = {}
        earlier = list(self._earlier)
        for call in candidate.function_calls:
            filled: dict[str, Any] | None = call.arguments
            if declaration := self._by_name.get(call.name):
                filled = fill_places(declaration, call.arguments, self._case.room, earlier)
                if filled is None:
                    return Candidate(Content.model(which(declaration)), Outcome.ASK, candidate.confidence)
                earlier += spoken_places(declaration, filled)
            grounded = FunctionCallPart(f"{len(self._contents)}-{len(calls)}", call.name, filled or {})
            calls.setdefault(self._key(grounded), grounded)
        return Candidate(Content(Role.MODEL, tuple(calls.values())), candidate.outcome, candidate.confidence)

    def _judged(self, step: Step, called: tuple[FunctionCallPart, ...]) -> StepResult:
        none_due = not any(self._may_change(call) for call in step.calls)
        return StepResult(
            step.calls,
            called,
            exact={self._key(call) for call in called} == {self._due_key(call) for call in step.calls},
            none_due=none_due,
            wrongful=none_due and any(self._may_change(call) for call in called),
        )

    def _feed_back(self, step: Step, called: tuple[FunctionCallPart, ...]) -> None:
        """The calls and their responses become turns; the model may have made the calls in another order."""
        given = {
            self._due_key(call): response for call, response in zip(step.calls, step.responses, strict=True)
        }
        answered = [FunctionResponsePart(call.id, call.name, given[self._key(call)]) for call in called]
        self._contents += [Content(Role.MODEL, called), Content(Role.USER, tuple(answered))]
        for call, response in zip(called, answered, strict=True):
            declaration = self._by_name.get(call.name)
            if declaration and "error" not in response.response:
                self._earlier += spoken_places(declaration, call.arguments)

    def _outcome(self, candidate: Candidate) -> Outcome:
        """The decision, or what a model that does not tell it seems to have decided."""
        if candidate.outcome not in (None, Outcome.ANSWER):
            return candidate.outcome
        if candidate.function_calls:
            changes = any(self._may_change(call) for call in candidate.function_calls)
            return Outcome.ACT if changes else Outcome.QUERY
        return Outcome.ASK if candidate.text.rstrip().endswith("?") else Outcome.DECLINE

    def _may_change(self, call: FunctionCallPart) -> bool:
        declaration = self._by_name.get(call.name)
        return declaration is not None and not declaration.read_only

    def _key(self, call: FunctionCallPart) -> Hashable:
        return call_key(call.name, call.arguments, self._by_name.get(call.name), self._house)

    def _due_key(self, call: FunctionCallPart) -> Hashable:
        """An expected "here", or no place at all, is the requester's room too."""
        arguments = call.arguments
        if declaration := self._by_name.get(call.name):
            arguments = fill_places(declaration, arguments, self._case.room, self._earlier) or arguments
        return self._key(FunctionCallPart("", call.name, arguments))


# Counting


@dataclass(frozen=True)
class Figures:
    """Shares of some cases, 0 to 1."""

    results: tuple[Result, ...]

    @cached_property
    def exact(self) -> float:
        """All calls right, and the answer where one is expected."""
        return self._share(result.exact for result in self.results)

    @cached_property
    def function(self) -> float:
        """The functions right; none called where none was due."""
        return self._share(result.functions_right for result in self.results)

    @cached_property
    def arguments(self) -> float | None:
        """The arguments right, of the cases with calls due whose functions are right; None without such."""
        judged = [each for each in self.results if each.functions_right and any(step.due for step in each.steps)]
        return self._share(result.calls_right for result in judged) if judged else None

    @cached_property
    def wrongful(self) -> float:
        """A function that is not read-only was called, of the cases in which none was due."""
        return self._share(result.wrongful for result in self.results if result.none_due)

    @cached_property
    def asked(self) -> float:
        """The model asked."""
        return self._share(result.outcome is Outcome.ASK for result in self.results)

    @cached_property
    def declined(self) -> float:
        """The model said that it cannot."""
        return self._share(result.outcome is Outcome.DECLINE for result in self.results)

    def to_json(self) -> dict[str, float | None]:
        """As `--json` prints them."""
        return {
            "exact": self.exact,
            "function": self.function,
            "arguments": self.arguments,
            "wrongful": self.wrongful,
        }

    @staticmethod
    def _share(hits: Iterable[bool]) -> float:
        counted = list(hits)
        return sum(counted) / len(counted) if counted else 0.0


def by_category(results: Iterable[Result]) -> dict[str, Figures]:
    """The figures of each category, in the order in which they come up."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.case.category is not None:
            groups.setdefault(result.case.category, []).append(result)
    return {category: Figures(tuple(group)) for category, group in groups.items()}


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest of at least one value that so many percent of them do not pass."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """The figures and each case, as `--json` prints them."""
    times = [result.ms for result in results]
    categories = by_category(results).items()
    return {
        **Figures(tuple(results)).to_json(),
        "by_category": {name: {"cases": len(each.results), **each.to_json()} for name, each in categories},
        "p50_ms": round(percentile(times, 50), 3),
        "p95_ms": round(percentile(times, 95), 3),
        "cases": [result.to_json() for result in results],
    }


_COLUMNS: Final = ("cases", "exact", "function", "arguments", "wrongful", "asked", "declined")


def as_text(results: Sequence[Result]) -> str:
    """The figures as a table for a person."""
    rows = {"all": Figures(tuple(results)), **by_category(results)}
    width = max(len(name) for name in rows)
    lines = [" ".join([" " * width, *(f"{column:>9}" for column in _COLUMNS)])]
    for name, each in rows.items():
        shares = (getattr(each, column) for column in _COLUMNS[1:])
        cells = [str(len(each.results)), *("-" if share is None else f"{share:.1%}" for share in shares)]
        lines.append(" ".join([f"{name:<{width}}", *(f"{cell:>9}" for cell in cells)]))
    times = [result.ms for result in results]
    lines += [
        "",
        "function: the functions right; arguments: of those, theirs right; wrongful: a function that is not",
        "read-only called, of the cases where none was due",
        f"p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms",
    ]
    return "\n".join(lines)


# The command


def main(args: argparse.Namespace) -> int:
    """Runs `hearth eval`.

    Args:
        args: `cases`, `tools`, `home` (paths, the last two or None) and `json`.

    Returns:
        0 for done, 2 for a file that cannot be used; what is wrong with it is on stderr.

    Raises:
        AgentError: NOT_AVAILABLE, there is no usable model; INVALID_REQUEST, a declaration passes a limit of it.
    """
    wrong: list[str] = []
    cases: list[Case] = []
    tools: tuple[FunctionDeclaration, ...] | None = None
    try:
        tools = read_tools(args.tools) if args.tools else None
    except MalformedError as error:
        wrong.append(str(error))
    try:
        cases = read_cases(args.cases)
    except MalformedError as error:
        wrong.append(str(error))
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return BAD_USAGE
    try:
        results = asyncio.run(_evaluate(cases, tools, args.home))
    except (SettingsError, DeclarationError) as error:
        print(error, file=sys.stderr)
        return BAD_USAGE
    print(json.dumps(as_json(results), ensure_ascii=False, indent=2) if args.json else as_text(results))
    return DONE


async def _evaluate(
    cases: Sequence[Case], tools: tuple[FunctionDeclaration, ...] | None, home: Path | None
) -> list[Result]:
    async with AsyncExitStack() as stack:
        settings = read_settings(home or EXAMPLE_SETTINGS) if home or tools is None else None
        house: House | None = None
        if settings:
            house = await _open_house(settings, stack)
            tools = _declared(settings, house) if tools is None else tools
        given = settings if home else None
        model = await asyncio.to_thread(load_model, given.model if given else ModelConfig())
        stack.push_async_callback(model.close)
        instructions = given.instructions or None if given else None
        # As in a service that runs: the declarations are read before anything is timed.
        await model.generate_content(GenerateContentRequest((Content.user("hello"),), tools or ()))
        return await evaluate(
            cases,
            model,
            tools or (),
            house=house if home else None,
            instructions=instructions,
            warn=lambda sentence: print(sentence, file=sys.stderr),
        )


async def _open_house(settings: Settings, stack: AsyncExitStack) -> House:
    try:
        package = importlib.import_module(settings.house)
        house: House = await stack.enter_async_context(package.open_house(settings.house_table, None))
    except SettingsError as error:
        raise SettingsError(f"{settings.path}: {error}") from error
    except ModuleNotFoundError as error:
        if error.name != settings.house:
            raise
        raise SettingsError(f"{settings.path}: there is no house package {settings.house!r}") from error
    return house


def _declared(settings: Settings, house: House) -> tuple[FunctionDeclaration, ...]:
    own = load_folder(settings.tools_folder) if settings.tools_folder else ()
    agent = Agent(settings.node, tools=(*house.tools, *own))
    return tuple(tool.declaration for tool in agent.all_tools)
