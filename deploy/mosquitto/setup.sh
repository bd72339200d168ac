#!/bin/sh
# Gives a mosquitto on this board users, an access list and TLS: setup.sh NODE HOST [FOLDER]
#
#   NODE    the node of Hearth: [agent] name, or what `hearth doctor` calls it
#   HOST    the name by which others reach this board: hearth.local
#   FOLDER  where it is all written instead of /etc, for a look first
#
# It makes an authority of its own, a certificate for HOST, and two users: "hearth", and "home" for all that commands
# it. Their passwords are made here and written to FOLDER/hearth/; done twice, what is there stays.
set -eu

node="$1"
host="$2"
etc="${3:-/etc}"
case "$node" in *[!A-Za-z0-9_-]* | "") echo "a node has letters, digits, _ and -" >&2; exit 2 ;; esac
case "$host" in *[!A-Za-z0-9.-]* | "") echo "a host has letters, digits, . and -" >&2; exit 2 ;; esac
ours="$etc/hearth"
theirs="$etc/mosquitto/hearth"
umask 077
mkdir -p "$ours" "$theirs" "$etc/mosquitto/conf.d"
chmod 755 "$ours" "$theirs"

# The authority's key never leaves this folder; ca.crt is what a phone or another board is given.
if [ ! -e "$ours/ca.crt" ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7300 -subj "/CN=Hearth of $host" \
        -addext basicConstraints=critical,CA:true,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign \
        -keyout "$ours/ca.key" -out "$ours/ca.crt" 2>/dev/null
fi
if [ ! -e "$theirs/server.crt" ]; then
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$host" \
        -keyout "$theirs/server.key" -out "$theirs/server.csr" 2>/dev/null
    printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' "$host" >"$theirs/extensions"
    openssl x509 -req -in "$theirs/server.csr" -CA "$ours/ca.crt" -CAkey "$ours/ca.key" -CAcreateserial -days 3650 \
        -extfile "$theirs/extensions" -out "$theirs/server.crt" 2>/dev/null
    rm -f "$theirs/server.csr" "$theirs/extensions"
fi
chmod 644 "$ours/ca.crt" "$theirs/server.crt"

touch "$theirs/passwords"
for user in hearth home; do
    case "$user" in hearth) file="$ours/mqtt-password" ;; *) file="$ours/$user-password" ;; esac
    [ -s "$file" ] || openssl rand -hex 16 >"$file"
    printf '%s:%s\n' "$user" "$(cat "$file")"
done >"$theirs/passwords"
mosquitto_passwd -U "$theirs/passwords"

# Mosquitto refuses no subscription by this list: what may not be read just does not come. `hearth doctor` tries each.
cat >"$theirs/acl" <<EOF
user hearth
topic readwrite hearth/$node/#
topic read homeassistant/status
topic write homeassistant/device/$node/config
topic readwrite zigbee2mqtt/#
topic write cmnd/#
topic read stat/#
topic read tele/#
topic read tasmota/discovery/#

user home
topic write hearth/$node/command
topic write hearth/$node/confirm
topic read hearth/$node/#
EOF

# Without a listener of its own mosquitto is for this board only, and asks for no password.
cat >"$etc/mosquitto/conf.d/hearth.conf" <<EOF
listener 8883
cafile $ours/ca.crt
certfile $theirs/server.crt
keyfile $theirs/server.key
allow_anonymous false
password_file $theirs/passwords
acl_file $theirs/acl
EOF
chmod 644 "$etc/mosquitto/conf.d/hearth.conf"
# Mosquitto reads these as its own user.
if getent passwd mosquitto >/dev/null && [ "$(id -u)" = 0 ]; then
    chown mosquitto: "$theirs/server.key" "$theirs/passwords" "$theirs/acl"
fi

cat <<EOF
Now: systemctl restart mosquitto, and in $ours/hearth.toml:

[mqtt]
broker = "localhost"
port = 8883
username = "hearth"
tls = true
ca_file = "$ours/ca.crt"
EOF
