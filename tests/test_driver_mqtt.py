"""Plain MQTT devices at a real mosquitto, and what they are sent and say."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import aiomqtt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import brokers
from tests.brokers import Mosquitto
from tests.homes import call, said
from tools.devices import Devices
from tools.drivers import Change, Device, Kind, NotAvailableError, NotConfirmedError, State
from tools.drivers.mqtt import MqttBroker, MqttDriver
from tools.drivers.mqtt_payloads import (
    MqttOptions,
    command,
    confirms,
    from_scale,
    read_availability,
    read_state,
    to_scale,
)
from tools.home import Home
from tools.lights import Lights

mosquitto = brokers.mosquitto
"""The fixture; imported as such it would look redefined by each test that takes it."""

OPTIONS = MqttOptions("lamp/state", "lamp/set", "lamp/availability", brightness_scale=254)
LAMP = Device("lamp", "lamp", Kind.LIGHT, can=("brightness", "color", "white"), driver="mqtt", options=OPTIONS)
PLUG = Device("plug", "plug", Kind.PLUG, driver="mqtt", options=MqttOptions("plug/state", "plug/set"))
DOOR = Device("door", "door", Kind.GARAGE_DOOR, driver="mqtt", options=MqttOptions("door/state", "door/set"))
WINDOW = Device("window", "window", Kind.WINDOW, driver="mqtt", options=MqttOptions("window/state"))


class Bench:
    """A driver at a broker, its reports, and a client that plays the devices."""

    def __init__(self, client: aiomqtt.Client, devices: tuple[Device, ...], broker: MqttBroker) -> None:
        self.client = client
        self.states: dict[str, State] = {}
        self.changed = asyncio.Event()
        self.driver = MqttDriver(devices, broker, self.report, first_wait_s=0.05, longest_wait_s=0.2)

    def report(self, device_id: str, state: State) -> None:
        self.states[device_id] = state
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for reports until it is so."""
        async with asyncio.timeout(10):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def bench(
    broker: Mosquitto,
    *devices: Device,
    retained: dict[str, str] | None = None,
    confirm_timeout_s: float = 5.0,
) -> AsyncIterator[Bench]:
    place = MqttBroker(broker.host, broker.port, confirm_timeout_s=confirm_timeout_s)
    async with aiomqtt.Client(broker.host, broker.port) as client:
        for topic, payload in (retained or {}).items():
            await client.publish(topic, payload, qos=1, retain=True)
        await client.subscribe("+/set", qos=1)
        made = Bench(client, devices, place)
        running = asyncio.create_task(made.driver.run())
        try:
            yield made
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def answer(made: Bench, topic: str, *payloads: str | bytes) -> aiomqtt.Message:
    """Plays a device: takes one command, then says these."""
    message = await anext(made.client.messages)
    for payload in payloads:
        await made.client.publish(topic, payload, qos=1)
    return message


async def test_a_command_is_done_when_the_device_says_so(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP) as made:
        move = asyncio.create_task(made.driver.move(LAMP, Change(on=True, brightness=80)))
        message = await answer(made, "lamp/state", '{"state": "ON", "brightness": 203}')
        state = await move

    assert (state.on, state.brightness) == (True, 80)
    assert json.loads(bytes(message.payload)) == {"state": "ON", "brightness": 203}


async def test_a_command_is_never_retained(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, PLUG) as made:
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        await answer(made, "plug/state", "ON")
        await move
        async with aiomqtt.Client(mosquitto.host, mosquitto.port) as late:
            await late.subscribe("plug/set", qos=1)
            await late.unsubscribe("nothing")  # answered after all that is retained

            assert len(late.messages) == 0


async def test_a_silent_device_is_not_confirmed(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP, confirm_timeout_s=0.2) as made:
        with pytest.raises(NotConfirmedError, match=r"did not confirm it within 0\.2 s"):
            await made.driver.move(LAMP, Change(on=True))


async def test_a_device_that_says_something_else_is_not_confirmed(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP, confirm_timeout_s=0.3) as made:
        move = asyncio.create_task(made.driver.move(LAMP, Change(on=True, brightness=80)))
        await answer(made, "lamp/state", '{"state": "ON", "brightness": 25}')

        with pytest.raises(NotConfirmedError, match="it reports on at 10 percent"):
            await move


async def test_a_lamp_that_fades_is_waited_for(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP) as made:
        move = asyncio.create_task(made.driver.move(LAMP, Change(on=True, brightness=80)))
        steps = [json.dumps({"state": "ON", "brightness": raw}) for raw in (50, 120, 203)]
        await answer(made, "lamp/state", *steps)

        assert (await move).brightness == 80


async def test_what_was_retained_is_known_and_confirms_nothing(mosquitto: Mosquitto) -> None:
    retained = {"lamp/state": '{"state": "ON", "brightness": 90}'}
    async with bench(mosquitto, LAMP, retained=retained, confirm_timeout_s=0.2) as made:
        with pytest.raises(NotConfirmedError, match="did not confirm it within"):
            await made.driver.move(LAMP, Change(on=True))

        assert made.states["lamp"] == State(on=True, brightness=35)


@pytest.mark.parametrize("word", ["offline", '{"state": "offline"}'])
async def test_an_absent_device_is_not_available_and_is_sent_nothing(mosquitto: Mosquitto, word: str) -> None:
    async with bench(mosquitto, LAMP, PLUG, retained={"lamp/availability": word}) as made:
        with pytest.raises(NotAvailableError, match=r"^is not available$"):
            await made.driver.move(LAMP, Change(on=True))
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        message = await answer(made, "plug/state", "ON")
        await move

        assert str(message.topic) == "plug/set"
        assert made.states["lamp"].word == "unknown"


async def test_a_device_that_comes_back_is_available(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP, retained={"lamp/availability": "offline"}) as made:
        await made.client.publish("lamp/availability", "online", retain=True)
        await made.until(lambda: made.states["lamp"].available)
        move = asyncio.create_task(made.driver.move(LAMP, Change(on=False)))
        await answer(made, "lamp/state", '{"state": "OFF"}')

        assert (await move).on is False


async def test_without_a_broker_a_command_fails_at_once_and_later_works(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP) as made:
        await made.until(lambda: made.states["lamp"].available)
        mosquitto.kill()
        with suppress(aiomqtt.MqttError):
            await anext(made.client.messages)
        await made.until(lambda: not made.states["lamp"].available)

        with pytest.raises(NotAvailableError, match="no connection to the MQTT broker"):
            await made.driver.move(LAMP, Change(on=True))
        assert "no connection" in made.driver.health()

        mosquitto.start()
        await made.until(lambda: made.states["lamp"].available)
        async with aiomqtt.Client(mosquitto.host, mosquitto.port) as device:
            await device.subscribe("lamp/set")
            move = asyncio.create_task(made.driver.move(LAMP, Change(on=True)))
            await anext(device.messages)
            await device.publish("lamp/state", '{"state": "ON"}')

            assert (await move).on is True
        assert made.driver.health() == "ok"


async def test_rubbish_on_a_topic_is_logged_and_the_next_message_counts(
    mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    rubbish: list[bytes] = [
        b"\xff\xfe", b"", b"{", b"x" * 1_000_000, b"null", b"[]", b'"NaN"', b"[" * 10_000, "Tür".encode(), b"{}",
        b'{"state": "ON", "color_mode": "rgb", "color": {"r": 1e999, "g": 0, "b": 0}}',
    ]  # fmt: skip
    async with bench(mosquitto, LAMP, PLUG) as made:
        await made.until(lambda: made.states["lamp"].available)
        for payload in rubbish:
            for topic in ("lamp/state", "lamp/availability", "plug/state"):
                await made.client.publish(topic, payload, qos=1)
        await made.client.publish("lamp/state", '{"state": "ON", "brightness": 254}', qos=1)
        await made.until(lambda: made.states["lamp"].brightness == 100)

        assert made.states["lamp"].on is True
    lines = [record.getMessage() for record in caplog.records if "cannot read" in record.getMessage()]
    assert len(lines) == 3 * len(rubbish)
    assert all("lamp/" in line or "plug/" in line for line in lines)


async def test_the_whole_house_brightens_a_lamp_by_percent_points(mosquitto: Mosquitto) -> None:
    table = {"command_topic": "lamp/set", "state_topic": "lamp/state", "brightness_scale": 254}
    home = Home.from_settings({"device": [{"name": "lamp", "kind": "light", "mqtt": table}]})
    devices = Devices(home)
    broker = MqttBroker(mosquitto.host, mosquitto.port)
    driver = MqttDriver(home.devices, broker, devices.report)
    devices.attach("mqtt", driver)
    running = asyncio.create_task(driver.run())
    async with aiomqtt.Client(mosquitto.host, mosquitto.port) as device:
        await device.publish("lamp/state", '{"state": "ON", "brightness": 90}', qos=1, retain=True)
        await device.subscribe("lamp/set")
        await driver._tried.wait()
        task = asyncio.create_task(said(Lights(devices).brighten_light, room="lamp", amount=10))
        sent = json.loads(bytes((await anext(device.messages)).payload))
        await device.publish("lamp/state", json.dumps(sent), qos=1)

        assert await task == "The lamp is at 45 percent."
        assert sent == {"state": "ON", "brightness": 114}
        assert "254" not in json.dumps(devices.state(home.devices[0]).brightness)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert "not available" in (await call(Lights(devices).turn_on_light, room="lamp"))["error"]


@pytest.mark.parametrize("scale", [100, 254, 255])
@pytest.mark.parametrize("percent", range(1, 101))
def test_every_percentage_is_in_range_and_read_back_as_itself(scale: int, percent: int) -> None:
    raw = to_scale(percent, scale)

    assert 1 <= raw <= scale
    assert from_scale(raw, scale) == percent
    assert (raw == scale) == (percent == 100)


@pytest.mark.parametrize(
    ("device", "change", "payload"),
    [
        (LAMP, Change(on=True), '{"state": "ON"}'),
        (LAMP, Change(on=False), '{"state": "OFF"}'),
        (LAMP, Change(on=True, brightness=1), '{"state": "ON", "brightness": 3}'),
        (LAMP, Change(on=True, kelvin=2700), '{"state": "ON", "color_temp": 370}'),
        (LAMP, Change(on=True, rgb=(255, 0, 0)), '{"state": "ON", "color": {"r": 255, "g": 0, "b": 0}}'),
        (
            replace(LAMP, options=replace(OPTIONS, color_temp_kelvin=True, color_mode="hs")),
            Change(on=True, rgb=(0, 255, 0)),
            '{"state": "ON", "color": {"h": 120.0, "s": 100.0}}',
        ),
        (
            replace(LAMP, options=replace(OPTIONS, color_temp_kelvin=True)),
            Change(on=True, kelvin=2700),
            '{"state": "ON", "color_temp": 2700}',
        ),
        (PLUG, Change(on=True), "ON"),
        (PLUG, Change(on=False), "OFF"),
        (replace(PLUG, options=replace(PLUG.options, payload_on="1")), Change(on=True), "1"),
        (replace(PLUG, options=replace(PLUG.options, schema="json")), Change(on=True), '{"state": "ON"}'),
        (DOOR, Change(open=True), "OPEN"),
        (DOOR, Change(open=False), "CLOSE"),
    ],
)
def test_a_command_is_what_the_device_understands(device: Device, change: Change, payload: str) -> None:
    assert command(device, change) == payload


@pytest.mark.parametrize(
    ("device", "payload", "state"),
    [
        (LAMP, '{"state": "ON", "brightness": 254}', State(on=True, brightness=100)),
        (LAMP, '{"state": "OFF"}', State(on=False, brightness=50)),
        (LAMP, '{"state": "OFF", "brightness": 0}', State(on=False, brightness=50)),
        (
            LAMP,
            '{"state": "ON", "color_mode": "color_temp", "color_temp": 370}',
            State(on=True, brightness=50, kelvin=2703),
        ),
        (
            LAMP,
            '{"state": "ON", "color_mode": "rgb", "color": {"r": 1, "g": 2, "b": 3}}',
            State(on=True, brightness=50, rgb=(1, 2, 3)),
        ),
        (
            LAMP,
            '{"state": "ON", "color_mode": "hs", "color": {"h": 240, "s": 100}}',
            State(on=True, brightness=50, rgb=(0, 0, 255)),
        ),
        (LAMP, '{"state": "ON", "color": {"r": 1, "g": 2, "b": 3}}', State(on=True, brightness=50)),
        (LAMP, '{"state": "ON", "brightness": NaN}', State(on=True, brightness=50)),
        (PLUG, "on", State(on=True, brightness=50)),
        (PLUG, "OFF\n", State(on=False, brightness=50)),
        (DOOR, "opening", State(open=True, moving=True, brightness=50)),
        (DOOR, "closed", State(open=False, brightness=50)),
        (WINDOW, "ON", State(open=True, brightness=50)),
    ],
)
def test_a_state_is_read_on_top_of_the_one_before(device: Device, payload: str, state: State) -> None:
    assert read_state(device, payload.encode(), State(brightness=50)) == state


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.dictionaries(st.sampled_from(["state", "brightness", "color", "color_mode", "r", "h"]), inner),
).map(lambda data: json.dumps(data).encode())))  # fmt: skip
def test_any_payload_is_read_or_is_a_value_error(payload: bytes) -> None:
    for device in (LAMP, PLUG, DOOR, WINDOW):
        with suppress(ValueError):
            state = read_state(device, payload, State())

            assert state.brightness is None or 1 <= state.brightness <= 100
        with suppress(ValueError):
            read_availability(payload, device.options)


@pytest.mark.parametrize(
    ("state", "change", "confirmed"),
    [
        (State(on=True), Change(on=True), True),
        (State(on=True), Change(on=False), False),
        (State(), Change(on=False), False),
        (State(on=True, brightness=81), Change(on=True, brightness=80), True),
        (State(on=True, brightness=40), Change(on=True, brightness=80), False),
        (State(open=True, moving=True), Change(open=True), True),
        (State(open=False), Change(open=True), False),
    ],
)
def test_a_state_confirms_a_change_or_not(state: State, change: Change, confirmed: bool) -> None:
    assert confirms(state, change) is confirmed
