"""`hearth board`: what it finds, asks, sets and flashes, and what it says where it cannot."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import tools.board
from agent import cli
from tests.scripted_board import HELLO, ScriptedBoard, foreign_device, scripted_board
from tools.drivers.serial import finding
from tools.drivers.serial.finding import Candidate
from tools.drivers.serial.protocol import SetRequest

BOARD = "board 0123456789abcdef, firmware 1.0, 6 dimmable channels, 2 relays, 3 inputs"


@pytest.fixture
def board(tmp_path: Path) -> Iterator[ScriptedBoard]:
    with scripted_board(tmp_path / "ttyBOARD") as board:
        yield board


@pytest.fixture
def hearth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command with settings that name the board's port; status, what it printed, and its errors."""

    def run(*arguments: str, settings: str | None = None) -> tuple[int, str, str]:
        named = f'[tools.serial]\nport = "{tmp_path}/ttyBOARD"\nreply_timeout_s = 2.0\n'
        (tmp_path / "hearth.toml").write_text(named if settings is None else settings, encoding="utf-8")
        status = cli.main(["board", "--config", str(tmp_path / "hearth.toml"), *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


Hearth = Callable[..., tuple[int, str, str]]


def test_list_says_what_is_at_each_port(board: ScriptedBoard, hearth: Hearth) -> None:
    assert hearth("list") == (0, f"{board.path}: {BOARD}\n", "")


def test_list_says_why_a_port_has_no_board(
    board: ScriptedBoard, hearth: Hearth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is foreign is sent one hello and nothing else."""
    with foreign_device(tmp_path / "ttyUSB1", b"\xfe\0") as got:
        found = [Candidate(str(board.path)), Candidate(str(tmp_path / "ttyUSB1")), Candidate(str(tmp_path / "gone"))]
        monkeypatch.setattr(tools.board, "candidates", lambda port: found)
        monkeypatch.setattr(finding, "HELLO_WAIT_S", 2.0)
        status, out, _ = hearth("list", settings="")

    assert status == 0
    assert out.splitlines() == [
        f"{board.path}: {BOARD}",
        f"{tmp_path}/ttyUSB1: what answers there is no Hearth board",
        f"{tmp_path}/gone: it is not there",
    ]
    assert len(b"".join(got)) == 8


def test_list_says_where_it_looked_when_there_is_nothing(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "usb_ports", list)
    monkeypatch.setattr(tools.board, "candidates", lambda port: [])

    assert "no serial port has the USB id of such a board (1a86:7523" in hearth("list", settings="")[1]


def test_info_tells_all_of_the_board(board: ScriptedBoard, hearth: Hearth) -> None:
    board.levels[1], board.levels[7], board.bits = 5, 1000, 4
    status, out, _ = hearth("info")
    lines = out.splitlines()

    assert status == 0
    assert lines[0] == f"{board.path}: {BOARD}"
    assert lines[1] == "started 41 times, the last time by power on, 3723 s ago"
    assert lines[4] == "channel 1: 1 percent"
    assert lines[10] == "channel 7 (relay 1): 100 percent"
    assert lines[-1] == "input 2: pressed"


def test_set_says_what_the_board_confirmed(board: ScriptedBoard, hearth: Hearth) -> None:
    assert hearth("set", "2", "40", "--fade", "1.5") == (0, "channel 2: 40 percent\n", "")
    assert board.requests(SetRequest) == [SetRequest(2, 400, 150)]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("set", "8", "40"), "there is no channel 8; there are 0 to 7"),
        (("set", "6", "40"), "channel 6 (relay 0) takes 0 or 100 percent"),
        (("flash", "no.hex"), "there is no file no.hex"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    board: ScriptedBoard, hearth: Hearth, arguments: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools.board.shutil, "which", lambda name: "/usr/bin/avrdude")
    status, _, err = hearth(*arguments)

    assert status == 1
    assert text in err
    assert board.requests(SetRequest) == []


@pytest.mark.parametrize("arguments", [("set", "0", "101"), ("set", "0", "-1"), ("set", "0", "1", "--fade", "601")])
def test_a_number_that_is_out_of_range_is_bad_usage(
    hearth: Hearth, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        hearth(*arguments)

    assert ended.value.code == 2


def test_a_port_that_the_service_has_is_said(board: ScriptedBoard, hearth: Hearth) -> None:
    import serial

    with serial.Serial(str(board.path), exclusive=True):
        status, _, err = hearth("info")

    assert status == 1
    assert "another program uses it: stop that one, or the running hearth service" in err


def test_without_avrdude_flash_says_how_to_get_it(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.board.shutil, "which", lambda name: None)

    assert (
        "avrdude is not installed, and it is what writes firmware: sudo apt install avrdude"
        in hearth("flash", "x.hex")[2]
    )


@pytest.fixture
def avrdude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in its place, which keeps its arguments."""
    program = tmp_path / "avrdude"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n[ ! -e {tmp_path}/fail ] || {{ echo no; exit 1; }}\n'
    )
    program.chmod(0o755)
    (tmp_path / "light.hex").write_text(":00000001FF\n")
    monkeypatch.setattr(tools.board.shutil, "which", lambda name: str(program))
    return tmp_path


@pytest.mark.parametrize("version", [1, 2])
def test_flash_writes_to_our_board_of_any_version_and_names_it(avrdude: Path, hearth: Hearth, version: int) -> None:
    """Here it has the new firmware as soon as it was asked; its id is made with the first one."""
    with scripted_board(avrdude / "ttyBOARD", replace(HELLO, protocol=version, board_id=bytes(8))) as board:
        answer = board._answer

        def later(request: object) -> object:
            told = answer(request)  # type: ignore[arg-type]
            board.hello = replace(board.hello, protocol=1)
            return told

        board._answer = later  # type: ignore[method-assign, assignment]
        status, out, err = hearth("flash", str(avrdude / "light.hex"), "--baud", "57600")

    assert (status, err) == (0, "")
    assert (avrdude / "arguments").read_text().split() == [
        "-p", "atmega328p", "-c", "arduino", "-P", str(board.path), "-b", "57600", "-D",
        "-U", f"flash:w:{avrdude}/light.hex:i",
    ]  # fmt: skip
    assert any(board.hello.board_id)
    assert f"{board.path}: board {board.hello.board_id.hex()}, firmware 1.0" in out


def test_while_flash_writes_no_other_hearth_opens_the_port(board: ScriptedBoard, avrdude: Path, hearth: Hearth) -> None:
    """A running service that finds no board of its version looks for one again and again."""
    program = avrdude / "avrdude"
    program.write_text(
        f"#!{sys.executable}\nimport serial\ntry:\n    serial.Serial({str(board.path)!r}, exclusive=True)\n"
        f"except serial.SerialException as error:\n    open({str(avrdude / 'error')!r}, 'w').write(str(error))\n"
    )
    status, _, _ = hearth("flash", str(avrdude / "light.hex"), "--port", str(board.path))

    assert status == 0
    assert "Could not exclusively lock port" in (avrdude / "error").read_text()


def test_flash_that_fails_says_what_avrdude_said(board: ScriptedBoard, avrdude: Path, hearth: Hearth) -> None:
    (avrdude / "fail").touch()
    status, _, err = hearth("flash", str(avrdude / "light.hex"))

    assert status == 1
    assert "avrdude failed (no): an old Nano needs --baud 57600" in err


def test_flash_leaves_a_foreign_device_alone(
    avrdude: Path, hearth: Hearth, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "HELLO_WAIT_S", 0.5)
    with foreign_device(tmp_path / "ttyBOARD"):
        status, _, err = hearth("flash", str(avrdude / "light.hex"))

    assert status == 1
    assert "no port has a Hearth board; if a new one is plugged in, name its port with --port" in err
    assert not (avrdude / "arguments").exists()


def test_a_house_package_without_a_board_says_so(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tools, "controller")

    assert "the house package tools knows of no board" in hearth("list")[2]
