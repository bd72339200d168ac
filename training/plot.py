"""Draws a run: `python -m training.plot` makes `losses.svg` and `calibration.svg` from the CSV files of a run."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

from training.train import OUT

FIGURES = Path(__file__).parent / "figures"


def losses(out: Path, figures: Path) -> None:
    """The loss and the shares of right examples over the minutes, from `losses.csv`."""
    with (out / "losses.csv").open() as file:
        rows = list(csv.reader(file))
    minutes = [float(row[1]) / 60 for row in rows]
    figure, left = plt.subplots(figsize=(7, 4))
    left.plot(minutes, [float(row[2]) for row in rows], color="0.6", label="loss of an example (left)")
    left.set(xlabel="minutes", ylabel="loss", yscale="log")
    right = left.twinx()
    for index in range(3, len(rows[0])):
        name = rows[0][index].partition("=")[0]
        right.plot(minutes, [100 * float(row[index].partition("=")[2]) for row in rows], label=name)
    right.set(ylabel="% of examples with every decision right", ylim=(0, 100))
    figure.legend(loc="lower center", ncols=4, fontsize="small")
    _save(figure, figures / "losses.svg")


def calibration(out: Path, figures: Path) -> None:
    """What each threshold would give on the test split, from `calibration.csv`."""
    with (out / "calibration.csv").open() as file:
        names, *rows = list(csv.reader(file))
    figure, axes = plt.subplots(figsize=(7, 4))
    for index, name in enumerate(names[1:], start=1):
        axes.plot([float(row[0]) for row in rows], [100 * float(row[index]) for row in rows], label=name)
    axes.set(xlabel="threshold", ylabel="%")
    axes.legend()
    _save(figure, figures / "calibration.svg")


def _save(figure: plt.Figure, path: Path) -> None:
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    path.parent.mkdir(exist_ok=True)
    # Without the date and with ids that do not change, the same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "hearth"
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    arguments = parser.parse_args()
    losses(arguments.out, arguments.figures)
    calibration(arguments.out, arguments.figures)
