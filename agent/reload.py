"""Settings that are read again while the service runs: what changes at once, and what waits for a restart."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.config import Settings, read_settings
from agent.errors import HearthError
from agent.notify import notify_ready, notify_reloading
from agent.status_line import status_line

if TYPE_CHECKING:
    from agent.service import Service

log = logging.getLogger(__name__)

FIXED: Final = {
    "node": "[agent] name",
    "house": "[agent] house",
    "tools_folder": "[agent] tools_folder",
    "model": "[model]",
    "mqtt": "[mqtt]",
    "raw": "the home",
}
"""What was opened with the service, and how the settings call it; `[sessions] store` is one of these too."""


def taken(old: Settings, new: Settings) -> tuple[Settings, list[str]]:
    """The settings to go on with, and what of the new ones waits for a restart.

    Returns:
        The new settings with the old values of what cannot change while the service runs; and the names of these
        keys and tables, where they differ.
    """
    waiting = [name for key, name in FIXED.items() if getattr(old, key) != getattr(new, key)]
    if old.sessions.store != new.sessions.store:
        waiting.append("[sessions] store")
    kept = {key: getattr(old, key) for key in FIXED}
    return replace(new, **kept, sessions=replace(new.sessions, store=old.sessions.store)), waiting


async def reload_when_told(service: Service, told: asyncio.Event) -> None:
    """Reads the settings again each time that the event is set, until cancelled."""
    while True:
        await told.wait()
        told.clear()
        notify_reloading()
        try:
            await _reload(service)
        finally:
            notify_ready(status_line(await service.status()))


async def _reload(service: Service) -> None:
    try:
        new = await asyncio.to_thread(_checked, service.settings.path)
    except (HearthError, OSError) as error:
        service.settings_trouble = str(error)
        log.error("the settings are as they were: %s", error)
        return
    except Exception as error:  # of a house that fails where it only reads
        service.settings_trouble = f"{type(error).__name__}: {error}"
        log.exception("the settings are as they were")
        return
    settings, waiting = taken(service.settings, new)
    service.change(settings, waiting)
    if waiting:
        log.warning("the settings were read again; a restart is needed for %s", ", ".join(waiting))
    else:
        log.info("the settings were read again")


def _checked(path: Path | None) -> Settings:
    """What the next start would refuse is refused now, although some of it waits for that start."""
    from agent.service import check_house

    assert path is not None  # a service is started from a file
    settings = read_settings(path)
    check_house(settings)
    if settings.mqtt and settings.mqtt.broker != "embedded":
        settings.mqtt.password()
    return settings
