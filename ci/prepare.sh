#!/bin/sh
# While the image is built: runs the service once and stops it, so that the image has a database with the schema, and what
# V8 has compiled. It makes no account, and no secret of it stays.
set -eu
cd "$(dirname "$0")/.."
ZONEPLANE_DATA="$PWD/prepared" ZONEPLANE_SEED="$PWD/ci/empty.yaml" node build/src/cli.js start --ci &
until ci/ready.sh; do
  kill -0 $!
  sleep 0.1
done
kill $!
wait $!
rm -rf prepared/key-encryption-key prepared/lock prepared/*/process prepared/*/log* prepared/pdns/config
# Any user may copy the folder, and read what V8 has compiled.
chmod -R a+rX prepared/* compiled
