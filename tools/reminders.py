"""Reminders: words that are told at a time, or after one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from agent.due import DueItem, DueItems
from agent.plain_text import within
from agent.schema import Format
from agent.tool import AgentTool, tool
from tools.speech import listed, sentence, there_are
from tools.times.moments import due_at, of_moment, timing
from tools.which import Kind, choose

_LONGEST = 500
"""How many characters a reminder may have."""

_MOST_SPOKEN = 8
"""How many reminders an answer speaks of."""


def _say_added(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return sentence(f"I will remind you {result['when']}: {result['text']}")


def _say_cancelled(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    texts = [f'"{text}"' for text in result["cancelled"]]
    if len(texts) == 1:
        return f"The reminder {texts[0]} is cancelled."
    return f"The reminders {listed(texts, most=4)} are cancelled."


def _say_reminders(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    reminders = [f"{each['text']} {each['when']}" for each in result["reminders"]]
    if not reminders:
        return "There is no reminder."
    return sentence(f"{there_are(len(reminders), 'reminder')}: {listed(reminders, most=_MOST_SPOKEN)}")


class Reminders:
    """The functions of reminders."""

    def __init__(self, due: DueItems) -> None:
        self._due = due
        self._kind = Kind("reminder", self._described, lambda words, items: of_moment(due, words, items))
        self.tools = (
            AgentTool(self.add_reminder),
            AgentTool(self.cancel_reminder),
            AgentTool(self.get_reminders),
        )

    @tool(say=_say_added)
    async def add_reminder(
        self,
        text: str,
        time: Annotated[str, Format("time")] | None = None,
        day: Annotated[str, Format("day")] | None = None,
        delay: Annotated[str, Format("duration")] | None = None,
    ) -> dict[str, Any]:
        """Reminds somebody of something later.

        Args:
            text: What to be reminded of, such as call grandma.
            time: The time of day.
            day: The day, such as tomorrow or on Friday.
            delay: After how long, such as ten minutes.
        """
        words = within(text, _LONGEST, "The reminder")
        if not words:
            return {"error": "What shall I remind you of?"}
        ask = "When shall I remind you?"
        when = timing(self._due, ask, delay=delay, time=time, day=day, needs_time=False)
        item = await self._due.add("reminder", words, **when)
        return {"text": words, "when": due_at(self._due, item)}

    @tool(say=_say_cancelled)
    async def cancel_reminder(self, reminder: str | None = None) -> dict[str, Any]:
        """Cancels a reminder, or all of them.

        Args:
            reminder: What it is about, or all; absent is the only one.
        """
        chosen = choose(reminder, self._due.items("reminder"), self._kind)
        cancelled = [item.text for item in chosen if await self._due.remove(item.id)]
        return {"cancelled": cancelled} if cancelled else {"error": "It was told just now."}

    @tool(read_only=True, say=_say_reminders)
    async def get_reminders(self) -> dict[str, Any]:
        """Tells which reminders there are."""
        items = self._due.items("reminder")
        return {"reminders": [{"text": item.text, "when": due_at(self._due, item)} for item in items]}

    def _described(self, item: DueItem) -> str:
        return f"{item.text} {due_at(self._due, item)}"
