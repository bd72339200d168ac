#!/bin/sh
# The Debian packages that tests use, as pairs of a program and its package; without arguments those of the default
# suite. They are installed when root, else named.
set -eu

is_there() {
    case $1 in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] ;;
    esac
}

[ $# -gt 0 ] || set -- cc:gcc make:make mosquitto:mosquitto espeak-ng:espeak-ng mosquitto_pub:mosquitto-clients \
    systemd-analyze:systemd shellcheck:shellcheck /usr/include/linux/gpio.h:linux-libc-dev avr-gcc:gcc-avr \
    /usr/lib/avr/include/avr/io.h:avr-libc /usr/include/simavr/sim_avr.h:libsimavr-dev /usr/include/libelf.h:libelf-dev
missing=""
for pair in "$@"; do
    is_there "${pair%%:*}" || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
    echo "Not installed, so their tests do not run:$missing (sudo apt install$missing)" >&2
fi
