"""Cases and tools as files hold them, and what is said of files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.evaluation.cases import MalformedError, read_cases, read_tools

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI may be busy

APP = {"name": "open_app", "parameters": {"type": "object", "properties": {"appName": {"type": "string"}}}}
MALFORMED = {
    "no JSON": "it is no JSON: Expecting value at column 1",
    "[1]": "a case is [1]; it is to be an object",
    '{"calls": []}': "text is missing",
    '{"text": 5, "calls": []}': "text is 5; it is to be a text",
    '{"text": " ", "calls": []}': "text has no words",
    '{"text": "x"}': "a case has either calls or steps",
    '{"text": "x", "calls": [], "steps": []}': "a case has either calls or steps",
    '{"text": "x", "calls": {}}': "calls is {}; it is to be a list",
    '{"text": "x", "calls": ["f"]}': "calls[0] is 'f'; it is to be an object",
    '{"text": "x", "calls": [{"name": "f"}]}': "calls[0].arguments is missing",
    '{"text": "x", "calls": [{"arguments": {}}]}': "calls[0].name is missing",
    '{"text": "x", "calls": [], "room": 1}': "room is 1; it is to be a text",
    '{"text": "x", "calls": [], "history": [{"role": "agent", "text": "x"}]}': (
        "history[0].role is 'agent'; allowed are user and model"
    ),
    '{"text": "x", "calls": [], "tools": [{"name": "a b"}]}': "'a b' cannot be the name of a function",
    '{"text": "x", "calls": [], "tools": [{"name": "f"}, {"name": "f"}]}': "f: two functions have this name",
    '{"text": "x", "steps": []}': "steps is empty",
    '{"text": "x", "steps": [{"calls": [{"name": "f", "arguments": {}}]}]}': ("steps[0] has 1 calls and 0 responses"),
    '{"text": "x", "steps": [{"calls": []}, {"calls": []}]}': "steps[0] has no calls, so no step can follow it",
    '{"text": "x", "steps": [{"calls": []}], "answer_contains": [1]}': (
        "each of answer_contains is 1; it is to be a text"
    ),
    '{"text": "\\ud800", "calls": []}': "it holds characters that are no text",
    "[" * 100_000: "it is nested too deeply",
    "1" * 5_000: "Exceeds the limit",
}


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: line[:60])
def test_a_malformed_case_is_named_by_file_and_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f'{{"text": "fine", "calls": []}}\n\n{line}\n')

    with pytest.raises(MalformedError) as caught:
        read_cases(path)

    assert str(caught.value).startswith(f"{path}, line 3: {MALFORMED[line]}")
    assert "\n" not in str(caught.value)


def test_every_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b'{"text": 1}\n\xff\n{"text": "fine", "calls": []}\n{}')

    with pytest.raises(MalformedError) as caught:
        read_cases(path)

    assert str(caught.value).splitlines() == [
        f"{path}, line 1: text is 1; it is to be a text",
        f"{path}, line 2: it is no text in UTF-8",
        f"{path}, line 4: text is missing",
    ]


@unhurried
@given(st.binary() | st.text().map(str.encode))
def test_whatever_is_in_a_file_is_cases_or_a_sentence(raw: bytes) -> None:
    for reader in (read_cases, read_tools):
        try:
            reader(_File(raw))  # type: ignore[arg-type]
        except MalformedError as error:
            assert str(error).startswith("a file, line ")


class _File:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def read_bytes(self) -> bytes:
        return self._raw

    def __str__(self) -> str:
        return "a file"


def test_a_line_may_hold_other_separators_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes("\ufeff".encode() + '{"text": "a\u2028b", "calls": []}\r\n'.encode())

    assert [case.text for case in read_cases(path)] == ["a\u2028b"]


def test_tools_are_declarations(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([APP, {**APP, "name": "other", "read_only": True}]))

    first, second = read_tools(path)

    assert (first.name, first.read_only) == ("open_app", None)
    assert (second.name, second.read_only) == ("other", True)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("{}", ["line 1: it is to be a list of declarations"]),
        ('[\n{"name": "f"},\n', ["line 3: it is no JSON"]),
        ('[\n\n{"name": "f"},\n{"name":\n"f"}]', ["line 4: f: two functions have this name"]),
        (
            '[{"name": "f", "parameters": {"oneOf": []}},\n{"description": "x"}]',
            ["line 1: f: oneOf is not supported", "line 2: a declaration is an object with a name"],
        ),
    ],
)
def test_a_malformed_declaration_is_named_by_file_and_line(text: str, sentences: list[str], tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)

    with pytest.raises(MalformedError) as caught:
        read_tools(path)

    found = str(caught.value).splitlines()
    assert len(found) == len(sentences)
    for line, sentence in zip(found, sentences, strict=True):
        assert line.startswith(f"{path}, {sentence}")
