"""A recording in, a command run, a spoken answer out."""

from __future__ import annotations

import io
import subprocess
import sys
import wave

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_local import Parrot

from agent.channels.voice import NOTHING_HEARD, listen
from agent.channels.voice import language as languages
from agent.channels.voice.recording import RATE, RecordingError, read_recording
from agent.channels.voice.sentences import sentences
from agent.channels.voice.speak import NotInstalledError
from agent.channels.voice.transcribe import Recognizer
from agent.config import VoiceSettings
from agent.errors import AgentError

NAMES = ("kitchen", "living room", "bedroom", "hall", "reading lamp", "coffee machine", "Küche", "upstairs")
VOICE = VoiceSettings()


def synthesise(path, text, voice="en-us"):
    """A recording at espeak-ng's 22 kHz."""
    subprocess.run(["espeak-ng", "-v", voice, "-s", "140", "-w", path, "--", text], check=True)
    return path


def write_wav(path, samples, rate=RATE, channels=1, width=2):
    with wave.open(str(path), "wb") as file:
        file.setframerate(rate)
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.writeframes(samples)
    return path


def tone(rate, seconds=1.0):
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(int(rate * seconds)) / rate)).astype("<i2")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def recognizer(cache):
    return Recognizer(sentences([], NAMES), cache)


@pytest.fixture
def appliance(cache, monkeypatch):
    """A parrot, which answers what it hears, in a house without tools."""
    monkeypatch.setenv("CACHE_DIRECTORY", str(cache))
    parrot = Parrot()

    async def no_tools(level):
        return []

    parrot.tools = no_tools
    return parrot


def test_spoken_words_are_heard(recognizer, tmp_path):
    """Synthesised at 22 kHz."""
    wav = synthesise(tmp_path / "in.wav", "turn on the kitchen light")

    assert {"turn", "on", "kitchen", "light"} <= set(recognizer.transcribe(read_recording(wav)).split())


def test_a_number_is_heard_in_words(recognizer, tmp_path):
    """From which its argument is read."""
    wav = synthesise(tmp_path / "in.wav", "set the living room lights to eighty percent")

    assert recognizer.transcribe(read_recording(wav)).endswith("to eighty percent")


def test_one_recognizer_hears_many_recordings(recognizer, tmp_path):
    """Nothing of one is left in the next."""
    wav = synthesise(tmp_path / "in.wav", "turn on the coffee machine")
    first = recognizer.transcribe(read_recording(wav))
    recognizer.transcribe(np.zeros(RATE, np.int16))

    assert recognizer.transcribe(read_recording(wav)) == first != ""


@pytest.mark.parametrize("seconds", [0, 0.001, 0.01, 0.1, 3])
def test_silence_is_no_words(recognizer, seconds):
    """However long it is."""
    assert recognizer.transcribe(np.zeros(int(seconds * RATE), np.int16)) == ""


@pytest.mark.parametrize("loudness", [3, 30, 300])
def test_the_hiss_of_a_microphone_is_no_words(recognizer, loudness):
    """Nobody has said anything."""
    hiss = np.random.default_rng(1).normal(0, loudness, 2 * RATE).astype(np.int16)

    assert recognizer.transcribe(hiss) == ""


async def test_what_is_heard_runs_as_a_command_of_the_channel_voice(appliance, tmp_path, capsys):
    """Its answer is printed, and spoken into the file."""
    wav = synthesise(tmp_path / "in.wav", "turn on the kitchen light")
    await listen(appliance, wav, tmp_path / "out.wav", names=NAMES, voice=VOICE)
    (command,) = appliance.heard
    printed = capsys.readouterr()

    assert (command.channel, command.session) == ("voice", None)
    assert printed.out == f"{command.text} ü\n"
    assert printed.err == f"heard: {command.text}\n"
    assert len(read_recording(tmp_path / "out.wav")) > RATE / 2


async def test_silence_calls_nothing_and_says_so(appliance, tmp_path, capsys):
    """Also aloud."""
    wav = write_wav(tmp_path / "in.wav", bytes(4 * RATE))
    await listen(appliance, wav, tmp_path / "out.wav", names=NAMES, voice=VOICE)

    assert appliance.heard == []
    assert capsys.readouterr().out == f"{NOTHING_HEARD}\n"
    assert len(read_recording(tmp_path / "out.wav")) > RATE / 2


async def test_an_error_is_spoken_and_raised(appliance, tmp_path, monkeypatch):
    """Who speaks to the board does not see its screen."""
    monkeypatch.setattr("agent.channels.voice._heard", lambda *_: "fail")
    with pytest.raises(AgentError, match="There is no model"):
        await listen(appliance, tmp_path / "in.wav", tmp_path / "out.wav", names=NAMES, voice=VOICE)

    assert len(read_recording(tmp_path / "out.wav")) > RATE / 2


async def test_a_question_is_no_where_there_is_no_terminal(appliance, tmp_path, monkeypatch, capsys):
    """A recording does not answer, and the garage stays shut."""
    monkeypatch.setattr("agent.channels.voice._heard", lambda *_: "ask")
    monkeypatch.setattr("agent.channels.cli.os.isatty", lambda _: False)
    await listen(appliance, tmp_path / "in.wav", names=NAMES, voice=VOICE)

    assert capsys.readouterr().out == "ask ü\n"
    assert appliance._answer.result() is False


def test_the_language_is_made_once(cache, recognizer, monkeypatch):
    """And again only for other sentences."""
    monkeypatch.setattr(languages, "_write", lambda *_: pytest.fail("it was made before"))

    Recognizer(sentences([], NAMES), cache)


def test_a_kept_language_that_is_broken_is_made_again(tmp_path, recognizer):
    """A power cut may leave empty files."""
    Recognizer(["turn on the light"], tmp_path)
    for file in tmp_path.iterdir():
        file.write_bytes(b"")
    Recognizer(["turn on the light"], tmp_path)

    assert all(file.stat().st_size for file in tmp_path.iterdir())


def test_words_that_cannot_be_pronounced_are_left_out_and_logged(tmp_path, monkeypatch, caplog):
    """In one line; the others are heard."""
    monkeypatch.setattr(languages, "pronounce", lambda word: None)
    Recognizer(["turn on the zigbee light", "turn on the küche"], tmp_path)

    (record,) = caplog.records
    assert record.getMessage().endswith("never heard: zigbee, küche")


@pytest.mark.parametrize("module", ["pocketsphinx", "pocketsphinx.lm"])
def test_missing_pocketsphinx_is_one_clear_sentence(tmp_path, monkeypatch, module):
    """With what to install."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NotInstalledError, match=r'has to be installed: pip install "hearth\[voice\]"'):
        Recognizer(["turn on the light"], tmp_path)


@pytest.mark.parametrize("rate, channels", [(16_000, 1), (8_000, 1), (22_050, 1), (44_100, 2), (48_000, 6)])
def test_a_recording_becomes_16_khz_and_mono(tmp_path, rate, channels):
    """The same tone, as long as it was."""
    wav = write_wav(tmp_path / "in.wav", np.repeat(tone(rate), channels).tobytes(), rate, channels)
    samples = read_recording(wav)

    assert abs(len(samples) - RATE) <= 1
    assert np.argmax(np.abs(np.fft.rfft(samples))) == pytest.approx(440, abs=1)


@pytest.mark.parametrize(
    "rate, width, seconds, why",
    [
        (16_000, 1, 1, "8 bits"),
        (48_000, 3, 1, "24 bits"),
        (4_000, 2, 1, "4000 samples"),
        (8_000, 2, 61, "longer than"),
    ],
)
def test_a_recording_that_cannot_be_used_is_refused_in_a_sentence(tmp_path, rate, width, seconds, why):
    """With its name and the reason."""
    wav = write_wav(tmp_path / "in.wav", bytes(rate * width * seconds), rate, width=width)

    with pytest.raises(RecordingError, match=rf"in\.wav .*{why}"):
        read_recording(wav)


def _wav_bytes() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, RATE, 0, "NONE", ""))
        wav.writeframes(tone(RATE, 0.01).tobytes())
    return file.getvalue()


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_broken_file_is_refused_or_read(tmp_path, data):
    """Whichever byte is wrong, and wherever it ends."""
    whole = bytearray(_wav_bytes())
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=4)):
        whole[place] = byte
    file = tmp_path / "in.wav"
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        samples = read_recording(file)
    except RecordingError as error:
        assert str(error).startswith(str(file))
    else:
        assert samples.dtype == np.int16
