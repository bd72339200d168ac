"""Public sets of utterances, brought to cases of ours: one file a set, from its labels to our calls.

The sets are not part of the repository; `docs/eval.md` says where each comes from. A mapping looks at the labels,
and at the words only where a label does not tell what a call of ours has to; it never knows a single sentence.
What a set has that is not counted is counted too, under the reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agent.content import FunctionCallPart
from agent.evaluation import Case, Step
from tools.names.words import name_key

HERE: Final = "Living Room"
"""The requester's room, where a label presumes one."""

ELSEWHERE: Final = "Conservatory"
"""A room with a lamp of its own, so that a call that reaches further than the requester's room is seen."""


@dataclass(frozen=True)
class Placed:
    """A case, and the home that it is said in.

    Attributes:
        case: What is said and due. The first call that is due is also the one that is shown.
        home: The table `tools` of its home; None is the example house.
        also: Cases of the same words with other calls that are as right, where the label does not tell them apart.
        functions: Where only the function is judged: those that are right; empty is none at all.
    """

    case: Case
    home: Mapping[str, Any] | None = None
    also: tuple[Case, ...] = ()
    functions: frozenset[str] | None = None


@dataclass
class Mapped:
    """What became of a set: its cases, and how many are left out for which reason."""

    placed: list[Placed] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)


class LeftOutError(Exception):
    """Why a line of a set is no case of ours; the text is the reason, the same for all of its kind."""


def lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a set with its place, for messages."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield f"{path.name}, line {number}", json.loads(line)


def call(function: str, /, **arguments: Any) -> FunctionCallPart:
    """A call that is due; an argument that is None is absent."""
    return FunctionCallPart("", function, {key: value for key, value in arguments.items() if value is not None})


def case(
    where: str,
    text: str,
    calls: Iterable[FunctionCallPart] = (),
    category: str | None = None,
    room: str | None = None,
) -> Case:
    """A case of one step."""
    return Case(where, text, (Step(tuple(calls)),), category=category, room=room)


def words(text: str) -> list[str]:
    """The words of a sentence in small letters, without marks; "75F" is "75" and "f"."""
    return re.findall(r"[a-z']+|\d+(?:\.\d+)?", text.casefold().replace("\u2019", "'"))


@dataclass
class Home:
    """A home while it is put together; a name that is there already is not added again."""

    floors: dict[str, dict[str, Any]] = field(default_factory=dict)
    rooms: dict[str, dict[str, Any]] = field(default_factory=dict)
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    lists: dict[str, dict[str, Any]] = field(default_factory=dict)
    scenes: dict[str, dict[str, Any]] = field(default_factory=dict)
    scripts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def floor(self, name: str) -> str:
        """Adds a floor; its name."""
        return _added(self.floors, {"name": name})

    def room(self, name: str, floor: str | None = None) -> str:
        """Adds a room, or puts one on a floor; its name."""
        added = _added(self.rooms, {"name": name})
        if floor is not None:
            self.rooms[name_key(name)]["floor"] = self.floor(floor)
        return added

    def room_on(self, floor: str) -> str:
        """A room on a floor, added where there is none."""
        on_it = [room["name"] for room in self.rooms.values() if room.get("floor") == floor]
        return on_it[0] if on_it else self.room(f"{floor} landing", floor)

    def device(self, name: str, kind: str, room: str | None = None, **more: Any) -> str:
        """Adds a device, or puts one that has no room into one; its name."""
        table = {"name": name, "kind": kind, **CAN.get(kind, {}), **more}
        added = _added(self.devices, {**table, "id": f"device-{len(self.devices)}"})
        if room is not None:
            self.devices[name_key(name)].setdefault("room", self.room(room))
        return added

    def has(self, kinds: Iterable[str], rooms: Iterable[str]) -> bool:
        """Whether a device of these kinds is in one of these rooms."""
        wanted, there = set(kinds), set(rooms)
        return any(each["kind"] in wanted and each.get("room") in there for each in self.devices.values())

    def settings(self) -> dict[str, Any]:
        """The table `tools`; a device that is called like a room or a scene keeps its name."""
        tables = {
            "floor": self.floors,
            "room": self.rooms,
            "device": self.devices,
            "list": self.lists,
            "scene": self.scenes,
            "script": self.scripts,
        }
        return {name: list(table.values()) for name, table in tables.items() if table}


CAN: Final[dict[str, dict[str, Any]]] = {
    "light": {"can": ["brightness", "color", "white"]},
    "fan": {"can": ["speed"]},
    "window": {"can": ["open", "position"]},
    "garage_door": {"can": ["position"]},
}
"""What a device of a set can do: all that its kind may, as no label says that it cannot."""


def _added(there: dict[str, dict[str, Any]], table: dict[str, Any]) -> str:
    name: str = there.setdefault(name_key(table["name"]), table)["name"]
    return name
