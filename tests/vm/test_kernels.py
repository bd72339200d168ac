"""The pins on real kernels, in virtual machines: `make test-vm`.

Outputs are looked at from outside of the machine, in the registers of its GPIO controller; inputs are driven by
gpio-sim. What ran in the guests is in tests/vm/guest.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vm.image import Image, cannot_build, image, no_gpio_sim
from tests.vm.machine import PC, RASPBERRY_PI_3, VIRT, Kind, Report, passed, run

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def arm64() -> Image:
    if why := cannot_build("qemu-system-aarch64"):
        pytest.fail(why)
    return image("arm64")


@pytest.fixture(scope="module")
def amd64() -> Image:
    if why := no_gpio_sim():
        pytest.skip(why)
    if why := cannot_build("qemu-system-x86_64", "make", "cc"):
        pytest.fail(why)
    return image("amd64")


def report_of(kind: Kind, image: Image, folder: Path, tests: str, **words: str) -> Report:
    report = run(kind, image, folder, tests, **words)
    print(report.printed)
    assert report.status == 0, report.printed[-8000:]
    return report


def test_the_named_lines_of_a_raspberry_pi_3_are_as_hearth_says(arm64: Image, tmp_path: Path) -> None:
    """Under Debian's kernel, by the names of the header; a pin that is given back becomes an input there."""
    report = report_of(RASPBERRY_PI_3, arm64, tmp_path, "outputs.py", MACHINE="raspi3b")

    assert len(passed(report)) == 6
    assert report.looks >= 12


def test_the_chip_of_virt_is_as_hearth_says(arm64: Image, tmp_path: Path) -> None:
    """A PL061, whose lines have no names: by number, on the chip of a label."""
    report = report_of(VIRT, arm64, tmp_path, "outputs.py", MACHINE="virt")

    assert len(passed(report)) == 6
    assert report.looks >= 12


def test_inputs_of_gpio_sim_are_heard(amd64: Image, tmp_path: Path) -> None:
    """Buttons, contacts and what the kernel debounces."""
    report = report_of(PC, amd64, tmp_path, "inputs.py")

    assert len(passed(report)) == 6
