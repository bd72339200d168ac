"""Blinds, curtains, shutters, awnings, and windows with a motor."""

from __future__ import annotations

from typing import Annotated, Any

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import COVERS, Kind
from tools.resolve import Wish
from tools.results import say_moved

_COVERS = Wish(COVERS | {Kind.WINDOW, Kind.DOOR}, COVERS | {Kind.WINDOW, Kind.DOOR})

PLACES = dict.fromkeys(("open_cover", "close_cover", "stop_cover", "set_cover_position"), ("cover", _COVERS))
"""For each function of one place: its parameter, and what it looks for."""


class Covers:
    """The functions that move covers."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.open_cover),
            AgentTool(self.close_cover),
            AgentTool(self.stop_cover),
            AgentTool(self.set_cover_position),
        )

    @tool(say=say_moved)
    async def open_cover(self, cover: Place) -> dict[str, Any]:
        """Opens or raises blinds, curtains, shutters or windows.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def close_cover(self, cover: Place) -> dict[str, Any]:
        """Closes or lowers blinds, curtains, shutters or windows.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def stop_cover(self, cover: Place) -> dict[str, Any]:
        """Stops blinds, curtains or shutters that are moving.

        Args:
            cover: The blind, curtain or shutter, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def set_cover_position(self, cover: Place, position: Annotated[int, Range(0, 100)]) -> dict[str, Any]:
        """Moves blinds, curtains or shutters to a position.

        Args:
            cover: The blind, curtain or shutter, or its room.
            position: How far open, in percent; 0 is closed.
        """
        raise NotImplementedError
