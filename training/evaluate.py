"""The figures of the shipped model, in one table: `python -m training.evaluate [DATA]`.

DATA is a folder with the public sets, which are not part of the repository; `docs/eval.md` says where each comes
from. What is absent is said by name. The recipe's own suites and held-apart text are asked in any case. Judged is
as in `hearth eval`: by the devices that a call would move, and by its other arguments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from agent.config import EXAMPLE_SETTINGS, read_settings
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.errors import AgentError, ArgumentError
from agent.evaluation import Case, Figures, MalformedError, Result, Step, as_json, evaluate, read_cases
from agent.model.generative import (
    GenerateContentRequest,
    GenerateContentResponse,
    GenerativeModel,
    ModelConfig,
    Outcome,
    load_model,
)
from agent.schema import FunctionDeclaration
from tools.colors import parse_color
from tools.house import declarations, open_house
from tools.names.words import fold
from tools.times import parse_duration
from training.sets import Mapped, Placed, clinc, home_assistant, home_llm, snips, thingpedia

SPLIT: Final = "test"
"""The patterns that the model has not seen."""

SUITES: Final = Path(__file__).parent / "suites"
GROUP: Final = 40  # examples that share their declarations
PATTERNS, UNSEEN = 1500, 600  # examples that are drawn
SEED: Final = 2025

Kind = Literal["exact", "function", "nothing called"]


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Attributes:
        name: What is measured.
        kind: Which share of the cases is the figure.
        read: Its cases.
        aim: The least that the figure is to be; None is for information.
        most_wrongful: The most that the wrongful may be.
        file: Its file in DATA; None is the recipe's own.
    """

    name: str
    kind: Kind
    read: Callable[[Path], Mapped | list[Drawn]]
    aim: float | None = None
    most_wrongful: float | None = None
    file: Path | None = None


@dataclass(frozen=True)
class Drawn:
    """An example of the recipe as a case; after its words come the calls and results of the turn so far."""

    case: Case
    so_far: tuple[Content, ...] = ()


@dataclass
class Judged:
    """What became of a row."""

    row: Row
    results: list[Result]
    right: list[bool]
    left: Counter[str] = field(default_factory=Counter)
    functions: dict[int, frozenset[str]] = field(default_factory=dict)

    @property
    def figure(self) -> float:
        """The share of the cases that are right."""
        return sum(self.right) / max(1, len(self.right))

    @property
    def wrongful(self) -> float | None:
        """As `Figures` has it; None where something that changes the home is due in every case."""
        return Figures(tuple(self.results)).wrongful if any(each.none_due for each in self.results) else None

    @property
    def met(self) -> bool | None:
        """Whether the aim is reached; None without one."""
        if self.row.aim is None:
            return None
        most = self.row.most_wrongful
        return self.figure >= self.row.aim and (most is None or (self.wrongful or 0.0) <= most)


# What is measured


def rows(data: Path | None) -> list[Row]:
    """All rows of the table, those of absent files too."""
    folder = Path("(no DATA)") if data is None else data
    suites = {path.stem: path for path in sorted(SUITES.glob("*.jsonl"))}
    named = {**{name: SUITES / f"{name}.jsonl" for name in _AIMS}, **suites}
    return [
        Row(f"test split ({SPLIT} patterns)", "exact", lambda _: _drawn(heldout=False), 0.97),
        Row("held-out domains", "exact", lambda _: _drawn(heldout=True), 0.85),
        Row("Home Assistant intents", "exact", home_assistant.intents, 0.97, file=folder / home_assistant.FILE),
        Row("Thingpedia plain commands", "exact", thingpedia.plain, 0.90, file=folder / thingpedia.FILE),
        Row("CLINC150 home, weather, timer, clock", "function", clinc.counted, 0.95, file=folder / clinc.FILE),
        Row("CLINC150 out of scope", "nothing called", clinc.out_of_scope, 0.97, 0.01, folder / clinc.FILE),
        Row("Snips other domains", "nothing called", snips.other_domains, 0.97, 0.01, folder / snips.FILE),
        *(
            Row(f"suite: {name}", "exact", _suite, aim, most, path)
            for name, path in named.items()
            for aim, most in [_AIMS.get(name, (None, None))]
        ),
        Row(
            "CLINC150 home ..., no function",
            "nothing called",
            clinc.without_function,
            file=folder / clinc.FILE,
        ),
        Row("CLINC150 other intents", "function", clinc.others, file=folder / clinc.FILE),
        Row("home-llm services", "function", home_llm.services, file=folder / home_llm.FILE),
    ]


_AIMS: Final[dict[str, tuple[float, float | None]]] = {
    "careful": (0.95, 0.01),
    "several": (0.90, None),
    "followups": (0.90, None),
    "chains": (0.85, None),
    "recovery": (0.85, None),
    "truthful": (1.00, None),
    "spelling": (0.90, None),
}
"""What each suite of the recipe is to reach, and its most wrongful."""


def _suite(path: Path) -> Mapped:
    return Mapped([Placed(case) for case in read_cases(path)])


def _drawn(heldout: bool) -> list[Drawn]:
    """Examples of the patterns kept apart, or of the functions that are never trained on."""
    # Late: reading the corpus takes its time, and needs the YAML reader of the recipe.
    from training.corpus import Corpus, read_corpus
    from training.generate import Generator

    corpus = read_corpus()
    if heldout:
        generator, count = Generator(Corpus(others=corpus.heldout), SEED, split=None), UNSEEN
    else:
        generator, count = Generator(corpus, SEED, split=SPLIT), PATTERNS
    drawn: list[Drawn] = []
    seen: set[Any] = set()
    while len(drawn) < count:
        group = generator.group(GROUP)
        tools = tuple(tool.declaration for tool in group.tools)
        # Where only the function is told, there is nothing to compare.
        fresh = [example for example in group.examples if example.values_known and example.segments not in seen]
        seen.update(example.segments for example in fresh)
        drawn += [as_drawn(example, tools) for example in fresh]
    return drawn[:count]


def as_drawn(example: Any, tools: tuple[FunctionDeclaration, ...]) -> Drawn:
    """An example of the generator as a case."""
    from agent.model.grammar import Unfit
    from agent.model.prompt import SegmentRole

    now, *others = example.segments
    history = [
        Content.user(each.text) if each.role is SegmentRole.USER else Content.model(each.text)
        for each in reversed(others)
        if each.role in (SegmentRole.USER, SegmentRole.MODEL)
    ]
    so_far = []
    for each in others:
        # Rendered again, a part without a field's name has the same words.
        name, _, values = each.text.partition(": ")
        if each.role is SegmentRole.CALL:
            so_far.append(Content(Role.MODEL, (FunctionCallPart("", name, {"": values}),)))
        elif each.role is SegmentRole.RESULT:
            so_far.append(Content(Role.USER, (FunctionResponsePart("", name, {"": values}),)))
    by_name = {each.name: each for each in tools}
    calls = tuple(
        FunctionCallPart("", each.name, _arguments(each, by_name[each.name], example)) for each in example.calls
    )
    # A value that the function does not take is asked about, as is what the author had the agent ask.
    if example.outcome is Outcome.ASK or any(
        isinstance(value, Unfit) for call in calls for value in _leaves(call.arguments)
    ):
        calls = ()
    # The loop asks for a place that it does not know; where a call is due without one, it knows the room.
    room = None if example.outcome is Outcome.ASK else "study"
    case = Case("", now.text, (Step(calls),), category=example.category, room=room, history=tuple(history), tools=tools)
    return Drawn(case, tuple(so_far))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def _arguments(labelled: Any, declaration: FunctionDeclaration, example: Any) -> dict[str, Any]:
    from agent.model.prompt import leaves_of
    from training.generate import values_of

    arguments: dict[str, Any] = {}
    for leaf in leaves_of(declaration):
        values = values_of(example, labelled, leaf)
        if values:
            *parents, last = leaf.path
            at = arguments
            for parent in parents:
                at = at.setdefault(parent, {})
            at[last] = values if leaf.repeated else values[0]
    return arguments


# The meaning of what a call is given


def in_meaning(call: FunctionCallPart) -> FunctionCallPart:
    """The call with its lengths of time, colours, timers and lists as the house reads them.

    A set's label has a number of seconds where the person said "half an hour". What the house cannot read stays as
    it is, and is then not the same.
    """
    arguments = {name: value for name, value in call.arguments.items() if value is not None}
    for name, read in _READ.items():
        if isinstance(said := arguments.get(name), str):
            try:
                arguments[name] = read(said)
            except ArgumentError:
                arguments[name] = said.strip(" .,!?")
    if call.name.endswith("_timer") or call.name == "get_timers":
        arguments = {name: value for name, value in arguments.items() if value != ""}
    if call.name in ("add_to_list", "remove_from_list", "complete_list_item", "get_list"):
        arguments["list"] = arguments.get("list") or "shopping"
    if str(arguments.get("location")).casefold() in ("home", "at home", "here", "outside", ""):
        arguments.pop("location", None)
    if call.name == "list_devices" and arguments.get("state") in ("locked", "unlocked"):
        arguments["kind"] = "lock"  # what is locked is a lock, whichever way it is spoken of
    return replace(call, arguments=arguments)


def _seconds(said: str) -> str:
    return f"{parse_duration(said)} seconds"


def _color(said: str) -> str:
    color = parse_color(said)
    return color.name if color.kelvin is None else f"{color.kelvin} kelvin"


def _timer(said: str) -> str:
    beside = {"timer", "timers", "the", "my", "of", "in", "named", "called", "for", "a", "an"}
    kept = " ".join(word for word in fold(said) if word not in beside)
    try:
        return _seconds(kept) if kept else ""
    except ArgumentError:
        return kept


def _list(said: str) -> str:
    beside = {"list", "the", "my", "our"}
    return "".join(word for word in fold(said) if word not in beside)


def _plain(said: str) -> str:
    return said.strip(" .,!?")


_READ: Final[dict[str, Callable[[str], str]]] = {
    "duration": _seconds,
    "delay": _seconds,
    "color": _color,
    "timer": _timer,
    "list": _list,
    "location": _plain,
    "query": _plain,
    "item": _plain,
    "message": _plain,
    "name": _timer,
}


class InMeaning:
    """A model whose calls are told in their meaning; with the calls and results of a turn so far, if there are any."""

    def __init__(self, model: GenerativeModel, so_far: Sequence[Content] = (), plain: bool = False) -> None:
        self._model = model
        self._so_far = tuple(so_far)
        self._plain = plain

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """Asks the model."""
        response = await self._model.generate_content(replace(request, contents=(*request.contents, *self._so_far)))
        if self._plain:
            return response
        candidates = tuple(
            replace(each, content=replace(each.content, parts=tuple(map(_part_in_meaning, each.content.parts))))
            for each in response.candidates
        )
        return GenerateContentResponse(candidates)

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """In one piece: nothing here needs more."""
        yield await self.generate_content(request)

    async def close(self) -> None:
        """The model is closed by whoever opened it."""


def _part_in_meaning(part: Any) -> Any:
    return in_meaning(part) if isinstance(part, FunctionCallPart) else part


def _case_in_meaning(case: Case) -> Case:
    return replace(case, steps=tuple(replace(step, calls=tuple(map(in_meaning, step.calls))) for step in case.steps))


def _unchanged(case: Case) -> Case:
    return case


# Asking and judging


async def judge(row: Row, model: GenerativeModel) -> Judged:
    """Asks all cases of a row."""
    read = row.read(row.file or Path())
    if isinstance(read, Mapped):
        return await _judge_placed(row, read, model)
    results = []
    for drawn in read:
        results += await evaluate([drawn.case], InMeaning(model, drawn.so_far, plain=True), ())
    return Judged(row, results, [each.exact for each in results])


async def _judge_placed(row: Row, mapped: Mapped, model: GenerativeModel) -> Judged:
    """Home by home, as what a call is about depends on it."""
    groups: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    for index, placed in enumerate(mapped.placed):
        groups[json.dumps(placed.home, sort_keys=True), placed.case.run].append(index)
    results: dict[int, Result] = {}
    tools = declarations()
    for (_, run), indices in groups.items():
        # The calls of a run are handed back to the model, which is to see its own words.
        asked = model if run else InMeaning(model)
        prepared = _unchanged if run else _case_in_meaning
        async with _open(mapped.placed[indices[0]].home) as house:
            cases = [prepared(mapped.placed[index].case) for index in indices]
            results |= zip(indices, await evaluate(cases, asked, tools, house=house, warn=_warn), strict=True)
            for index in indices:
                for other in () if results[index].exact else mapped.placed[index].also:
                    (result,) = await evaluate([prepared(other)], asked, tools, house=house, warn=_warn)
                    if result.exact:
                        results[index] = result
                        break
    ordered = [results[index] for index in range(len(mapped.placed))]
    functions = {index: each.functions for index, each in enumerate(mapped.placed) if each.functions is not None}
    right = [
        _function_right(result, functions[index]) if index in functions else result.exact
        for index, result in enumerate(ordered)
    ]
    return Judged(row, ordered, right, mapped.left, functions)


def _function_right(result: Result, functions: frozenset[str]) -> bool:
    """Something was called, and nothing but what is right; or nothing, where nothing is."""
    called = {call.name for step in result.steps for call in step.called}
    return called <= functions and bool(called) == bool(functions)


@asynccontextmanager
async def _open(home: Mapping[str, Any] | None) -> AsyncIterator[Any]:
    table = read_settings(EXAMPLE_SETTINGS).house_table if home is None else home
    async with open_house(table) as house:
        yield house


def _warn(sentence: str) -> None:
    print(sentence, file=sys.stderr)


# Showing it


def as_table(judged: Sequence[Judged], absent: Sequence[Row]) -> str:
    """The table for a person: what was measured, what is left out of it and why, and what is absent."""
    width = max([len(each.row.name) for each in judged] + [len("set")])
    cells = ("cases", "figure kind", "figure", "wrongful", "aim", "reached")
    table = [f"{'set':<{width}} {cells[0]:>6}  {cells[1]:<14} {cells[2]:>7} {cells[3]:>9}  {cells[4]:<16} {cells[5]}"]
    for each in judged:
        met = {True: "yes", False: "no", None: ""}[each.met]
        table.append(
            f"{each.row.name:<{width}} {len(each.results):>6}  {each.row.kind:<14} {each.figure:>7.1%}"
            f" {_share(each.wrongful):>9}  {_aim(each.row):<16} {met}".rstrip()
        )
    for each in judged:
        if each.left:
            total = sum(each.left.values())
            reasons = "; ".join(f"{count} {reason}" for reason, count in each.left.most_common())
            table += ["", f"{each.row.name}: {len(each.results)} counted, {total} not: {reasons}"]
    if absent:
        table += ["", *(f"absent: {row.name} ({row.file.name if row.file else ''})" for row in absent)]
    return "\n".join(table)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _aim(row: Row) -> str:
    if row.aim is None:
        return "for information"
    most = "" if row.most_wrongful is None else f", {row.most_wrongful:.0%}"
    return f"{row.aim:.0%}{most}"


def as_data(judged: Sequence[Judged], absent: Sequence[Row]) -> dict[str, Any]:
    """The table for a program, with the figures of each category."""
    return {
        "rows": [
            {
                "set": each.row.name,
                "cases": len(each.results),
                "kind": each.row.kind,
                "figure": each.figure,
                "wrongful": each.wrongful,
                "aim": each.row.aim,
                "most_wrongful": each.row.most_wrongful,
                "reached": each.met,
                "left_out": dict(each.left),
                "by_category": _categories(each),
            }
            for each in judged
        ],
        "absent": [row.name for row in absent],
    }


def _categories(judged: Judged) -> dict[str, dict[str, float]]:
    """For each category its cases, and the share of them that are right."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for result, is_right in zip(judged.results, judged.right, strict=True):
        right[result.case.category or ""].append(is_right)
    return {name: {"cases": len(each), "figure": sum(each) / len(each)} for name, each in right.items()}


def failures(judged: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Each wrong case, with what was due and what was called."""
    for each in judged:
        if not each.results:
            continue
        for index, (result, told) in enumerate(zip(each.results, as_json(each.results)["cases"], strict=True)):
            if not each.right[index]:
                also = {"functions": sorted(each.functions[index])} if index in each.functions else {}
                where = {"where": result.case.where, "category": result.case.category, "room": result.case.room}
                yield {"set": each.row.name, **told, **also, **where}


# The command


async def measure(data: Path | None, only: str = "") -> tuple[list[Judged], list[Row]]:
    """Asks the shipped model about everything that is there.

    Args:
        data: The folder of the public sets.
        only: A part of a name; rows without it are passed over.

    Raises:
        AgentError: There is no usable model.
        MalformedError: A suite cannot be read.
    """
    model = await asyncio.to_thread(load_model, ModelConfig())
    judged: list[Judged] = []
    absent: list[Row] = []
    for row in rows(data):
        if only.casefold() not in row.name.casefold():
            continue
        if row.file is not None and not row.file.is_file():
            absent.append(row)
            continue
        started = time.monotonic()
        result = await judge(row, model)
        judged.append(result)
        took = time.monotonic() - started
        print(f"{row.name}: {len(result.results)} cases, {took:.0f} s", file=sys.stderr)
    await model.close()
    return judged, absent


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it; 0 for done, 1 without a model, 2 for a file that cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("data", nargs="?", type=Path, metavar="DATA", help="the folder of the public sets")
    parser.add_argument("--only", default="", metavar="PART", help="only sets with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON, too")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="write each wrong case, one a line")
    args = parser.parse_args(arguments)
    try:
        judged, absent = asyncio.run(measure(args.data, args.only))
    except AgentError as error:
        print(error.message, file=sys.stderr)
        return 1
    except (MalformedError, json.JSONDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    if args.json:
        args.json.write_text(json.dumps(as_data(judged, absent), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    if args.failures:
        written = (json.dumps(each, ensure_ascii=False) + "\n" for each in failures(judged))
        args.failures.write_text("".join(written), encoding="utf-8")
    print(as_table(judged, absent))
    return 0


if __name__ == "__main__":
    sys.exit(main())
