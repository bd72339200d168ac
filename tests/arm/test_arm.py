"""Hearth on a 64-bit ARM, emulated: `make test-arm`, and with `FULL=1` on every release and processor.

The wheels are those that the package carries. What the model decides is compared with what it decides on this
machine, with the same edition of its runtime: the kernels of another processor add up in another order, so that
confidences differ a little, and a choice that was narrow may fall otherwise. All else has to be the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.arm.emulated import BUILD, EmulatedArm
from tests.trees import ROOT, locked, pip, run

FULL = os.environ.get("FULL") == "1"
COUNT = 200 if FULL else 20
RELEASES = ("bookworm", "trixie") if FULL else ("bookworm",)
PROCESSORS = ("cortex-a53", "cortex-a72") if FULL else ("cortex-a53",)  # one that an illegal instruction shows on

NARROW = 0.05
"""A choice by less probability than this, or a confidence so near to its threshold, may differ."""

OF_THE_SUITES = ("pytest", "pytest-asyncio", "pytest-timeout", "hypothesis", "pyyaml", "pyserial", "gpiod", "amqtt")
"""What they need beside what the package carries."""

NOT_THERE = re.compile(
    r"subprocess|mosquitto|TfliteModel|load_model|tests\.(hil|gpio|test_model)|training|pocketsphinx"
)
"""Tests that start programs, which would be of this machine's kind, or ask the model, which takes hours emulated."""

pytestmark = pytest.mark.timeout(7200)


@dataclass(frozen=True)
class Decided:
    """What tests/arm/decide.py told: where it ran, and a line a sentence."""

    ran_on: dict[str, Any]
    sentences: list[dict[str, Any]]

    @classmethod
    def of(cls, done: subprocess.CompletedProcess[str]) -> Decided:
        """Out of its output.

        Raises:
            AssertionError: It did not end well, for an illegal instruction with -4.
        """
        assert done.returncode == 0, f"it ended with {done.returncode}:\n{done.stderr[-4000:]}"
        first, *others = (json.loads(line) for line in done.stdout.splitlines())
        return cls(first, others)


def arguments() -> tuple[str, ...]:
    """The short run reads only the declarations of the functions that its sentences want."""
    return ("-m", "tests.arm.decide", str(COUNT), *(() if FULL else ("--wanted",)))


@pytest.fixture(scope="module")
def here() -> Decided:
    """What this machine decides."""
    runtime = next(line.split()[0] for line in locked("bookworm", "arm64").read_text().splitlines() if "litert" in line)
    folder = BUILD / runtime
    if not folder.is_dir():
        # The checkout's own is the newest that there is, which may be another one.
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, runtime)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments()]
    return Decided.of(subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False))


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("release", RELEASES)
def test_it_decides_as_on_this_machine(
    release: str, processor: str, here: Decided, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same calls and the same words, but where the decision was narrow here."""
    started = time.monotonic()
    there = Decided.of(EmulatedArm(release, processor).python(*arguments()))
    took = time.monotonic() - started
    pairs = list(zip(here.sentences, there.sentences, strict=True))
    narrow = [own["text"] for own, _ in pairs if own["margin"] < NARROW]
    other = [own["text"] for own, far in pairs if any(own[key] != far[key] for key in ("calls", "outcome", "answer"))]
    same = [(own["confidence"], far["confidence"]) for own, far in pairs if own["text"] not in other]
    apart = max(abs((own or 0) - (far or 0)) for own, far in same)
    head = f"{release}, {processor}, {took:.0f} s"
    with capsys.disabled():
        print(f"\n{head}: of {len(pairs)} sentences {len(same)} the same, their confidence "
              f"at most {apart:.3f} apart; {len(narrow)} are narrow here; {len(other)} differ: {other}")  # fmt: skip

    assert len(pairs) == COUNT
    assert there.ran_on["machine"] == "aarch64"
    assert there.ran_on["ai-edge-litert"] == here.ran_on["ai-edge-litert"]
    assert set(other) <= set(narrow)
    assert any(calls for own, _ in pairs for calls in own["calls"])


@pytest.mark.parametrize("release", RELEASES)
def test_the_suites_of_agent_and_tools_pass(release: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that run in one process and need no model; on the weakest processor. With FULL=1 alone: Makefile."""
    suites = [path for path in sorted((ROOT / "tests").glob("test_*.py")) if not NOT_THERE.search(path.read_text())]
    packages = BUILD / f"{release}-suites"
    if not packages.is_dir():
        pip(release, "arm64", "--ignore-requires-python", "--target", packages, *OF_THE_SUITES)
    arm = EmulatedArm(release, PROCESSORS[0])
    patient = ("-o", "addopts=", "-o", "timeout=900", "-p", "no:cacheprovider", "-q")
    done = arm.python("-m", "pytest", *patient, *suites, packages=packages)
    with capsys.disabled():
        print(f"\n{release}: {len(suites)} files, {done.stdout.strip().splitlines()[-1]}")

    assert len(suites) > 40
    assert done.returncode == 0, done.stdout[-8000:]
