#!/usr/bin/env bash
# Runs a command with a virtual display of its own:  with_display.sh WIDTHxHEIGHT COMMAND [ARGUMENT...]
# The exit status is that of the command. xvfb-run is not used: its status is 5 when it cannot remove its own files.
set -euo pipefail

size=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder" || true' EXIT
mkfifo "$folder/number"
Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp -noreset 3>"$folder/number" >/dev/null 2>&1 &
server=$!
read -r -t 60 number <"$folder/number" || { echo "Xvfb did not start" >&2; kill "$server"; exit 1; }
status=0
DISPLAY=:$number "$@" || status=$?
kill "$server" || true
wait "$server" || true
exit "$status"
