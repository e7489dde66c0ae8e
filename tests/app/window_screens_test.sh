#!/usr/bin/env bash
# Opens every screen of the trainer in a real window (window_driver.sh), at three sizes and with large letters: takes a
# picture of each, to be looked at, and notes every word. Every control must lie inside the window, and a trainee reads
# no technical word.
#   window_screens_test.sh TROCAR DATA OUT     Pictures and OUT/words.txt stay. Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

options=(--quality low)
technical='backend|obb|opengl|llvmpipe|driver|sqlite|postgres|database|renderer|hdf5|\.toml|scan|kpa'
# look NAME [trainee]: a picture; of a screen for a trainee also its words.
look() {
  picture "$size-$1"
  /usr/bin/python3 - "$state" "$width" "$height" "$1" "${2:-}" "$technical" "$out/words.txt" <<'PYTHON' || fail "$size, $1"
import json, re, sys
state, width, height, name, trainee, technical, words = sys.argv[1:]
shown = json.load(open(state))
outside = {k: at for k, at in shown["places"].items() if not (0 <= at[0] < int(width) and 0 <= at[1] < int(height))}
bad = [w for w in shown["words"] if trainee and re.search(technical, w, re.I)]
with open(words, "a") as out:
    out.write("".join(f"{name}\t{w}\n" for w in shown["words"]))
for what, found in (("outside the window", outside), ("technical", bad)):
    if found:
        print(f"{what}: {found}", file=sys.stderr)
sys.exit(1 if outside or bad else 0)
PYTHON
}
trap 'kill "$program" 2>/dev/null || true' EXIT
for size in ${TROCAR_SCREEN_SIZES:-1280x720-150 1024x640 1280x720 1920x1080}; do
  width=${size%%x*} height=${size#*x} height=${height%-*}
  mkdir -p "$XDG_CONFIG_HOME/trocar"
  {
    [ "$size" = "${size%-150}" ] || echo 'letters = 1.5'
    printf '[last]\nscene = "%s"\n' "$TROCAR_DATA/scenes/tasks/first_touch.toml"
  } >"$XDG_CONFIG_HOME/trocar/window.toml"
  start_program
  wait_for 60 is screen start
  look start trainee
  click Settings
  for topic in Picture "Hands and camera" "Sound and overlays"; do
    click "$topic"
    look "settings-${topic%% *}" trainee
  done
  key F2
  click Help
  for topic in Tasks Scope Scoring Keys; do
    click "$topic"
    look "help-$topic" trainee
  done
  key F1
  click Curriculum
  look curriculum trainee
  click Scenes
  click "People..."
  wait_for 20 is screen library
  await_frames
  look people trainee
  click "Day..."
  wait_for 20 is screen day
  wait_for 20 is phase listing
  look day trainee
  click Back
  wait_for 20 is screen library
  key Escape
  wait_for 20 is screen start
  click "Devices..."
  wait_for 20 is screen devices
  look devices
  click Done
  wait_for 20 is screen start
  click Start
  wait_for 120 is phase ready
  look ready trainee
  is_running
  wait_for 60 at_least frames 20
  look practice trainee
  key Escape
  wait_for 20 is phase paused
  look paused trainee
  click Restart
  wait_for 20 is phase leaving
  look leaving trainee
  key Escape
  wait_for 20 is phase running
  key Escape
  wait_for 20 is phase paused
  click Finish
  wait_for 120 is phase measured
  look results trainee
  look_at_replay_and_recordings trainee
  click "Edit scene"
  wait_for 120 is screen editor
  look editor
  end_program
done
sort -u -o "$out/words.txt" "$out/words.txt"
echo "$(wc -l <"$out/words.txt") words and sentences on every screen, none technical: passed"
