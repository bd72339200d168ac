"""A 64-bit ARM Python that runs here, emulated by QEMU program by program: no machine, no root, no chroot.

Trees are fetched once a release into build/arm. What a program opens is looked for in the tree first, then on this
machine, so that the checkout is where it is. The runtime of the model asks the files below which processor it has:
with those of this machine it would take kernels for another one, and with none it would do without its best.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.trees import PYTHONS, ROOT, debian, locked, pip

BUILD = ROOT / "build" / "arm"
PACKAGES = ("python3", "libgomp1", "libstdc++6", "ca-certificates")
CORES = 4

PARTS = {"cortex-a53": "0xd03", "cortex-a72": "0xd08", "cortex-a76": "0xd0b"}
"""The number by which each processor calls itself: those of a Pi Zero 2 W and 3, of a 4 and of a 5."""

FEATURES = {
    "cortex-a53": "fp asimd evtstrm crc32 cpuid",
    "cortex-a72": "fp asimd evtstrm crc32 cpuid",
    "cortex-a76": "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp",
}
"""As Linux tells them on those boards."""

CPUINFO = """processor\t: {number}
BogoMIPS\t: 38.40
Features\t: {features}
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: {part}
CPU revision\t: 4

"""


@dataclass(frozen=True)
class EmulatedArm:
    """A release of Debian on a processor.

    Attributes:
        release: "bookworm" or "trixie".
        processor: One of `PARTS`; an instruction that it lacks ends the program.
        plugin: A plug-in of QEMU, for which QEMU must not be linked statically.
    """

    release: str
    processor: str
    plugin: Path | None = None
    tree: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", _tree(self.release))

    def python(self, *arguments: str | Path, packages: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs Python in the checkout, with its output as text.

        Args:
            arguments: Python's.
            packages: A folder with more of them.
        """
        # Of the same processor whatever was run before.
        numbers = (f"{number}" for number in range(CORES))
        about = {"features": FEATURES[self.processor], "part": PARTS[self.processor]}
        (self.tree / "proc" / "cpuinfo").write_text("".join(CPUINFO.format(number=each, **about) for each in numbers))
        plugin = ("-plugin", str(self.plugin)) if self.plugin else ()
        emulator = "qemu-aarch64" if plugin else "qemu-aarch64-static"
        return subprocess.run(
            [
                *(emulator, *plugin, "-cpu", self.processor, "-L", str(self.tree)),
                str(self.tree / "usr" / "bin" / f"python{PYTHONS[self.release]}"),
                *map(str, arguments),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(packages or "")},
            capture_output=True,
            text=True,
            check=False,
        )


def _tree(release: str) -> Path:
    """A tree with the wheels that the package carries, made once."""
    folder = BUILD / release
    wheels = locked(release, "arm64")
    stamp = folder / "wheels.txt"
    if stamp.exists() and stamp.read_text() == wheels.read_text():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    debian(folder, release, PACKAGES, "--architectures=arm64", "--variant=extract")
    target = folder / "usr" / "local" / "lib" / f"python{PYTHONS[release]}" / "dist-packages"
    # What they require of Python is asked of this machine's, which may be an older one.
    chosen = ("--no-deps", "--require-hashes", "--ignore-requires-python")
    pip(release, "arm64", *chosen, "--requirement", wheels, "--target", target)
    cores = folder / "sys" / "devices" / "system" / "cpu"
    cores.mkdir(parents=True)
    (folder / "proc").mkdir(exist_ok=True)
    for name in ("possible", "present"):
        (cores / name).write_text(f"0-{CORES - 1}\n")
    stamp.write_text(wheels.read_text())
    return folder
