"""The home as the settings describe it."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SettingsError
from tests.homes import SETTINGS, call
from tools import open_house
from tools.drivers import ANY
from tools.home import Home


def changed(array: str, which: str, /, **keys: Any) -> dict[str, Any]:
    """The settings with one table changed; a key of None is taken out."""
    settings = copy.deepcopy(SETTINGS)
    table = next(table for table in settings[array] if table["name"] == which)
    table.update(keys)
    settings[array][settings[array].index(table)] = {key: value for key, value in table.items() if value is not None}
    return settings


def test_a_room_may_be_named_by_an_alias_and_is_kept_by_its_stored_name() -> None:
    home = Home.from_settings(SETTINGS)

    assert next(device.room for device in home.devices if device.name == "kettle") == "Küche"


def test_an_id_is_made_of_the_name_and_stays_where_it_is_given() -> None:
    home = Home.from_settings(changed("device", "kettle", id="tea-1"))

    ids = {device.name: device.id for device in home.devices}
    assert ids["kettle"] == "tea-1"
    assert ids["coffee machine"] == "coffee_machine"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            changed("device", "kettle", colour="red"),
            "\"kettle\" has no key 'colour'; allowed are id, name, kind",
        ),
        (changed("device", "kettle", mqqt={}), "has no key 'mqqt'.*one table of a driver: memory, mqtt"),
        (changed("device", "kettle", kind="pot"), "kind is 'pot'; allowed are light, switch, plug"),
        (changed("device", "kettle", kind=None), "\"kettle\" needs the key 'kind'"),
        (changed("device", "kettle", name=7), "a text"),
        (
            changed("device", "kettle", room="cellar"),
            "there is no room 'cellar'; there are: living room, Küche",
        ),
        (changed("device", "kettle", can=["brightness"]), "can is for lights; a plug has none"),
        (changed("device", "floor lamp", can=["disco"]), "allowed are brightness, color, white"),
        (changed("device", "floor lamp", can="brightness"), "must be a list"),
        (changed("device", "floor lamp", min_kelvin=7000), "min_kelvin and max_kelvin must rise"),
        (changed("device", "floor lamp", memory={"on": 1}), "must be true or false"),
        (changed("device", "floor lamp", memory={"brightness": 0}), "brightness is 0; allowed is 1 to 100"),
        (changed("device", "floor lamp", memory={}, mqtt={}), "tables for memory and mqtt"),
        (changed("device", "floor lamp", mqtt={}), "needs the key 'state_topic'"),
        (changed("device", "floor lamp", mqtt={"state_topic": "a"}), "command_topic is missing"),
        (
            changed("device", "floor lamp", mqtt={"state_topic": "a/#", "command_topic": "b"}),
            "'a/#' is no topic of one device",
        ),
        (
            changed(
                "device",
                "floor lamp",
                mqtt={"state_topic": "a", "command_topic": "b", "brightness_scale": 99},
            ),
            "allowed are 100, 254, 255",
        ),
        (
            changed("device", "floor lamp", mqtt={"state_topic": "a", "command_topic": "b", "schema": "plain"}),
            'schema "plain" only switches',
        ),
        (changed("device", "floor lamp", id="a b"), "letters, digits"),
        (changed("device", "floor lamp", id="kettle"), "two devices have the id 'kettle'"),
        (changed("device", "floor lamp", name="灯"), 'needs the key "id"'),
        (changed("device", "floor lamp", name="!"), "has no letters|needs the key"),
        (changed("room", "hall", floor="roof"), "there is no floor 'roof'"),
        (changed("group", "movie lights", members=["disco ball"]), "no device, room or floor 'disco ball'"),
        ({"room": {"name": "hall"}}, r"must be an array of tables: \[\[tools.room\]\]"),
        ({"room": [{}]}, "needs the key 'name'"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        Home.from_settings(settings)


@pytest.mark.parametrize(
    ("settings", "both"),
    [
        (changed("device", "kettle", name="Reading-Lamp"), '"reading lamp" and "Reading-Lamp"'),
        (changed("device", "kettle", aliases=["télévision"]), '"TV" and "kettle"'),
        (changed("room", "hall", name="kuche"), '"Küche" and "kuche"'),
        (changed("floor", "attic", name="office"), "the same name"),
        (changed("group", "movie lights", name="TV"), "the same name"),
    ],
)
def test_two_names_that_are_equal_after_folding_are_refused(settings: dict[str, Any], both: str) -> None:
    with pytest.raises(SettingsError, match=both):
        Home.from_settings(settings)


def test_a_device_may_be_called_like_a_room() -> None:
    Home.from_settings(changed("device", "desk lamp", name="office"))


async def test_an_unknown_key_of_the_house_is_named_with_what_is_allowed() -> None:
    with pytest.raises(
        SettingsError, match="has no key 'rooms'; allowed are floor, room, device, group, weather, climate"
    ):
        async with open_house({"rooms": []}):
            pass


async def test_an_empty_home_opens_and_has_every_function() -> None:
    async with open_house({}) as house:
        names = [tool.name for tool in house.tools]

    assert names == [
        "turn_on_light", "turn_off_light", "brighten_light", "dim_light", "turn_on_switch", "turn_off_switch",
        "open_garage_door", "close_garage_door", "get_time", "get_date", "get_current_weather", "get_state",
        "list_devices",
    ]  # fmt: skip


async def test_the_example_house_has_three_floors_and_every_kind_of_device() -> None:
    deploy = Path(__file__).parent.parent / "deploy"
    file = next(path for path in (deploy / "hearth.example.toml", deploy / "house.part.toml") if path.exists())
    settings = tomllib.loads(file.read_text())["tools"]
    home = Home.from_settings(settings)

    assert len(home.floors) == 3
    assert len(home.rooms) >= 12
    assert len(home.devices) >= 30
    assert {device.kind for device in home.devices} == ANY
    async with open_house(settings) as house:
        assert house.health()["memory"] == "ok"


@pytest.mark.parametrize(
    ("name", "arguments", "ids"),
    [
        ("turn_on_light", {"room": "living room", "brightness": 80}, {"reading_lamp", "floor_lamp"}),
        ("turn_off_switch", {"device": "the TV"}, {"tv"}),
        ("open_garage_door", {}, {"garage_door"}),
        ("get_state", {"device": "front door"}, {"front_door"}),
        ("list_devices", {"kind": "door"}, {"front_door", "garage_door", "back_door"}),
        ("list_devices", {"kind": "light", "room": "kitchen"}, {"ceiling_light", "worktop_light"}),
        ("list_devices", {"kind": ["light"], "room": 7}, set()),
        ("get_time", {}, set()),
        ("turn_on_light", {}, set()),
    ],
)
async def test_targets_are_what_a_call_would_move(name: str, arguments: dict[str, Any], ids: set[str]) -> None:
    async with open_house(SETTINGS) as house:
        assert house.targets(name, arguments) == ids


async def test_targets_of_unknown_words_are_equal_to_themselves_only() -> None:
    async with open_house(SETTINGS) as house:
        mars = house.targets("turn_on_light", {"room": "the Mars"})

        assert mars == house.targets("turn_off_light", {"room": "mars"})
        assert mars != house.targets("turn_on_light", {"room": "venus"})
        assert mars != house.targets("turn_on_light", {"room": "kitchen"})


async def test_events_tell_every_device_first_and_then_each_change() -> None:
    async with open_house(SETTINGS) as house:
        events = house.events()
        first = [await anext(events) for _ in SETTINGS["device"]]
        tools = {tool.name: tool for tool in house.tools}
        await call(tools["turn_on_light"], room="reading lamp", brightness=80)
        event = await anext(events)

    assert {event.device for event in first} >= {"reading_lamp", "front_door"}
    assert event.device == "reading_lamp"
    assert event.state == {
        "state": "on", "brightness": 80, "available": True, "name": "reading lamp", "kind": "light",
        "room": "living room",
    }  # fmt: skip
