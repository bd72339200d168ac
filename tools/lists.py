"""Shopping and to-do lists."""

from __future__ import annotations

from typing import Any

from agent.house_store import HouseStore
from agent.tool import AgentTool, tool


class Lists:
    """The functions of lists."""

    def __init__(self, store: HouseStore) -> None:
        self._store = store
        self.tools = (
            AgentTool(self.add_to_list),
            AgentTool(self.remove_from_list),
            AgentTool(self.complete_list_item),
            AgentTool(self.get_list),
        )

    @tool
    async def add_to_list(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Puts something on a list.

        Args:
            item: What, such as milk and eggs.
            list: Which list, such as shopping or to-do; absent is the shopping list.
        """
        raise NotImplementedError

    @tool
    async def remove_from_list(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Takes something off a list.

        Args:
            item: What, or everything.
            list: Which list; absent is the shopping list.
        """
        raise NotImplementedError

    @tool
    async def complete_list_item(self, item: str, list: str | None = None) -> dict[str, Any]:
        """Checks something off a list: it is done or bought.

        Args:
            item: What.
            list: Which list; absent is the shopping list.
        """
        raise NotImplementedError

    @tool(read_only=True)
    async def get_list(self, list: str | None = None) -> dict[str, Any]:
        """Tells what is on a list.

        Args:
            list: Which list; absent is the shopping list.
        """
        raise NotImplementedError
