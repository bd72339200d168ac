"""A conversation with the board at one open port.

One request at a time; its answer has its number, so that one that comes late is not taken for the next, also not by
the next link at the same port. A request whose answer does not come is sent again with a new number, a few times:
every one that is repeated is absolute, or only asks. After that, or when the port is gone, the link has failed, says
why, and is not used again.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from itertools import cycle
from typing import TypeVar

from agent.errors import HearthError
from tools.drivers.serial.codec import Decoder, Frame, encode
from tools.drivers.serial.port import Port, PortError
from tools.drivers.serial.protocol import (
    ANSWER_BIT,
    ANSWERS,
    MAGIC,
    PAGE,
    VERSION,
    BootedEvent,
    GetAllAnswer,
    GetAllRequest,
    GetAnswer,
    GetRequest,
    HelloAnswer,
    HelloRequest,
    InputEvent,
    InputsAnswer,
    InputsRequest,
    Level,
    Message,
    NameAnswer,
    NameRequest,
    Reason,
    RefusalAnswer,
    SafeAnswer,
    SafeRequest,
    SetAnswer,
    SetRequest,
    SilenceAnswer,
    SilenceRequest,
    StatsAnswer,
    StatsRequest,
)

_log = logging.getLogger(__name__)

A = TypeVar("A", bound=Message)

HELLO_WAIT_S = 4.0
"""How long a board may take to say who it is: opening the port may reset it, and its bootloader waits up to 2 s."""

REPLY_WAIT_S = 0.5
"""How long an answer is waited for. On the wire it takes 5 ms; the rest is for a machine that is busy."""

ATTEMPTS = 4
"""How often a request is sent in all."""

# 0 is the board's own. All links count on: a board that had hung answers one after the other what a link before sent.
_FIRST = random.randint(1, 255)
_NUMBERS = cycle((*range(_FIRST, 256), *range(1, _FIRST)))


class LinkError(HearthError, RuntimeError):
    """The board did not do it. The text is a clause about it."""


class RefusedError(LinkError):
    """The board answered that it did not do it; nothing has moved."""


class LinkFailedError(LinkError):
    """The link has failed: whether the last request was done is not known."""


class ForeignError(LinkError):
    """What is at the port is no board of ours, or one that speaks another version of the protocol.

    Attributes:
        ours: It is a Hearth board, of another version.
    """

    def __init__(self, text: str, ours: bool = False) -> None:
        super().__init__(text)
        self.ours = ours


class Link:
    """A board at an open port, once it has said who it is.

    Attributes:
        path: The port.
        failed: Why the link has failed; "" while it works.
        ended: Set when it has failed, or was closed.
    """

    def __init__(
        self,
        port: Port,
        pressed: Callable[[InputEvent], None] = lambda event: None,
        booted: Callable[[], None] = lambda: None,
        reply_wait_s: float = REPLY_WAIT_S,
    ) -> None:
        """A link that nothing was said on yet.

        Args:
            port: An open port, which the link closes.
            pressed: Called for each change of an input.
            booted: Called when the board has started anew.
            reply_wait_s: How long an answer is waited for, in seconds.
        """
        self.path = port.path
        self.failed = ""
        self.ended = asyncio.Event()
        self._port = port
        self._pressed, self._booted = pressed, booted
        self._wait = reply_wait_s
        self._decoder = Decoder()
        self._turn = asyncio.Lock()
        self._sequence = 0
        self._ours_heard = False
        self._asked = HelloRequest.TYPE
        self._waiting: asyncio.Future[Frame] | None = None
        self._hello: HelloAnswer | None = None

    @property
    def hello(self) -> HelloAnswer:
        """What the board said of itself last; only after `greet`."""
        assert self._hello is not None
        return self._hello

    @property
    def damaged(self) -> int:
        """How many pieces of what was heard were no frames."""
        return self._decoder.damaged

    async def greet(self, wait_s: float = HELLO_WAIT_S) -> HelloAnswer:
        """Sends one hello, and nothing else before a board of ours has said who it is.

        Raises:
            ForeignError: Something else, or nothing, answered.
            LinkFailedError: The port is gone; or what was heard is a board of ours, and damaged.
        """
        loop = asyncio.get_running_loop()
        self._waiting = answer = loop.create_future()
        self._sequence = next(_NUMBERS)
        self._port.start(self._hear, self.fail)
        try:
            await self._port.write(encode(Frame(self._sequence, HelloRequest.TYPE, HelloRequest().pack())))
            async with asyncio.timeout(wait_s):
                frame = await answer
        except PortError as error:
            self.fail(str(error))
            raise LinkFailedError(self.failed) from error
        except TimeoutError:
            if self._ours_heard:  # not to be taken for foreign, and so never asked again
                self.fail("what the board says of itself comes damaged")
                raise LinkFailedError(self.failed) from None
            answered = "what answers there is no Hearth board" if self.damaged else "nothing answers there"
            raise ForeignError(answered) from None
        finally:
            self._waiting = None
        # Only now is it sure that this is ours; whatever else is at a port is left as it was.
        try:
            self._hello = greeting(frame)
        except ForeignError as error:
            if error.ours:
                await self._keep_dtr()
            raise
        await self._keep_dtr()
        return self._hello

    async def _keep_dtr(self) -> None:
        try:
            await self._port.keep_dtr()
        except PortError as error:
            self.fail(str(error))
            raise LinkFailedError(self.failed) from error

    async def ask(self, request: Message, kind: type[A]) -> A:
        """Sends a request until it is answered, at most `ATTEMPTS` times.

        Args:
            request: One that may be done twice.
            kind: The answer's type.

        Raises:
            RefusedError: The board refused it.
            LinkFailedError: No answer came; the link has failed by now.
        """
        return await self._ask(request, kind, ATTEMPTS)

    async def _ask(self, request: Message, kind: type[A], attempts: int) -> A:
        async with self._turn:
            for _ in range(attempts):
                frame = await self._exchange(request)
                if frame is None:
                    continue
                answer = ANSWERS[frame.type].unpack(frame.body)
                if isinstance(answer, RefusalAnswer):
                    raise RefusedError(f"the board refused it: {_reason(answer.reason)}")
                assert isinstance(answer, kind)
                return answer
            if attempts == 1:
                raise LinkError("the board did not answer")
            self.fail("the board does not answer")
            raise LinkFailedError(self.failed)

    async def _exchange(self, request: Message) -> Frame | None:
        """One attempt; None where no answer came in time."""
        if self.failed:
            raise LinkFailedError(self.failed)
        self._sequence = next(_NUMBERS)  # which an answer to an attempt before does not have
        self._asked = request.TYPE
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waiting = answer
        try:
            await self._port.write(encode(Frame(self._sequence, request.TYPE, request.pack())))
            async with asyncio.timeout(self._wait):
                return await answer
        except PortError as error:
            self.fail(str(error))
            raise LinkFailedError(self.failed) from error
        except TimeoutError:
            return None
        finally:
            self._waiting = None

    async def say_hello(self) -> HelloAnswer:
        """Asks who the board is now: another count of boots means that it was reset.

        Raises:
            LinkFailedError: It does not answer, or it is another one.
        """
        answer = await self.ask(HelloRequest(), HelloAnswer)
        known, self._hello = self.hello, answer
        if (answer.board_id, answer.protocol) != (known.board_id, known.protocol):
            self.fail("another board is there now")
            raise LinkFailedError(self.failed)
        return answer

    async def set(self, channel: int, level: int, fade: int = 0) -> Level:
        """Brings a channel to a level, and reads back that the board has it so.

        Args:
            channel: Which.
            level: 0 to 1000 per mille.
            fade: How long it takes, in 10 ms.

        Returns:
            The level as it is now, and the target.

        Raises:
            RefusedError: The board refused it.
            LinkError: What the board tells is something else.
            LinkFailedError: It was not confirmed.
        """
        answer = await self.ask(SetRequest(channel, level, fade), SetAnswer)
        if (answer.channel, answer.target) != (channel, level):
            raise LinkError(f"the board set channel {answer.channel} to {answer.target} per mille")
        told = await self.get(channel)
        if told.target != level:
            raise LinkError(f"the board has channel {channel} at {told.target} per mille")
        return told

    async def get(self, channel: int) -> Level:
        """How a channel is.

        Raises:
            LinkError: As for `ask`.
        """
        answer = await self.ask(GetRequest(channel), GetAnswer)
        if answer.channel != channel:
            raise LinkError(f"the board tells of channel {answer.channel}")
        return Level(answer.level, answer.target)

    async def levels(self) -> list[Level]:
        """How all channels are.

        Raises:
            LinkError: As for `ask`; or they are not all told.
        """
        count = self.hello.dim_channels + self.hello.relay_channels
        found: list[Level] = []
        while len(found) < count:
            answer = await self.ask(GetAllRequest(len(found)), GetAllAnswer)
            if answer.first != len(found) or not 0 < len(answer.levels) <= min(PAGE, count - len(found)):
                raise LinkError("the board does not tell all of its channels")
            found += answer.levels
        return found

    async def inputs(self) -> int:
        """Which inputs are pressed now: bit n is input n.

        Raises:
            LinkError: As for `ask`.
        """
        return (await self.ask(InputsRequest(), InputsAnswer)).bits

    async def set_safe(self, request: SafeRequest) -> None:
        """Says what a channel falls to when nobody talks to the board, and what it does after power was away.

        Raises:
            LinkError: As for `ask`; or the board kept something else.
        """
        answer = await self.ask(request, SafeAnswer)
        if vars(answer) != vars(request):
            raise LinkError(f"the board keeps something else for channel {request.channel}")

    async def set_silence(self, request: SilenceRequest) -> None:
        """Says after how long without a word from us the channels fall to their safe levels.

        Raises:
            LinkError: As for `ask`; or the board kept something else.
        """
        answer = await self.ask(request, SilenceAnswer)
        if answer.period != request.period:
            raise LinkError("the board keeps another period of silence")

    async def stats(self) -> StatsAnswer:
        """What the board has counted.

        Raises:
            LinkError: As for `ask`.
        """
        return await self.ask(StatsRequest(), StatsAnswer)

    async def name(self, board_id: bytes) -> None:
        """Gives a board without an id its own. It is refused the second time, so it is sent once.

        Raises:
            LinkError: It has not that id now.
        """
        try:
            await self._ask(NameRequest(board_id), NameAnswer, attempts=1)
        except LinkError as error:
            _log.debug("%s: %s", self.path, error)
        answer = await self.ask(HelloRequest(), HelloAnswer)
        if answer.board_id != board_id:
            raise LinkError("the board did not take its id")
        self._hello = answer

    def fail(self, reason: str) -> None:
        """Ends it for good; who waits for an answer is told."""
        if self.failed:
            return
        self.failed = reason
        self.ended.set()
        if self._waiting and not self._waiting.done():
            self._waiting.set_exception(PortError(reason))

    async def close(self) -> None:
        """Lets go of the port."""
        self.fail("it was closed")
        await self._port.close()

    def _hear(self, data: bytes) -> None:
        if self._hello is None:
            self._ours_heard = self._ours_heard or MAGIC in self._decoder.unfinished + data
        for frame in self._decoder.feed(data):
            try:
                self._hear_frame(frame)
            except ValueError as error:  # a good checksum around what is no message
                _log.warning("%s: %s", self.path, error)

    def _hear_frame(self, frame: Frame) -> None:
        greeting_awaited = self._hello is None
        if frame.sequence:
            if self._waiting and not self._waiting.done() and self._answers(frame, greeting_awaited):
                self._waiting.set_result(frame)
        elif frame.type == BootedEvent.TYPE:
            if greeting_awaited and self._waiting and not self._waiting.done():
                self._waiting.set_result(frame)
            elif not greeting_awaited:
                self._booted()
        elif frame.type == InputEvent.TYPE and not greeting_awaited:
            self._pressed(InputEvent.unpack(frame.body))

    def _answers(self, frame: Frame, greeting: bool) -> bool:
        """Whether it answers what was asked last, and can be read.

        Raises:
            ValueError: It cannot.
        """
        if frame.sequence != self._sequence:
            return False
        if greeting:
            return frame.type == HelloAnswer.TYPE
        if frame.type == RefusalAnswer.TYPE:
            return RefusalAnswer.unpack(frame.body).refused == self._asked
        if frame.type != self._asked | ANSWER_BIT:
            return False
        ANSWERS[frame.type].unpack(frame.body)
        return True


def greeting(frame: Frame) -> HelloAnswer:
    """What a board says of itself.

    Raises:
        ForeignError: It is none of ours, or speaks another version.
    """
    if not frame.body.startswith(MAGIC):
        raise ForeignError("what answers there is no Hearth board")
    # The version stands at the same place in all versions; what comes after it does not.
    version = frame.body[len(MAGIC)] if len(frame.body) > len(MAGIC) else 0
    if version != VERSION:
        raise ForeignError(
            f"the board speaks version {version} of the protocol, and this Hearth version {VERSION}: "
            "hearth board flash",
            ours=True,
        )
    try:
        return HelloAnswer.unpack(frame.body)
    except ValueError as error:
        raise ForeignError(f"what answers there is no Hearth board ({error})") from error


def _reason(number: int) -> str:
    known = {
        Reason.UNKNOWN_TYPE: "it does not know such a request",
        Reason.BAD_LENGTH: "the request has a wrong length",
        Reason.BAD_CHANNEL: "it has no such channel",
        Reason.BAD_VALUE: "the value is out of range for that channel",
        Reason.WRONG_STATE: "it cannot do that now",
    }
    return known[Reason(number)] if number in known else f"reason {number}"
