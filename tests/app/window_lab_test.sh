#!/usr/bin/env bash
# Drives people, attempts and a curriculum in a real window (window_driver.sh): a new trainee logs in, fails a step, reads
# why, passes it three times in a row and goes on to the next level; a demonstration counts for no person; an attempt of a
# killed program is scored at the next start; the server stops in mid-attempt and the attempt waits at the station; the
# library compares two people and opens a replay.
#   window_lab_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
# The second trainee uses a PostgreSQL server, where one can be started.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
# shellcheck source=tests/app/postgres_server.sh
. "$(dirname "$0")/postgres_server.sh"
under_display "$@"

cat >>"$TROCAR_DATA/scenes/tasks/first_touch.toml" <<'TOML'
[[task.level]]
name = "nearer"
tolerance_mm = 20
TOML
cat >"$out/course.toml" <<'TOML'
title = "Two levels"
[[step]]
name = "first"
title = "First touch"
scene = "data/scenes/tasks/first_touch.toml"
least_score = 50
in_a_row = 3
[[step]]
name = "second"
title = "Nearer touch"
scene = "data/scenes/tasks/first_touch.toml"
level = 2
least_score = 50
requires = ["first"]
TOML
options=(--quality low --curriculum "$out/course.toml")

# `trocar lab` with the database of `address`; the station's own when it is empty.
lab() { "$trocar" lab ${address:+--database "$address"} "$@"; }
expect_attempts() {
  local found
  found=$(lab 2>/dev/null | sed -n 's/^attempts *//p')
  [ "$found" = "$1" ] || fail "$found attempts instead of $1"
}
# log_in ID: types a new id.
log_in() {
  click Person
  xdotool type --delay 60 "$1"
  key Return
  wait_for 20 step_has "0 of 2 steps passed. Next: First touch, level 1"
  is phase curriculum || fail "the curriculum is not shown"
}

address=
start_program
trap 'kill "$program" 2>/dev/null || true; remove_postgres' EXIT
wait_for 60 is screen start
log_in zoe
lab list | grep -q '^zoe' || fail "the first login has not made the person"
click "step second"
picture locked
click "step first"
click Start
is_running

# The step is failed: the attempt ends early. Then the trainee reads why.
wait_for 60 at_least frames 20
key Escape
wait_for 20 is phase paused
click Finish
wait_for 120 is phase measured
wait_for 60 is note "Entered for zoe"
step_has "Not a pass: 0 of 3 in a row. The task was not finished." || fail "$(field step)"
click "All measures"
click "why task_time"
wait_for 20 is note "why task_time"
picture failed_step

# Two more attempts are abandoned: one for a restart, one for the start screen. They are entered when they end.
click Restart
is_running
wait_for 60 at_least frames 20
key Escape
wait_for 20 is phase paused
click Restart
click "End and restart"
is_running
expect_attempts 2
wait_for 60 at_least frames 20
key Escape
wait_for 20 is phase paused
click "Start screen"
click "End and leave"
wait_for 60 is screen start
expect_attempts 3
[ "$(lab show zoe | grep -c stopped)" = 3 ] || fail "the abandoned attempts are not stopped ones"
click "step first"
click Start

# It is passed three times in a row, which unlocks the next level.
for pass in 1 2 3; do
  [ "$pass" = 1 ] || click Restart
  is_running
  do_first_touch 3
  wait_for 60 is note "Entered for zoe"
  if [ "$pass" != 3 ]; then
    step_has "Pass: $pass of 3 in a row" || fail "$(field step)"
  fi
done
step_has "Step passed: First touch, level 1. Unlocked: Nearer touch, level 2." || fail "$(field step)"
picture passed_step
expect_attempts 6
lab course zoe --curriculum "$out/course.toml" | grep -q "First touch .*passed  3 of 3 in a row" || fail "trocar lab course differs"

# The program is killed in mid-attempt at the next level.
click "Next step"
is_running
wait_for 60 at_least frames 40
sleep 1
kill -KILL "$program"
wait "$program" 2>/dev/null || true
start_program
wait_for 60 is screen start
for _ in $(seq 100); do
  [ -z "$(ls "$XDG_DATA_HOME/trocar/waiting" 2>/dev/null)" ] && break
  sleep 0.1
done
expect_attempts 7
lab show zoe --level 2 | grep -q unknown || fail "the killed attempt is missing"

# A demonstration counts for no person. The person is chosen among the known ones.
click "Known people"
click "person zoe"
wait_for 20 step_has "1 of 2 steps passed. Next: Nearer touch, level 2"
click "step first"
picture curriculum
click Mode
click "Expert demonstration"
click Start
wait_for 120 is phase ready
key Return
wait_for 300 is phase measured
is note "" || fail "the demonstration was entered: $(field note)"
is step "" || fail "the demonstration counts: $(field step)"

# The window is closed in mid-attempt. The pointer returns to the pixel of "Start" where it was captured.
click "Start screen"
wait_for 20 is screen start
click Mode
click Practice
click "step first"
click Start
is_running
wait_for 60 at_least frames 20
end_program
[ -z "$(ls "$XDG_DATA_HOME/trocar/waiting" 2>/dev/null)" ] || fail "the attempt of the closed window waits"
expect_attempts 8

# Another trainee, at the laboratory's PostgreSQL server, which gets what the station has; it stops in mid-attempt.
# Where PostgreSQL is missing, no server answers at all.
if make_postgres; then
  lab backup -o "$out/zoe.sqlite" >/dev/null
  # shellcheck disable=SC2154 # make_postgres sets it
  address=$postgres_address
  lab restore "$out/zoe.sqlite" >/dev/null
  expect_attempts 8
  options+=(--database "$address")
  start_program
  wait_for 60 is screen start
  log_in li
else
  echo "PostgreSQL 15 is missing: with SQLite only"
  options+=(--database postgresql://user@127.0.0.1:1/none --person li)
  start_program
  wait_for 60 is screen start
  click Person
  key Return
fi
wait_for 20 has_place "step first"
click "step first"
click Start
is_running
[ -z "$address" ] || stop_postgres
do_first_touch 3
wait_for 60 note_has "Kept for li at this station, 1 waiting"
note_has "does not answer" || fail "$(field note)"
wait_for 60 step_has "Pass: 1 of 3 in a row"
picture waiting
if [ -n "$address" ]; then
  start_postgres
  for pass in 2 3; do
    click Restart
    is_running
    do_first_touch 3
    wait_for 60 is note "Entered for li"
  done
  step_has "Step passed: First touch, level 1. Unlocked: Nearer touch, level 2." || fail "$(field step)"
  expect_attempts 11
  click "Start screen"
  wait_for 20 is screen start
else
  end_program
  expect_attempts 9
  options=(--quality low)
  start_program
  wait_for 60 is screen start
fi

# The instructor compares the two.
click "People..."
wait_for 20 is screen library
wait_for 20 at_least frames 1
picture library
click zoe
click "Pick li"
click Task
click "First touch"
wait_for 20 is phase comparing
click "Attempt 1"
picture compared
click "Comment..."
click "Your id"
xdotool type --delay 60 anna
click "Comment text"
xdotool type --delay 60 "Slower at the turn."
click Add
wait_for 20 is note "The comment is kept with the attempt."
picture comment
click Close
click "Day..."
wait_for 20 is screen day
wait_for 20 is phase listing
picture day
click "day of zoe"
wait_for 20 is screen library
wait_for 20 at_least frames 1
click Task
click "First touch"
wait_for 20 is phase comparing
click "Attempt 1"
click Replay
wait_for 120 is screen replay
key Escape
wait_for 20 is screen library
key Escape
wait_for 20 is screen start
end_program
remove_postgres
trap - EXIT
echo "first login, failed and passed step, next level, kill, demonstration, server down, comparison: passed"
