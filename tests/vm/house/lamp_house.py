"""The usual house, with the functions for lamps alone: the emulated processor takes seconds to read a declaration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from agent.house_store import HouseStore
from tools.house import House, check_settings
from tools.house import open_house as whole_house

__all__ = ["check_settings", "open_house"]

WANTED = {"turn_on_light", "turn_off_light", "dim_light", "get_state"}


@asynccontextmanager
async def open_house(settings: Mapping[str, Any], store: HouseStore | None = None) -> AsyncIterator[House]:
    """As `tools.house.open_house`."""
    async with whole_house(settings, store) as house:
        house.tools = tuple(tool for tool in house.tools if tool.declaration.name in WANTED)
        yield house
