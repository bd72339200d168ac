"""The package and its units on a booted Debian: from its installation to its purge, in this order."""

from __future__ import annotations

import asyncio
import json
import re
import time
from pathlib import Path

import pytest

from tests.boot.machine import ROOT, Machine
from tests.hil.board import EmulatedBoard

SETTINGS = """
[agent]
name = "node"
house = "slow_house"

[mqtt]
broker = "localhost"

[slow_house.serial]
port = "/dev/ttyLIGHT"

[[slow_house.room]]
name = "living room"

[[slow_house.room]]
name = "kitchen"

[[slow_house.device]]
name = "desk lamp"
kind = "light"
room = "living room"
serial = { channel = 0 }

[[slow_house.device]]
name = "kitchen light"
kind = "light"
room = "kitchen"
"""

LAMP = 0
"""The board's channel that the desk lamp hangs on."""

BACK = re.compile(r"Hearth was away for (\d+) ms\.\nAfter (\d+) ms: (.*)")
"""What an upgrade says: when it answered again, when all was well again, and how it is."""

DROP_IN = """
[Service]
Environment=PYTHONPATH=/test-house
RestartSec=200ms
WatchdogSec=3
# The emulated board hangs on a pseudo-terminal.
DeviceAllow=char-pts rw
"""

STEP_S = 0.4
"""What a graph takes in a long inference, in seconds: less than the watchdog's time, and all of them much more."""

BEFORE: dict[str, str] = {}
"""What was on the machine before the installation."""

EVERYTHING = "find /etc /opt /usr /var /run -ipath '*hearth*' -not -path '/run/log/*' | sort"


def write(machine: Machine, path: str, text: str) -> None:
    machine.run(f"mkdir -p $(dirname {path}); cat >{path} <<'END'\n{text}\nEND")


def ask(machine: Machine, text: str, more: str = "") -> str:
    return machine.run(f'hearth ask {more} "{text}"')


def restarts(machine: Machine) -> int:
    return int(machine.show("NRestarts"))


def has(status: str) -> str:
    """A line of shell that succeeds when the status line has this in it."""
    return f"systemctl show hearth.service -p StatusText | grep -q '{status}'"


def shows(board: EmulatedBoard, percent: int) -> None:
    """Waits until the lamp's pin has the duty of a brightness, as it is measured on the emulated chip."""
    asyncio.run(board.shows(LAMP, 10 * percent))


def test_it_is_installed_without_a_network_and_runs(machine: Machine, package: Path) -> None:
    """From the wheels in it, by the commands of docs/install.md; with a first command at its end."""
    BEFORE["files"] = machine.run(EVERYTHING)
    BEFORE["gpio"] = machine.run("getent group gpio || echo none")
    machine.run("systemctl start mosquitto")
    machine.run(f"yes | apt install /packages/{package.name} mosquitto 2>&1")
    machine.wait_until(has("MQTT connected to localhost:1883"))
    doctor = machine.run("hearth doctor")
    print(machine.run("du -csm /opt/hearth /usr/share/hearth | tail -1"), "MB on the card")

    assert "active (running)" in machine.run("systemctl status hearth")
    assert "!!" not in doctor
    assert machine.run('hearth ask "turn on the desk lamp"') == "The desk lamp is on at 100 percent."
    units = ("hearth.service", "hearth.socket", "hearth-sessions.timer")
    assert all(machine.run(f"systemctl is-enabled {unit}") == "enabled" for unit in units)
    assert machine.show("StatusText").startswith("ready; ")
    assert machine.run("stat -c %u /proc/$(systemctl show hearth.service --value -p MainPID)") >= "61184"  # dynamic


def test_f27_a_debian_without_the_group_gpio_gets_it(machine: Machine) -> None:
    """F27: with a group that does not exist systemd would not start it; without users, as nobody else needs it."""
    assert BEFORE["gpio"] == "none"
    assert machine.run("getent group gpio").startswith("gpio:x:")


def test_udev_reads_its_rules_without_a_word(machine: Machine) -> None:
    """Those for the board and for the pins; what they do on a real bus is `make test-vm`'s."""
    said = machine.run("udevadm test --action=change /sys/class/mem/null 2>&1", check=False)
    ours = [line for line in said.splitlines() if "70-hearth" in line]

    assert machine.run("cd /usr/lib/udev/rules.d; ls 70-hearth-*") == "70-hearth-board.rules\n70-hearth-gpio.rules"
    assert [line.partition(": ")[0] for line in ours] == ["Reading rules file"] * 2, said
    if "verify" in machine.run("udevadm --help"):  # of systemd 254
        machine.run("udevadm verify /usr/lib/udev/rules.d/70-hearth-*.rules")


def test_systemd_scores_it_as_stated(machine: Machine) -> None:
    """By its own measure, with the drop-ins of this machine."""
    line = machine.run("systemd-analyze security hearth.service --no-pager | tail -1")

    assert float(line.split(":")[1].split()[0]) <= 2.0


def test_a_command_by_mosquitto_moves_a_lamp_of_the_board(machine: Machine, board: EmulatedBoard) -> None:
    """Its duty is measured on the emulated chip's pin; its state is told over MQTT too.

    With a house of the test's own from here on.
    """
    machine.run("systemctl stop hearth.socket hearth.service; hearth retract")  # it gets another name
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    write(machine, "/etc/systemd/system/hearth.service.d/test.conf", DROP_IN)
    machine.run("systemctl daemon-reload; systemctl start hearth.socket hearth.service")
    print(machine.run("hearth status --wait 60"))
    started = time.monotonic()
    machine.run("mosquitto_pub -q 1 -t hearth/node/command -m 'turn on the desk lamp to 40 percent'")
    shows(board, 40)
    print(f"on the pin {time.monotonic() - started:.2f} s after it was published, fade and all")
    machine.wait_until("mosquitto_sub -W 2 -C 1 -t hearth/node/light/desk_lamp/state | grep -q ON")

    assert "40 percent" in ask(machine, "is the desk lamp on?")


def test_people_of_its_group_may_talk_to_it_and_others_may_not(machine: Machine) -> None:
    """The socket is root's and theirs."""
    machine.run("useradd alice; useradd bob; adduser alice hearth-users")

    assert "on" in machine.run("setpriv --reuid alice --init-groups --regid alice hearth ask 'is the desk lamp on?'")
    assert not machine.succeeds("setpriv --reuid bob --init-groups --regid bob hearth ask 'is the desk lamp on?'")


def test_each_command_is_one_record_with_fields_and_without_words(machine: Machine) -> None:
    """As python3-systemd writes them, and `hearth log` reads them."""
    ask(machine, "turn off the kitchen light", "--session secretly")
    machine.run("journalctl --sync")
    record = json.loads(machine.run("hearth log -n 1 --json"))
    line = machine.run("hearth log -n 1")

    assert record["HEARTH_SESSION"] == "secretly"
    assert record["HEARTH_TOOL"] == "turn_off_light"
    assert record["HEARTH_DRIVER"] == "memory"
    assert int(record["HEARTH_MS"]) >= 0
    assert record["SYSLOG_IDENTIFIER"] == "hearth"
    assert "kitchen" not in json.dumps(record)
    assert line.split()[4:] == ["local", "secretly", "turn_off_light", "memory"]
    assert "kitchen light" not in machine.log()


def test_it_is_ready_while_the_broker_is_away(machine: Machine) -> None:
    """Commands work, and it is found when it comes."""
    machine.run("systemctl stop mosquitto; systemctl restart hearth.service")
    assert machine.show("ActiveState") == "active"
    assert "on" in ask(machine, "turn on the desk lamp")
    before = restarts(machine)
    machine.run("systemctl start mosquitto")
    machine.wait_until(has("MQTT connected"))

    assert restarts(machine) == before


def test_a_broker_with_users_and_tls_is_set_up_by_the_script(machine: Machine) -> None:
    """As docs/install.md has it; the service gets its password as a credential, and nobody else comes in."""
    said = machine.run("sh /usr/share/hearth/mosquitto/setup.sh node hearth.local")
    write(
        machine,
        "/etc/hearth/hearth.toml",
        SETTINGS.replace('[mqtt]\nbroker = "localhost"', said[said.index("[mqtt]") :]),
    )
    machine.run("systemctl restart mosquitto; systemctl restart hearth")
    machine.wait_until(has("MQTT connected to localhost:8883"))
    doctor = machine.run("PYTHONPATH=/test-house hearth doctor", check=False)
    stranger = machine.succeeds("mosquitto_pub -h localhost -p 8883 --cafile /etc/hearth/ca.crt -t x -m x 2>/dev/null")
    machine.run("rm /etc/mosquitto/conf.d/hearth.conf")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    machine.run("systemctl restart mosquitto hearth.service")

    assert "ok  topics: all of hearth/node/ work" in doctor
    assert "!!" not in doctor
    assert not stranger


def test_after_kill_9_it_is_back_with_its_conversations(machine: Machine) -> None:
    """And who asks meanwhile waits on the socket."""
    ask(machine, "turn on the kitchen light", "--session kept")
    before = restarts(machine)
    machine.run("systemctl kill --signal=KILL --kill-whom=main hearth.service")
    answer = ask(machine, "turn it off", "--session kept")
    took = machine.wait_until("systemctl is-active hearth.service")
    print(f"back after {took:.2f} s")

    assert restarts(machine) == before + 1
    assert "kitchen light" in answer.lower()


def test_f28_a_long_inference_lives(machine: Machine) -> None:
    """F28: many times the watchdog's time, as each of its graphs is a step."""
    before = restarts(machine)
    machine.run(f"echo {STEP_S} >/var/lib/hearth/delay")
    started = time.monotonic()
    ask(machine, "turn on the desk lamp")
    took = time.monotonic() - started
    machine.run("rm /var/lib/hearth/delay")
    print(f"{took:.1f} s with a watchdog of 3 s")

    assert took > 3
    assert restarts(machine) == before


def test_f28_a_stuck_worker_is_ended_by_the_watchdog(machine: Machine) -> None:
    """F28: within twice its time; the log says who was stuck, and no core fills the card."""
    before = restarts(machine)
    machine.run("echo 1000 >/var/lib/hearth/delay")
    machine.run("hearth ask 'turn on the desk lamp' >/dev/null 2>&1 &")
    machine.wait_until("journalctl -q -u hearth.service -o cat | grep -q 'no progress: the model'")
    took = machine.wait_until(f"test $(systemctl show hearth.service --value -p NRestarts) -gt {before}")
    machine.run("rm /var/lib/hearth/delay")
    machine.wait_until("systemctl is-active hearth.service")
    print(f"ended {took:.1f} s after it was said")

    assert "Thread" in machine.log(), "where it was stuck"
    assert machine.run("find /var/lib/systemd/coredump/ / -maxdepth 1 -type f -name 'core*'") == ""
    assert "on" in ask(machine, "turn on the desk lamp")


def test_f28_a_stopped_process_is_ended_by_the_watchdog(machine: Machine) -> None:
    """F28: all of it stands still."""
    before = restarts(machine)
    machine.run("systemctl kill --signal=STOP --kill-whom=main hearth.service")
    machine.wait_until(f"test $(systemctl show hearth.service --value -p NRestarts) -gt {before}")
    machine.wait_until("systemctl is-active hearth.service")


def test_a_reload_keeps_conversations_and_a_mistake_keeps_the_old_settings(machine: Machine) -> None:
    """The same process, and the status says what is wrong."""
    ask(machine, "turn on the kitchen light", "--session kept")
    process = machine.show("MainPID")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS + "\n[limits]\nmax_waitin = 3\n")
    machine.run("systemctl reload hearth.service")
    machine.wait_until(has("max_waitin"))
    write(machine, "/etc/hearth/hearth.toml", SETTINGS + "\n[limits]\nmax_waiting = 3\n")
    machine.run("systemctl reload hearth")
    machine.wait_until(f"! {has('max_waitin')}")

    assert machine.show("MainPID") == process
    assert "kitchen light" in ask(machine, "turn it off", "--session kept").lower()


def test_a_reload_says_that_new_devices_need_a_restart_which_keeps_conversations(machine: Machine) -> None:
    """In the status line, until it is done; the old home goes on meanwhile."""
    shelf = '\n[[slow_house.device]]\nname = "shelf lamp"\nkind = "light"\nroom = "kitchen"\n'
    ask(machine, "turn on the kitchen light", "--session kept")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS + shelf)
    machine.run("systemctl reload hearth.service")
    machine.wait_until(has("a restart is needed for the home"))
    doctor = machine.run("PYTHONPATH=/test-house hearth doctor", check=False)
    before = ask(machine, "is the kitchen light on?")
    machine.run("systemctl restart hearth.service")
    machine.wait_until(f"! {has('restart is needed')}")

    assert "--  settings: a restart is needed for the home: systemctl restart hearth" in doctor
    assert "on" in before
    assert "kitchen light" in ask(machine, "turn it off", "--session kept").lower()
    assert "shelf lamp" in ask(machine, "turn on the shelf lamp").lower()


def test_a_new_name_leaves_nothing_under_the_old_one(machine: Machine) -> None:
    """At the broker, where others would go on believing in the old node."""
    write(machine, "/etc/hearth/hearth.toml", SETTINGS.replace('name = "node"', 'name = "attic"'))
    machine.run("systemctl restart hearth.service")
    machine.wait_until("mosquitto_sub -W 2 -C 1 -t hearth/attic/availability | grep -q online")
    machine.wait_until("! mosquitto_sub -W 2 -C 1 --retained-only -t 'hearth/node/#'")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    machine.run("systemctl restart hearth.service")
    machine.wait_until("mosquitto_sub -W 2 -C 1 -t hearth/node/light/desk_lamp/state | grep -q ON")
    machine.wait_until("! mosquitto_sub -W 2 -C 1 --retained-only -t 'hearth/attic/#'")


def test_settings_that_are_wrong_stop_it_once_and_who_asks_is_told(machine: Machine) -> None:
    """Status 78, and no loop, although a question makes systemd try it once more; mended, it starts."""
    write(machine, "/etc/hearth/hearth.toml", SETTINGS + "\n[limits]\nmax_waitin = 3\n")
    machine.run("systemctl restart hearth.service", check=False)
    machine.wait_until("systemctl is-failed hearth.service")
    assert machine.show("ExecMainStatus") == "78"
    assert machine.show("SubState") == "failed"
    answer = machine.run('hearth ask "turn on the desk lamp" 2>&1', check=False)
    doctor = machine.run("hearth doctor", check=False)
    machine.wait_until("systemctl is-failed hearth.service")
    process = machine.show("ExecMainPID")
    machine.run("for time in 1 2 3 4; do hearth --help; done")  # as long as some starts
    still = machine.show("ExecMainPID")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    machine.run("systemctl reset-failed hearth.service; systemctl restart hearth.service hearth.socket")
    machine.wait_until("systemctl is-active hearth.service")

    assert "the service does not start: /etc/hearth/hearth.toml:" in answer
    assert "!!  settings: /etc/hearth/hearth.toml:" in doctor
    assert still == process


def test_f27_a_group_that_is_gone_is_named_and_it_starts_once_it_is_there(machine: Machine) -> None:
    """F27: nothing but systemd's own tries."""
    machine.run("systemctl stop hearth.service; groupdel gpio; systemctl start hearth.service", check=False)
    machine.wait_until("test $(systemctl show hearth.service --value -p NRestarts) -gt 1")
    status, doctor = machine.show("ExecMainStatus"), machine.run("hearth doctor", check=False)
    machine.run("systemd-sysusers")
    machine.wait_until("systemctl is-active hearth.service")

    assert status == "216"
    assert "!!  service: no answer in 10 s" in doctor
    assert "there is no group gpio, and it cannot start (216/GROUP): systemd-sysusers" in doctor


def test_f27_a_board_that_comes_after_the_start_is_found_and_what_denies_it_is_named(
    machine: Machine, board: EmulatedBoard
) -> None:
    """F27: first it is not there, then it is for root alone, and at last it is ours."""
    write(machine, "/etc/hearth/hearth.toml", SETTINGS.replace("/dev/ttyLIGHT", "/dev/ttyLATE"))
    machine.run("systemctl restart hearth.service; chmod 0600 /dev/ttyLIGHT")
    machine.wait_until(has("/dev/ttyLATE: it is not there"))
    machine.run("ln -s ttyLIGHT /dev/ttyLATE")
    machine.wait_until(has("/dev/ttyLATE: it is for root alone: install Hearth.s udev rule"))
    machine.run("chmod 0660 /dev/ttyLIGHT")
    took = machine.wait_until(f"! {has('serial:')}")
    print(f"found {took:.1f} s after it could be")
    ask(machine, "set the desk lamp to 70 percent")
    shows(board, 70)
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    machine.run("systemctl restart hearth.service; rm /dev/ttyLATE")


def test_a_drop_in_for_a_lamp_that_needs_more_is_taken(machine: Machine) -> None:
    """By the commands of docs/install.md; what each opens is looked at in tests/test_systemd.py."""
    folder = "/etc/systemd/system/hearth.service.d"
    for name in ("hardware-pwm", "online-weather"):
        machine.run(f"install -D -m 644 /usr/share/hearth/drop-ins/{name}.conf -t {folder}")
    machine.run("systemctl daemon-reload; systemctl restart hearth")
    opened = (machine.show("ProtectKernelTunables"), machine.show("IPAddressDeny"))
    answer = ask(machine, "turn on the desk lamp")
    machine.run(f"rm {folder}/hardware-pwm.conf {folder}/online-weather.conf; systemctl daemon-reload")
    machine.run("systemctl restart hearth")

    assert opened == ("no", "")
    assert "on" in answer


def test_it_lives_in_512_megabytes(machine: Machine) -> None:
    """All of the machine does, with its broker, its journal and its page cache, as a Zero 2 W has no more."""
    before = restarts(machine)
    machine.give_memory(512 << 20)
    machine.run("sync; systemctl restart hearth.service")
    for percent in range(10, 18):
        assert str(percent) in ask(machine, f"set the desk lamp to {percent} percent", "--session small")
    lines = machine.run("cat /proc/$(systemctl show hearth.service --value -p MainPID)/status").splitlines()
    sizes = {name: int(value.split()[0]) / 1e3 for name, _, value in (line.partition(":") for line in lines)
             if name in ("VmHWM", "VmRSS", "RssAnon", "RssFile")}  # fmt: skip
    used = machine.used_memory()
    machine.give_memory(1 << 40)
    print(", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items()), f"; the machine {used / 1e6:.0f} MB")

    assert restarts(machine) == before
    assert sizes["VmHWM"] < 256
    assert sizes["RssAnon"] * 1e6 < used <= 512 << 20, "what was given is what it uses"


def test_who_asks_starts_it(machine: Machine) -> None:
    """By the socket, which listens while the service does not run."""
    machine.run("systemctl stop hearth.service")

    assert "on" in ask(machine, "turn on the desk lamp")
    assert machine.show("ActiveState") == "active"


def test_f29_a_full_disk_costs_no_command(machine: Machine) -> None:
    """F29: one line, no restart, and sessions are kept again when there is room."""
    machine.run("systemctl stop hearth.service; mount -t tmpfs -o size=4m,mode=0700 none /var/lib/private/hearth")
    machine.run("systemctl start hearth.service")
    before = restarts(machine)
    machine.run("dd if=/dev/zero of=/var/lib/private/hearth/filler bs=64k 2>/dev/null; true")
    for _ in range(5):
        assert "on" in ask(machine, "turn on the desk lamp", "--session full")
    machine.run("rm /var/lib/private/hearth/filler")
    ask(machine, "turn on the desk lamp", "--session after")

    assert "after" in machine.run("hearth sessions list")
    assert restarts(machine) == before
    assert machine.log().count("kept in memory only") <= 2
    machine.run("systemctl stop hearth.service; umount /var/lib/private/hearth; systemctl start hearth.service")


def test_f30_a_state_folder_that_is_gone_is_made_by_the_unit(machine: Machine) -> None:
    """F30: and not by root's hands."""
    machine.run("systemctl stop hearth.service; rm -rf /var/lib/private/hearth /var/lib/hearth")
    machine.run("systemctl start hearth.service")

    assert "on" in ask(machine, "turn on the desk lamp", "--session anew")
    assert machine.run("stat -c %u /var/lib/private/hearth/sessions.db") >= "61184"  # the dynamic user's


def test_the_nightly_service_erases_and_compacts(machine: Machine) -> None:
    """By the socket, as nobody."""
    machine.run("systemctl start hearth-sessions.service")

    said = machine.run("journalctl -q -o cat -u hearth-sessions.service")
    assert "0 conversations erased" in said
    assert "bytes given back" in said


def test_the_doctor_knows_the_unit(machine: Machine) -> None:
    """As root, beside the service."""
    said = machine.run("PYTHONPATH=/test-house hearth doctor", check=False)

    assert "unit: hearth.service is active and starts with the board" in said
    assert "house: the service has it open" in said
    assert "service: node runs" in said
    assert "versions: hearth " in said


def test_its_log_is_read_as_the_page_says(machine: Machine) -> None:
    """By the commands of docs/operate.md; following it ends when somebody ends it."""
    machine.run("journalctl --sync")
    commands = machine.run("hearth log")
    followed = machine.run("timeout 3 hearth log --follow", check=False)
    everything = machine.run("hearth log --since today --all")

    assert commands.splitlines()[-1] in followed
    assert "is ready, on" in everything
    assert "is ready, on" not in commands
    assert int(machine.run("systemctl show hearth -p NRestarts").removeprefix("NRestarts=")) >= 0


def test_a_backup_is_put_back(machine: Machine) -> None:
    """Settings and conversations, through the commands of docs/operate.md."""
    ask(machine, "turn on the kitchen light", "--session precious")
    machine.run("hearth backup hearth-backup.tar.gz")
    assert "the service runs" in machine.run("hearth restore hearth-backup.tar.gz 2>&1", check=False)
    machine.run("hearth sessions rm precious; echo broken >/etc/hearth/hearth.toml")
    machine.run("systemctl stop hearth.socket hearth; hearth restore hearth-backup.tar.gz")
    machine.run("systemctl start hearth.socket hearth")

    assert "precious" in machine.run("hearth sessions list")
    assert "kitchen light" in machine.run("hearth sessions show precious")


def test_f8_a_board_that_boots_without_a_network_is_ours_and_the_broker_is_found_later(
    machine: Machine, board: EmulatedBoard
) -> None:
    """F8: after a power cut, with a broker whose name nobody knows; its unit never gives up."""
    ask(machine, "turn on the kitchen light", "--session before")
    write(machine, "/etc/hearth/hearth.toml", SETTINGS.replace('"localhost"', '"kitchen-pc"'))
    machine.run("systemctl restart hearth.service")
    machine.cut_power()
    started = time.monotonic()
    machine.boot()
    machine.wait_until("systemctl is-active hearth.service")
    print(f"active {time.monotonic() - started:.1f} s after its power came back")
    machine.wait_until(has("MQTT not connected to kitchen-pc"))
    machine.wait_until(f"! {has('serial:')}")
    ask(machine, "set the desk lamp to 25 percent")
    shows(board, 25)
    machine.run("cp /etc/hosts /root/hosts; echo 127.0.0.1 kitchen-pc >>/etc/hosts; systemctl start mosquitto")
    took = machine.wait_until(has("MQTT connected to kitchen-pc"), 90)
    print(f"at the broker {took:.1f} s after it was there")
    machine.run("mosquitto_pub -q 1 -t hearth/node/command -m 'turn off the desk lamp'")
    shows(board, 0)
    machine.run("cp /root/hosts /etc/hosts; rm /root/hosts")

    assert restarts(machine) == 0
    assert "repeated too quickly" not in machine.run("journalctl -q -b --no-pager")
    assert "before" in machine.run("hearth sessions list")


def test_f30_a_read_only_root_starts_it_and_is_said_once(machine: Machine) -> None:
    """F30: an overlay in memory over the root, /var/log in memory, no state folder: as raspi-config makes it."""
    write(machine, "/etc/hearth/hearth.toml", SETTINGS)
    machine.run("systemctl stop hearth.service; mv /var/lib/private/hearth /root/kept; rm /var/lib/hearth")
    machine.power_off()
    machine.boot(forgetful=True)
    machine.wait_until("systemctl is-active hearth.service")
    answer = ask(machine, "turn on the desk lamp", "--session fleeting")
    said = machine.log().count("a reboot may forget")
    made = machine.run("stat -c '%u %a' /var/lib/private/hearth")
    doctor = machine.run("hearth doctor", check=False)
    machine.power_off()
    machine.boot()
    machine.run("systemctl stop hearth.service; rm -rf /var/lib/private/hearth; mv /root/kept /var/lib/private/hearth")
    machine.run("systemctl start mosquitto hearth.service")

    assert "on" in answer
    assert said == 1
    assert made.split()[0] >= "61184"
    assert made.split()[1] == "700"
    assert "a reboot may forget it; give it a disk of its own" in doctor
    assert "fleeting" not in machine.run("hearth sessions list")
    assert "before" in machine.run("hearth sessions list")


def test_an_upgrade_restarts_once_and_lamps_are_as_they_were(
    machine: Machine, newer: Path, board: EmulatedBoard
) -> None:
    """Conversations too, and settings that were changed; it says for how long it was away, and when all was back.

    The emulated board is reset whenever its port is opened, as one is whose DTR falls meanwhile.
    """
    ask(machine, "turn on the kitchen light", "--session kept")
    ask(machine, "set the desk lamp to 60 percent")
    shows(board, 60)
    process = machine.show("MainPID")
    starts = "journalctl -q -o cat -u hearth.service | grep -c 'is ready, on'"
    before = int(machine.run(starts))
    machine.wait_until(has("MQTT connected"))
    said = machine.run(f"yes | apt install /packages/{newer.name} 2>&1")
    machine.run("journalctl --sync")
    told = re.search(BACK, said)
    assert told, said
    print(told[0])

    away, back, how = told.groups()
    assert int(away) <= int(back)
    assert how.startswith("ready; MQTT connected")
    assert "serial" not in how
    shows(board, 60)
    assert "60 percent" in ask(machine, "is the desk lamp on?")
    assert machine.show("MainPID") != process
    assert int(machine.run(starts)) == before + 1
    assert "kept" in machine.run("hearth sessions list")
    assert machine.run("ls -d /opt/hearth/venv-*").count("\n") == 0


def test_removed_it_leaves_settings_and_what_it_kept_and_nothing_at_the_broker(machine: Machine) -> None:
    """The topics of the lamps too."""
    machine.wait_until("mosquitto_sub -W 2 -C 1 -t hearth/node/availability | grep -q online")
    machine.run("yes | apt remove hearth 2>&1")

    assert machine.run("mosquitto_sub -W 2 -t 'hearth/#' -v --retained-only", check=False) == ""
    assert machine.succeeds("test -e /etc/hearth/hearth.toml -a -e /var/lib/private/hearth/sessions.db")
    assert not machine.succeeds("test -e /opt/hearth -o -e /usr/bin/hearth")
    assert "hearth" not in machine.run("systemctl list-units --all --no-pager --plain")


def test_purged_it_leaves_nothing(machine: Machine) -> None:
    """Not a file, not a group of its own."""
    machine.run("rm -f hearth-backup.tar.gz; yes | apt purge hearth 2>&1")

    assert machine.run(EVERYTHING) == BEFORE["files"]
    assert not machine.succeeds("getent group hearth-users >/dev/null")


def test_a_checkout_is_installed_twice_and_taken_away_again(machine: Machine) -> None:
    """By install.sh and its mirror; a second time changes nothing but the process."""
    machine.run("cp -r /checkout /root/checkout")
    install = "cd /root/checkout && PIP_NO_INDEX=1 PIP_FIND_LINKS=/root/checkout/wheels sh deploy/install.sh"
    machine.run(install)
    assert "on" in ask(machine, "turn on the desk lamp", "--session kept")
    before = machine.run(f"{EVERYTHING} | grep -v -e pycache -e systemd-private")
    machine.run(install)

    assert machine.run(f"{EVERYTHING} | grep -v -e pycache -e systemd-private") == before
    assert "kept" in machine.run("hearth sessions list")
    machine.run("cd /root/checkout; sh deploy/uninstall.sh --purge; rm -rf /root/checkout")
    assert machine.run(EVERYTHING) == BEFORE["files"]
    assert not machine.succeeds("getent group hearth-users >/dev/null")


ELSEWHERE = {
    "ssh": "needs a board, and a network",
    "scp": "likewise",
    "make deb": "is what the fixture `package` does",
    "nano": "is somebody at a keyboard; `write` does it here",
}
"""The commands of the pages that are not run here, and why."""


@pytest.mark.parametrize("page", ["install.md", "operate.md"])
def test_every_command_of_the_page_was_run_above(machine: Machine, page: str) -> None:
    """Word for word, but for the names that a reader puts in."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [*"".join(blocks).splitlines(), *re.findall(r"`(sudo [^`\n]+|systemctl [^`\n]+)`", text)]
    ran = re.sub(r"/packages/\S+\.deb", "./hearth_*_arm64.deb", "\n".join(machine.said))
    missing = []
    for line in lines:
        command = line.removeprefix("sudo ").replace("$USER", "alice").replace("NODE", "node")
        if command not in ran and not command.startswith(tuple(ELSEWHERE)):
            missing.append(line)

    assert missing == []
