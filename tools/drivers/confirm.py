"""Whether what a device reports is what it was told, or the way there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.device import FANS, LOCKS, Activity, Change, Device, State
from tools.drivers.mqtt_payloads.wire import from_scale, from_volume, to_scale, to_volume

_NEAR = 2
"""How far from a position a motor may stop, in percent points."""

_NEAR_TARGET = 0.3
"""How far from a target it may be set, in degrees Celsius: a thermostat may have steps of half a degree."""

_NEAR_WHITE = 30
"""How far from a white one may be that is still shown, in mireds."""

_NEAR_PART = 60
"""The same for each part of a colour, of 255."""

_REACHED: dict[Activity, tuple[Activity, ...]] = {
    "working": ("working",),
    "returning": ("returning", "docked"),
    "stopped": ("stopped", "docked"),
}
"""What a robot may report when it was told so."""


@dataclass(frozen=True)
class Steps:
    """What a device calls full: it takes, and tells, the nearest of its steps."""

    speed: int = 100
    volume: int = 100


_PERCENT = Steps()


def confirmed(device: Device, change: Change, before: State, state: State, steps: Steps = _PERCENT) -> State | None:
    """The state, if it is that of a device which did as it was told; None where it is not.

    A door or a cover that takes its time is then on its way, and said to be. A colour that is told is not compared
    with the wish, as lamps report the nearest one that they can show; but one that stays as it was is none.

    Args:
        device: Which one.
        change: What it was told.
        before: How it was then.
        state: How it reports to be.
        steps: Those of its speed and its volume.
    """
    if change.open is not None or change.position is not None or change.stop:
        return _opened(change, before, state)
    right = (
        _switched(change, state, steps.speed)
        and _shown(change, before, state)
        and _played(change, before, state, steps.volume)
        and _regulated(change, state)
        and (change.locked is None or state.locked is change.locked)
        and (change.activity is None or state.activity in _REACHED[change.activity])
    )
    return state if right else None


def reported(device: Device, change: Change, state: State) -> str:
    """What a device reports that did something else, following "it reports"."""
    if device.kind in LOCKS and state.locked is None:
        return "that it is jammed"
    if change.target is not None:
        return "another target"
    if change.volume is not None and state.volume is not None:
        return f"a volume of {state.volume} percent"
    if change.muted is not None and state.muted is not None:
        return "muted" if state.muted else "not muted"
    level = {"on": state.speed if device.kind in FANS else state.brightness, "open": state.position}.get(state.word)
    return state.word if level is None else f"{state.word} at {level} percent"


def _switched(change: Change, state: State, scale: int) -> bool:
    """On, brightness, effect and speed; what a device does not tell of is taken from its being on."""
    if change.on is not None and state.on is not change.on:
        return False
    if change.brightness is not None and state.brightness is not None and abs(state.brightness - change.brightness) > 1:
        return False
    if change.effect is not None and state.effect is not None and state.effect != change.effect:
        return False
    if change.speed is None or state.speed is None:
        return True
    # A fan with three speeds takes the nearest.
    return abs(state.speed - from_scale(to_scale(change.speed, scale), scale)) <= 1


def _shown(change: Change, before: State, state: State) -> bool:
    """A lamp that still shows what it did is told otherwise only if that is near: it may have no nearer."""
    if change.kelvin is not None and state.kelvin is not None and state.kelvin == before.kelvin:
        return abs(1e6 / state.kelvin - 1e6 / change.kelvin) <= _NEAR_WHITE
    if change.rgb is not None and state.rgb is not None and state.rgb == before.rgb:
        return all(abs(told - wanted) <= _NEAR_PART for told, wanted in zip(state.rgb, change.rgb, strict=True))
    return True


def _played(change: Change, before: State, state: State, scale: int) -> bool:
    if (change.playing or change.play is not None) and not state.playing:
        return False
    # What is idle or off does not play either.
    if change.playing is False and (state.playing or state.on is None):
        return False
    if change.skip == 1 and state.title is not None and state.title == before.title:
        return False
    if change.muted is not None and state.muted is not change.muted:
        return False
    if change.volume is None:
        return True
    return state.volume is not None and abs(state.volume - from_volume(to_volume(change.volume, scale), scale)) <= 1


def _regulated(change: Change, state: State) -> bool:
    if change.mode is not None and state.mode != change.mode:
        return False
    if change.target is None:
        return True
    return state.target is not None and abs(state.target - change.target) <= _NEAR_TARGET


def _opened(change: Change, before: State, state: State) -> State | None:
    """Arrived, or on its way: it says so, or its position comes nearer."""
    if change.stop:
        return None if state.moving else state
    goal = change.position if change.position is not None else 100 if change.open else 0
    opens = _opens(goal, before.position)
    if state.moving:
        return state if opens in (None, state.open) else None
    if state.position is None:
        # It tells no position, so only the ends can be confirmed.
        return state if goal in (0, 100) and state.open is (goal == 100) else None
    if state.position == goal or (goal > 0 and abs(state.position - goal) <= _NEAR):
        return state
    if before.position is not None and before.position != state.position:
        between = sorted((before.position, state.position, goal))[1] == state.position
        return replace(state, moving=True, open=opens) if between else None
    return None


def _opens(goal: int, position: int | None) -> bool | None:
    """Whether it is to open further; None where that is not known."""
    if goal in (0, 100):
        return goal == 100
    return None if position is None else goal > position
