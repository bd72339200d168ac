"""Nothing is said that was not done.

A model's words go through here before anybody hears them. Two kinds are held back: a sentence that claims an
action in a turn in which none succeeded, and a call, JSON or code block that came out as words. The forms
below are looked for in the model's answer only, never in what a person said; they cannot know every way to
lie, so an answer is built from results wherever a tool says how.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NOTHING: Final = "I did nothing."
"""Stands in for words that claim more than was done."""

_BASE: Final = (
    "turn|switch|set|open|close|shut|lock|unlock|start|stop|dim|brighten|change|adjust|increase|decrease|raise|lower"
    "|activate|deactivate|enable|disable|put|add|create|remove|delete|cancel|schedule|play|pause|mute|order|book"
    "|send|call|make|save|update|take care of|do that|do it"
    "|vacuum|clean|mow|dock|announce|remind|wake|snooze|skip|resume|unmute|run|extend|shorten|heat|cool|warm|mark"
)
_PAST: Final = (
    "turned|switched|set|opened|closed|shut|locked|unlocked|started|stopped|dimmed|brightened|changed|adjusted"
    "|increased|decreased|raised|lowered|activated|deactivated|enabled|disabled|put|added|created|removed|deleted"
    "|cancelled|canceled|scheduled|played|paused|muted|ordered|booked|sent|called|made|saved|updated"
    "|taken care of|took care of|done|did"
    "|vacuumed|cleaned|mowed|mown|docked|announced|reminded|snoozed|skipped|resumed|unmuted|ran|extended|shortened"
    "|heated|cooled|warmed|marked"
)
_DOING: Final = (
    "turning|switching|setting|opening|closing|shutting|locking|unlocking|starting|stopping|dimming|brightening"
    "|changing|adjusting|increasing|decreasing|raising|lowering|activating|deactivating|enabling|disabling|putting"
    "|adding|creating|removing|deleting|cancelling|canceling|scheduling|playing|pausing|muting|ordering|booking"
    "|sending|calling|making|saving|updating"
    "|vacuuming|cleaning|mowing|docking|announcing|reminding|waking|snoozing|skipping|resuming|unmuting|running"
    "|extending|shortening|heating|cooling|warming|marking"
)
_MOVED: Final = (
    "turned|switched|set|opened|closed|shut|locked|unlocked|started|stopped|dimmed|brightened|changed|adjusted"
    "|activated|deactivated|enabled|disabled|taken care of|done|raised|lowered|paused|muted|unmuted|skipped|resumed"
    "|vacuumed|cleaned|mowed|mown|announced|snoozed|extended|shortened|heated|cooled|warmed|marked"
    "|added|removed|cancelled|canceled"
)
_STATE: Final = (
    r"on|off|open|closed|shut|locked|unlocked|dimmed|lit|running|playing|paused|muted|docked|armed|disarmed"
    r"|(?:set )?(?:to|at) \d+"
)
_THING: Final = r"(?:on|off|up|down|the|your|it|them|that|this|all|both|lights?|lamps?)\b"
_ADVERB: Final = r"(?:(?:just|now|already|also|all|both|successfully|gladly|back|currently|again|right) )*"
_OPENING: Final = r"^(?:(?:ok|okay|sure|yes|right|alright|certainly|great|there|so|and|well|of course) )*"

CLAIMS: Final = tuple(
    re.compile(form)
    for form in (
        # "Done." "All set." "Consider it done."
        _OPENING + r"(?:it is |that is |it's |that's |consider it )?(?:all )?(?:done|finished|completed|set|ready)$",
        # "I have turned on the light." "We've just dimmed it."
        rf"\b(?:i|we)(?:'ve| have)? {_ADVERB}(?:{_PAST})\b",
        # "I'll turn it on." "I am going to open the door." "Let me set it." "I'm turning it on."
        rf"\b(?:(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to)|let me)"
        rf" {_ADVERB}(?:{_BASE})\b",
        rf"\b(?:i|we)(?:'m| am|'re| are) {_ADVERB}(?:{_DOING})\b",
        # "Turned on the light." "Turning off the fan."
        rf"{_OPENING}{_ADVERB}(?:{_PAST}|{_DOING}) {_THING}",
        # "The light has been turned on."
        rf"\b(?:has|have|'s|'ve) {_ADVERB}been {_ADVERB}(?:{_MOVED})\b",
        # "Light turned on."
        r"(?<!is )(?<!are )(?<!was )(?<!were )\b(?:turned|switched) (?:on|off)$",
    )
)
"""Forms of a clause that says something was, is being or will be done; folded."""

STATES: Final = tuple(
    re.compile(form)
    for form in (
        # "The light is now on." "It's at 80 percent."
        rf"(?:\b(?:is|are)|'s|'re) {_ADVERB}(?:{_STATE})(?:$| (?:now|again|at|in|to|as|for|with|percent|\d))",
        # "The door is opening." "The fan was switched off."
        rf"(?:\b(?:is|are|was|were)|'s|'re) {_ADVERB}(?:{_MOVED}|{_DOING})(?:$| {_THING})",
        # "Lights on."
        r"^(?:the )?(?:\w+ ){0,3}(?:lights?|lamps?|door|fan|switch|plug) (?:on|off|open|closed)$",
    )
)
"""Forms of a clause that says how a thing is; nobody knows that in a turn in which no tool has answered."""

_NOT: Final = re.compile(r"\b(?:no|not|never|nothing|none|nobody|cannot|can't|unable|failed)\b|n't\b")
_PLEASANTRY: Final = re.compile(r"\b(?:no|not a) (?:problem|worries|trouble|bother)\b")
_CLAUSE: Final = re.compile(r"(?<=\?)|[.!,;:]+(?:\s|$)|\s[-\u2013\u2014]+\s|\u2014|\b(?:and|but|so)\b")

RAW: Final = re.compile(
    r"```"  # a fenced block
    r"|[{\[]\s*(?:[\"'{\[]|\w+\"?\s*:)"  # JSON, and what is nearly JSON
    r"|[{\[]\s*[}\]]"  # an empty object or array
    r"|<[|/]?\s*\w*(?:tool|function)\w*"  # a tag around a call
    r"|\b\w+\(\s*\w+\s*="  # name(argument=
    r"|\b\w*_\w*\s*\(",  # a_name(
    re.IGNORECASE,
)
"""What a call looks like when it comes out as words, whole or cut off."""

_BORDER: Final = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")


def is_raw(text: str) -> bool:
    """Whether the text is, or holds, a call, JSON or a code block: nothing for a person's ears."""
    return RAW.search(text) is not None


def claims_action(text: str) -> bool:
    """Whether the text says that something was done, is being done or will be."""
    return any(form.search(clause) for clause in _clauses(text) for form in CLAIMS)


def claims_state(text: str) -> bool:
    """Whether the text says how a thing in the house is."""
    return any(form.search(clause) for clause in _clauses(text) for form in STATES)


def _clauses(text: str) -> list[str]:
    """The clauses that assert something, folded: no questions, nothing negated."""
    plain = _PLEASANTRY.sub("", " ".join(text.replace("\u2019", "'").casefold().split()))
    clauses = [clause.strip(' .!,;:"*') for clause in _CLAUSE.split(plain)]
    return [clause for clause in clauses if clause and not clause.endswith("?") and not _NOT.search(clause)]


@dataclass(frozen=True)
class Facts:
    """What the calls of a turn came to.

    Attributes:
        acted: A tool that may change something has succeeded; words that ask or decline may stand for it.
        told: Any tool has succeeded; likewise.
        words: The results, put into words: they are true, whatever they say.
    """

    acted: bool = False
    told: bool = False
    words: str = ""

    def allow(self, sentence: str) -> bool:
        """Whether a sentence may be said."""
        if sentence in self.words:
            return True
        if is_raw(sentence):
            return False
        return self.acted or (not claims_action(sentence) and (self.told or not claims_state(sentence)))


class Answer:
    """The words of one turn, let out sentence by sentence as soon as they are known to be true.

    A sentence is let out early only when more follows it, so an answer in one piece stays in one piece. The
    first sentence that may not be said holds back all that comes after it.

    Attributes:
        partial: Whether anything was let out early.
    """

    def __init__(self) -> None:
        self.partial = False
        self._said: list[str] = []
        self._held = ""

    def hear(self, piece: str, facts: Facts) -> str:
        """Takes the next piece of a stream.

        Args:
            piece: Some words, with the spaces around them.
            facts: What the calls of the turn have come to.

        Returns:
            The sentences that may be said now, or "". Joined as they are, all that is returned by an answer
            is the whole answer.
        """
        text = self._held + piece
        start, ready = 0, []
        for border in _BORDER.finditer(text):
            sentence = text[start : border.start()].strip()
            if border.start() > len(self._held) or not facts.allow(sentence):
                break
            ready.append(sentence)
            start = border.end()
        self._held = text[start:]
        self.partial = self.partial or bool(ready)
        return self._say(ready)

    def drop(self) -> None:
        """Forgets what is held back: calls came with it, so it was thought and not an answer."""
        self._held = ""

    def finish(self, facts: Facts) -> str:
        """Ends the answer; with the results in words where there is nothing to say, or nothing but raw calls.

        Args:
            facts: As for `hear`.

        Returns:
            The rest of the answer.
        """
        ready, instead = [], facts.words or NOTHING
        for sentence in _BORDER.split(self._held):
            if not facts.allow(sentence.strip()):
                ready.append(instead if is_raw(sentence) else NOTHING)
                break
            ready.append(sentence.strip())
        if not any(ready) and not self._said:
            ready.append(instead)
        self._held = ""
        return self._say(ready)

    @property
    def text(self) -> str:
        """All that was said."""
        return " ".join(self._said)

    def _say(self, sentences: list[str]) -> str:
        ready = [sentence for sentence in sentences if sentence]
        if not ready:
            return ""
        space = " " if self._said else ""
        self._said += ready
        return space + " ".join(ready)
