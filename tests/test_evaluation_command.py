"""`hearth eval` from its arguments to its output and exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.cli import main
from agent.evaluation import command
from agent.model.generative import UnavailableModel
from tests.fakes import ScriptedModel, act, call

APP = {"name": "open_app", "parameters": {"type": "object", "properties": {"appName": {"type": "string"}}}}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """What `hearth eval` loads."""
    model = ScriptedModel(always=act(call("turn_on_light", room="living room")))
    monkeypatch.setattr(command, "load_model", lambda config: model)
    return model


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.jsonl"
    lounge = {"name": "turn_on_light", "arguments": {"room": "lounge"}}
    path.write_text(json.dumps({"text": "lounge light", "calls": [lounge]}))
    return str(path)


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["eval", *arguments, "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_without_tools_the_example_house_is_asked(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = evaluated(capsys, cases)

    assert data["exact"] == 0
    assert {tool.name for tool in scripted.requests[-1].tools} >= {"turn_on_light", "get_state"}
    assert scripted.closed == 1


def test_home_compares_by_what_would_move(
    scripted: ScriptedModel, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home.toml"
    home.write_text(
        '[agent]\ninstructions = "Be brief."\n'
        '[[tools.room]]\nname = "living room"\naliases = ["lounge"]\n'
        '[[tools.device]]\nname = "lamp"\nkind = "light"\nroom = "living room"\n'
    )

    assert evaluated(capsys, cases, "--home", str(home))["exact"] == 1
    assert scripted.requests[-1].system_instruction == "Be brief."


def test_tools_from_a_file_are_what_is_asked_with(
    scripted: ScriptedModel, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([APP]))

    assert main(["eval", cases, "--tools", str(tools), "--json"]) == 0

    assert [tool.name for tool in scripted.requests[-1].tools] == ["open_app"]
    assert "there is no function turn_on_light; there are open_app" in capsys.readouterr().err


def test_the_declarations_are_read_before_anything_is_timed(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluated(capsys, cases)

    assert [request.contents[0].text for request in scripted.requests] == ["hello", "lounge light"]


def test_without_json_a_table_is_printed(
    scripted: ScriptedModel, cases: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", cases]) == 0

    assert "wrongful" in capsys.readouterr().out


def test_malformed_files_end_with_2_and_a_sentence_for_each_line(
    scripted: ScriptedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases, tools = tmp_path / "cases.jsonl", tmp_path / "tools.json"
    cases.write_text("{}\n{")
    tools.write_text("[1]")

    assert main(["eval", str(cases), "--tools", str(tools)]) == 2

    captured = capsys.readouterr()
    assert [line.partition(": ")[0] for line in captured.err.splitlines()] == [
        f"{tools}, line 1",
        f"{cases}, line 1",
        f"{cases}, line 2",
    ]
    assert captured.out == ""
    assert not scripted.requests


@pytest.mark.parametrize("option", ["--tools", "--home"])
def test_an_absent_file_ends_with_2(
    option: str, cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = str(tmp_path / "absent")

    for arguments in ([absent], [cases, option, absent]):
        with pytest.raises(SystemExit) as caught:
            main(["eval", *arguments])

        assert caught.value.code == 2
        assert absent in capsys.readouterr().err


def test_settings_that_are_wrong_end_with_2(cases: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home.toml"
    home.write_text("[tools]\nroof = 1\n")

    assert main(["eval", cases, "--home", str(home)]) == 2
    error = capsys.readouterr().err
    assert str(home) in error and "roof" in error


def test_a_model_that_is_not_available_is_an_error_by_name(
    cases: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "load_model", lambda config: UnavailableModel("the file is broken"))

    assert main(["eval", cases]) == 1
    assert capsys.readouterr().err == "NOT_AVAILABLE: There is no model: the file is broken\n"
