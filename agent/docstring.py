"""Google-style docstrings: the summary, and the entries of one section."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Final

from agent.errors import DeclarationError

_SECTION: Final = re.compile(
    r"(Args|Arguments|Attributes|Examples?|Notes?|Raises|Returns|See Also|Todo|Warnings?|Yields):"
)
_ENTRY: Final = re.compile(r"(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True)
class Docstring:
    """What a docstring says.

    Attributes:
        summary: The text before the first section, on one line.
        entries: The descriptions in the section asked for, by name, each on one line.
    """

    summary: str
    entries: dict[str, str]


def parse_docstring(text: str | None, section: str, where: str) -> Docstring:
    """Reads a docstring.

    Args:
        text: The docstring; None is an empty one.
        section: The section whose entries are read: "Args" or "Attributes".
        where: What errors name.

    Raises:
        DeclarationError: A line of the section is neither an entry nor the continuation of one.
    """
    current = ""
    summary: list[str] = []
    entries: dict[str, list[str]] = {}
    indent: int | None = None
    name = ""
    for line in inspect.cleandoc(text or "").splitlines():
        depth = len(line) - len(line.lstrip())
        words = line.strip()
        if depth == 0 and _SECTION.fullmatch(words):
            current = words[:-1].replace("Arguments", "Args")
        elif not current:
            summary.append(words)
        elif current == section and words:
            indent = depth if indent is None else indent
            if depth <= indent:
                entry = _ENTRY.fullmatch(words)
                if not entry:
                    raise DeclarationError(
                        f"{where}: {words!r} under {section}: is not `name: description`; indent it if it continues one"
                    )
                name, words = entry[1], entry[2]
                entries[name] = []
            entries[name].append(words)
    return Docstring(_folded(summary), {name: _folded(lines) for name, lines in entries.items()})


def _folded(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
