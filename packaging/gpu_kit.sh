#!/usr/bin/env bash
# Makes the GPU kit, a folder that measures the touch query on another machine (docs/gpu-kit.md):
#   packaging/gpu_kit.sh BUILD_FOLDER OUT [MESH TRAJECTORY]      (./run gpu-kit)
# With a mesh and a trajectory, the recorded motion is theirs; otherwise it is the demonstration's over the liver.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: packaging/gpu_kit.sh BUILD_FOLDER OUT [MESH TRAJECTORY]}
out=${2:?usage: packaging/gpu_kit.sh BUILD_FOLDER OUT [MESH TRAJECTORY]}
mesh=${3:-data/organs/liver.obj}
trajectory=${4:-}
[ ! -e "$out" ] || { echo "$out exists; name a new folder or remove it" >&2; exit 2; }
for file in "$mesh" ${trajectory:+"$trajectory"}; do
  [ -f "$file" ] || { echo "$file: no such file; name an organ and a trajectory" >&2; exit 2; }
done

mkdir -p "$out/data/organs"
cp data/organs/liver.obj data/organs/stomach.obj "$out/data/organs/"
recorded=recorded.${mesh##*.}
cp "$mesh" "$out/data/$recorded"
if [ -n "$trajectory" ]; then
  cp "$trajectory" "$out/data/recorded.csv"
else
  session=$(mktemp -d)
  trap 'rm -rf "$session"' EXIT
  "$build/app/trocar" demo --headless --frames 240 --out "$session" >"$session/log" 2>&1 || { cat "$session/log" >&2; exit 1; }
  "$build/app/trocar" export "$session/session.h5" --csv "$session/tables" >/dev/null
  # The first instrument of the table of all instruments.
  awk -F, -v OFS=, 'NR == 1 {print "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z"; next}
    NR == 2 {first = $3} $3 == first {print $2, $4, $5, $6, $7, $8, $9}' "$session/tables/tools.csv" >"$out/data/recorded.csv"
fi

cat >"$out/measure" <<MEASURE
#!/bin/sh
# measure [options]: measures the touch query on this machine; writes measured/measure.json and measured/measure.md.
here=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$here/run" trocar_measure --mesh "\$here/data/$recorded" --trajectory "\$here/data/recorded.csv" "\$@"
MEASURE
chmod 755 "$out/measure"
cp LICENSE "$out/"
cp docs/gpu-kit.md "$out/README.md"
packaging/portable.sh "$out" "$build/bench/gpu_kit/trocar_measure"

if linked=$(find "$out/lib" -name 'libvtk*' -o -name 'libhdf5*' | grep .); then
  echo "the measuring program must need neither VTK nor HDF5, but links $linked" >&2
  exit 1
fi
most=$((60 * 1024 * 1024))
size=$(du -sb "$out" | cut -f 1)
[ "$size" -le "$most" ] || { echo "$out has $size bytes, more than the 60 MiB of a kit" >&2; exit 1; }
