"""Announcements to the people in the house: one for each room, since a speaker knows its room only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.due import DueItems
from agent.errors import ArgumentError
from agent.plain_text import shortened
from agent.plain_text import within as no_longer_than
from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.home import Floor, Group, Room
from tools.names.areas import within
from tools.names.phrases import EVERYWHERE
from tools.names.words import fold, key_of, name_key, without_determiner
from tools.speech import listed, sentence, the
from tools.targets import of_name

_EVERYWHERE = EVERYWHERE | {"allspeakers"}
_MOST_NAMED = 8

_LONGEST = 500
"""How many characters a message may have."""


def _say_announced(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"I announced it {listed(result.get('where', []))}".strip())


class Announcements:
    """The function that tells something to the people in the house."""

    def __init__(self, devices: Devices, due: DueItems) -> None:
        self._devices = devices
        self._area = devices.area
        self._due = due
        self.tools = (AgentTool(self.announce),)

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str] | None:
        """As `agent.house.House.targets`: rooms, floors and groups; None for what is not of this file."""
        if name != "announce":
            return None
        room = arguments.get("room")
        if not isinstance(room, str):
            return frozenset()
        try:
            return frozenset(of_name(area.name) for area in self.areas(room))
        except ArgumentError:
            return frozenset({of_name(room)})

    @tool(say=_say_announced)
    async def announce(self, message: str, room: Name | None = None) -> dict[str, Any]:
        """Announces a message to the people in the house.

        Args:
            message: What is told, such as dinner is ready.
            room: Where; absent is everywhere.
        """
        words = no_longer_than(message, _LONGEST, "The message")
        if not words:
            return {"error": "What shall I announce?"}
        areas = self.areas(room)
        if not areas:
            self._due.announce(words)
            return {"message": words}
        where = {within(area.name): self._rooms(area) for area in areas}
        for place, rooms in where.items():
            if not rooms:
                return {"error": f"There is no room {place}."}
        told = list(dict.fromkeys(each for rooms in where.values() for each in rooms))
        for each in told:
            self._due.announce(words, each)
        return {"message": words, "where": list(where), "rooms": told}

    def areas(self, words: str | None) -> list[Room | Floor | Group]:
        """The rooms, floors and groups that are meant; none is everywhere.

        Raises:
            ArgumentError: There is none of that name.
        """
        tokens = without_determiner(fold(words or ""))
        tokens = without_determiner(tokens[1:]) if tokens[:1] == ["in"] else tokens
        if not tokens or key_of(tokens) in _EVERYWHERE:
            return []
        area = self._area(" ".join(tokens)) or self._group(key_of(tokens))
        if area is not None:
            return [area]
        if "and" in tokens:  # no name of its own, so a list of names
            return list(dict.fromkeys(area for part in _parts(tokens) for area in self.areas(part)))
        areas: tuple[Room | Floor, ...] = (*self._devices.home.rooms, *self._devices.home.floors)
        names = [the(each.name) for each in areas]
        there = f"; there is {listed(names, most=_MOST_NAMED)}" if names else ""
        raise ArgumentError(f'There is no room called "{shortened(words or "", 100)}"{there}.')

    def _group(self, key: str) -> Group | None:
        return next(
            (each for each in self._devices.home.groups if key in map(name_key, (each.name, *each.aliases))), None
        )

    def _rooms(self, area: Room | Floor | Group) -> list[str]:
        """The stored names of the rooms of an area: of a group those of its members."""
        if isinstance(area, Room):
            return [area.name]
        if isinstance(area, Floor):
            return [room.name for room in self._devices.home.rooms if room.floor == area.name]
        return [room for member in area.members for room in self._rooms_of_member(member)]

    def _rooms_of_member(self, name: str) -> list[str]:
        device = next((each for each in self._devices.home.devices if each.name == name), None)
        if device is not None:  # one may be called like a room, and goes first
            return [device.room] if device.room else []
        area = self._area(name)
        return self._rooms(area) if area else []


def _parts(tokens: list[str]) -> list[str]:
    return [part for part in " ".join(tokens).split(" and ") if part != "and"]
