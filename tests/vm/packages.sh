#!/bin/sh
# What `make test-vm` needs: installed when root, else named. Kernels and trees of the guests are fetched by image.py.
set -eu

packages="qemu-system-arm mmdebstrap cpio"
# The guest with gpio-sim, whose module is built here, is for this kind of machine alone; image.py says so elsewhere.
[ "$(dpkg --print-architecture)" != amd64 ] || packages="$packages qemu-system-x86 gcc make linux-headers-amd64"
missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "Not installed:$missing (sudo apt install$missing)" >&2
    exit 1
fi
