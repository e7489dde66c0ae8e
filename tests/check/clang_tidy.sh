#!/usr/bin/env bash
# Runs clang-tidy on our own code:  tests/check/clang_tidy.sh changed|all
#   changed  files that differ from the parent commit, also in the working tree; a header through its own unit
#   all      every source that the build compiles, and the headers that it includes
# It configures build/tidy, where every source is a unit of its own, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-changed}
build=build/tidy
ours='/(geometry|mesh|deform|cpu_collision|gpu_collision|study|sim|app|tests|bench)/[^:]*\.hpp$'

compiled() { /usr/bin/python3 -c '
import json, os, sys
for entry in json.load(open(sys.argv[1] + "/compile_commands.json")):
    print(os.path.relpath(os.path.realpath(entry["file"])))' "$build" | sort -u; }

if [ "$mode" = changed ] && ! git rev-parse --verify --quiet HEAD^ >/dev/null; then
  echo "SKIPPED: a shallow clone has no parent commit to compare with; ./run check tidy checks all files"
  exit 77
fi

changed() { git diff --name-only --diff-filter=d HEAD^ -- '*.cpp' '*.hpp'; }

configure() {
  mkdir -p "$build"
  cmake --preset dev -B "$build" -DTROCAR_UNITY=OFF >"$build/log.txt" 2>&1 || { tail -n 30 "$build/log.txt" >&2; exit 1; }
}

units() {
  case "$mode" in
    all) compiled | grep -v "^$build/" ;;
    changed)
      changed | while read -r file; do
        case "$file" in
          *.hpp) echo "$build/tests/house/alone/${file//\//_}.cpp" ;;
          *) echo "$file" ;;
        esac
      done | sort -u | comm -12 - <(compiled)
      ;;
    *) echo "usage: tests/check/clang_tidy.sh changed|all" >&2 && exit 2 ;;
  esac
}

# Without the precompiled headers of GCC, which clang cannot read: every file includes what it needs.
without_precompiled() { /usr/bin/python3 -c '
import json, re, sys
entries = json.load(open(sys.argv[1] + "/compile_commands.json"))
for entry in entries:
    entry["command"] = re.sub(r"-Winvalid-pch|-include \S+cmake_pch\.hxx", "", entry["command"])
json.dump(entries, open(sys.argv[2] + "/compile_commands.json", "w"))' "$build" "$1"; }

database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
list=$database/list
configure
units >"$list"
without_precompiled "$database"
echo "clang-tidy on $(wc -l <"$list") files"
xargs --arg-file="$list" --no-run-if-empty -P "$(nproc)" -n 2 clang-tidy -p "$database" --quiet \
  --extra-arg=-Wno-unknown-warning-option --header-filter="$ours"
