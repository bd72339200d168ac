"""Hearth's agent: the loop, its vocabulary, and a small model that decides on the board."""

from agent.command import Command
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role, TextPart
from agent.errors import (
    AgentError,
    ArgumentError,
    DeclarationError,
    ErrorCode,
    HearthError,
    SettingsError,
    StoreError,
)
from agent.events import (
    AgentEvent,
    ConfirmationRequest,
    FunctionCall,
    FunctionResponse,
    TextMessage,
    text_tokens,
)
from agent.house import House, HouseEvent
from agent.model.generative import (
    Candidate,
    GenerateContentRequest,
    GenerateContentResponse,
    GenerativeModel,
    ModelConfig,
    ModelPreference,
    Outcome,
    ReleaseStage,
    load_model,
)
from agent.runner import Agent, AgentRunner, Limits
from agent.schema import Format, FunctionDeclaration, FunctionSchema, FunctionType, Name, Place, Range
from agent.session import AgentSession
from agent.store import SessionStore
from agent.tool import AccessLevel, AgentTool, ConfirmationTool, ToolCall, discover, tool

__all__ = [
    "AccessLevel",
    "Agent",
    "AgentError",
    "AgentEvent",
    "AgentRunner",
    "AgentSession",
    "AgentTool",
    "ArgumentError",
    "Candidate",
    "Command",
    "ConfirmationRequest",
    "ConfirmationTool",
    "Content",
    "DeclarationError",
    "ErrorCode",
    "Format",
    "FunctionCall",
    "FunctionCallPart",
    "FunctionDeclaration",
    "FunctionResponse",
    "FunctionResponsePart",
    "FunctionSchema",
    "FunctionType",
    "GenerateContentRequest",
    "GenerateContentResponse",
    "GenerativeModel",
    "HearthError",
    "House",
    "HouseEvent",
    "Limits",
    "ModelConfig",
    "ModelPreference",
    "Name",
    "Outcome",
    "Place",
    "Range",
    "ReleaseStage",
    "Role",
    "SessionStore",
    "SettingsError",
    "StoreError",
    "TextMessage",
    "TextPart",
    "ToolCall",
    "discover",
    "load_model",
    "text_tokens",
    "tool",
]
