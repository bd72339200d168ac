"""What is said over MQTT: topics and payloads, read and written without a broker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.command import MAX_COMMAND_LENGTH
from agent.errors import AgentError, HearthError
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage

MAX_PAYLOAD = 8_000
"""The longest payload that is acted on, in bytes."""

MAX_READ = 2 * 1024 * 1024
"""The longest payload that is looked into at all, for the id that a refusal is to name; in bytes."""

MAX_NAME = 128
"""The longest id, session and room, in characters."""

OWN_TOPICS = frozenset({"command", "confirm", "event", "availability", "announcement", "light"})
"""Below `hearth/<any node>/`: where no reply goes. A reply is itself a readable command."""


@dataclass(frozen=True)
class Topics:
    """The topics of one node."""

    node: str

    @property
    def command(self) -> str:
        """In: words, or `{"text", "id"?, "session"?, "room"?, "sent"?}`."""
        return f"hearth/{self.node}/command"

    @property
    def confirm(self) -> str:
        """In: `{"id", "answer"}`, the id of the call that was asked about."""
        return f"hearth/{self.node}/confirm"

    @property
    def reply(self) -> str:
        """Out: one `reply` a command."""
        return f"hearth/{self.node}/reply"

    @property
    def event(self) -> str:
        """Out: each `AgentEvent` while a command runs."""
        return f"hearth/{self.node}/event"

    @property
    def availability(self) -> str:
        """Out, retained: "online" or "offline"."""
        return f"hearth/{self.node}/availability"

    @property
    def announcement(self) -> str:
        """Out: an `Announcement`, when a timer is up, an alarm rings, a later command was carried out ..."""
        return f"hearth/{self.node}/announcement"

    def light(self, device: str) -> str:
        """Out, retained: a `light_state`."""
        return f"hearth/{self.node}/light/{device}/state"


class MalformedMessage(HearthError, ValueError):
    """A payload that cannot be read.

    Attributes:
        id: That of the message, where it could still be read; its sender waits for an answer.
    """

    def __init__(self, message: str, id: str | None = None) -> None:
        super().__init__(message)
        self.id = id


@dataclass(frozen=True)
class CommandMessage:
    """A command as it was sent; what was left out is None.

    Attributes:
        sent: When, in seconds of Unix time by the sender's clock.
    """

    text: str
    id: str | None = None
    session: str | None = None
    room: str | None = None
    sent: float | None = None

    def to_payload(self) -> bytes:
        """As `parse_command` reads it."""
        return encode({key: value for key, value in vars(self).items() if value is not None})


def parse_command(payload: bytes) -> CommandMessage:
    """Reads a payload of the command topic.

    Words are taken as they are; what starts like JSON has to be an object with "text". Further keys of
    the object are left alone.

    Raises:
        MalformedMessage: It is too long, no UTF-8, without words, or not of that form.
    """
    words = _text(payload).strip()
    if words[:1] in ("{", "[", '"') or words in ("null", "true", "false"):
        return _command_object(_object(words))
    return CommandMessage(_command_text(words, None))


def _command_object(data: dict[str, Any]) -> CommandMessage:
    id = _name(data, "id", None)
    text = data.get("text")
    if not isinstance(text, str):
        raise MalformedMessage('"text" is to be a string', id)
    words = _command_text(text.strip(), id)
    return CommandMessage(words, id, _name(data, "session", id), _name(data, "room", id), _sent(data, id))


def _sent(data: Mapping[str, Any], id: str | None) -> float | None:
    sent = data.get("sent")
    if sent is None:
        return None
    try:
        if isinstance(sent, (int, float)) and not isinstance(sent, bool):
            return float(sent)
    except OverflowError:
        pass
    raise MalformedMessage('"sent" is to be a number, the Unix time in seconds', id)


def _command_text(text: str, id: str | None) -> str:
    if not text:
        raise MalformedMessage("there are no words in it", id)
    if len(text) > MAX_COMMAND_LENGTH:
        raise MalformedMessage(f"{len(text)} characters of text, at most {MAX_COMMAND_LENGTH} are read", id)
    if not _is_unicode(text):
        raise MalformedMessage("the text is not Unicode", id)
    return text


def parse_confirm(payload: bytes) -> tuple[str, bool]:
    """Reads a payload of the confirm topic: the id of the call, and the answer.

    Raises:
        MalformedMessage: It is not `{"id": string, "answer": true or false}`.
    """
    data = _object(_text(payload))
    id = _name(data, "id", None)
    answer = data.get("answer")
    if id is None:
        raise MalformedMessage('"id" is to be the id of the call that was asked about')
    if not isinstance(answer, bool):
        raise MalformedMessage('"answer" is to be true or false', id)
    return id, answer


def probe(token: str) -> bytes:
    """A message that asks for nothing and that nobody answers: whether it comes back is what it is sent for."""
    return encode({"probe": token})


def probe_token(payload: bytes) -> str | None:
    """The token of a `probe`; None for anything else."""
    if len(payload) > MAX_NAME or not payload.startswith(b'{"probe"'):
        return None
    try:
        data = json.loads(payload)
    except ValueError:
        return None
    return data["probe"] if len(data) == 1 and isinstance(data["probe"], str) else None


def _text(payload: bytes) -> str:
    if len(payload) > MAX_PAYLOAD:
        raise MalformedMessage(f"longer than {MAX_PAYLOAD} bytes", _find_id(payload))
    try:
        return payload.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"not UTF-8 at byte {error.start}") from error


def _find_id(payload: bytes) -> str | None:
    if len(payload) > MAX_READ:
        return None
    try:
        return _name(_object(payload.decode()), "id", None)
    except ValueError:  # of no other use, so it does not matter what else is wrong
        return None


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise MalformedMessage(f"not JSON: {reason}") from error
    if not isinstance(data, dict):
        raise MalformedMessage("JSON, but no object")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _name(data: Mapping[str, Any], key: str, id: str | None) -> str | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME or not _is_unicode(value):
        raise MalformedMessage(f'"{key}" is to be a string of 1 to {MAX_NAME} characters', id)
    return value


def _is_unicode(text: str) -> bool:
    """JSON can spell half a surrogate pair, which no other part could write down."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def reply(
    id: str, session: str | None, events: Iterable[AgentEvent], error: AgentError | None = None
) -> dict[str, Any]:
    """The one answer to a command, from all that its run told.

    Returns:
        `{"id", "session", "text", "calls": [{"id", "name", "arguments", "response"}], "error"?}`. The
        response of a call that was cut off is null; without an answer the text is what went wrong.
    """
    text = error.message if error else ""
    calls: dict[str, dict[str, Any]] = {}
    for event in events:
        if isinstance(event, TextMessage) and not event.is_partial:
            text = event.text
        elif isinstance(event, FunctionCall):
            calls[event.id] = {
                "id": event.id,
                "name": event.name,
                "arguments": event.arguments,
                "response": None,
            }
        elif isinstance(event, FunctionResponse) and event.id in calls:
            calls[event.id]["response"] = event.response
    answer = {"id": id, "session": session, "text": text, "calls": list(calls.values())}
    return answer if error is None else {**answer, "error": error.to_json()}


def encode(data: Any) -> bytes:
    """JSON in UTF-8. What it has no form for becomes null (NaN) or a text: a reply is never lost for it."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        finite = json.loads(json.dumps(data, default=str), parse_constant=lambda name: None)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode(errors="replace")


def may_reply_to(topic: str, prefixes: Sequence[str]) -> bool:
    """Whether a command may have its reply sent to this topic.

    Only below the prefixes: without that anybody who may command us could speak for us anywhere, say on
    `zigbee2mqtt/bridge/request/...`. And never where we or another node listen or are listened to.
    """
    if not topic.startswith(tuple(prefixes)) or set(topic) & set("+#\0"):
        return False
    levels = topic.split("/")
    return not (levels[0] == "hearth" and len(levels) > 2 and levels[2] in OWN_TOPICS)


def light_state(state: Mapping[str, Any]) -> bytes | None:
    """A lamp's state as Home Assistant's JSON schema has it; None for what is no light.

    Args:
        state: A `HouseEvent.state`: brightness in percent, whites in kelvin.

    Returns:
        `{"state": "ON" | "OFF" | null, "brightness"?, "color_mode"?, "color"?, "color_temp"?}` with
        brightness 1 to 255 and the colour temperature in mired. There is no `color_mode` without a colour:
        "brightness" would be refused for a lamp that can have one.
    """
    if state.get("kind") != "light":
        return None
    told: dict[str, Any] = {"state": {"on": "ON", "off": "OFF"}.get(state.get("state", ""))}
    if state.get("brightness") is not None:
        told["brightness"] = max(1, round(state["brightness"] * 255 / 100))
    if state.get("rgb") is not None:
        told |= {"color_mode": "rgb", "color": dict(zip("rgb", state["rgb"], strict=True))}
    elif state.get("kelvin") is not None:
        told |= {"color_mode": "color_temp", "color_temp": round(1_000_000 / state["kelvin"])}
    return encode(told)
