"""The wire is written once: what is generated of it is current, and C and Python say the same bytes."""

from __future__ import annotations

import dataclasses
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hil.board import need
from tests.hil.wire import crc, frame, unstuffed
from tools.drivers.serial import protocol
from tools.drivers.serial.protocol import (
    ANSWERS,
    EVENTS,
    REQUESTS,
    GetAllAnswer,
    GetAllRequest,
    HelloAnswer,
    HelloRequest,
    Level,
    Message,
    SetAnswer,
    SetRequest,
)

ROOT = Path(__file__).resolve().parent.parent
MESSAGES = [*REQUESTS.values(), *ANSWERS.values(), *EVENTS.values()]


def test_the_generated_files_are_current() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "firmware" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )

    assert made.returncode == 0, made.stdout + made.stderr


def filled(kind: type[Message], seeded: random.Random) -> Message:
    """A message with any values that fit."""
    if kind is GetAllAnswer:
        levels = tuple(Level(seeded.randrange(1001), seeded.randrange(1001)) for _ in range(seeded.randrange(8)))
        return GetAllAnswer(seeded.randrange(8), len(levels), levels)
    return kind.unpack(seeded.randbytes(kind.LAYOUT.size))


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_a_message_is_read_as_it_was_written(kind: type[Message]) -> None:
    seeded = random.Random(1)
    for _ in range(50):
        message = filled(kind, seeded)
        body = message.pack()

        assert len(body) <= protocol.MAX_BODY
        assert kind.unpack(body) == message


@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.__name__)
def test_a_body_of_another_length_is_refused(kind: type[Message]) -> None:
    body = filled(kind, random.Random(2)).pack()
    for wrong in (body + b"\0", body[:-1]):
        if wrong != body:
            with pytest.raises(ValueError, match="bytes"):
                kind.unpack(wrong)


def test_a_value_that_does_not_fit_is_refused() -> None:
    for message in (SetRequest(256, 0, 0), SetRequest(0, 65536, 0), SetRequest(0, -1, 0)):
        with pytest.raises(ValueError, match="does not fit"):
            message.pack()


def test_codes_are_told_apart_and_answers_are_their_requests_with_bit_7() -> None:
    codes = [kind.TYPE for kind in MESSAGES]

    assert len(set(codes)) == len(codes)
    assert all(code | protocol.ANSWER_BIT in ANSWERS for code in REQUESTS)
    assert all(dataclasses.is_dataclass(kind) for kind in MESSAGES)


@pytest.fixture(scope="module")
def host_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The firmware as a program of this machine."""
    need([tool for tool in ("cc", "make") if shutil.which(tool) is None])
    out = tmp_path_factory.mktemp("firmware")
    subprocess.run(
        ["make", "-C", str(ROOT / "firmware"), "host", f"OUT={out}", f"PYTHON={sys.executable}"],
        check=True,
        capture_output=True,
    )
    return out / "board-host"


def told(board: Path, sent: bytes) -> list[tuple[int, Message]]:
    """What the firmware says to bytes on its standard input, until they end."""
    said = subprocess.run([str(board)], input=sent, capture_output=True, timeout=30, check=True).stdout
    messages = []
    for coded in filter(None, said.split(b"\0")):
        plain = unstuffed(coded)
        assert crc(plain[:-2]) == int.from_bytes(plain[-2:], "little")
        messages.append((plain[1], {**ANSWERS, **EVENTS}[plain[2]].unpack(plain[3:-2])))
    return messages


def test_c_and_python_say_the_same_bytes(host_build: Path) -> None:
    requests = [HelloRequest(), SetRequest(3, 400, 0), SetRequest(7, 1000, 0), GetAllRequest(2)]
    said = told(host_build, b"".join(frame(i, each.TYPE, each.pack()) for i, each in enumerate(requests, start=1)))
    answers = [message for sequence, message in said if sequence]

    assert isinstance(answers[0], HelloAnswer)
    assert (answers[0].magic, answers[0].protocol) == (protocol.MAGIC, protocol.VERSION)
    assert answers[1:3] == [SetAnswer(3, 400, 400), SetAnswer(7, 1000, 1000)]
    dark, full = Level(0, 0), Level(1000, 1000)
    assert answers[3] == GetAllAnswer(2, 6, (dark, Level(400, 400), dark, dark, dark, full))


def test_the_firmwares_own_tests_pass_under_the_sanitizers(tmp_path: Path) -> None:
    need([tool for tool in ("cc", "make") if shutil.which(tool) is None])
    tested = subprocess.run(
        ["make", "-C", str(ROOT / "firmware"), "test", f"OUT={tmp_path}", f"PYTHON={sys.executable}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert " 0 failed" in tested.stdout
