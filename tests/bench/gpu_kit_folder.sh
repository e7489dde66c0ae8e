#!/usr/bin/env bash
# gpu_kit_folder.sh BUILD_FOLDER: makes the GPU kit and runs it at small size, without the environment of the caller;
# then without a driver, with one in which a backend crashes, and with wrong arguments.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
kit=$folder/kit
packaging/gpu_kit.sh "$build" "$kit" | tee "$folder/made"
grep -q 'newest glibc symbol GLIBC_2\.[0-9]*$' "$folder/made"
if packaging/gpu_kit.sh "$build" "$kit" 2>/dev/null; then echo "an existing folder must be refused"; exit 1; fi

cd "$folder"
small=(--largest 2000 --frames 3 --motions 5)
env -i PATH=/usr/bin:/bin "$kit/measure" "${small[@]}"
/usr/bin/python3 - measured/measure.json measured/measure.md <<'CHECK'
import json, sys
results = json.load(open(sys.argv[1]))
page = open(sys.argv[2]).read()
assert results['failures'] == [], results['failures']
rows = results['agreement']
assert any(row['what'] == 'recorded motion' and row['touched'] > 0 for row in rows), rows
assert sum(row['disagreements'] for row in rows) == 0, rows
measured = {row['backend'] for row in results['sizes']}
assert {'scan', 'aabb-refit', 'obb-refit', 'obb'} <= measured, measured
for backend, verdict in results['doctor'].items():
    assert verdict.startswith(('works', 'not available')), verdict
    assert (backend in measured) == verdict.startswith('works'), (backend, measured)
assert page.startswith('# Trocar: ') and 'All together: 0 disagreements' in page
CHECK

# Without any OpenGL driver the CPU backends are measured, and the page says why there is no OpenGL.
env -i PATH=/usr/bin:/bin __EGL_VENDOR_LIBRARY_FILENAMES=/nonexistent "$kit/measure" "${small[@]}" -o without >/dev/null
grep -q 'OpenGL: not available' without/measure.md
grep -q '^| .scan. 1' without/measure.md

# GL_SELECT crashes in zink on lavapipe: the section fails, the others are measured, and the status is 1.
lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
if [ -f "$lavapipe" ]; then
  status=0
  env -i PATH=/usr/bin:/bin GALLIUM_DRIVER=zink LIBGL_ALWAYS_SOFTWARE=1 VK_ICD_FILENAMES="$lavapipe" \
    "$kit/measure" "${small[@]}" -o crashed >crashed.log || status=$?
  tail -n 1 crashed.log
  [ "$status" -eq 1 ] || { echo "a crashed section must end with status 1, not $status"; exit 1; }
  grep -q '^- doctor of select: crashes (signal' crashed/measure.md
  grep -q '^| .compute. 1' crashed/measure.md
else
  echo "SKIPPED: no lavapipe, so no driver in which a backend crashes"
fi

status=0
env -i PATH=/usr/bin:/bin "$kit/measure" --largest 5 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "wrong usage must end with status 2, not $status"; exit 1; }
