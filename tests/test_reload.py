"""SIGHUP: settings that are read again, and those that wait for a restart."""

from __future__ import annotations

import asyncio
import signal

import pytest
from test_service import directories, running, write  # noqa: F401  # fixtures

from agent.channels.local import LocalClient
from agent.config import ModelConfig, Settings
from agent.config.tables import Table
from agent.reload import taken


def test_limits_and_words_change_at_once_and_nothing_waits() -> None:
    """What is asked for each time needs no restart."""
    old = Settings(node="node")
    new = Settings(node="node", instructions="Be brief.", max_turns=3)

    assert taken(old, new) == (new, [])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"node": "other"}, "[agent] name"),
        ({"house": "other"}, "[agent] house"),
        ({"model": ModelConfig(path=None, preference="full")}, "[model]"),  # type: ignore[arg-type]
        ({"raw": {"tools": Table({"unit": "fahrenheit"}, ("tools",))}}, "the home"),
    ],
)
def test_what_was_opened_with_the_service_waits_and_is_named(change, name) -> None:
    """And what waits does not hold half: the old value goes on."""
    old = Settings(node="node")
    settings, waiting = taken(old, Settings(**{"node": "node", "max_turns": 3, **change}))

    assert waiting == [name]
    assert settings == Settings(node="node", max_turns=3)


async def told_until(systemd, text: str) -> str:
    """What systemd is told next that has this text."""
    async with asyncio.timeout(60):
        while text not in (told := await systemd.told()):
            pass
    return told


async def test_a_reload_keeps_conversations_and_takes_limits(write, directories):  # noqa: F811
    """RELOADING, then READY; the process stays the same."""
    path = write()
    async with running(path, directories) as (process, systemd):
        client = await LocalClient.find()
        path.write_text(path.read_text() + "[limits]\nmax_waiting = 3\n")
        process.send_signal(signal.SIGHUP)
        await told_until(systemd, "RELOADING=1\nMONOTONIC_USEC=")
        await told_until(systemd, "READY=1")

        assert (await client.status())["settings_trouble"] == ""
        assert process.returncode is None
        process.terminate()
        _, err = await process.communicate()
    assert b"the settings were read again" in err


async def test_a_mistake_at_a_reload_is_said_and_the_old_settings_go_on(write, directories):  # noqa: F811
    """With file and line, in the log and in the status; the next reload takes the mended file."""
    path = write()
    good = path.read_text()
    async with running(path, directories) as (process, systemd):
        client = await LocalClient.find()
        path.write_text(good + "[limits]\nmax_waitin = 3\n")
        process.send_signal(signal.SIGHUP)
        told = await told_until(systemd, "READY=1")
        trouble = (await client.status())["settings_trouble"]
        path.write_text(good)
        process.send_signal(signal.SIGHUP)
        await told_until(systemd, "RELOADING=1")
        await told_until(systemd, "READY=1")

        assert "max_waitin" in told
        assert f"{path}:" in trouble
        assert (await client.status())["settings_trouble"] == ""
        process.terminate()
        _, err = await process.communicate()
    assert b"the settings are as they were: " in err
    assert b"Traceback" not in err
