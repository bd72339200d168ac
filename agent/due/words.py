"""What is said when something is due."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from agent.due.durations import rough_duration, spoken_duration

if TYPE_CHECKING:
    from agent.due import DueItem


def due_sentence(item: DueItem, now: datetime, late_s: float) -> str:
    """What is said of anything but a command.

    Args:
        item: What is due.
        now: The local time.
        late_s: By how many seconds it comes too late, 0 where it does not.
    """
    ago = f"{rough_duration(late_s)} ago"
    if item.kind == "timer":
        return f"The {_timer(item)} was up {ago}." if late_s else f"The {_timer(item)} is up."
    if item.kind == "alarm":
        if not late_s:
            # Not the time that it was set for: in the night in which summer begins there may be none.
            return f"It's {now.hour}:{now:%M}: {_ended(item.text or 'your alarm')}"
        at = f"{item.at.hour}:{item.at:%M} alarm" if item.at else "alarm"
        return f"The {at}, {item.text}, was due {ago}." if item.text else f"The {at} was due {ago}."
    if item.kind == "reminder":
        return f"Reminder, due {ago}: {_ended(item.text)}" if late_s else f"Reminder: {_ended(item.text)}"
    return _ended(item.text)


def done_sentence(item: DueItem, answer: str) -> str:
    """What is said of a command that was carried out: "As you asked 10 minutes ago: the lights are off."."""
    if answer.startswith("The "):
        answer = answer[:1].lower() + answer[1:]
    return f"{_as_asked(item)}: {_ended(answer)}"


def failed_sentence(item: DueItem, why: str) -> str:
    """What is said of a command that ended without an answer."""
    return f'{_as_asked(item)} I tried "{item.text}", but: {_ended(why)}'


def missed_sentence(item: DueItem, late_s: float) -> str:
    """What is said of a command that was due too long ago to be carried out."""
    return f'It is too late for "{item.text}", which was due {rough_duration(late_s)} ago. I did nothing.'


def doubtful_sentence(item: DueItem) -> str:
    """What is said of a command that is due, perhaps since long: nobody knows for how long the power was away."""
    return f'I cannot tell how long I was without power, so I did not do "{item.text}".'


def unforgotten_sentence(item: DueItem) -> str:
    """What is said of a command that is due, and that the store cannot be made to forget."""
    return f'I did not do "{item.text}": the store cannot be written, and after a restart I might do it again.'


def _timer(item: DueItem) -> str:
    name = re.sub(r"^(?:the|my|our|a|an)\s+|\s*\btimer$", "", item.text.strip(), flags=re.IGNORECASE)
    return f"{name} timer" if name else f"timer for {spoken_duration(item.seconds or 0)}"


def _as_asked(item: DueItem) -> str:
    return "As you asked" if item.seconds is None else f"As you asked {spoken_duration(item.seconds)} ago"


def _ended(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
