"""Questions about the home. Nothing here moves anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from agent.schema import Place
from agent.tool import AgentTool, tool
from tools.devices import Devices
from tools.drivers import ANY, COVERS, DOORS, FANS, LIGHTS, LOCKS, ON_OFF, PLAYERS, SWITCHES, Device, Kind
from tools.resolve import ASK, Wish
from tools.results import appearance, look, verb
from tools.speech import counted, listed, noun, sentence, the

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

_STATES: dict[str, tuple[frozenset[Kind], frozenset[str]]] = {
    "on": (ON_OFF, frozenset({"on"})),
    "off": (ON_OFF, frozenset({"off"})),
    # A door on its way is not closed, and who asks for open doors wants to know of it.
    "open": (DOORS, frozenset({"open", "opening", "closing"})),
    "closed": (DOORS, frozenset({"closed"})),
    "any": (ANY, frozenset({"on", "off", "open", "opening", "closing", "closed", "unknown"})),
}

_MOST_NAMES = 8
"""How many names an answer speaks; the rest is counted."""


def _say_state(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    devices = result.get("devices", [result])
    names: dict[str, list[str]] = {}
    for device in devices:
        names.setdefault(_phrase(device), []).append(the(device["device"]))
    if len(names) == 1 and "place" in result:
        return sentence(f"{result['place']} are {next(iter(names))}")
    return sentence(*(f"{listed(some, _MOST_NAMES)} {verb(some)} {phrase}" for phrase, some in names.items()))


def _phrase(device: Mapping[str, Any]) -> str:
    """What follows "is"."""
    if device["state"] != "unknown":
        return appearance(device)
    return "not available" if not device["available"] else "in a state that I do not know"


def _say_list(arguments: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    names, count, state = result["devices"], result["count"], result["state"]
    amount = f"{counted(count)} {result['kind']}"
    if result["kind"] == "devices" and not names:
        amount = "nothing"
    are = "is" if count == 1 or amount == "nothing" else "are"
    found = f"there {are} {amount}" if state == "any" else f"{amount} {are} {state}"
    if names:
        found += f": {listed([the(name) for name in names], _MOST_NAMES)}"
    where = f"{result['where']}, " if "where" in result else ""
    unknown = [the(name) for name in result.get("unknown", ())]
    doubt = f"I do not know about {listed(unknown, _MOST_NAMES)}" if unknown else ""
    return sentence(where + found, doubt)


PLACES = {"get_state": ("device", ASK)}
"""For each function of one place: its parameter, and what it looks for."""


class Questions:
    """The functions that tell how the home is."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (AgentTool(self.get_state), AgentTool(self.list_devices))

    @tool(read_only=True, say=_say_state)
    async def get_state(self, device: Place) -> dict[str, Any]:
        """Tells how a device is, or what is in a room: on, off, open, closed, locked, how bright, what it plays.

        Args:
            device: The device, room or group that is asked about.
        """
        place = self._devices.find(device, ASK)
        told = [self._tell(each) for each in place.devices]
        return told[0] if len(told) == 1 else {"place": place.label, "devices": told}

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
        kinds, words = KINDS[kind] & _STATES[state][0], _STATES[state][1]
        if not kinds:
            return {"error": f"{noun(KINDS[kind], 2)} are never {state}"}
        where, looked_at = "", tuple(each for each in self._devices.home.devices if each.kind in kinds)
        if room is not None:
            place = self._devices.find(room, Wish(kinds, kinds, asking=True))
            where, looked_at = place.where, place.devices
        found = [each.name for each in looked_at if self._devices.state(each).word in words]
        unknown = [each.name for each in looked_at if self._devices.state(each).word == "unknown"]
        what = frozenset(each.kind for each in looked_at) or kinds
        # "Nothing is on" is about all that can be on, also where there are only lamps.
        called = "devices" if kind == "any" and not found and room is None else noun(what, len(found))
        result: dict[str, Any] = {"count": len(found), "kind": called, "state": state, "devices": found}
        if where:
            result["where"] = where
        if unknown and state != "any":
            result["unknown"] = unknown
        return result

    def _tell(self, device: Device) -> dict[str, Any]:
        state = self._devices.state(device)
        told: dict[str, Any] = {"device": device.name, "state": state.word}
        if device.kind in LIGHTS and state.word == "on":
            told |= look([state])
        return told if state.word != "unknown" else {**told, "available": state.available}
