"""What `make bench` says of the light controller, and whether the figures of firmware/README.md are still those."""

from __future__ import annotations

import re

import pytest

from agent import ModelConfig, load_model
from tests import bench_board
from tests.hil.board import FIRMWARE, missing_packages, need


def figures() -> dict[str, str]:
    """The rows of the table under "Figures", by their names."""
    page = (FIRMWARE / "README.md").read_text(encoding="utf-8").partition("\n## Figures\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|", page, re.MULTILINE))


@pytest.mark.timeout(300)
async def test_the_figures_of_the_readme_are_measured_by_the_bench() -> None:
    """Every row of either is one of the other; what is counted in cycles or bytes is as near as a compiler allows."""
    need(missing_packages())
    written = figures()
    model = load_model(ModelConfig())
    rows = [row async for row in bench_board.rows(model, commands=3)]
    await model.close()

    assert {row.name for row in rows} == set(written) - {"what", "---"}
    for row in rows:
        near = [pytest.approx(each, rel=0.15, abs=0.3) for each in bench_board.numbers(written[row.name])]
        assert not row.exact or row.numbers() == near, f"{row.name}: {row.text}; the page says {written[row.name]}"


def test_without_the_tools_one_row_names_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the bench does not fail for it."""
    monkeypatch.setattr(bench_board, "missing_packages", lambda: ["gcc-avr", "libsimavr-dev"])
    bench_board.main(None)

    assert "not installed: gcc-avr, libsimavr-dev (sudo apt install gcc-avr libsimavr-dev)" in capsys.readouterr().out


def test_firmware_that_does_not_build_is_a_row_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what the compiler says."""

    def broken() -> bench_board.Images:
        raise RuntimeError("the firmware does not build:\nboard.c:1: error")

    monkeypatch.setattr(bench_board, "missing_packages", list)
    monkeypatch.setattr(bench_board, "images", broken)
    bench_board.main(None)

    assert "board.c:1: error" in capsys.readouterr().out
