"""Televisions and speakers in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.homes import Stubborn, call, named, open_devices, said
from tools.device import State
from tools.devices import Devices
from tools.media import Media

SETTINGS: dict[str, Any] = {
    "floor": [{"name": "ground floor"}, {"name": "first floor", "aliases": ["upstairs"]}],
    "room": [
        {"name": "living room", "floor": "ground floor"},
        {"name": "kitchen", "floor": "ground floor"},
        {"name": "hall", "floor": "ground floor"},
        {"name": "bedroom", "floor": "first floor"},
        {"name": "office", "floor": "first floor"},
    ],
    "device": [
        {"name": "TV", "kind": "television", "room": "living room", "memory": {"on": True, "volume": 25}},
        {"name": "living room speaker", "kind": "speaker", "room": "living room",
         "memory": {"playing": True, "title": "Radio Hearth", "volume": 35}},
        {"name": "kitchen speaker", "kind": "speaker", "room": "kitchen"},
        {"name": "bedroom speaker", "kind": "speaker", "room": "bedroom", "memory": {"on": True}},
        {"name": "office speaker", "kind": "speaker", "room": "office", "memory": {"on": True}},
        {"name": "kitchen light", "kind": "light", "room": "kitchen"},
    ],
    "group": [{"name": "cinema", "members": ["TV", "living room speaker"]}],
}  # fmt: skip


def media(**trouble: Any) -> tuple[Media, Devices, Stubborn]:
    devices, driver = open_devices(SETTINGS, **trouble)
    return Media(devices), devices, driver


def silence(driver: Stubborn) -> None:
    """Lets the living room speaker stand still."""
    driver.tell("living room speaker", on=False, playing=None, title=None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"query": "Jazz", "player": "kitchen"}, "The kitchen speaker plays Jazz."),
        ({"query": "the news", "player": "TV"}, "The TV plays the news."),
        ({"query": "Jazz", "player": "living room"}, "The living room speaker plays Jazz."),
        ({"query": "Jazz"}, "The living room speaker plays Jazz."),
        ({"query": "Jazz", "player": "upstairs"}, "The first floor speakers play Jazz."),
    ],
)
async def test_what_was_asked_for_is_played(arguments: dict[str, Any], sentence: str) -> None:
    players, _, _ = media()

    assert await said(players.play_media, **arguments) == sentence


async def test_a_player_that_is_off_is_turned_on_by_playing_only() -> None:
    players, devices, driver = media()
    assert not named(devices, "kitchen speaker").on

    for function in (players.set_volume, players.raise_volume, players.mute_media, players.next_track,
                     players.unmute_media, players.resume_media):  # fmt: skip
        arguments = {"volume": 40} if function == players.set_volume else {}
        assert await call(function, player="kitchen", **arguments) == {"error": "The kitchen speaker is off."}
    assert not driver.moves

    await call(players.play_media, query="Jazz", player="kitchen")
    assert named(devices, "kitchen speaker").on


async def test_the_title_that_the_player_tells_is_spoken() -> None:
    players, devices, driver = media()
    move = driver.move

    async def found(device: Any, change: Any) -> State:
        await move(device, change)
        driver.tell(device.name, title="Kind of Blue")
        return devices.state(device)

    driver.move = found  # type: ignore[method-assign]
    assert await said(players.play_media, query="some jazz", player="kitchen") == (
        "The kitchen speaker plays Kind of Blue."
    )
    assert await said(players.next_track, player="bedroom") == (
        "The bedroom speaker went to the next track; it is Kind of Blue."
    )


async def test_nothing_is_played_where_nobody_said_what() -> None:
    players, _, driver = media()

    assert await call(players.play_media, query=" ") == {"error": "It was not said what to play."}
    assert not driver.moves


async def test_pause_and_resume() -> None:
    players, devices, _ = media()

    assert await said(players.pause_media) == "The living room speaker is paused."
    assert named(devices, "living room speaker").playing is False
    assert await said(players.resume_media) == "The living room speaker plays Radio Hearth."
    assert named(devices, "living room speaker").playing is True


async def test_pausing_what_does_not_play_is_no_failure() -> None:
    players, _, driver = media()
    driver.tell("TV", on=False)
    silence(driver)
    for name in ("bedroom speaker", "office speaker"):
        driver.tell(name, on=False)

    assert await said(players.pause_media) == "Nothing is playing."
    assert await said(players.pause_media, player="living room") == "Nothing is playing in the living room."
    assert await said(players.pause_media, player="bedroom speaker") == "The bedroom speaker is not playing."
    assert not driver.moves


async def test_of_a_room_the_player_that_plays_is_meant() -> None:
    players, _, driver = media()
    for function in (players.pause_media, players.resume_media, players.next_track, players.previous_track):
        await call(function, player="living room")
    await call(players.set_volume, volume=20, player="living room")

    assert set(driver.moved) == {"living room speaker"}


async def test_a_television_that_only_tells_that_it_is_on_can_be_paused() -> None:
    players, devices, driver = media()
    silence(driver)

    assert await said(players.pause_media, player="living room") == "The TV is paused."
    assert named(devices, "TV").playing is False


async def test_where_several_could_be_meant_it_is_asked_which() -> None:
    players, _, driver = media()
    driver.tell("living room speaker", playing=None)

    for function in (players.next_track, players.mute_media, players.raise_volume):
        assert await call(function, player="living room") == {
            "error": "It was not said which player: the TV or the living room speaker."
        }
    driver.tell("living room speaker", playing=True)
    driver.tell("TV", playing=True)
    assert "which player: the TV or the living room speaker" in (await call(players.pause_media))["error"]
    assert "which player" in (await call(players.play_media, query="Jazz", player="living room"))["error"]
    assert not driver.moves


async def test_all_that_play_in_a_room_are_paused() -> None:
    players, _, driver = media()
    driver.tell("TV", playing=True)

    assert await said(players.pause_media, player="living room") == "The TV and the living room speaker are paused."


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        ("upstairs", {"bedroom speaker", "office speaker"}),
        ("everywhere", {"TV", "bedroom speaker", "office speaker"}),
        ("cinema", {"TV"}),
    ],
)
async def test_a_floor_a_group_and_the_whole_home_mean_all_that_are_on(words: str, moved: set[str]) -> None:
    players, _, driver = media()
    silence(driver)
    await call(players.mute_media, player=words)

    assert set(driver.moved) == moved


async def test_music_in_another_room_is_controlled_from_here_and_never_started_there() -> None:
    players, _, driver = media()

    assert await said(players.pause_media, player="hall") == "The living room speaker is paused."
    await call(players.resume_media, player="living room")
    assert await said(players.lower_volume, player="hall") == "The living room speaker is at 25 percent."
    assert await call(players.play_media, query="Jazz", player="hall") == {
        "error": "There is no television and no speaker in the hall; the living room speaker is playing."
    }
    silence(driver)
    assert (
        "There is no television and no speaker in the hall" in (await call(players.pause_media, player="hall"))["error"]
    )
    assert "pool" in (await call(players.pause_media, player="pool"))["error"]


async def test_a_home_without_players_says_so() -> None:
    players = Media(open_devices({"room": [{"name": "kitchen"}]})[0])

    assert await call(players.pause_media) == {"error": "There is no television and no speaker in this home."}


@pytest.mark.parametrize("percent", range(101))
async def test_every_percentage_is_told_as_it_was_said(percent: int) -> None:
    players, devices, _ = media()

    assert await said(players.set_volume, volume=percent, player="TV") == f"The TV is at {percent} percent."
    assert named(devices, "TV").volume == percent


@pytest.mark.parametrize("volume", [-1, 101, 50.5, "80", True])
async def test_a_volume_out_of_its_range_or_type_moves_nothing(volume: object) -> None:
    players, _, driver = media()

    assert "volume" in (await call(players.set_volume, volume=volume, player="TV"))["error"]
    assert not driver.moves


@pytest.mark.parametrize(
    ("function", "amount", "sentence"),
    [
        ("raise_volume", None, "The TV is at 35 percent."),
        ("lower_volume", None, "The TV is at 15 percent."),
        ("raise_volume", 75, "The TV is at 100 percent."),
        ("raise_volume", 76, "The TV is at 100 percent; that is as loud as it goes."),
        ("lower_volume", 25, "The TV is at 0 percent."),
        ("lower_volume", 100, "The TV is at 0 percent; that is as quiet as it goes."),
    ],
)
async def test_a_relative_change_ends_at_0_and_100_and_says_so(
    function: str, amount: int | None, sentence: str
) -> None:
    players, devices, _ = media()
    arguments = {"player": "TV"} | ({} if amount is None else {"amount": amount})

    assert await said(getattr(players, function), **arguments) == sentence
    assert named(devices, "TV").on


async def test_two_steps_at_once_are_two_steps() -> None:
    players, devices, driver = media()
    driver.free.clear()
    both = asyncio.gather(call(players.raise_volume, player="TV"), call(players.raise_volume, player="TV"))
    await asyncio.sleep(0)
    driver.free.set()
    await both

    assert named(devices, "TV").volume == 45


async def test_a_volume_that_is_not_known_cannot_be_raised() -> None:
    players, _, driver = media()
    driver.tell("TV", volume=None)

    assert await call(players.raise_volume, player="TV") == {"error": "The TV has not told how loud it is."}
    assert not driver.moves


async def test_different_volumes_are_told_one_by_one() -> None:
    players, _, driver = media()
    driver.tell("bedroom speaker", volume=10)

    assert await said(players.raise_volume, player="upstairs") == (
        "The bedroom speaker is at 20 percent; the office speaker is at 40 percent."
    )


async def test_muted_and_unmuted() -> None:
    players, devices, _ = media()

    assert await said(players.mute_media, player="TV") == "The TV is muted."
    assert await said(players.set_volume, volume=30, player="TV") == "The TV is at 30 percent; it is muted."
    assert await said(players.unmute_media) == "The sound of the TV is on."
    assert named(devices, "TV").muted is False


async def test_a_player_that_is_gone_is_said_to_be_so() -> None:
    players, devices, _ = media(gone=["office speaker"])
    devices.report("office_speaker", State(available=False, on=False))

    for function in (players.pause_media, players.next_track, players.raise_volume):
        assert await call(function, player="office speaker") == {"error": "The office speaker is not available."}


@pytest.mark.parametrize("words", ["dining room", "dining", "the dinning room"])
async def test_a_room_without_a_player_is_known_by_its_beginning_and_misspelt(words: str) -> None:
    devices, driver = open_devices({**SETTINGS, "room": [*SETTINGS["room"], {"name": "dining room"}]})
    silence(driver)

    error = (await call(Media(devices).play_media, query="Jazz", player=words))["error"]
    assert "There is no television and no speaker in the dining room" in error
    assert not driver.moves


async def test_different_titles_are_told_one_by_one() -> None:
    players, _, driver = media()
    for name, title in (("bedroom speaker", "Jazz"), ("office speaker", "the news")):
        driver.tell(name, playing=False, title=title)

    assert (await call(players.resume_media, player="upstairs"))["by_device"] == {
        "bedroom speaker": "Jazz",
        "office speaker": "the news",
    }
