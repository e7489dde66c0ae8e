#!/usr/bin/env bash
# Runs the trainer from start screen to report in a real window, with synthetic mouse and keyboard (xdotool) under a
# virtual display: selects a task, moves the scope and an instrument, touches the target to finish the task; results,
# report, replay; an expert demonstration; edits a scene, saves it and practises in it. Nothing is timed: every step
# waits until the window's --state file shows that it is done. Gamepads need /dev/uinput and are tested with an injected
# source in gamepad_device_test.cpp.
#   window_path_test.sh TROCAR DATA OUT [WIDTH HEIGHT [OPTION...]]   options go to `trocar run`
# Pictures of every step stay in OUT. Exit status 77: skipped.
set -euo pipefail

if [ -z "${TROCAR_PATH_DISPLAY:-}" ]; then
  for tool in Xvfb xdotool import /usr/bin/python3; do
    command -v "$tool" >/dev/null || { echo "$tool is missing: not tried"; exit 77; }
  done
  TROCAR_PATH_DISPLAY=1 exec "$(dirname "$0")/../support/with_display.sh" 3840x2160 "$0" "$@"
fi

trocar=$1 data=$2 out=$3 width=${4:-1280} height=${5:-720}
shift $(($# < 5 ? $# : 5))
options=("$@")
state=$out/state.json
rm -rf "$out"
mkdir -p "$out"

fail() {
  echo "FAILED: $*" >&2
  echo "state: $(cat "$state" 2>/dev/null)" >&2
  import -window root -crop "${width}x${height}+0+0" +repage "$out/failed.png" || true
  exit 1
}
# A field of the state file; "" when there is none. Positions are written as "x y". One reader answers all questions.
coproc reader { exec /usr/bin/python3 -c '
import json, sys
for question in sys.stdin:
    try:
        value = json.load(open(sys.argv[1]))
    except (OSError, ValueError):
        value = {}
    for key in question.rstrip("\n").split("\t"):
        value = value.get(key, "") if isinstance(value, dict) else ""
    print(*value if isinstance(value, list) else [value], flush=True)' "$state"; }
exec 7>&"${reader[1]}" 8<&"${reader[0]}"
field() {
  local answer IFS=$'\t'
  echo "$*" >&7
  read -r answer <&8
  echo "$answer"
}
# wait_for SECONDS CONDITION...: waits until the condition, a command, is true.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "timed out waiting for: $*"
    kill -0 "$program" 2>/dev/null || fail "the program has ended: $(cat "$out/log")"
    sleep 0.05
  done
}
is() { [ "$(field "$1")" = "$2" ]; }
has_place() { [ -n "$(field places "$1")" ]; }
at_least() { local now; now=$(field "$1"); [ -n "$now" ] && [ "$now" -ge "$2" ]; }
# Waits until the window shows the effect of the input: the state file has been rewritten since, and three more frames have been
# shown.
settle() {
  local now
  now=$(field shown)
  wait_for 60 at_least shown $((now + 1))
  now=$(field shown)
  wait_for 60 at_least shown $((now + 3))
}
point_at() { xdotool mousemove "$1" "$2"; settle; }
press() { xdotool mousedown 1; settle; xdotool mouseup 1; settle; }
click() {
  wait_for 60 has_place "$1"
  # shellcheck disable=SC2046
  point_at $(field places "$1")
  press
}
key() { xdotool keydown "$1"; settle; xdotool keyup "$1"; settle; }
picture() { settle; import -window root -crop "${width}x${height}+0+0" +repage "$out/$1.png"; [ -s "$out/$1.png" ] || fail "no picture $1"; }
# Shrinks the window to its minimum and restores it: the program must not draw into a picture without pixels, and its
# screen must not change.
shrink() {
  local window before
  window=$(xdotool search --onlyvisible --pid "$program" | head -n 1)
  before=$(field screen)
  for size in "1 1" "$width 1" "1 $height" "$width $height"; do
    # shellcheck disable=SC2086
    xdotool windowsize "$window" $size
    settle
  done
  is screen "$before" || fail "the screen changed with the window's size"
}
start_program() {
  rm -f "$state"
  "$trocar" run --folder "$out" --state "$state" --width "$width" --height "$height" ${options[@]+"${options[@]}"} >"$out/log" 2>&1 &
  program=$!
  wait_for 60 test -s "$state"
}

# Starts with the program's own scenes and an easy task: the grasper only has to be inserted.
export TROCAR_DATA=$out/data
mkdir -p "$TROCAR_DATA/scenes/tasks"
ln -s "$(realpath "$data/organs")" "$TROCAR_DATA/organs"
cp -r "$data"/scenes/. "$TROCAR_DATA/scenes/"
{
  sed -e 's/^title = .*/title = "First touch"/' -e 's/^tip_mm = \[-60, 75, 178\]/tip_mm = [-67, 45, 195.4]/' \
    -e 's,"../organs,"../../organs,' "$data/scenes/liver_and_stomach.toml"
  cat <<'TOML'
[task]
kind = "touch-targets"
title = "First touch"
instructions = "Push the grasper in until it touches the liver, and stay there for a moment."
instrument = "grasper"
tolerance_mm = 25
hold_s = 0.2
most_force_n = 20
time_good_s = 600
time_limit_s = 3600
[[task.place]]
organ = "liver"
at_mm = [-60, 75, 178]
TOML
} >"$TROCAR_DATA/scenes/tasks/first_touch.toml"
grep -q '^tip_mm = \[-67' "$TROCAR_DATA/scenes/tasks/first_touch.toml" || fail "the scene differs from what this test expects"

start_program
trap 'kill "$program" 2>/dev/null || true' EXIT
wait_for 60 is screen start

# Keyboard and mouse both select.
first=$(field file)
key Down
[ "$(field file)" != "$first" ] || fail "the keyboard does not select a scene"
key F1
picture help
key F1
click "First touch"
picture start
shrink

# Moves the scope, then the grasper, until the task is finished.
click Start
wait_for 120 is phase ready
key F2
picture settings
key F2
picture ready
key Return
wait_for 60 is phase running
key h
key l
is in_hand grasper || fail "the grasper is not in the hand"
until is in_hand scope; do key Tab; done
for dx in 12 -12; do
  for _ in $(seq 5); do
    xdotool mousemove_relative -- $dx 0
    settle
  done
done
key Escape
wait_for 20 is phase paused
picture paused
shrink
is phase paused || fail "no longer paused"
key Escape
wait_for 20 is phase running
until is in_hand grasper; do key Tab; done
for _ in 1 2 3; do
  xdotool mousemove_relative -- 4 -3
  settle
done
for _ in $(seq 60); do
  xdotool click 4
  settle
  at_least touched 1 && [ ! -s "$out/practice.png" ] && picture practice
  is screen practice || break
done
wait_for 120 is phase measured
is note "" || fail "$(field note)"
recording=$(field file)
[ -s "$recording" ] || fail "no recording"
/usr/bin/python3 - "$recording" <<'PYTHON' || fail "the recording does not contain the attempt"
import sys, h5py, numpy
f = h5py.File(sys.argv[1], "r")
length = lambda rows: numpy.linalg.norm(numpy.diff(rows, axis=0), axis=-1).sum(axis=0)
tips = length(f["session/tool_tip"][:])
scope = length(f["session/scope"][:, 3:6])
touched = sum(len(f[f"organs/{k}/touch_face"]) for k in f["organs"])
print(f"tips moved {tips * 1e3} mm, the scope {scope * 1e3:.1f} mm, {touched} faces were touched")
sys.exit(0 if tips.max() > 0.01 and touched > 0 and scope > 0.002 else 1)
PYTHON
"$trocar" score "$recording" --json "$out/score.json" >/dev/null
/usr/bin/python3 -c '
import json, sys
attempt = json.load(open(sys.argv[1]))["attempts"][0]
assert attempt["task"]["finished"], attempt["task"]' "$out/score.json" || fail "the task was not finished"
picture results
shrink

# Opens the report, and the replay of the attempt.
click Report
report=${recording%.h5}.html
wait_for 120 test -s "$report"
grep -q "</html>" "$report" || fail "the report is incomplete"
click Replay
wait_for 120 is screen replay
key space
wait_for 60 at_least frames 5
key space
# shellcheck disable=SC2046
point_at $(field places timeline)
press
at_least frames 6 || fail "the scrub bar does not scrub"
frame=$(field frames)
key Right
is frames $((frame + 1)) || fail "no step by a frame"
picture replay
shrink
key Escape
wait_for 20 is screen results
click "Start screen"
wait_for 20 is screen start

[ "$(basename "$(field file)")" = first_touch.toml ] || fail "the start screen has lost the selection"

# A scripted expert demonstrates the task.
click "Mode"
click "Expert demonstration"
click Start
wait_for 120 is phase ready
key Return
wait_for 300 is phase measured
"$trocar" score "$(field file)" --json "$out/expert.json" >/dev/null
/usr/bin/python3 -c '
import json, sys
task = json.load(open(sys.argv[1]))["attempts"][0]["task"]
assert task["finished"] and task["score"] > 80, task' "$out/expert.json" || fail "the expert did not finish well"
picture expert
click "Start screen"
wait_for 20 is screen start

# Edits a scene: adds a target and a zone, saves it and practises in it.
click "Liver and stomach"
click "Edit scene"
wait_for 120 is screen editor
click "Add target"
point_at $((width * 44 / 100)) $((height * 42 / 100))
press
wait_for 20 has_place "1 on the liver"
picture editor
shrink
click "Add zone"
wait_for 20 is phase scope
settle
for corner in "45 45" "55 45" "52 60"; do
  read -r x y <<<"$corner"
  point_at $((width * x / 100)) $((height * y / 100))
  press
done
key Return
wait_for 20 has_place "zone 1, 3 corners"
picture editor_zone
click "Save and practise"
wait_for 120 is phase ready
edited=$out/liver_and_stomach-edited.toml
grep -q '^\[\[task.zone\]\]' "$edited" || fail "the edited scene was not saved"
click Back
wait_for 20 is screen start
# shellcheck disable=SC2046
point_at $(field places Quit)
xdotool mousedown 1
sleep 1
xdotool mouseup 1
wait "$program" || fail "the program failed: $(cat "$out/log")"
trap - EXIT
# On a slow machine it tells the progress of a report.
if grep -vE "^[a-z ]+: [0-9]+ % \\(" "$out/log" >"$out/said"; then fail "the program said: $(cat "$out/said")"; fi
echo "from start screen to report, replay and editor: passed"
