#!/usr/bin/env bash
# A new trainee's first quarter of an hour in a real window (window_driver.sh): the first lesson, exercise by exercise,
# with mouse and keys; then a person is made by the button, and the first step of a curriculum is passed. Nothing is
# recorded in the lesson, and it is offered once.
#   window_lesson_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

cat >"$out/course.toml" <<'TOML'
title = "One step"
[[step]]
name = "first"
title = "First touch"
scene = "data/scenes/tasks/first_touch.toml"
least_score = 50
in_a_row = 1
TOML
options=(--quality low --curriculum "$out/course.toml")

# until_exercise NAME COMMAND...: repeats the command until the lesson has reached the exercise.
until_exercise() {
  local name=$1
  shift
  for _ in $(seq 80); do
    is step "$name" && return
    "$@"
    await_frames
  done
  fail "the lesson does not reach: $name"
}
swing() { xdotool mousemove_relative -- 40 0; await_frames; xdotool mousemove_relative -- -40 0; }
insert() { xdotool click --repeat 2 --delay 20 4; }
until_touched() {
  for _ in $(seq 60); do
    at_least touched 1 && return
    xdotool click 4
    await_frames
  done
  fail "nothing is touched"
}
deeper_and_wait() { at_least touched 1 || xdotool click 4; }
held_key() { xdotool keydown "$1"; await_frames; await_frames; xdotool keyup "$1"; }
# Closes the jaws; where they hold nothing, opens them and goes deeper, or draws back from where the tip is too deep.
tried=0
grip() {
  xdotool click 1
  for _ in $(seq 12); do
    await_frames
    is step "Let go" && return
  done
  xdotool click 1
  await_frames
  tried=$((tried + 1))
  if [ $((tried % 8)) -lt 3 ]; then xdotool click 4; else xdotool click 5; fi
}
burn() {
  xdotool keydown e
  for _ in $(seq 20); do
    await_frames
    is step Look && break
  done
  xdotool keyup e
  is step Look || xdotool click 4
}
look() { xdotool mousedown 3; await_frames; xdotool mousemove_relative -- 30 10; await_frames; xdotool mouseup 3; }

start_program
trap 'kill "$program" 2>/dev/null || true' EXIT
wait_for 60 is screen start
picture offered
click "Begin the lesson"
wait_for 120 is step Move
picture move
until_exercise "Go deeper" swing
until_exercise Touch insert
until_touched
until_exercise Roll deeper_and_wait
until_exercise Grip held_key q
until_touched
until_exercise "Let go" grip
picture grip
until_exercise Burn xdotool click 1
key 2
is in_hand hook || fail "the key 2 does not take the hook"
until_touched
until_exercise Look burn
picture burn
until_exercise Pause look
key Escape
wait_for 20 is phase paused
picture paused
key Escape
wait_for 20 is step "Well done"
picture done
key Return
wait_for 20 is screen start
[ -z "$(ls "$out"/*.h5 2>/dev/null)" ] || fail "the lesson was recorded"
has_place "Begin the lesson" && fail "the lesson is offered again"
has_place "First lesson" || fail "the lesson is not to be had"

# A person, and the first level.
click Person
xdotool type --delay 60 zoe
await_frames
click Add
wait_for 20 step_has "0 of 1 steps passed. Next: First touch, level 1"
click "step first"
click Start
is_running
do_first_touch 3
wait_for 60 is note "Entered for zoe"
step_has "Step passed: First touch, level 1" || fail "$(field step)"
picture passed
echo "from the first lesson to a passed level: passed"
