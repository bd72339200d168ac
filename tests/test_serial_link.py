"""The link to the light controller and its driver, at a pseudo-terminal with a scripted board behind it."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import termios
import time
import types
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import serial

from agent.errors import SettingsError
from tests.homes import call
from tests.scripted_board import HELLO, ScriptedBoard, foreign_device, scripted_board
from tests.serial_bench import bench
from tools import check_settings, open_house
from tools.device import Change, Device, Kind, State
from tools.drivers import DeviceError, NotAvailableError, NotConfirmedError, Press, WiredButton
from tools.drivers.serial.codec import Decoder, Frame, encode
from tools.drivers.serial.finding import Candidate, Finder, NoBoardError, candidates
from tools.drivers.serial.link import ForeignError, Link, LinkError, LinkFailedError, RefusedError
from tools.drivers.serial.options import SerialButton, SerialOptions
from tools.drivers.serial.port import Port, PortBusyError, PortError, said
from tools.drivers.serial.protocol import (
    BootedEvent,
    BootLevel,
    GetAllRequest,
    GetRequest,
    HelloRequest,
    Message,
    SetAnswer,
    SetRequest,
)
from tools.drivers.serial.protocol import Press as WirePress

WITHIN_S = 10.0
"""How long anything may take that is to happen."""


@pytest.fixture
def board(tmp_path: Path) -> Iterator[ScriptedBoard]:
    with scripted_board(tmp_path / "ttyBOARD") as board:
        yield board


@asynccontextmanager
async def linked(board: ScriptedBoard, **options: Any) -> AsyncIterator[Link]:
    """A link that has said hello."""
    link = Link(await Port.open(str(board.path)), reply_wait_s=3, **options)
    try:
        await link.greet(WITHIN_S)
        yield link
    finally:
        await link.close()


def once(spoiled: Callable[[Message, bytes], bytes | None], kind: type[Message]) -> Callable[..., bytes | None]:
    """Spoils the first answer to a request of a type."""
    left = [1]

    def spoil(request: Message, answer: bytes) -> bytes | None:
        if isinstance(request, kind) and left:
            left.pop()
            return spoiled(request, answer)
        return answer

    return spoil


async def test_a_set_is_done_when_the_board_has_it_and_is_read_back(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        told = await link.set(0, 400, fade=40)

    assert (told.target, board.levels[0]) == (400, 400)
    assert board.requests(SetRequest) == [SetRequest(0, 400, 40)]
    assert board.requests(GetRequest) == [GetRequest(0)]


@pytest.mark.parametrize("spoiled", [lambda request, answer: None, lambda request, answer: answer[:-4] + b"\0"])
async def test_an_answer_that_is_lost_or_damaged_makes_the_set_be_sent_again_with_a_new_number(
    board: ScriptedBoard, spoiled: Callable[[Message, bytes], bytes | None]
) -> None:
    board.spoil = once(spoiled, SetRequest)
    async with linked(board) as link:
        link._wait = 0.1
        await link.set(2, 700)

    sets = [frame for frame in board.heard if frame.type == SetRequest.TYPE]
    assert board.levels[2] == 700
    assert len(sets) >= 2
    assert len({frame.sequence for frame in sets}) == len(sets)
    assert len({frame.body for frame in sets}) == 1


async def test_an_answer_that_comes_late_is_not_taken_for_the_next(board: ScriptedBoard) -> None:
    """It comes with the answer to the request after it, and before that."""
    late: list[bytes] = []

    def spoil(request: Message, answer: bytes) -> bytes | None:
        if request == SetRequest(0, 100, 0) and not late:
            late.append(answer)
            return None
        return late[0] + answer if late else answer

    board.spoil = spoil
    async with linked(board) as link:
        link._wait = 0.2
        with pytest.raises(LinkError, match="did not answer"):
            await link._ask(SetRequest(0, 100, 0), SetAnswer, attempts=1)
        link._wait = 3
        answer = await link.ask(SetRequest(0, 900, 0), SetAnswer)

    assert answer.target == 900


async def test_a_board_that_falls_silent_ends_the_link_and_says_so(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        board.spoil = lambda request, answer: None
        link._wait = 0.05
        with pytest.raises(LinkFailedError, match=r"^the board does not answer$"):
            await link.set(0, 500)
        sent = len(board.requests(SetRequest))

        assert link.failed == "the board does not answer"
        assert link.ended.is_set()
        with pytest.raises(LinkFailedError):
            await link.get(0)
        assert sent <= 4
        assert board.requests(GetRequest) == []


async def test_a_refusal_is_told_with_its_reason_and_not_repeated(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        with pytest.raises(RefusedError, match="out of range for that channel"):
            await link.set(6, 500)
        with pytest.raises(RefusedError, match="no such channel"):
            await link.set(9, 0)

        assert len(board.requests(SetRequest)) == 2
        assert not link.failed


async def test_a_board_that_acknowledges_and_does_not_do_it_is_not_believed(board: ScriptedBoard) -> None:
    board.spoil = lambda request, answer: (board.levels.__setitem__(0, 5), answer)[1]
    async with linked(board) as link:
        with pytest.raises(LinkError, match="has channel 0 at 5 per mille"):
            await link.set(0, 400)


async def test_an_answer_about_another_channel_is_not_believed(board: ScriptedBoard) -> None:
    def spoil(request: Message, answer: bytes) -> bytes:
        if not isinstance(request, SetRequest):
            return answer
        return encode(Frame(board.heard[-1].sequence % 255 + 1, SetAnswer.TYPE, SetAnswer(1, 400, 400).pack()))

    board.spoil = spoil
    async with linked(board) as link:
        with pytest.raises(LinkError, match="set channel 1 to 400"):
            await link.set(0, 400)


async def test_all_channels_are_read_page_by_page(tmp_path: Path) -> None:
    with scripted_board(tmp_path / "tty", replace(HELLO, dim_channels=12, relay_channels=4)) as board:
        board.levels = list(range(0, 160, 10))
        async with linked(board) as link:
            levels = await link.levels()

    assert [level.target for level in levels] == board.levels


async def test_requests_at_once_go_one_after_the_other(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        await asyncio.gather(*(link.set(channel, 100 * channel) for channel in range(6)))

    assert board.levels == [0, 100, 200, 300, 400, 500, 0, 0]
    assert sorted(frame.type for frame in board.heard[1:]) == [SetRequest.TYPE] * 6 + [GetRequest.TYPE] * 6


async def test_numbers_of_requests_wrap_past_the_one_that_is_the_boards_own(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        for _ in range(300):
            await link.get(0)

    assert 0 not in {frame.sequence for frame in board.heard}


async def test_a_board_that_is_unplugged_ends_the_link_and_the_waiting(board: ScriptedBoard) -> None:
    """pyserial tells it as an OSError, a SerialException or a termios.error; all mean the same here."""
    async with linked(board) as link:
        board.spoil = lambda request, answer: None
        asking = asyncio.create_task(link.get(0))
        await asyncio.to_thread(board.wait_for, GetRequest)
        board.unplug()
        with pytest.raises(LinkFailedError):
            await asyncio.wait_for(asking, WITHIN_S)
        await asyncio.wait_for(link.ended.wait(), WITHIN_S)

        assert link.failed


def wrapped(text: str, cause: Exception) -> Exception:
    """As pyserial raises it in an except clause."""
    error = serial.SerialException(text)
    error.__context__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(5, "Input/output error"), "it was unplugged"),
        (termios.error(5, "Input/output error"), "it was unplugged"),
        (wrapped("write failed: [Errno 5] Input/output error", OSError(5, "")), "it was unplugged"),
        (serial.SerialException("device reports readiness to read but returned no data (multiple access on port?)"),
         "it was unplugged"),
        (wrapped("Could not configure port: (25, ...)", termios.error(25, "")), "it is no serial port"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "it takes nothing"),
        (OSError(13, "Permission denied"), "we may not use it"),
        (OSError(6, "No such device or address"), "nothing is behind it"),
    ],
)  # fmt: skip
def test_what_the_system_says_of_a_port_is_said_in_words(error: Exception, text: str) -> None:
    assert said(error) == text


async def test_a_second_writer_is_told_who_has_the_port(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        with pytest.raises(PortBusyError, match=r"^another program uses it: stop that one, or the running hearth"):
            await Port.open(str(board.path))

        assert (await link.get(0)).target == 0


async def test_a_port_can_be_opened_again_once_it_is_closed_and_closing_twice_is_fine(board: ScriptedBoard) -> None:
    for _ in range(3):
        async with linked(board) as link:
            await link.close()


async def test_a_file_that_is_no_port_and_a_port_that_is_not_there_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PortError, match=r"^it is no serial port$"):
        await Port.open(str(tmp_path / "file"))
    with pytest.raises(PortError, match=r"^it is not there$"):
        await Port.open(str(tmp_path / "none"))


async def test_f22_it_works_wherever_it_is_started_and_leaves_no_file_there(
    board: ScriptedBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that cannot be written to, as under systemd."""
    (tmp_path / "here").mkdir(mode=0o555)
    monkeypatch.chdir(tmp_path / "here")
    async with bench(board.path, LAMP) as made:
        assert (await made.driver.move(LAMP, Change(on=True, brightness=40))).brightness == 40

    assert os.listdir(tmp_path / "here") == []


@pytest.mark.parametrize("module", [None, types.ModuleType("serial")], ids=["missing", "another of that name"])
async def test_f22_without_the_right_pyserial_that_is_said_and_nothing_stands_in_for_it(
    board: ScriptedBoard,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: types.ModuleType | None,
) -> None:
    """The index has a package "serial" too, which has the same name for another thing."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "serial"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "serial", module)
    for find in (board.path, candidates):
        async with bench(find, LAMP) as made:
            with pytest.raises(NotAvailableError, match=r"pyserial cannot be loaded \(.*\): pip install pyserial"):
                await made.driver.move(LAMP, Change(on=True))

    assert board.raw == b""
    assert "Traceback" not in caplog.text


async def test_f22_a_port_that_its_user_may_not_open_is_said_with_the_cure(board: ScriptedBoard) -> None:
    """As where the unit lacks the group."""
    port = os.path.realpath(board.path)
    await (await Port.open(port)).close()  # also imports what the other user may not read
    os.chmod(port, 0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(PortError, match=r"dialout"):
            await Port.open(port)
    finally:
        os.seteuid(user)


async def test_a_reset_in_the_middle_is_told(board: ScriptedBoard) -> None:
    booted = asyncio.Event()
    async with linked(board, booted=booted.set) as link:
        board.reset()
        await asyncio.wait_for(booted.wait(), WITHIN_S)
        await link.say_hello()

        assert link.hello.boots == HELLO.boots + 1


async def test_f26_a_board_that_the_opening_resets_is_known_by_what_it_says_when_it_starts(
    board: ScriptedBoard,
) -> None:
    """The hello is lost in its bootloader, whose own garbage comes first."""
    board.spoil = once(
        lambda request, answer: b"\x14\x10\0garbage\0" + encode(Frame(0, BootedEvent.TYPE, board.hello.pack())),
        HelloRequest,
    )
    async with linked(board) as link:
        assert link.hello == HELLO
        assert board.requests(HelloRequest) == [HelloRequest()]


async def test_f25_a_greeting_of_ours_that_comes_damaged_is_asked_for_again_where_a_foreign_one_is_not(
    board: ScriptedBoard,
) -> None:
    """Else one turned bit at the start would take the board for foreign until it is plugged in anew."""
    board.spoil = once(lambda request, answer: answer[:-3] + b"\1\1\0", HelloRequest)
    finder = Finder(lambda: [Candidate(str(board.path), usb="1a86:7523")], hello_wait_s=0.5)
    with pytest.raises(NoBoardError, match="what the board says of itself comes damaged"):
        await finder.open()
    link = await finder.open()
    await link.close()

    assert link.hello == HELLO


async def test_f25_a_board_of_another_version_is_taken_once_it_has_its_firmware_and_is_not_reset_meanwhile(
    tmp_path: Path,
) -> None:
    """It is one of ours, so it is asked again where it is; DTR stays up, so that asking makes no lamp blink."""
    with scripted_board(tmp_path / "tty", replace(HELLO, protocol=2)) as board:
        finder = Finder(lambda: [Candidate(str(board.path), usb="1a86:7523")], hello_wait_s=WITHIN_S)
        with pytest.raises(NoBoardError, match="speaks version 2"):
            await finder.open()
        with serial.Serial(str(board.path)) as port:
            flags = termios.tcgetattr(port.fileno())[2]
        board.hello = HELLO
        link = await finder.open()
        await link.close()

    assert not flags & termios.HUPCL
    assert link.hello == HELLO


async def test_an_answer_to_a_link_before_is_not_taken_for_one_to_this(board: ScriptedBoard) -> None:
    """A board that had hung, or a slow cable, gives it to whoever opens the port next."""
    late: list[bytes] = []

    def keep(request: Message, answer: bytes) -> bytes | None:
        late.append(answer)
        return answer

    board.spoil = keep
    async with linked(board) as link:
        await link.get(0)
    old = list(late)
    board.levels[0] = 400
    board.spoil = lambda request, answer: b"".join(old) + answer
    async with linked(board) as link:
        assert (await link.get(0)).target == 400


async def test_f26_closing_the_port_leaves_dtr_so_that_the_next_start_resets_nothing(board: ScriptedBoard) -> None:
    async with linked(board) as link:
        flags = termios.tcgetattr(link._port._device.fileno())[2]

    assert not flags & termios.HUPCL


async def test_a_board_of_another_version_is_refused_with_both_versions(tmp_path: Path) -> None:
    with scripted_board(tmp_path / "tty", replace(HELLO, protocol=2)) as board:
        with pytest.raises(ForeignError, match=r"speaks version 2 .* this Hearth version 1: hearth board flash"):
            async with linked(board):
                pass
        assert [frame.type for frame in board.heard] == [HelloRequest.TYPE]


@pytest.mark.parametrize(("says", "text"), [(b"", "nothing answers there"), (b"\xfe\0\x11\x46\0", "no Hearth board")])
async def test_f25_a_foreign_device_is_sent_one_hello_and_never_again(tmp_path: Path, says: bytes, text: str) -> None:
    """As long as it stays plugged in: a Zigbee stick has the USB id of many boards."""
    path = tmp_path / "ttyACM0"
    with foreign_device(path, says) as got:
        finder = Finder(lambda: [Candidate(str(path), usb="1a86:7523")], hello_wait_s=1.5)
        for _ in range(3):
            with pytest.raises(NoBoardError, match=text):
                await finder.open()

    sent = b"".join(got)
    assert [(each.type, each.body) for each in Decoder().feed(sent)] == [(HelloRequest.TYPE, b"")]
    assert len(sent) == 8


async def test_f25_of_two_ports_the_one_with_our_board_is_taken(tmp_path: Path) -> None:
    with foreign_device(tmp_path / "ttyACM0"), scripted_board(tmp_path / "ttyUSB0") as board:
        found = [Candidate(str(tmp_path / name), usb="1a86:7523") for name in ("ttyACM0", "ttyUSB0")]
        link = await Finder(lambda: found, hello_wait_s=1.5).open()
        await link.close()

    assert link.path == str(board.path)


async def test_the_board_that_the_settings_name_is_taken_and_no_other(board: ScriptedBoard) -> None:
    finder = Finder(lambda: [Candidate(str(board.path), named=True)], board="00000000000000ff")
    with pytest.raises(NoBoardError, match="the board 0123456789abcdef is there, and not 00000000000000ff"):
        await finder.open()


def test_f25_only_ports_with_a_fitting_usb_id_are_candidates_and_by_id_where_there_is_a_link(tmp_path: Path) -> None:
    ports = [("ttyUSB0", 0x1A86, 0x7523), ("ttyUSB1", 0x10C4, 0xEA60), ("ttyACM0", 0x2341, 0x0043),
             ("ttyACM1", 0x0403, 0x6015)]  # fmt: skip
    (tmp_path / "by-id").mkdir()
    for name, *_ in ports:
        (tmp_path / name).touch()
    (tmp_path / "by-id" / "usb-1a86_USB_Serial-if00-port0").symlink_to(tmp_path / "ttyUSB0")

    found = candidates(None, lambda: [(str(tmp_path / name), *ids) for name, *ids in ports], tmp_path / "by-id")

    assert [(each.path, each.usb) for each in found] == [
        (str(tmp_path / "ttyACM0"), "2341:0043"),
        (str(tmp_path / "by-id" / "usb-1a86_USB_Serial-if00-port0"), "1a86:7523"),
    ]


def test_a_port_that_the_settings_name_is_the_only_candidate() -> None:
    assert candidates(Path("/dev/ttyS9"), lambda: [("x", 0x1A86, 0x7523)]) == [Candidate("/dev/ttyS9", named=True)]


async def test_one_percent_of_bytes_damaged_each_way_never_makes_a_set_half_believed(board: ScriptedBoard) -> None:
    """A set is confirmed, and then the board has it; or it fails, and says so."""
    chance, sending, receiving = (random.Random(seed) for seed in (5, 6, 7))

    def noisy(data: bytes, chance: random.Random) -> bytes:
        return bytes(each ^ 1 << chance.randrange(8) if chance.random() < 0.01 else each for each in data)

    confirmed = failed = 0
    async with linked(board) as link:
        board.spoil = lambda request, answer: noisy(answer, receiving)
        write = link._port.write

        async def write_noisily(data: bytes) -> None:
            await write(noisy(data, sending))

        link._port.write = write_noisily  # type: ignore[method-assign]
        link._wait = 0.1
        for number in range(60):
            level = chance.randrange(1001)
            try:
                await link.set(number % 6, level)
            except LinkError:
                failed += 1
                if link.failed:
                    break
            else:
                confirmed += 1
                assert board.levels[number % 6] == level

    assert confirmed > 0
    assert confirmed + failed > 0


LAMP = Device("lamp", "desk lamp", Kind.LIGHT, can=("brightness",), options=SerialOptions(channel=0))
PUMP = Device("pump", "pump", Kind.SWITCH, options=SerialOptions(relay=1))
ONE_LAMP: dict[str, Any] = {"device": [{"name": "desk lamp", "kind": "light", "serial": {"channel": 0}}]}
DOOR = Device("contact", "mailbox", Kind.DETECTOR, measures="mail", options=SerialOptions(input=1))


@pytest.mark.parametrize("percent", [1, 40, 99, 100])
async def test_f9_a_lamp_is_set_to_its_brightness_and_tells_the_same(board: ScriptedBoard, percent: int) -> None:
    async with bench(board.path, LAMP) as made:
        state = await made.driver.move(LAMP, Change(on=True, brightness=percent))

    assert board.levels[0] == percent * 10
    assert made.driver._bright["lamp"] == state.brightness == percent
    assert state == State(on=True, brightness=percent)
    assert board.requests(SetRequest)[-1].fade == 40


async def test_a_lamp_that_is_turned_off_and_on_has_the_brightness_that_it_had(board: ScriptedBoard) -> None:
    async with bench(board.path, LAMP) as made:
        await made.driver.move(LAMP, Change(on=True, brightness=30))
        off = await made.driver.move(LAMP, Change(on=False))
        on = await made.driver.move(LAMP, Change(on=True))

    assert off == State(on=False, brightness=30)
    assert on == State(on=True, brightness=30)
    assert [each.level for each in board.requests(SetRequest)] == [300, 0, 300]


async def test_a_relay_is_switched_after_the_dimmable_channels_and_without_a_fade(board: ScriptedBoard) -> None:
    async with bench(board.path, PUMP) as made:
        state = await made.driver.move(PUMP, Change(on=True))

    assert state == State(on=True)
    assert board.requests(SetRequest) == [SetRequest(7, 1000, 0)]


async def test_f23_a_start_moves_nothing_and_tells_how_the_board_is(board: ScriptedBoard) -> None:
    board.levels[0], board.levels[7] = 250, 1000
    async with bench(board.path, LAMP, PUMP) as made:
        await made.until_connected()

    assert made.states["lamp"] == replace(State(on=True, brightness=25), available=made.states["lamp"].available)
    assert made.states["pump"].on is True
    assert board.requests(SetRequest) == []


async def test_the_board_is_told_what_it_does_without_us(board: ScriptedBoard) -> None:
    """A lamp comes back as it was and a pump stays off, unless the settings say otherwise."""
    lamp = replace(LAMP, options=SerialOptions(channel=3, safe=20, boot="safe"))
    async with bench(board.path, LAMP, PUMP, lamp, silence_s=30) as made:
        await made.until_connected()

    assert board.silence == 300
    told = {channel: (each.safe_level, BootLevel(each.boot_level)) for channel, each in board.safe.items()}
    assert told == {0: (0, BootLevel.LAST), 7: (0, BootLevel.OFF), 3: (200, BootLevel.SAFE)}


async def test_f25_a_lamp_is_as_it_was_after_the_board_was_unplugged_and_came_back_at_another_port(
    tmp_path: Path,
) -> None:
    ports = [Candidate(str(tmp_path / name)) for name in ("ttyACM0", "ttyACM1")]
    with scripted_board(tmp_path / "ttyACM0") as board:
        async with bench(lambda: ports, LAMP, PUMP) as made:
            await made.driver.move(LAMP, Change(on=True, brightness=60))
            await made.driver.move(PUMP, Change(on=True))
            board.unplug()
            await made.until(lambda: not made.states["lamp"].available)
            with pytest.raises(NotAvailableError, match="is not available: no connection to the board"):
                await made.driver.move(LAMP, Change(on=False))
            board.levels = [0] * 8
            board.hello = replace(board.hello, boots=99)
            board.plug(tmp_path / "ttyACM1")
            await made.until_connected()

        # The pump's policy is off, and power was away.
        assert board.levels == [600, 0, 0, 0, 0, 0, 0, 0]
        assert made.driver._levels == {0: 600, 7: 0}


@pytest.mark.parametrize("says_so", [True, False])
async def test_f26_a_reset_is_noticed_and_the_levels_are_sent_again(board: ScriptedBoard, says_so: bool) -> None:
    """By what the board says when it starts; or, where that is lost, by its count of boots."""
    async with bench(board.path, LAMP) as made:
        await made.driver.move(LAMP, Change(on=True, brightness=60))
        if says_so:
            board.reset([0] * 8)
        else:
            board.levels = [0] * 8
            board.hello = replace(board.hello, boots=board.hello.boots + 1)
        await made.until(lambda: board.levels[0] == 600)
        await made.until(lambda: made.driver._boots == board.hello.boots)

    assert len(board.requests(SetRequest)) == 2


async def test_channels_that_fell_to_their_safe_level_while_we_were_silent_are_brought_back(
    board: ScriptedBoard,
) -> None:
    async with bench(board.path, LAMP, PUMP) as made:
        await made.driver.move(LAMP, Change(on=True, brightness=60))
        await made.driver.move(PUMP, Change(on=True))
        board.levels = [0] * 8
        await made.until(lambda: board.levels[0] == 600 and board.levels[7] == 1000)


async def test_a_hung_board_is_not_believed_and_is_found_again_when_it_is_well(board: ScriptedBoard) -> None:
    async with bench(board.path, LAMP, reply_timeout_s=0.5) as made:
        await made.driver.move(LAMP, Change(on=True, brightness=60))
        board.spoil = lambda request, answer: None
        with pytest.raises((NotConfirmedError, NotAvailableError)):
            await made.driver.move(LAMP, Change(on=True, brightness=20))
        await made.until(lambda: not made.states["lamp"].available)
        board.spoil = lambda request, answer: answer
        await made.until_connected()

        # What was done to it by the commands that it did not answer is what it now tells.
        assert made.states["lamp"].brightness == board.levels[0] / 10


async def test_a_command_that_was_not_confirmed_is_not_sent_again_later(board: ScriptedBoard) -> None:
    async with bench(board.path, LAMP, reply_timeout_s=0.5) as made:
        await made.until_connected()
        heard: list[Message] = []

        def spoil(request: Message, answer: bytes) -> bytes | None:
            if isinstance(request, SetRequest):
                heard.append(request)
                board.levels[0] = 0  # it never reached the lamp
                return None
            return answer

        board.spoil = spoil
        with pytest.raises(NotConfirmedError, match=r"^did not confirm it: the board does not answer$"):
            await made.driver.move(LAMP, Change(on=True, brightness=20))
        sent, looks = len(heard), len(board.requests(GetAllRequest))
        await made.until(lambda: len(board.requests(GetAllRequest)) > looks)
        await made.until_connected()

        assert len(heard) == sent
        assert made.states["lamp"].on is False


async def test_a_command_that_is_given_up_half_way_is_not_undone_later(board: ScriptedBoard) -> None:
    """The tool's time was over, or whoever asked is gone: what the board then tells is what counts."""
    async with bench(board.path, LAMP) as made:
        await made.driver.move(LAMP, Change(on=True, brightness=60))
        asked = len(board.requests(SetRequest))
        board.spoil = lambda request, answer: None if isinstance(request, SetRequest) else answer
        moving = asyncio.create_task(made.driver.move(LAMP, Change(on=True, brightness=20)))
        await made.until(lambda: len(board.requests(SetRequest)) > asked)
        moving.cancel()
        await asyncio.gather(moving, return_exceptions=True)
        asked = len(board.requests(SetRequest))
        await made.until(lambda: made.states["lamp"].brightness == 20)

        assert len(board.requests(SetRequest)) == asked
        assert board.levels[0] == 200


async def test_a_question_right_after_the_start_waits_for_the_board(board: ScriptedBoard) -> None:
    """Here it is reset by its port being opened, and takes a second until it has started."""
    board.levels[0] = 400
    board.spoil = once(lambda request, answer: (time.sleep(1), answer)[1], HelloRequest)  # in the board's own thread
    async with open_house(ONE_LAMP | {"serial": {"port": str(board.path)}}) as house:
        tools = {tool.name: tool for tool in house.tools}
        told = await asyncio.gather(
            call(tools["get_state"], device="desk lamp"),
            call(tools["list_devices"], kind="light", state="on"),
            call(tools["brighten_light"], room="desk lamp"),
        )

    assert (told[0]["state"], told[0]["brightness"]) == ("on", 40)
    assert told[1]["devices"] == ["desk lamp"]
    assert told[2]["brightness"] == board.levels[0] / 10 > 40


async def test_a_question_without_a_board_waits_for_nothing(tmp_path: Path) -> None:
    """Nor does one about a lamp that hangs elsewhere, while the board is still being opened."""
    other = {"name": "floor lamp", "kind": "light", "memory": {"on": True}}
    with foreign_device(tmp_path / "tty"):
        settings = {"serial": {"port": str(tmp_path / "tty")}, "device": [*ONE_LAMP["device"], other]}
        async with open_house(settings) as house:
            tools = {tool.name: tool for tool in house.tools}
            floor = asyncio.create_task(call(tools["get_state"], device="floor lamp"))
            desk = asyncio.create_task(call(tools["get_state"], device="desk lamp"))
            done, _ = await asyncio.wait((floor, desk), return_when=asyncio.FIRST_COMPLETED)

            assert done == {floor}
            assert (await floor)["state"] == "on"
            assert (await desk)["available"] is False
            begun = time.monotonic()
            assert (await call(tools["get_state"], device="desk lamp"))["available"] is False
            assert time.monotonic() - begun < 3


async def test_a_refused_command_is_said_and_the_link_goes_on(board: ScriptedBoard) -> None:
    odd = replace(PUMP, can=("brightness",))
    async with bench(board.path, odd, LAMP) as made:
        with pytest.raises(DeviceError, match=r"^was not moved: the board refused it: the value is out of range"):
            await made.driver.move(odd, Change(on=True, brightness=50))

        assert (await made.driver.move(LAMP, Change(on=True))).on is True


async def test_a_device_that_hangs_on_what_the_board_has_not_is_said_by_name(board: ScriptedBoard) -> None:
    far = Device("far", "far lamp", Kind.LIGHT, options=SerialOptions(channel=6))
    async with bench(board.path, LAMP, far) as made:
        with pytest.raises(NotAvailableError, match="the board has no channel 6, but 6 from 0 on"):
            await made.driver.move(far, Change(on=True))

        assert made.driver.health() == '"far lamp": the board has no channel 6, but 6 from 0 on'
        assert await made.driver.probe() == [f"{made.driver.health()}: see docs/serial.md"]
        assert (await made.driver.move(LAMP, Change(on=True))).on is True


async def test_inputs_tell_detectors_and_buttons(board: ScriptedBoard) -> None:
    board.bits = 2
    presses: list[tuple[str, Press]] = []
    button = WiredButton("hall_button", "hall button", SerialButton(input=2))
    async with bench(board.path, DOOR) as made:
        made.driver.listen([button], lambda button, press: presses.append((button, press)))
        await made.until_connected()

        assert made.states["contact"].detected is True
        board.press(1, WirePress.RELEASED)
        board.bits = 4
        for press in (WirePress.PRESSED, WirePress.RELEASED, WirePress.SHORT, WirePress.PRESSED, WirePress.LONG):
            board.press(2, press)
        await made.until(lambda: len(presses) == 5)
        await made.until(lambda: made.states["contact"].detected is False)

    assert presses == [("hall_button", press) for press in ("pressed", "released", "short", "pressed", "long")]


@pytest.mark.parametrize("unplugged", [False, True])
async def test_a_button_whose_release_is_lost_does_not_stay_held(board: ScriptedBoard, unplugged: bool) -> None:
    """Who holds it to talk must not be heard for ever."""
    presses: list[Press] = []
    button = WiredButton("hall_button", "hall button", SerialButton(input=2))
    async with bench(board.path) as made:
        made.driver.listen([button], lambda button, press: presses.append(press))
        await made.until_connected()
        board.bits = 4
        board.press(2, WirePress.PRESSED)
        await made.until(lambda: presses == ["pressed"])
        if unplugged:
            board.unplug()
        board.bits = 0
        await made.until(lambda: presses == ["pressed", "released"])


async def test_a_button_on_the_board_toggles_a_lamp_on_the_board_and_the_house_tells_both(board: ScriptedBoard) -> None:
    settings = {
        "serial": {"port": str(board.path)},
        "device": [{"name": "desk lamp", "kind": "light", "serial": {"channel": 0}}],
        "button": [{"name": "hall button", "toggle": "desk lamp", "serial": {"input": 2}}],
    }
    told: list[tuple[str, str]] = []
    async with open_house(settings) as house, asyncio.timeout(WITHIN_S):
        async for event in house.events():
            told.append((event.device, event.state["state"]))
            if told[-1] == ("desk_lamp", "off"):
                board.press(2, WirePress.SHORT)
            if told[-1] == ("desk_lamp", "on"):
                break

    assert ("hall_button", "short") in told
    assert board.levels[0] == 1000


async def test_a_new_board_is_given_an_id_once(tmp_path: Path) -> None:
    with scripted_board(tmp_path / "tty", replace(HELLO, board_id=bytes(8))) as board:
        for _ in range(2):
            async with bench(board.path, LAMP) as made:
                await made.until_connected()
            first = board.hello.board_id

    assert any(first)
    assert len([frame for frame in board.heard if frame.type == 0x09]) == 1


async def test_the_trouble_is_logged_once_and_not_at_every_try(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    tries: list[int] = []

    def find() -> list[Candidate]:
        tries.append(1)
        return [Candidate(str(tmp_path / "none"), named=True)]

    async with bench(find, LAMP) as made:
        await made.until(lambda: len(tries) > 4)

    assert len([record for record in caplog.records if "no connection to the board" in record.message]) == 1
    assert made.driver.health() == f"no connection to the board ({tmp_path}/none: it is not there)"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"serial": {}}, "a light needs one of the keys channel and relay"),
        ({"serial": {"channel": 0, "relay": 0}}, "a light needs one of the keys channel and relay"),
        ({"serial": {"input": 0}}, "a light needs one of the keys channel and relay"),
        ({"serial": {"relay": 0}}, r"a relay cannot dim: say can = \[\], or use a channel"),
        ({"can": [], "serial": {"relay": 0, "safe": 50}}, "safe is 50; a relay takes 0 or 100"),
        ({"can": ["color"], "serial": {"channel": 0}}, "the board cannot give a light color"),
        ({"kind": "fan", "can": ["speed"], "serial": {"channel": 0}}, "the board cannot give a fan speed"),
        ({"kind": "blind", "serial": {"relay": 0}}, "this is a blind"),
        ({"kind": "lock", "serial": {"relay": 0}}, "this is a lock"),
        ({"kind": "detector", "measures": "motion", "serial": {"relay": 0}}, "a detector needs the key input"),
        ({"serial": {"channel": 0, "fade_s": 601}}, "fade_s is 601; allowed is 0 to 600"),
        ({"serial": {"channel": 0, "boot": "keep"}}, "boot is 'keep'; allowed are off, safe, last"),
        ({"serial": {"chanel": 0}}, "did you mean channel"),
    ],
)
def test_a_wrong_device_is_said(keys: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        check_settings({"device": [{"name": "lamp", "kind": "light", **keys}]})


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"board": "12"}, "board is '12'; it must be 16 digits"),
        ({"silence_s": 0.5}, "silence_s is 0.5; allowed is 0, or 1 to 6553"),
        ({"port": ""}, "port is ''; it must not be empty"),
    ],
)
def test_wrong_settings_of_the_board_are_said(keys: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError, match=text):
        check_settings({"serial": keys, "device": [{"name": "lamp", "kind": "light", "serial": {"channel": 0}}]})
