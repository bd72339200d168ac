"""What a conversation is made of: turns of USER and MODEL, each a list of parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Role(str, Enum):
    """Who said it. Function responses are USER turns: they come from outside the model."""

    USER = "user"
    MODEL = "model"


@dataclass(frozen=True)
class TextPart:
    """Words."""

    text: str


@dataclass(frozen=True)
class FunctionCallPart:
    """A call that the model asks for."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class FunctionResponsePart:
    """The result of the call with the same id."""

    id: str
    name: str
    response: dict[str, Any]


Part = TextPart | FunctionCallPart | FunctionResponsePart


@dataclass(frozen=True)
class Content:
    """One turn of a conversation."""

    role: Role
    parts: tuple[Part, ...] = field(default=())

    @classmethod
    def user(cls, text: str) -> Content:
        """A USER turn of words."""
        return cls(Role.USER, (TextPart(text),))

    @classmethod
    def model(cls, text: str) -> Content:
        """A MODEL turn of words."""
        return cls(Role.MODEL, (TextPart(text),))

    @property
    def text(self) -> str:
        """The words of the turn, joined."""
        return " ".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def calls(self) -> tuple[FunctionCallPart, ...]:
        """The calls of the turn."""
        return tuple(part for part in self.parts if isinstance(part, FunctionCallPart))

    @property
    def responses(self) -> tuple[FunctionResponsePart, ...]:
        """The function responses of the turn."""
        return tuple(part for part in self.parts if isinstance(part, FunctionResponsePart))

    def to_json(self) -> dict[str, Any]:
        """As kept in the store: `{"role", "parts": [{"text"} | {"call"} | {"response"}]}`."""
        parts: list[dict[str, Any]] = []
        for part in self.parts:
            if isinstance(part, TextPart):
                parts.append({"text": part.text})
            elif isinstance(part, FunctionCallPart):
                parts.append({"call": {"id": part.id, "name": part.name, "arguments": part.arguments}})
            else:
                parts.append({"response": {"id": part.id, "name": part.name, "response": part.response}})
        return {"role": self.role.value, "parts": parts}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Content:
        """The reverse of `to_json`.

        Raises:
            KeyError: A field is missing.
            TypeError: A call or a response has other fields.
            ValueError: The role or a part is of no known kind.
        """
        parts: list[Part] = []
        for part in data["parts"]:
            if "text" in part:
                parts.append(TextPart(part["text"]))
            elif "call" in part:
                parts.append(FunctionCallPart(**part["call"]))
            elif "response" in part:
                parts.append(FunctionResponsePart(**part["response"]))
            else:
                raise ValueError(f"a part is text, call or response, not {sorted(part)}")
        return cls(Role(data["role"]), tuple(parts))
