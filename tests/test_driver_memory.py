"""Devices in memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import SettingsError
from tools.device import (
    CLIMATE,
    COVERS,
    LIGHTS,
    LOCKS,
    OPENING,
    PLAYERS,
    ROBOTS,
    Ability,
    Change,
    Device,
    Kind,
    Mode,
    State,
)
from tools.drivers.memory import MemoryDriver, MemoryOptions
from tools.home import Home

MODES: tuple[Mode, ...] = ("off", "heat", "cool")

SHINES: tuple[Ability, ...] = ("brightness", "color", "white")

LAMP = Device("lamp", "lamp", Kind.LIGHT, can=SHINES, effects=("candle",), options=MemoryOptions(True, 40))
PLUG = Device("plug", "plug", Kind.PLUG)
FAN = Device("fan", "fan", Kind.FAN, can=("speed",))
DOOR = Device("door", "door", Kind.GARAGE_DOOR, options=MemoryOptions(open=True))
BLIND = Device("blind", "blind", Kind.BLIND, can=("position",), options=MemoryOptions(position=60))
WINDOW = Device("window", "window", Kind.WINDOW)
LOCK = Device("lock", "lock", Kind.LOCK)
HEATING = Device(
    "heating", "heating", Kind.THERMOSTAT, modes=MODES, options=MemoryOptions(temperature=19.5, target=21, mode="cool")
)
SPEAKER = Device("speaker", "speaker", Kind.SPEAKER, options=MemoryOptions(playing=True, title="Radio", volume=35))
ROBOT = Device("robot", "robot", Kind.VACUUM)
METER = Device("meter", "meter", Kind.SENSOR, measures="power", unit="watts", options=MemoryOptions(value=64))
MOTION = Device("motion", "motion", Kind.DETECTOR, measures="motion")

ALL = (LAMP, PLUG, FAN, DOOR, BLIND, WINDOW, LOCK, HEATING, SPEAKER, ROBOT, METER, MOTION)


@pytest.fixture
def states() -> dict[str, State]:
    return {}


@pytest.fixture
def driver(states: dict[str, State]) -> MemoryDriver:
    return MemoryDriver(ALL, states.__setitem__)


def test_the_first_states_are_those_of_the_settings(driver: MemoryDriver, states: dict[str, State]) -> None:
    assert states == {
        "lamp": State(on=True, brightness=40, effect=""),
        "plug": State(on=False),
        "fan": State(on=False, speed=100),
        "door": State(open=True),
        "blind": State(open=True, position=60),
        "window": State(open=False),
        "lock": State(locked=True),
        "heating": State(temperature=19.5, target=21, mode="cool"),
        "speaker": State(on=True, playing=True, title="Radio", volume=35, muted=False),
        "robot": State(activity="docked"),
        "meter": State(value=64),
        "motion": State(detected=False),
    }


@pytest.mark.parametrize("percent", range(1, 101))
async def test_every_percentage_is_read_back_as_it_was_set(driver: MemoryDriver, percent: int) -> None:
    assert (await driver.move(LAMP, Change(on=True, brightness=percent))).brightness == percent
    assert (await driver.move(FAN, Change(on=True, speed=percent))).speed == percent
    assert (await driver.move(BLIND, Change(position=percent))).position == percent
    assert (await driver.move(SPEAKER, Change(volume=percent))).volume == percent


async def test_a_change_is_reported(driver: MemoryDriver, states: dict[str, State]) -> None:
    await driver.move(LAMP, Change(on=False))
    await driver.move(DOOR, Change(open=False))

    assert states["lamp"] == State(on=False, brightness=40, effect="")
    assert states["door"].word == "closed"


@pytest.mark.parametrize(
    ("device", "changes", "expected"),
    [
        (LAMP, [Change(on=False), Change(on=True)], {"on": True, "brightness": 40}),
        (LAMP, [Change(on=True, rgb=(255, 0, 0)), Change(on=True, kelvin=2700)], {"rgb": None, "kelvin": 2700}),
        (LAMP, [Change(on=True, kelvin=2700), Change(on=True, rgb=(9, 0, 0))], {"rgb": (9, 0, 0), "kelvin": None}),
        (LAMP, [Change(on=True, effect="candle")], {"on": True, "effect": "candle"}),
        (LAMP, [Change(on=True, effect="candle"), Change(on=True, kelvin=2700)], {"effect": "", "kelvin": 2700}),
        (LAMP, [Change(on=True, effect="candle"), Change(effect="")], {"effect": ""}),
        (FAN, [Change(on=True, speed=30), Change(on=False)], {"on": False, "speed": 30}),
        (BLIND, [Change(position=30)], {"open": True, "position": 30, "moving": False}),
        (BLIND, [Change(open=False)], {"open": False, "position": 0}),
        (BLIND, [Change(open=True)], {"open": True, "position": 100}),
        (BLIND, [Change(stop=True)], {"open": True, "position": 60, "moving": False}),
        (LOCK, [Change(locked=False)], {"locked": False, "word": "unlocked"}),
        (HEATING, [Change(target=22.5)], {"target": 22.5, "mode": "cool", "temperature": 19.5}),
        (HEATING, [Change(mode="off"), Change(mode="on")], {"mode": "cool"}),
        (HEATING, [Change(mode="heat"), Change(mode="off"), Change(mode="on")], {"mode": "heat"}),
        (SPEAKER, [Change(playing=False)], {"on": True, "playing": False, "title": "Radio", "word": "paused"}),
        (SPEAKER, [Change(on=False)], {"on": False, "playing": None, "title": None, "word": "off"}),
        (SPEAKER, [Change(on=False), Change(playing=True)], {"on": True, "word": "playing"}),
        (SPEAKER, [Change(on=False), Change(play="jazz")], {"on": True, "playing": True, "title": "jazz"}),
        (SPEAKER, [Change(volume=0, muted=True)], {"volume": 0, "muted": True, "playing": True}),
        (SPEAKER, [Change(skip=1)], {"playing": True}),
        (ROBOT, [Change(activity="working", area="kitchen")], {"activity": "working"}),
        (ROBOT, [Change(activity="working"), Change(activity="stopped")], {"activity": "stopped"}),
        (ROBOT, [Change(activity="working"), Change(activity="returning")], {"activity": "docked"}),
    ],
)
async def test_a_device_is_then_as_it_was_told(
    driver: MemoryDriver, states: dict[str, State], device: Device, changes: list[Change], expected: dict[str, Any]
) -> None:
    for change in changes:
        told = await driver.move(device, change)

    assert states[device.id] == told
    assert {name: getattr(told, name) for name in expected} == expected


async def test_on_is_the_first_mode_of_a_device_that_was_off_from_the_start() -> None:
    heating = Device("heating", "heating", Kind.THERMOSTAT, modes=("off", "eco", "heat"))

    assert (await MemoryDriver([heating], lambda *_: None).move(heating, Change(mode="on"))).mode == "eco"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (Kind.LIGHT, Change(on=True, brightness=40, rgb=(1, 2, 3), kelvin=2700, effect="candle")),
        (Kind.PLUG, Change(on=True, brightness=40, speed=40, volume=40)),
        (Kind.FAN, Change(on=True, speed=40)),
        (Kind.GARAGE_DOOR, Change(open=True, position=40, locked=True)),
        (Kind.SENSOR, Change(on=True, open=True, target=20)),
    ],
)
async def test_what_a_device_cannot_do_is_not_kept(kind: Kind, change: Change) -> None:
    device = Device("it", "it", kind)
    state = await MemoryDriver([device], lambda *_: None).move(device, change)

    assert {name for name, value in vars(state).items() if value not in (None, False)} <= {"on", "open", "available"}


@given(st.sampled_from(ALL), st.lists(st.builds(
    Change,
    on=st.none() | st.booleans(),
    brightness=st.none() | st.integers(1, 100),
    open=st.none() | st.booleans(),
    position=st.none() | st.integers(1, 99),
    playing=st.none() | st.booleans(),
    mode=st.none() | st.sampled_from(MODES),
    locked=st.none() | st.booleans(),
    volume=st.none() | st.integers(0, 100),
)))  # fmt: skip
def test_whatever_it_is_told_a_state_holds_together(device: Device, changes: list[Change]) -> None:
    driver = MemoryDriver([device], lambda *_: None)
    for change in changes:
        moving = driver.move(device, change)
        with pytest.raises(StopIteration) as done:
            moving.send(None)  # memory never waits
        state: State = done.value.value

        assert all(getattr(state, name) is None for name in _VALUES - device.tells)
        assert state.position is None or state.open is (state.position > 0)
        assert not state.playing or state.on
        assert state.word != "unknown"


_VALUES = {name for name, value in vars(State()).items() if value is None}


@pytest.mark.parametrize(
    ("device", "error"),
    [
        ({"kind": "lock", "memory": {"brightness": 100}}, "brightness is not for this lock; allowed are open, locked"),
        ({"kind": "light", "can": [], "memory": {"brightness": 40}}, "brightness is not for this light"),
        ({"kind": "fan", "memory": {"speed": 40}}, "speed is not for this fan; allowed are on"),
        ({"kind": "garage_door", "memory": {"position": 40}}, "position is not for this garage door; allowed are open"),
        ({"kind": "switch", "memory": {"locked": True}}, "locked is not for this switch"),
        ({"kind": "light", "memory": {"brightness": 0}}, "brightness is 0; allowed is 1 to 100"),
        ({"kind": "blind", "memory": {"position": 101}}, "position is 101; allowed is 0 to 100"),
        ({"kind": "blind", "memory": {"open": False, "position": 40}}, "open is false and position is 40"),
        ({"kind": "thermostat", "memory": {"target": 40}}, "target is 40.0; allowed is 5 to 30"),
        ({"kind": "thermostat", "memory": {"temperature": float("nan")}}, "temperature is nan"),
        ({"kind": "thermostat", "memory": {"mode": "dry"}}, "mode is 'dry'; the device's modes are off, heat"),
        ({"kind": "speaker", "memory": {"on": False, "playing": True}}, "what plays is on"),
        ({"kind": "vacuum", "memory": {"activity": "flying"}}, "activity is 'flying'; allowed are working"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_its_key(device: dict[str, Any], error: str) -> None:
    with pytest.raises(SettingsError) as raised:
        Home.from_settings({"device": [{"name": "thing", **device}]})

    assert error in str(raised.value)
    assert '"thing": memory' in str(raised.value)


@pytest.mark.parametrize("kind", Kind)
def test_a_device_of_any_kind_needs_no_settings(kind: Kind) -> None:
    measures = {"measures": "motion"} if kind in (Kind.SENSOR, Kind.DETECTOR) else {}
    home = Home.from_settings({"device": [{"name": "thing", "kind": kind.value, **measures}]})
    states: dict[str, State] = {}
    MemoryDriver(home.devices, states.__setitem__)

    assert (states["thing"].word == "unknown") == (kind is Kind.SENSOR)


@pytest.mark.parametrize(
    ("kinds", "can", "fields"),
    [
        (LIGHTS, (), {"on"}),
        (LIGHTS, SHINES, {"on", "brightness", "rgb", "kelvin"}),
        (COVERS, ("position",), {"open", "moving", "position"}),
        (LOCKS, (), {"open", "moving", "locked"}),
        (CLIMATE, (), {"temperature", "humidity", "target", "mode"}),
        (PLAYERS, (), {"on", "playing", "title", "volume", "muted"}),
        (ROBOTS, (), {"activity"}),
        (OPENING, (), {"open", "moving"}),
    ],
)
def test_what_a_device_tells_is_its_kind_and_its_abilities(
    kinds: frozenset[Kind], can: tuple[Ability, ...], fields: set[str]
) -> None:
    for kind in kinds:
        assert Device("it", "it", kind, can=can).tells == fields


async def test_memory_is_always_well(driver: MemoryDriver) -> None:
    assert driver.health() == "ok"
    assert await driver.probe() == []


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (State(on=True), "on"), (State(on=False), "off"), (State(open=True), "open"), (State(open=False), "closed"),
        (State(open=True, moving=True), "opening"), (State(open=False, moving=True), "closing"),
        (State(locked=True), "locked"), (State(locked=False, open=True), "unlocked"),
        (State(locked=True, moving=True), "locking"), (State(locked=False, moving=True), "unlocking"),
        (State(on=True, playing=True), "playing"), (State(on=True, playing=False), "paused"),
        (State(on=True, playing=None), "on"), (State(on=False, playing=False), "off"),
        (State(detected=True), "detected"), (State(detected=False), "clear"),
        (State(mode="heat"), "heat"), (State(activity="docked"), "docked"), (State(value=0.0), "known"),
        (State(), "unknown"), (State(on=True, available=False), "unknown"),
    ],
)  # fmt: skip
def test_a_state_has_one_word(state: State, word: str) -> None:
    assert state.word == word
