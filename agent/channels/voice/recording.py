"""A recording, brought to what the recogniser hears: 16 kHz, mono, 16 bits."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.errors import HearthError

RATE = 16_000
LONGEST_S = 60.0
"""A command is shorter; the length in a file's header is not to be trusted with our memory."""

_LOWEST_RATE = 8_000
_SAMPLE_BYTES = 2


class RecordingError(HearthError, ValueError):
    """A recording that cannot be used; the text says why."""


def read_recording(path: Path) -> NDArray[np.int16]:
    """The samples of a WAV at `RATE`, its channels mixed.

    Raises:
        RecordingError: It is no WAV of 16-bit PCM with at least 8 kHz, or longer than `LONGEST_S`.
        OSError: It cannot be read.
    """
    try:
        with wave.open(str(path), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            if width != _SAMPLE_BYTES:
                raise RecordingError(f"{path} has samples of {8 * width} bits; 16 are needed")
            if rate < _LOWEST_RATE:
                raise RecordingError(f"{path} has {rate} samples a second; {_LOWEST_RATE} are needed")
            raw = file.readframes(int(LONGEST_S * rate) + 1)
    except (wave.Error, EOFError, RuntimeError) as error:  # RuntimeError: a chunk that ends beyond the file
        raise RecordingError(f"{path} is no WAV file of PCM samples: {error or 'it ends early'}") from error
    frames = len(raw) // (channels * _SAMPLE_BYTES)
    if frames > LONGEST_S * rate:
        raise RecordingError(f"{path} is longer than {LONGEST_S:g} s")
    mixed = np.frombuffer(raw, "<i2", frames * channels).reshape(frames, channels).mean(axis=1)
    return resampled(mixed, rate)


def resampled(samples: NDArray[np.float64], rate: int) -> NDArray[np.int16]:
    """The same sound at `RATE`, by straight lines between the samples."""
    if rate != RATE and len(samples):
        moments = np.arange(int(len(samples) * RATE / rate)) * (rate / RATE)
        samples = np.interp(moments, np.arange(len(samples)), samples)
    return np.round(samples).astype(np.int16)
