"""Televisions and speakers: what they play, and how loud."""

from __future__ import annotations

from typing import Annotated, Any

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import PLAYERS
from tools.resolve import Wish
from tools.results import say_moved

_PLAYERS = Wish(PLAYERS, PLAYERS)

_FUNCTIONS = (
    "play_media", "pause_media", "resume_media", "next_track", "previous_track",
    "set_volume", "raise_volume", "lower_volume", "mute_media", "unmute_media",
)  # fmt: skip

PLACES = dict.fromkeys(_FUNCTIONS, ("player", _PLAYERS))
"""For each function of one place: its parameter, and what it looks for."""


class Media:
    """The functions of players."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.play_media),
            AgentTool(self.pause_media),
            AgentTool(self.resume_media),
            AgentTool(self.next_track),
            AgentTool(self.previous_track),
            AgentTool(self.set_volume),
            AgentTool(self.raise_volume),
            AgentTool(self.lower_volume),
            AgentTool(self.mute_media),
            AgentTool(self.unmute_media),
        )

    @tool(say=say_moved)
    async def play_media(self, query: str, player: Place | None = None) -> dict[str, Any]:
        """Plays music, radio, a film, a show or a podcast.

        Args:
            query: What to play: a title, an artist, a station or a kind of music.
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def pause_media(self, player: Place | None = None) -> dict[str, Any]:
        """Pauses or stops the music or the film.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def resume_media(self, player: Place | None = None) -> dict[str, Any]:
        """Goes on playing what was paused.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def next_track(self, player: Place | None = None) -> dict[str, Any]:
        """Skips to the next song or track.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def previous_track(self, player: Place | None = None) -> dict[str, Any]:
        """Goes back to the previous song or track.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def set_volume(
        self, volume: Annotated[int, Range(0, 100)], player: Place | None = None
    ) -> dict[str, Any]:
        """Sets how loud a speaker or television is.

        Args:
            volume: How loud, in percent.
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def raise_volume(
        self, player: Place | None = None, amount: Annotated[int, Range(1, 100)] | None = None
    ) -> dict[str, Any]:
        """Makes a speaker or television louder.

        Args:
            player: The speaker or television, or its room.
            amount: By how much, in percent points; absent is a bit.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def lower_volume(
        self, player: Place | None = None, amount: Annotated[int, Range(1, 100)] | None = None
    ) -> dict[str, Any]:
        """Makes a speaker or television quieter.

        Args:
            player: The speaker or television, or its room.
            amount: By how much, in percent points; absent is a bit.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def mute_media(self, player: Place | None = None) -> dict[str, Any]:
        """Mutes a speaker or television.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError

    @tool(say=say_moved)
    async def unmute_media(self, player: Place | None = None) -> dict[str, Any]:
        """Turns the sound of a muted speaker or television on again.

        Args:
            player: The speaker or television, or its room.
        """
        raise NotImplementedError
