"""The settings file, and where files of a run lie."""

from __future__ import annotations

import contextlib
import os
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import config
from agent.config import (
    EXAMPLE_SETTINGS,
    LimitSettings,
    MqttSettings,
    Settings,
    default_node,
    find_settings,
    read_settings,
    runtime_directory,
    state_directory,
)
from agent.errors import SettingsError
from agent.model.generative import ModelPreference
from agent.runner import Limits
from tools.drivers.broker import MqttBroker


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "hearth.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_an_empty_file_gives_the_defaults(write):
    """Without MQTT, and with the node of this machine."""
    settings = read_settings(write(""))

    assert settings == Settings(path=settings.path)
    assert settings.mqtt is None
    assert settings.node == default_node()


def test_every_table_is_read(write, tmp_path):
    """A value arrives in the type of its field, a path starts at the file's folder."""
    settings = read_settings(
        write(
            """
            [agent]
            name = "attic"
            house = "my_house"
            max_turns = 3
            tools_folder = "mine"
            [model]
            preference = "full"
            path = "/models/m.gguf"
            [sessions]
            store = "volatile"
            idle_minutes = 2
            [limits]
            deadline_s = 5
            [mqtt]
            broker = "broker.lan"
            reply_prefixes = ["phone/"]
            tls = true
            [voice]
            words_per_minute = 120
            [my_house]
            anything = { at = "all" }
            """
        )
    )

    assert (settings.node, settings.house, settings.max_turns) == ("attic", "my_house", 3)
    assert settings.tools_folder == tmp_path / "mine"
    assert settings.model.preference is ModelPreference.FULL
    assert settings.model.path == Path("/models/m.gguf")
    assert settings.sessions.store == "volatile"
    assert settings.sessions.idle_minutes == 2.0
    assert settings.limits.deadline_s == 5.0
    assert settings.mqtt == MqttSettings("broker.lan", reply_prefixes=("phone/",), tls=True)
    assert settings.voice.words_per_minute == 120
    assert settings.house_table == {"anything": {"at": "all"}}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[agent]\nnam = 1", 2, "[agent] has no key 'nam'; allowed are name, house, instructions, max_turns"),
        ("[agent]\nnam = 1", 2, "tools_folder (did you mean name?)"),
        ("[mqtt]\nbroker = ''", 2, "[mqtt]: broker is ''; it must not be empty"),
        ("[mqtt]\n\nbroker = 'mqtt://house'", 3, "[mqtt]: broker is 'mqtt://house'; allowed is the name"),
        (f"[mqtt]\nbroker = '{'a' * 64}.lan'", 2, "allowed is the name or address of a host"),
        ("[mqtt]\nreply_prefixes = ['']", 2, "[mqtt]: reply_prefixes has ''; it must not be empty"),
        ("[mqtt]\nreply_prefixes = [\n'a/',\n'phone/#',\n]", 4, "[mqtt]: reply_prefixes has 'phone/#'; allowed"),
        ("[mqtt]\nport = 0", 2, "[mqtt]: port is 0; allowed is 1 to 65535"),
        ("[mqtt]\nport = true", 2, "[mqtt]: port is true; it must be a whole number"),
        ("[mqtt]\nport = '1883'", 2, "[mqtt]: port is '1883'; it must be a whole number"),
        ("[mqtt]\nreply_prefixes = 'a'", 2, "[mqtt]: reply_prefixes is 'a'; it must be a list"),
        ("[mqtt]\nreply_prefixes = [1]", 2, "[mqtt]: reply_prefixes has 1; it must be a text"),
        ("[limits]\ndeadline_s = nan", 2, "[limits]: deadline_s is nan; allowed is 1 to 3600"),
        ("[limits]\nmax_waiting = 1.5", 2, "[limits]: max_waiting is 1.5; it must be a whole number"),
        ("[sessions]\nstore = 'keptt'", 2, "store is 'keptt'; allowed are kept, volatile (did you mean kept?)"),
        ("[model]\npreference = 'best'", 2, "[model]: preference is 'best'; allowed are fast, full"),
        ("[model]\npath = 5", 2, "[model]: path is 5; it must be a path"),
        ("[agent]\nname = 'a/b'", 2, "[agent]: name is 'a/b'; allowed are 1 to 64 letters"),
        ("[agent]\nname = ''", 2, "[agent]: name is ''"),
        ("\n[lights]\na = 1", 2, "there is no table [lights]; allowed are [agent], [model], [sessions], [limits]"),
        ("[mqt]\na = 1", 1, "[tools] (did you mean [mqtt]?)"),
        ("name = 'x'", 1, "name stands outside of a table"),
        ("agent = 1", 1, "agent stands outside of a table"),
        ("[[agent]]", 1, "[[agent]] must be one table: [agent]"),
        ("\n[agent\nname = 1", 2, "Expected ']' at the end of a table declaration (column 7)"),
        ("[agent]\nname = 'a'\nname = 'b'\n", 3, "this key is there already (column 11)"),
        ("[agent]\n\nname = [\n'a'\n\n", 4, "Unclosed array (at the end of the file)"),
        ("[agent]\ntools_folder = '~nobody-here/x'", 2, "[agent]: tools_folder is '~nobody-here/x'; that home"),
        ('[model]\npath = "a\\u0000b"', 2, "[model]: path is 'a\\x00b'; no file can be called that"),
        (f"[limits]\ndeadline_s = {'9' * 400}", 2, "; allowed is 1 to 3600"),
        pytest.param(f"[agent]\nname = 0x{'9' * 5000}", 2, "name is a very long number", id="too long to be written"),
        pytest.param(f"[limits]\ndeadline_s = {'9' * 5000}", None, "4300 digits", id="too long to be read"),
        pytest.param(f"a = {'[' * 5000}{']' * 5000}", None, "recursion", id="nested too deep to be read"),
    ],
)
def test_a_wrong_setting_is_named_with_file_line_and_what_is_allowed(write, text, line, said):
    """One sentence that an editor can act on."""
    path = write(text)

    with pytest.raises(SettingsError) as caught:
        read_settings(path)

    assert str(caught.value).startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path):
    """An editor of another age wrote them."""
    path = tmp_path / "hearth.toml"
    path.write_bytes(b"[agent]\ninstructions = 'k\xfcche'\n")

    with pytest.raises(SettingsError, match=r"hearth\.toml:2: this is not UTF-8"):
        read_settings(path)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_settings_or_a_settings_error(tmp_path_factory, text):
    """Nothing else comes out, whatever is in the file."""
    path = tmp_path_factory.mktemp("settings") / "hearth.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))

    with contextlib.suppress(SettingsError):
        read_settings(path)


def test_the_example_house_is_read_and_needs_nothing():
    """Its broker is embedded, its house the one that ships."""
    settings = read_settings(EXAMPLE_SETTINGS)

    assert settings.mqtt == MqttSettings()
    assert settings.house == "tools"
    assert settings.limits == LimitSettings()


def test_the_settings_limits_are_those_of_the_runner():
    """So that a file without [limits] and a runner without limits behave alike."""
    ours, theirs = LimitSettings(), Limits()

    assert all(getattr(theirs, each.name) == getattr(ours, each.name) for each in fields(LimitSettings))


@pytest.mark.parametrize("kind", [Settings, *config.TABLES.values()])
def test_every_setting_has_a_sentence(kind):
    """Below its field, in the source: that is the reference."""
    source = (
        Path(config.__file__).read_text()
        + (Path(config.__file__).parent.parent / "model" / "generative.py").read_text()
    )
    body = source[source.index(f"class {kind.__name__}") :]

    for each in fields(kind):
        declaration = body[body.index(f"\n    {each.name}: ") + 1 :]
        assert declaration.splitlines()[1].lstrip().startswith('"""'), each.name


def test_a_config_option_beats_the_environment_and_the_environment_the_rest(monkeypatch, tmp_path):
    """And without any of them there is the example of the checkout."""
    monkeypatch.setattr(config, "SYSTEM_SETTINGS", tmp_path / "none.toml")
    monkeypatch.setenv("HEARTH_CONFIG", "/from/environment.toml")

    assert find_settings("given.toml") == Path("given.toml")
    assert find_settings() == Path("/from/environment.toml")

    monkeypatch.delenv("HEARTH_CONFIG")
    assert find_settings() == EXAMPLE_SETTINGS

    (tmp_path / "none.toml").touch()
    assert find_settings() == tmp_path / "none.toml"


def test_without_any_settings_file_the_error_says_what_to_do(monkeypatch, tmp_path):
    """No guess is made."""
    monkeypatch.delenv("HEARTH_CONFIG", raising=False)
    monkeypatch.setattr(config, "SYSTEM_SETTINGS", tmp_path / "a")
    monkeypatch.setattr(config, "EXAMPLE_SETTINGS", tmp_path / "b")

    with pytest.raises(SettingsError, match="--config FILE"):
        find_settings()


def test_the_default_node_differs_by_machine_and_hides_its_id(monkeypatch, tmp_path):
    """Six hex digits of a hash, the same each time."""
    identity = tmp_path / "machine-id"
    monkeypatch.setattr(config, "MACHINE_ID", identity)
    identity.write_text("0123456789abcdef0123456789abcdef\n")
    first = default_node()
    identity.write_text("fedcba9876543210fedcba9876543210\n")

    assert default_node() != first
    assert len(first) == len("hearth-") + 6
    assert "012345" not in first


def test_a_machine_without_an_id_still_has_a_node(monkeypatch, tmp_path):
    """Containers often have none."""
    monkeypatch.setattr(config, "MACHINE_ID", tmp_path / "none")

    assert default_node() == default_node()


def test_the_password_comes_from_its_file_without_the_last_newline(tmp_path):
    """As editors leave it."""
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text("se cret\n")

    assert MqttSettings(password_file=file).password() == "se cret"
    assert "se cret" not in repr(MqttSettings(password_file=file))


def test_the_password_comes_from_systemds_credential_where_no_file_is_named(monkeypatch, tmp_path):
    """LoadCredential=mqtt-password."""
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert MqttSettings().password() is None

    (tmp_path / "mqtt-password").write_text("")  # that of a unit which names one, where there is none
    assert MqttSettings().password() is None

    (tmp_path / "mqtt-password").write_text("secret")
    assert MqttSettings().password() == "secret"

    (tmp_path / "mqtt-password").chmod(0o440)  # systemd's own rights do not show in the mode
    assert MqttSettings(password_file=tmp_path / "mqtt-password").password() == "secret"


@pytest.mark.parametrize(
    ("contents", "mode", "said"),
    [
        (None, 0, "cannot be read: No such file or directory"),
        (b"secret", 0o640, "may be read or changed by others: chmod 600 "),
        (b"secret", 0o604, "may be read or changed by others: chmod 600 "),
        (b"secret", 0o620, "may be read or changed by others: chmod 600 "),
        (b"\n", 0o600, "is empty"),
        (b"\xff", 0o600, "is no text in UTF-8"),
    ],
)
@pytest.mark.parametrize("settings", [MqttSettings, MqttBroker])
def test_a_password_file_that_cannot_be_used_is_named_with_the_cure(tmp_path, settings, contents, mode, said):
    """Rather than going on without a password; what is in the file is not told."""
    file = tmp_path / "password"
    if contents is not None:
        file.write_bytes(contents)
        file.chmod(mode)
    with pytest.raises(SettingsError) as caught:
        settings(password_file=file).password()

    assert f"mqtt]: the password file {file} {said}" in str(caught.value)
    assert caught.value.at[-2:] == ("mqtt", "password_file")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_password_file_for_its_owner_alone_is_read(tmp_path, mode):
    """0600 or stricter."""
    (tmp_path / "password").write_text("secret")
    (tmp_path / "password").chmod(mode)

    assert MqttBroker(password_file=tmp_path / "password").password() == "secret"


def test_systemds_directories_are_taken_as_they_are(monkeypatch):
    """The first where there are several."""
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/hearth:/var/lib/other")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/hearth")

    assert state_directory() == Path("/var/lib/hearth")
    assert runtime_directory() == Path("/run/hearth")


def test_a_users_directories_are_made_for_the_user_alone(monkeypatch, tmp_path):
    """Below the XDG directories."""
    for name in ("STATE_DIRECTORY", "RUNTIME_DIRECTORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    assert state_directory() == tmp_path / "state" / "hearth"
    assert runtime_directory() == tmp_path / "hearth"
    for path in (state_directory(), runtime_directory()):
        assert path.stat().st_mode & 0o777 == 0o700


def test_a_runtime_directory_of_somebody_else_is_refused(monkeypatch, tmp_path):
    """In a shared /tmp anybody may have been first."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(config.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"hearth-{os.getuid()}").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(SettingsError, match="belongs to somebody else"):
        runtime_directory()


def test_the_cache_directory_is_systemds_the_users_or_below_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd's, the user's, or the one below home, in this order."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("CACHE_DIRECTORY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert config.cache_directory() == tmp_path / "home" / ".cache" / "hearth"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert config.cache_directory() == tmp_path / "xdg" / "hearth"
    monkeypatch.setenv("CACHE_DIRECTORY", f"{tmp_path}/systemd:/other")
    assert str(config.cache_directory()) == f"{tmp_path}/systemd"
