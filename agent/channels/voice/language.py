"""What the recogniser knows of language: a trigram model and a dictionary, made from sentences and kept."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.channels.voice.pronounce import pronounce, read_dictionary
from agent.channels.voice.speak import NotInstalledError

log = logging.getLogger(__name__)

EDITION = 1
"""Counts up when the files are made otherwise, so that kept ones are made anew."""

DISCOUNT = 0.1
"""The share of what is likely that is left to words which never followed each other in the sentences."""


@dataclass(frozen=True)
class Language:
    """Two files that belong together.

    Attributes:
        model: Which words follow which, in the ARPA format.
        dictionary: How each of them sounds, in CMU's format.
    """

    model: Path
    dictionary: Path


def language(sentences: Sequence[str], dictionary: Path, folder: Path, *, anew: bool = False) -> Language:
    """The language of these sentences, from the folder if it was made before.

    Args:
        sentences: Words as `sentences.spoken` gives them.
        dictionary: In CMU's format; a word that it lacks is pronounced by rule, or never heard.
        folder: Where the files are kept, under a name made from the sentences.
        anew: Make them also where they are there.

    Raises:
        NotInstalledError: pocketsphinx is not installed.
        OSError: A file cannot be read or written.
    """
    text = "\n".join(sentences)
    name = hashlib.sha256(f"{EDITION} {DISCOUNT}\n{text}".encode()).hexdigest()[:16]
    made = Language(folder / f"voice-{name}.arpa", folder / f"voice-{name}.dict")
    if anew or not (made.model.is_file() and made.dictionary.is_file()):
        _write(made.dictionary, _dictionary(text.split(), dictionary))
        _write(made.model, _trigrams(text))
    return made


def _trigrams(text: str) -> str:
    try:
        from pocketsphinx.lm import ArpaBoLM
    except ImportError as error:
        raise missing_pocketsphinx() from error
    model = ArpaBoLM(text=text, add_start=True, discount_mass=DISCOUNT)
    model.compute()
    written = io.StringIO()
    model.write(written)
    return written.getvalue()


def _dictionary(words: Sequence[str], path: Path) -> str:
    wanted = dict.fromkeys(words)
    found = read_dictionary(path, wanted.keys())
    left_out = []
    for word in wanted:
        if word not in found:
            guess = _guess(word)
            if guess is None:
                left_out.append(word)
            else:
                found[word] = [guess]
    if left_out:
        log.warning("it is not known how these sound, so they are never heard: %s", ", ".join(left_out))
    lines = [
        f"{word if number == 1 else f'{word}({number})'} {phones}"
        for word in sorted(found)
        for number, phones in enumerate(found[word], start=1)
    ]
    return "\n".join(lines) + "\n"


def _guess(word: str) -> str | None:
    try:
        return pronounce(word)
    except NotInstalledError:
        return None  # Hearing goes on without this word; speaking says what is to be installed.


def _write(path: Path, text: str) -> None:
    """Whole or not at all, also for another process that makes the same one now."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


def missing_pocketsphinx() -> NotInstalledError:
    """What to say where it cannot be imported."""
    return NotInstalledError('to hear, pocketsphinx has to be installed: pip install "hearth[voice]"')
