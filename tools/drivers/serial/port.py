"""A serial port without waiting: pyserial works in threads, what it reads and how it ends come to the event loop."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import select
import termios
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent.errors import HearthError
from tools.drivers.access import why_denied
from tools.drivers.serial.protocol import BAUD

if TYPE_CHECKING:
    import serial

T = TypeVar("T")

_WRITE_TIMEOUT_S = 2.0
"""A frame takes 4 ms; a port that takes none for so long has nobody behind it."""


class PortError(HearthError, OSError):
    """A port that cannot be used; the text is a clause about it."""


class PortBusyError(PortError):
    """Somebody else has the port."""


class Port:
    """An open port. `heard` and `lost` are called in the event loop; closing twice is fine."""

    def __init__(self, device: serial.Serial, path: str) -> None:
        self.path = path
        self._device = device
        self._closing = False
        # Writes and the close come one after another; the thread that reads is beside them.
        self._worker = ThreadPoolExecutor(1, "serial port")
        self._reader: threading.Thread | None = None

    @classmethod
    async def open(cls, path: str) -> Port:
        """Opens a port for us alone, and writes nothing to it.

        Opening raises DTR, which resets most boards of the Arduino kind the first time after they are plugged in.

        Raises:
            PortError: It cannot be opened.
        """
        opening = asyncio.ensure_future(asyncio.to_thread(_open, path))
        try:
            device = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The thread goes on, and a port that nobody closes is busy for the next who tries.
            opening.add_done_callback(_close_result)
            raise
        return cls(device, path)

    def start(self, heard: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Hands on what is read from now on; `lost` is called once, when the port is gone, and says why."""
        loop = asyncio.get_running_loop()
        self._reader = threading.Thread(
            target=self._read, args=(loop, heard, lost), name=f"reads {self.path}", daemon=True
        )
        self._reader.start()

    def _read(
        self, loop: asyncio.AbstractEventLoop, heard: Callable[[bytes], None], lost: Callable[[str], None]
    ) -> None:
        reason = ""
        try:
            while not self._closing:
                data = self._device.read(max(1, self._device.in_waiting))
                if data:
                    loop.call_soon_threadsafe(heard, data)
        except UNPLUGGED as error:
            reason = said(error)
        except TypeError:  # pyserial's own, where the port was closed between two of its steps
            reason = "it was closed"
        if reason and not self._closing:
            with suppress(RuntimeError):  # the loop has ended, and nobody is left to be told
                loop.call_soon_threadsafe(lost, reason)

    async def write(self, data: bytes) -> None:
        """Sends bytes.

        Raises:
            PortError: The port is gone, or takes nothing.
        """
        await self._work(lambda: _write(self._device, data))

    async def keep_dtr(self) -> None:
        """Leaves DTR as it is when the port is closed, so that opening it again does not reset the board.

        Raises:
            PortError: The port is gone.
        """
        await self._work(lambda: _clear_hang_up(self._device))

    async def close(self) -> None:
        """Lets go of the port."""
        if self._closing:
            return
        self._closing = True
        with suppress(*UNPLUGGED):
            self._device.cancel_read()
        reader, worker = self._reader, self._worker

        def end() -> None:
            if reader:
                reader.join(_WRITE_TIMEOUT_S)
            with suppress(*UNPLUGGED):
                self._device.close()

        with suppress(RuntimeError):  # the worker has ended: it is closed
            ending = asyncio.get_running_loop().run_in_executor(worker, end)
            worker.shutdown(wait=False)
            await asyncio.shield(ending)

    async def _work(self, work: Callable[[], T]) -> T:
        if self._closing:
            raise PortError("it was closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, work)
        except UNPLUGGED as error:
            raise PortError(said(error)) from error


# pyserial's SerialException is an OSError; termios.error is none, and comes from ports that are gone as well.
UNPLUGGED: tuple[type[Exception], ...] = (OSError, termios.error)
"""What the operating system and pyserial raise where a port is gone."""

_IN_USE = "another program uses it: stop that one, or the running hearth service"

_NOT_OPENED: tuple[type[Exception], ...] = (*UNPLUGGED, ValueError)


def said(error: Exception) -> str:
    """What an error of a port means, as a clause about the port."""
    known = {
        errno.ENOENT: "it is not there",
        errno.ENXIO: "nothing is behind it",
        errno.ENODEV: "nothing is behind it",
        errno.EIO: "it was unplugged",
        errno.EACCES: "we may not use it",
        errno.EPERM: "we may not use it",
        errno.EBUSY: "another program has it open for itself alone",
        errno.ENOTTY: "it is no serial port",
        errno.EISDIR: "it is no serial port",
        errno.EAGAIN: "it takes nothing",
    }
    number = _number(error)
    if number in known:
        return known[number]
    text = str(error)
    # pyserial has no type of its own for this.
    if "returned no data" in text:
        return "it was unplugged"
    return text or type(error).__name__


def _number(error: BaseException | None) -> int | None:
    """The system's number of an error; pyserial wraps errors in some that have none."""
    while error is not None:
        found = error.errno if isinstance(error, OSError) else next(iter(error.args), None)
        if isinstance(found, int):
            return found
        error = error.__context__
    return None


def pyserial() -> Any:
    """pyserial's module `serial`, with its `tools.list_ports`; costs a while, so a house without a board has none.

    Raises:
        PortError: It is not there, or another package has its name.
    """
    try:
        import serial.tools.list_ports
    except ImportError as error:
        raise PortError(f"the Python package pyserial cannot be loaded ({error}): pip install pyserial") from error
    return serial


def _open(path: str) -> serial.Serial:
    opened = pyserial().Serial
    try:
        device: serial.Serial = opened(path, BAUD, exclusive=True)
    except _NOT_OPENED as error:
        # The lock is advisory (flock): it keeps out a second Hearth and whoever else asks for the port in this way.
        if isinstance(error, OSError) and error.errno in (errno.EAGAIN, errno.EWOULDBLOCK):
            raise PortBusyError(_IN_USE) from error
        if isinstance(error, OSError) and error.errno == errno.EBUSY:
            raise PortBusyError(said(error)) from error
        if _number(error) in (errno.EACCES, errno.EPERM):
            raise PortError(f"it {why_denied(Path(path), 'dialout', _kind(path))}") from error
        raise PortError(said(error)) from error
    return device


def _kind(path: str) -> str:
    """What the kernel calls its kind of port in /proc/devices."""
    return "char-ttyACM" if os.path.realpath(path).startswith("/dev/ttyACM") else "char-ttyUSB"


def _close_result(opening: asyncio.Future[serial.Serial]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _write(device: serial.Serial, data: bytes) -> None:
    # pyserial's own write turns in circles while a port takes nothing, and calls what was late only a failure.
    _, ready, _ = select.select([], [device.fileno()], [], _WRITE_TIMEOUT_S)
    if not ready or os.write(device.fileno(), data) < len(data):
        raise BlockingIOError(errno.EAGAIN, "it takes nothing")


def _clear_hang_up(device: serial.Serial) -> None:
    attributes = termios.tcgetattr(device.fileno())
    attributes[2] &= ~termios.HUPCL
    termios.tcsetattr(device.fileno(), termios.TCSANOW, attributes)


@contextmanager
def held(path: str) -> Iterator[None]:
    """Keeps a port for another program of ours, which does not ask for the lock itself.

    Raises:
        PortError: It cannot be opened, or somebody else has it.
    """
    try:
        port = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise PortError(said(error)) from error
    try:
        try:
            fcntl.flock(port, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise PortBusyError(_IN_USE) from error
        yield
    finally:
        os.close(port)


def identity(path: str) -> tuple[str, int, int]:
    """What changes when something is unplugged and plugged in again at the same path.

    Raises:
        OSError: It is not there.
    """
    found = os.stat(path)
    return os.path.realpath(path), found.st_ino, found.st_ctime_ns
