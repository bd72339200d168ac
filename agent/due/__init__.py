"""Things that become due: timers, alarms, reminders, later commands, announcements."""

from agent.due.item import Announcement, DueItem, DueKind
from agent.due.items import MAX_ITEMS, DueItems, NobodyToAskError

__all__ = ["MAX_ITEMS", "Announcement", "DueItem", "DueItems", "DueKind", "NobodyToAskError"]
