#!/bin/sh
# The Postgres image runs this when it makes the database: the service gets a role that owns the database and is no
# superuser. The superuser loses the password, and so can connect only from inside the container.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
\getenv password POSTGRES_PASSWORD
create role zoneplane login password :'password';
alter database zoneplane owner to zoneplane;
alter role current_user password null;
SQL
