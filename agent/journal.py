"""The log: records of the journal with fields, or lines on standard error.

Each command is one record with the fields below, and the id `COMMAND_RECORD` by which the journal finds it. What people
said and were answered is in fields of its own, which a record keeps only where the settings say so.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from typing import Final

COMMAND_RECORD: Final = "5d2b1bd0c43e4c3f9d1d0e6f7f5c2a86"
"""The MESSAGE_ID of the record of a command."""

COMMAND: Final = "HEARTH_COMMAND"
"""The id of the command, known to who sent it."""
CHANNEL: Final = "HEARTH_CHANNEL"
"""How it came: mqtt, local (hearth ask), voice, due ..."""
SESSION: Final = "HEARTH_SESSION"
"""The conversation it belongs to; not there for a single turn."""
TOOL: Final = "HEARTH_TOOL"
"""The functions that were called, in order, with spaces between; not there where none was."""
DRIVER: Final = "HEARTH_DRIVER"
"""The drivers of the devices that these calls were about, likewise."""
FAILED: Final = "HEARTH_FAILED"
"""Those of the functions that answered with an error, likewise."""
MILLISECONDS: Final = "HEARTH_MS"
"""From its arrival to its end, a whole number; the time in which a person was asked counts."""
ERROR: Final = "HEARTH_ERROR"
"""The name of the error that ended it without an answer; not there where it was answered."""
WORDS: Final = "HEARTH_WORDS"
"""What was said, or told; only with `[log] words = true`."""
ANSWER: Final = "HEARTH_ANSWER"
"""What was answered; likewise."""

PRIVATE: Final = (WORDS, ANSWER)


class WordsFilter(logging.Filter):
    """Takes the words of people out of every record that a handler gets.

    Attributes:
        shown: Whether they stay.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass; without its words, and where they are to be seen with them in its message too."""
        said = [vars(record).pop(name) for name in PRIVATE if name in vars(record)]
        if self.shown and said:
            vars(record).update(zip(PRIVATE, said, strict=False))
            record.msg = f"{record.getMessage()}: {' -> '.join(said)}"
            record.args = ()
        return True


words = WordsFilter()
"""That of this process's log."""


def start_logging(level: int) -> None:
    """To the journal, with fields, where standard error is one and systemd's library is there."""
    handler: logging.Handler = logging.StreamHandler()
    error = os.fstat(2)
    if os.environ.get("JOURNAL_STREAM") == f"{error.st_dev}:{error.st_ino}":
        with contextlib.suppress(ImportError):
            journal = importlib.import_module("systemd.journal")
            handler = journal.JournalHandler(SYSLOG_IDENTIFIER="hearth")
            handler.setFormatter(logging.Formatter("%(message)s"))  # the rest is in fields
    handler.addFilter(words)
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", handlers=[handler])
