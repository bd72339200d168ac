"""Why a broker cannot be reached, found out step by step: one sentence with the cure."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

from aiomqtt import MqttError

from agent.mqtt.connection import Endpoint, reason_code

LOOKED_WITHIN_S = 5.0
"""How long it may take to find out, in seconds."""

NOT_US = (134, 135)
"""The codes for a name or a password that is wrong or missing."""


async def connection_trouble(endpoint: Endpoint, broker: str, host: str) -> str | None:
    """Why there is no connection; None where there is one.

    Args:
        endpoint: The broker. It is tried without our id, which would throw out who has it.
        broker: What it is called.
        host: The key of the settings that says where it is.
    """
    somebody_is_there = False
    try:
        async with asyncio.timeout(LOOKED_WITHIN_S):
            _, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
            writer.close()
            somebody_is_there = True
            async with endpoint.connect(await endpoint.protocol()):
                return None
    except socket.gaierror:
        return f"{broker} has an unknown name: correct {host}, or the network's name service"
    except MqttError as error:
        if reason_code(error) in NOT_US:
            return f"{broker} refuses our name or password: correct username and password_file"
        if endpoint.tls and reason_code(error) is None:
            return f"{broker} is not reached with TLS ({error}): correct tls and ca_file"
        return f"{broker} does not take us ({error}): see its log, and correct port and tls"
    except ssl.SSLError as error:  # the file is none of certificates
        return f"{broker} is not reached with TLS ({error}): correct tls and ca_file"
    except TimeoutError:
        if somebody_is_there:
            return f"{broker} says nothing: that may be its port for TLS, or no broker; correct {host}, port and tls"
        return f"{broker} does not answer: look at the network and its firewall, or correct {host}, port and tls"
    except OSError as error:
        # Of a name with several addresses the text has all errors.
        if isinstance(error, ConnectionRefusedError) or f"Errno {errno.ECONNREFUSED}" in str(error):
            return f"{broker} is not there, nothing listens: start it, or correct {host} and port"
        if isinstance(error, FileNotFoundError):
            return f"{broker} is not reached with TLS, as there is no file {endpoint.ca_file}: correct ca_file"
        return f"{broker} cannot be reached ({error}): look at the network, or correct {host}"
