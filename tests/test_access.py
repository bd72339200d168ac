"""Why a device may not be opened."""

from __future__ import annotations

import grp
import os
from pathlib import Path

import pytest

from tools.drivers.access import why_denied


def denied(path: Path, group: int, mode: int) -> str:
    os.chown(path, -1, group)
    path.chmod(mode)
    return why_denied(path, "dialout", "char-ttyUSB")


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file in its place; giving it to a group needs root."""
    if os.geteuid() and os.environ.get("CI") != "true":
        pytest.skip("giving a file to a group needs root")
    (tmp_path / "ttyUSB0").touch()
    return tmp_path / "ttyUSB0"


def test_f27_a_device_of_a_group_that_we_lack_names_it(device: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F27: with the two ways into it."""
    group = grp.getgrnam("dialout").gr_gid
    monkeypatch.setattr(os, "getgroups", list)
    said = denied(device, group, 0o660)

    assert said.startswith("is for the group dialout, and root is not in it: ")
    assert "SupplementaryGroups=dialout in the unit" in said


def test_f27_a_device_that_the_unit_does_not_allow_names_the_directive(
    device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F27: we are in its group, so only the allow-list is left."""
    group = grp.getgrnam("dialout").gr_gid
    monkeypatch.setattr(os, "getgroups", lambda: [group])

    assert denied(device, group, 0o660) == (
        "is kept from root, though of its group dialout: the unit needs DeviceAllow=char-ttyUSB rw"
    )


@pytest.mark.parametrize(("group", "mode"), [(0, 0o660), (20, 0o600)])
def test_f27_a_device_for_root_alone_names_the_rule(device: Path, group: int, mode: int) -> None:
    """F27: no group would help."""
    assert denied(device, group, mode) == (
        "is for root alone: install Hearth's udev rule, which gives it to the group dialout"
    )


def test_a_device_that_is_gone_meanwhile_says_so(tmp_path: Path) -> None:
    """Unplugged between two looks."""
    assert why_denied(tmp_path / "none", "gpio", "char-gpiochip") == "cannot be opened (No such file or directory)"
