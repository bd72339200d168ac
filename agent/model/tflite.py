"""Our own model behind the `GenerativeModel` interface.

Reading happens once for each declaration (a card is kept) and once for each command; the
cost of a command depends neither on the number of devices nor, beyond a shortlist of
`MAX_TOOLS`, on that of tools.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agent.answer import Result, compose, results_of
from agent.content import Content, FunctionCallPart, Part, Role, TextPart
from agent.errors import AgentError
from agent.grounding import EARLIER, FORMATS
from agent.model.decode import Decision, Decoder, ReadCard, log_odds
from agent.model.generative import Candidate, GenerateContentRequest, GenerateContentResponse, Outcome
from agent.model.graphs import Floats, Graphs
from agent.model.layout import WIDTH
from agent.model.prompt import (
    HIDDEN_RESULT,
    MAX_TOOLS,
    Rendering,
    Segment,
    SegmentRole,
    beginning_of_turn,
    render,
    render_card,
    render_values,
    segments_of,
)
from agent.model.tokenizer import Tokenizer
from agent.model.wording import UNSURE, words_for
from agent.progress import Progress
from agent.schema import FunctionDeclaration

FILES = Path(__file__).parent / "files"
CARDS_KEPT = 1_000


@dataclass(frozen=True)
class Calibration:
    """How the product of probabilities becomes a confidence, and which are acted on.

    Attributes:
        slope, offset: Of the logit (Platt's scaling, fitted by `training/calibrate.py`).
        act: At or above this confidence something is moved; below it, the model asks.
        query: The same for calls that only read.
    """

    slope: float = 1.0
    offset: float = 0.0
    act: float = 0.5
    query: float = 0.5

    def confidence(self, product: float) -> float:
        """The calibrated confidence of a decision, 0 to 1."""
        odds = self.slope * log_odds(product) + self.offset
        return 1 / (1 + math.exp(-min(max(odds, -50.0), 50.0)))

    def sure(self, decision: Decision) -> bool:
        """Whether something is to be called, and surely enough."""
        if decision.outcome not in (Outcome.ACT, Outcome.QUERY):
            return False
        least = self.query if decision.outcome is Outcome.QUERY else self.act
        return self.confidence(decision.confidence) >= least


def _calibration(path: Path) -> Calibration:
    try:
        calibration = Calibration(**json.loads(path.read_text()))
        # Whatever is compared with NaN is never too little: every call would be made.
        if not all(math.isfinite(number) for number in vars(calibration).values()):
            raise ValueError("its numbers are to be finite")
        return calibration
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no calibration: {error}") from error


@dataclass
class Timing:
    """Milliseconds of the last decision by part."""

    tokenizer: float = 0.0
    encoder: float = 0.0
    decoder: float = 0.0


class TfliteModel:
    """The FAST model. Safe to ask from several tasks: it decides one after another.

    Attributes:
        unavailable: None; a model that could not be loaded says here why (see `load_model`).
        timing: Of the last decision.
        progress: Shows that a decision gets on, graph by graph.
    """

    def __init__(self, path: Path | None = None, threads: int = 1) -> None:
        """Loads the model.

        Args:
            path: The `.tflite` file, beside which `tokenizer.model` and `calibration.json`
                lie; None is the one that ships.
            threads: Of the runtime.

        Raises:
            OSError: A file is missing.
            ValueError: A file is broken or of another edition.
            ImportError: No runtime is installed.
        """
        path = path or FILES / "hearth.tflite"
        self.progress = Progress("the model")
        self._graphs = Graphs(path, threads, self.progress)
        self._tokenizer = Tokenizer(path.with_name("tokenizer.model"))
        self._calibration = _calibration(path.with_name("calibration.json"))
        self._cards: OrderedDict[FunctionDeclaration, ReadCard] = OrderedDict()
        # One thread: decisions come in the order in which they were asked for, and the graphs are not shared.
        self._thread = ThreadPoolExecutor(1, "model")
        self.unavailable: str | None = None
        self.timing = Timing()

    async def generate_content(self, request: GenerateContentRequest) -> GenerateContentResponse:
        """Decides.

        Raises:
            AgentError: INVALID_REQUEST when the words or a declaration pass a limit of the model.
        """
        loop = asyncio.get_running_loop()
        candidate = await loop.run_in_executor(self._thread, self._decide, request)
        return GenerateContentResponse((candidate,))

    async def generate_content_stream(self, request: GenerateContentRequest) -> AsyncIterator[GenerateContentResponse]:
        """Decides, and gives whole calls or the answer clause by clause."""
        candidate = (await self.generate_content(request)).candidates[0]
        parts: list[Part] = list(candidate.content.calls)
        if not parts:
            clauses = [part for part in candidate.content.parts if isinstance(part, TextPart)]
            # Every clause after the first begins with the space that parts it from the one before.
            parts = [TextPart(clause.text if index == 0 else " " + clause.text) for index, clause in enumerate(clauses)]
        for part in parts:
            piece = Candidate(Content(Role.MODEL, (part,)), candidate.outcome, candidate.confidence)
            yield GenerateContentResponse((piece,))

    async def close(self) -> None:
        """Ends the thread. Twice is fine."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _decide(self, request: GenerateContentRequest) -> Candidate:
        with self.progress.at_work():  # in its thread: who asked may have given up long before it is done
            return self.decide(request)

    def decide(self, request: GenerateContentRequest) -> Candidate:
        """The same without an event loop; one thread at a time.

        Raises:
            AgentError: As for `generate_content`.
        """
        segments = segments_of(request.contents)
        results = results_of(request.contents[beginning_of_turn(request.contents) :], request.tools)
        earlier = [each for each in segments if each.role in (SegmentRole.USER, SegmentRole.MODEL)][:2]
        turn = [each for each in segments if each.role not in (SegmentRole.USER, SegmentRole.MODEL)]
        heat, seed = request.temperature or 0.0, request.seed
        decision = self.decide_segments(turn, request.tools, bool(results), heat, seed)
        if results:
            if not self._goes_on(decision, results, [*turn, *earlier], request.tools):
                decision = replace(decision, outcome=Outcome.ANSWER)
        elif earlier and not self._enough(decision):
            continued = self.decide_segments([*turn, *earlier], request.tools, False, heat, seed)
            if self._calibration.sure(continued):
                decision = continued
        return self._candidate(decision, results)

    def _enough(self, decision: Decision) -> bool:
        """Whether the words by themselves say what is to be called.

        Only if they do not, or point back with "it", what was said before is read too, and of
        that the last exchange: more of it misleads more often than it helps.
        """
        places = [
            str(call.arguments.get(leaf.path[0], "")).casefold()
            for call in decision.calls
            for leaf in call.card.leaves
            if leaf.schema.format in FORMATS
        ]
        return self._calibration.sure(decision) and not any(place in EARLIER for place in places)

    def _goes_on(
        self,
        decision: Decision,
        results: list[Result],
        segments: Sequence[Segment],
        tools: Sequence[FunctionDeclaration],
    ) -> bool:
        """Whether more is called after results; if not, they are what there is to say.

        The same call is not made again. A result may fill an argument, but it cannot ask for anything: a function
        is called only if it was called before in this turn, or is called too when no result can be read.
        """
        made = [(result.call.name, result.call.arguments) for result in results]
        if not self._calibration.sure(decision):
            return False
        if any((call.card.declaration.name, call.arguments) in made for call in decision.calls):
            return False
        wanted = {call.card.declaration.name for call in decision.calls} - {name for name, _ in made}
        if not wanted:
            return True
        hidden = [
            Segment(each.role, render_values(each.text.partition(":")[0], {"result": HIDDEN_RESULT}))
            if each.role is SegmentRole.RESULT
            else each
            for each in segments
        ]
        asked = self.decide_segments(hidden, tools, answered=True)
        return wanted <= {call.card.declaration.name for call in asked.calls}

    def decide_segments(
        self,
        segments: Sequence[Segment],
        tools: Sequence[FunctionDeclaration],
        answered: bool,
        temperature: float = 0.0,
        seed: int | None = None,
    ) -> Decision:
        """The bare decision about a rendered conversation, before anything is made of its confidence.

        Args:
            segments: The conversation, as from `segments_of`.
            tools: The declarations in force.
            answered: There are results of this turn.
            temperature: 0 is greedy.
            seed: Makes a temperature above 0 repeatable.

        Raises:
            AgentError: As for `generate_content`.
        """
        started = time.perf_counter()
        rendering = render(self._tokenizer, segments)
        tokenized = time.perf_counter()
        text = self._graphs.encode(rendering.pieces, rendering.roles)
        cards = self._shortlist([self.card(each) for each in tools], text, rendering)
        memory = self._graphs.fuse(text, _functions(cards))
        encoded = time.perf_counter()
        decision = Decoder(memory, rendering, cards, answered, temperature, random.Random(seed)).decide()
        decided = time.perf_counter()
        self.timing = Timing((tokenized - started) * 1e3, (encoded - tokenized) * 1e3, (decided - encoded) * 1e3)
        return decision

    def card(self, declaration: FunctionDeclaration) -> ReadCard:
        """The card of a declaration, read once and kept.

        Raises:
            AgentError: INVALID_REQUEST, the declaration passes a limit of the model.
        """
        read = self._cards.get(declaration)
        if read is None:
            card = render_card(self._tokenizer, declaration)
            states = self._graphs.encode(card.pieces, (int(SegmentRole.CARD),) * len(card.pieces))
            vectors = np.stack([states[start:end].mean(axis=0) for start, end in card.slots])
            read = self._cards[declaration] = ReadCard(card, vectors.astype(np.float32))
            if len(self._cards) > CARDS_KEPT:
                self._cards.popitem(last=False)
        return read

    def misfits(self, tools: Sequence[FunctionDeclaration]) -> dict[str, str]:
        """The declarations that pass a limit of the model, by name, each with the limit."""
        found = {}
        for each in tools:
            try:
                render_card(self._tokenizer, each)
            except AgentError as error:
                found[each.name] = error.message
        return found

    def _shortlist(self, cards: list[ReadCard], text: Floats, rendering: Rendering) -> list[ReadCard]:
        """At most `MAX_TOOLS` cards: those whose function is most like the words, by the cosine."""
        if len(cards) <= MAX_TOOLS:
            return cards
        mean = text[np.array([role == SegmentRole.NOW for role in rendering.roles])].mean(axis=0)
        functions = _functions(cards)
        likeness = functions @ mean / (np.linalg.norm(functions, axis=1) + 1e-9)
        return [cards[index] for index in np.sort(np.argsort(likeness)[::-1][:MAX_TOOLS])]

    def _candidate(self, decision: Decision, results: list[Result]) -> Candidate:
        confidence = self._calibration.confidence(decision.confidence)
        if decision.outcome is Outcome.ANSWER:
            clauses = tuple(TextPart(clause) for clause in compose(results))
            return Candidate(Content(Role.MODEL, clauses), Outcome.ANSWER, confidence)
        if decision.outcome in (Outcome.ACT, Outcome.QUERY):
            if not self._calibration.sure(decision):
                return Candidate(Content.model(UNSURE), Outcome.ASK, confidence)
            calls = tuple(
                FunctionCallPart(uuid.uuid4().hex[:8], call.card.declaration.name, call.arguments)
                for call in decision.calls
            )
            return Candidate(Content(Role.MODEL, calls), decision.outcome, confidence)
        return Candidate(Content.model(words_for(decision)), decision.outcome, confidence)


def _functions(cards: Sequence[ReadCard]) -> Floats:
    vectors = [read.vectors[0] for read in cards]
    return np.stack(vectors) if vectors else np.zeros((0, WIDTH), np.float32)
