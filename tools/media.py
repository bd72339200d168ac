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
from tools.names.areas import area_named, within
from tools.names.resolve import Found, PlaceError, Wish
from tools.names.words import fold, name_key
from tools.results import part, verb
from tools.speech import failures, listed, sentence, the

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
    plays = verb(result["devices"], "plays", "play") if "title" in result else f"{verb(result['devices'])} playing"
    return _said(result, f"{result['place']} {plays} {result.get('title', '')}".strip())


def _say_state(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if result["state"] == "not playing" and len(result["devices"]) > 1:
        return sentence(f"nothing is playing {result.get('where', '')}".strip())
    return _said(result, f"{result['place']} {verb(result['devices'])} {result['state']}")


def _say_unmuted(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _said(result, f"the sound of {result['place']} is on")


def _say_next(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say_skip(result, "went to the next track")


def _say_previous(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    return _say_skip(result, "went back to the previous track")


def _say_skip(result: Mapping[str, Any], done: str) -> str:
    return _said(result, f"{result['place']} {done}", f"it is {result['title']}" if "title" in result else "")


def _say_volume(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    if "volume" in result:
        return _said(result, f"{result['place']} {verb(result['devices'])} at {result['volume']} percent")
    levels = [f"{the(name)} is at {percent} percent" for name, percent in result["volumes"].items()]
    return _said(result, listed(levels, most=4))


def _said(result: Mapping[str, Any], *clauses: str) -> str:
    return sentence(*clauses, result.get("note", ""), failures(result.get("failed", {})))


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
        return _playing(*await self._move(place, chosen, lambda state: Change(play=query)))

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
        result, _ = await self._move(place, chosen, lambda state: Change(playing=False))
        return result if "error" in result else {**result, "state": "paused"}

    @tool(say=_say_playing)
    async def resume_media(self, player: Place | None = None) -> dict[str, Any]:
        """Goes on playing what was paused.

        Args:
            player: The speaker or television, or its room.
        """
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_is_paused, _may_play, _plays))
        if not chosen:
            return _off(place)
        return _playing(*await self._move(place, chosen, lambda state: Change(playing=True)))

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
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_plays, _is_on))
        if not chosen:
            return _off(place)
        result, _ = await self._move(place, chosen, lambda state: Change(muted=True))
        return result if "error" in result else {**result, "state": "muted"}

    @tool(say=_say_unmuted)
    async def unmute_media(self, player: Place | None = None) -> dict[str, Any]:
        """Turns the sound of a muted speaker or television on again.

        Args:
            player: The speaker or television, or its room.
        """
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_is_muted, _plays, _is_on))
        if not chosen:
            return _off(place)
        result, _ = await self._move(place, chosen, lambda state: Change(muted=False))
        return result

    async def _skip(self, player: str | None, change: Change) -> dict[str, Any]:
        place = self._place(player, elsewhere=True)
        chosen = self._chosen(place, player, (_plays, _is_on))
        if not chosen:
            return _off(place)
        before = {device.id: self._devices.state(device).title for device in chosen}
        result, done = await self._move(place, chosen, lambda state: change)
        titles = {outcome.state.title for outcome in done if outcome.state.title != before[outcome.device.id]}
        # A player that only says later what it went to has still the title from before.
        return {**result, "title": titles.pop()} if len(titles) == 1 and len(done) == 1 else result

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
        result, done = await self._move(place, chosen, plan)
        if "error" in result:
            return result
        volumes = {outcome.device.name: outcome.state.volume for outcome in done}
        same = len(set(volumes.values())) == 1
        result |= {"volume": next(iter(volumes.values()))} if same else {"volumes": volumes}
        muted = [outcome.device.name for outcome in done if outcome.state.muted]
        which = "it" if len(done) == 1 else listed([the(name) for name in muted], most=4)
        notes = [*(ends or ()), f"{which} {verb(muted)} muted" if muted else ""]
        return result | ({"note": "; ".join(filter(None, notes))} if any(notes) else {})

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
            return Found(players, the(players[0].name) if len(players) == 1 else "all the players")
        try:
            return self._devices.find(words, _PLAYERS)
        except PlaceError as error:
            area = area_named(self._devices.home, words)
            if area is None:
                raise
            playing = [device for device in players if self._devices.state(device).playing]
            if elsewhere and len(playing) == 1:
                return Found((playing[0],), the(playing[0].name))
            names = listed([the(device.name) for device in playing or players], most=4)
            text = f"there is no television and no speaker {within(area.name)}"
            hint = (
                f"{names} {verb([device.name for device in playing], 'plays', 'play')}" if playing else f"try {names}"
            )
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

    async def _move(
        self, place: Found, devices: Sequence[Device], plan: Callable[[State], Change]
    ) -> tuple[dict[str, Any], list[Outcome]]:
        """`{"place", "devices", "failed"?}` or `{"error"}`, and the outcomes of what was done."""
        outcomes = await self._devices.move(devices, lambda device, state: plan(state))
        failed = {outcome.device.name: outcome.failure for outcome in outcomes if outcome.failure}
        done = [outcome for outcome in outcomes if not outcome.failure]
        if not done:
            return {"error": sentence(failures(failed))}, []
        label = part(place, [outcome.device for outcome in done]).label
        result: dict[str, Any] = {"place": label, "devices": [outcome.device.name for outcome in done]}
        return result | ({"failed": failed} if failed else {}), done


def _playing(result: dict[str, Any], done: Sequence[Outcome]) -> dict[str, Any]:
    """The result with what is played, where all play the same."""
    titles = {outcome.state.title for outcome in done}
    title = titles.pop() if len(titles) == 1 else None
    return result | ({"title": title} if title else {})


def _silent(place: Found) -> dict[str, Any]:
    """What is to be paused does not play; that is no failure."""
    result = {"place": place.label, "state": "not playing", "devices": [device.name for device in place.devices]}
    return result | ({"where": place.where} if place.where else {})


def _off(place: Found) -> dict[str, Any]:
    return {"error": sentence(f"{place.label} {verb([device.name for device in place.devices])} off")}
