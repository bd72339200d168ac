"""The few sentences our small model says by itself: questions and refusals.

It decides and does not write prose; these are put together in code from the
declaration and from what was heard.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.model.decode import Decision
from agent.model.generative import Outcome
from agent.model.grammar import Unfit
from agent.names import spoken_name
from agent.schema import FunctionSchema

CANNOT = "I can't do that."
UNCLEAR = "I didn't quite get that. What would you like me to do?"
UNSURE = "I'm not sure what you mean. Could you say it another way?"


def words_for(decision: Decision) -> str:
    """What is said for an ask or a decline."""
    if decision.outcome is Outcome.DECLINE:
        return CANNOT
    if decision.unfit:
        return questions(decision.unfit)
    return UNCLEAR


def questions(unfit: Sequence[Unfit]) -> str:
    """What is asked about values that are missing or do not fit."""
    return " ".join(dict.fromkeys(_question(each) for each in unfit))


def _question(unfit: Unfit) -> str:
    name = spoken_name(unfit.leaf.path[-1])
    schema = unfit.leaf.schema
    if not unfit.heard:
        if unfit.leaf.members:
            return f"Which {name}? It can be {_listed([spoken_name(str(each)) for each in unfit.leaf.members])}."
        return f"Which {name}?"
    if unfit.value is None:
        return f"I heard {unfit.heard} for the {name}, which is no number. What should it be?"
    return f"The {name} {_allowed(unfit.value, schema)}, and I heard {unfit.value:g}. What should it be?"


def _allowed(value: float, schema: FunctionSchema) -> str:
    low, high = schema.minimum, schema.maximum
    if low is not None and high is not None and not low <= value <= high:
        return f"goes from {low:g} to {high:g}"
    if low is not None and value < low:
        return f"is at least {low:g}"
    if high is not None and value > high:
        return f"is at most {high:g}"
    return "is a whole number"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
