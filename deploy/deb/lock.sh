#!/bin/sh
# Writes deploy/wheels/RELEASE-ARCH.txt anew: lock.sh RELEASE ARCH. The newest wheels that fit, each with its hash.
# Run it for a new edition of a dependency, and read the difference before it is committed.
set -eu

release="$1"
arch="$2"
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
python="${PYTHON3:-python3}"
# shellcheck source=platform.sh
. "$here/platform.sh"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$python" - "$root/pyproject.toml" >"$folder/wanted" <<'PYTHON'
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    print("\n".join(tomllib.load(file)["project"]["dependencies"]))
PYTHON
# shellcheck disable=SC2086  # a list of options
"$python" -m pip download --quiet --disable-pip-version-check $pip_platform \
    --requirement "$folder/wanted" --dest "$folder/wheels"
"$python" - "$folder/wheels" >"$root/deploy/wheels/$release-$arch.txt" <<'PYTHON'
import hashlib, pathlib, sys
for wheel in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
    name, version = wheel.name.split("-")[:2]
    print(f"{name.replace('_', '-')}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
PYTHON
