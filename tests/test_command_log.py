"""One record for each command, and no words of people in it."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from agent import journal
from agent.command import Command
from agent.command_log import logged
from agent.errors import AgentError, ErrorCode
from agent.events import AgentEvent, FunctionCall, FunctionResponse, TextMessage

COMMAND = Command("turn on the secret lamp", "mqtt", id="c1", session="evening")


async def events(*given: AgentEvent | Exception) -> AsyncGenerator[AgentEvent, None]:
    for each in given:
        if isinstance(each, Exception):
            raise each
        yield each


def drivers(name: str, arguments: Mapping[str, Any]) -> list[str]:
    return ["memory"] if name == "turn_on_light" else []


async def record_of(caplog: pytest.LogCaptureFixture, stream: AsyncIterator[AgentEvent]) -> logging.LogRecord:
    """Runs a command to its end, and returns its only record."""
    caplog.set_level(logging.INFO)
    try:
        async for _ in stream:
            pass
    except AgentError:
        pass
    (record,) = [each for each in caplog.records if getattr(each, "MESSAGE_ID", None) == journal.COMMAND_RECORD]
    return record


async def test_a_command_leaves_one_record_with_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    """Session, id, tool, driver and milliseconds; no error where there was none."""
    record = await record_of(
        caplog,
        logged(
            COMMAND,
            events(
                FunctionCall("1", "turn_on_light", {"room": "secret lamp"}),
                FunctionResponse("1", "turn_on_light", {"changed": []}),
                FunctionCall("2", "set_timer", {}),
                FunctionResponse("2", "set_timer", {"error": "no"}),
                TextMessage("The secret lamp is on."),
            ),
            drivers,
        ),
    )
    fields = vars(record)

    assert fields[journal.COMMAND] == "c1"
    assert fields[journal.CHANNEL] == "mqtt"
    assert fields[journal.SESSION] == "evening"
    assert fields[journal.TOOL] == "turn_on_light set_timer"
    assert fields[journal.DRIVER] == "memory"
    assert fields[journal.FAILED] == "set_timer"
    assert fields[journal.MILLISECONDS] >= 0
    assert journal.ERROR not in fields
    assert "secret" not in record.getMessage()


async def test_an_error_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """By its code, as channels send it."""
    stream = logged(COMMAND, events(AgentError(ErrorCode.BUSY, "Too much.")), drivers)
    record = await record_of(caplog, stream)

    assert vars(record)[journal.ERROR] == "BUSY"
    assert journal.TOOL not in vars(record)


async def test_who_goes_away_leaves_a_record_too(caplog: pytest.LogCaptureFixture) -> None:
    """The command was given up, and the log says so."""
    caplog.set_level(logging.INFO)
    stream = logged(COMMAND, events(TextMessage("One", is_partial=True), TextMessage("Two")), drivers)
    async with aclosing(stream):
        await anext(stream)
    (record,) = caplog.records

    assert vars(record)[journal.ERROR] == "CANCELLED"


async def test_a_house_that_fails_to_name_its_driver_fails_no_command(caplog: pytest.LogCaptureFixture) -> None:
    """It is said with its traceback."""

    def broken(name: str, arguments: Mapping[str, Any]) -> list[str]:
        raise KeyError(name)

    record = await record_of(caplog, logged(COMMAND, events(FunctionCall("1", "turn_on_light", {})), broken))

    assert vars(record)[journal.TOOL] == "turn_on_light"
    assert "the drivers of turn_on_light are not known" in caplog.text


@pytest.mark.parametrize("shown", [False, True])
async def test_words_are_in_the_log_only_if_the_settings_say_so(caplog: pytest.LogCaptureFixture, shown: bool) -> None:
    """Neither as a field nor in the message; the filter is on every handler of the service."""
    words = journal.WordsFilter()
    words.shown = shown
    record = await record_of(caplog, logged(COMMAND, events(TextMessage("It is on.")), drivers))
    words.filter(record)

    assert (vars(record).get(journal.WORDS) == COMMAND.text) is shown
    assert ("secret lamp" in record.getMessage()) is shown
    assert ("It is on." in record.getMessage()) is shown
