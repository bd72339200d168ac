"""The errors of the agent: one root, a code and a name for each cause."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class ErrorCode(Enum):
    """Why a run ended without an answer.

    The first three carry the numbers of on-device agent SDKs; the others are
    known by their name and count down from -113 so that no number is reused.
    """

    NOT_AVAILABLE = 8
    BUSY = 9
    MAX_TURNS_EXCEEDED = -112
    REPEATED_CALL = -113
    DEADLINE_EXCEEDED = -114
    TOOL_TIMEOUT = -115
    INVALID_REQUEST = -116


class HearthError(Exception):
    """Root of every error that this package raises on purpose."""


class AgentError(HearthError):
    """A run that ended without an answer.

    Attributes:
        code: Which limit or cause ended it.
        message: One sentence for a person.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def to_json(self) -> dict[str, object]:
        """Returns `{"code", "name", "message"}`, as channels send it."""
        return {"code": self.code.value, "name": self.code.name, "message": self.message}


class DeclarationError(HearthError, ValueError):
    """A tool whose declaration is wrong; names the tool and the parameter."""


class ArgumentError(HearthError, ValueError):
    """An argument that does not fit its declaration; the text is for the model."""


class SettingsError(HearthError, ValueError):
    """A settings file that cannot be used; names file, place and what is allowed.

    Attributes:
        at: The keys and indexes that lead to what is wrong, from the top of the file; none where it is not known.
    """

    def __init__(self, message: str, at: Sequence[str | int] = ()) -> None:
        super().__init__(message)
        self.at = tuple(at)


class StoreError(HearthError, RuntimeError):
    """The session store cannot be opened or written."""


class NewerStoreError(StoreError):
    """The store was written by a newer Hearth, and is left as it is."""


class DamagedStoreError(StoreError):
    """The store is no whole file of SQLite any more."""
