#!/bin/sh
# Makes a virtual environment: venv.sh FOLDER. Where Python's venv module is missing, root
# installs it and everyone else is told how.
set -eu

python="${PYTHON3:-python3}"
folder="$1"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Hearth needs Python 3.11 or newer; '$python' is $("$python" --version 2>&1 || echo missing)." >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    else
        echo "Python's venv module is missing; install it with: sudo apt install python3-venv" >&2
        exit 1
    fi
fi
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
