"""Announcements to the people in the house."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.due import DueItems
from agent.errors import ArgumentError
from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.names.areas import area_named, within
from tools.names.words import fold, key_of, without_determiner
from tools.speech import listed, sentence, the

_EVERYWHERE = {
    "everywhere", "all", "allrooms", "everyroom", "allspeakers", "house", "wholehouse", "entirehouse", "home",
}  # fmt: skip
_MOST_NAMED = 8


def _say_announced(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"I announced it {listed([within(room) for room in result.get('rooms', [])])}".strip())


class Announcements:
    """The function that tells something to the people in the house."""

    def __init__(self, devices: Devices, due: DueItems) -> None:
        self._devices = devices
        self._due = due
        self.tools = (AgentTool(self.announce),)

    @tool(say=_say_announced)
    async def announce(self, message: str, room: Name | None = None) -> dict[str, Any]:
        """Announces a message to the people in the house.

        Args:
            message: What is told, such as dinner is ready.
            room: Where; absent is everywhere.
        """
        words = " ".join(message.split())
        if not words:
            return {"error": "What shall I announce?"}
        rooms = self._rooms(room)
        places: list[str | None] = [*rooms] or [None]
        for place in places:
            await self._due.add("announcement", words, seconds=0, room=place)
        return {"message": words, **({"rooms": rooms} if rooms else {})}

    def _rooms(self, words: str | None) -> list[str]:
        """The stored names of the rooms and floors that are meant; none is everywhere.

        Raises:
            ArgumentError: There is none of that name.
        """
        tokens = without_determiner(fold(words or ""))
        tokens = without_determiner(tokens[1:]) if tokens[:1] == ["in"] else tokens
        if not tokens or key_of(tokens) in _EVERYWHERE:
            return []
        area = area_named(self._devices.home, " ".join(tokens))
        if area is not None:
            return [area.name]
        if "and" in tokens:  # no name of its own, so a list of names
            return list(dict.fromkeys(name for part in _parts(tokens) for name in self._rooms(part)))
        home = self._devices.home
        names = [the(name) for name in [*(room.name for room in home.rooms), *(floor.name for floor in home.floors)]]
        there = f"; there is {listed(names, most=_MOST_NAMED)}" if names else ""
        raise ArgumentError(f'There is no room called "{" ".join((words or "").split())}"{there}.')


def _parts(tokens: list[str]) -> list[str]:
    return [part for part in " ".join(tokens).split(" and ") if part != "and"]
