"""What the virtual machines boot: Debian's own kernel, and a root in memory with Python, gpiod and Hearth.

Trees are fetched once a Debian release into build/vm; Hearth itself is packed anew in each run. Debian's kernels have
no gpio-sim, so it is built as a module from Debian's own source; nothing of that is kept in the repository.
"""

from __future__ import annotations

import compileall
import platform
import py_compile
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "vm"
RELEASE = "bookworm"
PYTHON = "3.11"
"""That of the release."""

WHEELS = ("aiomqtt", "gpiod", "paho-mqtt", "pyserial", "pytest", "pytest-asyncio", "pytest-timeout")
NOT_NEEDED = (
    "boot", "lib/modules", "usr/lib/linux-image-*", "usr/lib/modules", "usr/share/doc", "usr/share/locale",
    "usr/share/man", "usr/src", "var/lib/apt", "var/cache",
)  # fmt: skip
HEARTH = ("agent", "tools", "tests/gpio", "tests/pi", "tests/vm", "pyproject.toml")

INIT = """#!/bin/busybox sh
# The guest's only program: kernel's file systems, modules in their order, then the tests; their status ends it.
export PATH=/usr/bin:/bin PYTHONPATH=/packages:/hearth PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
busybox mkdir -p /proc /sys /dev /tmp
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
for module in /modules/*.ko; do [ -e "$module" ] && busybox insmod "$module"; done
busybox mount -t configfs configfs /sys/kernel/config 2>/dev/null
for word in $(busybox cat /proc/cmdline); do
    case $word in hearth.*) name=${word%%=*}; export "HEARTH_${name#hearth.}=${word#*=}" ;; esac
done
busybox stty -F "$HEARTH_TALK" raw -echo
cd /hearth
exec <"$HEARTH_TALK" >"$HEARTH_TALK" 2>&1
python3 -u -m pytest -o addopts= -q -rpfE --color=no -p no:cacheprovider "tests/vm/guest/$HEARTH_TESTS"
echo "@done $?"
busybox sleep 5
busybox poweroff -f
"""


@dataclass(frozen=True)
class Image:
    """What QEMU is given.

    Attributes:
        kernel: The kernel.
        initrd: The root.
        trees: Where the device trees are.
    """

    kernel: Path
    initrd: Path
    trees: Path


def image(architecture: str) -> Image:
    """Makes an image for "arm64" or "amd64", of which "amd64" has gpio-sim."""
    folder = BUILD / architecture
    if not (folder / "base.cpio.gz").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _fetch(architecture, folder)
    hearth = folder / "hearth"
    shutil.rmtree(hearth, ignore_errors=True)
    for each in HEARTH:
        source, target = ROOT / each, hearth / "hearth" / each
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "files"))
        else:
            shutil.copy(source, target)
    _compile(hearth / "hearth")
    (hearth / "init").write_text(INIT)
    (hearth / "init").chmod(0o755)
    _pack(hearth, folder / "hearth.cpio.gz")
    initrd = folder / "initrd"
    # The kernel unpacks one archive after the other.
    initrd.write_bytes((folder / "base.cpio.gz").read_bytes() + (folder / "hearth.cpio.gz").read_bytes())
    return Image(folder / "kernel", initrd, folder / "trees")


def _fetch(architecture: str, folder: Path) -> None:
    tree = folder / "tree"
    folder.mkdir(parents=True)
    include = f"python3,busybox-static,linux-image-{architecture}"
    _run("mmdebstrap", "--variant=extract", f"--architectures={architecture}", f"--include={include}", RELEASE, tree)
    shutil.copy(next((tree / "boot").glob("vmlinuz-*")), folder / "kernel")
    for trees in tree.glob("usr/lib/linux-image-*"):
        shutil.copytree(trees, folder / "trees")
    modules = tree / "modules"
    modules.mkdir()
    if architecture == "amd64":
        for number, module in enumerate(_gpio_sim(tree, folder / "gpio-sim")):
            shutil.copy(module, modules / f"{number}-{module.name}")
    for pattern in NOT_NEEDED:
        for each in tree.glob(pattern):
            shutil.rmtree(each)
    machine = {"arm64": "aarch64", "amd64": "x86_64"}[architecture]
    tags = [f"--platform={tag}_{machine}" for tag in ("manylinux2014", "manylinux_2_17", "manylinux_2_28")]
    target = (f"--python-version={PYTHON}", "--implementation=cp", "--only-binary=:all:", f"--target={tree}/packages")
    _run("python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *tags, *target, *WHEELS)
    if not (tree / "usr/bin/python3").exists():
        (tree / "usr/bin/python3").symlink_to(f"python{PYTHON}")
    _compile(tree / "packages", tree / "usr" / "lib" / f"python{PYTHON}")
    _pack(tree, folder / "base.cpio.gz")
    shutil.rmtree(tree)


def _gpio_sim(tree: Path, folder: Path) -> list[Path]:
    """The modules that gpio-sim needs and itself, in the order in which they are loaded.

    Raises:
        RuntimeError: The kernel is not of the version of the headers that are installed.
    """
    version = next((tree / "boot").glob("vmlinuz-*")).name.removeprefix("vmlinuz-")
    headers = Path("/usr/src") / f"linux-headers-{version}"
    if not headers.exists():
        raise RuntimeError(f"{headers} is not there: apt-get update, and apt-get install linux-headers-{version}")
    folder.mkdir()
    major = ".".join(version.split(".")[:2])
    _run("apt-get", "download", "-qq", f"linux-source-{major}", folder=folder)
    _run("dpkg-deb", "-x", next(folder.glob("*.deb")), folder / "source")
    archive = next((folder / "source" / "usr" / "src").glob("*.tar.xz"))
    wanted = ("drivers/gpio/gpio-sim.c", "drivers/gpio/gpiolib.h", "kernel/irq/irq_sim.c")
    _run("tar", "-xf", archive, "--strip-components=1", *(f"linux-source-{major}/{each}" for each in wanted),
         folder=folder)  # fmt: skip
    module = folder / "module"
    module.mkdir()
    for each in wanted:
        shutil.move(folder / each, module)
    source = module / "irq_sim.c"
    # The kernel exports irq_to_desc to nobody; this does the same.
    source.write_text(
        source.read_text().replace("handle_simple_irq(irq_to_desc(irqnum))", "generic_handle_irq(irqnum)")
    )
    (module / "licence.c").write_text('#include <linux/module.h>\nMODULE_LICENSE("GPL");\n')
    (module / "Makefile").write_text("obj-m := gpio-sim.o irq_sim_mod.o\nirq_sim_mod-y := irq_sim.o licence.o\n")
    _run("make", "-s", "-C", headers, f"M={module}", "modules")
    configfs = next(tree.glob(f"lib/modules/{version}/kernel/fs/configfs/configfs.ko"), None)
    return [*([configfs] if configfs else []), module / "irq_sim_mod.ko", module / "gpio-sim.ko"]


def _compile(*folders: Path) -> None:
    """Spares the guest, which is slow, that work at each start of a program; where this Python is of its version."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == PYTHON:
        for folder in folders:
            # A guest's files have no times.
            compileall.compile_dir(folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def _pack(tree: Path, archive: Path) -> None:
    _run("sh", "-c", f"find . | cpio -o -H newc --quiet | gzip -1 > {archive}", folder=tree)


def _run(*command: str | Path, folder: Path | None = None) -> None:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def cannot_build(*programs: str) -> str:
    """Why images cannot be made here; "" where they can. The programs are those that not every image needs."""
    missing = [name for name in ("mmdebstrap", "cpio", *programs) if shutil.which(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


def no_gpio_sim() -> str:
    """Why the image with gpio-sim, "amd64", is not for this machine; "" where it is."""
    if platform.machine() == "x86_64":
        return ""
    return (
        f"inputs on a real kernel are not tested on {platform.machine()}: gpio-sim is built against the headers of an "
        "x86-64 kernel, so run make test-vm on an x86-64 machine for them; outputs are tested here"
    )
