"""What a call is about, told without doing it: by this two calls are compared. See `agent.house.House.targets`."""

from __future__ import annotations

from typing import Any

from tools.devices import Devices
from tools.names.resolve import PlaceError, Wish
from tools.names.words import name_key


def of_devices(devices: Devices, words: Any, wish: Wish) -> frozenset[str]:
    """The ids of the devices that are meant; without words all that are wished."""
    if words is None:
        return frozenset(device.id for device in devices.home.devices if device.kind in wish.kinds)
    if not isinstance(words, str):
        return frozenset()
    try:
        return frozenset(device.id for device in devices.find(words, wish).devices)
    except PlaceError:
        return frozenset({of_name(words)})


def of_name(name: str) -> str:
    """What stands for a thing that is no device, the same for the same name. No id has a space."""
    return f"? {name_key(name)}"
