#!/bin/sh
# Builds one package: build.sh RELEASE ARCH, into build/. It carries every wheel that it needs, each with the hash that
# deploy/wheels/RELEASE-ARCH.txt states, and nothing is fetched when it is installed.
#
#   RELEASE  bookworm (Python 3.11) or trixie (Python 3.13)
#   ARCH     amd64 or arm64
set -eu

release="$1"
arch="$2"
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
cd "$root"
python="${PYTHON3:-python3}"
# shellcheck source=platform.sh
. "$here/platform.sh"

version="$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/pyproject.toml")"
package="hearth_${version}~${release}_${arch}"
tree="$root/build/$package"
rm -rf "$tree"
mkdir -p "$tree/DEBIAN"
wheels="$tree/usr/share/hearth/wheels"
mkdir -p "$wheels"

# setuptools would pack modules of an older checkout that still lie there.
rm -rf "$root/build/lib" "$root"/build/bdist.*
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" "$root"
# shellcheck disable=SC2086  # a list of options
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    $pip_platform --requirement "$root/deploy/wheels/$release-$arch.txt" --dest "$wheels"
own="hearth-$version-py3-none-any.whl"
{
    cat "$root/deploy/wheels/$release-$arch.txt"
    echo "hearth==$version --hash=sha256:$(sha256sum "$wheels/$own" | cut -d' ' -f1)"
} >"$wheels/requirements.txt"

install -D -m 644 "$root/deploy/hearth.toml" "$tree/etc/hearth/hearth.toml"
for unit in hearth.service hearth.socket hearth-sessions.service hearth-sessions.timer; do
    install -D -m 644 "$root/systemd/$unit" "$tree/usr/lib/systemd/system/$unit"
done
install -D -m 644 "$root/systemd/sysusers.conf" "$tree/usr/lib/sysusers.d/hearth.conf"
install -D -m 644 "$root/systemd/tmpfiles.conf" "$tree/usr/lib/tmpfiles.d/hearth.conf"
install -D -m 644 -t "$tree/usr/lib/udev/rules.d" "$root"/deploy/udev/*.rules
install -D -m 644 -t "$tree/usr/share/hearth/drop-ins" "$root"/systemd/drop-ins/*.conf
install -D -m 644 -t "$tree/usr/share/hearth" "$root/deploy/hearth.example.toml"
install -D -m 755 -t "$tree/usr/share/hearth/mosquitto" "$root"/deploy/mosquitto/*
install -D -m 644 -t "$tree/usr/share/doc/hearth" "$root"/docs/*.md "$root/README.md" "$root/NOTICE"
install -D -m 644 "$root/LICENSE" "$tree/usr/share/doc/hearth/copyright"
mkdir -p "$tree/usr/bin"
ln -s /opt/hearth/venv/bin/hearth "$tree/usr/bin/hearth"

echo /etc/hearth/hearth.toml >"$tree/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 "$here/$script" "$tree/DEBIAN/$script"
done
size="$(du -sk --exclude=DEBIAN "$tree" | cut -f1)"
sed -e "s/@VERSION@/$version~$release/" -e "s/@ARCH@/$arch/" -e "s/@SIZE@/$size/" \
    -e "s/@PYTHON@/$python_version/" -e "s/@PYTHON_AFTER@/$python_after/" "$here/control" >"$tree/DEBIAN/control"

# Wheels are packed already; more effort would only take time.
dpkg-deb --root-owner-group -Zgzip -z1 --build "$tree" "$root/build/$package.deb" >/dev/null
rm -rf "$tree"
echo "build/$package.deb"
