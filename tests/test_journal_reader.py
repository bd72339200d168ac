"""`hearth log`: what journalctl is asked for, and what is made of its answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent import journal
from agent.cli import main
from agent.journal_reader import arguments, told

RECORD = {
    "__REALTIME_TIMESTAMP": "1764550000000000",
    "MESSAGE_ID": journal.COMMAND_RECORD,
    "MESSAGE": "command",
    journal.COMMAND: "c1",
    journal.CHANNEL: "mqtt",
    journal.SESSION: "evening",
    journal.TOOL: "turn_on_light",
    journal.DRIVER: "memory",
    journal.MILLISECONDS: "41",
}


@pytest.fixture
def journalctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journalctl that answers with a file, and writes down what it was asked; its folder."""
    program = tmp_path / "journalctl"
    program.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/asked\ncat {tmp_path}/records\n')
    program.chmod(0o755)
    (tmp_path / "records").write_text(json.dumps(RECORD) + "\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def test_a_command_is_one_line(journalctl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The newest twenty when nothing else is asked for."""
    assert main(["log"]) == 0

    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[2:] == ["41", "ms", "mqtt", "evening", "turn_on_light", "memory"]
    assert f"--lines=20 MESSAGE_ID={journal.COMMAND_RECORD}" in (journalctl / "asked").read_text()


def test_json_is_the_record_with_all_its_fields(journalctl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For programs."""
    assert main(["log", "--json", "--since", "today"]) == 0

    assert json.loads(capsys.readouterr().out) == RECORD
    assert "--since=today" in (journalctl / "asked").read_text()
    assert "--lines" not in (journalctl / "asked").read_text()


def test_all_is_everything_that_the_unit_wrote() -> None:
    """Its starts and its faults too."""
    assert arguments(5, None, True, True)[-3:] == ["--lines=5", "--follow", "--unit=hearth.service"]


def test_a_record_that_is_no_text_is_no_error() -> None:
    """journalctl gives bytes as numbers, and null for what is very long."""
    line = told({**RECORD, journal.SESSION: [104, 255], journal.TOOL: None, journal.ERROR: "BUSY"})

    assert line.split()[4:] == ["mqtt", "-", "-", "memory", "BUSY"]


def test_without_a_journal_one_sentence_says_where_the_log_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a machine without systemd."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert main(["log"]) == 1
    assert "the log is where hearth run writes it" in capsys.readouterr().err
