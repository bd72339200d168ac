"""Plain MQTT devices at a real mosquitto."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import aiomqtt
import pytest
from paho.mqtt.subscribeoptions import SubscribeOptions

from agent.channels import broker as broker_module
from agent.channels.broker import embedded_broker
from tests import brokers
from tests.brokers import Mosquitto
from tests.homes import call, said
from tests.mqtt_bench import answer, bench, mqtt_device
from tools.covers import Covers
from tools.device import Change, Device, Kind, State
from tools.devices import Devices
from tools.drivers import DeviceError, NotAvailableError, NotConfirmedError, beside
from tools.drivers.broker import MqttBroker
from tools.drivers.mqtt import MqttDriver
from tools.drivers.mqtt_payloads import read_state
from tools.home import Home
from tools.lights import Lights

mosquitto, guarded = brokers.mosquitto, brokers.guarded
"""Fixtures; imported as such they would look redefined by each test that takes one."""

LAMP_TABLE = {"availability_topic": "lamp/availability", "brightness_scale": 254}
LAMP = mqtt_device("lamp", Kind.LIGHT, LAMP_TABLE, can=("brightness", "color"))
PLUG = mqtt_device("plug", Kind.PLUG)
FAN = mqtt_device("fan", Kind.FAN, can=("speed",))
BLIND = mqtt_device("blind", Kind.BLIND, can=("position",))
DOOR = mqtt_device("door", Kind.GARAGE_DOOR)
LOCK = mqtt_device("lock", Kind.LOCK)
HEATING = mqtt_device("heating", Kind.THERMOSTAT, modes=("off", "heat", "eco"))
SPEAKER = mqtt_device("speaker", Kind.SPEAKER)
ROBOT = mqtt_device("robot", Kind.VACUUM)

EACH = [
    (LAMP, Change(on=True, brightness=80), '{"state": "ON", "brightness": 203}', '{"state": "ON", "brightness": 203}'),
    (PLUG, Change(on=False), "OFF", "OFF"),
    (FAN, Change(on=True, speed=40), '{"state": "ON", "percentage": 40}', '{"state": "ON", "percentage": 40}'),
    (BLIND, Change(position=40), '{"position": 40}', '{"state": "open", "position": 41}'),
    (DOOR, Change(open=True), "OPEN", "opening"),
    (LOCK, Change(locked=False), "UNLOCK", "UNLOCKED"),
    (HEATING, Change(target=21.5), '{"target": 21.5}', '{"mode": "heat", "target": 21.5}'),
    (SPEAKER, Change(play="jazz"), '{"play": "jazz"}', '{"state": "playing", "title": "So What"}'),
    (ROBOT, Change(activity="returning"), "return_to_base", "returning"),
]
"""A device of each family, what it is told, what it is sent, and how it says that it is done."""

each = pytest.mark.parametrize(("device", "change", "sent", "told"), EACH, ids=[row[0].name for row in EACH])


@each
async def test_f15_a_command_is_done_when_the_device_says_so(
    mosquitto: Mosquitto, device: Device, change: Change, sent: str, told: str
) -> None:
    async with bench(mosquitto, device) as made:
        move = asyncio.create_task(made.driver.move(device, change))
        message = await answer(made, f"{device.name}/state", told)
        state = await move

    assert bytes(message.payload).decode() == sent
    assert state == made.states[device.id] == read_state(device, told.encode(), State())


@each
async def test_f15_a_silent_device_is_not_confirmed(
    mosquitto: Mosquitto, device: Device, change: Change, sent: str, told: str
) -> None:
    """Also one that was so before: what is retained was said before the command."""
    async with bench(mosquitto, device, retained={f"{device.name}/state": told}, confirm_timeout_s=0.1) as made:
        with pytest.raises(NotConfirmedError, match=r"^did not confirm it in time$"):
            await made.driver.move(device, change)
        assert bytes((await anext(made.client.messages)).payload).decode() == sent


@each
@pytest.mark.parametrize("word", ["offline", '{"state": "offline"}'])
async def test_f15_an_absent_device_is_said_before_anything_is_sent(
    mosquitto: Mosquitto, device: Device, change: Change, sent: str, told: str, word: str
) -> None:
    away = replace(device, options=replace(device.options, availability_topic=f"{device.name}/availability"))
    async with bench(mosquitto, away, retained={f"{device.name}/availability": word}) as made:
        with pytest.raises(NotAvailableError, match=r"^is not available$"):
            await made.driver.move(away, change)
        await made.client.publish("last/set", "x", qos=1)

        assert str((await anext(made.client.messages)).topic) == "last/set"
        assert made.states[device.id].word == "unknown"


async def test_f15_of_three_lamps_the_one_that_fails_is_named(mosquitto: Mosquitto) -> None:
    names = ["desk lamp", "floor lamp", "shelf lamp"]
    lamps = [{"name": name, "kind": "light", "room": "office", "mqtt": {
        "state_topic": f"{name}/state", "command_topic": f"{name}/set"}} for name in names]  # fmt: skip
    devices = Devices(Home.from_settings({"room": [{"name": "office"}], "device": lamps}))
    async with bench(mosquitto, *devices.home.devices, confirm_timeout_s=1) as made:
        devices.attach("mqtt", made.driver)
        task = asyncio.create_task(said(Lights(devices).turn_on_light, room="office"))
        for _ in names:
            message = await anext(made.client.messages)
            name = str(message.topic).removesuffix("/set")
            if name != "floor lamp":
                await made.client.publish(f"{name}/state", message.payload, qos=1)

        assert await task == ("The desk lamp and the shelf lamp are on; the floor lamp did not confirm it in time.")


async def test_a_command_is_sent_once_is_not_retained_and_ends_with_our_patience(mosquitto: Mosquitto) -> None:
    async with (
        bench(mosquitto, PLUG, confirm_timeout_s=3) as made,
        aiomqtt.Client(mosquitto.host, mosquitto.port, protocol=aiomqtt.ProtocolVersion.V5) as newest,
    ):
        await newest.subscribe("plug/set", options=SubscribeOptions(2, retainAsPublished=True))
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        message = await anext(newest.messages)
        await made.client.publish("plug/state", "ON")
        await move

        assert (message.qos, message.retain) == (1, False)
        assert message.properties is not None
        assert 1 <= message.properties.MessageExpiryInterval <= 3
        assert len(newest.messages) == 0


async def test_f7_a_command_that_the_broker_refuses_is_not_done(
    guarded: Callable[[str], Mosquitto],
) -> None:
    """Though the device already says what was wanted."""
    broker = guarded("topic readwrite #\ntopic deny lamp/set")
    async with bench(broker, LAMP, PLUG, retained={"lamp/state": '{"state": "ON"}'}) as made:
        with pytest.raises(NotConfirmedError, match=r"^did not get it: the broker refused it$"):
            await made.driver.move(LAMP, Change(on=True))
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        await answer(made, "plug/state", "ON")

        assert (await move).on is True


async def test_a_silent_topic_that_nothing_listens_on_is_in_the_log_and_not_spoken(
    mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture
) -> None:
    plug = mqtt_device("plug", Kind.PLUG, {"command_topic": "plug/sett"})
    async with bench(mosquitto, plug, confirm_timeout_s=0.1) as at:
        with pytest.raises(NotConfirmedError, match=r"^did not confirm it in time$"):
            await at.driver.move(plug, Change(on=True))

    assert "plug: nothing listens on plug/sett" in caplog.messages


async def test_a_broker_of_the_older_protocol_is_sent_commands_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module.shutil, "which", lambda name, path=None: None)
    async with embedded_broker() as broker, bench(broker, PLUG) as made:
        assert broker.kind == "amqtt"

        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        message = await answer(made, "plug/state", "ON")

        assert (await move).on is True
        assert (message.payload, message.retain) == (b"ON", False)
        assert await made.driver.probe() == []


async def test_what_takes_its_time_is_on_its_way(mosquitto: Mosquitto) -> None:
    """It is not waited for; without a word for it, its position tells."""
    retained = {"blind/state": '{"position": 80}'}
    async with bench(mosquitto, BLIND, LOCK, retained=retained, confirm_timeout_s=1) as made:
        devices = Devices(Home(devices=(BLIND, LOCK)))
        devices.attach("mqtt", made.driver)
        await made.until(lambda: made.states["blind"].position == 80)

        opening = asyncio.create_task(said(Covers(devices).open_cover, cover="blind"))
        await answer(made, "blind/state", '{"state": "opening", "position": 80}')
        assert await opening == "The blind is opening."

        closing = asyncio.create_task(said(Covers(devices).set_cover_position, cover="blind", position=10))
        await answer(made, "blind/state", '{"position": 70}')
        assert await closing == "The blind is closing."

        stopping = asyncio.create_task(said(Covers(devices).stop_cover, cover="blind"))
        await answer(made, "blind/state", '{"position": 69}')
        assert "69 percent" in await stopping

        locking = asyncio.create_task(made.driver.move(LOCK, Change(locked=True)))
        await answer(made, "lock/state", "LOCKING")
        assert (await locking).word == "locking"


@pytest.mark.parametrize(
    ("device", "change", "told", "error"),
    [
        (LAMP, Change(on=True, brightness=80), '{"state": "ON", "brightness": 25}', "it reports on at 10 percent"),
        (LAMP, Change(on=False), '{"state": "ON"}', "it reports on"),
        (BLIND, Change(open=False), '{"position": 40}', "it reports open at 40 percent"),
        (LOCK, Change(locked=True), "JAMMED", "it reports that it is jammed"),
        (HEATING, Change(target=21), '{"target": 18, "mode": "heat"}', "it reports another target"),
        (HEATING, Change(mode="off"), '{"target": 18, "mode": "heat"}', "it reports heat"),
        (SPEAKER, Change(volume=50), '{"state": "playing", "volume": 20}', "it reports a volume of 20 percent"),
        (SPEAKER, Change(muted=True), '{"state": "playing", "muted": false}', "it reports not muted"),
        (ROBOT, Change(activity="working"), "error", "it reports stuck"),
    ],
)
async def test_a_device_that_says_something_else_is_not_confirmed(
    mosquitto: Mosquitto, device: Device, change: Change, told: str, error: str
) -> None:
    async with bench(mosquitto, device, confirm_timeout_s=0.4) as made:
        move = asyncio.create_task(made.driver.move(device, change))
        await answer(made, f"{device.name}/state", told)

        with pytest.raises(NotConfirmedError, match=f"^did not confirm it: {error}$"):
            await move


async def test_on_is_the_mode_that_a_thermostat_had_last(mosquitto: Mosquitto) -> None:
    """Its first one, as long as none was heard of."""
    async with bench(mosquitto, HEATING, retained={"heating/state": '{"mode": "off"}'}) as made:
        for mode in ("heat", "eco"):
            await made.until(lambda: made.states["heating"].mode == "off")
            move = asyncio.create_task(made.driver.move(HEATING, Change(mode="on")))
            message = await answer(made, "heating/state", json.dumps({"mode": mode}))

            assert json.loads(bytes(message.payload)) == {"mode": mode}
            assert (await move).mode == mode
            for next_mode in ("eco", "off"):
                await made.client.publish("heating/state", json.dumps({"mode": next_mode}), qos=1)


async def test_what_a_device_cannot_do_is_not_sent(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, DOOR) as made:
        with pytest.raises(DeviceError, match=r"^cannot do that$"):
            await made.driver.move(DOOR, Change(position=40))


async def test_all_that_is_retained_is_known_before_a_device_is_available(mosquitto: Mosquitto) -> None:
    """Also of more devices than a broker sends without an acknowledgement."""
    plugs = tuple(mqtt_device(f"plug{number}", Kind.PLUG) for number in range(120))
    async with bench(mosquitto, *plugs, retained={f"{plug.name}/state": "ON" for plug in plugs}) as made:
        assert [state.on for state in made.reports if state.available] == [True] * 120


async def test_what_was_retained_does_not_confirm_a_command_that_waits(mosquitto: Mosquitto) -> None:
    """As it comes again when a connection was lost meanwhile."""
    async with bench(mosquitto, PLUG, confirm_timeout_s=0.4) as made:
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        await anext(made.client.messages)
        made.driver._hear(aiomqtt.Message("plug/state", b"ON", 1, True, 1, None))

        with pytest.raises(NotConfirmedError, match="did not confirm it in time"):
            await move
        assert made.states["plug"].on is True


async def test_right_after_the_start_a_command_waits_for_the_connection(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, PLUG, connected=False) as made:
        move = asyncio.create_task(made.driver.move(PLUG, Change(on=True)))
        await answer(made, "plug/state", "ON")

        assert (await move).on is True


async def test_a_lamp_that_fades_is_waited_for(mosquitto: Mosquitto) -> None:
    async with bench(mosquitto, LAMP) as made:
        move = asyncio.create_task(made.driver.move(LAMP, Change(on=True, brightness=80)))
        steps = [json.dumps({"state": "ON", "brightness": raw}) for raw in (50, 120, 203)]
        await answer(made, "lamp/state", *steps)

        assert (await move).brightness == 80


async def test_what_was_retained_is_known_and_confirms_nothing(mosquitto: Mosquitto) -> None:
    retained = {"lamp/state": '{"state": "ON", "brightness": 90}'}
    async with bench(mosquitto, LAMP, retained=retained, confirm_timeout_s=0.2) as made:
        with pytest.raises(NotConfirmedError, match="did not confirm it in time"):
            await made.driver.move(LAMP, Change(on=True))

        assert made.states["lamp"] == State(on=True, brightness=35)


async def test_what_was_retained_of_a_device_that_tells_no_presence_is_old_until_it_tells_itself(
    mosquitto: Mosquitto,
) -> None:
    present = replace(LOCK, id="present", name="present", options=mqtt_device(
        "present", Kind.LOCK, {"availability_topic": "present/availability"}).options)  # fmt: skip
    retained = {"lock/state": "LOCKED", "present/state": "LOCKED", "present/availability": "online"}
    async with bench(mosquitto, LOCK, present, retained=retained) as made:
        assert made.states["lock"] == State(locked=True, old=True)
        assert made.states["present"] == State(locked=True)

        await made.client.publish("lock/state", "LOCKED")
        await made.until(lambda: not made.states["lock"].old)
        assert made.states["lock"] == State(locked=True)


async def test_work_that_forgets_that_it_was_cancelled_is_cancelled_again() -> None:
    """As Python 3.11's `wait_for` makes it forget where what it waits for is done at that moment."""
    ended = asyncio.Event()

    async def forgetful() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with asyncio.timeout(10), beside(forgetful(), "forgetful"):
        await asyncio.sleep(0)

    assert ended.is_set()


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
    assert len(lines) == 3 * len(rubbish) - 1  # the last one is "ON" for a plug
    assert all("lamp/" in line or "plug/" in line for line in lines)


async def test_two_sensors_on_one_topic_are_heard_apart(mosquitto: Mosquitto) -> None:
    """What one cannot read costs the other nothing."""
    warmth = mqtt_device("warmth", Kind.SENSOR, {"state_topic": "air", "value_key": "temperature"}, measures="x")
    damp = mqtt_device("damp", Kind.SENSOR, {"state_topic": "air", "value_key": "humidity"}, measures="x")
    async with bench(mosquitto, warmth, damp, retained={"air": '{"temperature": 20.5, "humidity": 40}'}) as made:
        await made.until(lambda: made.states["damp"].value == 40 and made.states["damp"].available)
        await made.client.publish("air", '{"humidity": 45}', qos=1)
        await made.until(lambda: made.states["damp"].value == 45)

        assert made.states["warmth"].value == 20.5


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
        await driver.first_try.over.wait()
        task = asyncio.create_task(said(Lights(devices).brighten_light, room="lamp", amount=10))
        sent = json.loads(bytes((await anext(device.messages)).payload))
        await device.publish("lamp/state", json.dumps(sent), qos=1)

        assert await task == "The lamp is at 45 percent."
        assert sent == {"state": "ON", "brightness": 114}
        assert "254" not in json.dumps(devices.state(home.devices[0]).brightness)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert "not available" in (await call(Lights(devices).turn_on_light, room="lamp"))["error"]
