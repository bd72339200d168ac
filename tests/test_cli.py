"""The command `hearth`, run as a program of its own beside the smallest service."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from test_local import Parrot

from agent.channels.cli import Lines, ask, chat
from agent.channels.local import LocalServer
from agent.cli import _talk
from agent.command import Command
from agent.content import Content, FunctionCallPart, FunctionResponsePart, Role
from agent.store import SessionStore

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def environment(tmp_path):
    for name in ("run", "state"):
        (tmp_path / name).mkdir()
    settings = tmp_path / "hearth.toml"
    settings.write_text('[agent]\nhouse = "no_house"\n')
    return {
        **{name: value for name, value in os.environ.items() if not name.endswith("_DIRECTORY")},
        "RUNTIME_DIRECTORY": str(tmp_path / "run"),
        "STATE_DIRECTORY": str(tmp_path / "state"),
        "HEARTH_CONFIG": str(settings),
        "PYTHONPATH": str(ROOT),
    }


@pytest.fixture
def hearth(environment, tmp_path):
    async def hearth(*arguments: str, stdin: int | bytes = b"") -> tuple[int, str, str]:
        """Runs `hearth`; returns its status, output and errors."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "agent",
            *arguments,
            cwd=tmp_path,
            env=environment,
            stdin=asyncio.subprocess.PIPE if isinstance(stdin, bytes) else stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin if isinstance(stdin, bytes) else None)
        return process.returncode, out.decode(), err.decode()

    return hearth


@pytest.fixture
async def parrot(environment):
    parrot = Parrot()

    async def status():
        return {"node": "parrot", "settings": environment["HEARTH_CONFIG"], "broker": None, "model": "ready"}

    parrot.status = status
    async with LocalServer(parrot, Path(environment["RUNTIME_DIRECTORY"]) / "hearth.sock"):
        yield parrot


async def test_ask_prints_the_answer_of_the_running_service(hearth, parrot):
    """And hands on every option."""
    status, out, err = await hearth("ask", "hello there", "--session", "s", "--room", "attic")

    assert (status, out, err) == (0, "hello there ü\n", "")
    (heard,) = parrot.heard
    assert (heard.text, heard.session, heard.room) == ("hello there", "s", "attic")


async def test_ask_without_a_session_is_a_single_turn(hearth, parrot):
    """It belongs to no conversation."""
    await hearth("ask", "hello")

    assert parrot.heard[0].session is None


async def test_ask_takes_words_without_quotes(hearth, parrot):
    """As they are typed."""
    _, out, _ = await hearth("ask", "hello", "there", "--json")

    assert parrot.heard[0].text == "hello there"
    assert json.loads(out) == {"type": "text_message", "text": "hello there ü", "is_partial": False}


async def test_ask_in_json_prints_one_event_a_line(hearth, parrot):
    """Each as it is on the wire; without a terminal a question is answered no."""
    status, out, _ = await hearth("ask", "ask", "--json", stdin=b"y\n")

    assert status == 0
    assert [json.loads(line)["type"] for line in out.splitlines()] == [
        "function_call",
        "confirmation_request",
        "function_response",
        "text_message",
    ]
    assert json.loads(out.splitlines()[2])["response"] == {"opened": False}


async def test_an_error_is_named_on_standard_error(hearth, parrot):
    """With exit status 1 and nothing on standard output."""
    assert await hearth("ask", "fail") == (1, "", "NOT_AVAILABLE: There is no model.\n")


@pytest.mark.parametrize("typed, opened", [(b"y\n", True), (b"YES\n", True), (b"n\n", False), (b"\n", False)])
async def test_a_question_is_answered_at_the_terminal(hearth, parrot, typed, opened):
    """Only yes is yes."""
    ours, theirs = os.openpty()
    os.write(ours, typed)
    _, out, err = await hearth("ask", "ask", "--json", stdin=theirs)
    os.close(ours)
    os.close(theirs)

    assert "Open the garage door? [y/N]" in err
    assert json.loads(out.splitlines()[2])["response"] == {"opened": opened}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("ask",),
        ("dance",),
        ("ask", "hello", "--loud"),
        ("tools", "--level", "150"),
        ("sessions",),
        ("sessions", "show"),
        ("eval", "no-such-cases.jsonl"),
        ("listen",),
        ("listen", "--wav", "no-such.wav"),
    ],
)
async def test_bad_usage_ends_with_status_2(hearth, arguments):
    """With the usage and one sentence, before anything is opened."""
    status, out, err = await hearth(*arguments)

    assert status == 2
    assert out == ""
    assert err.startswith("usage: hearth")
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "ask", "chat", "publish", "tools", "sessions", "eval", "doctor", "listen"])
async def test_every_command_has_help(hearth, command):
    """Without a service and without a settings file."""
    status, out, _ = await hearth(command, "--help")

    assert status == 0
    assert out.startswith(f"usage: hearth {command}")


async def test_help_imports_nothing_heavy(environment):
    """So that it is there at once."""
    code = (
        "import sys, agent.cli\n"
        "try: agent.cli.main(['ask', '--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'textual', 'aiomqtt', 'ai_edge_litert', 'pocketsphinx'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()

    assert out.decode().splitlines()[-1] == "[]"


async def test_a_settings_file_that_is_wrong_is_one_sentence(hearth, environment):
    """With the file and the key, and no traceback."""
    Path(environment["HEARTH_CONFIG"]).write_text("[agent]\nnam = 1\n")
    status, out, err = await hearth("ask", "hello")

    assert (status, out) == (1, "")
    assert err.startswith(f"hearth: {environment['HEARTH_CONFIG']}:2: [agent] has no key 'nam'")
    assert err.count("\n") == 1


async def test_a_service_with_wrong_settings_ends_with_status_78(hearth, environment):
    """systemd need not try that again."""
    Path(environment["HEARTH_CONFIG"]).write_text("[agent]\nnam = 1\n")
    status, _, err = await hearth("run")

    assert status == 78
    assert err.count("\n") == 1


async def test_a_house_package_that_is_not_there_is_named(hearth, environment):
    """Where there is no running service and the settings name it."""
    status, _, err = await hearth("ask", "hello")

    assert status == 1
    file = environment["HEARTH_CONFIG"]
    assert err == f"hearth: {file}:2: [agent]: house is 'no_house'; there is no such package\n"


@pytest.mark.parametrize(
    ("house", "said"),
    [
        ("os", "that package has no open_house"),
        ("no_house.of_mine", "there is no such package"),
        (".tools", "it must be the name of a Python package"),
        ("", "it must not be empty"),
    ],
)
async def test_a_house_that_is_no_house_package_is_one_sentence(hearth, environment, house, said):
    """Whatever is wrong with it."""
    file = environment["HEARTH_CONFIG"]
    Path(file).write_text(f'[agent]\nhouse = "{house}"\n')
    status, _, err = await hearth("run")

    assert status == 78
    assert err == f"hearth: {file}:2: [agent]: house is {house!r}; {said}\n"


async def test_settings_that_the_running_service_does_not_use_are_used_without_it(hearth, parrot, tmp_path):
    """So that nobody moves another house than the one named."""
    (tmp_path / "other.toml").write_text('[agent]\nhouse = "other_house"\n')
    status, _, err = await hearth("ask", "hello", "--config", "other.toml")

    assert status == 1
    assert not parrot.heard
    assert "this is done without it" in err
    assert "other_house" in err


async def test_chat_answers_line_by_line_in_one_conversation(hearth, parrot):
    """Empty lines are none; an error ends its line only."""
    status, out, err = await hearth("chat", stdin=b"one\n\nfail\ntwo")

    assert status == 0
    assert out == "one ü\ntwo ü\n"
    assert err == "NOT_AVAILABLE: There is no model.\n"
    assert len({each.session for each in parrot.heard}) == 1
    assert parrot.heard[0].session.startswith("chat-")


async def test_chat_goes_on_with_a_named_conversation(hearth, parrot):
    """By its id."""
    await hearth("chat", "--session", "mine", "--room", "attic", stdin=b"one\n")

    assert (parrot.heard[0].session, parrot.heard[0].room) == ("mine", "attic")


async def test_the_next_line_of_a_chat_answers_its_question(hearth, parrot):
    """Anything but a yes or no is a no, and is heard as the next command."""
    _, out, _ = await hearth("chat", stdin=b"ask\ny\nask\nhello\n")

    assert out == "ask ü\nask ü\nhello ü\n"
    assert [each.text for each in parrot.heard] == ["ask", "ask", "hello"]


async def test_a_question_that_ended_takes_no_later_line(parrot):
    """The time-out was its answer; what is typed then is a command."""
    reading, writing = os.pipe()
    lines = Lines(reading)
    asking = asyncio.create_task(ask(parrot, Command("ask", "cli"), lines))
    while parrot._answer is None:
        await asyncio.sleep(0)
    parrot._answer.set_result(False)
    await asking
    os.write(writing, b"y\n")

    assert await lines.next() == "y"
    os.close(writing)
    assert await lines.next() is None
    assert await lines.next() is None
    os.close(reading)


async def test_lines_survive_bytes_that_are_no_text():
    """They are refused as a command, not as an input."""
    reading, writing = os.pipe()
    os.write(writing, b"\xff\xfe\r\nT\xc3\xbcr")
    os.close(writing)
    lines = Lines(reading)

    assert [await lines.next() for _ in range(3)] == ["��", "Tür", None]
    os.close(reading)


async def test_tools_are_listed_by_their_level(hearth, parrot):
    """As declarations in JSON."""
    status, out, _ = await hearth("tools", "--level", "300", "--json")

    assert status == 0
    assert json.loads(out) == [{"name": "tool", "access": 300}]


async def test_the_running_service_lists_nothing_below_the_level_of_a_local_caller(hearth, parrot):
    """And the person who asked for more is told."""
    status, out, err = await hearth("tools", "--level", "100", "--json")

    assert status == 0
    assert json.loads(out) == [{"name": "tool", "access": 200}]
    assert "from outside" in err


async def test_publish_without_a_broker_says_so(hearth, parrot):
    """The running service has none."""
    status, _, err = await hearth("publish", "hello")

    assert status == 1
    assert "there is no broker to send to" in err


@pytest.fixture
def kept(environment):
    store = SessionStore(Path(environment["STATE_DIRECTORY"]) / "sessions.db")
    store.append(
        "one",
        [
            Content.user("Turn on the Küche light"),
            Content(Role.MODEL, (FunctionCallPart("c1", "turn_on_light", {"room": "Küche"}),)),
            Content(Role.USER, (FunctionResponsePart("c1", "turn_on_light", {"status": "ok"}),)),
            Content.model("The Küche light is on."),
        ],
    )
    store.append("two", [Content.user("Hello"), Content.model("I can't do that.")])
    yield store
    store.close()


async def test_kept_sessions_are_listed_without_a_service(hearth, kept):
    """With their id, time and number of turns."""
    status, out, _ = await hearth("sessions", "list")

    assert status == 0
    assert sorted(line.split("\t")[0] for line in out.splitlines()) == ["one", "two"]
    assert all(line.endswith("\t1 turns") for line in out.splitlines())


async def test_a_kept_session_is_shown_as_it_was_said(hearth, kept):
    """Words, calls and responses, and no others'."""
    status, out, _ = await hearth("sessions", "show", "one")

    assert status == 0
    assert out.splitlines() == [
        "user: Turn on the Küche light",
        '  turn_on_light {"room": "Küche"}',
        '  -> {"status": "ok"}',
        "model: The Küche light is on.",
    ]


async def test_a_kept_session_is_exported_whole(hearth, kept):
    """As the store has it."""
    status, out, _ = await hearth("sessions", "export", "two")

    assert status == 0
    assert json.loads(out) == kept.export("two")


async def test_sessions_are_erased_by_their_ids(hearth, kept):
    """One that is not there is said; the others are gone."""
    status, _, err = await hearth("sessions", "rm", "one", "three")

    assert status == 1
    assert err == "hearth: there is no session three\n"
    assert [row.id for row in kept.sessions()] == ["two"]


async def test_old_sessions_expire_and_their_room_is_given_back(hearth, kept):
    """Nothing here is old."""
    assert await hearth("sessions", "expire") == (0, "0 conversations erased\n", "")
    status, out, _ = await hearth("sessions", "compact")

    assert status == 0
    assert out.endswith(" bytes given back\n")


async def test_sessions_of_a_running_service_are_the_services_to_erase(hearth, parrot):
    """It may be in the middle of one."""
    assert await hearth("sessions", "rm", "one") == (0, "", "")
    assert (await hearth("sessions", "show", "two"))[0] == 1


async def test_a_reader_that_has_seen_enough_is_no_error_on_the_screen(environment, parrot):
    """`hearth tools | head -0`."""
    reading, writing = os.pipe()
    os.close(reading)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agent",
        "tools",
        "--json",
        env=environment,
        cwd=ROOT,
        stdout=writing,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writing)
    _, err = await process.communicate()

    assert err == b""


def test_ask_help_is_quick(environment):
    """In processor time, so that a busy machine does not decide."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "agent", "ask", "--help"], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


async def test_chat_prompts_only_at_a_terminal(parrot, capsys):
    """A pipe gets answers and nothing else."""
    reading, writing = os.pipe()
    os.write(writing, b"hello\n")
    os.close(writing)
    await chat(parrot, Lines(reading), session="s")
    os.close(reading)

    assert capsys.readouterr().out == "hello ü\n"


async def test_what_a_terminal_would_obey_is_not_printed(parrot, capsys):
    """An answer may be from a weather file, and a conversation from anybody over MQTT."""
    await ask(parrot, Command("a \x1b]0;title\x07 b", "test"), Lines(os.open(os.devnull, os.O_RDONLY)))
    said = {"turns": [{"contents": [Content.user("say \x1b[2J\x9b31m").to_json()]}]}

    assert capsys.readouterr().out == "a \ufffd]0;title\ufffd b ü\n"
    assert _talk(said) == "user: say \ufffd[2J\ufffd31m"


async def test_the_status_is_waited_for_until_the_home_is_well(hearth, parrot, environment):
    """As after an upgrade: a board is found again a little later than the first answer comes."""
    asked = []

    async def status():
        asked.append(1)
        house = {"serial": "ok" if len(asked) > 3 else "no connection to the board", "gpio": "ok, by software"}
        return {
            **{"node": "parrot", "settings": environment["HEARTH_CONFIG"], "broker": None, "model": "ready"},
            **{"mqtt": "off", "house": house, "settings_trouble": "", "settings_waiting": []},
        }

    parrot.status = status
    assert (await hearth("status"))[:2] == (1, "ready; serial: no connection to the board; gpio: ok, by software\n")
    assert (await hearth("status", "--wait", "60"))[:2] == (0, "ready; gpio: ok, by software\n")


async def test_the_status_without_a_service_says_so(hearth):
    """And fails."""
    assert await hearth("status") == (1, "", "hearth: no service runs\n")
