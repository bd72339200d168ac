"""Speaks with espeak-ng, a program of its own: words in, a WAV out."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from agent.config import VoiceSettings
from agent.errors import HearthError

PROGRAM = "espeak-ng"
TIMEOUT_S = 60.0


class NotInstalledError(HearthError, RuntimeError):
    """Something that voice needs is not installed; the text says what to install."""


def speak(text: str, path: Path, voice: VoiceSettings) -> None:
    """Writes the text as speech: WAV, mono, 16 bits, at the voice's own rate (22 050 Hz).

    Raises:
        HearthError: espeak-ng is not installed or does not know the voice.
        OSError: The file cannot be written.
    """
    # espeak-ng that cannot write its file ends with status 0, so it writes to one that we know it can.
    with tempfile.TemporaryDirectory(prefix="hearth-") as folder:
        wav = Path(folder, "speech.wav")
        espeak("-v", voice.speaker, "-s", str(voice.words_per_minute), "-w", str(wav), text=text)
        path.write_bytes(wav.read_bytes())


def espeak(*options: str, text: str) -> bytes:
    """Runs espeak-ng on a text, which goes in by standard input: no shell and no option can be made of it.

    Raises:
        HearthError: It is not installed, or it failed.
    """
    # Without a character there is no sound and no file; a full stop is a short silence.
    words = " ".join(text.replace("\0", " ").split()) or "."
    try:
        done = subprocess.run(
            [PROGRAM, "-b", "1", "--stdin", *options],
            input=words.encode("utf-8", "replace"),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise NotInstalledError(f"to speak, {PROGRAM} has to be installed: apt install {PROGRAM}") from error
    except subprocess.TimeoutExpired as error:
        raise HearthError(f"{PROGRAM} was not done after {TIMEOUT_S:g} s") from error
    if done.returncode:
        raise HearthError(f"{PROGRAM}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout
