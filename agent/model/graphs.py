"""The `.tflite` file: reading, fusing, filling and deciding as functions on arrays.

Runs on ai-edge-litert, or on tflite-runtime where only that is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.model.layout import DECISIONS, LAYERS, TEXT_LENGTHS, WIDTH, Kind, Previous
from agent.model.prompt import MAX_SLOTS, MAX_TOOLS
from agent.progress import Progress

Floats = NDArray[np.float32]
SIGNATURES = ("encode", "fuse", "fill", "decode")
"""Each once for every length of `TEXT_LENGTHS`."""


def _interpreter(path: Path, threads: int) -> Any:
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        from tflite_runtime.interpreter import Interpreter  # type: ignore[import-not-found,unused-ignore]
    return Interpreter(model_path=str(path), num_threads=threads)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without standard error: the runtime writes "INFO: Created ..." there, past every setting of Python's."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class Graphs:
    """The signatures of the model file. Not thread-safe."""

    def __init__(self, path: Path, threads: int = 1, progress: Progress | None = None) -> None:
        """Loads the file.

        Args:
            path: The `.tflite` file.
            threads: Of the runtime.
            progress: Is shown each graph that was run.

        Raises:
            OSError: The file is missing.
            ValueError: It is no model, or not one of this edition.
            ImportError: No runtime is installed.
        """
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist")
        interpreter = _interpreter(path, threads)
        names = set(interpreter.get_signature_list())
        wanted = {f"{name}_{length}" for name in SIGNATURES for length in TEXT_LENGTHS}
        if not wanted <= names:
            raise ValueError(f"{path} is not a Hearth model of this edition: it lacks {sorted(wanted - names)}")
        self._interpreter = interpreter
        self._progress = progress
        self._runners: dict[str, Any] = {}
        with _quiet():
            self._warm_up(wanted)

    def _warm_up(self, names: set[str]) -> None:
        """Runs every signature once: the runtime prepares each at its first run, and not in a command."""
        for name in sorted(names):
            details = self._interpreter.get_signature_runner(name).get_input_details()
            self._run(
                name,
                *(np.zeros(details[f"args_{n}"]["shape"], details[f"args_{n}"]["dtype"]) for n in range(len(details))),
            )

    def _run(self, name: str, *inputs: Any) -> list[Any]:
        runner = self._runners.get(name)
        if runner is None:
            runner = self._runners[name] = self._interpreter.get_signature_runner(name)
        outputs = runner(**{f"args_{index}": value for index, value in enumerate(inputs)})
        if self._progress:
            self._progress.step()
        return [outputs[f"output_{index}"] for index in range(len(outputs))]

    def encode(self, pieces: tuple[int, ...], roles: tuple[int, ...]) -> Floats:
        """Reads at most `TEXT_LENGTH` pieces -> states [pieces, D]."""
        length = fitting(len(pieces))
        padded = np.zeros((2, length), np.int32)
        padded[0, : len(pieces)] = pieces
        padded[1, : len(pieces)] = roles
        mask = np.zeros((1, length), np.float32)
        mask[0, : len(pieces)] = 1
        states: Floats = self._run(f"encode_{length}", padded[0], padded[1], mask)[0]
        return states[: len(pieces)].copy()

    def fuse(self, text: Floats, tools: Floats) -> Memory:
        """text [L, D] and at most `MAX_TOOLS` tools [T, D] see each other."""
        length = fitting(len(text))
        padded_text, padded_tools, mask = _beside(text, tools, length, MAX_TOOLS)
        fused, memory, relevance, modes = self._run(f"fuse_{length}", padded_text, padded_tools, mask)
        looked_at = LookedAt(memory.copy(), mask)
        at = length + len(tools)
        return Memory(
            self,
            text,
            fused[: len(text)].copy(),
            fused[length:at].copy(),
            relevance[0, : len(tools)].copy(),
            modes[0].copy(),
            looked_at,
        )

    def fill(self, words: Floats, text: Floats, slots: Floats) -> Filling:
        """Words [L, D], fused and as read, and at most `MAX_SLOTS` slots [K, D] of one function see each other."""
        length = fitting(len(words))
        padded_words, padded_slots, mask = _beside(words, slots, length, MAX_SLOTS)
        padded_text = np.zeros_like(padded_words)
        padded_text[: len(text)] = text
        filled, memory = self._run(f"fill_{length}", padded_words, padded_text, padded_slots, mask)
        looked_at = LookedAt(memory.copy(), mask)
        return Filling(filled[: len(words)].copy(), filled[length : length + len(slots)].copy(), looked_at)

    def decide(self, *inputs: Any) -> list[Any]:
        """One decision; `Memory.ask` is its caller, `inputs[-1]` the mask of what is looked at."""
        length = inputs[-1].shape[1] - MAX_TOOLS
        return self._run(f"decode_{length}", *inputs)


@dataclass(frozen=True)
class LookedAt:
    """What a decision looks at: keys and values [layers, M, 2 D] of rows, and which count, [1, M]."""

    memory: Floats
    mask: Floats


@dataclass(frozen=True)
class Filling:
    """The words beside the slots of a chosen function.

    Attributes:
        words: [L, D] the states of the conversation's pieces.
        slots: [K, D] those of the function and its leaves, as given.
    """

    words: Floats
    slots: Floats
    looked_at: LookedAt


class Memory:
    """A read conversation beside the tools, and the decisions made so far about it.

    Attributes:
        words: [L, D] the fused states of the conversation's pieces.
        tools: [T, D] the fused vectors of the tools.
        relevance: [T] the log odds that each is asked for.
        modes: [modes] what that adds to each mode.
    """

    def __init__(
        self,
        graphs: Graphs,
        text: Floats,
        words: Floats,
        tools: Floats,
        relevance: Floats,
        modes: Floats,
        looked_at: LookedAt,
    ) -> None:
        self._text = text
        self.words = words
        self.tools = tools
        self.relevance = relevance
        self.modes = modes
        self._graphs = graphs
        self._looked_at = looked_at
        self._cache = np.zeros((LAYERS, DECISIONS, 2 * WIDTH), np.float32)
        self._seen = np.zeros((1, DECISIONS), np.float32)
        self._step = 0

    @property
    def left(self) -> int:
        """How many decisions can still be made."""
        return DECISIONS - self._step

    def fill(self, slots: Floats) -> Filling:
        """The words beside slots [K, D] of a chosen function, at most `MAX_SLOTS`."""
        return self._graphs.fill(self.words, self._text, slots)

    def ask(
        self,
        kind: Kind,
        previous: Previous,
        subject: Floats | None = None,
        chosen: Floats | None = None,
        filling: Filling | None = None,
    ) -> tuple[Floats, Floats]:
        """Asks for the next decision.

        Args:
            kind: What is to be decided.
            previous: What kind of thing was chosen last.
            subject: [D] the filled slot of the leaf that is asked about.
            chosen: [D] what was chosen last.
            filling: What a value is looked for in.

        Returns:
            queries [4, D] and choices [modes + 2], see `layout.py`.
        """
        nothing = np.zeros((1, WIDTH), np.float32)
        now = np.zeros((DECISIONS, 1), np.float32)
        now[self._step, 0] = 1
        self._seen[0, self._step] = 1
        self._step += 1
        looked_at = self._looked_at if filling is None else filling.looked_at
        queries, choices, self._cache = self._graphs.decide(
            np.array([kind], np.int32),
            np.array([previous], np.int32),
            nothing if subject is None else subject.reshape(1, -1),
            nothing if chosen is None else chosen.reshape(1, -1),
            now,
            self._seen,
            self._cache,
            looked_at.memory,
            looked_at.mask,
        )
        return queries[0], choices[0]


def _beside(words: Floats, others: Floats, length: int, most: int) -> tuple[Floats, Floats, Floats]:
    """Words and other rows, each padded, with the mask of both."""
    padded_words = np.zeros((length, WIDTH), np.float32)
    padded_words[: len(words)] = words
    padded_others = np.zeros((most, WIDTH), np.float32)
    padded_others[: len(others)] = others
    mask = np.zeros((1, length + most), np.float32)
    mask[0, : len(words)] = 1
    mask[0, length : length + len(others)] = 1
    return padded_words, padded_others, mask


def fitting(length: int) -> int:
    """The smallest reading graph for so many pieces.

    Raises:
        ValueError: There is none.
    """
    for size in TEXT_LENGTHS:
        if length <= size:
            return size
    raise ValueError(f"{length} pieces do not fit the model's {TEXT_LENGTHS[-1]}")
