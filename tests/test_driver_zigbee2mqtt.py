"""Devices at a Zigbee2MQTT that speaks at a real mosquitto, in a house as the agent sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent.mqtt.publisher import Publisher
from tests import brokers
from tests.bridged import do, house_at, named, watching
from tests.brokers import Mosquitto
from tests.zigbee2mqtt import Zigbee, Zigbee2Mqtt, zigbee2mqtt
from tools.drivers import broker as driver_broker
from tools.drivers import mqtt_probe
from tools.house import open_house

mosquitto, guarded = brokers.mosquitto, brokers.guarded
"""Fixtures; imported as such they would look redefined by each test that takes one."""


def lamp(name: str = "kitchen/ceiling light", address: str = "0x01", **state: Any) -> Zigbee:
    return Zigbee(address, name, "LED1545G12", {"state": "OFF", "brightness": 90, **state})


async def sent(bridge: Zigbee2Mqtt) -> tuple[str, Any]:
    """The next command that the bridge was sent; questions are left out."""
    async with asyncio.timeout(10):
        while True:
            topic, data = await bridge.sent.get()
            if topic.endswith("/set"):
                return topic, data


async def test_devices_appear_by_themselves_in_their_rooms_and_are_moved(mosquitto: Mosquitto) -> None:
    async with zigbee2mqtt(mosquitto, lamp()) as bridge, house_at(mosquitto) as house:
        assert await do(house, "turn_on_light", room="the kitchen", brightness=50) == (
            "The kitchen ceiling light is on at 50 percent."
        )
        assert await sent(bridge) == (
            "zigbee2mqtt/kitchen/ceiling light/set", {"state": "ON", "brightness": 127},
        )  # fmt: skip
        assert "kitchen ceiling light" in house.names()


async def test_without_a_table_for_it_no_bridge_is_listened_to(mosquitto: Mosquitto) -> None:
    place = {"host": mosquitto.host, "port": mosquitto.port}
    async with zigbee2mqtt(mosquitto, lamp()), open_house({"mqtt": place}) as house:
        assert not any("light" in name for name in house.names())
        assert "zigbee2mqtt" not in house.health()


@pytest.mark.parametrize("name", ["Küche/Lampe am Herd", "über alles", "a/b/c d", "kitchen/left/lamp", "Lampe 2 (alt)"])
async def test_a_name_with_slashes_spaces_and_umlauts_is_one_topic(mosquitto: Mosquitto, name: str) -> None:
    async with zigbee2mqtt(mosquitto, lamp(name)) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: len(devices) == 1)
        [state] = watch.devices.values()

        assert (await do(house, "turn_on_light", room=state["name"])).endswith(" on at 35 percent.")
        assert await sent(bridge) == (f"zigbee2mqtt/{name}/set", {"state": "ON"})


async def test_a_device_that_is_renamed_while_running_keeps_its_id_and_loses_its_old_name(
    mosquitto: Mosquitto,
) -> None:
    async with (
        zigbee2mqtt(mosquitto, lamp(), retain=True) as bridge,
        house_at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: bool(named(devices, "kitchen ceiling light")))
        await bridge.rename("kitchen/ceiling light", "hall/spot")
        await watch.until(lambda devices: named(devices, "hall spot").get("room") == "hall")

        assert list(watch.devices) == ["0x01_light"]
        assert await do(house, "turn_on_light", room="hall spot") == "The hall spot is on at 35 percent."
        assert (await sent(bridge))[0] == "zigbee2mqtt/hall/spot/set"
        assert "ceiling" in await do(house, "turn_on_light", room="the kitchen ceiling light")
        assert "kitchen ceiling light" not in house.names()


async def test_a_device_that_joins_is_there_once_it_is_interviewed_and_one_that_leaves_is_gone(
    mosquitto: Mosquitto,
) -> None:
    async with zigbee2mqtt(mosquitto, lamp()) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: "0x01_light" in devices)
        bridge.devices.append(Zigbee("0x02", "0x02", "LED1545G12", interview="IN_PROGRESS"))
        await bridge.publish_devices()
        bridge.devices[1].interview = "SUCCESSFUL"
        await bridge.publish_devices()
        await watch.until(lambda devices: "0x02_light" in devices)
        del bridge.devices[0]
        await bridge.publish_devices()
        await watch.until(lambda devices: devices["0x01_light"] == {})

        assert set(house.names()) & {"kitchen ceiling light", "0x02"} == {"0x02"}
        assert await do(house, "turn_on_light", room="kitchen") == "there is no light in the kitchen"


async def test_a_group_of_the_bridge_is_one_of_the_house_and_tells_of_each_member(mosquitto: Mosquitto) -> None:
    devices = (lamp("kitchen/left"), lamp("kitchen/right", "0x02"), lamp("hall/spot", "0x03"))
    members = {"worktop lights": [("0x01", 1), ("0x02", 1)]}
    async with zigbee2mqtt(mosquitto, *devices, groups=members) as bridge, house_at(mosquitto, 1.0) as house:
        bridge.named("kitchen/right").silent = True

        assert await do(house, "turn_on_light", room="worktop lights") == (
            "The kitchen left is on at 35 percent; the kitchen right did not confirm it in time."
        )


async def test_each_of_several_endpoints_is_a_device_of_its_own(mosquitto: Mosquitto) -> None:
    switch = Zigbee("0x01", "hall switch", "TS0012", {"state_left": "OFF", "state_right": "OFF"})
    switch.endpoints = {1: "left", 2: "right"}
    groups = {"night": [("0x01", 2)]}
    async with zigbee2mqtt(mosquitto, switch, groups=groups) as bridge, house_at(mosquitto) as house:
        assert await do(house, "turn_on_switch", device="hall switch left") == "The hall switch left is on."
        assert await sent(bridge) == ("zigbee2mqtt/hall switch/set", {"state_left": "ON"})
        assert await do(house, "turn_on_switch", device="night") == "The night is on."
        assert await sent(bridge) == ("zigbee2mqtt/hall switch/set", {"state_right": "ON"})


async def test_a_table_of_the_settings_names_a_device_and_says_what_hangs_at_it(mosquitto: Mosquitto) -> None:
    """By its address, so that it may be renamed; scenes and groups can name it before the bridge is heard."""
    switch = Zigbee("0x01", "Schalter 7", "TS0012", {"state_left": "OFF", "state_right": "OFF"})
    table = {
        "name": "desk lamp", "kind": "light", "room": "living room", "aliases": ["work light"], "can": [],
        "zigbee2mqtt": {"device": "0x01", "part": "left"},
    }  # fmt: skip
    group = {"name": "work place", "members": ["desk lamp"]}
    async with (
        zigbee2mqtt(mosquitto, switch) as bridge,
        house_at(mosquitto, device=[table], group=[group]) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: len(devices) == 2)
        assert {state["name"]: state.get("room") for state in watch.devices.values()} == {
            "desk lamp": "living room", "Schalter 7 right": "living room"}  # fmt: skip
        assert await do(house, "turn_on_light", room="work light") == "The desk lamp is on."
        assert await sent(bridge) == ("zigbee2mqtt/Schalter 7/set", {"state_left": "ON"})
        assert await do(house, "turn_off_light", room="work place") == "The work place is off."


async def test_f9_each_percent_of_a_lamp_is_confirmed_as_the_same_percent(mosquitto: Mosquitto) -> None:
    async with (
        zigbee2mqtt(mosquitto, lamp("lamp")) as bridge,
        house_at(mosquitto) as house,
        watching(house) as watch,
    ):
        for percent in range(1, 101):
            answer = await do(house, "turn_on_light", room="lamp", brightness=percent)
            raw = (await sent(bridge))[1]["brightness"]

            assert answer == f"The lamp is on at {percent} percent."
            assert 1 <= raw <= 254
            assert watch.devices["0x01_light"]["brightness"] == percent
        assert raw == 254


async def test_f10_brighter_starts_from_percent_and_never_from_steps(mosquitto: Mosquitto) -> None:
    async with zigbee2mqtt(mosquitto, lamp("lamp", state="ON"), retain=True) as bridge, house_at(mosquitto) as house:
        assert await do(house, "get_state", device="lamp") == "The lamp is on at 35 percent."
        assert await do(house, "brighten_light", room="lamp", amount=10) == "The lamp is at 45 percent."
        assert await sent(bridge) == ("zigbee2mqtt/lamp/set", {"state": "ON", "brightness": 114})


async def test_whites_are_mireds_within_the_limits_of_each_lamp(mosquitto: Mosquitto) -> None:
    narrow, wide = lamp("narrow"), Zigbee("0x02", "wide", "9290012573A", {"state": "OFF", "brightness": 254})
    async with zigbee2mqtt(mosquitto, narrow, wide) as bridge, house_at(mosquitto) as house:
        for name, white, mireds in (
            ("narrow", "4000 K", 250),
            ("narrow", "warm white", 370),
            ("narrow", "daylight", 250),
            ("wide", "daylight", 154),
            ("wide", "2000 K", 500),
        ):
            assert "is on" in await do(house, "turn_on_light", room=name, color=white)
            assert (await sent(bridge))[1] == {"state": "ON", "color_temp": mireds}
        assert "2000 kelvin" in await do(house, "get_state", device="wide")


async def test_a_colour_is_told_and_read_back_by_its_name(mosquitto: Mosquitto) -> None:
    async with (
        zigbee2mqtt(mosquitto, Zigbee("0x02", "wide", "9290012573A", {"state": "OFF", "brightness": 254})) as bridge,
        house_at(mosquitto) as house,
    ):
        for color in ("red", "green", "blue", "yellow", "magenta", "orange"):
            assert color in await do(house, "turn_on_light", room="wide", color=color)
            assert set((await sent(bridge))[1]["color"]) == {"r", "g", "b"}
            assert color in await do(house, "get_state", device="wide")


@pytest.mark.parametrize("words", [False, True])
async def test_f33_who_is_there_is_read_as_a_word_and_as_json(mosquitto: Mosquitto, words: bool) -> None:
    lamps = (lamp("first"), lamp("second", "0x02"), lamp("third", "0x03"))
    availability = {"first": True, "second": False}  # the third tells nothing of itself
    async with (
        zigbee2mqtt(mosquitto, *lamps, words=words, availability=availability) as bridge,
        house_at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: len(devices) == 3)
        assert await do(house, "turn_on_light", room="first") == "The first is on at 35 percent."
        assert await do(house, "turn_on_light", room="third") == "The third is on at 35 percent."
        assert await do(house, "turn_on_light", room="second") == "The second is not available."

        await bridge.say_online(True, "second")
        await watch.until(lambda devices: devices["0x02_light"]["available"])
        await bridge.say_online(False)  # and its devices still say that they are there
        await watch.until(lambda devices: not any(state["available"] for state in devices.values()))
        assert await do(house, "turn_on_light", room="first") == "The first is not available: Zigbee2MQTT is offline."
        assert house.health()["zigbee2mqtt"] == "Zigbee2MQTT at zigbee2mqtt is offline"

        await bridge.say_online(True)
        await watch.until(lambda devices: all(state["available"] for state in devices.values()))
        assert await do(house, "turn_off_light", room="second") == "The second is off."


async def test_f3_a_bridge_that_comes_back_three_times_in_a_second_is_asked_once(mosquitto: Mosquitto) -> None:
    """Its devices' states are asked for again some seconds later, and not for each time."""
    async with zigbee2mqtt(mosquitto, lamp("lamp")) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: devices.get("0x01_light", {}).get("state") == "off")
        for _ in range(3):
            await bridge.say_online(False)
            await bridge.say_online(True)
        await watch.until(lambda devices: devices["0x01_light"]["available"])
        assert await do(house, "turn_on_light", room="lamp") == "The lamp is on at 35 percent."

        asked = [bridge.sent.get_nowait()[0] for _ in range(bridge.sent.qsize())]
        assert asked == ["zigbee2mqtt/lamp/get", "zigbee2mqtt/lamp/set"]


async def test_f3_what_was_asked_a_moment_ago_is_asked_again_later(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_broker, "ASK_AGAIN_S", 0.3)
    async with zigbee2mqtt(mosquitto, lamp("lamp")) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: devices.get("0x01_light", {}).get("state") == "off")
        await bridge.say_online(False)
        bridge.named("lamp").state["state"] = "ON"  # by hand, while nobody could tell
        await bridge.say_online(True)
        await watch.until(lambda devices: devices["0x01_light"]["state"] == "on")


async def test_f15_a_device_that_zigbee2mqtt_could_not_reach_is_not_confirmed(mosquitto: Mosquitto) -> None:
    lamps = (lamp("kitchen/left"), lamp("kitchen/middle", "0x02"), lamp("kitchen/right", "0x03"))
    async with zigbee2mqtt(mosquitto, *lamps) as bridge, house_at(mosquitto, 1.0) as house:
        bridge.named("kitchen/middle").silent = True

        assert await do(house, "turn_on_light", room="kitchen") == (
            "The kitchen left and the kitchen right are on at 35 percent; "
            "the kitchen middle did not confirm it in time."
        )


async def test_f15_what_was_kept_from_before_confirms_nothing(mosquitto: Mosquitto) -> None:
    async with (
        zigbee2mqtt(mosquitto, lamp("lamp", state="ON"), retain=True) as bridge,
        house_at(mosquitto, 0.5) as house,
    ):
        bridge.named("lamp").silent = True

        assert await do(house, "turn_on_light", room="lamp") == "The lamp did not confirm it in time."


async def test_how_a_device_is_is_asked_where_it_can_be_asked_and_nothing_moves(mosquitto: Mosquitto) -> None:
    """Its states are not retained, so who comes later knows nothing else."""
    door = Zigbee("0x02", "hall door", "MCCGQ11LM", {"contact": False})
    async with (
        zigbee2mqtt(mosquitto, lamp("lamp", state="ON"), door) as bridge,
        house_at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: devices.get("0x01_light", {}).get("state") == "on")
        topic, asked = await bridge.sent.get()

        assert topic == "zigbee2mqtt/lamp/get"
        assert asked == {"state": "", "brightness": "", "color_temp": ""}
        assert bridge.sent.empty()
        assert watch.devices["0x02_contact"]["state"] == "unknown"
        await bridge.publish_state(door)
        await watch.until(lambda devices: devices["0x02_contact"]["state"] == "open")


async def test_f17_a_temperature_has_the_unit_that_the_bridge_says_and_is_converted_once(mosquitto: Mosquitto) -> None:
    sensor = Zigbee("0x01", "living room/climate", "WSDCGQ11LM", {"temperature": 21.46, "humidity": 43.5})
    for unit, answer in (
        ("celsius", "It's 21.5 degrees in the living room."),
        ("fahrenheit", "It's 70.6 degrees in the living room."),
    ):
        async with (
            zigbee2mqtt(mosquitto, sensor) as bridge,
            house_at(mosquitto, unit=unit) as house,
            watching(house) as watch,
        ):
            await watch.until(lambda devices: "0x01_temperature" in devices)
            await bridge.publish_state(sensor)
            await watch.until(lambda devices: devices["0x01_humidity"].get("value") == 43.5)

            assert await do(house, "get_temperature", room="living room") == answer
            assert await do(house, "get_humidity", room="living room") == (
                "The humidity is 43.5 percent in the living room."
            )


async def test_f17_a_temperature_without_a_unit_is_told_without_one(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    expose = {"type": "numeric", "name": "temperature", "property": "temperature", "access": 1}
    monkeypatch.setitem(brokers_models(), "BARE", {"model": "BARE", "exposes": [expose]})
    sensor = Zigbee("0x01", "cellar", "BARE", {"temperature": 44})
    async with zigbee2mqtt(mosquitto, sensor) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: "0x01_temperature" in devices)
        await bridge.publish_state(sensor)
        await watch.until(lambda devices: devices["0x01_temperature"].get("value") == 44)

        assert await do(house, "get_temperature", room="cellar") == (
            "The cellar shows 44 degrees; the cellar does not say in which unit."
        )


def brokers_models() -> dict[str, Any]:
    from tests import zigbee2mqtt as simulated

    return simulated.MODELS


@pytest.mark.parametrize(
    ("model", "state", "function", "arguments", "payload", "answer"),
    [
        ("TS011F_plug_1", {"state": "OFF"}, "turn_on_switch", {"device": "thing"}, {"state": "ON"}, "The thing is on."),
        ("E1757", {"state": "CLOSE", "position": 0}, "set_cover_position", {"cover": "thing", "position": 40},
         {"position": 40}, "The thing is open at 40 percent."),
        ("E1757", {"state": "OPEN", "position": 100}, "close_cover", {"cover": "thing"}, {"state": "CLOSE"},
         "The thing is closed."),
        ("YRD426NRSC", {"state": "UNLOCK", "lock_state": "unlocked"}, "lock_door", {"door": "thing"},
         {"state": "LOCK"}, "The thing is locked."),
        ("SPZB0001", {"occupied_heating_setpoint": 18, "system_mode": "heat", "local_temperature": 19},
         "set_temperature", {"room": "thing", "temperature": 21.5}, {"occupied_heating_setpoint": 21.5},
         "The thing is set to 21.5 degrees."),
        ("SPZB0001", {"occupied_heating_setpoint": 18, "system_mode": "heat"}, "set_climate_mode",
         {"room": "thing", "mode": "off"}, {"system_mode": "off"}, "The thing is off."),
        ("AC201", {"occupied_cooling_setpoint": 26, "occupied_heating_setpoint": 19, "system_mode": "cool"},
         "set_temperature", {"room": "thing", "temperature": 24}, {"occupied_cooling_setpoint": 24},
         "The thing is set to 24 degrees."),
    ],
)  # fmt: skip
async def test_a_device_of_each_kind_is_moved_by_its_own_properties(
    mosquitto: Mosquitto,
    model: str,
    state: dict[str, Any],
    function: str,
    arguments: dict[str, Any],
    payload: dict[str, Any],
    answer: str,
) -> None:
    device = Zigbee("0x01", "thing", model, state)
    async with zigbee2mqtt(mosquitto, device, retain=True) as bridge, house_at(mosquitto) as house:
        assert await do(house, function, **arguments) == answer
        assert await sent(bridge) == ("zigbee2mqtt/thing/set", payload)


async def test_several_bridges_have_topics_of_their_own(mosquitto: Mosquitto) -> None:
    async with (
        zigbee2mqtt(mosquitto, lamp("cellar lamp")) as one,
        zigbee2mqtt(mosquitto, lamp("roof lamp", "0x02"), base="home/z2m") as other,
        house_at(mosquitto, bridge={"base_topics": ["zigbee2mqtt", "home/z2m"]}) as house,
    ):
        assert await do(house, "turn_on_light", room="roof lamp") == "The roof lamp is on at 35 percent."
        assert (await sent(other))[0] == "home/z2m/roof lamp/set"
        assert one.sent.qsize() <= 1  # the question how its lamp is


async def test_a_broker_that_forgot_everything_gets_its_devices_again(mosquitto: Mosquitto) -> None:
    """As one without persistence does at its restart."""
    async with house_at(mosquitto) as house, watching(house) as watch:
        async with zigbee2mqtt(mosquitto, lamp("lamp")):
            await watch.until(lambda devices: devices.get("0x01_light", {}).get("available", False))
        mosquitto.kill()
        await watch.until(lambda devices: not devices["0x01_light"]["available"])
        mosquitto.start()
        async with zigbee2mqtt(mosquitto, lamp("lamp")):
            await watch.until(lambda devices: devices["0x01_light"]["available"])

            assert await do(house, "turn_on_light", room="lamp") == "The lamp is on at 35 percent."


@pytest.mark.parametrize(
    "payload", [b"\xff\xfe", b"", b"{", b"null", b"[]", b'"NaN"', b"[" * 100_000, b'[{"ieee_address": 1}]', b"[null]"]
)
async def test_f6_what_cannot_be_read_costs_no_other_device(mosquitto: Mosquitto, payload: bytes) -> None:
    async with zigbee2mqtt(mosquitto, lamp("lamp")) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: "0x01_light" in devices)
        for topic in ("bridge/devices", "bridge/groups", "bridge/state", "bridge/info", "lamp", "lamp/availability"):
            await bridge.client.publish(f"zigbee2mqtt/{topic}", payload, qos=1)
        await bridge.publish_devices()
        await watch.until(lambda devices: devices["0x01_light"] != {})

        assert await do(house, "turn_on_light", room="lamp") == "The lamp is on at 35 percent."


async def test_f7_a_command_that_the_broker_refuses_is_not_done_and_the_doctor_names_its_topic(
    guarded: Callable[[str], Mosquitto],
) -> None:
    broker = guarded("topic readwrite #\ntopic deny zigbee2mqtt/lamp/set")
    async with zigbee2mqtt(broker, lamp("lamp"), lamp("spot", "0x02")), house_at(broker) as house:
        assert await do(house, "turn_on_light", room="lamp") == "The lamp did not get it: the broker refused it."
        async with asyncio.timeout(10):
            troubles = await house.probe()
        assert troubles == ["the broker does not let us write to zigbee2mqtt/lamp/set: allow it in its ACL"]


async def test_f7_a_bridge_that_the_broker_hides_is_named_by_the_doctor(
    guarded: Callable[[str], Mosquitto], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_probe, "HEARD_WITHIN_S", 0.2)
    broker = guarded("topic readwrite #\ntopic deny zigbee2mqtt/bridge/devices")
    async with zigbee2mqtt(broker, lamp("lamp")), house_at(broker) as house:
        assert await house.probe() == [
            "nothing was heard on zigbee2mqtt/bridge/devices: start Zigbee2MQTT, correct base_topics of "
            "[tools.zigbee2mqtt], or allow the topic in the broker's ACL"
        ]
        assert house.health()["zigbee2mqtt"] == "nothing was heard of Zigbee2MQTT at zigbee2mqtt"


async def test_the_doctor_names_each_trouble_of_the_bridge_and_moves_nothing(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_probe, "HEARD_WITHIN_S", 0.2)
    devices = (
        lamp("kitchen/lamp"),
        lamp("Kitchen_Lamp", "0x02"),
        Zigbee("0x03", "0x03", "LED1545G12", interview="FAILED"),
        Zigbee("0x04", "stranger", "NO SUCH MODEL"),
        Zigbee("0x05", "mute", "LED1545G12", silent=True),
        lamp("away", "0x06"),
    )
    table = {"name": "fan", "kind": "fan", "zigbee2mqtt": {"device": "kitchen/lamb"}}
    lock = {"name": "back door", "kind": "lock", "zigbee2mqtt": {"device": "away"}}
    async with (
        zigbee2mqtt(mosquitto, *devices, availability={"away": False}) as bridge,
        house_at(mosquitto, device=[table, lock]) as house,
    ):
        troubles = await house.probe()

        assert troubles == [
            '"0x03" could not be interviewed: pair it again, close to the coordinator, and wake it meanwhile',
            '"stranger" is not supported by Zigbee2MQTT: update Zigbee2MQTT, or see its page on new devices',
            "[[tools.device]] \"fan\": Zigbee2MQTT has no device 'kitchen/lamb'; there are: kitchen/lamp, "
            "Kitchen_Lamp, 0x03, stranger, mute, away (did you mean kitchen/lamp?)",
            "[[tools.device]] \"back door\": 'away' is no lock at Zigbee2MQTT; it has: light",
            "nothing was heard on zigbee2mqtt/mute yet: the device is silent, or the broker's ACL hides it",
            "the away is offline, says zigbee2mqtt/away/availability: switch it on, or look at its network",
            'the device "Kitchen_Lamp" is left out, as "kitchen lamp" has that name already; case, accents and spaces '
            "do not count: rename one of them",
        ]
        while not bridge.sent.empty():
            topic, data = bridge.sent.get_nowait()
            assert topic.endswith("/get") or data == {}
        assert house.health() == {"zigbee2mqtt": "ok", "rooms": "ok, 2 in no room: mute and away", "weather": "ok"}


async def test_the_doctor_says_that_the_bridge_is_offline(mosquitto: Mosquitto) -> None:
    async with zigbee2mqtt(mosquitto, lamp()) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await bridge.say_online(False)
        await watch.until(lambda devices: "0x01_light" in devices and not devices["0x01_light"]["available"])

        assert await house.probe() == ["Zigbee2MQTT at zigbee2mqtt says that it is offline: start it, and see its log"]


async def test_a_hundred_devices_come_in_one_message_and_are_asked_one_after_another(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    publish = Publisher.publish

    async def counted(self: Publisher, topic: str, payload: str) -> int:
        sizes.append(len(self._waiting))
        return await publish(self, topic, payload)

    monkeypatch.setattr(Publisher, "publish", counted)
    monkeypatch.setattr(driver_broker, "ASK_GAP_S", 0.005)
    lamps = [lamp(f"lamp {number}", f"0x{number:04x}") for number in range(100)]
    async with zigbee2mqtt(mosquitto, *lamps) as bridge, house_at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: len(devices) == 100)
        await watch.until(lambda devices: all(state["state"] == "off" for state in devices.values()))

        assert max(sizes) == 0
        assert bridge.sent.qsize() == 100
