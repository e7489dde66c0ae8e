# Functions of the tests that drive the window with synthetic mouse and keyboard (xdotool), to be sourced under a virtual
# display. Nothing is timed: every step waits until the window's --state file shows that it is done.
# A test may set `options` of `trocar run`; `program` is its process.
# shellcheck shell=bash disable=SC2154

# Starts the test again under a virtual display, or skips it; then makes an empty folder of the test with the task "First
# touch". Call it first, with the arguments of the test: TROCAR DATA OUT [WIDTH HEIGHT].
under_display() {
  if [ -z "${TROCAR_PATH_DISPLAY:-}" ]; then
    for tool in Xvfb xdotool import /usr/bin/python3; do
      command -v "$tool" >/dev/null || { echo "$tool is missing: not tried"; exit 77; }
    done
    TROCAR_PATH_DISPLAY=1 exec "$(dirname "$0")/../support/with_display.sh" 3840x2160 "$0" "$@"
  fi
  trocar=$1 data=$2 out=$3 width=${4:-1280} height=${5:-720}
  state=$out/state.json
  rm -rf "$out"
  mkdir -p "$out"
  # What the program keeps of the user.
  export XDG_DATA_HOME=$out/home XDG_CONFIG_HOME=$out/settings XDG_CACHE_HOME=$out/cache
  read_state
  make_first_touch
}
fail() {
  echo "FAILED: $*" >&2
  echo "state: $(cat "$state" 2>/dev/null)" >&2
  import -window root -crop "${width}x${height}+0+0" +repage "$out/failed.png" || true
  exit 1
}
# One reader answers all questions about the state file. Call it before field().
read_state() {
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
}
# A field of the state file; "" when there is none. Positions are written as "x y".
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
# End of the program by a signal, as when its window is closed; it must end well, and soon.
end_program() {
  kill "$program"
  for _ in $(seq 200); do
    kill -0 "$program" 2>/dev/null || break
    sleep 0.1
  done
  ! kill -0 "$program" 2>/dev/null || fail "the program does not end"
  wait "$program" || fail "the program failed: $(cat "$out/log")"
}
is() { [ "$(field "$1")" = "$2" ]; }
has_place() { [ -n "$(field places "$1")" ]; }
step_has() { case "$(field step)" in *"$1"*) ;; *) return 1 ;; esac; }
film_has() { case "$(field film)" in *"$1"*) ;; *) return 1 ;; esac; }
note_has() { case "$(field note)" in *"$1"*) ;; *) return 1 ;; esac; }
at_least() { local now; now=$(field "$1"); [ -n "$now" ] && [ "$now" -ge "$2" ]; }
# Waits until the window shows the effect of the input: the state file has been rewritten since, and three more frames have been
# shown.
await_frames() {
  local now
  now=$(field shown)
  wait_for 60 at_least shown $((now + 1))
  now=$(field shown)
  wait_for 60 at_least shown $((now + 3))
}
point_at() { xdotool mousemove "$1" "$2"; await_frames; }
press() { xdotool mousedown 1; await_frames; xdotool mouseup 1; await_frames; }
click() {
  wait_for 60 has_place "$1"
  # shellcheck disable=SC2046
  point_at $(field places "$1")
  press
}
key() { xdotool keydown "$1"; await_frames; xdotool keyup "$1"; await_frames; }
picture() { await_frames; import -window root -crop "${width}x${height}+0+0" +repage "$out/$1.png"; [ -s "$out/$1.png" ] || fail "no picture $1"; }
# From the results: the replay, then the recordings of the start screen, each for the test's own look(), with these words.
look_at_replay_and_recordings() {
  click Replay
  wait_for 120 is screen replay
  look replay "$@"
  key Escape
  wait_for 20 is screen results
  click "Start screen"
  wait_for 20 is screen start
  click "Open recording..."
  await_frames
  look recordings "$@"
  click Cancel
}
# Shrinks the window to its minimum and restores it: the program must not draw into a picture without pixels, and its
# screen must not change.
shrink() {
  local window before
  window=$(xdotool search --onlyvisible --pid "$program" | head -n 1)
  before=$(field screen)
  for size in "1 1" "$width 1" "1 $height" "$width $height"; do
    # shellcheck disable=SC2086
    xdotool windowsize "$window" $size
    await_frames
  done
  is screen "$before" || fail "the screen changed with the window's size"
}
start_program() {
  rm -f "$state"
  "$trocar" run --folder "$out" --state "$state" --width "$width" --height "$height" ${options[@]+"${options[@]}"} >"$out/log" 2>&1 &
  program=$!
  wait_for 60 test -s "$state"
}

# Makes a data folder with the program's own scenes and an easy task: the grasper only has to be inserted.
make_first_touch() {
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
}

# Starts the attempt whose instructions are shown or being loaded.
is_running() {
  wait_for 120 is phase ready
  key Return
  wait_for 60 is phase running
}
# do_first_touch NOTCHES: inserts the grasper until the task "First touch" ends, by this number of wheel notches at a time.
do_first_touch() {
  until is in_hand grasper; do key Tab; done
  for _ in 1 2 3; do
    xdotool mousemove_relative -- 4 -3
    await_frames
  done
  for _ in $(seq 60); do
    xdotool click --repeat "$1" --delay 20 4
    await_frames
    at_least touched 1 && [ ! -s "$out/practice.png" ] && picture practice
    is screen practice || break
  done
  wait_for 120 is phase measured
}
