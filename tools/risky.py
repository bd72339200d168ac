"""Moving what can hurt or let somebody in: a person is asked first, by the names that are stored.

A device that tells that it is already as it is to be is not asked about, and nothing is sent to it: no
bolt runs for nothing, and where a report was old, no door moves without a yes. One that is gone is said to be so
before anybody is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.devices import Devices, Outcome
from tools.drivers import Change, Device, State
from tools.names.resolve import Found
from tools.results import moved
from tools.speech import failures, listed, sentence, the

Reached = Callable[[State], bool]
"""Whether a device that is in a state is as it is to be."""

_GONE = "is not available"


def question(devices: Devices, place: Found, wish: str, reached: Reached) -> str | None:
    """What a person is asked before a move.

    Args:
        devices: The devices of the home.
        place: Which of them are to be moved.
        wish: What is asked for, with the names at `{}`: "open {}".
        reached: What is to come about.

    Returns:
        The question; None where nothing would be sent.
    """
    states = {device.name: devices.state(device) for device in place.devices}
    there = [name for name, state in states.items() if state.available]
    if all(reached(states[name]) for name in there):
        return None
    gone = failures({name: _GONE for name in states if name not in there})
    ask = f"Shall I {wish.format(listed([the(name) for name in there]))}?"
    return f"{sentence(gone)} {ask}" if gone else ask


async def move(devices: Devices, place: Found, change: Change, reached: Reached) -> dict[str, Any]:
    """Moves what is there and not yet as it is to be; the result tells of all."""
    outcomes = {device.id: Outcome(device, devices.state(device)) for device in place.devices}
    waiting: list[Device] = []
    for device in place.devices:
        state = devices.state(device)
        if not state.available:
            outcomes[device.id] = Outcome(device, state, _GONE)
        elif not reached(state):
            waiting.append(device)
    for outcome in await devices.move(waiting, lambda device, state: change):
        outcomes[outcome.device.id] = outcome
    return moved(place, list(outcomes.values()))
