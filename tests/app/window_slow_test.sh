#!/usr/bin/env bash
# In a real window (window_driver.sh): an operation on a machine that is slowed to a third is kept as practice, said during
# the attempt and after it; and an artery that is cut without clips bleeds on: the attempt ends by its consequence, the
# results begin with the error, and no part counts as if it had been reached. The program is slowed by a cgroup, or where
# that cannot be made, by stopping it for two thirds of the time.
#   window_slow_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

# The cystic artery lies between the open blades from the start.
{
  sed -e '/^name = "scissors"/,/^tip_mm/s/^tip_mm = .*/tip_mm = [-29.9, 84.2, 117]/' \
    -e 's/^most_force_n = .*/most_force_n = 20/' "$data/scenes/tasks/clip_and_cut.toml"
} >"$TROCAR_DATA/scenes/tasks/clip_and_cut.toml"
grep -q '^tip_mm = \[-29.9' "$TROCAR_DATA/scenes/tasks/clip_and_cut.toml" || fail "the scene differs from what this test expects"
cat >"$out/course.toml" <<'TOML'
title = "Two steps"
[[step]]
name = "operation"
title = "Remove the gallbladder"
scene = "data/scenes/procedures/cholecystectomy.toml"
least_score = 85
[[step]]
name = "clips"
title = "Clip and cut"
scene = "data/scenes/tasks/clip_and_cut.toml"
least_score = 85
TOML
options=(--quality low --curriculum "$out/course.toml" --person zoe)

says() { field words | grep -qF "$1"; }
group=/sys/fs/cgroup/cpu/trocar_$$
# Allows the program a third of a processor.
slow_down() {
  if mkdir "$group" 2>/dev/null && echo 33000 >"$group/cpu.cfs_quota_us" && echo "$program" >"$group/cgroup.procs"; then
    return
  fi
  group=
  while kill -STOP "$program" 2>/dev/null; do
    sleep 0.2
    kill -CONT "$program" 2>/dev/null
    sleep 0.1
  done &
  brake=$!
}
speed_up() {
  if [ -n "$group" ]; then
    echo -1 >"$group/cpu.cfs_quota_us"
  else
    kill "$brake"
    kill -CONT "$program"
  fi
}
leave() {
  kill "$program" ${brake:+"$brake"} 2>/dev/null || true
  sleep 0.5
  [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
}

start_program
trap leave EXIT
wait_for 60 is screen start
click Add
click "step operation"
click Start
wait_for 300 is phase ready
key Return
wait_for 60 is phase running
slow_down
wait_for 300 says "The machine is too slow: this is practice and does not count."
picture slow
speed_up
key Escape
wait_for 60 is phase paused
click Finish
wait_for 300 is phase measured
step_has "The machine was too slow: the attempt is practice and does not count." || fail "$(field step)"
says "This attempt is practice and does not count." || fail "the results do not say that the attempt is practice"
picture kept_as_practice

click "Start screen"
wait_for 60 is screen start
click "step clips"
click Start
wait_for 120 is phase ready
key Return
wait_for 60 is phase running
until is in_hand scissors; do key Tab; done
# Scissors are closed while the button is held. Where nothing lay between the blades, the tip is drawn back a notch, then put
# in again.
for try in $(seq 12); do
  xdotool mousedown 1
  for _ in $(seq 10); do
    await_frames
    says bleeds && break
  done
  xdotool mouseup 1
  says bleeds && break
  await_frames
  xdotool click $((4 + try % 2))
  await_frames
done
says bleeds || fail "the scissors cut no artery"
picture bleeds
before=$(field frames)
# The artery bleeds until too much blood is lost: nothing is done about it.
wait_for 600 is screen results
wait_for 120 is phase measured
picture consequence
says "ritical" || fail "the results do not name the critical error"
says "counts more than" || fail "parts count as if they had been reached"
echo "slowed operation kept as practice; an error played to its consequence, after frame $before: passed"
