"""The parts of a command's work, each between two marks, for tests/arm/figures.py: `python -m tests.arm.work`.

Loading, then every graph of the model once, in the order of their names, then each sentence as a whole.
"""

from __future__ import annotations

import asyncio
import os

from agent.content import Content
from agent.model.generative import GenerateContentRequest
from agent.model.tflite import TfliteModel
from agent.schema import FunctionDeclaration
from tools.house import declarations

MARK = 0x48454152
"""A process group that there is not: that it is asked for tells instructions.c to say how far it has counted."""

SENTENCES = ("turn on the desk lamp to 40 percent", "turn off the kitchen light", "is the garage door open")
FUNCTIONS = ("turn_on_light", "turn_off_light", "get_state")


def mark() -> None:
    """Seen by instructions.c, and by nobody else."""
    try:
        os.getpgid(MARK)
    except ProcessLookupError:
        return


def wanted() -> tuple[FunctionDeclaration, ...]:
    """The few declarations that an emulated processor has to read."""
    return tuple(each for each in declarations() if each.name in FUNCTIONS)


async def decide(model: TfliteModel, tools: tuple[FunctionDeclaration, ...], sentence: str) -> None:
    """One decision, of which only the work is of interest."""
    await model.generate_content(GenerateContentRequest((Content.user(sentence),), tools))


async def main() -> None:
    """Does each part once."""
    mark()
    model = TfliteModel()
    mark()
    for name in sorted(model._graphs._runners):
        model._graphs._warm_up({name})
        mark()
    for tool in wanted():
        model.card(tool)
    for sentence in SENTENCES:
        mark()
        await decide(model, wanted(), sentence)
        mark()
    await model.close()


if __name__ == "__main__":
    asyncio.run(main())
