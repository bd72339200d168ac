"""What is generated: every pattern parses, every label is grounded, no pattern in two splits."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.model.generative import Outcome
from agent.model.tokenizer import Tokenizer
from training.batch import collate
from training.corpus import Corpus, read_corpus
from training.generate import Generator, Span
from training.vocabulary import build


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Everything that was written; reading it checks every pattern."""
    return read_corpus()


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """The vocabulary as the recipe builds it."""
    from training.train import minilm

    path: Path = tmp_path_factory.mktemp("vocabulary") / "tokenizer.model"
    build((minilm() / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n"), path)
    return Tokenizer(path)


def test_every_label_is_made_of_the_words(corpus: Corpus, tokenizer: Tokenizer) -> None:
    """Collating raises for a value that cannot be copied from its sentence."""
    generator = Generator(corpus, seed=5)
    cards: dict = {}

    outcomes = set()
    for _ in range(40):
        group = generator.group(32)
        collate(group, tokenizer, cards)
        outcomes |= {example.outcome for example in group.examples}

    assert outcomes == set(Outcome)


def test_every_pattern_can_be_said(corpus: Corpus) -> None:
    """Each one expands into a sentence whose values are there."""
    generator = Generator(corpus, seed=6)

    for tool in corpus.house + corpus.others + corpus.heldout:
        for pattern in tool.says + tool.asks:
            spoken = generator._say(tool, pattern)
            assert spoken.sentence.text


def test_the_same_seed_draws_the_same_examples(corpus: Corpus) -> None:
    """The recipe is repeatable."""
    first, second = (Generator(corpus, seed=9).group(20) for _ in range(2))

    assert first.examples == second.examples


def test_no_pattern_stands_in_two_splits(corpus: Corpus) -> None:
    """What validates was not trained on."""
    train, apart = Generator(corpus, 1), Generator(corpus, 1, split="validation")

    for tool in corpus.house + corpus.others:
        assert not set(train._says[tool]) & set(apart._says[tool])
    assert sum(len(apart._says[tool]) for tool in corpus.house) > 40


def test_a_question_about_a_state_never_moves_anything(corpus: Corpus) -> None:
    """No example of the query kind calls a function that moves something."""
    generator = Generator(corpus, seed=12)

    for _ in range(20):
        group = generator.group(32)
        reads = {tool.name: tool.reads for tool in group.tools}
        for example in group.examples:
            if example.outcome is Outcome.QUERY:
                assert all(reads[call.name] for call in example.calls)


def test_spans_lie_inside_their_segments(corpus: Corpus) -> None:
    """Of the words now or of what was said before."""
    generator = Generator(corpus, seed=13)

    for example in (each for _ in range(20) for each in generator.group(32).examples):
        for call in example.calls:
            for value in (each for values in call.values.values() for each in values):
                if isinstance(value, Span):
                    assert 0 <= value.start < value.end <= len(example.segments[value.segment].text)
