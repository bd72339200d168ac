"""Questions about the home. Nothing here moves anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from agent.schema import Place
from agent.tool import AgentTool, tool
from tools.device import (
    ANY,
    COVERS,
    DOORS,
    FANS,
    LIGHTS,
    LOCKS,
    ON_OFF,
    OPENING,
    PLAYERS,
    SWITCHES,
    Device,
    Kind,
    State,
)
from tools.devices import Devices
from tools.names.resolve import ASK, PlaceError, Wish
from tools.results import clause
from tools.speech import Predicate, clauses, counted, listed, noun, sentence, the, there_are
from tools.targets import of_devices
from tools.telling import predicate, tell
from tools.temperature import HomeUnit

KindName = Literal["light", "switch", "fan", "blind", "door", "window", "lock", "player", "any"]
StateName = Literal["on", "off", "open", "closed", "locked", "unlocked", "playing", "any"]

KINDS: dict[str, frozenset[Kind]] = {
    "light": LIGHTS,
    "switch": SWITCHES,
    "fan": FANS,
    "blind": COVERS,
    "door": DOORS - {Kind.WINDOW} | LOCKS,
    "window": frozenset({Kind.WINDOW}),
    "lock": LOCKS,
    "player": PLAYERS,
    "any": ANY,
}
"""What `kind` stands for: switches are also plugs and fans, a lock may know of its door."""

_MOST_NAMES = 8
"""How many names or clauses an answer speaks; the rest is counted."""


def _on(state: State) -> bool | None:
    return state.playing if state.on is None else state.on


def _open(state: State) -> bool | None:
    # A door on its way is not closed, and who asks for open doors wants to know of it. In a lock the bolt moves.
    return True if state.moving and state.locked is None else state.open


def _locked(state: State) -> bool | None:
    return False if state.moving else state.locked


def _playing(state: State) -> bool | None:
    return False if state.on is False else state.playing


def _not(test: Callable[[State], bool | None]) -> Callable[[State], bool | None]:
    def opposite(state: State) -> bool | None:
        value = test(state)
        return None if value is None else not value

    return opposite


_STATES: dict[str, tuple[frozenset[Kind], Callable[[State], bool | None]]] = {
    "on": (ON_OFF, _on),
    "off": (ON_OFF, _not(_on)),
    "open": (OPENING | LOCKS, _open),
    "closed": (OPENING | LOCKS, _not(_open)),
    "locked": (LOCKS, _locked),
    "unlocked": (LOCKS, _not(_locked)),
    "playing": (PLAYERS, _playing),
    "any": (ANY, lambda state: True),
}
"""Which devices can be in a state, and whether one is; None is not known."""


def _say_state(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    devices = result.get("devices", [result])
    names: dict[Predicate, list[str]] = {}
    for device in devices:
        names.setdefault(predicate(device), []).append(device["device"])
    if len(names) == 1 and "place" in result:
        [(is_, are, rest)] = names
        return sentence(clause(result, rest, is_, are) if is_ else rest)
    return sentence(*clauses(names, _MOST_NAMES))


def _say_list(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    names, count, state = result["devices"], result["count"], result["state"]
    amount = f"{counted(count)} {result['kind']}"
    if result["kind"] == "devices" and not names:
        amount = "nothing"
    are = "is" if count == 1 or amount == "nothing" else "are"
    known = "known to be " if result.get("unknown") and not names else ""
    found = there_are(count, result["kind"], result["kind"]) if state == "any" else f"{amount} {are} {known}{state}"
    if names:
        found += f": {listed([the(name) for name in names], _MOST_NAMES)}"
    where = f"{result['where']}, " if "where" in result else ""
    unknown = [the(name) for name in result.get("unknown", ())]
    doubt = f"I do not know about {listed(unknown, _MOST_NAMES)}" if unknown else ""
    return sentence(where + found, doubt)


PLACES = {"get_state": ("device", ASK)}
"""For each function of one place: its parameter, and what it looks for."""

_LOCKS = Wish(LOCKS, LOCKS)


class Questions:
    """The functions that tell how the home is.

    Args:
        devices: The devices of the home.
        unit: What temperatures are told in.
    """

    def __init__(self, devices: Devices, unit: HomeUnit = "celsius") -> None:
        self._devices = devices
        self._unit: HomeUnit = unit
        self.tools = (AgentTool(self.get_state), AgentTool(self.list_devices))

    def targets(self, name: str, arguments: Mapping[str, Any]) -> frozenset[str] | None:
        """As `agent.house.House.targets`; None but for a list. No room named is the whole home."""
        if name != "list_devices":
            return None
        kinds = KINDS.get(str(arguments.get("kind")), KINDS["any"])
        return of_devices(self._devices, arguments.get("room"), Wish(kinds, kinds, asking=True))

    @tool(read_only=True, say=_say_state)
    async def get_state(self, device: Place) -> dict[str, Any]:
        """Tells how a device is, or what is in a room: on, off, open, closed, locked, how bright, what it plays.

        Args:
            device: The device, room or group that is asked about.
        """
        place = self._devices.find(device, ASK)
        locks = self._lock_of(device, place.devices)
        told = [tell(each, self._devices.state(each), self._unit) for each in (*place.devices, *locks)]
        label = listed([place.label, *(the(lock.name) for lock in locks)])
        several = {"plural": True} if place.plural or locks else {}
        return told[0] if len(told) == 1 else {"place": label, **several, "devices": told}

    @tool(read_only=True, say=_say_list)
    async def list_devices(
        self, kind: KindName = "any", state: StateName = "any", room: Place | None = None
    ) -> dict[str, Any]:
        """Lists and counts the devices that are in a state, such as the lights that are on.

        Args:
            kind: Which devices; blinds are also curtains and shutters.
            state: Only those in this state.
            room: Only those in this room, floor or group; absent is the whole home.
        """
        if kind == "lock":
            state = _OF_LOCKS.get(state, state)
        possible, test = _STATES[state]
        if not KINDS[kind] & possible:
            return {"error": sentence(f"{noun(KINDS[kind], 2)} are never {state}")}
        where, looked_at = "", self._devices.home.devices
        if room is not None:
            place = self._devices.find(room, Wish(KINDS[kind], KINDS[kind], asking=True))
            where, looked_at = place.where, place.devices
        about_doors = state in ("open", "closed") or (kind == "door" and state == "any")
        asked = [
            each
            for each in looked_at
            if each.kind in KINDS[kind] & possible
            # A lock stands for its door only where it knows how that is.
            and not (about_doors and each.kind is Kind.LOCK and self._devices.state(each).open is None)
        ]
        states = {each.id: self._devices.state(each) for each in asked}
        answers = {each.id: test(states[each.id]) if states[each.id].available else None for each in asked}
        found = [each for each in asked if answers[each.id] or state == "any"]
        unknown = [each.name for each in asked if answers[each.id] is None]
        result: dict[str, Any] = {
            "count": len(found),
            "kind": _called(kind, state, found, asked, whole=room is None),
            "state": state,
            "devices": [each.name for each in found],
        }
        if where:
            result["where"] = where
        if unknown and state != "any":
            result["unknown"] = unknown
        return result

    def _lock_of(self, words: str, devices: Sequence[Device]) -> tuple[Device, ...]:
        """The lock of a door that is asked about: whoever asks for "the front door" may mean either."""
        if [device.kind for device in devices] != [Kind.DOOR]:
            return ()
        try:
            locks = self._devices.find(words, _LOCKS).devices
        except PlaceError:
            return ()
        return locks if len(locks) == 1 and locks[0].room == devices[0].room else ()


_OF_LOCKS: dict[StateName, StateName] = {"open": "unlocked", "closed": "locked"}
"""What people mean by an open lock."""


def _called(kind: str, state: str, found: Sequence[Device], asked: Sequence[Device], whole: bool) -> str:
    """What the devices of a list are called: those that were found, else those that were asked about."""
    if kind == "any" and not found and (whole or not asked):
        return "devices"  # "nothing is on" is about all that can be on, also where there are only lamps
    kinds = frozenset(each.kind for each in found or asked) or KINDS[kind]
    if kind == "door" or (kind == "any" and state in ("open", "closed")):
        kinds = frozenset(Kind.DOOR if each is Kind.LOCK else each for each in kinds)
    return noun(kinds, len(found))
