"""The other side of the channel: sends one command, and waits for its reply."""

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

from aiomqtt import MqttError

from agent.channels.mqtt_messages import CommandMessage, Topics
from agent.errors import AgentError, ErrorCode
from agent.mqtt.connection import Endpoint


async def publish(
    host: str,
    port: int,
    node: str,
    text: str,
    *,
    room: str | None = None,
    session: str | None = None,
    username: str | None = None,
    password: str | None = None,
    tls: bool = False,
    ca_file: Path | None = None,
    timeout_s: float = 30.0,
) -> dict[str, Any]:
    """Publishes a command with an id of its own, and waits for the reply that carries it.

    Args:
        node: Whose command topic it is.
        room: Where it is said, for "here".
        session: The conversation it belongs to; without it that of the node and room.
        tls: Encrypt the connection; `ca_file` is who signed the broker's certificate.
        timeout_s: How long all of it may take, in seconds.

    Returns:
        The reply: `{"id", "session", "text", "calls", "error"?}`.

    Raises:
        AgentError: NOT_AVAILABLE when the broker is not to be had, DEADLINE_EXCEEDED without a reply in time.
    """
    topics = Topics(node)
    endpoint = Endpoint(host, port, username=username, password=password, tls=tls, ca_file=ca_file)
    order = CommandMessage(text, uuid.uuid4().hex[:12], session, room)
    try:
        async with asyncio.timeout(timeout_s), endpoint.connect(await endpoint.protocol()) as client:
            await client.subscribe(topics.reply, qos=1)
            await client.publish(topics.command, order.to_payload(), qos=1)
            async for message in client.messages:
                reply = _object(bytes(message.payload))
                if reply.get("id") == order.id:
                    return reply
    except TimeoutError as error:
        raise AgentError(
            ErrorCode.DEADLINE_EXCEEDED,
            f"No reply from {node} within {timeout_s:g} seconds; is it running, under that name?",
        ) from error
    except (MqttError, OSError) as error:
        raise AgentError(ErrorCode.NOT_AVAILABLE, f"The broker at {host}:{port}: {error}.") from error
    raise AssertionError("the messages of a connection end with an error")


def _object(payload: bytes) -> dict[str, Any]:
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
