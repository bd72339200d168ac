"""The firmware as it is built: its layers, its limits, its relays, its pins and their rates, its fuzzers' corpus.

What its code does is tested in C (firmware/tests) and on the emulated chip (tests/hil). Field faults: F24 (a dimmed
lamp does not flicker, whatever else there is to do).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hil.board import DIM_CHANNELS, FIRMWARE, NEAR, EmulatedBoard, Images, duty_of, images, missing_packages, need
from tests.hil.wire import Host, frame
from tools.drivers.serial.protocol import GetAllRequest, SetRequest

SOURCES = FIRMWARE / "src"
WIRING = FIRMWARE.parent / "docs" / "wiring.md"


@pytest.fixture(scope="module")
def made() -> Images:
    need(missing_packages())
    return images()


@pytest.fixture
def board(made: Images, tmp_path: Path) -> Iterator[EmulatedBoard]:
    """One whose time is held."""
    with EmulatedBoard(made, tmp_path, held=True) as running:
        yield running


@pytest.fixture
def host(board: EmulatedBoard) -> Iterator[Host]:
    with Host(board) as opened:
        opened.run(100)
        yield opened


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "-C", str(FIRMWARE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def included(folder: str) -> set[str]:
    """What the files of a layer include, from the folder of the sources on; a header of the system as it is."""
    found: set[str] = set()
    for file in sorted((SOURCES / folder).glob("*.[ch]")):
        for own, foreign in re.findall(r'^#include (?:"(.+)"|<(.+)>)', file.read_text(), re.MULTILINE):
            found.add(str((file.parent / own).resolve().relative_to(SOURCES)) if own else foreign)
    return found


def test_a_layer_knows_only_what_is_below_it() -> None:
    """Logic knows bytes; devices know a chip by hal.h alone; registers are the chip's."""
    assert included("logic") - {"stdint.h", "stdbool.h", "string.h"} <= {
        str(each.relative_to(SOURCES)) for each in (SOURCES / "logic").glob("*.h")
    }
    assert {each for each in included("devices") if each.startswith(("chip/", "board", "avr/"))} == {"chip/hal.h"}
    assert {each for each in included(".") if each.startswith(("chip/", "avr/"))} == {"chip/hal.h"}


def test_no_memory_is_allocated(made: Images) -> None:
    """The image has nobody who could."""
    symbols = subprocess.run(["avr-nm", str(made.image)], capture_output=True, text=True, check=True).stdout
    assert " board_turn\n" in symbols
    assert re.findall(r" (malloc|calloc|realloc|free|__brkval)\n", symbols) == []


def test_an_image_that_leaves_no_room_is_not_built(made: Images, tmp_path: Path) -> None:
    """At 75 percent; here at 10."""
    done = make("size", f"OUT={tmp_path}", "MOST_PERCENT=10")

    assert done.returncode != 0
    assert re.search(r"flash \d+ of 32768 bytes \(\d.* %\), RAM \d+ of 2048", done.stdout)
    assert "more than 10 % is in use" in done.stdout


def test_another_kind_of_relay_boards_makes_another_image(made: Images, tmp_path: Path) -> None:
    """Also where one was built before, and a kind that does not exist is refused."""
    built = []
    for kind in ("high", "low", "low", "high"):
        assert make("image", f"OUT={tmp_path}", f"RELAYS={kind}").returncode == 0
        built.append((tmp_path / "hearth.hex").read_bytes())

    assert built[0] == built[3] != built[1] == built[2]
    assert "RELAYS is on; it can be high or low" in make("image", f"OUT={tmp_path}", "RELAYS=on").stderr


def test_a_relay_that_is_on_at_low_is_off_from_the_start_on(made: Images, tmp_path: Path) -> None:
    """The pin goes high and stays there until it is told."""
    (tmp_path / "built").mkdir()
    assert make("image", f"OUT={tmp_path / 'built'}", "RELAYS=low").returncode == 0
    image = tmp_path / "built" / "hearth.elf"
    with EmulatedBoard(made, tmp_path, held=True, image=image) as board, Host(board) as host:
        host.run(100)
        assert [(each["duty"], each["edges"]) for each in board.state()["outputs"][DIM_CHANNELS:]] == [(1, 1), (1, 1)]

        host.ask(SetRequest(DIM_CHANNELS, 1000, 0))
        host.run(50)
        assert [board.duty(DIM_CHANNELS), board.duty(DIM_CHANNELS + 1)] == [0, 1]


def wired() -> list[tuple[int, str, float, int]]:
    """Channel, pin, frequency and steps of the table in docs/wiring.md; of a relay 0 and 2."""
    table = WIRING.read_text(encoding="utf-8").partition("## The light controller's pins")[2]
    dimmed = re.findall(r"^\| (\d) \| (D\d+) \| ([\d.]+) kHz \| (\d+) \|$", table, re.MULTILINE)
    relays = re.findall(r"^\| (\d) \(relay \d\) \| (D\d+) \| +\| on, off \|$", table, re.MULTILINE)
    return [
        *((int(channel), pin, float(khz) * 1000, int(steps)) for channel, pin, khz, steps in dimmed),
        *((int(channel), pin, 0.0, 2) for channel, pin in relays),
    ]


def test_each_channel_is_on_the_pin_of_the_wiring_page_at_a_rate_that_nobody_sees(
    board: EmulatedBoard, host: Host
) -> None:
    """Its frequency is counted from the pin's own edges, and its least step is the one that the page says."""
    table = wired()
    assert [channel for channel, *_ in table] == list(range(8))
    for channel, pin, hertz, steps in table:
        host.ask(SetRequest(channel, 500 if hertz else 1000, 0))
        host.run(50)
        before = board.state()["outputs"]
        host.run(1000)
        after = board.state()["outputs"]

        assert [each["pin"] for each in after if each["duty"] > 0] == [pin]
        if hertz:
            assert hertz >= 1000
            assert (after[channel]["edges"] - before[channel]["edges"]) / 2 == pytest.approx(hertz, rel=0.01)
            assert after[channel]["duty"] == pytest.approx(round(duty_of(500, channel) * steps) / steps, abs=0.001)
        host.ask(SetRequest(channel, 0, 0))


def test_f24_a_dimmed_lamp_keeps_its_duty_and_its_rate_while_the_board_is_flooded(
    board: EmulatedBoard, host: Host
) -> None:
    """Timers do it, not the loop; and no byte of Hearth is needed for a lamp to stay as it is."""
    for channel in range(DIM_CHANNELS):
        host.ask(SetRequest(channel, 300, 0))
    host.run(50)
    before = board.state()
    for _ in range(20):
        host.send(frame(7, GetAllRequest.TYPE, GetAllRequest(0).pack()) * 40)
        host.run(50)
        for channel, output in enumerate(board.state()["outputs"][:DIM_CHANNELS]):
            assert output["duty"] == pytest.approx(duty_of(300, channel), abs=NEAR[channel])
    after = board.state()

    seconds = (after["cycle"] - before["cycle"]) / 16e6
    for channel, _, hertz, _ in wired()[:DIM_CHANNELS]:
        edges = after["outputs"][channel]["edges"] - before["outputs"][channel]["edges"]
        assert edges / 2 / seconds == pytest.approx(hertz, rel=0.01)


def test_the_corpus_of_the_fuzzers_is_clean(tmp_path: Path) -> None:
    """Every input that `make fuzz` ever kept, once, under the sanitizers."""
    need([tool for tool in ("cc", "make") if shutil.which(tool) is None])
    done = make("corpus", f"OUT={tmp_path}")

    assert done.returncode == 0, done.stdout + done.stderr
