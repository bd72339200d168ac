"""`make run`: the example house with a prompt, and a lamp on an emulated board where the tools for it are installed.

The firmware's real image runs on an emulated chip whose serial port is a pseudo-terminal. The emulator is a child of
the service, into which this program turns, and ends with it however that ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "deploy" / "hearth.example.toml"
OUT = ROOT / "build" / "firmware"
FOLDER = ROOT / "build" / "run"

NEEDED = {
    "make": "make",
    "cc": "gcc",
    "avr-gcc": "gcc-avr",
    "/usr/lib/avr/include/avr/io.h": "avr-libc",
    "/usr/include/simavr/sim_avr.h": "libsimavr-dev",
    "/usr/include/libelf.h": "libelf-dev",
}
"""Programs and headers, and the Debian packages that they are in."""

LAMP = """
# Added by deploy/run.py: the emulated board, and a lamp on it.

[tools.serial]
port = "{port}"

[[tools.device]]
name = "board lamp"
kind = "light"
room = "workshop"
serial = {{ channel = 0 }}
"""


class NoBoardError(Exception):
    """There is no emulated board; the text says why, and what to do."""


def main() -> None:
    """Turns into `hearth run`."""
    settings = EXAMPLE
    try:
        settings = house_with_a_board()
        print(f"the board lamp hangs on an emulated board; {FOLDER}/control tells of its pins", file=sys.stderr)
    except (NoBoardError, OSError) as error:
        print(f"the house has no emulated board: {error}", file=sys.stderr)
    sys.stderr.flush()
    command = [sys.executable, "-m", "agent", "run", "--prompt", "--config", str(settings), *sys.argv[1:]]
    os.execv(sys.executable, command)


def house_with_a_board() -> Path:
    """Starts the emulated board; returns the settings of the example house with a lamp on it.

    Raises:
        NoBoardError: It cannot be built, or does not start.
        OSError: A file cannot be written.
    """
    if missing := [package for path, package in NEEDED.items() if not _is_there(path)]:
        raise NoBoardError(f"not installed: {' '.join(missing)} (sudo apt install {' '.join(missing)})")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lock = os.open(FOLDER / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NoBoardError("another make run has it") from None
    os.set_inheritable(lock, True)  # for as long as the service runs
    make = ["make", "-C", str(ROOT / "firmware"), "image", "emulator", f"OUT={OUT}"]
    built = subprocess.run(make, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise NoBoardError("it does not build; make -C firmware image emulator says why")
    _start([str(OUT / "emulator"), str(OUT / "hearth.elf")])
    settings = FOLDER / "hearth.toml"
    settings.write_text(EXAMPLE.read_text(encoding="utf-8") + LAMP.format(port=FOLDER / "ttyBOARD"), encoding="utf-8")
    return settings


def _is_there(name: str) -> bool:
    return Path(name).is_file() if name.startswith("/") else shutil.which(name) is not None


def _start(emulator: list[str]) -> None:
    """Returns once the board's port is there."""
    options = ("--tty", FOLDER / "ttyBOARD", "--control", FOLDER / "control", "--eeprom", FOLDER / "eeprom")
    with (FOLDER / "emulator.log").open("wb") as log:
        # Ctrl+c in the terminal is for the service, which says goodbye to the board.
        process = subprocess.Popen(
            [*emulator, *map(str, options), "--reset-on-open", "--with-parent"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert process.stdout is not None
    for line in process.stdout:  # the library prints lines of its own before ours
        if line == b"ready\n":
            return
    process.wait()
    raise NoBoardError(f"the emulator does not start; {FOLDER}/emulator.log says why")


if __name__ == "__main__":
    main()
