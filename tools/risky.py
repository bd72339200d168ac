"""Moving what can hurt or let somebody in: a person is asked first, by the names that are stored.

A device that tells that it is already as it is to be is not asked about, and nothing is sent to it: no bolt runs for
nothing. What a broker had kept of it is no such word, as nobody may be there any more. One that is gone is said to be
so before anybody is asked, and what was not named in the question does not move after the yes, though it may have
come back meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from tools.device import Change, Device, State
from tools.devices import Devices, Outcome
from tools.names.resolve import Found
from tools.results import moved
from tools.speech import failures, listed, sentence, the

Reached = Callable[[State], bool]
"""Whether a device that is in a state is as it is to be."""

_GONE = "is not available"

_named: ContextVar[frozenset[str] | None] = ContextVar("_named", default=None)
"""The ids of the devices that the question of this call named; None where there was none. A tool is handed no
context, and the answer to a question takes its time."""


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
    there = [device for device in place.devices if devices.state(device).available]
    if all(_is_so(devices.state(device), reached) for device in there):
        _named.set(frozenset())
        return None
    _named.set(frozenset(device.id for device in there))
    gone = failures({device.name: _GONE for device in place.devices if device not in there})
    ask = f"Shall I {wish.format(listed([the(device.name) for device in there]))}?"
    return f"{sentence(gone)} {ask}" if gone else ask


def named() -> frozenset[str]:
    """The ids of the devices that the last question named."""
    return _named.get() or frozenset()


def only(ids: frozenset[str]) -> bool:
    """Leaves of what the last question named what an earlier one had named too; False where that is nothing."""
    _named.set(named() & ids)
    return bool(named())


async def move(devices: Devices, place: Found, change: Change, reached: Reached) -> dict[str, Any]:
    """Moves what is there, was named, and is not yet as it is to be; the result tells of all."""
    asked_about = _named.get()
    _named.set(None)
    outcomes = {device.id: Outcome(device, devices.state(device)) for device in place.devices}
    waiting: list[Device] = []
    for device in place.devices:
        state = devices.state(device)
        if not state.available:
            outcomes[device.id] = Outcome(device, state, _GONE)
        elif _is_so(state, reached):
            continue
        elif asked_about is None or device.id in asked_about:
            waiting.append(device)
        else:
            outcomes[device.id] = Outcome(device, state, "was not asked about")
    for outcome in await devices.move(waiting, lambda device, state: change):
        outcomes[outcome.device.id] = outcome
    return moved(place, list(outcomes.values()))


def _is_so(state: State, reached: Reached) -> bool:
    return reached(state) and not state.old
