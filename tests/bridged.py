"""A house that finds its devices at a broker, and what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agent.house import HouseEvent
from tests.brokers import Mosquitto
from tests.homes import said
from tools.house import House, open_house

ROOMS = [{"name": "kitchen"}, {"name": "living room"}, {"name": "hall"}]


@asynccontextmanager
async def house_at(
    broker: Mosquitto,
    timeout_s: float = 5.0,
    name: str = "zigbee2mqtt",
    bridge: dict[str, Any] | None = None,
    **tables: Any,
) -> AsyncIterator[House]:
    """A house that finds its devices at a broker.

    Args:
        broker: Where they are.
        timeout_s: How long one may take to confirm.
        name: The bridge's driver.
        bridge: Its table.
        tables: The rest of the house's table.
    """
    settings = {
        "room": ROOMS,
        "mqtt": {"host": broker.host, "port": broker.port, "confirm_timeout_s": timeout_s},
        name: bridge or {},
        **tables,
    }
    async with open_house(settings) as house:
        yield house


async def do(house: House, name: str, **arguments: Any) -> str:
    """What a function answers."""
    return await said(next(tool for tool in house.tools if tool.name == name), **arguments)


class Watch:
    """What a house tells, as it was told last."""

    def __init__(self) -> None:
        self.devices: dict[str, dict[str, Any]] = {}
        self.events: list[HouseEvent] = []
        self._changed = asyncio.Event()

    async def follow(self, house: House) -> None:
        async for event in house.events():
            self.events.append(event)
            self.devices[event.device] = event.state
            self._changed.set()

    async def until(self, condition: Callable[[dict[str, dict[str, Any]]], bool]) -> None:
        """Waits until what is known of the devices is so."""
        async with asyncio.timeout(10):
            while not condition(self.devices):
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def watching(house: House) -> AsyncIterator[Watch]:
    watch = Watch()
    following = asyncio.create_task(watch.follow(house))
    try:
        yield watch
    finally:
        following.cancel()


def named(devices: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """How the device of that name is; nothing where there is none."""
    return next((state for state in devices.values() if state.get("name") == name), {})
