"""Robots that clean the floor and mow the lawn.

A stuck robot is told to start or to go home all the same, as somebody may have freed it by hand; if it does not
move, the answer says that it is stuck. What it does already is said and not sent again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.device import Activity, Change, Device, Kind
from tools.devices import Devices, Outcome
from tools.home import Floor, Room
from tools.names.areas import area_named, within
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.words import name_key
from tools.results import verb
from tools.speech import failures, listed, sentence, the
from tools.targets import of_devices, of_name

_VACUUMS = Wish(frozenset({Kind.VACUUM}), frozenset({Kind.VACUUM}))
_MOWERS = Wish(frozenset({Kind.MOWER}), frozenset({Kind.MOWER}))

PLACES = {
    **dict.fromkeys(("start_vacuum", "stop_vacuum", "dock_vacuum"), ("vacuum", _VACUUMS)),
    **dict.fromkeys(("start_mower", "stop_mower", "dock_mower"), ("mower", _MOWERS)),
}
"""For each function of one place: its parameter, and what it looks for."""

_EVERYWHERE = {
    "everywhere", "everything", "all", "house", "wholehouse", "entirehouse", "home", "wholehome", "floor", "floors",
    "allfloors", "allrooms", "everyroom", "lawn", "wholelawn", "entirelawn", "garden", "wholegarden", "yard", "grass",
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
    names: dict[str, list[str]] = {}
    for name, activity in result["activities"].items():
        names.setdefault(activity, []).append(name)
    already = " already" if result.get("already") else ""
    clauses = []
    for activity, some in names.items():
        one, several = _DOES.get(activity, (f"is {work}", f"are {work}"))
        clauses.append(f"{listed([the(name) for name in some], most=4)} {verb(some, one, several)}{already}")
    return sentence(*clauses, failures(result.get("failed", {})))


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
        room = area_named(self._devices.home, area) if name == "start_vacuum" else None
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
        room = None if area is None else self._area(area)
        if isinstance(room, Floor):
            return await self._start(self._on_floor(vacuum, room), None)
        return await self._start(self._for_room(vacuum, room), None if room is None else room.name)

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
        area = area_named(home, words)
        if area is not None or name_key(words) in _EVERYWHERE:
            return area
        parts = [area_named(home, words) for words in re.split(r",|\band\b", words) if words.strip()]
        rooms = [part.name for part in parts if part is not None]
        if len(parts) > 1 and len(rooms) == len(parts):
            raise PlaceError(sentence(f"one room at a time: {listed([the(name) for name in rooms], last='or')}"), rooms)
        known = [room.name for room in home.rooms][:5]
        such = f"say one such as {listed([the(name) for name in known], last='or')}" if known else "there are no rooms"
        raise PlaceError(sentence(f'I know no room called "{words}"', such), known)

    def _for_room(self, vacuum: str | None, room: Room | None) -> Found:
        """The robot that is meant; of several that which is on the floor of the room."""
        if vacuum is None and room is not None and room.floor is not None:
            there = self._robots_on(room.floor)
            if len(there) == 1:
                return Found((there[0],), the(there[0].name))
        return self._devices.find_or_only(vacuum, _VACUUMS)

    def _on_floor(self, vacuum: str | None, floor: Floor) -> Found:
        """The robot that is on a floor: none is told to take the stairs."""
        there = self._robots_on(floor.name)
        robots = [device for device in self._devices.home.devices if device.kind is Kind.VACUUM]
        if vacuum is not None or not robots:
            robots = list(self._devices.find_or_only(vacuum, _VACUUMS).devices)
        meant = [device for device in robots if device in there]
        if not meant:
            names = [device.name for device in robots]
            which = listed([the(name) for name in names], most=4)
            raise PlaceError(sentence(f"{which} {verb(names)} not {within(floor.name)}", "say a room"))
        return Found(tuple(meant), listed([the(device.name) for device in meant]))

    def _robots_on(self, floor: str) -> list[Device]:
        home = self._devices.home
        rooms = {room.name for room in home.rooms if room.floor == floor}
        return [device for device in home.devices if device.kind is Kind.VACUUM and device.room in rooms]

    async def _start(self, place: Found, area: str | None) -> dict[str, Any]:
        result = await self._move(place, "working", () if area is not None else ("working",), area)
        return result if area is None or "error" in result else {**result, "area": area}

    async def _move(
        self, place: Found, activity: Activity, already: Sequence[Activity], area: str | None = None
    ) -> dict[str, Any]:
        """Tells robots what to do, but for those that do it already.

        Returns:
            `{"activities", "already"?, "failed"?}`: what each robot does, by its name. `{"error"}` where none does.
        """
        states = {device.id: self._devices.state(device) for device in place.devices}
        idle = [
            each for each in place.devices if not (states[each.id].available and states[each.id].activity in already)
        ]
        if not idle:
            return {"activities": {each.name: states[each.id].activity for each in place.devices}, "already": True}
        outcomes = await self._devices.move(idle, lambda device, state: Change(activity=activity, area=area))
        failed = {outcome.device.name: _failure(outcome) for outcome in outcomes if outcome.failure}
        done = {outcome.device.name: outcome.state.activity or activity for outcome in outcomes if not outcome.failure}
        if not done:
            return {"error": sentence(failures(failed))}
        return {"activities": done} | ({"failed": failed} if failed else {})


def _failure(outcome: Outcome) -> str:
    stuck = outcome.state.available and outcome.state.activity == "stuck"
    return f"{outcome.failure} and is stuck" if stuck else outcome.failure
