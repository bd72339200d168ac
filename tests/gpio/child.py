"""Opens a house and does as it is told, one JSON object a line; a program of its own, to be preloaded and killed.

    python -m tests.gpio.child SETTINGS [STORE]

It is told `{"call": function, "arguments": {...}}`, `{"show": status}`, `{"health": true}` or `{"probe": true}`, and
answers each with `{"answer": ...}`. What happens in the house is told as `{"device": id, "state": {...}}`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from agent.house_store import HouseStore
from agent.store import SessionStore
from agent.tool import ToolCall
from tools import open_house
from tools.drivers.gpio import inputs


def tell(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


async def no(question: str) -> bool:
    return False


async def answer(house: Any, order: dict[str, Any]) -> Any:
    if "show" in order:
        return await house.show(order["show"])
    if "health" in order:
        return house.health()[order["health"]]
    if "probe" in order:
        return await house.probe()
    tool = next(each for each in house.tools if each.name == order["call"])
    return await tool.call(order["arguments"], ToolCall("1", tool.name, no))


async def main(settings: str, store: str | None) -> None:
    inputs.AGAIN_S = float(os.environ.get("AGAIN_S", inputs.AGAIN_S))
    kept = HouseStore(SessionStore(Path(store))) if store else None
    async with open_house(json.loads(Path(settings).read_text()), kept) as house:

        async def watch() -> None:
            async for event in house.events():
                tell({"device": event.device, "state": event.state})

        watching = asyncio.create_task(watch())
        await asyncio.sleep(0)
        tell({"answer": "ready"})
        while line := await asyncio.to_thread(sys.stdin.readline):
            tell({"answer": await answer(house, json.loads(line))})
        watching.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
