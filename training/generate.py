"""Examples from the hand-written text: seeded, without end, in groups that share their tools.

A group is what a device has declared at one time: some tools, and sentences for them,
beside them, and without them. Every value is a span of the sentence, of what was said
before, or a member; a label that is not raises at once.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from agent.model import grammar
from agent.model.generative import Outcome
from agent.model.prompt import HIDDEN_RESULT, MAX_TOOLS, Leaf, Segment, SegmentRole, leaves_of, render_values
from agent.names import spoken_name
from agent.schema import NUMERIC
from training import markup
from training.classes import Classes
from training.corpus import HERE, Corpus, Entry, Tool, WrittenCall
from training.distinct import alike, skeleton
from training.markup import Sentence

# Domains whose tools could take each other's wishes. A wish for a tool that is not declared is
# something to decline only if nothing of these is declared instead.
FAMILIES: dict[str, set[str]] = {
    "home": {
        "house.lights",
        "house.effects",
        "house.switches",
        "house.fans",
        "house.covers",
        "house.garage",
        "house.locks",
        "house.climate",
        "house.state",
        "house.several",
        "house.scenes",
        "house.later",
        "home_",
        "smart_tv_speakers",
        "thermostat_climate",
        "covers",
        "locks_security",
        "kitchen_appliances",
        "cleaning",
        "water_energy",
        "photo_camera",
        "house.indirect",
        "house.negatives",
        "elder_care",
        "network_router",
        "runs_devices_lab",
    },
    "weather": {
        "house.weather",
        "house.forecast",
        "house.climate",
        "weather_variants",
        "garden",
        "home_sensors",
        "farm",
        "boat",
    },
    "time": {
        "house.clock",
        "house.timers",
        "house.alarms",
        "house.reminders",
        "house.later",
        "timers_alarms",
        "phone",
        "calendar",
        "notes_reminders",
        "kitchen_appliances",
        "classroom",
        "gym_fitness",
        "recipes_cooking",
        "elder_care",
        "pharmacy",
        "hospital_ward",
        "restaurant_kitchen",
        "runs_meeting_room",
    },
    "media": {
        "house.media",
        "house.switches",
        "media",
        "smart_tv_speakers",
        "phone",
        "car",
        "pets_kids",
        "events_tickets",
        "games_sports",
        "podcast_radio",
        "ebook_reader",
        "music_studio",
        "computer_desktop",
    },
    "travel": {
        "maps_travel",
        "car",
        "events_tickets",
        "airline",
        "hotel",
        "public_transport",
        "car_rental",
        "boat",
        "runs_travel_plan",
        "electric_car_charging",
    },
    "messages": {
        "house.announce",
        "house.reminders",
        "phone",
        "email",
        "calendar",
        "office",
        "notes_reminders",
        "car",
        "school_learning",
        "smart_tv_speakers",
        "social_network",
        "elder_care",
        "hospital_ward",
        "classroom",
        "wedding_party",
        "runs_contacts",
        "runs_documents",
        "runs_meeting_room",
        "runs_tickets_support",
        "runs_family_tracker",
        "computer_desktop",
    },
    "robots": {
        "house.robots",
        "robots",
        "cleaning",
        "garden",
        "pets_kids",
        "drone",
        "farm",
        "warehouse",
    },
    "shop": {
        "house.lists",
        "shopping",
        "finance",
        "kitchen_appliances",
        "events_tickets",
        "notes_reminders",
        "office",
        "parcel_delivery",
        "warehouse",
        "pharmacy",
        "restaurant_kitchen",
        "recipes_cooking",
        "bank",
        "insurance",
        "runs_orders",
        "runs_store_stock",
        "runs_money_exchange",
        "wedding_party",
        "airline",
        "hotel",
    },
    "knowledge": {
        "translation_knowledge",
        "school_learning",
        "finance",
        "games_sports",
        "maps_travel",
        "health",
        "ebook_reader",
        "bank",
        "gym_fitness",
        "pharmacy",
        "runs_money_exchange",
        "runs_documents",
    },
    "health": {"health", "gym_fitness", "pharmacy", "hospital_ward", "elder_care", "insurance"},
    "money": {"finance", "bank", "insurance", "runs_money_exchange", "shopping", "runs_orders", "car_rental"},
    "computers": {"network_router", "computer_desktop", "phone", "office"},
    "energy": {"electric_car_charging", "water_energy"},
    "pictures": {"drone", "photo_camera", "phone"},
    "school": {"school_learning", "classroom", "calendar", "ebook_reader"},
    "cars": {"car", "electric_car_charging", "car_rental", "maps_travel"},
    "office": {
        "office",
        "printer_3d",
        "runs_documents",
        "computer_desktop",
        "runs_tickets_support",
        "runs_devices_lab",
        "music_studio",
    },
}

HOUSE_GROUPS = 0.6  # the share of groups that have functions of the house
HOUSE_TOOLS = 28  # at most in one group
# Free entries were written for what is hard (several wishes, follow-ups, runs) and fit few sets of tools.
ANCHORED = 0.6  # the share of groups made around the functions of one of them
ENTRIES = 0.38  # the share of free entries without earlier turns and results
KINDS = {"several": 0.4, "one": 0.35, "idle": 0.25}  # of those
CONTINUED = 0.24  # the share of examples that go on from something
TURNS = {"follow-up": 0.45, "idle follow-up": 0.06, "run": 0.3, "ended run": 0.09, "answered": 0.1}  # of those
DISTRACTED = 0.08  # the share of examples after an unrelated exchange
SLIPS = 0.16  # the share of examples with misspelt or misheard words
VARIED = 0.5  # the share of groups in which some tools are declared as others would have done it
SPLITS = {"validation": 7, "test": 13}  # of each twenty skeletons the ones kept apart


# What a recogniser makes of words it hears.
_HEARD: dict[str, tuple[str, ...]] = {
    "lights": ("light", "lites", "like's"),
    "light": ("lite", "right", "like"),
    "lamp": ("lamb", "lump"),
    "turn": ("tern", "term"),
    "blinds": ("blines", "blind", "blinks"),
    "blind": ("blinded", "bind"),
    "curtains": ("curtain", "curtins"),
    "close": ("clothes", "closed"),
    "open": ("opened", "hopen"),
    "the": ("a", "their", "thee"),
    "off": ("of", "orf"),
    "down": ("town",),
    "door": ("doors", "dawn"),
    "doors": ("door",),
    "heating": ("eating", "heeding"),
    "heat": ("heed", "eat"),
    "weather": ("whether", "wetter"),
    "what": ("watt", "wot"),
    "what's": ("whats", "watts"),
    "don't": ("dont", "do not"),
    "it's": ("its",),
    "hall": ("haul", "hole"),
    "room": ("run", "rome"),
    "play": ("plate", "pray"),
    "pause": ("paws", "pores"),
    "mute": ("moot",),
    "alarm": ("a larm", "alarms"),
    "timer": ("time her", "timers"),
    "minutes": ("minute", "minuets"),
    "remind": ("rewind", "re mind"),
    "lock": ("look", "log"),
    "fan": ("van", "fen"),
    "set": ("said", "sit"),
    "dim": ("them", "din"),
    "kitchen": ("kitchin", "chicken"),
    "and": ("an", "end"),
    "for": ("fore", "fur"),
    "too": ("to", "two"),
    "please": ("pleas", "police"),
    "for me": ("form e",),
    "volume": ("volumes",),
    "add": ("at", "had"),
    "list": ("lists", "least"),
    "vacuum": ("vaccum", "vacume"),
    "cancel": ("council", "cancell"),
    "stop": ("stob", "top"),
    "temperature": ("temprature", "temperatures"),
}
# Keys that lie beside each other.
_NEAR = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk",
    "k": "jl", "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o", "q": "w", "r": "et", "s": "ad", "t": "ry",
    "u": "yi", "v": "cb", "w": "qe", "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip

# How often the house stands beside tools of `naming.yaml`: where a name ends and the noun of its kind
# begins ("the Camera app", but "the reading lamp") is the hardest cut, and the house's own names get it wrong.
SHOWN_OFTEN = 0.7

# Whether more is called after a result is for the user's words to say, not for the result: the device reads
# once more with every result hidden, and calls no function that is not asked for then.
HIDDEN = 0.25  # the share of runs that are shown so

# A wish taken back is one to decline whatever is declared.
_TAKEN_BACK = re.compile(r"\b(don't|do not|dont|never|no need|forget it|cancel that|no wait|leave)\b", re.IGNORECASE)


@cache
def related(domain: str) -> frozenset[str]:
    """Every domain that shares a family with this one, itself included.

    A file may be one of several of a domain: `weather_variants_city` is of `weather_variants`.
    """
    return frozenset((domain,)).union(
        *(family for family in FAMILIES.values() if any(domain.startswith(member) for member in family))
    )


@cache
def close(domain: str, other: str) -> bool:
    """Whether tools of two domains could take wishes meant for each other."""
    return any(other.startswith(member) for member in related(domain))


def overlap(domain: str, others: set[str]) -> bool:
    """Whether tools of a domain could take wishes meant for tools of the others, or the reverse."""
    return any(close(domain, other) for other in others)


@dataclass(frozen=True)
class Span:
    """A value that is words: `segments[segment].text[start:end]`."""

    segment: int
    start: int
    end: int


@dataclass(frozen=True)
class Member:
    """A value that is a member of its enum."""

    value: Any


Value = Span | Member


@dataclass(frozen=True)
class LabelledCall:
    """A right call: for each leaf path its values (none is absent, several are a list's)."""

    name: str
    values: dict[tuple[str, ...], tuple[Value, ...]]


@dataclass(frozen=True)
class Example:
    """What is read and what is right."""

    segments: tuple[Segment, ...]
    outcome: Outcome
    calls: tuple[LabelledCall, ...] = ()
    category: str = ""
    values_known: bool = True
    """False where only the function is told: its values stand in results that are not shown, or nobody wrote them."""
    pattern: str = ""
    """What its words were made of."""


def values_of(example: Example, call: LabelledCall, leaf: Leaf) -> list[Any]:
    """What a call of an example gives a leaf, as the device would have it."""
    return [
        value.value
        if isinstance(value, Member)
        else grammar.fitted(leaf, example.segments[value.segment].text[value.start : value.end])
        for value in call.values.get(leaf.path, ())
    ]


@dataclass(frozen=True)
class Group:
    """Examples under the same declarations."""

    tools: tuple[Tool, ...]
    examples: tuple[Example, ...]
    terse: tuple[int, ...] = ()
    """For each tool what of its declaration is left out, see `batch.shortened`; empty is nothing."""


@dataclass
class Spoken:
    """A sentence on its way to an example: what is said with the calls it means."""

    sentence: Sentence
    calls: list[tuple[Tool, dict[tuple[str, ...], list[tuple[int, int] | Member]]]] = field(default_factory=list)


_OPENERS = (
    "hey ",
    "ok ",
    "okay so ",
    "um ",
    "please ",
    "hi, ",
    "uh ",
    "so ",
    "well ",
    "hey hearth, ",
    "listen, ",
    "alright, ",
    "could you ",
    "sorry, ",
)
# What people say before a wish; it is no wish of its own.
_PREAMBLES = (
    "we have guests, ",
    "the kids are asleep, ",
    "I'm home, ",
    "movie time, ",
    "I have a headache, ",
    "it's getting late, ",
    "my hands are full, ",
    "before I forget, ",
    "not again, ",
    "long day, ",
    "I'm tired, ",
    "the baby is sleeping, ",
    "guests are coming, ",
    "ok we're leaving, ",
    "I'm cooking, ",
    "dinner's ready, ",
    "my eyes hurt, ",
    "bad dream, ",
    "I can't find my keys, ",
    "who did that? ",
    "here we go. ",
    "good morning! ",
    "I'm off to bed. ",
    "thanks for that. ",
)
_CLOSERS = (" please", " thanks", ", please", " now", " for me", ", thank you", " right now", " would you")
_JOINERS = (" and ", " and ", " and then ", ", then ", ", and ", ". ", " and also ", ", ", "; ", " then ", ". then ")
_SMALL_TALK = (
    ("thanks", "You're welcome."),
    ("good morning", "Good morning."),
    ("what can you do", "I can switch your lights."),
    ("tell me a joke", "I can't do that."),
    ("never mind", "Okay."),
)


def _kind(entry: Entry) -> str:
    """What an entry is drawn as."""
    if entry.steps:
        return "run" if entry.calls else "ended run"
    if entry.history:
        return "follow-up" if entry.calls else "idle follow-up"
    return "idle" if not entry.calls else "several" if len(entry.calls) > 1 else "one"


def split_of(pattern: str) -> str:
    """The split a pattern belongs to, by its skeleton: so adding a line moves no other, and no skeleton is in two."""
    place = zlib.crc32(skeleton(pattern).encode()) % 20
    return next((name for name, kept in SPLITS.items() if place == kept), "train")


def _like_train(corpus: Corpus) -> frozenset[str]:
    """The patterns kept apart that differ from one that is trained on in no more than a word of five."""
    tools = corpus.house + corpus.others
    texts = [text for tool in tools for text in tool.says + tool.asks + tool.declines]
    texts += [entry.text for entry in corpus.entries + corpus.other_entries]
    apart = [text for text in texts if split_of(text) != "train"]
    return frozenset(alike(apart, [text for text in texts if split_of(text) == "train"]))


def _moved(place: int, edits: Sequence[tuple[int, int, int]]) -> int:
    """Where a place of a text is after edits of it."""
    for start, end, letters in edits:
        if place >= end:
            place += letters - (end - start)
        elif place > start:
            place = min(place, start + letters)
    return place


class Generator:
    """Draws groups of examples from a corpus."""

    def __init__(self, corpus: Corpus, seed: int, split: str | None = "train") -> None:
        """Takes the patterns of a split.

        Args:
            corpus: What was written.
            seed: Of everything drawn.
            split: "train", "validation" or "test"; None takes every pattern.
        """
        self._corpus = corpus
        self._rng = random.Random(seed)
        self._classes = Classes(HERE / "patterns")
        self._split = split
        self._plain = split != "train"  # tools as they are declared
        self._learned = _like_train(corpus) if split in SPLITS else frozenset[str]()
        self._house = {tool.name: tool for tool in corpus.house}
        self._entries: dict[str, list[Entry]] = {}
        self._says = {tool: self._kept(tool.says) for tool in self._each_tool()}
        self._asks = {tool: self._kept(tool.asks) for tool in self._each_tool()}
        self._declines = {tool: self._kept(tool.declines) for tool in self._each_tool()}
        self._domains: dict[str, list[Tool]] = {}
        for tool in corpus.others:
            self._domains.setdefault(tool.domain, []).append(tool)
        self._named = {(tool.domain, tool.name): tool for tool in self._each_tool()}
        for entry in self._kept(corpus.entries + corpus.other_entries):
            self._entries.setdefault(_kind(entry), []).append(entry)
            if (first := self._first_of_run(entry)) is not None:
                self._entries.setdefault(_kind(first), []).append(first)
        # Those of the entries whose functions are in the group.
        self._here: dict[str, list[Entry]] = {}
        # For each tool of the group what stands in its place, and its names for the parameters.
        self._shown: dict[str, tuple[Tool, dict[str, str]]] = {}

    def _each_tool(self) -> list[Tool]:
        return self._corpus.house + self._corpus.others

    def _kept(self, items: Sequence[Any]) -> list[Any]:
        """The items of this split."""
        if self._split is None:
            return list(items)
        texts = [item.text if isinstance(item, Entry) else item for item in items]
        return [
            item
            for item, text in zip(items, texts, strict=True)
            if split_of(text) == self._split and text not in self._learned
        ]

    def groups(self, size: int) -> Iterator[Group]:
        """Groups of `size` examples, without end."""
        while True:
            yield self.group(size)

    def group(self, size: int) -> Group:
        """One group."""
        rng = self._rng
        tools = self._declared()
        self._vary(tools)
        names, domains = {tool.name for tool in tools}, {tool.domain for tool in tools}
        of_the_house = any(tool.name in self._house for tool in tools)
        self._here = {
            kind: [
                entry
                for entry in entries
                if entry.needed <= names
                and (entry.needed or entry.domain in domains or (of_the_house and entry.domain.startswith("house.")))
                and self._tools_of(entry, tools) is not None
            ]
            for kind, entries in self._entries.items()
        }
        examples: list[Example] = []
        while len(examples) < size:
            example = self._continued(tools) if rng.random() < CONTINUED else self._example(tools)
            if example is None:
                continue
            if rng.random() < DISTRACTED:
                example = self._with_distractor(example)
            examples.append(self._renamed(example))
        shown = tuple(self._shown[tool.name][0] for tool in tools)
        if self._plain:
            return Group(shown, tuple(examples))
        return Group(shown, tuple(examples), tuple(rng.choices((0, 1, 2), (76, 14, 10))[0] for _ in tools))

    def _vary(self, tools: list[Tool]) -> None:
        """Chooses what each tool is declared as in this group."""
        rng = self._rng
        self._shown = {tool.name: (tool, {}) for tool in tools}
        if self._plain or rng.random() >= VARIED:
            return
        taken = set(self._shown)
        for tool in tools:
            if tool.variants and rng.random() < 0.6:
                variant = rng.choice(tool.variants)
                if variant.tool.name not in taken:
                    taken.add(variant.tool.name)
                    self._shown[tool.name] = variant.tool, variant.parameters

    def _renamed(self, example: Example) -> Example:
        """The example with its calls named as the group declares them."""
        calls = tuple(
            LabelledCall(
                self._shown[call.name][0].name,
                {
                    (self._shown[call.name][1].get(path[0], path[0]), *path[1:]): each
                    for path, each in call.values.items()
                },
            )
            for call in example.calls
        )
        return replace(example, calls=calls)

    def _written(self, role: SegmentRole, name: str, values: dict[str, Any], own: bool = False) -> Segment:
        """A call or result of this turn, as the device renders it; with `own`, its keys are parameters."""
        tool, names = self._shown[name]
        return Segment(
            role, render_values(tool.name, {names.get(key, key) if own else key: each for key, each in values.items()})
        )

    def _declared(self) -> list[Tool]:
        """A set of tools as some device could have declared."""
        rng = self._rng
        of_the_house = bool(self._house) and rng.random() < HOUSE_GROUPS
        around = self._anchor(of_the_house) if rng.random() < ANCHORED else set[str]()
        if of_the_house:
            tools = self._part_of_the_house(around)
            if rng.random() < 0.5:
                # Other people's tools beside the house's, never ones that could take its wishes.
                here = {tool.domain for tool in tools}
                free = [tool for tool in self._corpus.others if not overlap(tool.domain, here)]
                tools += rng.sample(free, min(len(free), rng.randint(1, 8)))
                if rng.random() < SHOWN_OFTEN:
                    tools += rng.sample(self._domains["naming"], 3) if "naming" in self._domains else []
        else:
            names = sorted(self._domains)
            here, tools = set[str](), list[Tool]()
            for domain in [*sorted(around), *rng.sample(names, min(len(names), rng.randint(1, 6)))]:
                if overlap(domain, here):
                    continue
                here.add(domain)
                members = self._domains[domain]
                tools += rng.sample(members, len(members) if domain in around else rng.randint(1, len(members)))
            tools = tools[: rng.randint(3, 24)] if len(tools) > 24 else tools
        by_name = {tool.name: tool for tool in reversed(tools)}  # the house's own before another of its name
        tools = list(by_name.values())
        rng.shuffle(tools)
        return tools[:MAX_TOOLS]

    def _anchor(self, of_the_house: bool) -> set[str]:
        """The domains of the functions that some free entry calls."""
        kind = self._rng.choice([each for each in ("several", "follow-up", "run") if self._entries.get(each)] or [""])
        entries = [entry for entry in self._entries.get(kind, ()) if entry.domain.startswith("house.") == of_the_house]
        if not entries:
            return set()
        entry = self._rng.choice(entries)
        return {self._house[name].domain for name in entry.needed} if of_the_house else {entry.domain}

    def _part_of_the_house(self, around: set[str]) -> list[Tool]:
        """Whole subjects of the house, as many as cards are seen at once: the shortlist shows no more of it.

        Args:
            around: The subjects it begins with.
        """
        rng = self._rng
        subjects = sorted({tool.domain for tool in self._corpus.house})
        first = rng.choice(sorted(around) or subjects)
        rng.shuffle(subjects)
        # What is easily taken for the first subject stands beside it more often than chance would have it.
        subjects.sort(key=lambda subject: subject != first and (not close(first, subject) or rng.random() < 0.4))
        subjects.sort(key=lambda subject: subject not in around)
        most = rng.choice((8, 12, 16, 20, HOUSE_TOOLS))
        tools: list[Tool] = []
        for subject in subjects:
            members = [tool for tool in self._corpus.house if tool.domain == subject]
            if tools and len(tools) + len(members) > most:
                continue
            tools += members
        return tools

    def _continued(self, tools: list[Tool]) -> Example | None:
        """A follow-up to what was said before, or what comes after calls of this turn."""
        rng = self._rng
        kind = rng.choices(list(TURNS), list(TURNS.values()))[0]
        if kind != "answered":
            return self._from_entry(tools, rng.choice(self._here[kind])) if self._here.get(kind) else None
        tool = self._any_tool(tools)
        return self._answered(self._say(tool, rng.choice(self._says[tool]))) if self._says[tool] else None

    def _example(self, tools: list[Tool]) -> Example | None:
        rng = self._rng
        if rng.random() < ENTRIES:
            entries = self._here.get(rng.choices(list(KINDS), list(KINDS.values()))[0])
            return self._from_entry(tools, rng.choice(entries)) if entries else None
        draw = rng.random()
        if draw < 0.13:
            return self._nothing_fits(tools)
        tool = self._any_tool(tools)
        if draw < 0.22 and self._asks[tool]:
            spoken = self._say(tool, rng.choice(self._asks[tool]))
            return self._finish(spoken, Outcome.ASK, "ask")
        if draw < 0.35 and self._declines[tool]:
            pattern = rng.choice(self._declines[tool])
            if not self._declines_here(pattern, tool.name in self._house, tools):
                return None
            sentence = self._expand(tool, pattern)
            return self._finish(Spoken(sentence), Outcome.DECLINE, "decline")
        if not self._says[tool]:
            return None
        spoken = self._say(tool, rng.choice(self._says[tool]))
        if draw > 0.86 and len(spoken.sentence.text) < 70:
            other = self._any_tool(tools)
            if self._says[other] and (other is not tool or spoken.calls[0][1]):
                spoken = self._join(spoken, self._say(other, rng.choice(self._says[other])))
            third = self._any_tool(tools)
            if draw > 0.96 and self._says[third] and len(spoken.sentence.text) < 90 and third not in (tool, other):
                spoken = self._join(spoken, self._say(third, rng.choice(self._says[third])))
        reads = all(each.reads for each, _ in spoken.calls)
        return self._finish(
            spoken, Outcome.QUERY if reads else Outcome.ACT, "several" if len(spoken.calls) > 1 else "do"
        )

    def _declines_here(self, pattern: str, of_the_house: bool, tools: list[Tool]) -> bool:
        """Whether nothing fits a sentence that its author wrote with only the tools around it in mind."""
        domains = {tool.domain.partition(".")[0] for tool in tools}
        return len(domains) == 1 or _TAKEN_BACK.search(pattern) is not None or not of_the_house

    def _any_tool(self, tools: list[Tool]) -> Tool:
        """A tool of the group; the house's lights and state questions have more patterns and more turns."""
        weights = [min(60, 6 + len(self._says[tool])) for tool in tools]
        return self._rng.choices(tools, weights)[0]

    def _nothing_fits(self, tools: list[Tool]) -> Example | None:
        """A wish for a tool that is not there, nor anything like it."""
        here = {tool.domain for tool in tools}
        absent = [tool for tool in self._each_tool() if not overlap(tool.domain, here) and self._says[tool]]
        if not absent:
            return None
        tool = self._rng.choice(absent)
        sentence = self._expand(tool, self._rng.choice(self._says[tool]))
        return self._finish(Spoken(sentence), Outcome.DECLINE, "nothing fits")

    # Sentences.

    def _fill(self, tool: Tool | None, leaf: Leaf | None, name: str, words: str | None, domain: str = "") -> str:
        rng = self._rng
        values: list[str] | str | None = words
        if values is None and tool is not None:
            values = tool.values.get(name) or tool.values.get(name.split(".", maxsplit=1)[0])
        if isinstance(values, list):
            return rng.choice(values)
        if values is None and leaf is not None and leaf.members:
            return spoken_name(str(rng.choice(leaf.members)))
        schema = leaf.schema if leaf is not None else None
        bounded = schema is not None and schema.minimum is not None and schema.maximum is not None
        if values in ("number", "small_number") and bounded:
            from training.classes import number_between

            assert schema is not None and schema.minimum is not None and schema.maximum is not None
            return number_between(rng, int(schema.minimum), int(schema.maximum))
        if values == "temperature" and tool is not None and tool.name not in self._house:
            values = "setting"
        if values is None:
            raise ValueError(f"{tool.name if tool else 'entry'}: no words for {name!r}")
        if "." in values:
            owner, _, parameter = values.partition(".")
            tool = self._named[domain, owner]
            leaves = {".".join(each.path): each for each in leaves_of(tool.declaration)}
            return self._fill(tool, leaves.get(parameter), parameter, None)
        if values not in self._classes:
            raise ValueError(f"{tool.name if tool else 'entry'}: no class {values!r}")
        return self._classes.draw(values, rng)

    def _expand(self, tool: Tool, pattern: str) -> Sentence:
        leaves = {".".join(leaf.path): leaf for leaf in leaves_of(tool.declaration)}
        return markup.expand(pattern, self._rng, lambda name, words: self._fill(tool, leaves.get(name), name, words))

    def _say(self, tool: Tool, pattern: str) -> Spoken:
        sentence = self._expand(tool, pattern)
        values: dict[tuple[str, ...], list[tuple[int, int] | Member]] = {}
        for leaf in leaves_of(tool.declaration):
            name = ".".join(leaf.path)
            if name in sentence.members:
                values[leaf.path] = [Member(self._member(leaf, sentence.members[name]))]
            elif name in sentence.spans:
                places = sentence.spans[name]
                if leaf.members:
                    words = [sentence.text[start:end] for start, end in places]
                    values[leaf.path] = [Member(self._member(leaf, word)) for word in words]
                else:
                    values[leaf.path] = list(places if leaf.repeated else places[:1])
        return Spoken(sentence, [(tool, values)])

    @staticmethod
    def _member(leaf: Leaf, written: str) -> Any:
        for member in leaf.members:
            if written.strip().lower() in (str(member).lower(), spoken_name(str(member))):
                return member
        raise ValueError(f"{'.'.join(leaf.path)}: {written!r} is none of {leaf.members}")

    def _join(self, first: Spoken, second: Spoken) -> Spoken:
        text = first.sentence.text.rstrip(" .,!?")
        joiner = self._rng.choice(_JOINERS)
        following = second.sentence.text
        if not joiner.startswith("."):
            following = following[:1].lower() + following[1:]
        offset = len(text) + len(joiner)
        calls = list(first.calls)
        for tool, values in second.calls:
            moved = {
                path: [each if isinstance(each, Member) else (each[0] + offset, each[1] + offset) for each in places]
                for path, places in values.items()
            }
            calls.append((tool, moved))
        pattern = f"{first.sentence.pattern} {second.sentence.pattern}"
        return Spoken(Sentence(text + joiner + following, pattern=pattern), calls)

    # From sentences to examples.

    def _finish(self, spoken: Spoken, outcome: Outcome, category: str, more: tuple[Segment, ...] = ()) -> Example:
        exact = [
            each
            for tool, values in spoken.calls
            for leaf in leaves_of(tool.declaration)
            for each in values.get(leaf.path, ())
            if not isinstance(each, Member) and leaf.schema.type in NUMERIC
        ]
        text, moved = self._styled(spoken.sentence.text, exact)
        calls = tuple(
            LabelledCall(
                tool.name,
                {
                    path: tuple(
                        each if isinstance(each, Member) else Span(0, moved(each[0]), moved(each[1])) for each in places
                    )
                    for path, places in values.items()
                },
            )
            for tool, values in spoken.calls
        )
        if outcome in (Outcome.DECLINE, Outcome.ANSWER):
            calls = ()
        now = Segment(SegmentRole.NOW, text)
        return Example((now, *more), outcome, calls, category, pattern=spoken.sentence.pattern)

    def _styled(self, text: str, exact: Sequence[tuple[int, int]] = ()) -> tuple[str, Callable[[int], int]]:
        """The text as typed or heard, and where each place of it went.

        Args:
            text: As written.
            exact: Stretches that hold numbers: they are not misspelt.
        """
        rng = self._rng
        edits: list[tuple[int, int, int]] = []  # (start, end, letters that stand there now), in the order made
        opener = ""
        if rng.random() < 0.1:
            opener = rng.choice(_OPENERS)
        elif rng.random() < 0.12:
            opener = rng.choice(_PREAMBLES)
        if rng.random() < SLIPS:
            for _ in range(rng.choice((1, 1, 2))):
                slip = self._slip(text, [(_moved(a, edits), _moved(b, edits)) for a, b in exact])
                if slip is not None:
                    start, end, words = slip
                    text = text[:start] + words + text[end:]
                    edits.append((start, end, len(words)))
        if opener:
            text = opener + text
            edits.append((0, 0, len(opener)))
        if rng.random() < 0.1 and text[-1:].isalnum():
            text += rng.choice(_CLOSERS)
        draw = rng.random()
        if draw < 0.45:
            # As a recogniser writes it: no capitals (one letter stays one letter).
            text = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
            if draw < 0.3:
                text = text.rstrip(".!?")
        elif draw < 0.7:
            text = text[:1].upper() + text[1:]
            if text[-1:].isalnum() and rng.random() < 0.5:
                text += rng.choice(".!.")
        return text, lambda place: min(_moved(place, edits), len(text))

    def _slip(self, text: str, exact: Sequence[tuple[int, int]]) -> tuple[int, int, str] | None:
        """What a finger or a recogniser makes of one word: `(start, end, what stands there now)`."""
        rng = self._rng
        words = [
            match
            for match in re.finditer(r"[A-Za-z]{3,}", text)
            if not any(match.start() < end and match.end() > start for start, end in exact)
        ]
        if not words:
            return None
        word = rng.choice(words)
        start, letters = word.start(), word.group()
        if letters.lower() in _HEARD and rng.random() < 0.7:
            return start, word.end(), rng.choice(_HEARD[letters.lower()])
        at = rng.randrange(1, len(letters) - 1)
        kind = rng.random()
        if kind < 0.4:
            return start + at, start + at + 2, letters[at + 1] + letters[at]
        if kind < 0.65 and len(letters) > 3:
            return start + at, start + at + 1, ""
        if kind < 0.85:
            return start + at, start + at, letters[at]
        return start + at, start + at + 1, rng.choice(_NEAR.get(letters[at].lower(), letters[at]))

    def _answered(self, spoken: Spoken) -> Example:
        """The same sentence after its calls were made: now it is answered."""
        more = []
        hidden = self._rng.random() < HIDDEN
        for tool, values in spoken.calls:
            arguments = {
                ".".join(path): [
                    each.value if isinstance(each, Member) else spoken.sentence.text[each[0] : each[1]]
                    for each in places
                ]
                for path, places in values.items()
            }
            plain = {name: each[0] if len(each) == 1 else each for name, each in arguments.items()}
            more.append(self._written(SegmentRole.CALL, tool.name, plain, own=True))
            result = {"result": HIDDEN_RESULT} if hidden else self._result(plain)
            more.append(self._written(SegmentRole.RESULT, tool.name, result))
        return self._finish(spoken, Outcome.ANSWER, "answer", tuple(more))

    def _result(self, arguments: dict[str, Any]) -> dict[str, Any]:
        rng = self._rng
        draw = rng.random()
        place = next((value for value in arguments.values() if isinstance(value, str)), "it")
        if draw < 0.25:
            return {
                "error": rng.choice(
                    (
                        f"I don't know {place}",
                        f"{place} did not answer",
                        "not available",
                        "no data",
                        f"{place} could be one of several",
                        "the service did not respond in time",
                        "permission denied",
                        "value out of range",
                    )
                )
            }
        if draw < 0.32:
            return {"status": "CANCELLED_BY_USER", "message": "The user said no."}
        if draw < 0.5:
            return {"status": rng.choice(("ok", "done", "success"))}
        if draw < 0.7:
            return {"result": rng.choice((rng.randint(0, 100), "on", "off", True, f"{place} is set", 21.5))}
        state = rng.choice(("on", "off", "open", "closed", "idle", "playing"))
        return {
            **dict(list(arguments.items())[:2]),
            rng.choice(("state", "value", "now")): rng.choice((state, rng.randint(0, 100))),
        }

    def _with_distractor(self, example: Example) -> Example:
        """The same after an earlier, unrelated exchange, failed ones included: it changes nothing."""
        rng = self._rng
        if any(segment.role in (SegmentRole.USER, SegmentRole.MODEL) for segment in example.segments):
            return example
        earlier: list[Segment] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            if rng.random() < 0.2:
                said, answer = rng.choice(_SMALL_TALK)
            else:
                tool = rng.choice(self._each_tool())
                if not self._says[tool]:
                    continue
                sentence = self._expand(tool, rng.choice(self._says[tool]))
                said = self._styled(sentence.text)[0]
                place = next(
                    (said[a:b] for places in sentence.spans.values() for a, b in places if b <= len(said)), "it"
                )
                answer = rng.choice(
                    (
                        f"The {place} is on.",
                        f"Okay, {place}.",
                        "Done.",
                        f"The {place} light is off.",
                        "I can't do that.",
                        f"I did not reach {place}.",
                        f"I don't know {place}.",
                        "I did nothing.",
                        "Which room?",
                        "It is 21 degrees.",
                        f"The {place} lights are on at {rng.randint(1, 100)} percent.",
                    )
                )
            earlier += [Segment(SegmentRole.MODEL, answer), Segment(SegmentRole.USER, said)]
        return replace(example, segments=(*example.segments, *earlier))

    def _from_entry(self, tools: list[Tool], entry: Entry) -> Example | None:
        """An example of a free entry, if the tools it needs are declared."""
        by_name = self._tools_of(entry, tools)
        if by_name is None:
            return None
        if not entry.needed and entry.ask is None and not self._declines_here(entry.text, bool(self._house), tools):
            return None
        drawn: dict[str, str] = {}

        def fill(name: str, words: str | None) -> str:
            if name not in drawn:
                drawn[name] = self._fill(None, None, name, words or name, entry.domain)
            return drawn[name]

        earlier = [markup.expand(pattern, self._rng, fill) for pattern in entry.history]
        now = markup.expand(entry.text, self._rng, fill)
        numbers = {
            value[1:]
            for call in entry.calls
            for leaf in leaves_of(by_name[call.name].declaration)
            if leaf.schema.type in NUMERIC
            for value in [call.arguments.get(".".join(leaf.path), "")]
            if value.startswith("$")
        }
        exact = [place for name in numbers for place in now.spans.get(name, ())]
        text, moved = self._styled(now.text, exact)
        segments = [Segment(SegmentRole.NOW, text)]
        places: dict[str, tuple[int, int, int]] = {}
        made = {call.name for call, _ in entry.steps}
        # A function that was called may be called again, corrected: that asks for nothing new.
        hidden = bool(made) and any(call.name not in made for call in entry.calls) and self._rng.random() < HIDDEN
        for call, result in entry.steps:
            drawn_before = set(drawn)
            filled = {"result": HIDDEN_RESULT} if hidden else _filled(result, self._rng, fill)
            arguments = {
                key: drawn.get(value[1:], "") if value.startswith("$") else value
                for key, value in call.arguments.items()
            }
            segments.append(self._written(SegmentRole.CALL, call.name, arguments, own=True))
            response = filled if isinstance(filled, dict) else {"result": filled}
            segments.append(self._written(SegmentRole.RESULT, call.name, response))
            for name in set(drawn) - drawn_before:
                # As whole words: "egg" is not in "eggs".
                found = re.search(rf"(?<!\w){re.escape(drawn[name])}(?!\w)", segments[-1].text)
                if found is not None:
                    places[name] = (len(segments) - 1, *found.span())
        for order in range(len(earlier) - 1, -1, -1):
            role = SegmentRole.USER if order % 2 == 0 else SegmentRole.MODEL
            segments.append(Segment(role, earlier[order].text))
            for name, spans in earlier[order].spans.items():
                # The user's own words before the agent's.
                if name not in places or role is SegmentRole.USER:
                    places[name] = (len(segments) - 1, *spans[0])
        for name, spans in now.spans.items():
            places[name] = (0, moved(spans[0][0]), moved(spans[0][1]))
        if entry.ask is not None:
            calls = (LabelledCall(entry.ask, {}),) if entry.ask else ()
            return Example(tuple(segments), Outcome.ASK, calls, "ask", not now.spans, entry.text)
        if hidden:
            calls = tuple(LabelledCall(call.name, {}) for call in entry.calls)
        else:
            calls = tuple(self._labelled(by_name[call.name], call, places, now) for call in entry.calls)
        if not calls:
            outcome = Outcome.ANSWER if entry.steps else Outcome.DECLINE
            return Example(tuple(segments), outcome, (), "decline", pattern=entry.text)
        reads = all(by_name[call.name].reads for call in calls)
        category = "run" if entry.steps else "follow-up" if entry.history else "several" if len(calls) > 1 else "do"
        outcome = Outcome.QUERY if reads else Outcome.ACT
        return Example(tuple(segments), outcome, calls, category, not hidden, entry.text)

    def _tools_of(self, entry: Entry, tools: list[Tool]) -> dict[str, Tool] | None:
        """The tools an entry may call, by name; None where one that it needs is not declared."""
        # Another's tool may have the name of one of the house.
        by_name = {tool.name: tool for tool in tools if self._speaks_of(entry, tool)}
        if not entry.needed <= by_name.keys():
            return None
        return by_name

    def _speaks_of(self, entry: Entry, tool: Tool) -> bool:
        """Whether an entry was written for a tool: those of a file of declarations are about its own."""
        return tool.domain == entry.domain or self._house.get(tool.name) is tool

    def _first_of_run(self, entry: Entry) -> Entry | None:
        """What is called first where something is called again after its result."""
        if len(entry.steps) != 1 or not entry.calls:
            return None
        call = entry.steps[0][0]
        tool = self._named.get((entry.domain, call.name)) or self._house.get(call.name)
        if tool is None:
            return None
        leaves = {".".join(leaf.path): leaf for leaf in leaves_of(tool.declaration)}
        said = "".join((entry.text, *entry.history))
        for name, value in call.arguments.items():
            written = re.search(r"\{" + re.escape(value[1:]) + r"\b", said) if value.startswith("$") else None
            if written is None and not leaves[name].members:
                return None
        return replace(entry, calls=(call,), steps=())

    def _labelled(
        self, tool: Tool, call: WrittenCall, places: dict[str, tuple[int, int, int]], now: Sentence
    ) -> LabelledCall:
        values: dict[tuple[str, ...], tuple[Value, ...]] = {}
        leaves = {".".join(leaf.path): leaf for leaf in leaves_of(tool.declaration)}
        for name, value in call.arguments.items():
            leaf = leaves[name]
            if value.startswith("$"):
                if value[1:] not in places:
                    raise ValueError(f"{call.name}: no slot {value} in {now.text!r}")
                values[leaf.path] = (Span(*places[value[1:]]),)
            else:
                values[leaf.path] = (Member(self._member(leaf, value)),)
        return LabelledCall(tool.name, values)


def _filled(result: Any, rng: random.Random, fill: Callable[[str, str | None], str]) -> Any:
    """A result with the slots in its strings filled."""
    if isinstance(result, dict):
        return {key: _filled(value, rng, fill) for key, value in result.items()}
    if isinstance(result, list):
        return [_filled(value, rng, fill) for value in result]
    return markup.expand(re.sub(r"\$(\w+)", r"{\1}", result), rng, fill).text if isinstance(result, str) else result
