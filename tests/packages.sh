#!/bin/sh
# The Debian packages that the tests use: installed when root, else named.
set -eu

missing=""
for pair in cc:gcc mosquitto:mosquitto espeak-ng:espeak-ng mosquitto_pub:mosquitto-clients; do
    command -v "${pair%%:*}" >/dev/null || [ -x "/usr/sbin/${pair%%:*}" ] || missing="$missing ${pair##*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
    echo "Not installed, so their tests do not run:$missing (sudo apt install$missing)" >&2
fi
