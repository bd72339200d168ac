"""deploy/mosquitto/setup.sh: a broker with users, an access list and TLS, as a service and a phone use it."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aiomqtt
import pytest

from tests.brokers import Mosquitto

SCRIPT = Path(__file__).resolve().parent.parent / "deploy" / "mosquitto" / "setup.sh"


def set_up(folder: Path) -> str:
    """Runs it; returns what it says."""
    command = ["sh", str(SCRIPT), "node", "hearth.local", str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Guarded(Mosquitto):
    """A broker with the settings of the script, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        set_up(folder)
        self.hearth, self.theirs = folder / "hearth", folder / "mosquitto" / "hearth"
        settings = (folder / "mosquitto" / "conf.d" / "hearth.conf").read_text()
        self._settings.write_text(
            "user root\npersistence false\nlog_dest none\n"
            + settings.replace("listener 8883", f"listener {self.port} 127.0.0.1")
        )

    def client(self, user: str) -> aiomqtt.Client:
        """A connection as a user of the script, which trusts its authority only."""
        names = {"hearth": "mqtt-password", "home": "home-password"}
        return aiomqtt.Client(
            "localhost",
            self.port,
            username=user,
            password=(self.hearth / names[user]).read_text().strip() if user in names else None,
            tls_context=ssl.create_default_context(cafile=self.hearth / "ca.crt"),
            protocol=aiomqtt.ProtocolVersion.V5,
        )


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Guarded]:
    broker = Guarded(tmp_path)
    for path in (broker.theirs / name for name in ("server.key", "passwords", "acl")):
        path.chmod(0o644)  # the test's broker runs as root, whoever owns them
    broker.start()
    yield broker
    broker.stop()


async def test_home_may_command_and_hear_and_hearth_hears_it(broker: Guarded) -> None:
    """Over TLS, with the passwords that the script made."""
    async with asyncio.timeout(60), broker.client("hearth") as hearth, broker.client("home") as home:
        await hearth.subscribe("hearth/node/command")
        await home.subscribe("hearth/node/reply")
        await home.publish("hearth/node/command", "turn on the lamp", qos=1)
        assert (await anext(hearth.messages)).payload == b"turn on the lamp"
        await hearth.publish("hearth/node/reply", "done", qos=1)
        assert (await anext(home.messages)).payload == b"done"


async def test_home_may_not_speak_for_hearth(broker: Guarded) -> None:
    """What it says there reaches nobody: of two messages only the allowed one comes."""
    async with asyncio.timeout(60), broker.client("hearth") as hearth, broker.client("home") as home:
        await hearth.subscribe("hearth/#")
        await home.publish("hearth/node/reply", "a lie", qos=0)
        await home.publish("hearth/other/command", "not yours", qos=0)
        await home.publish("hearth/node/confirm", "a yes", qos=1)

        assert (await anext(hearth.messages)).payload == b"a yes"


async def test_nobody_comes_in_without_a_name_or_without_tls(broker: Guarded) -> None:
    """Neither a stranger nor one who sends passwords in the open."""
    with pytest.raises(aiomqtt.MqttError):
        async with broker.client("stranger"):
            pass
    with pytest.raises(aiomqtt.MqttError):
        async with aiomqtt.Client("localhost", broker.port, timeout=5):
            pass


def test_done_twice_it_changes_no_password_and_no_certificate(tmp_path: Path) -> None:
    """So that what was given to phones goes on to work; and secrets are for their owner alone."""
    set_up(tmp_path)
    secrets = [tmp_path / "hearth" / name for name in ("mqtt-password", "home-password", "ca.key")]
    made = [path.read_bytes() for path in [*secrets, tmp_path / "hearth" / "ca.crt"]]
    said = set_up(tmp_path)

    assert [path.read_bytes() for path in [*secrets, tmp_path / "hearth" / "ca.crt"]] == made
    assert all(path.stat().st_mode & 0o077 == 0 for path in secrets)
    assert not any(path.read_text().strip() in said for path in secrets)


@pytest.mark.parametrize("node", ["", "a/b", "#", "a b"])
def test_a_node_that_is_no_segment_of_a_topic_is_refused(tmp_path: Path, node: str) -> None:
    """It would open the access list."""
    done = subprocess.run(["sh", str(SCRIPT), node, "host", str(tmp_path)], check=False, capture_output=True)

    assert done.returncode == 2
    assert not list(tmp_path.iterdir())
