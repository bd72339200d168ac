"""The serial driver as it ships with the real image, over a cable on which everything goes wrong.

Also what `make hil PORT=...` runs on a real board, but for what is marked. Field faults: F9 (each percentage is
confirmed, told, and the duty of the pin), F23 (power was away), F25 (unplugged, at another port, beside foreign
devices), F26 (resets, a bootloader).
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import serial

from agent import cli
from tests.hil import rounds
from tests.hil.board import EmulatedBoard, Images, RealBoard
from tests.hil.rounds import DEVICES, LAMPS, LOOK_S, RELAYS, Rounds
from tests.hil.soak import counted_frames, soak
from tests.homes import call
from tests.scripted_board import foreign_device
from tests.serial_bench import Bench, bench
from tools import open_house
from tools.device import Change, Device, State
from tools.drivers import DeviceError, NotAvailableError, NotConfirmedError
from tools.drivers.serial.codec import Decoder
from tools.drivers.serial.finding import candidates
from tools.drivers.serial.link import Link
from tools.drivers.serial.options import SerialOptions
from tools.drivers.serial.port import Port, PortBusyError
from tools.drivers.serial.protocol import BAUD, HelloAnswer, HelloRequest

Wired = EmulatedBoard | RealBoard

LAMP, PUMP = LAMPS[0], RELAYS[0]
LAMP_CHANNEL, PUMP_CHANNEL = 0, 6
WITHIN_S = 30.0
SOON_S = 0.3
"""How long an answer is waited for where many are lost; what a busy machine keeps longer is only asked for again."""

hands = pytest.mark.emulated("hands at the cable")
noise = pytest.mark.emulated("a cable with errors on command, and an eye on the pins")
hang = pytest.mark.emulated("a board that hangs on command")


async def hello(board: Wired) -> HelloAnswer:
    """What the board says of itself, to another program than the driver."""
    link = Link(await Port.open(str(board.tty)))
    try:
        return await link.greet(WITHIN_S)
    finally:
        await asyncio.sleep(0.05)  # the board counts starts that last so long
        await link.close()
        await asyncio.sleep(0.05)  # the emulator looks once a millisecond whether anybody has the port open


@contextmanager
def opened_by_another(tty: Path) -> Iterator[serial.Serial]:
    """As by a serial monitor, which does not ask for the lock."""
    with serial.Serial(str(tty), BAUD, timeout=0) as port:
        yield port


def push(port: serial.Serial, data: bytes) -> bool:
    """Writes without waiting; False where the port takes no more."""
    try:
        return os.write(port.fileno(), data) > 0
    except BlockingIOError:
        return False


async def go(made: Bench, board: Wired, count: int = 1) -> Rounds:
    """Some rounds."""
    all_of_them = Rounds(made, board, random.Random(count))
    for _ in range(count):
        await all_of_them.go()
    return all_of_them


async def test_f9_each_percentage_is_confirmed_and_told_and_is_the_duty_of_the_pin(wired: Wired) -> None:
    async with bench(wired.tty, *LAMPS) as made:
        for first in range(1, 101, len(LAMPS)):
            some = dict(zip(range(len(LAMPS)), range(first, min(101, first + len(LAMPS))), strict=False))
            for channel, percent in some.items():
                assert await made.move(LAMPS[channel], percent) == State(on=True, brightness=percent)
            for channel, percent in some.items():
                await wired.shows(channel, 10 * percent)


async def test_every_channel_is_switched_and_tells_so(wired: Wired) -> None:
    async with bench(wired.tty, *DEVICES) as made:
        for percent in (100, 0):
            for channel, device in enumerate(DEVICES):
                assert (await made.move(device, percent)).on is (percent > 0)
                await wired.shows(channel, 10 * percent)


async def test_a_lamp_fades_and_is_confirmed_on_its_way(wired: Wired) -> None:
    slow = replace(LAMP, options=SerialOptions(channel=LAMP_CHANNEL, fade_s=1))
    link = Link(await Port.open(str(wired.tty)))
    try:
        await link.greet(WITHIN_S)
        await link.set(LAMP_CHANNEL, 0)
    finally:
        await link.close()
    async with bench(wired.tty, slow) as made:
        assert await made.move(slow, 100) == State(on=True, brightness=100)
    link = Link(await Port.open(str(wired.tty)))
    try:
        await link.greet(WITHIN_S)
        await wired.shows(LAMP_CHANNEL, 1000)
        told = await link.get(LAMP_CHANNEL)
    finally:
        await link.close()

    assert told.target == 1000


async def test_f26_a_program_that_opens_the_port_resets_the_board_and_its_lamps_stay(wired: Wired) -> None:
    async with bench(wired.tty, *DEVICES) as made:
        await made.move(LAMP, 40)
        await made.move(PUMP, 100)
    boots = (await hello(wired)).boots
    with opened_by_another(wired.tty) as port:
        await asyncio.sleep(0.1)
        with suppress(OSError):  # a pty has no DTR: there the opening itself was the reset
            port.dtr = False
            await asyncio.sleep(0.1)
            port.dtr = True
    after = await hello(wired)
    async with bench(wired.tty, *DEVICES) as made:
        await made.until_connected()
        await made.until(lambda: made.states[LAMP.id].available)

        assert made.states[LAMP.id] == State(on=True, brightness=40)
        assert made.states[PUMP.id] == State(on=True)
        await wired.shows(LAMP_CHANNEL, 400)
        await wired.shows(PUMP_CHANNEL, 1000)
    assert after.boots != boots, "no reset: this board's DTR does not lead to its reset pin"


async def test_a_lamp_falls_to_its_safe_level_when_hearth_is_gone_and_that_is_what_hearth_then_tells(
    wired: Wired,
) -> None:
    safe = replace(LAMP, options=SerialOptions(channel=LAMP_CHANNEL, fade_s=0, safe=20))
    async with bench(wired.tty, safe, silence_s=1) as made:
        await made.move(safe, 80)
        await wired.shows(LAMP_CHANNEL, 800)
    if isinstance(wired, RealBoard):
        await asyncio.sleep(2)  # whoever asked would not be silent
    await wired.shows(LAMP_CHANNEL, 200)
    async with bench(wired.tty, safe) as made:
        await made.until_connected()

        assert made.states[safe.id].brightness == 20


async def test_a_flood_moves_no_lamp_and_each_set_in_it_is_confirmed_or_fails(wired: Wired) -> None:
    """Garbage, pieces of frames and whole requests, by a program that does not ask for the lock."""
    chance = random.Random(22)
    hello_frame = bytes.fromhex("00 02 04 07 01") + b"\0"  # its checksum is wrong
    async with bench(wired.tty, *DEVICES, look_s=LOOK_S, within_s=60, reply_timeout_s=SOON_S) as made:
        await go(made, wired)
        with opened_by_another(wired.tty) as port:

            async def flood() -> None:
                while True:
                    push(port, chance.randbytes(30) + hello_frame * chance.randrange(4))
                    await asyncio.sleep(0.015)  # about half of what the line takes

            flooding = asyncio.create_task(flood())
            in_it = await go(made, wired, 3)
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
            while push(port, chance.randbytes(1000)):
                pass
            full = await go(made, wired)
        await full.tells_the_truth()
        after = await settled(made, wired)

    assert in_it.half_believed + full.half_believed + after.half_believed == []
    assert in_it.confirmed > 0
    if isinstance(wired, EmulatedBoard):
        assert wired.state()["watchdog_resets"] == 0


async def settled(made: Bench, board: Wired) -> Rounds:
    """The first round in which every set is confirmed, as on a line that is well again."""
    async with asyncio.timeout(60):
        while True:
            after = await go(made, board)
            if not after.failed or after.half_believed:
                return after


async def test_a_second_hearth_is_told_who_has_the_port_and_the_first_goes_on(
    wired: Wired, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hearth.toml").write_text("", encoding="utf-8")
    command = ["board", "--config", str(tmp_path / "hearth.toml"), "set", "0", "10", "--port", str(wired.tty)]
    async with bench(wired.tty, *DEVICES, look_s=LOOK_S) as made:
        await made.move(LAMP, 40)
        with pytest.raises(PortBusyError):
            await Port.open(str(wired.tty))
        status = await asyncio.to_thread(cli.main, command)
        after = await go(made, wired)

    assert status == 1
    assert "another program uses it: stop that one, or the running hearth service" in capsys.readouterr().err
    assert (after.failed, after.half_believed) == (0, [])


async def test_with_a_second_writer_that_also_takes_answers_away_each_set_is_confirmed_or_fails(wired: Wired) -> None:
    chance = random.Random(23)
    async with bench(wired.tty, *DEVICES, look_s=LOOK_S, within_s=60, reply_timeout_s=SOON_S) as made:
        await go(made, wired)
        with opened_by_another(wired.tty) as port:

            async def meddle() -> None:
                while True:
                    push(port, chance.randbytes(3))
                    port.read(64)
                    await asyncio.sleep(chance.uniform(0.01, 0.1))

            meddling = asyncio.create_task(meddle())
            meddled = await go(made, wired, 3)
            meddling.cancel()
            await asyncio.gather(meddling, return_exceptions=True)
        after = await settled(made, wired)

    assert meddled.half_believed + after.half_believed == []
    assert meddled.confirmed + meddled.failed == 3 * len(DEVICES)


def test_hearth_board_finds_sets_and_tells(
    wired: Wired, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hearth.toml").write_text(f'[tools.serial]\nport = "{wired.tty}"\n', encoding="utf-8")
    before = ["board", "--config", str(tmp_path / "hearth.toml")]

    assert cli.main([*before, "list"]) == 0
    assert "6 dimmable channels, 2 relays, 4 inputs" in capsys.readouterr().out
    assert cli.main([*before, "set", "1", "30"]) == 0
    assert capsys.readouterr().out == "channel 1: 30 percent\n"
    assert cli.main([*before, "info"]) == 0
    assert "channel 1: 30 percent\n" in capsys.readouterr().out


@noise
async def test_one_percent_of_bytes_spoilt_each_way_never_makes_a_set_half_believed(board: EmulatedBoard) -> None:
    """The pins are compared; when the line is well again, every set is confirmed."""
    made = await soak(board, frames=150, per_million=10_000, seed=6)

    assert made.half_believed == []
    assert made.confirmed > 0
    assert board.state()["turned"] > 0


@noise
async def test_what_was_half_believed_would_be_found(board: EmulatedBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that says that it is done, and does nothing: the tests here would fail."""
    monkeypatch.setattr(rounds, "CONFIRMED_WITHIN_S", 0.2)
    async with bench(board.tty, *DEVICES) as made:

        async def lie(device: Device, change: Change) -> State:
            return State(on=change.on, brightness=change.brightness)

        monkeypatch.setattr(made.driver, "move", lie)
        lied = await go(made, board)

    assert len(lied.half_believed) > 3


@pytest.mark.emulated("a reset in the middle of a frame on command")
async def test_f26_resets_in_the_middle_of_frames_leave_each_set_confirmed_or_failed(board: EmulatedBoard) -> None:
    chance = random.Random(26)
    async with bench(board.tty, *DEVICES, look_s=LOOK_S, within_s=60, reply_timeout_s=SOON_S) as made:
        await go(made, board)
        resets = board.state()["external_resets"]

        async def reset() -> None:
            while True:
                await asyncio.sleep(chance.uniform(0.05, 0.6))
                board.do("reset")

        resetting = asyncio.create_task(reset())
        shaken = await go(made, board, 4)
        while board.state()["external_resets"] < resets + 5:
            await shaken.go()
        resetting.cancel()
        await asyncio.gather(resetting, return_exceptions=True)
        after = await settled(made, board)

    assert shaken.half_believed + after.half_believed == []
    assert shaken.confirmed > 0


@hands
@pytest.mark.parametrize("other", [False, True], ids=["same port", "another port"])
async def test_f25_a_board_that_was_unplugged_is_found_again_and_its_lamp_is_as_it_was(
    board: EmulatedBoard, tmp_path: Path, other: bool
) -> None:
    """Beside it are a foreign device with the USB id of such boards, and one with another; both from the first boot."""
    usb = {board.tty: (0x1A86, 0x7523), tmp_path / "ttyUSB9": (0x1A86, 0x7523)}
    usb |= {tmp_path / "ttyACM0": (0x1A86, 0x7523), tmp_path / "ttyACM1": (0x10C4, 0xEA60)}

    def ports() -> list[tuple[str, int, int]]:
        return [(str(path), *ids) for path, ids in usb.items() if path.is_symlink()]

    with foreign_device(tmp_path / "ttyACM0", b"\xfe\0") as alike, foreign_device(tmp_path / "ttyACM1") as foreign:
        async with bench(lambda: candidates(None, ports), *DEVICES, within_s=60) as made:
            await made.move(LAMP, 60)
            await made.move(PUMP, 100)
            board.do("unplug")
            await made.until(lambda: not made.states[LAMP.id].available)
            with pytest.raises(NotAvailableError, match="is not available: no connection to the board"):
                await made.move(LAMP, 10)
            board.do(f"plug {tmp_path / 'ttyUSB9'}" if other else "plug")
            await made.until(lambda: made.states[LAMP.id].available)
            await board.shows(LAMP_CHANNEL, 600)
            await board.shows(PUMP_CHANNEL, 0)  # power was away, and its policy is off

            assert made.states[LAMP.id] == State(on=True, brightness=60)
            assert made.states[PUMP.id] == State(on=False)
            assert (await go(made, board)).half_believed == []
        assert foreign == []
        assert len(b"".join(alike)) == 8  # one hello


@hands
async def test_f25_a_board_that_comes_back_is_found_within_five_seconds_with_the_waits_of_a_house(
    board: EmulatedBoard,
) -> None:
    """Also after it was away for so long that the waits are at their longest."""
    settings = {"serial": {"port": str(board.tty)}, "device": [HOUSE_LAMP]}
    async with open_house(settings) as house:
        await board.until(lambda: house.health()["serial"] == "ok")
        board.do("unplug")
        await board.until(lambda: house.health()["serial"] != "ok")
        await asyncio.sleep(4)  # by now it waits as long as it ever does
        board.do("plug")
        begun = time.monotonic()
        await board.until(lambda: house.health()["serial"] == "ok")

    assert time.monotonic() - begun < 5


HOUSE_LAMP = {"name": "desk lamp", "kind": "light", "serial": {"channel": LAMP_CHANNEL}}


@pytest.mark.emulated("a bootloader that is known to wait")
async def test_f26_a_question_right_after_the_start_waits_for_a_board_in_its_bootloader(
    made: Images, tmp_path: Path
) -> None:
    """The opened port resets it, and the hello is lost on its bootloader."""
    with EmulatedBoard(made, tmp_path, reset_on_open=True, bootloader_ms=1000) as board:
        async with bench(board.tty, LAMP) as one:
            await one.move(LAMP, 40)
        async with open_house({"serial": {"port": str(board.tty)}, "device": [HOUSE_LAMP]}) as house:
            tools = {tool.name: tool for tool in house.tools}
            told = await call(tools["get_state"], device="desk lamp")

        assert (told["state"], told["brightness"]) == ("on", 40)
        await board.shows(LAMP_CHANNEL, 400)


@hang
async def test_f26_a_hung_board_is_ended_by_its_watchdog_and_its_lamps_stay(board: EmulatedBoard) -> None:
    async with bench(board.tty, *DEVICES, reply_timeout_s=SOON_S) as made:
        await made.move(LAMP, 60)
        await board.shows(LAMP_CHANNEL, 600)
        board.do("hang")
        await board.until(lambda: board.state()["watchdog_resets"] == 1)
        after = await settled(made, board)
        assert after.half_believed == []
        await made.move(LAMP, 30)
        await board.shows(LAMP_CHANNEL, 300)


@hang
async def test_a_board_that_stands_still_is_not_believed_and_tells_the_truth_when_it_goes_on(
    board: EmulatedBoard,
) -> None:
    """It then does what had waited for it, and answers that: no answer is taken for one to a later request."""
    async with bench(board.tty, *DEVICES, look_s=LOOK_S, within_s=60, reply_timeout_s=SOON_S) as made:
        seen = await go(made, board)
        board.do("freeze")
        with pytest.raises(NotConfirmedError, match="did not confirm it"):
            await made.move(LAMP, 20)
        with pytest.raises(DeviceError):
            await made.move(LAMPS[1], 30)
        board.do("thaw")
        await seen.tells_the_truth()
        after = await settled(made, board)

    assert seen.half_believed + after.half_believed == []


@pytest.mark.emulated("a cable that is cut in one direction")
async def test_a_line_that_is_cut_lets_a_lamp_fall_to_its_safe_level_and_brings_it_back_afterwards(
    board: EmulatedBoard,
) -> None:
    safe = replace(LAMP, options=SerialOptions(channel=LAMP_CHANNEL, fade_s=0, safe=20))
    async with bench(board.tty, safe, silence_s=1, within_s=60, reply_timeout_s=SOON_S) as made:
        await made.move(safe, 80)
        await board.shows(LAMP_CHANNEL, 800)
        board.do("drop 4000000000")
        await board.shows(LAMP_CHANNEL, 200)
        await made.until(lambda: not made.states[safe.id].available)
        board.do("drop 0")
        await board.shows(LAMP_CHANNEL, 800)
        await made.until(lambda: made.states[safe.id] == State(on=True, brightness=80))


@hands
async def test_f23_after_a_loss_of_power_each_is_as_its_policy_says(board: EmulatedBoard) -> None:
    """The cable stays plugged in, so that only the board's count of starts tells of it."""
    async with bench(board.tty, *DEVICES) as made:
        await made.move(LAMP, 60)
        await made.move(PUMP, 100)
        await board.shows(PUMP_CHANNEL, 1000)
        board.do("power")
        await board.shows(PUMP_CHANNEL, 0)
        await board.shows(LAMP_CHANNEL, 600)
        await made.until(lambda: made.states[PUMP.id] == State(on=False))

        assert made.states[LAMP.id] == State(on=True, brightness=60)


@pytest.mark.emulated("firmware of another version")
async def test_a_board_of_another_version_is_said_and_is_sent_hellos_only(made: Images, tmp_path: Path) -> None:
    with EmulatedBoard(made, tmp_path, image=made.other_protocol) as board, counted_frames() as sent:
        async with bench(board.tty, *DEVICES) as one:
            with pytest.raises(NotAvailableError, match=r"speaks version 200 of .*, and this Hearth version 1"):
                await one.move(LAMP, 60)
            await board.until(lambda: len(sent) > 2)  # it may be given its firmware where it is, so it is asked again

        assert {frame.type for each in sent for frame in Decoder().feed(each)} == {HelloRequest.TYPE}
        assert [each["duty"] for each in board.state()["outputs"]] == [0] * len(DEVICES)


@pytest.mark.emulated("an emulator")
def test_on_a_real_board_what_can_be_seen_there_is_run_and_the_rest_is_named(board: EmulatedBoard) -> None:
    """As `make hil` does it, with the emulated board's port for a real one's."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider", __file__]
    chosen = "every_channel or stands_still"
    done = subprocess.run(
        [*command, "-k", chosen],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"HEARTH_PORT": str(board.tty)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "tells_the_truth_when_it_goes_on: it takes a board that hangs on command" in done.stdout


@pytest.mark.emulated("an emulator")
def test_an_emulator_ends_with_its_test_however_that_ends(made: Images, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), EmulatedBoard(made, tmp_path) as board:
        failed = board.process_id
        raise ZeroDivisionError
    with pytest.raises(RuntimeError, match="the emulator did not start"):
        EmulatedBoard(made, tmp_path, image=tmp_path / "none").__enter__()

    with pytest.raises(ProcessLookupError):
        os.kill(failed, 0)
    assert not board.tty.is_symlink()
