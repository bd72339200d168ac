"""A user's own tools: put such a file into the folder that `tools_folder` names in the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agent.schema import Place, Range
from agent.tool import AccessLevel, ConfirmationTool, tool


@dataclass(frozen=True)
class Blinds:
    """Where some blinds are.

    Attributes:
        room: The room they are in.
        closed: How far they are closed, in percent.
    """

    room: str
    closed: int


@tool(say="The blinds of the {room} are {closed} percent closed.")
def set_blinds(room: Place, closed: Annotated[int, Range(0, 100)] = 100) -> Blinds:
    """Closes the blinds of a room, wholly or by a percentage.

    Args:
        room: The room, as the user calls it.
        closed: How far to close them, in percent; 0 opens them.
    """
    return Blinds(room, closed)


@ConfirmationTool
@tool(access=AccessLevel.SELF, say="The skylight is open.")
async def open_skylight() -> None:
    """Opens the skylight; a person is asked first."""
