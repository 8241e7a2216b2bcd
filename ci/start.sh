#!/bin/sh
# Starts the service in the container. An empty data folder begins as the one that prepare.sh has made.
set -eu
cd "$(dirname "$0")/.."
if [ ! -e "$ZONEPLANE_DATA/postgres" ]; then
  # Renamed when it is complete, in case the container is killed meanwhile.
  rm -rf "$ZONEPLANE_DATA/postgres.new"
  cp -r prepared/pdns "$ZONEPLANE_DATA/"
  cp -r prepared/postgres "$ZONEPLANE_DATA/postgres.new"
  mv "$ZONEPLANE_DATA/postgres.new" "$ZONEPLANE_DATA/postgres"
fi
# Node looks for what V8 has compiled in a folder whose name ends with the number of its user.
compiled=$(echo compiled/*)
mkdir -p "$ZONEPLANE_DATA/compiled"
ln -sfn "$PWD/$compiled" "$ZONEPLANE_DATA/${compiled%-*}-$(id -u)"
export NODE_COMPILE_CACHE="$ZONEPLANE_DATA/compiled"
exec node build/src/cli.js start --ci "$@"
