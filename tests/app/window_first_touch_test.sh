#!/usr/bin/env bash
# The shortest path through a real window (window_driver.sh): a person logs in, performs a task with mouse and keyboard, gets a
# score that is entered in the station's database, and looks at the replay.
#   window_first_touch_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"
options=(--quality low --person zoe)
start_program
trap 'kill "$program" 2>/dev/null || true' EXIT
wait_for 60 is screen start
click "First touch"
click Start
is_running
do_first_touch 4
wait_for 60 is note "Entered for zoe"
picture results
click Replay
wait_for 120 is screen replay
key Escape
wait_for 20 is phase measured
end_program
trap - EXIT
"$trocar" lab show zoe | grep -q first_touch || fail "the attempt is not in the database"
echo "start, task, score, database, replay: passed"
