#!/bin/sh
# Makes the database at the first start, with a server that has only a socket, and then starts the server.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  printf '%s\n' "$POSTGRES_PASSWORD" > /tmp/password
  # The options are several words.
  # shellcheck disable=SC2086
  initdb --username=postgres --pwfile=/tmp/password ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --wait -o "-c listen_addresses=''" start
  createdb --username=postgres "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do "$script"; done
  pg_ctl --wait --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
