"""A node that was renamed: what the broker keeps under its old name is taken back, as nobody else would."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from agent.channels.mqtt_retract import retract
from agent.config import NODE, MqttSettings
from agent.errors import AgentError, ErrorCode, SettingsError, StoreError
from agent.house_store import HouseStore
from agent.mqtt.connection import Backoff, Endpoint

log = logging.getLogger(__name__)

DOCUMENT: Final = "node at the broker"
"""Under this the store has the name that the broker knows us by."""


async def leave_old_name(settings: MqttSettings, node: str, kept: HouseStore) -> None:
    """Takes back what is kept of the name of the last start, if it was another; returns when that is done.

    Args:
        settings: The broker. One that is away is tried again, for as long as it takes.
        node: Our name now.
        kept: Remembers it for the next start.
    """
    try:
        old = await kept.read(DOCUMENT)
    except StoreError:
        return  # of the store others tell; the next start asks again
    if old == node:
        return
    if isinstance(old, str) and NODE.fullmatch(old):
        await _leave(settings, old)
    await kept.write(DOCUMENT, node)


async def _leave(settings: MqttSettings, old: str) -> None:
    backoff = Backoff()
    while True:
        try:
            topics = await retract(Endpoint.of(settings), old, unless_online=True)
        except AgentError as error:
            if error.code is ErrorCode.BUSY:  # a home that moved to another board, which has the name now
                log.info("what the broker keeps of %s stays: %s", old, error.message)
                return
            log.debug("what the broker keeps of %s cannot be taken back yet: %s", old, error)
        except SettingsError as error:  # a password that cannot be read now
            log.debug("what the broker keeps of %s cannot be taken back yet: %s", old, error)
        else:
            log.info("this node was %s; %d topics of that name were taken back", old, len(topics))
            return
        await asyncio.sleep(backoff.delay())
