"""Asking the model, case by case, and judging what it would call. Nothing is executed."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.errors import AgentError, ErrorCode
from agent.evaluation.cases import Case, Step
from agent.evaluation.equality import call_key
from agent.grounding import fill_places, spoken_places, which
from agent.house import House
from agent.model.generative import Candidate, GenerateContentRequest, GenerativeModel, Outcome
from agent.requester import asked_in
from agent.schema import FunctionDeclaration

WORDS: Final = (Outcome.ASK, Outcome.DECLINE, Outcome.ANSWER)
"""Outcomes with which nothing is called."""


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
        steps: As far as it went: a run ends at the first step that is not right, or else with its answer,
            which is a step more where the case's last one has calls.
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
    results = []
    for case in cases:
        in_force = tuple(tools) if case.tools is None else case.tools
        results.append(await _Asking(case, model, in_force, house, instructions, warn).run())
    return results


@dataclass
class _Asking:
    """One case while it is asked."""

    case: Case
    model: GenerativeModel
    tools: tuple[FunctionDeclaration, ...]
    house: House | None
    instructions: str | None
    warn: Callable[[str], None]

    def __post_init__(self) -> None:
        self.by_name = {each.name: each for each in self.tools}
        self.contents = [*self.case.history, Content.user(self.case.text)]
        self.earlier: list[str] = []
        self.ms = 0.0

    async def run(self) -> Result:
        self._check_due()
        due = list(self.case.steps)
        if self.case.run and due[-1].calls:
            due.append(Step(()))  # and then an answer
        results: list[StepResult] = []
        candidates: list[Candidate] = []
        for step in due:
            candidate = self._grounded(await self._ask())
            candidates.append(candidate)
            results.append(self._judged(step, candidate.function_calls))
            if step is due[-1] or not results[-1].exact:
                break
            self._feed_back(step, candidate.function_calls)
        sure = [each.confidence for each in candidates if each.confidence is not None]
        return Result(
            self.case,
            tuple(results),
            self._outcome(candidates[0]),
            min(sure, default=None),
            self.ms,
            "" if candidates[-1].function_calls else candidates[-1].text,
        )

    def _check_due(self) -> None:
        """A misspelt expectation would otherwise be seen as the model's mistake."""
        for call in (call for step in self.case.steps for call in step.calls):
            declaration = self.by_name.get(call.name)
            if declaration is None:
                names = ", ".join(self.by_name) or "none"
                self.warn(f"{self.case.where}: there is no function {call.name}; there are {names}")
                continue
            for name in call.arguments:
                if name not in declaration.parameters.properties:
                    self.warn(f"{self.case.where}: {call.name} has no parameter {name}")

    async def _ask(self) -> Candidate:
        request = GenerateContentRequest(tuple(self.contents), self.tools, self.instructions)
        started = time.perf_counter()
        try:
            return (await self.model.generate_content(request)).candidates[0]
        except AgentError as error:
            if error.code is not ErrorCode.INVALID_REQUEST:
                raise
            self.warn(f"{self.case.where}: {error.code.name}: {error.message}")
            return Candidate(Content.model(error.message), Outcome.DECLINE)
        finally:
            self.ms += (time.perf_counter() - started) * 1e3

    def _grounded(self, candidate: Candidate) -> Candidate:
        """What the loop would make of it: calls only where it would make them, with places filled in."""
        if candidate.outcome in WORDS or not candidate.function_calls:
            return replace(candidate, content=Content.model(candidate.text))
        calls: dict[Hashable, FunctionCallPart] = {}
        earlier = list(self.earlier)
        for call in candidate.function_calls:
            arguments = call.arguments
            if declaration := self.by_name.get(call.name):
                filled = fill_places(declaration, arguments, self.case.room, earlier)
                if filled is None:
                    return replace(candidate, content=Content.model(which(declaration)), outcome=Outcome.ASK)
                earlier += spoken_places(declaration, filled)
                arguments = filled
            grounded = FunctionCallPart(f"{len(self.contents)}-{len(calls)}", call.name, arguments)
            calls.setdefault(self._key(grounded), grounded)
        return replace(candidate, content=Content(Role.MODEL, tuple(calls.values())))

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
        given = dict(zip(map(self._due_key, step.calls), step.responses, strict=True))
        answered = [FunctionResponsePart(call.id, call.name, given[self._key(call)]) for call in called]
        self.contents += [Content(Role.MODEL, called), Content(Role.USER, tuple(answered))]
        for call, response in zip(called, answered, strict=True):
            declaration = self.by_name.get(call.name)
            if declaration and "error" not in response.response:
                self.earlier += spoken_places(declaration, call.arguments)

    def _outcome(self, candidate: Candidate) -> Outcome:
        """The decision, or what a model that does not tell it seems to have decided."""
        if candidate.outcome not in (None, Outcome.ANSWER):
            return candidate.outcome
        if candidate.function_calls:
            changes = any(self._may_change(call) for call in candidate.function_calls)
            return Outcome.ACT if changes else Outcome.QUERY
        return Outcome.ASK if candidate.text.rstrip().endswith("?") else Outcome.DECLINE

    def _may_change(self, call: FunctionCallPart) -> bool:
        declaration = self.by_name.get(call.name)
        return declaration is not None and not declaration.read_only

    def _key(self, call: FunctionCallPart) -> Hashable:
        with asked_in(self.case.room):
            return call_key(call.name, call.arguments, self.by_name.get(call.name), self.house)

    def _due_key(self, call: FunctionCallPart) -> Hashable:
        """An expected "here", or no place at all, is the requester's room too."""
        arguments = call.arguments
        if declaration := self.by_name.get(call.name):
            arguments = fill_places(declaration, arguments, self.case.room, self.earlier) or arguments
        return self._key(replace(call, arguments=arguments))
