"""Speech to text on the board: pocketsphinx, its own English sounds, and the language of this house."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.channels.voice.language import Language, language, missing_pocketsphinx
from agent.channels.voice.recording import RATE
from agent.config import cache_directory

HISS = 10
"""Of 32,768: about -70 dB."""

VOICE_MODE = 2
"""0 takes much for a voice, 3 little."""

SHORTEST_S = 0.12
"""The shortest that anybody says; clicks are shorter."""

MARGIN_S = 0.1
"""What is heard around a voice: the quiet beginnings and ends of words."""


class Recognizer:
    """Hears the sentences of one house, and what is made of the same words.

    Making one takes a fraction of a second, the first time for these sentences a little longer. It is for one
    thread at a time.
    """

    def __init__(self, sentences: Sequence[str], folder: Path | None = None) -> None:
        """Loads the sounds and the language.

        Args:
            sentences: What is said in this house.
            folder: Where the language is kept; None is the cache directory.

        Raises:
            NotInstalledError: pocketsphinx is not installed.
            OSError: The language cannot be kept.
        """
        try:
            import pocketsphinx
        except ImportError as error:
            raise missing_pocketsphinx() from error
        dictionary = Path(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"))
        folder = folder or cache_directory()
        try:
            self._decoder = _decoder(language(sentences, dictionary, folder))
        except RuntimeError:  # Kept files that a power cut has emptied are made once more.
            self._decoder = _decoder(language(sentences, dictionary, folder, anew=True))

    def transcribe(self, samples: NDArray[np.int16]) -> str:
        """The words, in lower case and numbers as words; "" when there are none.

        Args:
            samples: At `RATE`.
        """
        speech = self._speech(samples)
        if not len(speech):
            return ""
        self._decoder.start_utt()
        self._decoder.process_raw(speech.tobytes(), full_utt=True)
        self._decoder.end_utt()
        heard = self._decoder.hyp()
        return str(heard.hypstr) if heard else ""

    def _speech(self, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """From the first to the last sound of a voice, with a margin; nothing where there is too little.

        Silence around a command would count as part of the voice when the recogniser gets used to it.
        """
        from pocketsphinx import Vad

        voice = Vad(VOICE_MODE, RATE)
        size = voice.frame_bytes // samples.itemsize
        starts = range(0, len(samples) - size + 1, size)
        voiced = [start for start in starts if voice.is_speech(samples[start : start + size].tobytes())]
        if len(voiced) * voice.frame_length < SHORTEST_S:
            return samples[:0]
        margin = int(MARGIN_S * RATE)
        return _with_hiss(samples[max(0, voiced[0] - margin) : voiced[-1] + size + margin])


def _with_hiss(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """With the faint hiss of any microphone: the sounds were learnt with it, and not from digital silence.

    The hiss is always the same, and so is what is heard.
    """
    hiss = np.random.default_rng(0).normal(0, HISS, len(samples))
    return np.clip(samples + np.round(hiss), -32768, 32767).astype(np.int16)


def _decoder(language: Language) -> Any:
    import pocketsphinx

    return pocketsphinx.Decoder(
        hmm=pocketsphinx.get_model_path("en-us/en-us"),
        lm=str(language.model),
        dict=str(language.dictionary),
        samprate=float(RATE),
        loglevel="FATAL",
    )
