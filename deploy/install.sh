#!/bin/sh
# Installs Hearth from this checkout, as root: install.sh. The same places as the package's, so that one can follow the
# other; doing it twice is harmless. uninstall.sh is its mirror. Needs the network once, for the Python packages.
set -eu

[ "$(id -u)" = 0 ] || { echo "Run this as root: sudo sh deploy/install.sh" >&2; exit 1; }
if dpkg-query --showformat='${db:Status-Status}' --show hearth 2>/dev/null | grep -qx installed; then
    echo "The package hearth is installed: apt install a newer one, or apt remove it first." >&2
    exit 1
fi
root="$(cd "$(dirname "$0")/.." && pwd)"
units="hearth.service hearth.socket hearth-sessions.service hearth-sessions.timer"

if command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv python3-systemd mosquitto >/dev/null
fi
mkdir -p /opt/hearth
[ -x /opt/hearth/venv/bin/python ] || python3 -m venv --system-site-packages /opt/hearth/venv
/opt/hearth/venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "$root"
ln -sfn /opt/hearth/venv/bin/hearth /usr/local/bin/hearth

[ -e /etc/hearth/hearth.toml ] || install -D -m 644 "$root/deploy/hearth.toml" /etc/hearth/hearth.toml
for unit in $units; do
    install -D -m 644 "$root/systemd/$unit" "/etc/systemd/system/$unit"
done
install -D -m 644 "$root/systemd/sysusers.conf" /etc/sysusers.d/hearth.conf
install -D -m 644 "$root/systemd/tmpfiles.conf" /etc/tmpfiles.d/hearth.conf
install -D -m 644 "$root/deploy/udev/70-hearth-board.rules" /etc/udev/rules.d/70-hearth-board.rules
install -D -m 644 "$root/deploy/udev/70-hearth-gpio.rules" /etc/udev/rules.d/70-hearth-gpio.rules
systemd-sysusers hearth.conf
systemd-tmpfiles --create hearth.conf
# For what is plugged in already; after the groups, as udev looks them up when it reads its rules.
if [ -e /run/udev/control ]; then
    udevadm control --reload
    udevadm trigger --subsystem-match=tty --subsystem-match=usb-serial --subsystem-match=gpio --subsystem-match=pwm
fi
systemctl enable --quiet hearth.socket hearth.service hearth-sessions.timer
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl start hearth.socket hearth-sessions.timer
    systemctl restart hearth.service
fi
