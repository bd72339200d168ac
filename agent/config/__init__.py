"""The settings: TOML read once into frozen dataclasses, and where files of a run lie."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import tempfile
import tomllib
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from agent.config.lines import line_of, syntax_error
from agent.config.secrets import read_password
from agent.config.tables import Table, choice, read_table, read_values, shown
from agent.errors import SettingsError
from agent.model.generative import ModelConfig
from agent.schema import Range

SYSTEM_SETTINGS = Path("/etc/hearth/hearth.toml")
EXAMPLE_SETTINGS = Path(__file__).resolve().parent.parent.parent / "deploy" / "hearth.example.toml"
MACHINE_ID = Path("/etc/machine-id")

NODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A node is one segment of a topic, and of Home Assistant's ids."""


def default_node() -> str:
    """A name that differs from machine to machine and stays: "hearth-" and six hex digits."""
    try:
        identity = MACHINE_ID.read_text().strip() or hex(uuid.getnode())
    except OSError:
        identity = hex(uuid.getnode())
    # The machine-id itself is not to be told to a network (machine-id(5)), so a hash is.
    return "hearth-" + hashlib.sha256(f"hearth {identity}".encode()).hexdigest()[:6]


@dataclass(frozen=True)
class SessionSettings:
    """The table `[sessions]`."""

    store: Literal["kept", "volatile"] = "kept"
    """"kept" survives a reboot; "volatile" only a restart of the service, and writes to no card."""

    idle_minutes: Annotated[float, Range(0.1, 1440)] = 5.0
    """After so long without a word a conversation no longer knows what "it" is."""

    history_turns: Annotated[int, Range(1, 1000)] = 20
    """How many turns of a conversation are given to the model."""

    keep_days: Annotated[float, Range(1, 36_500)] = 30.0
    """A conversation without a word for so long is erased, in days."""


@dataclass(frozen=True)
class LimitSettings:
    """The table `[limits]`."""

    deadline_s: Annotated[float, Range(1, 3600)] = 60.0
    """The longest that one command may take, in seconds."""

    tool_timeout_s: Annotated[float, Range(0.1, 3600)] = 10.0
    """The longest that one call of a tool may take, in seconds."""

    confirm_timeout_s: Annotated[float, Range(1, 3600)] = 30.0
    """How long a question waits for a yes; then it is a no, in seconds."""

    max_same_call: Annotated[int, Range(1, 100)] = 2
    """How often one run may repeat the same call."""

    max_waiting: Annotated[int, Range(1, 1000)] = 16
    """How many commands may wait; the next one is answered BUSY."""


@dataclass(frozen=True)
class MqttSettings:
    """The table `[mqtt]`; without it there is no MQTT."""

    broker: str = "embedded"
    """The broker's host, or "embedded" for one of our own on a free loopback port."""

    port: Annotated[int, Range(1, 65535)] = 1883
    """The broker's port; an embedded one chooses its own."""

    username: str | None = None
    """The user that the broker knows us by."""

    password_file: Path | None = None
    """A file with the password; without it systemd's credential "mqtt-password" is tried."""

    tls: bool = False
    """Encrypt the connection; most brokers have port 8883 for it."""

    ca_file: Path | None = None
    """The authority that signed the broker's certificate; without it those of the system."""

    client_id: str | None = None
    """Our id at the broker; without it the node."""

    keepalive_s: Annotated[int, Range(5, 3600)] = 30
    """After one and a half times this silence the broker tells that we are offline, in seconds."""

    reply_prefixes: tuple[str, ...] = ()
    """Where else than below hearth/<node>/ a command may have its reply sent."""

    max_age_s: Annotated[float, Range(1, 86400)] = 60.0
    """A command that was sent longer ago than this is not acted on, in seconds."""

    def password(self) -> str | None:
        """The password, read when it is needed and never kept in the settings.

        Raises:
            SettingsError: `password_file` cannot be read, or others may read it as well.
        """
        return read_password(self.password_file, "mqtt")


@dataclass(frozen=True)
class VoiceSettings:
    """The table `[voice]`."""

    speaker: str = "en"
    """The espeak-ng voice that says the answers."""

    words_per_minute: Annotated[int, Range(80, 450)] = 160
    """How fast it speaks."""


@dataclass(frozen=True)
class LogSettings:
    """The table `[log]`."""

    words: bool = False
    """Whether the log holds what people said and were answered; without it only what was done."""


@dataclass(frozen=True)
class Settings:
    """All of the settings; the first five are the table `[agent]`."""

    node: str = field(default_factory=default_node)
    """`name`: one segment of every topic; letters, digits, "_" and "-"."""

    house: str = "tools"
    """The Python package that opens the house; its settings are the table of the same name."""

    instructions: str = ""
    """What the model is told about its task; README lists what the small model heeds."""

    max_turns: Annotated[int, Range(1, 100)] = 10
    """How often the model is asked in one run."""

    tools_folder: Path | None = None
    """A folder of Python files with tools of your own."""

    model: ModelConfig = field(default_factory=ModelConfig)
    """The table `[model]`: preference, release_stage, path."""

    sessions: SessionSettings = field(default_factory=SessionSettings)
    """The table `[sessions]`."""

    limits: LimitSettings = field(default_factory=LimitSettings)
    """The table `[limits]`."""

    mqtt: MqttSettings | None = None
    """The table `[mqtt]`."""

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    """The table `[voice]`."""

    log: LogSettings = field(default_factory=LogSettings)
    """The table `[log]`."""

    raw: dict[str, Table] = field(default_factory=dict)
    """The house's own table, handed to the house package as it is."""

    path: Path | None = None
    """The file that all this was read from."""

    @property
    def house_table(self) -> Table:
        """What the house package is opened with."""
        return self.raw.get(self.house) or Table({}, (self.house,))


def find_settings(given: str | os.PathLike[str] | None = None) -> Path:
    """The settings file to use.

    Args:
        given: What `--config` says; else `$HEARTH_CONFIG`, `/etc/hearth/hearth.toml` and the example
            house of a checkout are tried in this order.

    Raises:
        SettingsError: There is none.
    """
    chosen = given or os.environ.get("HEARTH_CONFIG")
    if chosen:
        return Path(chosen)
    for path in (SYSTEM_SETTINGS, EXAMPLE_SETTINGS):
        if path.is_file():
            return path
    raise SettingsError(f"there is no settings file: give --config FILE, or write {SYSTEM_SETTINGS}")


def read_settings(path: str | os.PathLike[str]) -> Settings:
    """Reads a settings file. Relative paths in it start at its own folder.

    Raises:
        SettingsError: It cannot be read, or a key or value in it is wrong; the text names the file, the
            line and what is allowed.
    """
    path = Path(path)
    try:
        text = _read_text(path)
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line, what = syntax_error(text, error)
            raise SettingsError(f"{path}:{line}: {what}") from error
    except (OSError, ValueError, RecursionError) as error:  # ValueError: a number too long
        if isinstance(error, SettingsError):
            raise
        raise SettingsError(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from error
    try:
        return _settings(Table(tables, folder=path.resolve().parent), path.resolve())
    except SettingsError as error:
        raise in_file(path, error) from error


def _read_text(path: Path) -> str:
    contents = path.read_bytes()
    try:
        return contents.decode()
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}:{line}: this is not UTF-8") from error


def in_file(path: Path, error: SettingsError) -> SettingsError:
    """An error about what is in a file, with the file and the line before its text."""
    line = None
    with contextlib.suppress(OSError, ValueError):  # it may have been changed meanwhile
        line = line_of(path.read_text(encoding="utf-8"), error.at)
    return SettingsError(f"{path}: {error}" if line is None else f"{path}:{line}: {error}")


TABLES: dict[str, type[Any]] = {
    "model": ModelConfig,
    "sessions": SessionSettings,
    "limits": LimitSettings,
    "mqtt": MqttSettings,
    "voice": VoiceSettings,
    "log": LogSettings,
}

AGENT_KEYS = {
    "name": "node",
    "house": "house",
    "instructions": "instructions",
    "max_turns": "max_turns",
    "tools_folder": "tools_folder",
}


def _settings(tables: Table, path: Path) -> Settings:
    for name, table in tables.items():
        if isinstance(table, list):
            raise SettingsError(f"[[{name}]] must be one table: [{name}]", (name,))
        if not isinstance(table, Table):
            raise SettingsError(f"{name} stands outside of a table; it may belong into [agent]", (name,))
    agent = tables.table("agent")
    values = read_values(Settings, agent, AGENT_KEYS)
    if not NODE.fullmatch(values.get("node", "hearth")):
        raise agent.wrong(f'name is {shown(values["node"])}; allowed are 1 to 64 letters, digits, "_" and "-"', "name")
    values |= {name: read_table(kind, tables[name]) for name, kind in TABLES.items() if name in tables}
    if "mqtt" in values:
        _check_mqtt(values["mqtt"], tables["mqtt"])
    house = values.get("house", "tools")
    known = [f"[{name}]" for name in ("agent", *TABLES, house)]
    for name, table in tables.items():
        if table.where not in known:
            raise SettingsError(f"there is no table {table.where}; allowed are {choice(known, table.where)}", (name,))
    raw = {house: tables.table(house)} if house in tables else {}
    return Settings(**values, raw=raw, path=path)


def _check_mqtt(mqtt: MqttSettings, table: Table) -> None:
    try:
        mqtt.broker.encode("idna")  # as it is looked up
        is_host = re.fullmatch(r"[^\s/\0]+", mqtt.broker) is not None
    except UnicodeError:
        is_host = False
    if not is_host:
        raise table.wrong(
            f'broker is {shown(mqtt.broker)}; allowed is the name or address of a host, or "embedded"', "broker"
        )
    for index, prefix in enumerate(mqtt.reply_prefixes):
        if set(prefix) & set("+#\0"):
            raise table.wrong(
                f"reply_prefixes has {shown(prefix)}; allowed are beginnings of topics, without + and #",
                "reply_prefixes",
                index,
            )


def state_directory() -> Path:
    """Where what is to last lies; made where it is missing."""
    given = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(base) / "hearth"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def cache_directory() -> Path:
    """Where what can be made again lies; made where it is missing."""
    given = os.environ.get("CACHE_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given)
    path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hearth"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def runtime_directory() -> Path:
    """Where the socket lies; made where it is missing, for its owner alone.

    Raises:
        SettingsError: It is there and belongs to somebody else.
    """
    given = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if given:
        return Path(given)
    session = os.environ.get("XDG_RUNTIME_DIR")
    path = Path(session) / "hearth" if session else Path(tempfile.gettempdir()) / f"hearth-{os.getuid()}"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    # In a folder that all may write to, somebody else may have been first.
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise SettingsError(f"the runtime folder {path} belongs to somebody else")
    path.chmod(0o700)
    return path
