"""All channels set, round after round, by the driver as it ships: what it says of that, beside what the pins do."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.hil.board import DEADLINE, EmulatedBoard, RealBoard
from tests.serial_bench import Bench
from tools.device import Device, Kind, State
from tools.drivers import DeviceError
from tools.drivers.serial.options import SerialOptions

LAMPS = tuple(
    Device(
        f"lamp_{number}",
        f"lamp {number}",
        Kind.LIGHT,
        can=("brightness",),
        options=SerialOptions(channel=number, fade_s=0),
    )
    for number in range(6)
)
RELAYS = tuple(
    Device(f"relay_{number}", f"relay {number}", Kind.SWITCH, options=SerialOptions(relay=number))
    for number in range(2)
)
DEVICES = (*LAMPS, *RELAYS)
"""The device at each channel, by its number."""

LOOK_S = 10.0
"""How often the driver of these rounds looks how the board is: by that it would mend what it had believed wrongly."""

CONFIRMED_WITHIN_S = 5.0
"""When a pin must do what was confirmed; 20 ms on an idle machine."""


def level_told(state: State) -> int:
    """The level in per mille that a state stands for."""
    return 0 if not state.on else 1000 if state.brightness is None else 10 * state.brightness


@dataclass
class Rounds:
    """What became of the sets.

    Attributes:
        made: The driver, with `DEVICES`, and `LOOK_S` between its looks.
        board: The board.
        chance: Where levels come from.
        confirmed: Sets that the driver said were done.
        failed: Sets that it said were not, or not confirmed.
        half_believed: What the pins did otherwise than the driver had said; a sentence for each.
    """

    made: Bench
    board: EmulatedBoard | RealBoard
    chance: random.Random
    confirmed: int = 0
    failed: int = 0
    half_believed: list[str] = field(default_factory=list)

    async def go(self) -> None:
        """Sets each channel once.

        Raises:
            TimeoutError: The driver does not find its board again.
        """
        believed: dict[int, int] = {}
        for channel, device in enumerate(DEVICES):
            percent = self.chance.randint(0, 100) if device in LAMPS else self.chance.choice((0, 100))
            try:
                state = await self.made.move(device, percent)
            except DeviceError:
                self.failed += 1
                continue
            self.confirmed += 1
            believed[channel] = 10 * percent
            if level_told(state) != 10 * percent:
                self.half_believed.append(f"{device.name} was set to {percent} percent, and said to be {state}")
        await self._compare(believed, "confirmed", CONFIRMED_WITHIN_S)
        if len(believed) < len(DEVICES):
            await self.tells_the_truth()

    async def tells_the_truth(self) -> None:
        """Waits until the board is there again; what is then told must be so, also of what was not confirmed."""
        await self.made.until_connected()
        await self._compare({}, "told", DEADLINE)

    async def _compare(self, levels: dict[int, int], how: str, within: float) -> None:
        """Compares, for so long in seconds, with given levels, or with what is told at each time."""

        def now() -> dict[int, int]:
            told = enumerate(level_told(self.made.states[device.id]) for device in DEVICES)
            return levels if how == "confirmed" else dict(told)

        try:
            await self.board.until(lambda: not self.board.wrong(now()), within)
        except TimeoutError:
            wrong = self.board.wrong(now())
            self.half_believed += [f"{how}: channel {each} at {now()[each]}, duty {wrong[each]}" for each in wrong]
