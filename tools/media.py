"""Televisions and speakers: what they play, and how loud.

Which player is meant, where several could be: those in the place that play, or are paused where going on is
asked for; else those that are on. Without a place one of them must be left, and one in a room to play something
new, or it is asked which. A floor, a group and "all the speakers" mean all that are there. Music is often in
another room than the person, so "pause" where there is no player means the only one in the home that plays; a
new title is never played elsewhere.

A player that is off is said to be off, and its volume stays: only playing something turns it on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from agent.schema import Place, Range
from agent.tool import AgentTool, tool
from tools.device import PLAYERS, Change, Device, State
from tools.devices import Devices, Outcome
from tools.drivers import DeviceError
from tools.names.areas import within
from tools.names.places import by_names
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.words import fold, name_key
from tools.results import being, clause, said, say_told, told
from tools.speech import listed, sentence, the

STEP = 10
"""How much "louder" is, in percent points."""

_PLAYERS = Wish(PLAYERS, PLAYERS)

_FUNCTIONS = (
    "play_media", "pause_media", "resume_media", "next_track", "previous_track",
    "set_volume", "raise_volume", "lower_volume", "mute_media", "unmute_media",
)  # fmt: skip

PLACES = dict.fromkeys(_FUNCTIONS, ("player", _PLAYERS))
"""For each function of one place: its parameter, and what it looks for."""

_SEVERAL = set("all every both everything everywhere speakers radios players tvs televisions screens".split())
"""Words that mean all that are there."""

_Test = Callable[[State], bool | None]


def _plays(state: State) -> bool | None:
    return state.playing


def _is_paused(state: State) -> bool:
    return state.playing is False and state.on is not False


def _may_play(state: State) -> bool:
    """It is not known to be off or paused: a television that shows a channel may tell no more than that it is on."""
    return state.playing is None and state.on is not False


def _is_on(state: State) -> bool:
    return state.on is not False


def _is_gone(state: State) -> bool:
    """Passes where nothing else does: moving it says that it is gone."""
    return not state.available


def _is_muted(state: State) -> bool | None:
    return state.muted and state.on is not False


def _say_playing(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_told(result, "title", lambda title: ("plays", "play", title) if title else being("playing"))


def _say_state(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if result["state"] == "not playing" and len(result["devices"]) > 1:
        return sentence(f"nothing is playing {result.get('where', '')}".strip())
    return say_told(result, "state", being)


def _say_unmuted(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return said(result, f"the sound of {result['place']} is on")


def _say_next(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say_skip(result, "to the next track")


def _say_previous(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say_skip(result, "back to the previous track")


def _say_skip(result: Mapping[str, Any], where: str) -> str:
    return said(result, clause(result, where, "went", "went"), f"it is {result['title']}" if "title" in result else "")


def _say_volume(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return say_told(result, "volume", lambda percent: being("on" if percent is None else f"at {percent} percent"))


class Media:
    """The functions of players."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (
            AgentTool(self.play_media),
            AgentTool(self.pause_media),
            AgentTool(self.resume_media),
            AgentTool(self.next_track),
            AgentTool(self.previous_track),
            AgentTool(self.set_volume),
            AgentTool(self.raise_volume),
            AgentTool(self.lower_volume),
            AgentTool(self.mute_media),
            AgentTool(self.unmute_media),
        )

    @tool(say=_say_playing)
    async def play_media(self, query: str, player: Place | None = None) -> dict[str, Any]:
        """Plays music, radio, a film, a show or a podcast.

        Args:
            query: What to play: a title, an artist, a station or a kind of music.
            player: The speaker or television, or its room.
        """
        if not query.strip():
            return {"error": "It was not said what to play."}
        place = self._place(player)
        tests = (_plays, lambda state: state.on, lambda state: True)
        chosen = self._chosen(place, player, tests, one_in_a_room=True)
        return told(place, await self._move(chosen, lambda state: Change(play=query)), "title", _title)

    @tool(say=_say_state)
    async def pause_media(self, player: Place | None = None) -> dict[str, Any]:
        """Pauses or stops the music or the film.

        Args:
            player: The speaker or television, or its room.
        """
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_plays, _may_play))
        if not chosen:
            return _silent(place)
        outcomes = await self._move(chosen, lambda state: Change(playing=False))
        return told(place, outcomes, "state", lambda outcome: "paused")

    @tool(say=_say_playing)
    async def resume_media(self, player: Place | None = None) -> dict[str, Any]:
        """Goes on playing what was paused.

        Args:
            player: The speaker or television, or its room.
        """
        return await self._set(player, (_is_paused, _may_play, _plays), Change(playing=True), "title", _title)

    @tool(say=_say_next)
    async def next_track(self, player: Place | None = None) -> dict[str, Any]:
        """Skips to the next song or track.

        Args:
            player: The speaker or television, or its room.
        """
        return await self._skip(player, Change(skip=1))

    @tool(say=_say_previous)
    async def previous_track(self, player: Place | None = None) -> dict[str, Any]:
        """Goes back to the previous song or track.

        Args:
            player: The speaker or television, or its room.
        """
        return await self._skip(player, Change(skip=-1))

    @tool(say=_say_volume)
    async def set_volume(self, volume: Annotated[int, Range(0, 100)], player: Place | None = None) -> dict[str, Any]:
        """Sets how loud a speaker or television is.

        Args:
            volume: How loud, in percent.
            player: The speaker or television, or its room.
        """
        return await self._turn(player, lambda state: Change(volume=volume))

    @tool(say=_say_volume)
    async def raise_volume(
        self, player: Place | None = None, amount: Annotated[int, Range(1, 100)] | None = None
    ) -> dict[str, Any]:
        """Makes a speaker or television louder.

        Args:
            player: The speaker or television, or its room.
            amount: By how much, in percent points; absent is a bit.
        """
        return await self._turn_by(player, amount or STEP)

    @tool(say=_say_volume)
    async def lower_volume(
        self, player: Place | None = None, amount: Annotated[int, Range(1, 100)] | None = None
    ) -> dict[str, Any]:
        """Makes a speaker or television quieter.

        Args:
            player: The speaker or television, or its room.
            amount: By how much, in percent points; absent is a bit.
        """
        return await self._turn_by(player, -(amount or STEP))

    @tool(say=_say_state)
    async def mute_media(self, player: Place | None = None) -> dict[str, Any]:
        """Mutes a speaker or television.

        Args:
            player: The speaker or television, or its room.
        """
        return await self._set(player, (_plays, _is_on), Change(muted=True), "state", lambda outcome: "muted")

    @tool(say=_say_unmuted)
    async def unmute_media(self, player: Place | None = None) -> dict[str, Any]:
        """Turns the sound of a muted speaker or television on again.

        Args:
            player: The speaker or television, or its room.
        """
        return await self._set(player, (_is_muted, _plays, _is_on), Change(muted=False), "muted", lambda outcome: False)

    async def _set(
        self, player: str | None, tests: Sequence[_Test], change: Change, field: str, value: Callable[[Outcome], Any]
    ) -> dict[str, Any]:
        """Changes players that are on, and tells one thing of each."""
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, tests)
        if not chosen:
            return _off(place)
        return told(place, await self._move(chosen, lambda state: change), field, value)

    async def _skip(self, player: str | None, change: Change) -> dict[str, Any]:
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_plays, _is_on))
        if not chosen:
            return _off(place)
        before = {device.id: self._devices.state(device).title for device in chosen}

        def title(outcome: Outcome) -> str | None:
            # A player that only says later what it went to has still the title from before.
            return None if outcome.state.title == before[outcome.device.id] else outcome.state.title

        return told(place, await self._move(chosen, lambda state: change), "title", title)

    async def _turn_by(self, player: str | None, step: int) -> dict[str, Any]:
        ends: set[str] = set()

        def plan(state: State) -> Change:
            # Planned when its turn has come: two "louder" at once are two steps.
            if state.volume is None:
                raise DeviceError("has not told how loud it is" if state.available else "is not available")
            wanted = state.volume + step
            if not 0 <= wanted <= 100:
                ends.add(f"that is as {'loud' if step > 0 else 'quiet'} as it goes")
            return Change(volume=min(100, max(0, wanted)))

        return await self._turn(player, plan, ends)

    async def _turn(
        self, player: str | None, plan: Callable[[State], Change], ends: set[str] | None = None
    ) -> dict[str, Any]:
        """Changes how loud players are that are on."""
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_plays, _is_on))
        if not chosen:
            return _off(place)
        outcomes = await self._move(chosen, plan)
        muted = [outcome.device for outcome in outcomes if outcome.state.muted and not outcome.failure]
        notes = list(ends or ())
        if muted:
            notes.append("it is muted" if len(outcomes) == 1 else by_names(muted).clause("muted"))
        return told(place, outcomes, "volume", lambda outcome: outcome.state.volume, "; ".join(notes))

    def _place(self, words: str | None, elsewhere: bool = False) -> Found:
        """The players that may be meant.

        Args:
            words: What they were called; None is any in the home.
            elsewhere: Where the place has no player, the only one that plays is meant.
        """
        players = tuple(device for device in self._devices.home.devices if device.kind in PLAYERS)
        if not players:
            raise PlaceError("There is no television and no speaker in this home.")
        if words is None:
            return by_names(players) if len(players) == 1 else Found(players, "all the players", plural=True)
        try:
            return self._devices.find(words, _PLAYERS)
        except PlaceError as error:
            area = self._devices.area(words)
            if area is None:
                raise
            playing = [device for device in players if self._devices.state(device).playing]
            if elsewhere and len(playing) == 1:
                return by_names(playing)
            text = f"there is no television and no speaker {within(area.name)}"
            hint = by_names(playing).clause("playing") if playing else f"try {by_names(players).label}"
            raise PlaceError(sentence(text, hint), error.candidates) from error

    def _chosen(
        self, place: Found, words: str | None, tests: Sequence[_Test], one_in_a_room: bool = False
    ) -> list[Device]:
        """Those of the place that pass the first test which any passes; none where none passes any.

        Raises:
            PlaceError: They are several, and one is meant.
        """
        states = {device.id: self._devices.state(device) for device in place.devices}
        chosen: list[Device] = []
        first = True
        for test in (*tests, _is_gone):
            chosen = [device for device in place.devices if test(states[device.id])]
            if chosen:
                first = test is tests[0]
                break
        all_that_play = first and words is not None and not one_in_a_room
        if len(chosen) > 1 and not all_that_play and not self._means_several(place, words):
            names = [device.name for device in chosen]
            which = listed([the(name) for name in names], most=5, last="or")
            raise PlaceError(sentence(f"it was not said which player: {which}"), names[:5])
        return chosen

    def _means_several(self, place: Found, words: str | None) -> bool:
        if words is None:
            return False
        groups = {name_key(name) for group in self._devices.home.groups for name in (group.name, *group.aliases)}
        rooms = {device.room for device in place.devices}
        return len(rooms) > 1 or bool(_SEVERAL & set(fold(words))) or name_key(words) in groups

    async def _move(self, players: Sequence[Device], plan: Callable[[State], Change]) -> list[Outcome]:
        return await self._devices.move(players, lambda device, state: plan(state))


def _title(outcome: Outcome) -> str | None:
    return outcome.state.title or None


def _silent(place: Found) -> dict[str, Any]:
    """What is to be paused does not play; that is no failure."""
    result = told(place, [Outcome(device, State()) for device in place.devices], "state", lambda _: "not playing")
    return result | ({"where": place.where} if place.where else {})


def _off(place: Found) -> dict[str, Any]:
    return {"error": sentence(place.clause("off"))}
