"""What a run tells while it goes on: the stream of `AgentEvent`s."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class AgentEvent:
    """One thing that happened in a run. `type` is its name on the wire."""

    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Returns `{"type", ...fields}`."""
        return {"type": self.type, **asdict(self)}


@dataclass(frozen=True)
class TextMessage(AgentEvent):
    """Words of the answer.

    Attributes:
        text: A clause when `is_partial`, else the whole answer.
        is_partial: More follows; the last message of a run is never partial.
    """

    type: ClassVar[str] = "text_message"
    text: str
    is_partial: bool = False


@dataclass(frozen=True)
class FunctionCall(AgentEvent):
    """A tool is about to be called."""

    type: ClassVar[str] = "function_call"
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class FunctionResponse(AgentEvent):
    """What the tool answered; `id` is that of its call."""

    type: ClassVar[str] = "function_response"
    id: str
    name: str
    response: dict[str, Any]


@dataclass(frozen=True)
class ConfirmationRequest(AgentEvent):
    """A person is asked before a call; `id` is that of the call."""

    type: ClassVar[str] = "confirmation_request"
    id: str
    name: str
    arguments: dict[str, Any]
    question: str


EVENT_TYPES: dict[str, type[AgentEvent]] = {
    kind.type: kind for kind in (TextMessage, FunctionCall, FunctionResponse, ConfirmationRequest)
}


def event_from_json(data: dict[str, Any]) -> AgentEvent:
    """The reverse of `AgentEvent.to_json`.

    Raises:
        ValueError: The type is unknown or a field is missing or left over.
    """
    fields = dict(data)
    kind = EVENT_TYPES.get(str(fields.pop("type", None)))
    if kind is None:
        raise ValueError(f"event type {data.get('type')!r} is none of {', '.join(EVENT_TYPES)}")
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"{kind.type}: {error}") from error


async def text_tokens(stream: AsyncIterator[AgentEvent]) -> AsyncIterator[str]:
    """Only the words of a run, as they come.

    Partial messages are passed on as they arrive; the whole answer is passed on
    only where no partial message came before it, so nothing is said twice.
    """
    streamed = False
    async for event in stream:
        if isinstance(event, TextMessage):
            if event.is_partial:
                streamed = True
                yield event.text
            elif not streamed:
                yield event.text
