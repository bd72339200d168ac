"""The one thing every channel makes: a `Command`."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field

from agent.errors import AgentError, ErrorCode

MAX_COMMAND_LENGTH = 2_000


@dataclass(frozen=True)
class Command:
    """Something a person wants, in words.

    Attributes:
        text: The words, at most `MAX_COMMAND_LENGTH` characters.
        channel: The name of the channel it came by ("mqtt", "voice", "cli" ...).
        id: Known to the sender; its reply carries it.
        session: The conversation it belongs to; None is a single turn.
        room: The requester's room, for "here" and for an absent place.
        alternatives: Other readings of the same speech with their scores (0..1).
        received: When it came, in seconds of the monotonic clock.
    """

    text: str
    channel: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    session: str | None = None
    room: str | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    received: float = field(default_factory=time.monotonic)


def words_of(text: str) -> str:
    """The words of a command, without the space around them.

    Raises:
        AgentError: INVALID_REQUEST: there are none, more than `MAX_COMMAND_LENGTH` characters, or it is no text.
    """
    words = text.strip()
    if not words:
        problem = "The command has no words."
    elif len(text) > MAX_COMMAND_LENGTH:
        problem = f"The command has {len(text)} characters; at most {MAX_COMMAND_LENGTH} are read."
    elif any("\ud800" <= letter <= "\udfff" for letter in text):
        problem = "The command is no text in Unicode."
    else:
        return words
    raise AgentError(ErrorCode.INVALID_REQUEST, problem)
