"""Units: percent on this side, the steps, mireds and degrees of a device on the other; and back the same.

Every percentage goes through the functions that the model calls, a driver, a real broker, and a device that tells
what it was told.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import brokers
from tests.brokers import Mosquitto
from tests.homes import call, named, open_devices, said
from tests.mqtt_bench import bench
from tools.climate import Climate
from tools.covers import Covers
from tools.devices import Devices
from tools.drivers.mqtt_payloads.wire import (
    from_position,
    from_scale,
    from_volume,
    to_position,
    to_scale,
    to_volume,
)
from tools.fans import Fans
from tools.home import Home
from tools.lights import Lights
from tools.media import Media
from tools.state import Questions

mosquitto = brokers.mosquitto  # a fixture

SCALES = [100, 254, 255]
PERCENT = range(101)

DEVICES: dict[str, dict[str, Any]] = {
    "lamp": {"kind": "light", "can": ["brightness", "white", "color"]},
    "fan": {"kind": "fan", "can": ["speed"]},
    "blind": {"kind": "blind"},
    "speaker": {"kind": "speaker"},
    "heating": {"kind": "thermostat"},
}


class Simulated:
    """Devices that do as they are told and tell so, in their own units.

    Attributes:
        devices: As the functions of the house see them.
        sent: What went over the wire, in order; None where there is none.
    """

    def __init__(self, devices: Devices, sent: list[Any] | None) -> None:
        self.devices = devices
        self._sent = sent

    @property
    def sent(self) -> list[Any] | None:
        """What was sent since this was asked last."""
        if self._sent is None:
            return None
        sent, self._sent[:] = list(self._sent), []
        return sent


@asynccontextmanager
async def simulated(
    broker: Mosquitto, scale: int | None, tables: dict[str, dict[str, Any]] | None = None, **states: Any
) -> AsyncIterator[Simulated]:
    """A home of one device each, in memory without a scale.

    Args:
        broker: Where they are.
        scale: What they all call 100 percent.
        tables: More keys for their tables `mqtt`.
        states: What they tell at the start.
    """
    if scale is None:
        plays = {"speaker": {"memory": {"playing": True}}}
        settings = [{"name": name, **keys, **plays.get(name, {})} for name, keys in DEVICES.items()]
        yield Simulated(open_devices({"device": settings})[0], None)
        return
    scales = {
        "lamp": {"brightness_scale": scale}, "fan": {"speed_scale": scale}, "blind": {"position_open": scale},
        "speaker": {"volume_scale": scale}, "heating": {"temperature_unit": "fahrenheit"},
    }  # fmt: skip
    tables = tables or {}
    settings = [
        {"name": name, **keys, "mqtt": {
            "state_topic": f"{name}/state", "command_topic": f"{name}/set", **scales[name], **tables.get(name, {})}}
        for name, keys in DEVICES.items()
    ]  # fmt: skip
    devices = Devices(Home.from_settings({"device": settings}))
    told = {f"{name}/state": json.dumps(state) for name, state in states.items()}
    async with bench(broker, *devices.home.devices, retained=told, report=devices.report) as at:
        devices.attach("mqtt", at.driver)
        sent: list[Any] = []

        async def play() -> None:
            async for message in at.client.messages:
                name, payload = str(message.topic).removesuffix("/set"), bytes(message.payload).decode()
                said_as_json = payload.startswith("{")
                sent.append(json.loads(payload) if said_as_json else payload)
                state = {**states.setdefault(name, {}), **(sent[-1] if said_as_json else _ends(payload, scale))}
                states[name] = state
                await at.client.publish(f"{name}/state", json.dumps(state))

        playing = asyncio.create_task(play())
        try:
            yield Simulated(devices, sent)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


def _ends(word: str, scale: int) -> dict[str, Any]:
    return {"OPEN": {"state": "open", "position": scale}, "CLOSE": {"state": "closed", "position": 0}}[word]


@pytest.mark.parametrize("scale", [None, *SCALES])
async def test_f9_a_lamp_at_every_percentage_is_told_it_and_tells_it(mosquitto: Mosquitto, scale: int | None) -> None:
    async with simulated(mosquitto, scale) as home:
        lights, questions = Lights(home.devices), Questions(home.devices)
        for percent in PERCENT:
            done = await said(lights.turn_on_light, room="lamp", brightness=percent)
            answer = await said(questions.get_state, device="lamp")

            assert done == answer == (f"The lamp is on at {percent} percent." if percent else "The lamp is off.")
            if scale is not None:
                [sent] = home.sent or []
                if percent == 0:
                    assert sent == {"state": "OFF"}
                else:
                    assert sent == {"state": "ON", "brightness": sent["brightness"]}
                    assert 1 <= sent["brightness"] <= scale
                    assert (sent["brightness"] == scale) == (percent == 100)


@pytest.mark.parametrize("scale", [None, *SCALES])
async def test_a_fan_at_every_percentage_is_told_it_and_tells_it(mosquitto: Mosquitto, scale: int | None) -> None:
    async with simulated(mosquitto, scale) as home:
        fans = Fans(home.devices)
        for percent in PERCENT:
            await call(fans.set_fan_speed, fan="fan", speed=percent)
            state = named(home.devices, "fan")

            assert state.on is (percent > 0)
            assert percent == 0 or state.speed == percent
            if scale is not None:
                [sent] = home.sent or []
                assert sent == ({"state": "ON", "percentage": sent["percentage"]} if percent else {"state": "OFF"})
                assert percent == 0 or 1 <= sent["percentage"] <= scale


@pytest.mark.parametrize("scale", [None, *SCALES])
async def test_a_volume_of_every_percentage_is_told_and_tells_itself(mosquitto: Mosquitto, scale: int | None) -> None:
    async with simulated(mosquitto, scale, speaker={"state": "playing"}) as home:
        media = Media(home.devices)
        for percent in PERCENT:
            await call(media.set_volume, player="speaker", volume=percent)

            assert named(home.devices, "speaker").volume == percent
            if scale is not None:
                [sent] = home.sent or []
                assert (sent["volume"] == 0) == (percent == 0)
                assert (sent["volume"] == scale) == (percent == 100)


@pytest.mark.parametrize("scale", [None, *SCALES])
async def test_a_cover_at_every_percentage_is_told_it_and_tells_it(mosquitto: Mosquitto, scale: int | None) -> None:
    async with simulated(mosquitto, scale) as home:
        covers = Covers(home.devices)
        for percent in PERCENT:
            await call(covers.set_cover_position, cover="blind", position=percent)
            state = named(home.devices, "blind")

            assert (state.position, state.open) == (percent, percent > 0)
            if scale is not None:
                [sent] = home.sent or []
                if percent in (0, 100):
                    assert sent == ("OPEN" if percent else "CLOSE")
                else:
                    assert 0 < sent["position"] < scale


@pytest.mark.parametrize("scale", SCALES)
async def test_a_plain_on_and_a_plain_off_carry_no_brightness(mosquitto: Mosquitto, scale: int) -> None:
    async with simulated(mosquitto, scale, lamp={"state": "OFF", "brightness": scale}) as home:
        lights = Lights(home.devices)

        assert await said(lights.turn_on_light, room="lamp") == "The lamp is on at 100 percent."
        assert await said(lights.turn_off_light, room="lamp") == "The lamp is off."
        assert await said(lights.turn_on_light, room="lamp", brightness=0) == "The lamp is off."
        assert home.sent == [{"state": "ON"}, {"state": "OFF"}, {"state": "OFF"}]


async def test_f10_what_a_device_counts_in_is_never_seen(mosquitto: Mosquitto) -> None:
    """A lamp at 90 of 254, that is at 35 percent."""
    async with simulated(mosquitto, 254, lamp={"state": "ON", "brightness": 90}) as home:
        lights, questions = Lights(home.devices), Questions(home.devices)

        assert await said(questions.get_state, device="lamp") == "The lamp is on at 35 percent."
        assert await said(lights.brighten_light, room="lamp", amount=10) == "The lamp is at 45 percent."
        state = await call(questions.get_state, device="lamp")
        assert await said(questions.get_state, device="lamp") == "The lamp is on at 45 percent."
        assert state["brightness"] == 45
        assert not {"254", "90", "114"} & set(json.dumps(state).replace(",", " ").split())
        assert await said(lights.turn_on_light, room="lamp", brightness=100) == "The lamp is on at 100 percent."
        assert home.sent == [{"state": "ON", "brightness": raw} for raw in (114, 254)]


@pytest.mark.parametrize("scale", [None, *SCALES])
async def test_relative_changes_end_at_the_floor_and_the_top_and_say_so(
    mosquitto: Mosquitto, scale: int | None
) -> None:
    full = scale or 100
    async with simulated(
        mosquitto, scale, lamp={"state": "ON", "brightness": full}, fan={"state": "ON", "percentage": full},
        speaker={"state": "playing", "volume": full},
    ) as home:  # fmt: skip
        lights, fans, media = Lights(home.devices), Fans(home.devices), Media(home.devices)
        await call(lights.turn_on_light, room="lamp", brightness=95)
        await call(fans.set_fan_speed, fan="fan", speed=100)
        await call(media.set_volume, player="speaker", volume=95)

        for wanted in (100, 100):
            brighter = await said(lights.brighten_light, room="lamp", amount=10)
            await call(media.raise_volume, player="speaker", amount=10)
            assert "that is as bright as it goes" in brighter
            assert (named(home.devices, "lamp").brightness, named(home.devices, "speaker").volume) == (wanted, wanted)
        for _ in range(3):
            darker = await said(lights.dim_light, room="lamp", amount=60)
            await call(fans.change_fan_speed, fan="fan", direction="slower")
            await call(media.lower_volume, player="speaker", amount=60)
        assert "that is as dim as it goes" in darker
        lamp, fan, speaker = (named(home.devices, name) for name in ("lamp", "fan", "speaker"))
        assert (lamp.on, lamp.brightness) == (True, 1)
        assert fan.on and fan.speed is not None and 30 <= fan.speed <= 35
        assert speaker.volume == 0


async def test_whites_are_mireds_that_are_kept_within_the_lamps_limits(mosquitto: Mosquitto) -> None:
    async with simulated(mosquitto, 255, lamp={"state": "ON", "brightness": 255}) as home:
        lights = Lights(home.devices)
        for color, mireds, told in [
            ("2700 K", 370, "2700 kelvin"),
            ("6500 K", 154, "6500 kelvin"),
            ("1500 K", 455, "2200 kelvin is the nearest that the lamp has"),
            ("9000 K", 154, "6500 kelvin is the nearest that the lamp has"),
        ]:
            answer = await said(lights.turn_on_light, room="lamp", color=color)
            [sent] = home.sent or []

            assert told in answer
            assert sent == {"state": "ON", "color_temp": mireds}


async def test_warmer_is_fewer_kelvin_and_more_mireds(mosquitto: Mosquitto) -> None:
    lamp = {"state": "ON", "brightness": 255, "color_mode": "color_temp", "color_temp": 250}
    async with simulated(mosquitto, 255, lamp=lamp) as home:
        lights = Lights(home.devices)
        await said(lights.turn_on_light, room="lamp", color="warmer")
        await said(lights.turn_on_light, room="lamp", color="cooler")
        warmer, cooler = [sent["color_temp"] for sent in home.sent or []]

        assert warmer > 250 >= cooler


async def test_kelvin_are_sent_as_they_are_to_a_lamp_that_counts_in_them(mosquitto: Mosquitto) -> None:
    async with simulated(mosquitto, 255, {"lamp": {"color_temp_kelvin": True}}) as home:
        await call(Lights(home.devices).turn_on_light, room="lamp", color="2700 K")

        assert home.sent == [{"state": "ON", "color_temp": 2700}]


async def test_degrees_are_converted_once_and_come_back_the_same(mosquitto: Mosquitto) -> None:
    """A thermostat in Fahrenheit, in a home of either unit."""
    async with simulated(mosquitto, 100, heating={"mode": "heat", "target": 68, "temperature": 66}) as home:
        for fahrenheit in range(50, 86):
            climate = Climate(home.devices, "fahrenheit")
            answer = await said(climate.set_temperature, temperature=float(fahrenheit), room="heating")

            assert home.sent == [{"target": fahrenheit}]
            assert f" {fahrenheit} degrees" in answer
        climate = Climate(home.devices)
        assert " 21.5 degrees" in await said(climate.set_temperature, temperature=21.5, room="heating")
        assert home.sent == [{"target": 70.7}]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("percent", range(1, 101))
def test_every_percentage_is_read_back_as_itself(scale: int, percent: int) -> None:
    raw = to_scale(percent, scale)

    assert raw == max(1, round(percent * scale / 100))
    assert from_scale(raw, scale) == max(1, round(raw * 100 / scale)) == percent
    assert (raw == scale) == (percent == 100)


ENDS = [(100, 0), (254, 0), (255, 0), (0, 100), (0, 255), (355, 100), (-100, 0)]


@pytest.mark.parametrize(("opened", "closed"), ENDS)
def test_every_position_is_read_back_as_itself_and_only_the_ends_are_ends(opened: int, closed: int) -> None:
    for percent in PERCENT:
        raw = to_position(percent, opened, closed)

        assert from_position(raw, opened, closed) == percent
        assert (raw == closed, raw == opened) == (percent == 0, percent == 100)


@given(st.integers(0, 100), st.integers(2, 65535))
def test_a_percentage_in_the_steps_of_any_device_is_within_them(percent: int, scale: int) -> None:
    """Also where there are only a few of them: then what comes back is one of those."""
    volume, position = to_volume(percent, scale), to_position(percent, scale, 0)

    assert 0 <= volume <= scale
    assert (volume == 0) == (percent == 0)
    assert (position == 0, position == scale) == (percent == 0, percent == 100)
    assert abs(from_volume(volume, scale) - percent) <= 100 / scale + 1
    assert to_volume(from_volume(volume, scale), scale) == volume or scale > 100


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 65535))
def test_whatever_a_device_tells_is_a_percentage(value: float, scale: int) -> None:
    assert 0 <= from_volume(value, scale) <= 100
    assert 1 <= from_scale(max(0.0, value), scale) <= 100
    assert 0 <= from_position(value, scale + 1, 0) <= 100
