#!/bin/sh
# Takes away what install.sh brought, as root: uninstall.sh [--purge]. Settings and what is kept stay, unless purged.
set -eu

[ "$(id -u)" = 0 ] || { echo "Run this as root: sudo sh deploy/uninstall.sh" >&2; exit 1; }
units="hearth.service hearth.socket hearth-sessions.service hearth-sessions.timer"

if [ -d /run/systemd/system ]; then
    systemctl disable --now --quiet hearth.socket hearth-sessions.timer hearth.service 2>/dev/null || true
else
    systemctl disable --quiet hearth.socket hearth-sessions.timer hearth.service 2>/dev/null || true
fi
if [ -x /opt/hearth/venv/bin/hearth ] && [ -e /etc/hearth/hearth.toml ]; then
    /opt/hearth/venv/bin/hearth retract --config /etc/hearth/hearth.toml || true
fi
for unit in $units; do
    rm -f "/etc/systemd/system/$unit"
done
rm -f /etc/sysusers.d/hearth.conf /etc/tmpfiles.d/hearth.conf /usr/local/bin/hearth
rm -f /etc/udev/rules.d/70-hearth-board.rules /etc/udev/rules.d/70-hearth-gpio.rules
rm -rf /opt/hearth
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ ! -e /run/udev/control ] || udevadm control --reload

if [ "${1:-}" = --purge ]; then
    rm -rf /etc/hearth /etc/systemd/system/hearth.service.d
    rm -rf /var/lib/private/hearth /var/lib/hearth /var/cache/private/hearth /var/cache/hearth
    rm -rf /run/hearth /run/private/hearth-volatile /run/hearth-volatile
    # What mosquitto/setup.sh made; without it mosquitto is for this board only again, and asks for no password.
    if [ -e /etc/mosquitto/conf.d/hearth.conf ]; then
        rm -f /etc/mosquitto/conf.d/hearth.conf
        [ ! -d /run/systemd/system ] || systemctl try-restart mosquitto.service || true
    fi
    rm -rf /etc/mosquitto/hearth
    rm -f /var/lib/systemd/timers/stamp-hearth-sessions.timer
    if getent group hearth-users >/dev/null; then groupdel hearth-users; fi
fi
