"""How the service is, in one line for `systemctl status`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from agent.notify import notify_status

LOOK_S: Final = 2.0
"""How often the parts are looked at, in seconds: a broker that is lost shows soon, and an idle board stays idle."""


def status_line(status: dict[str, Any]) -> str:
    """One line: the model, the broker, what of the house is not well, and settings that are not taken yet.

    Args:
        status: That of `Service.status`.
    """
    model = status["model"]
    parts = ["ready" if model == "ready" else f"no model: {model}"]
    if status["mqtt"] != "off":
        parts.append(f"MQTT {status['mqtt']}")
    parts += [f"{part}: {how}" for part, how in status["house"].items() if how != "ok"]
    if status["settings_trouble"]:
        parts.append(f"the settings were not taken: {status['settings_trouble']}")
    if status["settings_waiting"]:
        parts.append(f"a restart is needed for {', '.join(status['settings_waiting'])}")
    return "; ".join(parts)


async def keep_status(status: Callable[[], Awaitable[dict[str, Any]]], told: str) -> None:
    """Tells systemd whenever the line changes, until cancelled.

    Args:
        status: Gives the status.
        told: The line that it knows.
    """
    while True:
        try:
            line = status_line(await status())
        except Exception as error:  # of a house that cannot tell how it is: no reason to end
            line = f"how it is, is not known: {type(error).__name__}: {error}"
        if line != told:
            notify_status(line)
            told = line
        await asyncio.sleep(LOOK_S)
