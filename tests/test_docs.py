"""The pages for users: every command in them is run, every setting is in them, every link leads somewhere.

A page is gone through from top to bottom in a copy of the checkout, beside a service with the example house:

- a block whose info string names a file (```toml my-house.toml) is written to that file;
- each line of an `sh` block is run. `make ...` and `hearth run ...` would not end, and `hearth board ...` needs a
  board: that their target or options exist is checked, and `make run` starts the service anew;
- a `python` block is run, if it names no file;
- a `text` block right after one of those is what it prints, with `...` for anything;
- a `console` block is for a board, as root: that its commands exist is checked.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from agent.cli import _parser
from agent.config import AGENT_KEYS, EXAMPLE_SETTINGS, TABLES, read_settings
from tools import check_settings, declarations
from tools.buttons import Button
from tools.device import Device
from tools.drivers.bridges import BridgedOptions
from tools.drivers.broker import MqttBroker
from tools.drivers.gpio.options import GpioButton, GpioOptions, GpioSettings
from tools.drivers.memory import MemoryOptions
from tools.drivers.mqtt_payloads import MqttOptions
from tools.drivers.serial.options import SerialButton, SerialOptions, SerialSettings
from tools.drivers.tasmota.driver import TasmotaSettings
from tools.drivers.zigbee2mqtt.driver import Zigbee2MqttSettings
from tools.home import Floor, Group, Room
from tools.house import HouseSettings
from tools.lists import ListSettings
from tools.scene_states import Scene, SceneState
from tools.scripts import Script, Step
from tools.weather import WeatherSettings

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "firmware" / "README.md"]
ALL_PAGES = [
    *PAGES,
    *sorted((ROOT / "training").glob("*.md")),
    ROOT / "agent" / "model" / "MODEL_CARD.md",
]
SAME = doctest.OutputChecker()
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        kind: Its language.
        file: The file that it is; "" for none.
        text: What is in it.
        follows: Nothing but space is between it and the block before.
    """

    kind: str
    file: str
    text: str
    follows: bool


def blocks(page: Path) -> list[Block]:
    text, end, found = page.read_text(encoding="utf-8"), 0, []
    for match in BLOCK.finditer(text):
        found.append(Block(match[1], match[2], match[3], follows=not text[end : match.start()].strip()))
        end = match.end()
    return found


class Checkout:
    """A folder that looks like the checkout, with a service that runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for each in ROOT.iterdir():
            if each.name != ".venv":
                (folder / each.name).symlink_to(each)
        (folder / ".venv").symlink_to(sys.prefix)
        places = {name: folder / name for name in ("RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY")}
        for place in places.values():
            place.mkdir()
        self.env = {**os.environ, **{name: str(place) for name, place in places.items()}}
        self.env |= {"PYTHONPATH": str(ROOT), "HEARTH_CONFIG": ""}
        self._service: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts the service, anew if it runs; returns when it is ready and at its broker."""
        self.stop()
        command = [sys.executable, "-m", "agent", "run", "--config", "deploy/hearth.example.toml"]
        self._service = subprocess.Popen(command, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True)
        assert self._service.stderr is not None
        heard = ""
        for line in self._service.stderr:
            heard += line
            if port := re.search(r"connected to \S+:(\d+)", heard):
                self.env["PORT"] = port[1]
            if node := re.search(r"(\S+) is ready", heard):
                self.env["NODE"] = node[1]
            if port and node:
                return
        raise AssertionError(f"the service ended:\n{heard}")

    def stop(self) -> None:
        """Ends it as systemd would; twice is fine."""
        if self._service:
            self._service.send_signal(signal.SIGTERM)
            self._service.communicate(timeout=20)
            self._service = None

    def run(self, block: Block) -> str:
        """What a block prints."""
        if block.kind == "python":
            return self._output([sys.executable, "-c", block.text])
        lines = [line for line in block.text.splitlines() if line and not line.startswith("#")]
        return "".join(map(self._line, lines))

    def _line(self, line: str) -> str:
        program, *arguments = shlex.split(line, comments=True)
        if program == "make":
            self._output(["make", "--dry-run", *arguments])
            if arguments == ["run"]:
                self.start()
            return ""
        if program.endswith("hearth") and arguments[0] in ("run", "board"):
            _parser().parse_args(arguments)
            return ""
        return self._output(["sh", "-c", line])

    def _output(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{command[-1]}\nends with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """A service of its own for a page."""
    missing = [name for name in ("mosquitto_pub", "espeak-ng") if shutil.which(name) is None]
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"not installed: {', '.join(missing)}")
    made = Checkout(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_command_for_a_board_is_one_that_there_is(page: Path) -> None:
    """Those in `console` blocks are not run here; `make test-boot` does what they do."""
    for line in "".join(block.text for block in blocks(page) if block.kind == "console").splitlines():
        program, *arguments = shlex.split(line.removeprefix("sudo "))
        if program == "hearth":
            _parser().parse_args(arguments)
        elif program == "make":
            subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, check=True, capture_output=True)
        elif program == "sh":
            assert (ROOT / "deploy" / arguments[0].removeprefix("/usr/share/hearth/")).exists(), line
        elif program == "systemctl":
            units = [each if "." in each else f"{each}.service" for each in arguments[1:] if each != "mosquitto"]
            assert all((ROOT / "systemd" / each).exists() for each in units), line
        else:
            assert program in ("ssh", "scp", "apt", "adduser", "nano"), line


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_does_what_it_says(page: Path, checkout: Checkout) -> None:
    """From its first block to its last."""
    printed: str | None = None
    for block in blocks(page):
        before, printed = printed, None
        if block.file:
            file = checkout.folder / block.file
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.kind in ("sh", "python"):
            printed = checkout.run(block)
        elif block.kind == "text" and block.follows and before is not None:
            assert SAME.check_output(block.text, before, doctest.ELLIPSIS), f"{block.text}\nis printed as\n{before}"


def test_the_screen_of_the_readme_is_what_its_lines_bring_about(checkout: Checkout) -> None:
    """The four lines that the README says to type are answered as on the left of its picture of the prompt."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n### 2.")[0].splitlines()
    typed = "".join(f"{line.strip()}\n" for line in lines if line.startswith("    ") and "│" not in line)
    left = " ".join(line.split("│")[0].strip() for line in lines if "│" in line)
    chat = [sys.executable, "-m", "agent", "chat"]
    done = subprocess.run(chat, cwd=checkout.folder, env=checkout.env, input=typed, capture_output=True, text=True)

    assert typed.count("\n") == 4
    assert all(line in left for line in done.stdout.splitlines()), done.stdout


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_a_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    """The links of a page that stay in the repository."""
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page

        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings], target


HOUSE = (
    Floor, Room, Group, Device, MemoryOptions, MqttOptions, MqttBroker, WeatherSettings, HouseSettings, ListSettings,
    Scene, SceneState, Script, Step, SerialButton, SerialOptions, SerialSettings,
    Button, GpioButton, GpioOptions, GpioSettings, BridgedOptions, Zigbee2MqttSettings, TasmotaSettings,
)  # fmt: skip
NO_KEYS = {"driver", "options", "source"}
"""Fields that are made from a table."""


def all_keys() -> set[str]:
    """Every key of every table of the settings."""
    return {field.name for kind in (*TABLES.values(), *HOUSE) for field in fields(kind)} - NO_KEYS | set(AGENT_KEYS)


def test_every_key_of_the_settings_is_described() -> None:
    """In docs/configure.md; also each that only a device or a driver has."""
    page = (ROOT / "docs" / "configure.md").read_text(encoding="utf-8")
    described = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", page))))

    assert all_keys() - described == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_settings_in_a_page_are_right(page: Path, tmp_path: Path) -> None:
    """Each block of TOML is read as a file of its own."""
    (tmp_path / "mqtt-password").touch(0o600)
    (tmp_path / "mqtt-password").write_text("secret")
    for block in blocks(page):
        if block.kind == "toml":
            (tmp_path / "hearth.toml").write_text(block.text, encoding="utf-8")
            check_settings(read_settings(tmp_path / "hearth.toml").house_table)


def test_every_key_of_the_settings_stands_in_the_example_and_what_is_commented_out_is_right(tmp_path: Path) -> None:
    """Whoever takes away a "# " has settings that are read."""
    text = EXAMPLE_SETTINGS.read_text(encoding="utf-8")
    whole = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    (tmp_path / "hearth.toml").write_text(whole, encoding="utf-8")
    (tmp_path / "mqtt-password").touch(0o600)
    (tmp_path / "mqtt-password").write_text("secret")
    settings = read_settings(tmp_path / "hearth.toml")
    check_settings(settings.house_table)

    assert settings.mqtt is not None
    assert settings.mqtt.password() == "secret"
    assert all_keys() - set(re.findall(r"\w+", whole)) == set()


def test_the_table_of_intents_names_every_function_of_the_house_and_no_other() -> None:
    """A function that is renamed, or a new one, is to be in it."""
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+|announce)`", (ROOT / "docs" / "intents.md").read_text()))
    declared = {declaration.name for declaration in declarations()}
    assert named == declared


def test_the_tree_of_the_readme_is_that_of_the_repository() -> None:
    """Each of its names exists, and each module of agent, tools and training is among them."""
    tree = blocks(ROOT / "README.md")[-1].text
    lines = [re.match(r"( *)(\S+(?:, \S+)*)(?:  |$)", line) for line in tree.splitlines()]
    named: set[str] = set()
    folders: list[str] = []
    for line in filter(None, lines):
        if len(line[1]) > 6:
            continue  # a phrase that goes on
        folders = folders[: len(line[1]) // 2]
        for name in line[2].split(", "):
            named.add("".join(folders) + name)
            if name.endswith("/"):
                folders.append(name)
    modules = [*(ROOT / "agent").rglob("*.py"), *(ROOT / "tools").glob("*.py"), *(ROOT / "training").glob("*.py")]
    wanted = {
        str(each.relative_to(ROOT)) for each in modules if each.name != "__init__.py" and "voice" not in each.parts
    }

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert sorted(wanted - named) == []
