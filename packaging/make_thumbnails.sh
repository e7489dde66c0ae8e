#!/usr/bin/env bash
# Makes the small pictures of the start screen, data/thumbnails/NAME.png, from the program's scenes: 160 x 90 pixels, drawn at
# four times this size, with at most 96 colours, so that a file has a few kilobytes. Needs OpenGL and ImageMagick.
#   packaging/make_thumbnails.sh TROCAR [SCENE.toml...]     without scenes: all
set -euo pipefail

trocar=$1
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- data/scenes/*.toml data/scenes/tasks/*.toml data/scenes/procedures/*.toml
large=$(mktemp -d)
trap 'rm -rf "$large"' EXIT

# The time at which a scene shows what it is about.
moment() {
  case "$(basename "$1" .toml)" in
    burn_line | follow_curve | keep_out | navigate_camera | touch_targets) echo 3 ;;
    clear_triangle | clip_and_cut | control_bleeding | cut_band | dissect_bed | lift_gallbladder | retract_expose) echo 5 ;;
    cholecystectomy) echo 8 ;;
    *) echo 2 ;;
  esac
}
for scene in "$@"; do
  name=$(basename "$scene" .toml)
  "$trocar" export picture "$scene" --from "$(moment "$scene")" --width 640 --height 360 -o "$large" >/dev/null
  convert "$large/$name.png" -filter Box -resize 160x90 +dither -colors 96 -strip \
    -define png:compression-level=9 -define png:exclude-chunks=all "data/thumbnails/$name.png"
  echo "data/thumbnails/$name.png: $(stat -c %s "data/thumbnails/$name.png") bytes"
done
