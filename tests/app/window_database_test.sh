#!/usr/bin/env bash
# Makes the lab's database fail under every screen of a real window that uses it (window_driver.sh): tables removed by
# another program, the file overwritten, a server that takes connections and never answers. The window shows a sentence
# and goes on; neither leaving a screen, nor a search, nor the end of the program waits for the server.
#   window_database_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

database=$out/home/trocar/lab.sqlite
has_note() { [ -n "$(field note)" ]; }
has_ended() { ! kill -0 "$program" 2>/dev/null; }
make_people() {
  rm -f "$database"*
  "$trocar" lab add ann >/dev/null
  "$trocar" lab add ben >/dev/null
}
drop_tables() {
  /usr/bin/python3 -c '
import sqlite3, sys
lab = sqlite3.connect(sys.argv[1])
for table in ("attempt", "standing", "person"):
    lab.execute(f"drop table if exists {table}")
lab.commit()' "$database"
}
overwrite() { head -c 20000 /dev/urandom >"$database" && rm -f "$database-wal" "$database-shm"; }

# Results of an attempt that is ended early.
attempt() {
  click Start
  wait_for 120 is phase ready
  key Return
  wait_for 60 is phase running
  key Escape
  wait_for 20 is phase paused
  click Finish
  wait_for 120 is phase measured
}

options=(--quality low --person ann)
trap 'kill "$program" "${server:-}" 2>/dev/null || true' EXIT
for break_it in drop_tables overwrite; do
  make_people
  start_program
  wait_for 60 is screen start
  click "First touch"

  # The library, with a person and a search that come after the failure.
  click "People..."
  wait_for 20 is phase listing
  $break_it
  click ben
  wait_for 60 is phase fault
  has_note || fail "no sentence says why"
  picture "library_$break_it"
  click "Try again"
  wait_for 60 is phase fault
  make_people
  click "Try again"
  wait_for 60 is phase listing
  $break_it
  click Search
  xdotool type --delay 60 be
  wait_for 60 is phase fault
  key Escape
  wait_for 20 is screen start

  # The start screen: another trainee logs in.
  click Person
  key ctrl+a
  xdotool type --delay 60 cid
  key Return
  await_frames
  is screen start || fail "the login has changed the screen"

  # An attempt and its results.
  attempt
  wait_for 60 note_has "Kept for cid"
  picture "results_$break_it"
  [ -n "$(ls "$out/home/trocar/waiting")" ] || fail "the attempt is lost"
  end_program
  rm -rf "$out/home/trocar/waiting"
done

# A server that never answers, and an address that allows it ten minutes.
/usr/bin/python3 -c '
import socket, sys, time
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
clients = []
while True:
    clients.append(server.accept())' "$out/port" &
server=$!
for _ in $(seq 100); do [ -s "$out/port" ] && break; sleep 0.1; done
options+=(--database "postgresql://user@127.0.0.1:$(cat "$out/port")/lab?connect_timeout=600")
start_program
wait_for 60 is screen start
click "First touch"
click "People..."
wait_for 20 is phase opening
picture library_silent
key Escape
wait_for 20 is screen start
attempt
wait_for 20 is note "Kept for ann"
click "Start screen"
wait_for 20 is screen start
click "People..."
wait_for 20 is phase opening
end_program
trap - EXIT
kill "$server"
echo "tables removed, file overwritten, silent server: the window shows a sentence, goes on and ends"
