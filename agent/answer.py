"""Results put into words: every name and number in an answer comes from a result.

A tool's `say` makes the sentence; a tool without one gets a plain rendering of the
fields of its result.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.capping import CUT
from agent.content import Content, FunctionCallPart, FunctionResponsePart
from agent.names import spoken_name
from agent.schema import FunctionDeclaration
from agent.tool import CANCELLED_BY_USER

log = logging.getLogger(__name__)

LEFT_AS_IT_IS = "Okay, I left it as it is."
"""What is said to a person who said no."""


@dataclass(frozen=True)
class Result:
    """A call that was made, what came of it, and what was called; None where there is no such tool."""

    call: FunctionCallPart
    response: FunctionResponsePart
    declaration: FunctionDeclaration | None

    @property
    def failed(self) -> bool:
        """It is answered with an error, so asking once more can make sense."""
        return "error" in self.response.response

    @property
    def cancelled(self) -> bool:
        """A person said no, or did not say yes in time."""
        return self.response.response.get("status") == CANCELLED_BY_USER

    @property
    def succeeded(self) -> bool:
        """The tool did what it was called for."""
        return not self.failed and not self.cancelled


def results_of(turn: Sequence[Content], tools: Sequence[FunctionDeclaration]) -> list[Result]:
    """The calls of a turn, which begins with the user's words, with their responses."""
    declarations = {each.name: each for each in tools}
    calls = {call.id: call for content in turn for call in content.calls}
    return [
        Result(calls.get(each.id) or FunctionCallPart(each.id, each.name, {}), each, declarations.get(each.name))
        for content in turn
        for each in content.responses
    ]


def compose(results: Sequence[Result]) -> list[str]:
    """One clause for each result, in order; the same clause is not said twice in a row."""
    clauses: list[str] = []
    for result in results:
        clause = _clause(result)
        if CUT in result.response.response:
            clause = f"{clause} {_sentence(str(result.response.response[CUT]))}"
        if not clauses or clauses[-1] != clause:
            clauses.append(clause)
    return clauses


def _clause(result: Result) -> str:
    call, response, declaration = result.call, result.response.response, result.declaration
    if result.failed:
        return _sentence(str(response["error"]))
    if result.cancelled:
        return LEFT_AS_IT_IS
    if declaration is not None and declaration.say is not None:
        try:
            if callable(declaration.say):
                return _sentence(declaration.say(call.arguments, response))
            return _sentence(declaration.say.format_map({**call.arguments, **response}))
        except Exception:
            # A result that its own sentence does not fit is still told, plainly.
            log.exception("%s: its say does not fit its result", call.name)
    fields = {name: value for name, value in response.items() if name != CUT}
    return _sentence(f"{spoken_name(call.name)}: {_plain(fields)}")


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        if set(value) == {"result"} or set(value) == {"status"}:
            return _plain(next(iter(value.values())))
        return ", ".join(f"{spoken_name(str(key))} {_plain(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(each) for each in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) or not text else text + "."
