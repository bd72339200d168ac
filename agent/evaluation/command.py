"""The command `hearth eval`: opens house and model, has the cases asked, prints the figures."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from agent.config import EXAMPLE_SETTINGS, Settings, read_settings
from agent.content import Content
from agent.errors import DeclarationError, SettingsError
from agent.evaluation.asking import Result, evaluate
from agent.evaluation.cases import Case, MalformedError, read_cases, read_tools
from agent.evaluation.figures import as_json, as_text
from agent.house import House
from agent.model.generative import GenerateContentRequest, ModelConfig, load_model
from agent.runner import Agent
from agent.schema import FunctionDeclaration
from agent.service import open_house
from agent.tool import load_folder

DONE: Final = 0
BAD_USAGE: Final = 2


def main(args: argparse.Namespace) -> int:
    """Runs `hearth eval`.

    Args:
        args: `cases`, `tools`, `home` (paths, the last two or None) and `json`.

    Returns:
        0 for done, 2 for a file that cannot be used; what is wrong with it is on stderr.

    Raises:
        AgentError: NOT_AVAILABLE, there is no usable model; INVALID_REQUEST, a declaration passes a limit of it.
    """
    wrong: list[MalformedError] = []
    cases: list[Case] = []
    tools: tuple[FunctionDeclaration, ...] | None = None
    try:
        tools = read_tools(args.tools) if args.tools else None
    except MalformedError as error:
        wrong.append(error)
    try:
        cases = read_cases(args.cases)
    except MalformedError as error:
        wrong.append(error)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
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
        config, instructions, house = ModelConfig(), None, None
        if home or tools is None:
            settings = read_settings(home or EXAMPLE_SETTINGS)
            config, instructions = settings.model, settings.instructions or None
            house = await stack.enter_async_context(open_house(settings, None))
            tools = _declared(settings, house) if tools is None else tools
        model = await asyncio.to_thread(load_model, config)
        stack.push_async_callback(model.close)
        # As in a service that runs: the declarations are read before anything is timed.
        await model.generate_content(GenerateContentRequest((Content.user("hello"),), tools))
        return await evaluate(
            cases,
            model,
            tools,
            house=house if home else None,
            instructions=instructions,
            warn=lambda sentence: print(sentence, file=sys.stderr),
        )


def _declared(settings: Settings, house: House) -> tuple[FunctionDeclaration, ...]:
    own = load_folder(settings.tools_folder) if settings.tools_folder else ()
    agent = Agent(settings.node, tools=(*house.tools, *own))
    return tuple(tool.declaration for tool in agent.all_tools)
