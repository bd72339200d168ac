"""What `hearth doctor` finds out about a broker and its topics: a sentence for each trouble, with its cure."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Mapping

from aiomqtt import MqttError

from agent.channels.mqtt_connection import Endpoint, reason_code
from agent.channels.mqtt_publisher import NOBODY_LISTENS, NOT_ALLOWED, REFUSED, Publisher

CONNECTED_WITHIN_S = 3.0
"""How long the first connection is waited for, in seconds."""

LOOKED_WITHIN_S = 5.0
"""How long it may take to find out why there is none."""

ANSWERED_WITHIN_S = 3.0
"""How long the broker may take to answer messages."""

HEARD_WITHIN_S = 1.0
"""How long a device may take to tell how it is."""

_NOT_US = (134, NOT_ALLOWED)
"""The codes for a name or a password that is wrong or missing."""


async def connection_trouble(endpoint: Endpoint, last: str) -> str:
    """Why there is no connection, tried step by step; `last` is what the last attempt ended with."""
    broker = f"the broker of [tools.mqtt] at {endpoint.host}:{endpoint.port}"
    try:
        async with asyncio.timeout(LOOKED_WITHIN_S):
            _, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
            writer.close()
            async with endpoint.connect(await endpoint.protocol()):
                return f"{broker} was away ({last}) and is there again: it is tried again within a minute"
    except socket.gaierror:
        return f"{broker} has an unknown name: correct host, or the network's name service"
    except MqttError as error:
        if reason_code(error) in _NOT_US:
            return f"{broker} refuses our name or password: correct username and password_file"
        if endpoint.tls and reason_code(error) is None:
            return f"{broker} is not reached with TLS ({error}): correct tls and ca_file"
        return f"{broker} does not take us ({error}): see its log, and correct port and tls"
    except TimeoutError:
        return f"{broker} does not answer: look at the network and its firewall, or correct host, port and tls"
    except OSError as error:
        # Of a name with several addresses the text has all errors.
        if isinstance(error, ConnectionRefusedError) or f"Errno {errno.ECONNREFUSED}" in str(error):
            return f"{broker} is not there, nothing listens: start it, or correct host and port"
        if isinstance(error, FileNotFoundError):
            return f"{broker} is not reached with TLS, as there is no file {endpoint.ca_file}: correct ca_file"
        return f"{broker} cannot be reached ({error}): look at the network, or correct host"


async def write_troubles(publisher: Publisher, names: Mapping[str, str]) -> list[str]:
    """Sends an empty message to each topic, and tells what the broker says to it.

    Args:
        publisher: The connection.
        names: The topics, and whose they are.
    """

    async def write(topic: str, name: str) -> str:
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                answer = await publisher.publish(topic, "")
        except (TimeoutError, MqttError):
            return f"the broker does not answer a message to {topic}: see its log"
        if answer == NOT_ALLOWED:
            return f"the broker does not let us write to {topic}: allow it in its ACL"
        if answer >= REFUSED:
            return f"the broker refuses a message to {topic} (code {answer}): see its log"
        if answer == NOBODY_LISTENS:
            return f"nothing listens on {topic}: switch on the {name}, or correct its command_topic"
        return ""

    found = await asyncio.gather(*(write(topic, name) for topic, name in names.items()))
    return [trouble for trouble in found if trouble]


def unreadable(topic: str) -> str:
    """Of a subscription that the broker refused."""
    return f"the broker does not let us read {topic}: allow it in its ACL"


def silent(topic: str) -> str:
    """Of a topic that tells nothing."""
    return f"nothing was heard on {topic} yet: the device is silent, or the broker's ACL hides it"


def garbled(topic: str, why: str) -> str:
    """Of a topic whose last message was no state."""
    return f"what is said on {topic} cannot be read ({why}): correct the device's table, or the device"


def gone(name: str, topic: str) -> str:
    """Of a device that is known to be away."""
    return f"the {name} is offline, says {topic}: switch it on, or look at its network"
