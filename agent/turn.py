"""One turn while it goes on: what a person said, and all that came of it so far."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.answer import Result, compose
from agent.content import Content, Role
from agent.events import AgentEvent
from agent.truth import Answer, Facts

if TYPE_CHECKING:
    from agent.session import AgentSession


@dataclass(eq=False)
class Turn:
    """What a person said, and all that came of it so far.

    Attributes:
        session: The conversation it belongs to.
        content: What was said.
        room: The requester's room.
        contents: The turn as the model sees it, from `content` on.
        results: The calls that were made.
        facts: What the calls came to.
        answer: The words that were said.
        places: What its calls spoke of, for "them".
        events: What the consumer of the stream gets; None ends it.
        queries: How often the model was asked.
        waiting: It came while others went on, and has not acted yet.
        clock: Its deadline, while it runs.
    """

    session: AgentSession
    content: Content
    room: str | None
    contents: list[Content] = field(init=False)
    results: list[Result] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    answer: Answer = field(default_factory=Answer)
    places: list[str] = field(default_factory=list)
    events: asyncio.Queue[AgentEvent | None] = field(default_factory=asyncio.Queue)
    queries: int = 0
    waiting: bool = False
    clock: asyncio.Timeout | None = None

    def __post_init__(self) -> None:
        self.contents = [self.content]

    def tell(self, event: AgentEvent) -> None:
        """Gives an event to whoever follows the turn."""
        self.events.put_nowait(event)

    def add_step(self, results: Sequence[Result]) -> None:
        """Adds the calls of a step with their responses: always both."""
        if not results:
            return
        self.results += results
        self.contents.append(Content(Role.MODEL, tuple(each.call for each in results)))
        self.contents.append(Content(Role.USER, tuple(each.response for each in results)))
        succeeded = [each.declaration for each in self.results if each.succeeded and each.declaration]
        self.facts = Facts(
            acted=any(not declaration.read_only for declaration in succeeded),
            told=bool(succeeded),
            words=" ".join(compose(self.results)),
        )
