#!/usr/bin/env bash
# Drives what the window does with the disk (window_driver.sh): the start screen says how many minutes of the task there
# is room for; an attempt is packed when it has ended, and by the next start if the program was killed before; a disk that
# becomes full in mid-attempt leaves the results so far; an attempt that cannot be recorded does not begin.
#   window_disk_test.sh TROCAR DATA OUT [WIDTH HEIGHT]     Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

options=(--quality low --person zoe)
trap 'kill "$program" 2>/dev/null || true; umount "$out/disk" 2>/dev/null || true' EXIT

disk_has() { case "$(field room)" in *"$1"*) ;; *) return 1 ;; esac; }
# form_is FORM FILE: full, packed
form_is() {
  [ "$(/usr/bin/python3 -c '
import sys, h5py
with h5py.File(sys.argv[1], "r") as f: print(f.attrs.get("form", b"full").decode() if isinstance(f.attrs.get("form", b"full"), bytes) else f.attrs["form"])' "$2" 2>/dev/null)" = "$1" ]
}
begin_first_touch() {
  wait_for 60 is screen start
  click "First touch"
  wait_for 60 disk_has "Disk: space for "
  click Start
  wait_for 120 is phase ready
}

# The start screen says what there is room for; an attempt is packed when it has ended.
start_program
wait_for 60 is screen start
click "First touch"
wait_for 60 disk_has "minutes of this task"
picture start_disk
click Start
wait_for 120 is phase ready
key Return
wait_for 60 is phase running
do_first_touch 3
recording=$(field file)
wait_for 60 form_is packed "$recording"
[ "$(find "$out" -name '.trocar-packing-*' | wc -l)" = 0 ] || fail "packing left a file"
"$trocar" lab show zoe | grep -q "first_touch" || fail "the attempt is not entered"
click Replay
wait_for 120 is screen replay
key Escape
wait_for 20 is phase measured
end_program

# The program was killed before it had packed, and while it did.
"$trocar" file unpack "$recording" -o "$out/before.h5" >/dev/null
"$trocar" file unpack "$recording" -o "$out/while.h5" >/dev/null
head -c 300000 "$out/while.h5" >"$out/.trocar-packing-while.h5"
start_program
wait_for 60 is screen start
wait_for 60 form_is packed "$out/before.h5"
wait_for 60 form_is packed "$out/while.h5"
wait_for 60 test ! -e "$out/.trocar-packing-while.h5"
"$trocar" replay "$out/while.h5" | grep -q " 0 frames differ" || fail "the packed recording differs"
end_program

# A limit of the file size is a full disk: every write beyond it fails. What was recorded is shown.
full() { case "$(field note)" in *"could not be written"*) ;; *) return 1 ;; esac; }
rm -f "$state"
(ulimit -f 6000 && exec "$trocar" run --folder "$out" --state "$state" --width "$width" --height "$height" "${options[@]}" >"$out/log" 2>&1) &
program=$!
wait_for 60 test -s "$state"
begin_first_touch
key Return
wait_for 60 is phase running
wait_for 120 full
key Escape
wait_for 20 is phase paused
click Finish
wait_for 120 is phase measured
disk_has "the file could not be written (File too large)" || fail "the results do not say that the recording is cut short"
picture cut_short
[ "$(field file)" != "$recording" ] || fail "the wrong results"
end_program

# A disk with too little room for a minute.
mkdir -p "$out/disk"
if mount -t tmpfs -o size=200k none "$out/disk" 2>/dev/null; then
  rm -f "$state"
  "$trocar" run --folder "$out/disk" --state "$state" --width "$width" --height "$height" "${options[@]}" >"$out/log" 2>&1 &
  program=$!
  wait_for 60 test -s "$state"
  begin_first_touch
  wait_for 60 disk_has "no attempt can be recorded: remove files"
  picture no_room
  key Return
  is phase ready || fail "an attempt that cannot be recorded has begun"
  end_program
  umount "$out/disk"
else
  echo "no right to mount a small disk: not tried"
fi
trap - EXIT
echo "minutes on the start screen, packed at the end, packed at the next start, full disk, no room: passed"
