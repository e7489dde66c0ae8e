#!/usr/bin/env bash
# installed.sh BUILD_FOLDER: installs the C++ library into a new folder, builds the examples against it with the installed
# package alone, and runs them. Prints what each one needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

/usr/bin/python3 tests/library/quoted.py docs/library.md

cmake --install "$build" --component library --prefix "$folder/trocar" >"$folder/install.log"
tail -n 1 "$folder/install.log"
if grep -rn '#include "' "$folder/trocar/include" | grep -v '"trocar/'; then
  echo "an installed header includes a file that is not below trocar/"
  exit 1
fi

flags=$(sed -n 's/^TROCAR_SANITIZE:STRING=\(..*\)/-fsanitize=\1/p' "$build/CMakeCache.txt")
cmake -S examples -B "$folder/examples" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/trocar" \
  -DCMAKE_CXX_COMPILER="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror $flags" >"$folder/configure.log" || { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder/examples" >"$folder/build.log" || { cat "$folder/build.log"; exit 1; }

# What a user builds with the package has no folder to search for libraries that it should not have.
tests/check/elf_scan.py --expect touch_query "$folder/examples"

# A query alone needs no VTK, HDF5, OpenGL or window; a session neither.
for program in touch_query press_tissue headless_session; do
  needs=$(ldd "$folder/examples/$program" | awk '{print $1}' | xargs -n 1 basename | sort | paste -sd ' ')
  echo "$program needs: $needs"
  if grep -qiE 'vtk|hdf5|libGL|libEGL|glfw|X11' <<<"$needs"; then exit 1; fi
done

"$folder/examples/touch_query" data/organs/liver.obj | tee "$folder/touched" | head -n 3
grep -qE '^[1-9][0-9]* of 20000 faces touched$' "$folder/touched"
"$folder/examples/press_tissue" | tee "$folder/pressed"
awk '/^depth/ {depth = $2; force = $5} END {exit !(depth > 8 && force > 0.05 && force < 20)}' "$folder/pressed"
"$folder/examples/headless_session" data/scenes/liver_and_stomach.toml 241 | tee "$folder/session"
grep -q '^241 frames, [1-9][0-9]* touched faces, 0 disagreements$' "$folder/session"
"$folder/examples/touch_query_on_gpu" || echo "(no OpenGL here)"

# A fault is one sentence, with status 2.
status=0
"$folder/examples/touch_query" /nonexistent.obj 2>"$folder/fault" || status=$?
cat "$folder/fault"
[ "$status" -eq 2 ] && [ "$(wc -l <"$folder/fault")" -eq 1 ]
