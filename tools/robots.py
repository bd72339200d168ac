"""Robots that clean the floor and mow the lawn.

A stuck robot is told to start or to go home all the same, as somebody may have freed it by hand; if it does not
move, the answer says that it is stuck. What it does already is said and not sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.device import Activity, Change, Kind
from tools.devices import Devices, Outcome
from tools.home import Floor, Room
from tools.names.areas import within
from tools.names.phrases import EVERYWHERE
from tools.names.places import by_names
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.words import name_key
from tools.results import say_told, told
from tools.speech import listed, sentence, the
from tools.targets import of_devices, of_name

_VACUUMS = Wish(frozenset({Kind.VACUUM}), frozenset({Kind.VACUUM}))
_MOWERS = Wish(frozenset({Kind.MOWER}), frozenset({Kind.MOWER}))

PLACES = {
    **dict.fromkeys(("start_vacuum", "stop_vacuum", "dock_vacuum"), ("vacuum", _VACUUMS)),
    **dict.fromkeys(("start_mower", "stop_mower", "dock_mower"), ("mower", _MOWERS)),
}
"""For each function of one place: its parameter, and what it looks for."""

_EVERYWHERE = EVERYWHERE | {
    "floor", "floors", "allfloors", "lawn", "wholelawn", "entirelawn", "garden", "wholegarden", "yard", "grass",
}  # fmt: skip
"""Areas, folded, that are all there is; a room that is called so goes before it."""

_DOES = {
    "returning": ("is on its way to its dock", "are on their way to their docks"),
    "docked": ("is in its dock", "are in their docks"),
    "stopped": ("has stopped", "have stopped"),
    "stuck": ("is stuck", "are stuck"),
}
"""What one and what several do; while they work it depends on what they are."""


def _say(result: Mapping[str, Any], work: str) -> str:
    already = "already" if result.get("already") else ""
    return say_told(result, "activity", lambda activity: (*_DOES.get(activity, (f"is {work}", f"are {work}")), already))


def _say_vacuum(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say(result, _working("cleaning", result))


def _say_mower(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say(result, _working("mowing", result))


def _working(work: str, result: Mapping[str, Any]) -> str:
    return f"{work} {the(result['area'])}" if "area" in result else work


class Robots:
    """The functions of vacuum cleaners and mowers."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.start_vacuum),
            AgentTool(self.stop_vacuum),
            AgentTool(self.dock_vacuum),
            AgentTool(self.start_mower),
            AgentTool(self.stop_mower),
            AgentTool(self.dock_mower),
        )

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str] | None:
        """As `agent.house.House.targets`; None for what is not of this file. No robot named is the only one."""
        if name not in PLACES:
            return None
        parameter, wish = PLACES[name]
        about = of_devices(self._devices, arguments.get(parameter), wish)
        area = arguments.get("area")
        if not isinstance(area, str):
            return about
        room = self._devices.area(area) if name == "start_vacuum" else None
        if room is None and name_key(area) in _EVERYWHERE:
            return about
        return about | {of_name(area if room is None else room.name)}

    @tool(say=_say_vacuum)
    async def start_vacuum(self, area: Name | None = None, vacuum: Name | None = None) -> dict[str, Any]:
        """Lets the vacuum robot clean the floor, everywhere or in a room.

        Args:
            area: The room to be cleaned; absent is everywhere.
            vacuum: Which robot.
        """
        place = None if area is None else self._area(area)
        return await self._start(self._for(vacuum, place), place.name if isinstance(place, Room) else None)

    @tool(say=_say_vacuum)
    async def stop_vacuum(self, vacuum: Name | None = None) -> dict[str, Any]:
        """Stops or pauses the vacuum robot where it is.

        Args:
            vacuum: Which robot.
        """
        return await self._move(self._devices.find_or_only(vacuum, _VACUUMS), "stopped", ("stopped", "docked"))

    @tool(say=_say_vacuum)
    async def dock_vacuum(self, vacuum: Name | None = None) -> dict[str, Any]:
        """Sends the vacuum robot back to its dock.

        Args:
            vacuum: Which robot.
        """
        return await self._move(self._devices.find_or_only(vacuum, _VACUUMS), "returning", ("returning", "docked"))

    @tool(say=_say_mower)
    async def start_mower(self, area: Name | None = None, mower: Name | None = None) -> dict[str, Any]:
        """Lets the mower robot mow the lawn.

        Args:
            area: The part of the lawn; absent is everywhere.
            mower: Which robot.
        """
        lawn = None if area is None or name_key(area) in _EVERYWHERE else area
        return await self._start(self._devices.find_or_only(mower, _MOWERS), lawn)

    @tool(say=_say_mower)
    async def stop_mower(self, mower: Name | None = None) -> dict[str, Any]:
        """Stops or pauses the mower robot where it is.

        Args:
            mower: Which robot.
        """
        return await self._move(self._devices.find_or_only(mower, _MOWERS), "stopped", ("stopped", "docked"))

    @tool(say=_say_mower)
    async def dock_mower(self, mower: Name | None = None) -> dict[str, Any]:
        """Sends the mower robot back to its dock.

        Args:
            mower: Which robot.
        """
        return await self._move(self._devices.find_or_only(mower, _MOWERS), "returning", ("returning", "docked"))

    def _area(self, words: str) -> Room | Floor | None:
        """What is to be cleaned; None is all there is.

        Raises:
            PlaceError: There is no such room, or it is more than one.
        """
        home = self._devices.home
        area = self._devices.area(words)
        if area is not None or name_key(words) in _EVERYWHERE:
            return area
        parts = [self._devices.area(words) for words in re.split(r",|\band\b", words) if words.strip()]
        rooms = [part.name for part in parts if part is not None]
        if len(parts) > 1 and len(rooms) == len(parts):
            raise PlaceError(sentence(f"one room at a time: {listed([the(name) for name in rooms], last='or')}"), rooms)
        known = [room.name for room in home.rooms][:5]
        such = f"say one such as {listed([the(name) for name in known], last='or')}" if known else "there are no rooms"
        raise PlaceError(sentence(f'I know no room called "{words}"', such), known)

    def _for(self, vacuum: str | None, area: Room | Floor | None) -> Found:
        """The robots that are meant: of an area those of its floor, as none is told to take the stairs.

        Raises:
            PlaceError: There is none, or one of several is meant.
        """
        floor = area.floor if isinstance(area, Room) else area.name if area is not None else None
        robots = [device for device in self._devices.home.devices if device.kind is Kind.VACUUM]
        if floor is None or vacuum is not None or not robots:
            robots = list(self._devices.find_or_only(vacuum, _VACUUMS).devices)
        if floor is None:
            return by_names(robots)
        floors = {room.name: room.floor for room in self._devices.home.rooms}
        # One that is on no floor that we know of may be on this one.
        there = [each for each in robots if floors.get(each.room or "") == floor]
        there = there or [each for each in robots if floors.get(each.room or "") is None]
        if not there:
            raise PlaceError(sentence(by_names(robots).clause(f"not {within(floor)}")))
        if isinstance(area, Room) and vacuum is None and len(there) > 1:
            there = list(self._devices.find_or_only(None, _VACUUMS).devices)
        return by_names(there)

    async def _start(self, place: Found, area: str | None) -> dict[str, Any]:
        result = await self._move(place, "working", () if area is not None else ("working",), area)
        return result if area is None or "error" in result else {**result, "area": area}

    async def _move(
        self, place: Found, activity: Activity, already: Sequence[Activity], area: str | None = None
    ) -> dict[str, Any]:
        """Tells robots what to do, but for those that do it already; `"already"` where all do."""
        states = {device.id: self._devices.state(device) for device in place.devices}
        idle = [
            each for each in place.devices if not (states[each.id].available and states[each.id].activity in already)
        ]
        if idle:
            outcomes = await self._devices.move(idle, lambda device, state: Change(activity=activity, area=area))
            outcomes = [replace(each, failure=_failure(each)) for each in outcomes]
        else:
            outcomes = [Outcome(each, states[each.id]) for each in place.devices]
        result = told(place, outcomes, "activity", lambda outcome: outcome.state.activity or activity)
        return result if idle else {**result, "already": True}


def _failure(outcome: Outcome) -> str:
    stuck = bool(outcome.failure) and outcome.state.available and outcome.state.activity == "stuck"
    return f"{outcome.failure} and is stuck" if stuck else outcome.failure
