"""The line of `systemctl status`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent import status_line as module
from agent.status_line import keep_status, status_line

WELL = {"model": "ready", "mqtt": "off", "house": {"memory": "ok"}, "settings_trouble": "", "settings_waiting": ()}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "ready"),
        ({"mqtt": "connected to b:1883 with MQTT 5"}, "ready; MQTT connected to b:1883 with MQTT 5"),
        ({"model": "no file x"}, "no model: no file x"),
        ({"house": {"memory": "ok", "weather": "no file"}}, "ready; weather: no file"),
        ({"settings_trouble": "f:3: no key"}, "ready; the settings were not taken: f:3: no key"),
        ({"settings_waiting": ["the home", "[mqtt]"]}, "ready; a restart is needed for the home, [mqtt]"),
    ],
)
def test_it_says_what_is_not_well(change: dict[str, Any], line: str) -> None:
    """And nothing of what is."""
    assert status_line({**WELL, **change}) == line


async def test_systemd_is_told_of_a_change_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of a house that cannot tell how it is, too."""
    told: asyncio.Queue[str] = asyncio.Queue()
    monkeypatch.setattr(module, "notify_status", told.put_nowait)
    monkeypatch.setattr(module, "LOOK_S", 0.01)
    status: list[dict[str, Any]] = [WELL]

    async def now() -> dict[str, Any]:
        return status[-1]

    keeping = asyncio.create_task(keep_status(now, "ready"))
    async with asyncio.timeout(60):
        status.append({**WELL, "mqtt": "connected"})
        assert await told.get() == "ready; MQTT connected"
        status.append({})
        assert (await told.get()).startswith("how it is, is not known: KeyError")
        status.append(WELL)
        assert await told.get() == "ready"
    keeping.cancel()
    assert told.empty()
