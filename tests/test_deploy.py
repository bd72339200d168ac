"""What brings Hearth to a board, as far as it can be looked at without one; `make test-boot` runs it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from agent.config import read_settings
from tests.hil.board import need
from tools import check_settings

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(40).decode(errors="replace")


SCRIPTS = sorted(
    path
    for folder in (DEPLOY, ROOT / "tests", ROOT / ".ci", ROOT / "firmware", ROOT / "training")
    for path in folder.rglob("*")
    if path.is_file() and (path.suffix == ".sh" or re.match(r"#!.*\b(ba)?sh\b", _beginning(path)))
)
LOCKS = [f"{release}-{arch}" for release in ("bookworm", "trixie") for arch in ("amd64", "arm64")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_shellcheck_finds_nothing_in_a_script_and_it_stops_at_the_first_failure(script: Path) -> None:
    """Every one of the repository; what is only read by others stops with them."""
    need([] if shutil.which("shellcheck") else ["shellcheck"])
    check = ["shellcheck", "--external-sources", "--source-path=SCRIPTDIR", str(script)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)

    assert done.stdout + done.stderr == ""
    assert re.search(r"^set -e|^# shellcheck shell=", script.read_text(), re.MULTILINE)


def test_the_settings_of_a_new_installation_are_right() -> None:
    """They are read as the service reads them."""
    check_settings(read_settings(DEPLOY / "hearth.toml").house_table)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_wheel_of_a_package_is_one_version_with_a_hash(lock: str) -> None:
    """And all that Hearth depends on is among them."""
    lines = (DEPLOY / "wheels" / f"{lock}.txt").read_text().splitlines()
    names = {re.split(r"[=]", line)[0].lower() for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]}

    assert all(re.fullmatch(r"[\w.-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert wanted <= names


def test_what_the_installer_brings_the_uninstaller_takes_away() -> None:
    """Each path that it writes is one that its mirror removes."""
    install, uninstall = ((DEPLOY / name).read_text() for name in ("install.sh", "uninstall.sh"))
    written = set(re.findall(r"(/(?:etc|opt|usr)/[\w./$-]+)", install))

    for path in sorted(written):
        place = "/opt/hearth" if path.startswith("/opt/hearth") else path
        place = "/etc/hearth" if place.startswith("/etc/hearth/") else place
        assert re.search(rf"rm -r?f [^\n]*{re.escape(place)}", uninstall), path


@pytest.mark.parametrize("script", ["install.sh", "uninstall.sh"])
def test_who_is_not_root_is_told_so(script: str, tmp_path: Path) -> None:
    """Before anything is done."""
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", str(DEPLOY / script)], env=path, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "as root" in done.stderr


@pytest.mark.parametrize("name", ["user-data", "network-config", "hearth.yaml"])
def test_a_file_of_the_image_is_yaml(name: str) -> None:
    """Nothing here boots it."""
    assert isinstance(yaml.safe_load((DEPLOY / "image" / name).read_text()), dict)


def test_an_image_installs_what_the_package_depends_on() -> None:
    """A first boot without a network would fail otherwise, and only there."""
    control = (DEPLOY / "deb" / "control").read_text()
    depends = re.search(r"^Depends: (.+)$", control, re.MULTILINE)[1]  # type: ignore[index]
    needed = {each.split()[0] for each in depends.split(", ")} - {
        "python3",
        "systemd",
    }  # every Raspberry Pi OS has them
    layer = yaml.safe_load((DEPLOY / "image" / "hearth.yaml").read_text())
    first_boot = yaml.safe_load((DEPLOY / "image" / "user-data").read_text())

    assert needed <= set(layer["mmdebstrap"]["packages"])
    assert needed <= set(first_boot["packages"])


def test_a_layer_of_the_image_has_the_fields_that_its_tool_wants() -> None:
    """Each in the comment above it, between two marks."""
    head = (DEPLOY / "image" / "hearth.yaml").read_text().partition("# METABEGIN\n")[2].partition("# METAEND")[0]
    fields = dict(line.removeprefix("# ").split(":", 1) for line in head.splitlines() if ":" in line)

    assert fields["X-Env-Layer-Name"].strip() == "hearth"
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["X-Env-Layer-Version"].strip())
    assert {"X-Env-Layer-Category", "X-Env-Layer-Desc", "X-Env-VarPrefix", "X-Env-Var-package"} <= set(fields)


def test_the_first_boot_of_bookworm_is_toml_of_its_version() -> None:
    """Which it refuses otherwise."""
    assert tomllib.loads((DEPLOY / "image" / "custom.toml").read_text())["config_version"] == 1
