"""The release image on the emulated chip: what it does to its pins, to the cycle, and what its resets change."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hil.board import DIM_CHANNELS, NEAR, EmulatedBoard, Images, duty_of
from tests.hil.wire import Host, frame
from tools.drivers.serial.protocol import (
    BootedEvent,
    BootLevel,
    GetAllRequest,
    HelloAnswer,
    HelloRequest,
    InputEvent,
    Press,
    Reason,
    RefusalAnswer,
    ResetCause,
    SafeRequest,
    SetAnswer,
    SetRequest,
    SilenceRequest,
    StatsAnswer,
    StatsRequest,
)

CHANNELS = 8


@pytest.fixture
def host(held_board: EmulatedBoard) -> Iterator[Host]:
    """A host on the board's port, after the board has started."""
    with Host(held_board) as opened:
        opened.run(100)
        yield opened


def hello(host: Host) -> HelloAnswer:
    answer = host.ask(HelloRequest())
    assert isinstance(answer, HelloAnswer)
    return answer


def stats(host: Host) -> StatsAnswer:
    answer = host.ask(StatsRequest())
    assert isinstance(answer, StatsAnswer)
    return answer


def set_level(host: Host, channel: int, level: int, fade: int = 0) -> None:
    assert host.ask(SetRequest(channel, level, fade)) == SetAnswer(channel, 0 if fade else level, level)


def test_the_board_starts_dark_and_says_that_it_has_started(held_board: EmulatedBoard, host: Host) -> None:
    _, booted = host.heard[0]

    assert isinstance(booted, BootedEvent)
    assert booted.reset_cause == ResetCause.POWER_ON
    assert [held_board.duty(channel) for channel in range(CHANNELS)] == [0] * CHANNELS


@pytest.mark.parametrize("level", [1, 10, 100, 400, 500, 990, 1000])
def test_every_channels_pin_has_the_duty_of_its_level(held_board: EmulatedBoard, host: Host, level: int) -> None:
    for channel in range(DIM_CHANNELS):
        set_level(host, channel, level)
    host.run(50)

    for channel in range(DIM_CHANNELS):
        assert held_board.duty(channel) == pytest.approx(duty_of(level, channel), abs=NEAR[channel])


def test_a_duty_whose_low_byte_stays_is_another_duty(held_board: EmulatedBoard, host: Host) -> None:
    """Its compare values are 0x0108 and 0x1C08: simavr alone would see no change."""
    for channel in (0, 1):
        set_level(host, channel, 210)
        host.run(50)
        set_level(host, channel, 950)
    host.run(50)

    for channel in (0, 1):
        assert held_board.duty(channel) == pytest.approx(duty_of(950, channel), abs=NEAR[channel])


def test_a_lamp_that_was_full_is_wholly_dark_when_it_is_off(held_board: EmulatedBoard, host: Host) -> None:
    for channel in range(DIM_CHANNELS):
        set_level(host, channel, 1000)
        set_level(host, channel, 0)
    host.run(50)

    assert [held_board.duty(channel) for channel in range(DIM_CHANNELS)] == [0] * DIM_CHANNELS


def test_a_relay_is_on_or_off_and_nothing_between(held_board: EmulatedBoard, host: Host) -> None:
    set_level(host, 6, 1000)
    host.run(50)
    assert [held_board.duty(6), held_board.duty(7)] == [1, 0]

    assert host.ask(SetRequest(6, 500, 0)) == RefusalAnswer(SetRequest.TYPE, Reason.BAD_VALUE)
    host.run(50)
    assert held_board.duty(6) == 1


def test_a_fade_is_where_it_should_be_at_each_tenth(held_board: EmulatedBoard, host: Host) -> None:
    assert host.ask(SetRequest(0, 1000, 300)) == SetAnswer(0, 0, 1000)
    for tenth in range(1, 10):
        host.run(300 if tenth > 1 else 250)
        # The window of 16 ms, and the step of 10 ms.
        assert held_board.level_of(0) == pytest.approx(tenth * 100, abs=12)

    host.run(400)
    assert held_board.duty(0) == 1


def test_opening_the_port_of_a_nano_changes_no_lamp(made: Images, tmp_path: Path) -> None:
    with EmulatedBoard(made, tmp_path, held=True, reset_on_open=True) as board:
        with Host(board) as host:
            host.run(100)
            set_level(host, 0, 400)
            set_level(host, 7, 1000)
        board.run(20)
        with Host(board) as again:
            again.run(100)
            assert hello(again).reset_cause == ResetCause.EXTERNAL
            assert board.state()["external_resets"] == 2
            assert board.duty(0) == pytest.approx(duty_of(400, 0), abs=NEAR[0])
            assert board.duty(7) == 1


def test_a_reset_in_the_midst_of_a_frame_costs_that_frame_only(held_board: EmulatedBoard, host: Host) -> None:
    set_level(host, 2, 700)
    whole = frame(9, SetRequest.TYPE, SetRequest(2, 100, 0).pack())
    for cut in range(1, len(whole)):
        host.send(whole[:cut])
        host.run(5)
        held_board.do("reset")
        host.run(50)
        assert hello(host).reset_cause == ResetCause.EXTERNAL

    host.run(50)
    assert held_board.duty(2) == pytest.approx(duty_of(700, 2), abs=NEAR[2])


def test_the_watchdog_ends_an_endless_loop_and_the_lamps_stay(held_board: EmulatedBoard, host: Host) -> None:
    set_level(host, 1, 600)
    held_board.do("hang")
    host.run(1000)

    assert hello(host).reset_cause == ResetCause.WATCHDOG
    assert held_board.state()["watchdog_resets"] == 1
    assert held_board.duty(1) == pytest.approx(duty_of(600, 1), abs=NEAR[1])


def test_after_a_loss_of_power_each_channel_does_as_it_was_told(held_board: EmulatedBoard, host: Host) -> None:
    for channel, policy in enumerate((BootLevel.OFF, BootLevel.SAFE, BootLevel.LAST)):
        host.ask(SafeRequest(channel, 300, policy))
        host.run(300)
        set_level(host, channel, 800)
    host.run(8000)
    held_board.do("power")
    host.run(100)

    assert hello(host).reset_cause == ResetCause.POWER_ON
    assert held_board.duty(0) == 0
    assert held_board.level_of(1) == pytest.approx(300, abs=2)
    assert held_board.duty(2) == pytest.approx(duty_of(800, 2), abs=NEAR[2])


def test_a_silent_host_leaves_the_lamps_at_their_safe_level(held_board: EmulatedBoard, host: Host) -> None:
    host.ask(SafeRequest(0, 200, BootLevel.OFF))
    host.ask(SilenceRequest(20))
    set_level(host, 0, 900)
    host.run(1800)
    assert held_board.level_of(0) == pytest.approx(900, abs=2)

    host.run(400)
    assert held_board.level_of(0) == pytest.approx(200, abs=2)


def test_presses_are_told_short_and_long(held_board: EmulatedBoard, host: Host) -> None:
    host.heard.clear()
    held_board.do("input 2 1")
    host.run(100)
    held_board.do("input 2 0")
    host.run(100)
    held_board.do("input 0 1")
    host.run(1000)

    assert [message for _, message in host.heard] == [
        *(InputEvent(2, Press.PRESSED), InputEvent(2, Press.RELEASED), InputEvent(2, Press.SHORT)),
        *(InputEvent(0, Press.PRESSED), InputEvent(0, Press.LONG)),
    ]


def test_garbage_moves_no_lamp_and_the_next_frame_is_answered(held_board: EmulatedBoard, host: Host) -> None:
    set_level(host, 0, 500)
    seeded = random.Random(5)
    changed = held_board.state()["outputs"][0]["changed_cycle"]
    for _ in range(20):
        host.send(seeded.randbytes(100))
        host.run(50)

    assert held_board.state()["outputs"][0]["changed_cycle"] == changed
    assert stats(host).damaged > 0


def test_a_flood_of_requests_stops_neither_the_fade_nor_the_answers(held_board: EmulatedBoard, host: Host) -> None:
    host.ask(SetRequest(0, 1000, 100))
    flood = frame(7, HelloRequest.TYPE, b"")
    for _ in range(25):
        host.send(flood * 60)
        host.run(50)

    assert held_board.duty(0) == 1
    assert held_board.state()["watchdog_resets"] == 0
    host.run(4000)  # until all of it has gone through the wire
    assert hello(host).boots == 1


def test_each_start_is_counted_over_resets_and_losses_of_power(held_board: EmulatedBoard, host: Host) -> None:
    for number, way in enumerate(("reset", "power", "reset"), start=2):
        host.run(200)
        held_board.do(way)
        host.run(100)
        assert hello(host).boots == number


def test_another_version_of_the_wire_says_so(made: Images, tmp_path: Path) -> None:
    with EmulatedBoard(made, tmp_path, held=True, image=made.other_protocol) as board, Host(board) as host:
        host.run(100)
        assert hello(host).protocol == 200


def test_loop_start_and_interrupts_keep_to_their_times(held_board: EmulatedBoard, host: Host) -> None:
    for channel in range(DIM_CHANNELS):
        set_level(host, channel, 1000, fade=300)
    for _ in range(40):
        host.send(frame(5, GetAllRequest.TYPE, GetAllRequest(0).pack()) * 4)
        host.run(100)
    counted, measured = stats(host), held_board.state()
    microseconds = {
        "longest loop": counted.longest_loop,
        "interrupt latency": measured["latency_cycles"] / 16,
        "reset to lamps": (measured["driven_cycle"] - measured["reset_cycle"]) / 16,
        "reset to first byte": (measured["first_byte_cycle"] - measured["reset_cycle"]) / 16,
    }
    print(microseconds, f"asleep {measured['asleep_cycles'] / measured['cycle']:.0%}")

    assert counted.overruns == measured["overruns"] == 0
    # A byte comes every 87 µs, and the chip holds two.
    assert microseconds["interrupt latency"] < 80
    assert microseconds["longest loop"] < 5000
    assert microseconds["reset to lamps"] < 10000
    assert microseconds["reset to first byte"] < 20000
