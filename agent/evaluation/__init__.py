"""Measuring a model on cases: what it would call, and how often that is right. Nothing is executed."""

from agent.evaluation.asking import Result, StepResult, evaluate
from agent.evaluation.cases import Case, MalformedError, Step, read_cases, read_tools
from agent.evaluation.equality import call_key
from agent.evaluation.figures import Figures, as_json, as_text, by_category

__all__ = [
    "Case",
    "Figures",
    "MalformedError",
    "Result",
    "Step",
    "StepResult",
    "as_json",
    "as_text",
    "by_category",
    "call_key",
    "evaluate",
    "read_cases",
    "read_tools",
]
