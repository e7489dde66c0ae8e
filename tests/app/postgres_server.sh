# Functions of a test that starts a PostgreSQL server of its own, in a temporary folder, on a local socket only; to be
# sourced. As tests/app/lab_support.hpp does for the tests in C++.
# shellcheck shell=bash

postgres_programs=/usr/lib/postgresql/15/bin
postgres_folder=

# PostgreSQL refuses to run as root.
postgres_as_user() {
  if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; else "$@"; fi
}
postgres_control() {
  postgres_as_user "$postgres_programs/pg_ctl" -D "$postgres_folder/data" -w "$@" >>"$postgres_folder/log" 2>&1
}
# Makes a server with the database "lab" and sets postgres_address. Fails when PostgreSQL 15 is missing or cannot run.
make_postgres() {
  [ -x "$postgres_programs/initdb" ] || return 1
  [ "$(id -u)" -ne 0 ] || id postgres >/dev/null 2>&1 || return 1
  postgres_folder=$(mktemp -d /tmp/trocar_pg_XXXXXX) # a socket's path has at most 107 characters
  [ "$(id -u)" -ne 0 ] || chown postgres "$postgres_folder"
  postgres_as_user "$postgres_programs/initdb" -D "$postgres_folder/data" -U lab --auth=trust --no-sync -E UTF8 \
    --locale=C.UTF-8 >"$postgres_folder/log" 2>&1 || return 1
  start_postgres || return 1
  "$postgres_programs/createdb" -h "$postgres_folder" -U lab lab || return 1
  # shellcheck disable=SC2034
  postgres_address=postgresql://lab@${postgres_folder//\//%2F}/lab
}
start_postgres() {
  postgres_control -l "$postgres_folder/data/server.log" \
    -o "-c listen_addresses='' -c fsync=off -k $postgres_folder" start
}
stop_postgres() { postgres_control -m immediate stop; }
remove_postgres() {
  [ -n "$postgres_folder" ] || return 0
  stop_postgres || true
  rm -rf "$postgres_folder"
}
