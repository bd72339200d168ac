"""This model beside others: `make bench-peers`, or `python tests/bench_peers.py [--most N]`.

The same commands (`tests/data/peers.jsonl`), the example house and 20 of its functions for each of them:

- hearth: the model that ships,
- hassil: Home Assistant's parser with its English sentences; the house's rooms, floors and devices are its lists, and
  the functions that its intents stand for are `of_intent` below,
- smollm2: SmolLM2-135M-Instruct by llama.cpp, as `preference = "full"` runs it.

Each is measured in processes of its own, with one thread and with two. hassil has only one. A call counts as right
when it would move the same devices with the same arguments. Writes the table and the plot of docs/peers.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

COMMANDS = ROOT / "tests" / "data" / "peers.jsonl"
PAGE = ROOT / "docs" / "peers.md"
PLOT = ROOT / "docs" / "peers.svg"
PEERS = (("hearth", 1), ("hearth", 2), ("hassil", 1), ("smollm2", 1), ("smollm2", 2))
FUNCTIONS = """
turn_on_light turn_off_light turn_on_switch turn_off_switch set_fan_speed open_cover close_cover set_cover_position
set_temperature get_temperature get_time get_date set_timer pause_media resume_media next_track set_volume start_vacuum
dock_vacuum add_to_list
""".split()

Calls = list[tuple[str, dict[str, Any]]]
Understand = Callable[[str], Calls]
"""From words to calls."""


def main(arguments: Sequence[str]) -> int:
    """Measures all of them, or in a process of its own one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000, help="commands for smollm2, which is slow")
    parser.add_argument("--one", nargs=2, metavar=("PEER", "THREADS"), help="measures one, and prints JSON")
    given = parser.parse_args(arguments)
    if given.one:
        peer, threads = given.one
        print(json.dumps(asyncio.run(measured(peer, int(threads), given.most))))
        return 0
    rows = []
    for peer, threads in PEERS:
        print(f"{peer}, {threads} thread{'s' * (threads > 1)} ...", file=sys.stderr)
        # Before numpy comes, which reads it only then.
        env = {**os.environ, **{f"{each}_NUM_THREADS": str(threads) for each in ("OMP", "OPENBLAS", "MKL")}}
        command = [sys.executable, __file__, "--most", str(given.most), "--one", peer, str(threads)]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        if done.returncode:
            print(f"{peer} failed", file=sys.stderr)
            return 1
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    table = as_table(rows)
    print(table)
    PLOT.write_text(as_plot(rows), encoding="utf-8")
    head, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    PAGE.write_text(f"{head}{mark}\n\n{table}", encoding="utf-8")
    return 0


MARK = "<!-- what follows is written by make bench-peers -->"


async def measured(peer: str, threads: int, most: int) -> dict[str, Any]:
    """The figures of one peer."""
    from agent.config import EXAMPLE_SETTINGS, read_settings
    from agent.evaluation.equality import call_key
    from agent.service import open_house

    settings = read_settings(EXAMPLE_SETTINGS)
    lines = [json.loads(line) for line in COMMANDS.read_text(encoding="utf-8").splitlines()]
    if peer == "smollm2":
        lines = lines[:: max(1, len(lines) // most)]
    async with open_house(settings, None) as house:
        by_name = {each.name: each.declaration for each in house.tools}
        tools = tuple(by_name[name] for name in FUNCTIONS)
        before = resident_mb()
        started = time.perf_counter()
        understand = LOADERS[peer](threads, tools, settings.house_table)
        load = time.perf_counter() - started
        started = time.perf_counter()
        understand(lines[0]["text"])
        first = time.perf_counter() - started
        took: list[float] = []
        right: list[str] = []
        wrong: list[str] = []
        for line in lines:
            started = time.perf_counter()
            calls = understand(line["text"])
            took.append((time.perf_counter() - started) * 1e3)

            def key(calls: Calls) -> list[Any]:
                keys = (call_key(name, with_seconds(each), by_name.get(name), house) for name, each in calls)
                return sorted(keys, key=repr)

            due = [(each["name"], each["arguments"]) for each in line["calls"]]
            (right if key(calls) == key(due) else wrong).append(f"{line['text']} -> {calls}")
    print(*wrong, sep="\n", file=sys.stderr)
    return {
        "peer": peer,
        "threads": threads,
        "commands": len(lines),
        "right": len(right),
        "p50": median(took),
        "p95": quantiles(took, n=20)[-1],
        "load": load,
        "first": first,
        "memory": resident_mb(),
        "own": resident_mb() - before,
    }


def with_seconds(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with a duration in seconds: "five minutes" and "5 minutes" are the same."""
    from tools.times.durations import parse_duration

    same = dict(arguments)
    if isinstance(same.get("duration"), str):
        with suppress(ValueError):
            same["duration"] = parse_duration(same["duration"])
    if isinstance(same.get("list"), str):
        same["list"] = same["list"].removesuffix(" list")
    return same


def resident_mb() -> float:
    """What of this process is in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# The three


def hearth(threads: int, tools: Any, house: Mapping[str, Any]) -> Understand:
    """The model that ships."""
    from agent.content import Content
    from agent.model.generative import GenerateContentRequest
    from agent.model.tflite import TfliteModel

    model = TfliteModel(threads=threads)

    def understand(text: str) -> Calls:
        candidate = model.decide(GenerateContentRequest((Content.user(text),), tools))
        return [(call.name, call.arguments) for call in candidate.function_calls]

    return understand


def smollm2(threads: int, tools: Any, house: Mapping[str, Any]) -> Understand:
    """A language model behind the same interface."""
    from agent.content import Content
    from agent.model.generative import GenerateContentRequest
    from agent.model.gguf import GgufModel

    model = GgufModel(threads=threads)

    def understand(text: str) -> Calls:
        pieces = model.decide(GenerateContentRequest((Content.user(text),), tools))
        return [(call.name, call.arguments) for piece in pieces for call in piece.function_calls]

    return understand


DOMAINS = {
    "light": "light",
    "switch": "switch",
    "plug": "switch",
    "fan": "fan",
    "blind": "cover",
    "curtain": "cover",
    "shutter": "cover",
    "awning": "cover",
    "lock": "lock",
    "thermostat": "climate",
    "air_conditioner": "climate",
    "television": "media_player",
    "speaker": "media_player",
    "vacuum": "vacuum",
    "mower": "lawn_mower",
    "sensor": "sensor",
    "garage_door": "cover",
    "window": "binary_sensor",
    "door": "binary_sensor",
    "detector": "binary_sensor",
}
"""Home Assistant's domain of our kinds of device."""

CLASSES = {"blind": "blind", "curtain": "curtain", "shutter": "shutter", "awning": "awning", "garage_door": "garage"}
"""Its device class, where the sentences ask for one."""


def hassil(threads: int, tools: Any, house: Mapping[str, Any]) -> Understand:
    """Home Assistant's parser, told of the same rooms, floors and devices."""
    from hassil import Intents, recognize_best
    from hassil.intents import TextSlotList
    from home_assistant_intents import get_intents

    intents = Intents.from_dict(get_intents("en"))
    domains: dict[str, str] = {}

    def named(
        entries: Sequence[Mapping[str, Any]], context: Callable[[Mapping[str, Any]], dict[str, Any]]
    ) -> list[Any]:
        return [
            (called, each["name"], context(each))
            for each in entries
            for called in (each["name"], *each.get("aliases", ()))
        ]

    def of_device(device: Mapping[str, Any]) -> dict[str, Any]:
        kind = device["kind"]
        domains[device["name"]] = DOMAINS[kind]
        context = {"domain": DOMAINS[kind], "area": device.get("room", "")}
        return {**context, "device_class": CLASSES[kind]} if kind in CLASSES else context

    lists = [{"name": "shopping list"}, {"name": "shopping"}, *house.get("list", ())]
    names = named(house["device"], of_device) + named(lists, lambda each: {"domain": "todo"})
    slots = {
        "name": TextSlotList.from_tuples(names),
        "area": TextSlotList.from_tuples(named(house["room"], lambda each: {})),
        "floor": TextSlotList.from_tuples(named(house["floor"], lambda each: {})),
    }

    def understand(text: str) -> Calls:
        found = recognize_best(text, intents, slot_lists=slots, best_slot_name="name")
        if found is None:
            return []
        given = {name: entity.value for name, entity in found.entities.items()}
        return of_intent(found.intent.name, given, domains)

    return understand


def of_intent(intent: str, given: Mapping[str, Any], domains: Mapping[str, str]) -> Calls:
    """Our functions for an intent with its slots: the table of docs/intents.md, for the functions that are measured."""
    name, place = given.get("name"), given.get("name") or given.get("area") or given.get("floor")
    domain = given.get("domain") or domains.get(name or "", "")
    domain = domain[0] if isinstance(domain, list) else domain
    if intent in ("HassTurnOn", "HassTurnOff"):
        on = intent == "HassTurnOn"
        if domain == "cover":
            noun = f"{place} {given['device_class']}s" if "device_class" in given and not name else place
            return [("open_cover" if on else "close_cover", {"cover": noun})]
        kind, parameter = ("light", "room") if domain == "light" else ("switch", "device")
        return [(f"turn_{'on' if on else 'off'}_{kind}", {parameter: place})]
    if intent == "HassLightSet":
        wanted = {key: given[key] for key in ("brightness", "color") if key in given}
        return [("turn_on_light", {"room": place, **wanted})]
    if intent == "HassStartTimer":
        units = [f"{given[unit]} {unit}" for unit in ("hours", "minutes", "seconds") if unit in given]
        return [("set_timer", {"duration": " ".join(units), **({"name": name} if name else {})})]
    if intent in ("HassListAddItem", "HassShoppingListAddItem"):
        return [("add_to_list", {"item": given["item"], "list": name or "shopping list"})]
    simple: dict[str, Callable[[], Calls]] = {
        "HassFanSetSpeed": lambda: [("set_fan_speed", {"fan": place, "speed": given.get("percentage")})],
        "HassSetPosition": lambda: [("set_cover_position", {"cover": place, "position": given.get("position")})],
        "HassClimateSetTemperature": lambda: [
            ("set_temperature", {"temperature": given["temperature"], "room": place})
        ],
        "HassClimateGetTemperature": lambda: [("get_temperature", {"room": place})],
        "HassGetCurrentTime": lambda: [("get_time", {})],
        "HassGetCurrentDate": lambda: [("get_date", {})],
        "HassMediaPause": lambda: [("pause_media", {"player": place})],
        "HassMediaUnpause": lambda: [("resume_media", {"player": place})],
        "HassMediaNext": lambda: [("next_track", {"player": place})],
        "HassSetVolume": lambda: [("set_volume", {"volume": given.get("volume_level"), "player": place})],
        "HassVacuumStart": lambda: [("start_vacuum", {"vacuum": place})],
        "HassVacuumReturnToBase": lambda: [("dock_vacuum", {"vacuum": place})],
    }
    return simple[intent]() if intent in simple else [(intent, dict(given))]


LOADERS: dict[str, Callable[..., Understand]] = {"hearth": hearth, "hassil": hassil, "smollm2": smollm2}
TITLES = {"hearth": "Hearth", "hassil": "hassil", "smollm2": "SmolLM2-135M"}


# What is written


def as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Markdown, with the processor above it."""
    cells = [
        f"| {TITLES[row['peer']]} | {row['threads']} | {row['right']} of {row['commands']} | {row['p50']:.1f} |"
        f" {row['p95']:.1f} | {row['load'] * 1e3:.0f} | {row['first'] * 1e3:.0f} |"
        f" {row['memory']:.0f} | {row['own']:.0f} |"
        for row in rows
    ]
    head = "| | threads | calls right | p50 ms | p95 ms | load ms | first command ms | process MB | of it its own MB |"
    return "\n".join([f"{processor()}, {os.cpu_count()} cores.\n", head, "|---|" + "---:|" * 8, *cells, ""])


def processor() -> str:
    """Its name."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(("model name", "Model")):
            return line.partition(":")[2].strip()
    return "An unknown processor"


def as_plot(rows: Sequence[Mapping[str, Any]]) -> str:
    """Calls right over milliseconds, which grow tenfold from line to line."""
    from math import floor, log10

    width, height, left, top = 640, 360, 70, 30
    least = 10.0 ** floor(log10(min(row["p50"] for row in rows)))
    decades = max(1, floor(log10(max(row["p50"] for row in rows) / least)) + 1)

    def x(ms: float) -> float:
        return left + (width - left - 30) * log10(ms / least) / decades

    def y(share: float) -> float:
        return top + (height - top - 60) * (1 - share)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="18">calls right, over milliseconds from text to call (p50)</text>',
    ]
    for decade in range(decades + 1):
        at, ms = x(least * 10**decade), least * 10**decade
        parts.append(f'<line x1="{at:.0f}" y1="{y(1)}" x2="{at:.0f}" y2="{y(0)}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.0f}" y="{y(0) + 18}" text-anchor="middle">{ms:g} ms</text>')
    for percent in (0, 25, 50, 75, 100):
        at = y(percent / 100)
        parts.append(f'<line x1="{x(least):.0f}" y1="{at:.0f}" x2="{width - 30}" y2="{at:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.0f}" text-anchor="end">{percent} %</text>')
    for row in rows:
        at_x, at_y = x(row["p50"]), y(row["right"] / row["commands"])
        fill = "#c2410c" if row["peer"] == "hearth" else "#475569"
        parts.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="5" fill="{fill if row["threads"] == 1 else "white"}"')
        parts.append(f' stroke="{fill}" stroke-width="2"/>')
        if row["threads"] == 1:
            end = at_x > width - 140
            parts.append(f'<text x="{at_x + (-9 if end else 9):.1f}" y="{at_y - 9:.1f}"')
            parts.append(f' text-anchor="{"end" if end else "start"}" fill="{fill}">{TITLES[row["peer"]]}</text>')
    parts.append(f'<text x="{left}" y="{height - 12}">filled: one thread; hollow: two</text></svg>')
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
