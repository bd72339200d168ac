"""Results put into words."""

from __future__ import annotations

from typing import Any

from agent.answer import Result, compose
from agent.content import FunctionCallPart, FunctionResponsePart
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType, Say


def clauses(response: dict[str, Any], say: Say | None = None, **arguments: Any) -> list[str]:
    """What is said for one call."""
    declaration = FunctionDeclaration("get_level", "A level.", FunctionSchema(FunctionType.OBJECT), say=say)
    call = FunctionCallPart("1", "get_level", arguments)
    return compose([Result(call, FunctionResponsePart("1", "get_level", response), declaration)])


def test_a_template_is_filled_from_the_result_before_the_arguments() -> None:
    """Where both know a name, the result is the truth."""
    assert clauses({"level": 40}, "{room} is at {level}", room="hall", level=99) == ["Hall is at 40."]


def test_a_function_may_put_it_into_words() -> None:
    """`say` may be code."""
    assert clauses({"level": 1}, lambda arguments, response: f"level {response['level']}") == ["Level 1."]


def test_a_template_that_does_not_fit_is_told_plainly() -> None:
    """A missing field is no reason to be silent."""
    assert clauses({"level": 40}, "{missing}") == ["Get level: level 40."]


def test_an_error_is_said_as_it_is() -> None:
    """The tool's own sentence."""
    assert clauses({"error": "the hall lamp did not answer"}) == ["The hall lamp did not answer."]


def test_a_refused_confirmation_is_told_as_left_alone() -> None:
    """Nothing is called done."""
    assert clauses({"status": "CANCELLED_BY_USER"}, "Opened.") == ["Okay, I left it as it is."]


def test_without_say_fields_are_rendered() -> None:
    """A tool declared as data has no sentence of its own."""
    assert clauses({"openWindows": ["hall", "loft"], "any": True}) == ["Get level: open windows hall, loft, any yes."]


def test_the_same_clause_is_not_said_twice_in_a_row() -> None:
    """Two equal results are one sentence."""
    call, response = FunctionCallPart("1", "go", {}), FunctionResponsePart("1", "go", {"status": "ok"})

    assert compose([Result(call, response, None), Result(call, response, None)]) == ["Go: ok."]
