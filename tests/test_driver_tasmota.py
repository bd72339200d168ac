"""Tasmota devices that speak at a real mosquitto, in a house as the agent sees it; topics are those of HATasmota."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hatasmota.discovery import TasmotaDiscoveryMsg
from hatasmota.utils import get_topic_command, get_topic_stat_result, get_topic_tele_state, get_topic_tele_will

from tests import brokers
from tests.bridged import do, house_at, named, watching
from tests.brokers import Mosquitto
from tests.tasmota import MAC, Tasmota, config, options, tasmota
from tools.drivers import mqtt_probe

mosquitto, guarded = brokers.mosquitto, brokers.guarded
"""Fixtures; imported as such they would look redefined by each test that takes one."""

LAMP = {"rl": [2, 0, 0, 0], "lt_st": 1}
RGBCW = {"rl": [2, 0, 0, 0], "lt_st": 5}
SHUTTER = {"Position": 0, "Direction": 0, "Target": 0, "Tilt": 0}


def at(broker: Mosquitto, timeout_s: float = 5.0, **tables: Any) -> Any:
    return house_at(broker, timeout_s, name="tasmota", **tables)


async def sent(device: Tasmota, count: int = 1) -> list[tuple[str, str]]:
    """The next commands that a device is sent, at least so many; questions are left out."""
    commands = []
    async with asyncio.timeout(10):
        while len(commands) < count or not device.sent.empty():
            command = await device.sent.get()
            if command[0] not in ("STATE", "STATUS"):
                commands.append(command)
    return commands


async def test_devices_that_announce_themselves_are_there_and_moved(mosquitto: Mosquitto) -> None:
    async with tasmota(mosquitto, config(dn="Kitchen radio")) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_switch", device="kitchen radio") == "The Kitchen radio is on."
        assert await sent(device) == [("Power1", "ON")]
        assert device.topics[-1] == "cmnd/tasmota_A1B2C3/Power1"
        assert await do(house, "turn_off_switch", device="the radio in the kitchen") == "The Kitchen radio is off."


@pytest.mark.parametrize(
    "changes",
    [
        {"ft": "%prefix%/%topic%/"},
        {"ft": "home/%topic%/%prefix%/"},
        {"ft": "%topic%/%prefix%/", "t": "küche radio"},
        {"ft": "tasmota/%hostname%/%id%/%prefix%/", "tp": ["do", "answer", "tell"]},
        {"ft": "a/%id%/%topic%/x/%prefix%/", "tp": ["cmnd", "stat", "stat"]},
    ],
)
async def test_topics_are_those_that_the_device_announces_as_hatasmota_makes_them(
    mosquitto: Mosquitto, changes: dict[str, Any]
) -> None:
    announced = config(dn="radio", **changes)
    theirs = TasmotaDiscoveryMsg(announced)
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_switch", device="radio") == "The radio is on."

        assert device.topics[-1] == f"{get_topic_command(theirs)}Power1"
        assert device.topic(1, "RESULT") == get_topic_stat_result(theirs)
        assert device.topic(2, "STATE") == get_topic_tele_state(theirs)
        assert device.topic(2, "LWT") == get_topic_tele_will(theirs)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"dn": "Kitchen radio"}, ["Kitchen radio"]),
        ({"fn": ["Kitchen radio"]}, ["Kitchen radio"]),
        ({}, ["tasmota A1B2C3"]),
        ({"dn": "Kitchen", "fn": ["Radio"]}, ["Kitchen Radio"]),
        ({"dn": "Kitchen", "fn": ["Kitchen radio"]}, ["Kitchen radio"]),
        ({"rl": [1, 1], "dn": "hall box", "fn": ["hall box", "Tasmota2"]}, ["hall box", "hall box 2"]),
        ({"rl": [1, 1], "dn": "hall box", "fn": ["left", "right"]}, ["hall box left", "hall box right"]),
        ({"rl": [1, 1], "dn": "hall box", "fn": ["Tasmota", "Tasmota2"]}, ["hall box 1", "hall box 2"]),
        ({"rl": [1, 0, 0, 0], "if": 1, "dn": "bedroom fan"}, ["bedroom fan", "bedroom fan light"]),
        ({"dn": "kitchen/radio"}, ["kitchen radio"]),
    ],
)
async def test_a_device_is_called_as_its_owner_called_it(
    mosquitto: Mosquitto, changes: dict[str, Any], names: list[str]
) -> None:
    async with tasmota(mosquitto, config(**changes)), at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: len(devices) == len(names))

        assert [state["name"] for state in watch.devices.values()] == names


async def test_each_relay_is_a_device_of_its_own(mosquitto: Mosquitto) -> None:
    announced = config(rl=[1, 1, 0, 0], dn="hall", fn=["radio", "heater plug"])
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house, watching(house) as watch:
        assert await do(house, "turn_on_switch", device="hall heater plug") == "The hall heater plug is on."
        assert await sent(device) == [("Power2", "ON")]
        assert named(watch.devices, "hall radio")["state"] == "off"


async def test_words_for_on_and_off_are_those_of_the_device(mosquitto: Mosquitto) -> None:
    announced = config(dn="radio", state=["AUS", "AN", "UM", "HALT"])
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_switch", device="radio") == "The radio is on."
        assert await sent(device) == [("Power1", "AN")]


async def test_answers_on_a_topic_for_each_command_are_heard_too(mosquitto: Mosquitto) -> None:
    announced = config(dn="lamp", so=options(_4=1), **LAMP)
    async with tasmota(mosquitto, announced), at(mosquitto) as house:
        assert await do(house, "turn_on_light", room="lamp", brightness=30) == "The lamp is on at 30 percent."


async def test_f9_each_percent_of_a_dimmer_is_confirmed_as_the_same_percent(mosquitto: Mosquitto) -> None:
    async with tasmota(mosquitto, config(dn="lamp", **LAMP)) as device, at(mosquitto) as house:
        for percent in range(1, 101):
            answer = await do(house, "turn_on_light", room="lamp", brightness=percent)

            assert answer == f"The lamp is on at {percent} percent."
            assert (await sent(device))[-1] == ("Dimmer", f"{percent}")


async def test_what_belongs_together_is_one_message(mosquitto: Mosquitto) -> None:
    async with tasmota(mosquitto, config(dn="lamp", **RGBCW)) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_light", room="lamp", brightness=30, color="warm white") == (
            "The lamp is on at 30 percent, warm white."
        )
        assert await sent(device, 2) == [("CT", "370"), ("Dimmer", "30")]
        assert device.topics[-1] == "cmnd/tasmota_A1B2C3/Backlog"

        assert "blue" in await do(house, "turn_on_light", room="lamp", color="blue")
        assert await sent(device, 3) == [("HSBColor1", "240"), ("HSBColor2", "100"), ("Power1", "ON")]
        assert await do(house, "turn_off_light", room="lamp") == "The lamp is off."


@pytest.mark.parametrize(
    ("announced", "white", "mireds"),
    [
        (config(dn="lamp", rl=[2], lt_st=2), "6500 K", 154),
        (config(dn="lamp", rl=[2], lt_st=2), "1500 K", 500),
        (config(dn="lamp", rl=[2], lt_st=2, so=options(_82=1)), "6500 K", 200),
        (config(dn="lamp", rl=[2], lt_st=2, so=options(_82=1)), "2000 K", 380),
    ],
)
async def test_whites_are_mireds_within_what_the_device_can(
    mosquitto: Mosquitto, announced: dict[str, Any], white: str, mireds: int
) -> None:
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house:
        await do(house, "turn_on_light", room="lamp", color=white)
        assert (await sent(device, 2))[0] == ("CT", f"{mireds}")


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({"rl": [1], "so": options(_30=1)}, {"1": ()}),
        ({"rl": [2], "lt_st": 1}, {"1": ("brightness",)}),
        ({"rl": [2], "lt_st": 2}, {"1": ("brightness", "white")}),
        ({"rl": [2], "lt_st": 3}, {"1": ("brightness", "color")}),
        ({"rl": [2], "lt_st": 4}, {"1": ("brightness", "color")}),
        ({"rl": [2], "lt_st": 5}, {"1": ("brightness", "color", "white")}),
        ({"rl": [2, 2], "lt_st": 4, "lk": 0}, {"1": ("brightness", "color"), "2": ("brightness",)}),
        ({"rl": [2, 2], "lt_st": 5, "lk": 0}, {"1": ("brightness", "color"), "2": ("brightness", "white")}),
        ({"rl": [2, 2, 2], "lt_st": 3, "so": options(_68=1)}, dict.fromkeys("123", ("brightness",))),
    ],
)
async def test_lamps_can_what_the_device_says(
    mosquitto: Mosquitto, changes: dict[str, Any], kinds: dict[str, tuple[str, ...]]
) -> None:
    async with tasmota(mosquitto, config(**changes)), at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: len(devices) == len(kinds))
        found = {device.id.removeprefix(f"{MAC}_light"): device.can for device in house._devices.home.devices}

        assert found == kinds


async def test_a_lamp_that_a_brightness_does_not_turn_on_is_turned_on_in_the_same_message(mosquitto: Mosquitto) -> None:
    announced = config(dn="lamp", so=options(_20=1), **LAMP)
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_light", room="lamp", brightness=30) == "The lamp is on at 30 percent."
        assert await sent(device, 2) == [("Dimmer", "30"), ("Power1", "ON")]


@pytest.mark.parametrize(("inverted", "position"), [(0, "40"), (1, "60")])
async def test_a_shutter_is_on_its_way_as_soon_as_it_moves(mosquitto: Mosquitto, inverted: int, position: str) -> None:
    announced = config(dn="kitchen shutter", rl=[3, 3, 0, 0], sho=[inverted])
    sensors = {"Shutter1": {**SHUTTER, "Position": 100 * inverted}}
    async with (
        tasmota(mosquitto, announced, sensors) as device,
        at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: devices.get(f"{MAC}_shutter1", {}).get("position") == 0)

        assert await do(house, "set_cover_position", cover="kitchen shutter", position=40) == (
            "The kitchen shutter is opening."
        )
        assert await sent(device) == [("ShutterPosition1", position)]
        await watch.until(lambda devices: devices[f"{MAC}_shutter1"]["position"] == 40)
        assert await do(house, "stop_cover", cover="kitchen shutter") == "The kitchen shutter is open at 40 percent."
        assert await sent(device) == [("ShutterStop1", "")]


async def test_a_gate_is_a_garage_door_and_is_asked_about(mosquitto: Mosquitto) -> None:
    announced = config(dn="garage", rl=[3, 3, 0, 0])
    async with tasmota(mosquitto, announced, {"Shutter1": SHUTTER}), at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: len(devices) == 1)

        assert watch.devices[f"{MAC}_shutter1"]["kind"] == "garage_door"


async def test_a_fan_has_three_speeds(mosquitto: Mosquitto) -> None:
    announced = config(rl=[1, 0, 0, 0], dn="bedroom fan", **{"if": 1})
    async with tasmota(mosquitto, announced) as device, at(mosquitto) as house:
        assert await do(house, "turn_on_switch", device="bedroom fan") == "The bedroom fan is on at 67 percent."
        assert await do(house, "set_fan_speed", fan="bedroom fan", speed=100) == "The bedroom fan is on at 100 percent."
        assert await do(house, "turn_off_switch", device="bedroom fan") == "The bedroom fan is off."
        assert await do(house, "turn_on_light", room="bedroom fan light") == "The bedroom fan light is on."
        assert await sent(device, 4) == [("FanSpeed", "2"), ("FanSpeed", "3"), ("FanSpeed", "0"), ("Power1", "ON")]


async def test_f15_a_device_that_says_that_it_is_gone_is_sent_nothing_and_a_silent_one_is_not_confirmed(
    mosquitto: Mosquitto,
) -> None:
    """In its own spelling of it."""
    gone = config("DC4F22000001", dn="hall radio", ofln="weg", onln="da")
    quiet = config("DC4F22000002", dn="hall plug")
    async with (
        tasmota(mosquitto, gone, online=False) as away,
        tasmota(mosquitto, quiet) as silent,
        at(mosquitto, 1.0) as house,
        watching(house) as watch,
    ):
        silent.silent = True
        assert await do(house, "turn_on_switch", device="hall radio") == "The hall radio is not available."
        assert await do(house, "turn_on_switch", device="hall plug") == "The hall plug did not confirm it in time."
        assert await sent(away, 0) == []

        await away.say_online(True)
        await watch.until(lambda devices: named(devices, "hall radio")["state"] == "off")
        assert await do(house, "turn_on_switch", device="hall radio") == "The hall radio is on."


async def test_one_that_sleeps_most_of_the_time_is_not_gone(mosquitto: Mosquitto) -> None:
    announced = config(dn="garden thermometer", rl=[0], dslp=1)
    sensors = {"BME280": {"Temperature": 12.5}, "TempUnit": "C"}
    async with (
        tasmota(mosquitto, announced, sensors) as device,
        at(mosquitto) as house,
        watching(house) as watch,
    ):
        await device.publish(device.topic(2, "SENSOR"), sensors)
        await watch.until(lambda devices: devices.get(f"{MAC}_BME280_Temperature", {}).get("value") == 12.5)
        await device.say_online(False)
        await device.publish(device.topic(2, "SENSOR"), {**sensors, "BME280": {"Temperature": 13}})
        await watch.until(lambda devices: devices[f"{MAC}_BME280_Temperature"]["value"] == 13)

        assert (
            await do(house, "get_temperature", room="garden thermometer") == "The garden thermometer shows 13 degrees."
        )


@pytest.mark.parametrize(
    ("unit", "told", "answer"),
    [
        ("celsius", {"Temperature": 44, "unit": "F"}, "6.7 degrees"),
        ("celsius", {"Temperature": 44, "unit": "C"}, "44 degrees"),
        ("fahrenheit", {"Temperature": 44, "unit": "C"}, "111.2 degrees"),
        ("fahrenheit", {"Temperature": -40, "unit": "C"}, "-40 degrees"),
        ("celsius", {"Temperature": 44}, "44 degrees; the Keller temperature does not say in which unit"),
    ],
)
async def test_f17_a_temperature_has_the_unit_that_the_device_says(
    mosquitto: Mosquitto, unit: str, told: dict[str, Any], answer: str
) -> None:
    sensors: dict[str, Any] = {"AM2301": {"Temperature": told["Temperature"], "Humidity": 40}}
    sensors |= {"TempUnit": told["unit"]} if "unit" in told else {}
    announced = config(dn="Keller", rl=[0])
    async with (
        tasmota(mosquitto, announced, sensors),
        at(mosquitto, unit=unit) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: "value" in devices.get(f"{MAC}_AM2301_Temperature", {}))

        assert answer in await do(house, "get_temperature", room="keller temperature")
        assert "40 percent" in await do(house, "get_humidity", room="keller humidity")


async def test_f17_a_unit_that_changes_while_running_is_the_new_one(mosquitto: Mosquitto) -> None:
    sensors = {"DS18B20": {"Id": "x", "Temperature": 20.0}, "TempUnit": "C"}
    async with (
        tasmota(mosquitto, config(dn="cellar", rl=[0]), sensors) as device,
        at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: "value" in devices.get(f"{MAC}_DS18B20_Temperature", {}))
        changed = {"DS18B20": {"Id": "x", "Temperature": 68.0}, "TempUnit": "F"}
        await device.publish(device.topic(2, "SENSOR"), changed)
        await watch.until(lambda devices: devices[f"{MAC}_DS18B20_Temperature"]["value"] == 68)

        assert await do(house, "get_temperature", room="cellar") == "The cellar shows 20 degrees."


async def test_a_plug_that_measures_is_one_and_tells_its_power(mosquitto: Mosquitto) -> None:
    sensors = {"ENERGY": {"Total": 3.185, "Power": 7, "Voltage": 230}, "ESP32": {"Temperature": 50}, "TempUnit": "C"}
    async with (
        tasmota(mosquitto, config(dn="kitchen heater plug"), sensors),
        at(mosquitto) as house,
        watching(house) as watch,
    ):
        await watch.until(lambda devices: len(devices) == 3)
        await watch.until(lambda devices: named(devices, "kitchen heater plug power").get("value") == 7)

        assert sorted(state["name"] for state in watch.devices.values()) == [
            "kitchen heater plug", "kitchen heater plug energy", "kitchen heater plug power"]  # fmt: skip
        assert await do(house, "turn_on_switch", device="heater plug") == "The kitchen heater plug is on."
        assert await do(house, "get_state", device="kitchen heater plug power") == (
            "The kitchen heater plug power is 7 watts."
        )


async def test_a_device_that_is_renamed_or_leaves_while_running_is_known_by_its_new_name_or_gone(
    mosquitto: Mosquitto,
) -> None:
    async with tasmota(mosquitto, config(dn="radio")) as device, at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: bool(named(devices, "radio")))
        device.config["dn"] = "hall stereo"
        await device.announce()
        await watch.until(lambda devices: bool(named(devices, "hall stereo")))
        assert await do(house, "turn_on_switch", device="hall stereo") == "The hall stereo is on."
        assert list(watch.devices) == [f"{MAC}_relay1"]

        await device.publish(f"tasmota/discovery/{MAC}/config", "", retain=True)
        await watch.until(lambda devices: devices[f"{MAC}_relay1"] == {})
        assert "hall stereo" not in house.names()


async def test_a_table_of_the_settings_says_what_hangs_at_a_relay(mosquitto: Mosquitto) -> None:
    table = {
        "name": "ceiling light", "kind": "light", "room": "hall", "can": [], "tasmota": {"device": MAC, "part": "2"},
    }  # fmt: skip
    announced = config(rl=[1, 1], dn="box")
    async with tasmota(mosquitto, announced) as device, at(mosquitto, device=[table]) as house:
        assert await do(house, "turn_on_light", room="hall") == "The ceiling light is on."
        assert await sent(device) == [("Power2", "ON")]


@pytest.mark.parametrize(
    "payload",
    [
        b"\xff", b"{", b"null", b"[]", b"{}", b'{"mac": "other"}', b"[" * 10_000,
        b'{"mac": "DC4F22A1B2C3", "ft": 1}',
    ],
)  # fmt: skip
async def test_f6_what_cannot_be_read_costs_no_other_device(mosquitto: Mosquitto, payload: bytes) -> None:
    async with tasmota(mosquitto, config(dn="radio")) as device, at(mosquitto) as house:
        for topic in (
            f"tasmota/discovery/{MAC}/sensors", "tasmota/discovery/DC4F22FFFFFF/config", "tasmota/discovery/x/config",
            device.topic(1, "RESULT"), device.topic(2, "STATE"), device.topic(2, "LWT"),
        ):  # fmt: skip
            await device.client.publish(topic, payload, qos=1)

        assert await do(house, "turn_on_switch", device="radio") == "The radio is on."


@pytest.mark.parametrize("prefix", ["hearth/%topic%/%prefix%/", "homeassistant/%prefix%/%topic%/", "a/#/%prefix%/"])
async def test_nothing_that_is_announced_makes_hearth_publish_elsewhere(mosquitto: Mosquitto, prefix: str) -> None:
    async with tasmota(mosquitto, config(dn="radio")) as device, at(mosquitto) as house, watching(house) as watch:
        await device.publish(
            "tasmota/discovery/DC4F22FFFFFF/config", config("DC4F22FFFFFF", dn="trap", ft=prefix), True
        )
        await device.say_online(False)
        await watch.until(lambda devices: not named(devices, "radio").get("available", True))

        assert not named(watch.devices, "trap")


async def test_f7_what_the_broker_forbids_is_not_done_and_the_doctor_names_its_topic(
    guarded: Callable[[str], Mosquitto], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_probe, "HEARD_WITHIN_S", 0.5)
    broker = guarded("topic readwrite #\ntopic deny cmnd/tasmota_A1B2C3/#")
    async with tasmota(broker, config(dn="radio")), at(broker) as house:
        assert await do(house, "turn_on_switch", device="radio") == ("The radio did not get it: the broker refused it.")
        async with asyncio.timeout(10):
            assert (await house.probe())[0] == (
                "the broker does not let us write to cmnd/tasmota_A1B2C3/STATE: allow it in its ACL"
            )


async def test_the_doctor_names_each_trouble_of_the_devices_and_moves_nothing(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_probe, "HEARD_WITHIN_S", 0.5)
    table = {"name": "fan", "kind": "fan", "tasmota": {"device": "radoi"}}
    async with at(mosquitto, device=[table]) as house:
        assert (await house.probe())[0] == (
            "nothing was heard on tasmota/discovery: switch on a Tasmota device, set SetOption19 0 there, or allow the "
            "topic in the broker's ACL"
        )
    async with (
        tasmota(mosquitto, config("DC4F22000001", dn="radio", t="one")) as radio,
        tasmota(mosquitto, config("DC4F22000002", dn="mute", t="two")) as mute,
        tasmota(mosquitto, config("DC4F22000003", dn="gone", t="three"), online=False),
        at(mosquitto, device=[table]) as house,
        watching(house) as watch,
    ):
        mute.silent = True
        await watch.until(lambda devices: named(devices, "radio").get("state") == "off")

        assert await house.probe() == [
            "[[tools.device]] \"fan\": Tasmota has no device 'radoi'; there are: radio, mute, gone "
            "(did you mean radio?)",
            "nothing was heard on stat/two/RESULT yet: the device is silent, or the broker's ACL hides it",
            "the gone is offline, says tele/three/LWT: switch it on, or look at its network",
        ]
        assert await sent(radio, 0) == []


async def test_f3_a_device_that_comes_back_three_times_in_a_second_is_asked_once_now_and_once_later(
    mosquitto: Mosquitto,
) -> None:
    async with tasmota(mosquitto, config(dn="radio")) as device, at(mosquitto) as house, watching(house) as watch:
        await watch.until(lambda devices: named(devices, "radio").get("state") == "off")
        for _ in range(3):
            await device.say_online(False)
            await device.say_online(True)
        assert await do(house, "turn_on_switch", device="radio") == "The radio is on."

        asked = [device.sent.get_nowait() for _ in range(device.sent.qsize())]
        assert asked.count(("STATE", "")) == 1
