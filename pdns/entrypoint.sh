#!/bin/sh
# Starts PowerDNS with pdns.conf. The API key is appended to a copy of it, because `ps` would show it on the command line.
set -eu
: "${PDNS_API_KEY:?set PDNS_API_KEY to a secret of your own}"
umask 077
run=/tmp/pdns
rm -rf "$run"
mkdir "$run"
cp /etc/zoneplane/pdns.conf "$run/pdns.conf"
# Also the password of the web pages, which show the latest questions, and who asked.
printf '\napi-key=%s\nwebserver-password=%s\n' "$PDNS_API_KEY" "$PDNS_API_KEY" >> "$run/pdns.conf"
if [ -n "${TRANSFER_ADDRESSES:-}" ]; then
  printf 'allow-axfr-ips=%s\n' "${TRANSFER_ADDRESSES#none}" >> "$run/pdns.conf"
fi
exec pdns_server \
  --config-dir="$run" \
  --socket-dir="$run" \
  --lmdb-filename=/var/lib/powerdns/lmdb/pdns.lmdb \
  --local-address=0.0.0.0,:: \
  --local-port="${PDNS_PORT:-5300}" \
  --webserver-address=0.0.0.0 \
  --webserver-port=8081 \
  --webserver-allow-from="${PDNS_API_NETWORKS:-127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16}"
