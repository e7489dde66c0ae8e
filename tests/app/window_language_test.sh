#!/usr/bin/env bash
# Shows every screen of a trainee in a language made for this test (window_driver.sh): each text of the catalogue in
# brackets, its places kept. A text without brackets is not in the catalogue. Then a language that does not exist, and a
# damaged catalogue: both show English.
#   window_language_test.sh TROCAR DATA OUT     Pictures stay. Exit status 77: skipped.
set -euo pipefail

# shellcheck source=tests/app/window_driver.sh
. "$(dirname "$0")/window_driver.sh"
under_display "$@"

# The catalogue: [Start], [hold target {} of {}].
mkdir -p "$TROCAR_DATA/po"
ln -sf "$(realpath "$data/curricula")" "$TROCAR_DATA/curricula"
/usr/bin/python3 - "$(realpath "$data/po/en.po")" "$TROCAR_DATA/po/xx.po" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read().replace('X-Language-Name: English', 'X-Language-Name: Brackets')
head, rest = text.split('\n\n', 1)
rest = re.sub(r'^(msgstr(?:\[\d\])?) "(.*)"$', r'\1 "[\2]"', rest, flags=re.M)
# The task of this test.
for own in ('First touch', 'Push the grasper in until it touches the liver, and stay there for a moment.'):
    rest += f'\nmsgid "{own}"\nmsgstr "[{own}]"\n'
open(sys.argv[2], 'w').write(head + '\n\n' + rest)
PYTHON
options=(--quality low)
language=xx

# look NAME: a picture; every word of it is of the catalogue, or of the user, or a name of Trocar's.
look() {
  picture "$1"
  /usr/bin/python3 - "$state" "$1" "$out" <<'PYTHON' || fail "texts that are not in the catalogue: $1"
import json, re, sys
state, name, out = sys.argv[1:]
shown = json.load(open(state))
# Names, formats of numbers, units, keys and what the user has typed or chosen.
own = re.compile(r'^(Trocar|zoe|xx|Brackets|English|auto|mouse|gamepad|spacemouse|igtl|haptic|script|trajectory|none)$')
bad = []
for text in sorted(set(shown['words'])):
    left = text.replace(out, '')
    while re.search(r'\[[^\[\]]*\]', left):
        left = re.sub(r'\[[^\[\]]*\]', '', left)
    left = re.sub(r'\b\S*\.(h5|toml|png|mp4|html)\b|\b(mm|cm|ml|kPa|ms|deg|Hz|GB|MB|UTC)\b|\b[A-Z]\b|zoe', '', left)
    if re.search(r'[^\W\d_]{2,}', left) and not own.match(text.strip()):
        bad.append(text)
for text in bad:
    print(f'{name}: {text}', file=sys.stderr)
sys.exit(1 if bad else 0)
PYTHON
}
trap 'kill "$program" 2>/dev/null || true' EXIT
mkdir -p "$XDG_CONFIG_HOME/trocar"
printf '[last]\nscene = "%s"\n' "$TROCAR_DATA/scenes/tasks/first_touch.toml" >"$XDG_CONFIG_HOME/trocar/window.toml"
export LANGUAGE=$language LC_ALL=C
start_program
wait_for 60 is screen start
look start
click Settings
for topic in Picture "Hands and camera" "Sound and overlays"; do
  click "$topic"
  look "settings-${topic%% *}"
done
key F2
click Help
for topic in Tasks Scope Scoring Keys; do
  click "$topic"
  look "help-$topic"
done
key F1
click Curriculum
look curriculum
click Scenes
click "First lesson"
wait_for 120 is screen practice
wait_for 60 is phase running
look lesson
key Escape
wait_for 20 is phase paused
look lesson-paused
click "Start screen"
wait_for 20 is screen start
click Person
xdotool type --delay 60 zoe
key Return
wait_for 20 step_has "[Navigate"
click Scenes
click "First touch"
look logged-in
click Start
wait_for 120 is phase ready
look ready
is_running
wait_for 60 at_least frames 20
look practice
do_first_touch 3
wait_for 60 note_has zoe
look results
click "All measures"
look all-measures
look_at_replay_and_recordings
click "People..."
wait_for 20 is screen library
wait_for 20 at_least frames 1
look people
click "Day..."
wait_for 20 is screen day
wait_for 20 is phase listing
look day
end_program
# What other programs read is in no language.
! grep -q '\[' <("$trocar" score "$out"/zoe-*.h5) || fail "a command speaks the language of the window"
[ -z "$(/usr/bin/python3 - "$XDG_DATA_HOME/trocar/lab.sqlite" <<'PYTHON'
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute('SELECT * FROM attempt'):
    if any(isinstance(cell, str) and cell.startswith('[') for cell in row):
        print(row)
PYTHON
)" ] || fail "the database has texts of the language"

# A missing catalogue is English, a damaged one too, and says why.
LANGUAGE=yy start_program
wait_for 60 is screen start
/usr/bin/python3 -c 'import json, sys; words = json.load(open(sys.argv[1]))["words"]; sys.exit("Start" not in words)' "$state" ||
  fail "a missing catalogue is not English"
end_program
echo 'msgid' >"$TROCAR_DATA/po/yy.po"
LANGUAGE=yy start_program
wait_for 60 is screen start
note_has "yy.po:1: " || fail "a damaged catalogue is not named: $(field note)"
end_program
# The settings win over the environment.
printf 'language = "en"\n[last]\nscene = "%s"\n' "$TROCAR_DATA/scenes/tasks/first_touch.toml" >"$XDG_CONFIG_HOME/trocar/window.toml"
start_program
wait_for 60 is screen start
/usr/bin/python3 -c 'import json, sys; words = json.load(open(sys.argv[1]))["words"]; sys.exit("Start" not in words)' "$state" ||
  fail "the language of the settings is not shown"
end_program
trap - EXIT
echo "every text of a trainee's screens is in the catalogue: passed"
