"""How a word sounds, in the ARPAbet of CMU's dictionary: from a dictionary, else from espeak-ng's rules."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from agent.channels.voice.speak import espeak

_LANGUAGE = re.compile(r"\([a-z-]+\)")
"""espeak-ng marks a word that it speaks by the rules of another language."""

_SILENT = str.maketrans("", "", "ˈˌ\u200d\u0361\u0303\u0329ʲʔ")
"""Stress, ties and shades that the ARPAbet of speech recognition leaves out."""

_ARPABET = {
    "aɪɚ": "AY ER", "aɪə": "AY AH", "aʊɚ": "AW ER", "ɑːɹ": "AA R", "ɔːɹ": "AO R", "oːɹ": "AO R",
    "ɛɹ": "EH R", "ɪɹ": "IH R", "ʊɹ": "UH R", "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW",
    "ɔɪ": "OY", "iə": "IY AH", "juː": "Y UW", "iː": "IY", "uː": "UW", "ɑː": "AA", "ɔː": "AO",
    "ɜː": "ER", "oː": "AO", "eː": "EY", "aː": "AA", "ɛː": "EH", "i": "IY", "ɪ": "IH", "ᵻ": "IH",
    "e": "EY", "ɛ": "EH", "æ": "AE", "a": "AE", "ɑ": "AA", "ɒ": "AA", "ɔ": "AO", "o": "OW", "ʊ": "UH",
    "u": "UW", "y": "UW", "ʌ": "AH", "ɐ": "AH", "ə": "AH", "ɚ": "ER", "ɜ": "ER", "ø": "ER", "œ": "ER",
    "tʃ": "CH", "dʒ": "JH", "ts": "T S", "p": "P", "b": "B", "t": "T", "d": "D", "k": "K", "g": "G",
    "ɡ": "G", "f": "F", "v": "V", "θ": "TH", "ð": "DH", "s": "S", "z": "Z", "ʃ": "SH", "ʒ": "ZH",
    "h": "HH", "ç": "HH", "x": "K", "m": "M", "n": "N", "ŋ": "NG", "ɲ": "N Y", "l": "L", "ɬ": "L",
    "ɹ": "R", "r": "R", "ʁ": "R", "ɾ": "T", "j": "Y", "w": "W",
}  # fmt: skip
_SYMBOL = re.compile("|".join(sorted(_ARPABET, key=len, reverse=True)))


def read_dictionary(path: Path, words: Collection[str]) -> dict[str, list[str]]:
    """The pronunciations that a dictionary in CMU's format has for these words; `word(2)` is a second one."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry, _, phones = line.partition(" ")
        word = entry.partition("(")[0]
        if word in words:
            found.setdefault(word, []).append(phones.strip())
    return found


def pronounce(word: str) -> str | None:
    """A guess by the rules of English spelling; None where there is none.

    Raises:
        NotInstalledError: There is no espeak-ng.
    """
    return arpabet(espeak("-q", "--ipa", "--sep= ", "-v", "en-us", text=word).decode("utf-8"))


def arpabet(ipa: str) -> str | None:
    """espeak-ng's phonemes, apart by spaces, in ARPAbet without stress; None when one of them is unknown."""
    phones: list[str] = []
    for symbol in _LANGUAGE.sub(" ", ipa).translate(_SILENT).split():
        parts = _SYMBOL.findall(symbol)
        if "".join(parts) != symbol:
            return None
        phones += [_ARPABET[part] for part in parts]
    return " ".join(phones) or None
