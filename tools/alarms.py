"""Alarms: due at a time of day, once or on some days of the week.

"The alarm" means the one that is ringing, where one has just rung: who turns it off does not want to sleep
through all the mornings to come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from agent.due import DueItem, DueItems
from agent.due.durations import spoken_duration
from agent.requester import requester_room
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.speech import listed, sentence, the, there_are
from tools.times import parse_duration
from tools.times.moments import Moment, of_moment, spoken_moment, timing
from tools.which import Kind, choose, clean_name, unnamed

_SNOOZE_S = 9 * 60
"""How much later a snoozed alarm rings when nothing is said, in seconds."""

_RANG_S = 60 * 60
"""How long ago an alarm may have rung to be snoozed, in seconds."""

_RINGING_S = 10 * 60
"""How long after it rang "the alarm" means the one that did, in seconds."""

_MOST_SPOKEN = 8
"""How many alarms an answer speaks of."""


def _say_set(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"{_the_alarm(result.get('name', ''))} is set for {result['when']}")


def _say_cancelled(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if "cancelled" not in result:
        others = result["still_set"]
        stay = f"{listed(others, most=4)} {'stays' if len(others) == 1 else 'stay'} set" if others else ""
        return sentence(f"{result['alarm']} is off", stay)
    names = [f"{each['alarm']} for {each['when']}" for each in result["cancelled"]]
    return sentence(f"{listed(names, most=4)} {'is' if len(names) == 1 else 'are'} cancelled")


def _say_alarms(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    alarms = [f"{each['name']}, {each['when']}" if "name" in each else each["when"] for each in result["alarms"]]
    if not alarms:
        return "There is no alarm."
    return sentence(f"{there_are(len(alarms), 'alarm')}: {listed(alarms, most=_MOST_SPOKEN)}")


def _say_snoozed(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"{result['alarm']} rings again in {result['delay']}")


class Alarms:
    """The functions of alarms."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self._kind = Kind("alarm", self._described, lambda words, items: of_moment(due, words, items))
        self.tools = (
            AgentTool(self.set_alarm),
            AgentTool(self.cancel_alarm),
            AgentTool(self.get_alarms),
            AgentTool(self.snooze_alarm),
        )

    @tool(say=_say_set)
    async def set_alarm(
        self,
        time: Annotated[str, Format("time")],
        day: Annotated[str, Format("day")] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Sets an alarm, or wakes somebody.

        Args:
            time: The time of day, such as 7 am or half past six.
            day: The day or days, such as tomorrow or every weekday; absent is the next time.
            name: What it is for.
        """
        when = timing(self._due, "At what time shall the alarm ring?", time=time, day=day, alarm=True)
        moment, text = Moment(when["at"], when["days"]), clean_name(name, "alarm")
        # Asked for twice it still rings once, but in each room where it was asked for.
        if not any(self._is(item, text, moment) for item in self._due.items("alarm")):
            await self._due.add("alarm", text, **when)
        result = {"when": spoken_moment(moment, self._due.now()), "at": moment.at.isoformat(timespec="minutes")}
        return {"name": text, **result} if text else result

    @tool(say=_say_cancelled)
    async def cancel_alarm(self, alarm: str | None = None) -> dict[str, Any]:
        """Cancels or turns off an alarm, or all of them.

        Args:
            alarm: Its name, time or day, or all; absent is the only one.
        """
        rang = self._due.rang_within(_RINGING_S)
        if rang is not None and unnamed(alarm, "alarm"):
            await self._end_snooze(rang)
            return {"alarm": _the_alarm(rang.text), "still_set": [self._described(item) for item in self._alarms()]}
        chosen = choose(alarm, self._alarms(), self._kind)
        told = [{"alarm": _the_alarm(item.text), "when": self._when(item)} for item in chosen]
        removed = [await self._due.remove(item.id) for item in chosen]
        cancelled = [each for each, done in zip(told, removed, strict=True) if done]
        return {"cancelled": cancelled} if cancelled else {"error": "It rang just now."}

    @tool(read_only=True, say=_say_alarms)
    async def get_alarms(self) -> dict[str, Any]:
        """Tells which alarms are set, and for when."""
        return {
            "alarms": [
                {**({"name": item.text} if item.text else {}), "when": self._when(item)} for item in self._alarms()
            ]
        }

    @tool(say=_say_snoozed)
    async def snooze_alarm(self, duration: Annotated[str, Format("duration")] | None = None) -> dict[str, Any]:
        """Lets the alarm that just rang ring again a little later.

        Args:
            duration: How much later; absent is nine minutes.
        """
        seconds = _SNOOZE_S if duration is None else parse_duration(duration)
        rang = self._due.rang_within(_RANG_S)
        if rang is None:
            return {"error": "No alarm rang within the last hour."}
        await self._end_snooze(rang)  # said twice, it rings once
        await self._due.add("alarm", rang.text, seconds=seconds, room=rang.room)
        return {"alarm": _the_alarm(rang.text), "delay": spoken_duration(seconds)}

    async def _end_snooze(self, rang: DueItem) -> None:
        for item in self._due.items("alarm"):
            is_snoozed = item.seconds is not None  # all others are due at a time of day
            if is_snoozed and item.text == rang.text and rang.room in (None, item.room):
                await self._due.remove(item.id)

    def _alarms(self) -> list[DueItem]:
        """Those that are set, with the time of day at which a snoozed one rings again."""
        return [replace(item, at=self._due.at(item)) for item in self._due.items("alarm")]

    def _is(self, item: DueItem, text: str, moment: Moment) -> bool:
        heard = item.room in (None, requester_room())
        return heard and (item.text, item.at, item.days) == (text, moment.at, moment.days)

    def _when(self, item: DueItem) -> str:
        assert item.at is not None
        return spoken_moment(Moment(item.at, item.days), self._due.now())

    def _described(self, item: DueItem) -> str:
        return f"{item.text}, {self._when(item)}" if item.text else self._when(item)


def _the_alarm(name: str) -> str:
    return the(f"{name} alarm") if name else "the alarm"
