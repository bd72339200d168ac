"""How quick and how large the model is, and the light controller: `make bench`, or `tests/bench.py [MODEL.tflite]`.

A fresh process, one thread; what is measured of the light controller is in bench_board.py, and comes at the end.
First comes loading, then the commands below with 20 tools, after which memory is read, then the same with 10, 50 and
200 tools, and whole commands in houses of 10, 100 and 1000 devices. The parts of a decision are those of
`TfliteModel.timing`; the grammar, which is a share of the decoder, is timed in a pass of its own and from outside, so
that its clock costs the other figures and the product nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

# Before numpy comes, which reads it only then: one thread is what a board has left for us.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    from agent.model.generative import GenerateContentRequest
    from agent.model.tflite import TfliteModel
    from agent.schema import FunctionDeclaration
    from tools.home import Home

ROUNDS = 3
"""How often the commands are gone through."""

COMMANDS = """
turn on the kitchen light
turn off the lights in the living room
bedroom lamp to 40 percent please
could you make it a bit brighter in the office
dim the hall light
everything off
set the reading lamp to a warm white
make the floor lamp blue
switch on the coffee machine
is the garage door open
open the garage door
please close the garage
what time is it
which day is it today
what's the weather like in Lisbon in celsius
do I need an umbrella in Oslo
which lights are on
are any windows open upstairs
how bright is the dining room
turn on the fan in the guest room and switch off the heater
lights out in the whole house except the nursery
it is far too dark in here
landing light at half brightness
full brightness in the workshop
kill the lights in the basement
would you mind turning the bathroom light down by twenty percent
not the kitchen, the pantry
put the television on
I'm going to bed, turn off everything downstairs
start a timer for twelve minutes
wake me at half past six tomorrow
add oat milk and two lemons to the shopping list
set the heating in the study to twenty one degrees
lower the blinds in the conservatory
lock the front door
play something calm in the living room
volume to thirty five
next song
remind me to call grandma on Sunday afternoon
how long is left on the pasta timer
cancel the alarm
don't turn on the porch light
never mind
tell me a joke
order a large pizza with mushrooms
what happens if I unplug the freezer
did I leave the iron on
is it warmer in Cairo than here
turn it up
and the hallway too please
the lamp by the couch in the living room should be green
set the desk light to 2700 kelvin
brighten the worktop light by fifteen percent
all the lights in the garden on at ten percent
can you check whether the back door is shut
how many lights are on upstairs
get the cellar light for me will you
kettle on
no light in the toilet please
turn the bedroom lights red and the bathroom lights off
make dinner lighting in the dining room, thirty percent will do
open the Camera app
read me the news of this morning
send Ann a message that I will be ten minutes late
""".strip().splitlines()


def main(arguments: Sequence[str]) -> int:
    """Prints the tables; 1 when there is no model to measure."""
    path = Path(arguments[0]) if arguments else None
    started = time.perf_counter()
    from agent.model.tflite import TfliteModel

    try:
        model = TfliteModel(path)
    except (ImportError, OSError, ValueError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        measure_board(None)
        return 1
    load_ms = _ms_since(started)
    tools = declared(200)
    first_ms, _ = decided(model, COMMANDS[0], tools[:20])
    usual = measured(model, tools[:20], COMMANDS)
    memory = resident_mb()
    started = time.perf_counter()
    for each in tools[20:120]:
        model.card(each)
    cards = 100_000 / _ms_since(started)
    # A command that nothing fits is declined in one decision: only those that ten tools answer can be compared.
    answered = [command for command in COMMANDS if model.decide(request(command, tools[:10])).function_calls]
    rows = {count: measured(model, tools[:count], answered) for count in (10, 50, 200)}

    print(f"{processor()}, {os.cpu_count()} cores, one used; {len(COMMANDS)} commands, {ROUNDS} rounds\n")
    print(f"load                 {load_ms:8.1f} ms")
    print(f"first command        {first_ms:8.1f} ms, reading 20 declarations before it")
    print(f"declarations         {cards:8.1f} per second")
    print(f"resident memory      {memory:8.1f} MB, with 20 tools\n")
    print("text to call, ms        p50     p95   tokenizer  encoder  decoder  of it grammar")
    print(f"  20 tools         {cells(usual)}   all {len(COMMANDS)} commands")
    for count, row in rows.items():
        print(f"{count:>4} tools         {cells(row)}   {len(answered)} that 10 tools answer")
    print("\na name to its devices and a whole command with the house's own functions, ms")
    print("                        name p50     p95  command p50     p95")
    for count in (10, 100, 1000):
        row = zip(housed(model, count), (11, 8, 13, 8), strict=True)
        print(f"{count:>4} devices       " + "".join(f"{value:>{width}.2f}" for value, width in row))
    measure_board(model)
    return 0


def measure_board(model: TfliteModel | None) -> None:
    """Prints the table of the light controller. What it needs is imported only now: before, the model is measured."""
    from tests import bench_board

    bench_board.main(model)


WIDTHS = (8, 8, 12, 9, 9, 15)


def cells(row: Sequence[float]) -> str:
    """A row of the table."""
    return "".join(f"{value:>{width}.1f}" for value, width in zip(row, WIDTHS, strict=True))


def measured(model: TfliteModel, tools: tuple[FunctionDeclaration, ...], commands: Sequence[str]) -> tuple[float, ...]:
    """p50 and p95 of a command, the p50 of each part of it, and that of the grammar, in milliseconds."""
    for command in commands[:3]:
        decided(model, command, tools)
    totals: list[float] = []
    parts: list[tuple[float, float, float]] = []
    for command in [*commands] * ROUNDS:
        total, part = decided(model, command, tools)
        totals.append(total)
        parts.append(part)
    grammar = grammar_times(model, tools, commands)
    medians = [median(times) for times in (*zip(*parts, strict=True), grammar)]
    return median(totals), quantiles(totals, n=20)[-1], *medians


def housed(model: TfliteModel, devices: int) -> tuple[float, ...]:
    """p50 and p95 of looking up a name, then of a whole command up to its answer, in milliseconds.

    Names are looked up as they are, with a letter missing, and where there is none.
    """
    from tests.homes import large_home
    from tools.names.resolve import SWITCH_LIGHTS, PlaceError, Resolver

    home = large_home(devices)
    lamps = [device.name for device in home.devices if device.kind.value == "light"][:: max(1, devices // 30)]
    resolver = Resolver(home)
    lookups: list[float] = []
    for name in (*lamps, *(name[:-3] + name[-2:] for name in lamps), "wardrobe of the neighbours", "chandelier"):
        started = time.perf_counter()
        with suppress(PlaceError):
            resolver.resolve(name, SWITCH_LIGHTS)
        lookups.append(_ms_since(started))
    commands = asyncio.run(_commands(model, home, [f"turn on the {name}" for name in lamps]))
    return median(lookups), quantiles(lookups, n=20)[-1], median(commands), quantiles(commands, n=20)[-1]


async def _commands(model: TfliteModel, home: Home, sentences: Sequence[str]) -> list[float]:
    """How long each took in a house in memory, in milliseconds."""
    from agent import Agent, AgentRunner
    from agent.house_store import HouseStore
    from tools.devices import Devices
    from tools.drivers.memory import MemoryDriver
    from tools.house import House

    took: list[float] = []
    devices = Devices(home)
    devices.attach("memory", MemoryDriver(home.devices, devices.report))
    house = House(devices, None, HouseStore())
    async with AgentRunner(Agent("bench", tools=house.tools), model) as runner:
        for sentence in (sentences[0], *sentences * ROUNDS):
            started = time.perf_counter()
            async for _ in runner.run_single_turn(sentence):
                pass
            took.append(_ms_since(started))
    return took[1:]


def decided(
    model: TfliteModel, command: str, tools: tuple[FunctionDeclaration, ...]
) -> tuple[float, tuple[float, float, float]]:
    """How long one command took, and its parts, in milliseconds."""
    question = request(command, tools)
    started = time.perf_counter()
    model.decide(question)
    total = _ms_since(started)
    timing = model.timing
    return total, (timing.tokenizer, timing.encoder, timing.decoder)


def request(command: str, tools: tuple[FunctionDeclaration, ...]) -> GenerateContentRequest:
    """What the model is asked for a command."""
    from agent.content import Content
    from agent.model.generative import GenerateContentRequest

    return GenerateContentRequest((Content.user(command),), tools)


class TimedModule:
    """A module whose functions are timed; what they yield is taken from them at once.

    Attributes:
        ms: How long they took together, in milliseconds.
    """

    def __init__(self, module: Any) -> None:
        self._module = module
        self.ms = 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return self._timed(found) if callable(found) else found

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            started = time.perf_counter()
            result = function(*arguments)
            if isinstance(result, Iterator):
                result = iter(list(result))
            self.ms += _ms_since(started)
            return result

        return timed


def grammar_times(model: TfliteModel, tools: tuple[FunctionDeclaration, ...], commands: Sequence[str]) -> list[float]:
    """How long the grammar took for each command, in milliseconds."""
    from agent.model import decode, grammar

    times = []
    timed = TimedModule(grammar)
    with patch.object(decode, "grammar", timed):
        for command in commands:
            timed.ms = 0.0
            model.decide(request(command, tools))
            times.append(timed.ms)
    return times


def declared(count: int) -> tuple[FunctionDeclaration, ...]:
    """The functions of the house, then such as a user may add."""
    from agent.schema import FunctionDeclaration
    from tools import declarations

    actions = product(
        ("start", "stop", "pause", "clean", "check", "lock", "move", "raise", "lower", "program", "reset", "share"),
        ("dishwasher", "washing machine", "dryer", "oven", "vacuum robot", "sprinkler", "pool pump", "aquarium",
         "air purifier", "projector", "printer", "boiler", "doorbell", "cat feeder", "greenhouse", "awning"),
    )  # fmt: skip
    more = [
        FunctionDeclaration.from_json(
            {
                "name": f"{verb}_{thing.replace(' ', '_')}",
                "description": f"{verb.capitalize()}s the {thing} for a while or until it is told otherwise.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "minutes": {"type": "integer", "description": "For how long.", "minimum": 1, "maximum": 240},
                        "mode": {"type": "string", "enum": ["eco", "normal", "quick"]},
                    },
                },
            }
        )
        for verb, thing in actions
    ]
    tools = (*declarations(), *more)[:count]
    assert len(tools) == count, f"there are only {len(tools)} tools"
    return tools


def resident_mb() -> float:
    """The memory of this process that is in RAM, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    return float("nan")


def processor() -> str:
    """What the machine calls its processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith(("model name", "model\t")):
            name = line.partition(":")[2].strip()
            if not name.isdigit():
                return name
    return os.uname().machine


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
