"""What plain MQTT devices are sent, and what they say."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import SettingsError
from tests.mqtt_bench import mqtt_device
from tools.device import ANY, OPENING, SENSORS, Change, Device, Kind, State
from tools.drivers.confirm import Steps, confirmed
from tools.drivers.mqtt_payloads import MqttOptions, command, read_availability, read_state
from tools.drivers.mqtt_payloads.players import MAX_TITLE
from tools.home import Home

LAMP = mqtt_device(
    "lamp", Kind.LIGHT, {"availability_topic": "lamp/availability", "brightness_scale": 254},
    can=("brightness", "color", "white"), effects=("Candle", "rainbow"),
)  # fmt: skip
PLUG = mqtt_device("plug", Kind.PLUG)
FAN = mqtt_device("fan", Kind.FAN, can=("speed",))
SLOW_FAN = mqtt_device("slow", Kind.FAN, {"speed_scale": 3}, can=("speed",))
DOOR = mqtt_device("door", Kind.GARAGE_DOOR)
BLIND = mqtt_device("blind", Kind.BLIND, can=("position",))
AWNING = mqtt_device("awning", Kind.AWNING, {"position_open": 0, "position_closed": 254}, can=("position",))
WINDOW = mqtt_device("window", Kind.WINDOW)
CONTACT = mqtt_device("contact", Kind.WINDOW, {"value_key": "contact", "payload_on": "false", "payload_off": "true"})
LOCK = mqtt_device("lock", Kind.LOCK)
HEATING = mqtt_device("heating", Kind.THERMOSTAT, modes=("off", "heat"))
COOLER = mqtt_device("cooler", Kind.AIR_CONDITIONER, {"temperature_unit": "fahrenheit"}, modes=("off", "cool", "fan"))
SPEAKER = mqtt_device("speaker", Kind.SPEAKER, {"volume_scale": 50})
ROBOT = mqtt_device("robot", Kind.VACUUM)
OWN_WORDS = {"payload_start": "START", "payload_stop": "STOP", "payload_return": "HOME"}
VALETUDO = mqtt_device("valetudo", Kind.VACUUM, OWN_WORDS)
MOWER = mqtt_device("mower", Kind.MOWER)
METER = mqtt_device("meter", Kind.SENSOR, measures="power", unit="watts")
AIR = mqtt_device("air", Kind.SENSOR, {"value_key": "humidity"}, measures="humidity", unit="percent")
MOTION = mqtt_device("motion", Kind.DETECTOR, {"value_key": "occupancy"}, measures="motion")

ALL = (
    LAMP, PLUG, FAN, SLOW_FAN, DOOR, BLIND, AWNING, WINDOW, CONTACT, LOCK, HEATING, COOLER, SPEAKER, ROBOT, MOWER,
    METER, AIR, MOTION,
)  # fmt: skip


@pytest.mark.parametrize(
    ("device", "change", "payload"),
    [
        (LAMP, Change(on=True), '{"state": "ON"}'),
        (LAMP, Change(on=False), '{"state": "OFF"}'),
        (LAMP, Change(on=False, brightness=50), '{"state": "OFF"}'),
        (LAMP, Change(on=True, brightness=1), '{"state": "ON", "brightness": 3}'),
        (LAMP, Change(on=True, kelvin=2700), '{"state": "ON", "color_temp": 370}'),
        (LAMP, Change(on=True, rgb=(255, 0, 0)), '{"state": "ON", "color": {"r": 255, "g": 0, "b": 0}}'),
        (LAMP, Change(on=True, effect="Candle"), '{"state": "ON", "effect": "Candle"}'),
        (LAMP, Change(effect=""), '{"state": "ON", "effect": "none"}'),
        (
            replace(LAMP, options=replace(LAMP.options, color_temp_kelvin=True, color_mode="hs")),
            Change(on=True, rgb=(0, 255, 0)),
            '{"state": "ON", "color": {"h": 120.0, "s": 100.0}}',
        ),
        (
            replace(LAMP, options=replace(LAMP.options, color_temp_kelvin=True)),
            Change(on=True, kelvin=2700),
            '{"state": "ON", "color_temp": 2700}',
        ),
        (
            replace(LAMP, can=(), effects=()),
            Change(on=True, brightness=5, rgb=(1, 2, 3), effect="x"),
            '{"state": "ON"}',
        ),
        (PLUG, Change(on=True), "ON"),
        (PLUG, Change(on=False), "OFF"),
        (replace(PLUG, options=replace(PLUG.options, payload_on="1")), Change(on=True), "1"),
        (replace(PLUG, options=replace(PLUG.options, schema="json")), Change(on=True), '{"state": "ON"}'),
        (replace(FAN, can=()), Change(on=True), "ON"),
        (FAN, Change(on=True), '{"state": "ON"}'),
        (FAN, Change(on=True, speed=40), '{"state": "ON", "percentage": 40}'),
        (FAN, Change(on=False, speed=40), '{"state": "OFF"}'),
        (SLOW_FAN, Change(on=True, speed=34), '{"state": "ON", "percentage": 1}'),
        (SLOW_FAN, Change(on=True, speed=100), '{"state": "ON", "percentage": 3}'),
        (DOOR, Change(open=True), "OPEN"),
        (DOOR, Change(open=False), "CLOSE"),
        (DOOR, Change(position=40), None),
        (BLIND, Change(stop=True), "STOP"),
        (BLIND, Change(position=40), '{"position": 40}'),
        (AWNING, Change(position=1), '{"position": 251}'),
        (replace(BLIND, options=replace(BLIND.options, payload_open="up")), Change(open=True), "up"),
        (LOCK, Change(locked=True), "LOCK"),
        (LOCK, Change(locked=False), "UNLOCK"),
        (LOCK, Change(on=True), None),
        (HEATING, Change(target=21.5), '{"target": 21.5}'),
        (HEATING, Change(target=20, mode="heat"), '{"target": 20, "mode": "heat"}'),
        (COOLER, Change(target=22.2222), '{"target": 72.0}'),
        (COOLER, Change(mode="fan"), '{"mode": "fan_only"}'),
        (SPEAKER, Change(on=True), '{"command": "turn_on"}'),
        (SPEAKER, Change(on=False), '{"command": "turn_off"}'),
        (SPEAKER, Change(playing=True), '{"command": "play"}'),
        (SPEAKER, Change(playing=False), '{"command": "pause"}'),
        (SPEAKER, Change(skip=1), '{"command": "next"}'),
        (SPEAKER, Change(skip=-1), '{"command": "previous"}'),
        (SPEAKER, Change(play="Björk", volume=0), '{"play": "Björk", "volume": 0}'),
        (SPEAKER, Change(volume=30), '{"volume": 15}'),
        (SPEAKER, Change(muted=True), '{"muted": true}'),
        (ROBOT, Change(activity="working"), "start"),
        (VALETUDO, Change(activity="working"), "START"),
        (VALETUDO, Change(activity="stopped"), "STOP"),
        (VALETUDO, Change(activity="returning"), "HOME"),
        (VALETUDO, Change(activity="working", area="Küche"), None),
        (ROBOT, Change(activity="stopped"), "stop"),
        (ROBOT, Change(activity="returning"), "return_to_base"),
        (ROBOT, Change(activity="working", area="Küche"), '{"command": "clean_area", "area": "Küche"}'),
        (MOWER, Change(activity="working"), "start_mowing"),
        (MOWER, Change(activity="stopped"), "pause"),
        (MOWER, Change(activity="returning"), "dock"),
        (MOWER, Change(activity="working", area="front"), '{"command": "mow_area", "area": "front"}'),
        (METER, Change(on=True), None),
    ],
)
def test_a_command_is_what_the_device_understands(device: Device, change: Change, payload: str | None) -> None:
    assert command(device, change) == payload


BEFORE = State(brightness=50)


@pytest.mark.parametrize(
    ("device", "payload", "expected"),
    [
        (LAMP, '{"state": "ON", "brightness": 254}', {"on": True, "brightness": 100}),
        (LAMP, '{"state": "OFF"}', {"on": False, "brightness": 50}),
        (LAMP, '{"state": "OFF", "brightness": 0}', {"on": False, "brightness": 50}),
        (LAMP, '{"state": "ON", "color_mode": "color_temp", "color_temp": 370}', {"kelvin": 2703, "rgb": None}),
        (LAMP, '{"state": "ON", "color_mode": "color_temp", "color_temp": 2000001}', {"kelvin": 2200}),
        (LAMP, '{"state": "ON", "color_mode": "color_temp", "color_temp": 1}', {"kelvin": 6500}),
        (LAMP, '{"state": "ON", "color_mode": "rgb", "color": {"r": 1, "g": 2, "b": 3}}', {"rgb": (1, 2, 3)}),
        (LAMP, '{"state": "ON", "color_mode": "hs", "color": {"h": 240, "s": 100}}', {"rgb": (0, 0, 255)}),
        (LAMP, '{"state": "ON", "color": {"r": 1, "g": 2, "b": 3}}', {"on": True, "rgb": None}),
        (LAMP, '{"state": "ON", "brightness": NaN}', {"on": True, "brightness": 50}),
        (LAMP, '{"state": "ON", "effect": "candle"}', {"effect": "Candle"}),
        (LAMP, '{"state": "ON", "effect": null}', {"effect": ""}),
        (LAMP, '{"state": "ON", "effect": "None"}', {"effect": ""}),
        (replace(LAMP, can=(), effects=()), '{"state": "ON", "brightness": 9, "effect": "x"}', {"brightness": 50}),
        (replace(LAMP, can=()), '{"state": "ON", "color_mode": "color_temp", "color_temp": 9}', {"kelvin": None}),
        (PLUG, "on", {"on": True}),
        (PLUG, "OFF\n", {"on": False}),
        (PLUG, '{"state": "ON"}', {"on": True}),
        (FAN, '{"state": "ON", "percentage": 40}', {"on": True, "speed": 40}),
        (FAN, '{"state": "OFF", "percentage": 0}', {"on": False, "speed": None}),
        (SLOW_FAN, '{"state": "ON", "percentage": 2}', {"speed": 67}),
        (replace(FAN, can=()), "ON", {"on": True, "speed": None}),
        (DOOR, "opening", {"open": True, "moving": True}),
        (DOOR, "closed", {"open": False, "moving": False}),
        (DOOR, '{"state": "open", "position": 40}', {"open": True, "position": None}),
        (BLIND, '{"state": "OPEN", "position": 40}', {"open": True, "position": 40, "moving": False}),
        (BLIND, '{"position": 0}', {"open": False, "position": 0}),
        (BLIND, '{"state": "closing", "position": 40}', {"open": False, "position": 40, "moving": True}),
        (BLIND, '{"state": "stopped", "position": 40}', {"open": True, "position": 40, "moving": False}),
        (BLIND, "CLOSE", {"open": False, "position": 0}),
        (AWNING, '{"position": 0}', {"open": True, "position": 100}),
        (AWNING, '{"position": 251}', {"open": True, "position": 1}),
        (AWNING, '{"position": 253.9}', {"open": True, "position": 1}),
        (AWNING, '{"position": 0.1}', {"open": True, "position": 99}),
        (WINDOW, "ON", {"open": True}),
        (WINDOW, "closed", {"open": False}),
        (CONTACT, '{"contact": false}', {"open": True}),
        (LOCK, "LOCKED", {"locked": True, "moving": False}),
        (LOCK, "unlocking", {"locked": False, "moving": True}),
        (LOCK, '{"state": "UNLOCK"}', {"locked": False}),
        (LOCK, "JAMMED", {"locked": None, "moving": False}),
        (HEATING, '{"target": 21, "mode": "heat", "temperature": 19.5, "humidity": 45}',
         {"target": 21, "mode": "heat", "temperature": 19.5, "humidity": 45}),
        (HEATING, '{"mode": "emergency", "temperature": null, "humidity": 450, "target": "x"}', {"mode": None}),
        (COOLER, '{"temperature": 71.6, "mode": "fan_only"}', {"temperature": 22.0, "mode": "fan"}),
        (COOLER, '{"target": 72}', {"target": 22.22}),
        (SPEAKER, '{"state": "playing", "volume": 15, "muted": false, "title": "Jazz"}',
         {"on": True, "playing": True, "volume": 30, "muted": False, "title": "Jazz"}),
        (SPEAKER, "paused", {"on": True, "playing": False}),
        (SPEAKER, '{"state": "playing", "title": "\\u001b[2J\\u202eSo\\nWhat\\u0000 "}', {"title": "So What"}),
        (SPEAKER, '{"state": "idle", "title": "Jazz"}', {"on": True, "playing": None, "title": None}),
        (SPEAKER, '{"state": "off", "volume": 0}', {"on": False, "playing": None, "volume": 0}),
        (ROBOT, '{"state": "cleaning", "fan_speed": "max"}', {"activity": "working"}),
        (ROBOT, "idle", {"activity": "stopped"}),
        (VALETUDO, "manual_control", {"activity": "working"}),
        (ROBOT, "error", {"activity": "stuck"}),
        (MOWER, "mowing", {"activity": "working"}),
        (METER, "64.5", {"value": 64.5}),
        (METER, '{"state": -3}', {"value": -3.0}),
        (AIR, '{"temperature": 20.1, "humidity": 45}', {"value": 45.0}),
        (AIR, '{"humidity": "45.5"}', {"value": 45.5}),
        (MOTION, "OFF", {"detected": False}),
        (MOTION, '{"occupancy": true}', {"detected": True}),
    ],
)  # fmt: skip
def test_a_state_is_read_on_top_of_the_one_before(device: Device, payload: str, expected: dict[str, Any]) -> None:
    state = read_state(device, payload.encode(), BEFORE)

    assert {name: getattr(state, name) for name in expected} == expected
    assert state == replace(BEFORE, **{name: getattr(state, name) for name in device.tells})


@pytest.mark.parametrize(
    ("device", "payload"),
    [
        (METER, "nan"), (METER, "inf"), (METER, "1_000"), (METER, "64 W"), (METER, "true"), (METER, ""),
        (AIR, '{"temperature": 20}'), (AIR, '{"humidity": NaN}'), (AIR, '{"humidity": true}'), (AIR, "[45]"),
        (MOTION, "maybe"), (MOTION, '{"occupancy": 1}'), (WINDOW, '{"contact": true}'), (LOCK, "open"),
        (BLIND, "{}"), (BLIND, "half"), (BLIND, '{"position": "40"}'), (HEATING, "21"), (HEATING, '{"t": 21}'),
        (SPEAKER, "loud"), (ROBOT, "dancing"), (FAN, "ON"), (LAMP, "ON"), (PLUG, '{"on": true}'),
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused(device: Device, payload: str) -> None:
    with pytest.raises(ValueError):
        read_state(device, payload.encode(), State())


def test_a_title_that_is_long_is_cut() -> None:
    payload = json.dumps({"state": "playing", "title": "x" * 15_000}).encode()
    title = read_state(SPEAKER, payload, State()).title

    assert title == "x" * (MAX_TITLE - 1) + "…"


@pytest.mark.parametrize("device", ALL, ids=lambda device: device.name)
@pytest.mark.parametrize("number", ["1e308", "-1e308", "5e-324", "1e999", "-Infinity", "9" * 400])
def test_a_number_beyond_all_measure_leaves_a_state_that_holds_together(device: Device, number: str) -> None:
    keys = ["brightness", "color_temp", "percentage", "position", "target", "temperature", "humidity", "volume"]
    numbers = ", ".join(f'"{key}": {number}' for key in keys)
    for word in ("ON", "open", "off", "heat", "docked"):
        with suppress(ValueError):
            payload = f'{{"state": "{word}", "color_mode": "color_temp", {numbers}}}'
            state = read_state(device, payload.encode(), State())

            shown = (state.brightness, state.speed, state.position, state.volume, state.humidity)
            assert all(value is None or 0 <= value <= 100 for value in shown)
            assert state.kelvin is None or device.min_kelvin <= state.kelvin <= device.max_kelvin
            assert all(abs(value or 0) < 1000 for value in (state.target, state.temperature))


@given(st.sampled_from(ALL), st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode), st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.sampled_from(["ON", "open"]),
    lambda inner: st.dictionaries(st.sampled_from(
        ["state", "brightness", "color", "color_mode", "color_temp", "r", "h", "effect", "percentage", "position",
         "target", "mode", "temperature", "humidity", "volume", "muted", "title", "occupancy"]), inner),
).map(lambda data: json.dumps(data).encode())))  # fmt: skip
def test_any_payload_is_read_or_is_a_value_error(device: Device, payload: bytes) -> None:
    with suppress(ValueError):
        state = read_state(device, payload, State())

        assert all(getattr(state, name) in (None, False) for name in _VALUES - device.tells)
        assert all(0 <= (getattr(state, name) or 0) <= 100 for name in ("brightness", "speed", "position", "volume"))
        assert state.brightness != 0 and state.speed != 0
        assert isinstance(state.word, str)
    with suppress(ValueError):
        read_availability(payload, device.options)


_VALUES = {name for name in vars(State()) if name != "available"}


@pytest.mark.parametrize(
    ("device", "change", "before", "state", "word"),
    [
        (LAMP, Change(on=True), State(), State(on=True), "on"),
        (LAMP, Change(on=False), State(), State(on=True), None),
        (LAMP, Change(on=False), State(), State(), None),
        (LAMP, Change(on=True, brightness=80), State(), State(on=True, brightness=81), "on"),
        (LAMP, Change(on=True, brightness=80), State(), State(on=True, brightness=40), None),
        (LAMP, Change(on=True, effect="Candle"), State(), State(on=True, effect=""), None),
        (LAMP, Change(on=True, effect="Candle"), State(), State(on=True, effect="Candle"), "on"),
        (FAN, Change(on=True, speed=40), State(), State(on=True, speed=60), None),
        (SLOW_FAN, Change(on=True, speed=50), State(), State(on=True, speed=67), "on"),
        (SLOW_FAN, Change(on=True, speed=50), State(), State(on=True, speed=33), None),
        (DOOR, Change(open=True), State(), State(open=True, moving=True), "opening"),
        (DOOR, Change(open=True), State(), State(open=False), None),
        (DOOR, Change(open=False), State(), State(open=True, moving=True), None),
        (BLIND, Change(open=True), State(), State(open=True, position=100), "open"),
        (BLIND, Change(open=True), State(position=0), State(open=True, position=7), "opening"),
        (BLIND, Change(open=False), State(position=60), State(open=True, position=50), "closing"),
        (BLIND, Change(open=False), State(position=60), State(open=True, position=70), None),
        (BLIND, Change(open=False), State(position=2), State(open=True, position=2), None),
        (BLIND, Change(position=40), State(position=60), State(open=True, position=42), "open"),
        (BLIND, Change(position=40), State(position=60), State(open=True, position=60), None),
        (BLIND, Change(position=40), State(position=60), State(open=False, position=60, moving=True), "closing"),
        (BLIND, Change(position=40), State(position=60), State(open=True, position=60, moving=True), None),
        (BLIND, Change(position=40), State(position=60), State(open=True, position=50), "closing"),
        (BLIND, Change(position=40), State(position=60), State(open=True, position=10), None),
        (BLIND, Change(position=40), State(), State(open=True), None),
        (BLIND, Change(stop=True), State(), State(open=True, moving=True), None),
        (BLIND, Change(stop=True), State(), State(open=True, position=40), "open"),
        (LOCK, Change(locked=True), State(), State(locked=True, moving=True), "locking"),
        (LOCK, Change(locked=True), State(), State(locked=False), None),
        (LOCK, Change(locked=True), State(locked=True), State(locked=None), None),
        (HEATING, Change(target=21.3), State(), State(target=21.5, mode="heat"), "heat"),
        (HEATING, Change(target=20.5), State(), State(target=20, mode="heat"), None),
        (HEATING, Change(target=20.5), State(), State(mode="heat"), None),
        (HEATING, Change(mode="off"), State(), State(mode="heat"), None),
        (SPEAKER, Change(playing=True), State(), State(on=True, playing=True), "playing"),
        (SPEAKER, Change(playing=True), State(), State(on=True), None),
        (SPEAKER, Change(playing=False), State(), State(on=True), "on"),
        (SPEAKER, Change(playing=False), State(), State(on=True, playing=True), None),
        (SPEAKER, Change(playing=False), State(), State(volume=3), None),
        (SPEAKER, Change(play="jazz"), State(), State(on=True, playing=True, title="So What"), "playing"),
        (SPEAKER, Change(play="jazz"), State(), State(on=True, playing=False), None),
        (SPEAKER, Change(skip=1), State(title="a"), State(on=True, playing=True, title="b"), "playing"),
        (SPEAKER, Change(skip=1), State(title="a"), State(on=True, playing=True, title="a"), None),
        (SPEAKER, Change(skip=-1), State(title="a"), State(on=True, playing=True, title="a"), "playing"),
        (SPEAKER, Change(volume=31), State(), State(on=True, volume=32), "on"),
        (SPEAKER, Change(volume=0), State(), State(on=True, volume=30), None),
        (SPEAKER, Change(volume=30), State(), State(on=True), None),
        (SPEAKER, Change(muted=True), State(), State(on=True, muted=False), None),
        (SPEAKER, Change(muted=True), State(), State(on=True, muted=True), "on"),
        (ROBOT, Change(activity="returning"), State(), State(activity="docked"), "docked"),
        (ROBOT, Change(activity="returning"), State(), State(activity="working"), None),
        (ROBOT, Change(activity="working"), State(), State(activity="docked"), None),
        (ROBOT, Change(activity="working"), State(), State(activity="stuck"), None),
    ],
)
def test_a_state_confirms_a_change_or_not(
    device: Device, change: Change, before: State, state: State, word: str | None
) -> None:
    steps = Steps(device.options.speed_scale, device.options.volume_scale)
    told = confirmed(device, change, before, state, steps)

    assert (told.word if told is not None else None) == word


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ({"kind": "lock", "mqtt": {"brightness_scale": 254}}, "brightness_scale is not for a lock; allowed are"),
        ({"kind": "switch", "mqtt": {"payload_open": "up"}}, "payload_open is not for a switch"),
        ({"kind": "blind", "mqtt": {"schema": "json"}}, "schema is not for a blind"),
        ({"kind": "light", "mqtt": {"schema": "plain"}}, 'schema "plain" only switches'),
        ({"kind": "fan", "can": ["speed"], "mqtt": {"schema": "plain"}}, 'schema "plain" only switches'),
        ({"kind": "fan", "mqtt": {"speed_scale": 0}}, "speed_scale is 0; allowed is 1 to 65535"),
        ({"kind": "blind", "mqtt": {"position_open": 0}}, "position_open and position_closed must be at least 2 apart"),
        ({"kind": "speaker", "mqtt": {"command_topic": "it/state"}}, "state_topic is command_topic"),
        ({"kind": "speaker", "mqtt": {"availability_topic": "it/state"}}, "availability_topic is state_topic"),
        ({"kind": "speaker", "mqtt": {"state_topic": "it/#"}}, "is no topic of one device"),
        ({"kind": "speaker", "mqtt": {"command_topic": "hearth/desk/command"}}, "command_topic is below hearth/"),
        ({"kind": "vacuum", "mqtt": {"payload_start": "GO"}}, "payload_start and payload_return belong together"),
        ({"kind": "vacuum", "mqtt": {"payload_start": "go", "payload_return": "GO"}}, "must be different words"),
        ({"kind": "lock", "mqtt": {"payload_start": "GO"}}, "payload_start is not for a lock"),
        ({"kind": "lock", "mqtt": {"payload_lock": "UNLOCK"}}, "payload_lock, payload_unlock must be different words"),
        ({"kind": "garage_door", "mqtt": {"payload_open": "GO", "payload_close": "go"}}, "must be different words"),
        ({"kind": "blind", "mqtt": {"payload_stop": "OPEN"}}, "payload_open, payload_close, payload_stop must be"),
        ({"kind": "switch", "mqtt": {"payload_on": "off"}}, "payload_on, payload_off must be different words"),
        ({"kind": "light", "mqtt": {"payload_available": "Offline"}}, "payload_available, payload_not_available must"),
    ],
)
def test_a_table_that_is_not_for_the_device_is_refused_by_its_key(table: dict[str, Any], error: str) -> None:
    topics = {"state_topic": "it/state", "command_topic": "it/set"}
    device = {"name": "thing", **table, "mqtt": {**topics, **table["mqtt"]}}

    with pytest.raises(SettingsError) as raised:
        Home.from_settings({"device": [device]})
    assert error in str(raised.value)


def test_what_moves_needs_a_command_topic_and_what_tells_needs_none() -> None:
    for kind in ANY:
        device = {"name": "thing", "kind": kind.value, **({"measures": "motion"} if kind in SENSORS else {})}
        settings = {"device": [{**device, "mqtt": {"state_topic": "it/state"}}]}
        if Device("it", "it", kind).moves:
            with pytest.raises(SettingsError, match="command_topic is missing"):
                Home.from_settings(settings)
        else:
            assert Home.from_settings(settings).devices[0].driver == "mqtt"


PAGE = (Path(__file__).parent.parent / "docs" / "devices.md").read_text(encoding="utf-8")
SAID = (
    Change(on=True), Change(on=False), Change(on=True, brightness=50), Change(on=True, kelvin=2700),
    Change(on=True, rgb=(255, 0, 0)), Change(on=True, effect="candle"), Change(on=True, speed=40), Change(open=True),
    Change(open=False), Change(stop=True), Change(position=40), Change(locked=True), Change(locked=False),
    Change(target=21.5), Change(mode="off"), Change(playing=True), Change(playing=False), Change(skip=1),
    Change(skip=-1), Change(play="jazz"), Change(volume=30), Change(muted=True), Change(activity="working"),
    Change(activity="stopped"), Change(activity="returning"), Change(activity="working", area="kitchen"),
    Change(activity="working", area="front lawn"),
)  # fmt: skip


def examples() -> dict[Kind, Device]:
    """The MQTT device of each kind of the page, read as settings."""
    found: dict[Kind, Device] = {}
    for block in re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        home = Home.from_settings(tomllib.loads(block)["tools"])
        found |= {device.kind: device for device in home.devices if device.driver == "mqtt"}
    return found


@pytest.mark.parametrize("kind", Kind)
def test_the_page_about_devices_has_an_example_of_each_kind_and_tells_its_payloads(kind: Kind) -> None:
    """What it is sent is what is sent for one of the changes; what it tells can be read."""
    example = examples()[kind]
    # The table tells what holds when nothing else is set up.
    usual = replace(example, options=MqttOptions(example.options.state_topic, example.options.command_topic))
    moved = replace(usual, can=("position",)) if kind in OPENING else usual
    rows = re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    sent, told = next((sent, told) for kinds, sent, told in rows if f"`{kind.value}`" in kinds)

    assert set(re.findall(r"`(.+?)`", sent)) <= {command(moved, change) for change in SAID}
    for payload in re.findall(r"`(.+?)`", told):
        read_state(moved if moved.moves else usual, payload.encode(), State())
