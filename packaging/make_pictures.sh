#!/usr/bin/env bash
# Makes the pictures of the operation from one recording: of each step (data/scenes/procedures/pictures), the contact sheet and
# the moving picture of the documents (docs/pictures/cholecystectomy.png, .webp), and the small one of the start screen. Needs
# OpenGL and ImageMagick.
#   packaging/make_pictures.sh TROCAR [RECORDING.h5]     without a recording: the scripted expert performs it first
set -euo pipefail

trocar=$(realpath "$1")
recording=${2:-}
[ -z "$recording" ] || recording=$(realpath "$recording")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$recording" ]; then
  recording=$work/operation.h5
  "$trocar" perform data/scenes/procedures/cholecystectomy.toml --as expert --seed 1 --backend scan -o "$recording"
fi

# The second at which each step is done, in the order of the scene.
"$trocar" score "$recording" --json "$work/score.json" >/dev/null
titles=(retract_fundus "retract the fundus" retract_infundibulum "retract the infundibulum"
  clear_triangle "clear the hepatocystic triangle" free_lower_third "free the lower third of the bed"
  clip_and_divide "clip and divide duct and artery" dissect_bed "dissect the gallbladder from its bed"
  take_out "take the gallbladder out of the field")
second_of() {
  python3 - "$work/score.json" "done: $1" <<'PYTHON'
import json, sys
[attempt] = json.load(open(sys.argv[1]))["attempts"]
print(next(e["time"] for e in attempt["task"]["events"] if e["text"] == sys.argv[2]))
PYTHON
}
# Draws one picture of a second: WIDTH HEIGHT SECOND FILE.
still() {
  rm -rf "$work/one"
  "$trocar" export picture "$recording" --from "$3" --to "$3" --width "$1" --height "$2" -o "$work/one" >/dev/null
  mv "$work"/one/*.png "$4"
}

last=0
sheet=()
for ((k = 0; k < ${#titles[@]}; k += 2)); do
  last=$(second_of "${titles[k + 1]}")
  at=$(awk "BEGIN { print ($last > 1) ? $last - 0.5 : 0 }")
  still 640 480 "$at" "$work/step.png"
  convert "$work/step.png" -filter Box -resize 320x240 -strip "data/scenes/procedures/pictures/${titles[k]}.png"
  still 868 652 "$at" "$work/${titles[k]}.png"
  [ "$k" -lt 2 ] || sheet+=("$work/${titles[k]}.png")
  echo "${titles[k]}: $at s"
done
montage "${sheet[@]}" -filter Box -resize 434x326 -tile 3x2 -geometry +1+1 -depth 8 +dither -colors 256 -strip \
  docs/pictures/cholecystectomy.png

# 45 pictures at equal distances, five a second.
"$trocar" export picture "$recording" --from 1 --to "$last" --every "$(awk "BEGIN { print $last / 45 }")" \
  --width 400 --height 400 -o "$work/film" >/dev/null
convert -delay 20 -loop 0 "$work"/film/*.png -quality 60 docs/pictures/cholecystectomy.webp
ls -l docs/pictures/cholecystectomy.png docs/pictures/cholecystectomy.webp
packaging/make_thumbnails.sh "$trocar" data/scenes/procedures/cholecystectomy.toml
