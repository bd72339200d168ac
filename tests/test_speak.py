"""Speaking with espeak-ng."""

from __future__ import annotations

import wave

import pytest

from agent.channels.voice import speak as speaking
from agent.channels.voice.speak import NotInstalledError, espeak, speak
from agent.config import VoiceSettings
from agent.errors import HearthError

VOICE = VoiceSettings()


def seconds(path) -> float:
    with wave.open(str(path)) as file:
        return file.getnframes() / file.getframerate()


def test_an_answer_is_spoken_into_a_wav(tmp_path):
    """Longer words take longer."""
    speak("On.", tmp_path / "short.wav", VOICE)
    speak("The kitchen light is on at eighty percent.", tmp_path / "long.wav", VOICE)

    assert 0.1 < seconds(tmp_path / "short.wav") < seconds(tmp_path / "long.wav") < 5


def test_a_faster_voice_takes_less_time(tmp_path):
    """The settings' pace is heard."""
    for pace in (100, 300):
        speak("The kitchen light is on.", tmp_path / f"{pace}.wav", VoiceSettings(words_per_minute=pace))

    assert seconds(tmp_path / "300.wav") < 0.6 * seconds(tmp_path / "100.wav")


@pytest.mark.parametrize(
    "text", ["--version", "-w /tmp/x.wav", "$(touch owned); `touch owned`", "", "\0", "\ud800", "é 中 🙂"]
)
def test_any_text_is_only_ever_spoken(tmp_path, monkeypatch, text):
    """Never an option, never a shell's."""
    monkeypatch.chdir(tmp_path)
    speak(text, tmp_path / "out.wav", VOICE)

    assert seconds(tmp_path / "out.wav") > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.wav"]


def test_a_voice_that_does_not_exist_is_an_error(tmp_path):
    """In espeak-ng's own words."""
    with pytest.raises(HearthError, match="voice does not exist"):
        speak("Hello.", tmp_path / "out.wav", VoiceSettings(speaker="nobody"))


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    """espeak-ng itself would end as if all were well."""
    with pytest.raises(OSError, match="missing"):
        speak("Hello.", tmp_path / "missing" / "out.wav", VOICE)


def test_a_missing_espeak_is_one_clear_sentence(monkeypatch):
    """With what to install."""
    monkeypatch.setattr(speaking, "PROGRAM", "espeak-ng-is-not-here")

    with pytest.raises(NotInstalledError, match="has to be installed: apt install"):
        espeak(text="Hello.")
