#!/usr/bin/env bash
# Drives a real window (window_driver.sh) with keyboards of other countries, set with setxkbmap: shortcuts go by the
# label of the key, movement keys by their position, and the help shows the labels. Presses that are shorter than a
# picture count, at the position where the button went down: the program is stopped while they happen.
#   window_keys_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
command -v setxkbmap >/dev/null || { echo "setxkbmap is missing: not tried"; exit 77; }
under_display "$@"

options=(--quality low)
# Between two pictures: whatever the command does has happened before the program looks.
between_pictures() {
  kill -STOP "$program"
  "$@"
  sleep 0.2
  kill -CONT "$program"
  await_frames
}
is_listed() { "$trocar" lab list 2>/dev/null | grep -q "^$1 "; }
# rolls_of RECORDING: the least and the greatest roll of the grasper, degrees.
rolls_of() {
  /usr/bin/python3 -c '
import sys, h5py
roll = h5py.File(sys.argv[1], "r")["session/tool_roll_grip"][:, 0, 0]
print(round(float(roll.min())), round(float(roll.max())))' "$1"
}
# An edit is undone and redone by these keys.
undo_and_redo() {
  click "Liver and stomach"
  click "Edit scene"
  wait_for 120 is screen editor
  click "Add band"
  wait_for 20 has_place "band 1"
  key "$1"
  if has_place "band 1"; then fail "$2: Ctrl Z does not undo"; fi
  key "$3"
  wait_for 20 has_place "band 1"
  key "$1"
  key Escape
  key Escape
  wait_for 20 is screen start
}

trap 'kill -CONT "$program" 2>/dev/null || true; kill "$program" 2>/dev/null || true' EXIT
for layout in fr de "us dvorak"; do
  # shellcheck disable=SC2086
  setxkbmap $layout
  rm -rf "$out/settings"
  start_program
  wait_for 60 is screen start
  key F1
  picture "help_${layout// /_}"
  key F1
  undo_and_redo ctrl+z "$layout" ctrl+y
  click "First touch"
  click Start
  wait_for 120 is phase ready
  picture "ready_${layout// /_}"
  is_running
  until is in_hand grasper; do key Tab; done
  # The label X: xdotool looks for it in the layout.
  key x
  wait_for 20 is note "Expert's ghost: in time"
  # The positions of Q and W of a US keyboard, as codes of the X server.
  xdotool keydown 24
  await_frames
  await_frames
  xdotool keyup 24
  await_frames
  recording=$(field file)
  key Escape
  wait_for 20 is phase paused
  click Finish
  wait_for 120 is phase measured
  read -r least most <<<"$(rolls_of "$recording")"
  [ "$least" != "$most" ] || fail "$layout: the key at the position of Q does not roll the grasper"
  click "Start screen"
  wait_for 20 is screen start
  end_program
done
# A layout without Latin letters: positions stand for the labels.
setxkbmap ru
start_program
wait_for 60 is screen start
undo_and_redo "ctrl+Cyrillic_ya" ru "ctrl+Cyrillic_en"
key F1
picture help_ru
key F1

# Shorter than a picture.
setxkbmap us
click "First touch"
first=$(field file)
wait_for 20 has_place "Liver and stomach"
read -r x y <<<"$(field places "Liver and stomach")"
between_pictures xdotool mousemove "$x" "$y" mousedown 1 mouseup 1 mousemove 5 5
[ "$(field file)" != "$first" ] || fail "a short click is lost, or counts where the pointer went"
click Person
between_pictures xdotool key --delay 0 x y BackSpace z
key Return
await_frames
wait_for 20 is_listed xz
end_program

# By keys alone, also those of the numeric keypad, the grasper swings, and comes in until it touches the liver.
mkdir -p "$XDG_CONFIG_HOME/trocar"
echo 'hands = "keys"' >"$XDG_CONFIG_HOME/trocar/window.toml"
start_program
wait_for 60 is screen start
click "First touch"
click Start
wait_for 120 is phase ready
is_running
until is in_hand grasper; do key Tab; done
for moves in Right KP_4; do
  before=$(field tip_mm)
  xdotool keydown "$moves"
  await_frames
  await_frames
  xdotool keyup "$moves"
  await_frames
  [ "$(field tip_mm)" != "$before" ] || fail "the key $moves does not swing the grasper"
done
xdotool keydown Next
is_there() { at_least touched 1 || ! is screen practice; }
wait_for 60 is_there
xdotool keyup Next
end_program
trap - EXIT
echo "AZERTY, QWERTZ, Dvorak, Russian; short clicks and keys; keys alone: passed"
