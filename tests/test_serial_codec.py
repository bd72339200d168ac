"""Frames of the serial light controller, and its levels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.drivers.serial.codec import LONGEST, DamagedError, Decoder, Frame, crc16, decode, encode, stuff, unstuff
from tools.drivers.serial.levels import level_of, percent_of
from tools.drivers.serial.protocol import ANSWERS, EVENTS, MAX_BODY, REQUESTS, SetRequest

byte = st.integers(0, 255)
frames = st.builds(Frame, byte, byte, st.binary(max_size=MAX_BODY))


def test_the_checksum_is_ccitt_false() -> None:
    """Its check value, from the catalogue of CRCs (reveng.sourceforge.io)."""
    assert crc16(b"123456789") == 0x29B1


@pytest.mark.parametrize(
    ("data", "stuffed"),
    [
        (b"", b"\x01"),
        (b"\0", b"\x01\x01"),
        (b"\0\0", b"\x01\x01\x01"),
        (b"\x11\x22\0\x33", b"\x03\x11\x22\x02\x33"),
        (b"\x11\0\0\0", b"\x02\x11\x01\x01\x01"),
    ],
)
def test_stuffed_bytes_are_those_of_the_paper(data: bytes, stuffed: bytes) -> None:
    assert stuff(data) == stuffed


def test_a_set_is_these_bytes_on_the_wire() -> None:
    """Also for whoever writes the other side by hand."""
    body = SetRequest(channel=0, level=400, fade=25).pack()

    assert encode(Frame(7, SetRequest.TYPE, body)).hex(" ") == "00 04 05 07 02 04 90 01 19 03 c0 a3 00"


@given(st.binary(max_size=254))
def test_what_is_stuffed_has_no_zero_and_comes_back(data: bytes) -> None:
    stuffed = stuff(data)

    assert 0 not in stuffed
    assert len(stuffed) == len(data) + 1
    assert unstuff(stuffed) == data


@given(st.lists(frames, max_size=6), st.integers(1, 60))
def test_frames_come_back_whatever_pieces_they_come_in(sent: list[Frame], size: int) -> None:
    wire = b"".join(map(encode, sent))
    decoder = Decoder()

    got = [frame for at in range(0, len(wire), size) for frame in decoder.feed(wire[at : at + size])]

    assert got == sent
    assert decoder.damaged == 0


@given(st.binary(max_size=200), frames)
def test_the_frame_after_any_noise_is_read(noise: bytes, frame: Frame) -> None:
    decoder = Decoder()
    decoder.feed(noise)

    assert decoder.feed(encode(frame))[-1] == frame


@given(frames, st.data())
def test_a_changed_bit_is_never_taken_for_another_frame(frame: Frame, data: st.DataObject) -> None:
    """A checksum of 16 bits finds each single changed bit; one that changes the blocks of COBS is found by luck."""
    wire = bytearray(encode(frame))
    at = data.draw(st.integers(1, len(wire) - 2))
    wire[at] ^= 1 << data.draw(st.integers(0, 7))

    got = Decoder().feed(bytes(wire))

    assert got in ([], [frame]) or 0 in wire[1:-1]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_damage(data: bytes) -> None:
    try:
        frame = decode(data)
    except DamagedError:
        return
    assert encode(frame) == b"\0" + data + b"\0"


def test_a_device_that_never_sends_a_zero_costs_no_memory() -> None:
    decoder = Decoder()
    for _ in range(1000):
        assert decoder.feed(b"\x55" * 1000) == []

    assert len(decoder._kept) == LONGEST
    assert decoder.feed(encode(Frame(1, 2))) == [Frame(1, 2)]
    assert decoder.damaged == 1


def test_a_body_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="33 bytes is longer than 32"):
        encode(Frame(1, 2, bytes(33)))


@given(st.sampled_from([*REQUESTS.values(), *ANSWERS.values(), *EVENTS.values()]), st.binary(max_size=MAX_BODY))
def test_a_message_is_read_or_refused_and_packs_as_it_was_read(kind: type, body: bytes) -> None:
    try:
        message = kind.unpack(body)  # type: ignore[attr-defined]
    except ValueError:
        return
    assert message.pack() == body


def test_f9_each_percentage_comes_back_as_it_was_and_none_but_0_is_off() -> None:
    levels = [level_of(percent) for percent in range(101)]

    assert levels[0] == 0
    assert levels[1] >= 1
    assert levels[100] == 1000
    assert [percent_of(level) for level in levels[1:]] == list(range(1, 101))


def test_f9_each_level_is_told_within_1_to_100_percent_and_rises() -> None:
    told = [percent_of(level) for level in range(1, 1001)]

    assert (told[0], told[-1]) == (1, 100)
    assert told == sorted(told)


@pytest.mark.parametrize("percent", [-1, 101])
def test_f9_a_brightness_beyond_the_range_is_refused(percent: int) -> None:
    with pytest.raises(ValueError, match="not within 0 to 100"):
        level_of(percent)
