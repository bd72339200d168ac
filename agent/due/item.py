"""Something that becomes due, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

DueKind = Literal["timer", "alarm", "reminder", "command", "announcement"]


@dataclass(frozen=True)
class DueItem:
    """Something that becomes due.

    Attributes:
        id: Its id.
        kind: What it is.
        text: The name of a timer or an alarm ("" without one), what to be reminded of, the words of a command,
            what is announced.
        seconds: For a countdown: how long it is altogether, what was added and taken off included.
        at: For what is due by the wall clock: when next, as naive local time; of an hour that comes twice `fold` says
            which is meant.
        days: The weekdays on which it is due again, Monday is 0; none is once.
        paused: A countdown that stands still.
        room: Where it is to be told; None is everywhere.
    """

    id: str
    kind: DueKind
    text: str = ""
    seconds: float | None = None
    at: datetime | None = None
    days: tuple[int, ...] = ()
    paused: bool = False
    room: str | None = None


@dataclass(frozen=True)
class Announcement:
    """What is told to people when an item is due.

    Attributes:
        item: Which one.
        text: The sentence.
        late_s: By how many seconds it comes too late, 0 where it does not.
    """

    item: DueItem
    text: str
    late_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns `{"id", "kind", "text", "room"?, "late_s"?}`, as channels send it."""
        told: dict[str, Any] = {"id": self.item.id, "kind": self.item.kind, "text": self.text}
        if self.item.room is not None:
            told["room"] = self.item.room
        if self.late_s:
            told["late_s"] = round(self.late_s)
        return told

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Announcement:
        """The reverse; of the item it has no more than was sent."""
        item = DueItem(data["id"], data["kind"], room=data.get("room"))
        return cls(item, data["text"], float(data.get("late_s", 0.0)))
