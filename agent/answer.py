"""Results put into words: every name and number in an answer comes from a result.

A tool's `say` makes the sentence; a tool without one gets a plain rendering of the
fields of its result.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from agent.content import FunctionCallPart, FunctionResponsePart
from agent.model.prompt import spoken_name
from agent.schema import FunctionDeclaration

log = logging.getLogger(__name__)

Result = tuple[FunctionCallPart, FunctionResponsePart, FunctionDeclaration | None]


def compose(results: Sequence[Result]) -> list[str]:
    """One clause for each result, in order; the same clause is not said twice in a row.

    Args:
        results: Calls with their responses and, where known, the declarations called.
    """
    clauses: list[str] = []
    for call, response, declaration in results:
        clause = _clause(call, response.response, declaration)
        if not clauses or clauses[-1] != clause:
            clauses.append(clause)
    return clauses


def _clause(call: FunctionCallPart, response: Mapping[str, Any], declaration: FunctionDeclaration | None) -> str:
    if "error" in response:
        return _sentence(str(response["error"]))
    if response.get("status") == "CANCELLED_BY_USER":
        return "Okay, I left it as it is."
    if declaration is not None and declaration.say is not None:
        try:
            if callable(declaration.say):
                return _sentence(declaration.say(call.arguments, response))
            return _sentence(declaration.say.format_map({**call.arguments, **response}))
        except Exception:
            # A result that its own sentence does not fit is still told, plainly.
            log.exception("%s: its say does not fit its result", call.name)
    return _sentence(f"{spoken_name(call.name)}: {_plain(response)}")


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
