#!/usr/bin/env bash
# Runs the trainer from start screen to report in a real window, with synthetic mouse and keyboard (xdotool) under a
# virtual display: selects a task, moves the scope and an instrument, touches the target to finish the task; results,
# report, replay; an expert demonstration; edits a scene, saves it and practises in it. Nothing is timed: every step
# waits until the window's --state file shows that it is done. Gamepads need /dev/uinput and are tested with an injected
# source in hand_device_test.cpp.
#   window_path_test.sh TROCAR DATA OUT [WIDTH HEIGHT [OPTION...]]   options go to `trocar run`
# Pictures of every step stay in OUT. Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

shift $(($# < 5 ? $# : 5))
options=("$@")
start_program
trap 'kill "$program" 2>/dev/null || true' EXIT
wait_for 60 is screen start

# Keyboard and mouse both select.
first=$(field file)
wait_for 60 at_least shown 10
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
# The expert shows the task first; that is no attempt and leaves no recording.
click "Show me"
wait_for 60 is phase running
picture shown
wait_for 300 is phase ready
[ -z "$(ls "$out"/*.h5 2>/dev/null)" ] || fail "the demonstration was recorded"
key Return
wait_for 60 is phase running
key h
key l
key x
is note "Expert's ghost: in time" || fail "X does not switch the ghost on"
is in_hand grasper || fail "the grasper is not in the hand"
until is in_hand scope; do key Tab; done
for dx in 12 -12; do
  for _ in $(seq 5); do
    xdotool mousemove_relative -- $dx 0
    await_frames
  done
done
key Escape
wait_for 20 is phase paused
picture paused
shrink
is phase paused || fail "no longer paused"
key Escape
wait_for 20 is phase running
do_first_touch 1
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
# A part of the score opens into the reason of its grade.
click "All measures"
click "why task_time"
wait_for 20 is note "why task_time"
picture results
shrink

# Opens the report, and the replay of the attempt.
click Report
report=${recording%.h5}.html
wait_for 120 test -s "$report"
grep -q "</html>" "$report" || fail "the report is incomplete"
# The film is made beside the window.
click Film
wait_for 60 film_has "Film: "
film=${recording%.h5}.mp4
wait_for 900 film_has "Film written to $film"
case "$(ffprobe -v error -show_entries stream=codec_name,pix_fmt -of csv=p=0 "$film")" in
  h264,yuv420p) ;;
  *) fail "the film is not H.264" ;;
esac
picture film
# An event opens the replay before its moment, paused; so does the next error, if there is one.
click "event 1"
wait_for 120 is screen replay
is phase paused || fail "the replay of an event is not paused"
wait_for 120 is note scored
at_least frames 1 || fail "the replay of an event begins at the start"
key n
picture event
key Escape
wait_for 20 is screen results
click Replay
wait_for 120 is screen replay
is frames 0 || fail "the replay does not begin at the start"
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

# A tracker that is missing is said before Start; what it sends is shown live, and Start uses it.
click "Devices..."
wait_for 20 is screen devices
click "Device"
click "Tracker (OpenIGTLink)"
click "Port"
key ctrl+a
xdotool type --delay 50 "1"
await_frames
key Return
wait_for 20 is note "No OpenIGTLink server answers at localhost:1; start the tracker's program, or change the address"
picture device_missing
click "Done"
wait_for 20 is screen start
wait_for 20 is note "grasper: No OpenIGTLink server answers at localhost:1; start the tracker's program, or change the address"
"$(dirname "$0")/igtl_sender.py" "$out/port" Probe -65 50 190 &
sender=$!
trap 'kill "$program" "$sender" 2>/dev/null || true' EXIT
wait_for 20 test -s "$out/port"
click "Devices..."
wait_for 20 is screen devices
click "Port"
key ctrl+a
xdotool type --delay 50 "$(cat "$out/port")"
await_frames
key Return
wait_for 20 is tip_mm "-65.0 50.0 190.0"
wait_for 20 at_least frames 20
picture device_live
click "Done"
wait_for 20 is screen start
wait_for 20 is note ""
click Start
wait_for 120 is phase ready
click Back
wait_for 20 is screen start
kill "$sender"
wait "$sender" || true

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
click "Add band"
wait_for 20 has_place "band 1"
key ctrl+z
if has_place "band 1"; then fail "the band was not undone"; fi
key ctrl+y
wait_for 20 has_place "band 1"
click "Open..."
wait_for 20 is phase open
wait_for 20 has_place "Open cut_band.toml"
key Escape
wait_for 20 is phase outside
click "Add zone"
wait_for 20 is phase scope
await_frames
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
grep -q '^\[\[band\]\]' "$edited" || fail "the band was not saved"
grep -q '^title = "Liver and stomach (edited)"' "$edited" || fail "the copy has no title of its own"
click Back
wait_for 20 is screen start
wait_for 20 has_place liver_and_stomach-edited
picture edited
grep -q "$edited" "$XDG_DATA_HOME/trocar/scenes.json" || fail "the next start will not list the edited scene"
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
