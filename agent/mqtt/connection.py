"""One connection to a broker: with MQTT 5, or 3.1.1 where the broker has no more."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiomqtt import Client, MqttCodeError, ProtocolVersion, Will
from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

if TYPE_CHECKING:
    from agent.config import MqttSettings

PROBE_S = 5.0
"""How long a broker may take to say that it has MQTT 5, in seconds; some say nothing and close."""

UNSUPPORTED_VERSION = 132
SESSION_TAKEN_OVER = 142


@dataclass(frozen=True)
class Endpoint:
    """A broker, and who we are to it.

    Attributes:
        keepalive_s: After one and a half times this silence the broker gives us up, in seconds.
        client_id: None lets the broker choose one.
        ca_file: Who signed the broker's certificate; None trusts those of the system.
    """

    host: str
    port: int
    client_id: str | None = None
    username: str | None = None
    password: str | None = None
    keepalive_s: int = 60
    tls: bool = False
    ca_file: Path | None = None

    @classmethod
    def of(cls, settings: MqttSettings, client_id: str | None = None) -> Endpoint:
        """The broker of the settings.

        Raises:
            SettingsError: The file of its password cannot be read.
        """
        return cls(
            settings.broker,
            settings.port,
            client_id,
            settings.username,
            settings.password(),
            settings.keepalive_s,
            settings.tls,
            settings.ca_file,
        )

    async def protocol(self) -> ProtocolVersion:
        """The newest version that the broker speaks.

        Asked with a connection of its own: without our id, which would throw out who has it, and without
        properties and a will, as what a broker of 3.1.1 takes them for makes it wait for more.

        Raises:
            MqttError: It cannot be reached.
        """
        try:
            async with asyncio.timeout(PROBE_S), replace(self, client_id=None).connect(ProtocolVersion.V5):
                return ProtocolVersion.V5
        except TimeoutError:
            return ProtocolVersion.V311
        except MqttCodeError as error:
            code = reason_code(error)
            if code is None:
                raise
            return ProtocolVersion.V311 if code == UNSUPPORTED_VERSION else ProtocolVersion.V5

    @asynccontextmanager
    async def connect(
        self, protocol: ProtocolVersion, will: Will | None = None, largest: int | None = None
    ) -> AsyncIterator[Client]:
        """A connection without a past: the broker keeps nothing of us between two of them.

        Args:
            largest: What a broker of MQTT 5 keeps back, as too long for us, in bytes of a whole packet.

        Raises:
            MqttError: It cannot be reached, or wants none of us.
            OSError: `ca_file` cannot be used.
        """
        newest = protocol is ProtocolVersion.V5
        limit = properties(PacketTypes.CONNECT, MaximumPacketSize=largest) if largest else None
        client = Client(
            self.host,
            self.port,
            username=self.username,
            password=self.password,
            identifier=self.client_id,
            protocol=protocol,
            will=will,
            keepalive=self.keepalive_s,
            clean_session=None if newest else True,
            clean_start=True if newest else MQTT_CLEAN_START_FIRST_ONLY,
            properties=limit if newest else None,
            tls_context=ssl.create_default_context(cafile=self.ca_file) if self.tls else None,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],  # no message waits for the one before
        )
        entered = False
        try:
            async with client:
                entered = True
                yield client
        except BaseException:
            # aiomqtt leaves the socket of a failed attempt open; answered late, that would be a second
            # client with our name.
            if not entered:
                client._client.disconnect()
            raise


def properties(packet: int, **values: Any) -> Properties:
    """The MQTT 5 properties of a packet of this type, by paho's names."""
    made = Properties(packet)  # type: ignore[no-untyped-call]  # paho gives this class no types
    for name, value in values.items():
        setattr(made, name, value)
    return made


def reason_code(error: BaseException | None) -> int | None:
    """The broker's reason, from an error or what it was raised from; None where it gave none."""
    while error is not None:
        if isinstance(error, MqttCodeError) and isinstance(error.rc, ReasonCode):
            return int(error.rc.value)
        error = error.__cause__
    return None


class Backoff:
    """How long to wait before the next attempt: doubling up to a minute, and never quite the same.

    Without the jitter all that a broker lost at once would come back at once.
    """

    FIRST_S = 1.0
    LONGEST_S = 60.0

    def __init__(self) -> None:
        self._next = self.FIRST_S

    def reset(self) -> None:
        """The next wait is a short one again."""
        self._next = self.FIRST_S

    def delay(self, at_least: float = 0.0) -> float:
        """The next wait in seconds: 1 to 60, or `at_least` where that is more; and up to a quarter on top."""
        wait = max(self._next, at_least)
        self._next = min(2 * self._next, self.LONGEST_S)
        return wait * random.uniform(1.0, 1.25)
