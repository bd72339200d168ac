"""What a house is to the agent: the seam to the package that the settings name.

Such a package has `open_house(settings, store)`, an async context that yields a `House`, and may have
`check_settings(settings)`, which reads them and opens nothing, and `controller(settings)`, which gives the
`Controller` that `hearth board` is about. Each raises a `SettingsError` for what is wrong;
one from `settings.wrong(text, key)` is told with file and line (`settings` is an `agent.config.tables.Table`). The
agent never imports the package by name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent.tool import AgentTool


@dataclass(frozen=True)
class HouseEvent:
    """A device, and how it is now.

    Attributes:
        device: Its id: one segment of a topic.
        state: `{"name", "kind", "room"?, "state", "available"}` and what else is known of it, under the names and
            in the units of the house's own states: `"brightness"` (1 to 100 percent), `"rgb"` ([red, green,
            blue], 0 to 255), `"kelvin"`, `"position"` (0 to 100 percent open), `"temperature"` (degrees Celsius)
            ... `"state"` is one word: on, off, open, closed, locked, playing, docked ... or unknown;
            `"available"` is false where the device is known to be gone. A button (`"kind"` is "button") tells
            "pressed", "released", "short" and "long", and with `"talk"` whether Hearth is to listen while it is held.
            Empty for a device that has left the house, as one may that a bridge had found.
    """

    device: str
    state: dict[str, Any]


class House(Protocol):
    """What `open_house` yields."""

    @property
    def tools(self) -> tuple[AgentTool, ...]:
        """The functions that can be called here, bound to what they need."""
        ...

    def names(self) -> tuple[str, ...]:
        """What rooms, devices and groups are called, in all their names: a recogniser listens for them."""
        ...

    def rooms(self) -> tuple[str, ...]:
        """What its rooms are called, in all their names: only from these a command can have come."""
        ...

    def events(self) -> AsyncIterator[HouseEvent]:
        """Every device as it is now, then each change of a device."""
        ...

    async def show(self, status: str) -> None:
        """Tells the house what the agent is doing, for an LED if it has one.

        Args:
            status: "listening", "thinking", "failed", or "" for nothing of that.
        """
        ...

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """What a call is about, in all its places and names: by this two calls are compared.

        The ids of the devices that it would move or ask about. What is no device, such as a scene, an area to be
        cleaned or words that name nothing, gives an element that is no id, the same for the same thing.
        """
        ...

    def drivers(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of what moves the devices that a call is about, for the log; none where there are no devices."""
        ...

    def health(self) -> dict[str, str]:
        """One line for each part of the house; "ok", or "ok, ..." and what is worth knowing, where all is well."""
        ...

    async def probe(self) -> list[str]:
        """Tries what can be tried without moving anything, within 10 s.

        Returns:
            A sentence for each trouble, with its cause and its cure; none when all is well.
        """
        ...


class Controller(Protocol):
    """A board that moves devices of the house, for the person who wires it. Nothing here opens the house.

    Each function raises a `HearthError` with a sentence for what is wrong: there is no board, another program has its
    port, it did not confirm.
    """

    def ports(self) -> AsyncIterator[str]:
        """A line for each port that a board may be at: what is there."""
        ...

    async def info(self, port: Path | None) -> list[str]:
        """What the board tells of itself, line by line; of that at a port, else of the first that is found."""
        ...

    async def set(self, port: Path | None, channel: int, percent: int, fade_s: float) -> str:
        """Brings a channel to a brightness, and says what the board confirmed.

        Args:
            port: As for `info`.
            channel: The board's own number of it.
            percent: 0 to 100.
            fade_s: How long it takes, in seconds.
        """
        ...

    def flash(self, port: Path | None, image: Path, baud: int) -> AsyncIterator[str]:
        """Writes firmware to the board, and says line by line how it goes.

        Args:
            port: As for `info`; one that is given may also have a board that does not speak yet.
            image: The firmware, a file in Intel's HEX form.
            baud: The speed of the board's bootloader.
        """
        ...
