"""The recipe from end to end on a crumb: train, export, decide with the exported file."""

from __future__ import annotations

import json
from pathlib import Path

from agent.content import Content
from agent.model.generative import GenerateContentRequest, Outcome
from agent.model.tflite import TfliteModel
from training import train
from training.corpus import read_corpus
from training.export import export


def test_a_crumb_of_training_makes_a_file_that_decides(tmp_path: Path, monkeypatch) -> None:
    """A few steps, resumed once; then the device's own code runs the product."""
    monkeypatch.setattr(train, "GROUP", 8)
    monkeypatch.setattr(train, "VALIDATE_EVERY", 2)
    train.train(steps=2, out=tmp_path / "out", seed=1, threads=2)
    steps = train.torch.load(tmp_path / "out" / "checkpoint.pt", weights_only=False)["step"]
    train.train(steps=4, out=tmp_path / "out", seed=1, threads=2)
    resumed = train.torch.load(tmp_path / "out" / "checkpoint.pt", weights_only=False)["step"]
    product = export(tmp_path / "out", tmp_path / "files")
    product.with_name("calibration.json").write_text(json.dumps({"slope": 1.0, "offset": 0.0, "act": 0.0}))

    declarations = tuple(tool.declaration for tool in read_corpus().house)
    candidate = TfliteModel(product).decide(
        GenerateContentRequest((Content.user("turn on the hall light"),), declarations)
    )

    assert (steps, resumed) == (2, 4)
    assert candidate.outcome in set(Outcome)
    assert product.stat().st_size < 30_000_000
