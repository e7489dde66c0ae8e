#!/usr/bin/env bash
# Drives people and attempts in a real window (window_driver.sh): an attempt under an id is entered, a demonstration is
# not, an attempt of a killed program is scored at the next start, attempts wait while the server is down, and the
# library compares two people and opens a replay.
#   window_lab_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

trocar=$1 data=$2 out=$3 width=${4:-1280} height=${5:-720}
options=(--quality low)
state=$out/state.json
rm -rf "$out"
mkdir -p "$out"
read_state
make_first_touch
export XDG_DATA_HOME=$out/home XDG_CONFIG_HOME=$out/settings

expect_attempts() {
  local found
  found=$("$trocar" lab 2>/dev/null | sed -n 's/^attempts *//p')
  [ "$found" = "$1" ] || fail "$found attempts instead of $1"
}
practise() {
  click "First touch"
  click Start
  wait_for 120 is phase ready
  key Return
  wait_for 60 is phase running
}

start_program
trap 'kill "$program" 2>/dev/null || true' EXIT
wait_for 60 is screen start
click "First touch"
click Person
xdotool type --delay 60 zoe
settle
picture person
practise
do_first_touch
wait_for 60 is note "Entered for zoe"
picture entered
click "Start screen"
wait_for 20 is screen start
expect_attempts 1

# A demonstration counts for no person.
click Mode
click "Expert demonstration"
click Start
wait_for 120 is phase ready
key Return
wait_for 300 is phase measured
is note "" || fail "the demonstration was entered: $(field note)"
click "Start screen"
wait_for 20 is screen start
expect_attempts 1
click Mode
click Practice

# The program is killed in mid-attempt.
practise
wait_for 60 at_least frames 40
sleep 1
kill -KILL "$program"
wait "$program" 2>/dev/null || true
options=(--quality low --person li)
start_program
wait_for 60 is screen start
for _ in $(seq 100); do
  [ -z "$(ls "$XDG_DATA_HOME/trocar/waiting" 2>/dev/null)" ] && break
  sleep 0.1
done
expect_attempts 2
"$trocar" lab show zoe | grep -q unknown || fail "the killed attempt is missing"

# Another person, while the database does not answer.
kill "$program"
wait "$program" 2>/dev/null || true
options=(--quality low --person li --database postgresql://user@127.0.0.1:1/none)
start_program
wait_for 60 is screen start
practise
do_first_touch
for _ in $(seq 100); do
  case "$(field note)" in *"does not answer"*) break ;; esac
  sleep 0.1
done
case "$(field note)" in *"Kept for li at this station, 1 waiting"*) ;; *) fail "$(field note)" ;; esac
picture waiting
kill "$program"
wait "$program" 2>/dev/null || true
expect_attempts 3

# The library.
options=(--quality low)
start_program
wait_for 60 is screen start
click "People..."
wait_for 20 is screen library
wait_for 20 at_least frames 1
picture library
click zoe
click "Pick li"
click Task
click "first touch"
wait_for 20 is phase comparing
click "Attempt 1"
picture compared
click Replay
wait_for 120 is screen replay
key Escape
wait_for 20 is screen library
key Escape
wait_for 20 is screen start
kill "$program"
wait "$program" 2>/dev/null || true
trap - EXIT
echo "attempts, demonstration, kill, server down, library: passed"
