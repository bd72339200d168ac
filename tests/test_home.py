"""The home as the settings describe it."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent import service
from agent.config import EXAMPLE_SETTINGS, read_settings
from agent.errors import SettingsError
from tests.homes import SETTINGS, call
from tools import check_settings, declarations, open_house
from tools.device import CLIMATE, COVERS, FANS, LIGHTS, LOCKS, PLAYERS, ROBOTS, SENSORS, SWITCHES
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
        (changed("device", "kettle", colour="red"), "\"kettle\" has no key 'colour'; allowed are id, name, kind"),
        (changed("device", "kettle", mqqt={}), "has no key 'mqqt'.*, memory, mqtt.*did you mean mqtt"),
        (changed("device", "kettle", kind="pot"), "kind is 'pot'; allowed are light, switch, plug"),
        (changed("device", "kettle", kind=None), "\"kettle\" needs the key 'kind'"),
        (changed("device", "kettle", name=7), "number 8: name is 7; it must be a text"),
        (changed("device", "kettle", room="celar"), "there is no room 'celar'; there are: living room, Küche"),
        (changed("device", "kettle", room="garge"), "'garge'; .*did you mean garage"),
        (changed("device", "kettle", can=["brightness"]), "can has 'brightness'; for a plug allowed is nothing"),
        (changed("device", "floor lamp", can=["disco"]), "allowed are brightness, color, white"),
        (changed("device", "front door", can=["open"]), "a door with a motor is of the kind garage_door"),
        (changed("device", "floor lamp", can=["position"]), "for a light allowed is brightness, color, white"),
        (changed("device", "floor lamp", can="brightness"), "must be a list"),
        (changed("device", "floor lamp", modes=["heat"]), "modes is not for a light"),
        (changed("device", "floor lamp", min_kelvin=7000), "min_kelvin and max_kelvin must rise, within 1000 to 10000"),
        (changed("device", "den thermostat", max_temperature=99), "must rise, within -30 to 90"),
        (changed("device", "garage motion detector", measures=None), 'needs the key "measures"'),
        (changed("device", "floor lamp", memory={"on": 1}), "memory: on is 1; it must be true or false"),
        (changed("device", "floor lamp", memory={"brightness": 0}), "brightness is 0; allowed is 1 to 100"),
        (changed("device", "floor lamp", memory=True), "memory is true; it must be a table"),
        (changed("device", "floor lamp", memory={}, mqtt={}), "tables for memory and mqtt"),
        (changed("device", "floor lamp", mqtt={}), "mqtt needs the key 'state_topic'"),
        (changed("device", "floor lamp", mqtt={"state_topic": "a"}), "command_topic is missing"),
        (
            changed("device", "floor lamp", mqtt={"state_topic": "a/#", "command_topic": "b"}),
            "'a/#' is no topic of one device",
        ),
        (
            changed("device", "floor lamp", mqtt={"state_topic": "a", "command_topic": "b", "brightness_scale": 99}),
            "allowed are 100, 254, 255",
        ),
        (
            changed("device", "floor lamp", mqtt={"state_topic": "a", "command_topic": "b", "schema": "plain"}),
            'schema "plain" only switches',
        ),
        (changed("device", "floor lamp", id="a b"), "letters, digits"),
        (changed("device", "floor lamp", id="kettle"), "\"floor lamp\" has the id 'kettle' already"),
        (changed("device", "floor lamp", name="灯"), 'needs the key "id"'),
        (changed("device", "floor lamp", name="!", id="x"), "'!' has no letters or digits"),
        (changed("room", "hall", floor="roof"), "no floor 'roof'; there are: ground floor, first floor, attic"),
        (changed("group", "movie lights", members=["disco ball"]), "device, room or floor 'disco ball'; there are: "),
        (changed("group", "movie lights", members=["flor lamp"]), "did you mean floor lamp"),
        ({"room": {"name": "hall"}}, r"\[tools\]: room is .* must be an array of tables"),
        ({"room": [{}]}, r"\[\[tools.room\]\] number 1 needs the key 'name'"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_is_allowed(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        Home.from_settings(settings)


@pytest.mark.parametrize(
    ("settings", "first", "at"),
    [
        (changed("device", "kettle", name="Reading-Lamp"), "reading lamp", ("device", 7, "name")),
        (changed("device", "kettle", aliases=["pot", "télévision"]), "TV", ("device", 7, "aliases", 1)),
        (changed("room", "hall", name="kuche"), "Küche", ("room", 2, "name")),
        (changed("room", "office", name="attic"), "attic", ("room", 7, "name")),
        (changed("group", "movie lights", name="TV"), "TV", ("group", 0, "name")),
        (changed("group", "movie lights", name="the hall"), "hall", ("group", 0, "name")),
        (changed("group", "movie lights", aliases=["up stairs"]), "first floor", ("group", 0, "aliases", 0)),
    ],
)
def test_two_names_that_are_equal_after_folding_are_refused(settings: dict[str, Any], first: str, at: Any) -> None:
    with pytest.raises(SettingsError, match=f'"{first}" has the name ".*" already') as caught:
        Home.from_settings(settings)

    assert caught.value.at == ("tools", *at)


@pytest.mark.parametrize("array", ["floor", "room", "group", "device"])
@pytest.mark.parametrize(
    "name",
    ["all", "Everything", "everywhere", "it", "them", "here", "the house", "both", "everything except it",
     "all but the hall", "everywhere apart from the kitchen", "not the hall"],
)  # fmt: skip
def test_nothing_is_called_by_what_is_said_of_whatever_is_meant(array: str, name: str) -> None:
    which = SETTINGS[array][0]["name"]
    for change in ({"name": name, "id": "x"} if array == "device" else {"name": name}, {"aliases": ["fine", name]}):
        with pytest.raises(SettingsError, match=f'"{name}" is said of other things'):
            Home.from_settings(changed(array, which, **change))


@pytest.mark.parametrize("name", ["all lights", "lamp without a shade", "room 2", "1", "upstairs lamp", "home office"])
def test_a_name_that_holds_small_words_is_one(name: str) -> None:
    Home.from_settings(changed("device", "kettle", name=name, id="x"))


@pytest.mark.parametrize("kinds", [("lock", "switch"), ("switch", "lock"), ("garage_door", "blind"), ("lock", "lock")])
def test_a_lock_is_told_what_to_do_where_nothing_else_is(kinds: tuple[str, str]) -> None:
    """A switch whose word for on is "UNLOCK" would open it, and nobody would be asked."""
    tables = [
        {"name": f"the {number}", "id": f"d{number}", "kind": kind,
         "mqtt": {"state_topic": f"d{number}/state", "command_topic": "gate/set"}}
        for number, kind in enumerate(kinds)
    ]  # fmt: skip

    with pytest.raises(SettingsError, match=r'"the 0" is told what to do on .gate/set. too'):
        Home.from_settings({"device": tables})


def test_two_plugs_may_be_told_at_one_place() -> None:
    """A bridge to a radio has one topic and a word for each of its plugs."""
    tables = [
        {"name": f"plug {number}", "kind": "plug", "mqtt": {
            "state_topic": f"p{number}/state", "command_topic": "bridge/set", "payload_on": f"{number}ON"}}
        for number in range(2)
    ]  # fmt: skip

    assert len(Home.from_settings({"device": tables}).devices) == 2


def test_a_name_may_be_given_twice_to_one_thing() -> None:
    home = Home.from_settings(changed("device", "kettle", aliases=["Kettle", "tea"]))

    assert next(device.aliases for device in home.devices if device.name == "kettle") == ("Kettle", "tea")


HOUSE = """\
[agent]
name = "desk"

[tools]
unit = "celsius"  {tools}

[tools.mqtt]
host = "127.0.0.1"
{mqtt}

[[tools.room]]
name = "kitchen"

[[tools.room]]
name = "office"
{room}

[[tools.device]]
name = "desk lamp"
kind = "light"
room = "office"
{device}

[tools.device.memory]
brightness = 40
{memory}

[[tools.group]]
name = "lamps"
members = [
    "desk lamp",{member}
]

[[tools.scene]]
name = "reading"
states = [
    {{ device = "desk lamp", on = true{state} }},
]

[[tools.script]]
name = "leaving"
steps = [{{ function = "turn_off_light", arguments = {{ room = "office"{step} }} }}]

[[tools.list]]
name = "hardware"
{list}
"""
"""A house with a place for each mistake."""


@pytest.mark.parametrize(
    ("place", "wrong", "said"),
    [
        ("mqtt", "@port = 70000", "[tools.mqtt]: port is 70000; allowed is 1 to 65535"),
        ("mqtt", "@confirm_timeout_s = 0", "[tools.mqtt]: confirm_timeout_s is 0; allowed is 0.1 to 60"),
        ("mqtt", "@confirm_timeout_s = inf", "[tools.mqtt]: confirm_timeout_s is inf; allowed is 0.1 to 60"),
        ("mqtt", '@user = "me"', "[tools.mqtt] has no key 'user'; allowed are host, port, username"),
        ("tools", '\n@scale = "c"', "[tools] has no key 'scale'; allowed are unit, floor"),
        ("room", '@flor = "attic"', "[[tools.room]] \"office\" has no key 'flor'; allowed are name, floor, aliases ("),
        ("room", '@floor = "attic"', "[[tools.room]] \"office\": there is no floor 'attic'; there are: none"),
        ("room", 'aliases = [\n@"Kitchen",\n]', '"kitchen" has the name "Kitchen" already'),
        ("device", '@rom = "office"', "[[tools.device]] \"desk lamp\" has no key 'rom'; allowed are"),
        ("device", 'can = ["brightness",\n@"speed"]', "can has 'speed'; for a light allowed is brightness, color"),
        ("memory", "@on = 5", '[[tools.device]] "desk lamp": memory: on is 5; it must be true or false'),
        ("member", '\n@"dsk lamp"', "'dsk lamp'; there are: kitchen, office, desk lamp (did you mean desk lamp?)"),
        ("state", "@, speed = 3", 'states 1: "desk lamp": it has no speed; it has on, brightness'),
        ("step", "@, brightness = 5", '[[tools.script]] "leaving": steps 1: turn_off_light'),
        ("list", "@kind = 1", "[[tools.list]] \"hardware\" has no key 'kind'; allowed are name, aliases"),
    ],
)
async def test_a_mistake_in_the_house_is_named_with_file_and_line(
    tmp_path: Path, place: str, wrong: str, said: str
) -> None:
    """The @ is where it stands."""
    places = dict.fromkeys(("tools", "mqtt", "room", "device", "memory", "member", "state", "step", "list"), "")
    text = HOUSE.format(**{**places, place: wrong})
    file = tmp_path / "hearth.toml"
    file.write_text(text.replace("@", ""), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        async with service.open_house(read_settings(file), None):
            pass

    assert str(caught.value).startswith(f"{file}:{text[: text.index('@')].count(chr(10)) + 1}: ")
    assert said in str(caught.value)


async def test_paths_of_the_house_start_at_the_folder_of_the_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "now.json").write_text('{"places": {"Hamburg": {"temperature": 12}}}')
    (tmp_path / "etc" / "hearth.toml").write_text('[tools.weather]\npath = "now.json"\n')
    monkeypatch.chdir("/")
    async with service.open_house(read_settings(tmp_path / "etc" / "hearth.toml"), None) as house:
        assert house.health()["weather"] == "ok"


def test_a_device_may_be_called_like_a_room() -> None:
    home = Home.from_settings(changed("device", "desk lamp", name="office"))

    assert [device.room for device in home.devices if device.name == "office"] == ["office"]


async def test_an_unknown_key_of_the_house_is_named_with_what_is_allowed() -> None:
    with pytest.raises(
        SettingsError, match="has no key 'rooms'; allowed are unit, floor, room, device, group, weather"
    ):
        async with open_house({"rooms": []}):
            pass


def test_what_only_the_use_of_a_driver_would_show_is_found_without_opening_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="none-there"):
        check_settings({"mqtt": {"password_file": str(tmp_path / "none-there")}})


async def test_an_empty_home_opens_and_has_every_function() -> None:
    async with open_house({}) as house:
        names = [tool.name for tool in house.tools]

    assert {"turn_on_light", "set_timer", "play_media", "activate_scene", "announce"} <= set(names)
    assert len(set(names)) == len(names)


async def test_the_example_house_has_three_floors_and_every_family_of_device() -> None:
    settings = tomllib.loads(EXAMPLE_SETTINGS.read_text(encoding="utf-8"))["tools"]
    home = Home.from_settings(settings)
    kinds = {device.kind for device in home.devices}

    assert len(home.floors) == 3
    assert len(home.rooms) >= 12
    assert len(home.devices) >= 50
    assert all(kinds & family for family in (LIGHTS, FANS, SWITCHES, COVERS, LOCKS, CLIMATE, PLAYERS, ROBOTS, SENSORS))
    check_settings(settings)
    async with open_house(settings) as house:
        assert [tool.declaration for tool in house.tools] == list(declarations())
        assert set(house.health()) == {"memory", "weather"}


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
