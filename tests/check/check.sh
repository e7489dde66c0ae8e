#!/usr/bin/env bash
# Runs the checks that are too long for every commit:  tests/check/check.sh [NAME...]     (./run check)
#   shell docs tidy   shellcheck on shell scripts; links and file names in documents; clang-tidy on every source
#   headers           every header compiles alone
#   units             every room compiles as one unit, so that names are unique within it
#   bench             the benchmarks compile
#   compilers         the golden hashes (tests/same_bits) with gcc and clang, unoptimised and as released
#   operation         the whole cholecystectomy by scripted trainees, at full resolution
#   mouse             tasks of two instruments, and the cholecystectomy, with events of mouse and keyboard in a window
#   web               the program for the browser: the rooms' tests in node, and the page with the program in Chromium
#   asan tsan         the whole suite built with the sanitizers (address and undefined; thread) and run
# Every check runs to its end, and the last lines list those with findings. suppressions_*.txt and excluded_*.txt
# beside this file list, with reasons, what a sanitizer must not report and which tests it cannot run.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
here=tests/check

scripts() {
  git ls-files | while read -r file; do
    case "$(head -c 64 -- "$file" | tr -d '\0' | head -n 1)" in '#!'*sh) echo "$file" ;; esac
  done
}

check_shell() { scripts | xargs shellcheck -x; }
check_docs() {
  local status=0
  "$here/docs_scan.py" || status=1
  "$here/api_scan.py"
  return "$status"
}
check_compilers() { tests/same_bits/other_compilers.sh; }
check_headers() { configure dev && cmake --build build/dev --target headers_compile_alone --parallel "$(nproc)"; }
check_units() {
  cmake --preset dev -B build/units -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 >build/units.log 2>&1 || { tail -n 30 build/units.log >&2; return 1; }
  cmake --build build/units --target trocar --parallel "$(nproc)"
}
check_bench() { configure bench && cmake --build build/bench --parallel "$(nproc)"; }
check_tidy() { "$here/clang_tidy.sh" all; }

configure() {  # PRESET
  cmake --preset "$1" >"build/$1.log" 2>&1 || { tail -n 30 "build/$1.log" >&2; return 1; }
}

# Prints the regular expression of CTest's tests in a file "NAME  # reason"; tests/CMakeLists.txt leaves out its cases of
# GoogleTest programs.
pattern_of() {  # FILE
  echo "^($(sed -nE 's/^([a-z0-9_]+[.][a-z0-9_]+)[[:space:]]*#.*/\1/p' "$1" | paste -sd '|'))\$"
}

suite() {  # PRESET
  local preset=$1
  configure "$preset" && nice cmake --build "build/$preset" --parallel "$(nproc)" || return 1
  local excluded
  excluded=$(pattern_of "$here/excluded_$preset.txt")
  echo "not run under $preset, with the reason:"
  grep -v '^#' "$here/excluded_$preset.txt"
  ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" -E "$excluded" \
    --output-junit "$PWD/build/$preset/tests.xml"
}

check_asan() {
  ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1" \
    LSAN_OPTIONS="suppressions=$PWD/$here/suppressions_lsan.txt:print_suppressions=0" \
    UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1" suite asan
}

# LLVM, under llvmpipe, holds more locks at once than the deadlock detector can count (64).
check_tsan() {
  TSAN_OPTIONS="halt_on_error=1:detect_deadlocks=0:suppressions=$PWD/$here/suppressions_tsan.txt" suite tsan
}

# Performs a task and checks the score: SCENE LEVEL SKILL SEED. The expert has 85 points or more, the clumsy one below 50.
performs() {
  local folder score
  folder=$(mktemp -d) || return 1
  build/dev/app/trocar perform "data/scenes/$1.toml" --level "$2" --as "$3" --seed "$4" -o "$folder/performed.h5" \
    >"$folder/log" 2>/dev/null
  score=$(sed -n "s/^score \([0-9]*\)[.0-9]* of 100.*/\1/p" "$folder/log")
  rm -r "$folder"
  echo "$1, level $2, $3, seed $4: ${score:-no} points"
  if [ "$3" = expert ]; then [ "${score:-0}" -ge 85 ]; else [ "${score:-100}" -lt 50 ]; fi
}

# Six to twelve minutes for each seed of the expert at the whole operation. At clip and cut, level 3, seed 3, closing jaws
# once tore off the artery.
check_operation() {
  configure dev && cmake --build build/dev --target trocar --parallel "$(nproc)" || return 1
  local status=0 skill seed
  performs tasks/clip_and_cut 3 expert 3 || status=1
  for skill in expert clumsy; do
    for seed in ${TROCAR_SEEDS:-1 2 3}; do
      performs procedures/cholecystectomy 1 "$skill" "$seed" || status=1
    done
  done
  return "$status"
}

# With software OpenGL the cholecystectomy takes a quarter of an hour. It is scored by real time.
check_mouse() {
  configure dev && cmake --build build/dev --target trocar_by_mouse --parallel "$(nproc)" || return 1
  local folder status=0 scene
  folder=$(mktemp -d) || return 1
  for scene in tasks/cut_band tasks/clip_and_cut procedures/cholecystectomy; do
    echo "$scene"
    xvfb-run -a -s '-screen 0 1280x800x24' build/dev/tests/mouse/trocar_by_mouse "data/scenes/$scene.toml" 1 "$folder" \
      --window || status=1
  done
  rm -r "$folder"
  return "$status"
}

check_web() {
  export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
  emcmake cmake -S . -B build/web -G Ninja -DCMAKE_BUILD_TYPE=Release -DTROCAR_WEB_TESTS=ON >build/web.log 2>&1 ||
    { tail -n 30 build/web.log >&2; return 1; }
  cmake --build build/web --parallel "$(nproc)" || return 1
  local status=0
  ctest --test-dir build/web --output-on-failure --parallel "$(nproc)" || status=1
  configure dev && cmake --build build/dev --target trocar --parallel "$(nproc)" &&
    web/make_folder.sh build/web/web out/web &&
    node tests/web/page_test.mjs out/web && node tests/web/folder_test.mjs out/web &&
    node tests/web/task_test.mjs out/web build/dev/app/trocar || status=1
  return "$status"
}

checks=("$@")
[ ${#checks[@]} -eq 0 ] && checks=(shell docs headers units bench tidy compilers operation mouse web asan tsan)
mkdir -p build
results=()
status=0
for check in "${checks[@]}"; do
  echo "== $check"
  case "$check" in
    shell) check_shell ;;
    docs) check_docs ;;
    headers) check_headers ;;
    units) check_units ;;
    bench) check_bench ;;
    tidy) check_tidy ;;
    compilers) check_compilers ;;
    operation) check_operation ;;
    mouse) check_mouse ;;
    web) check_web ;;
    asan) check_asan ;;
    tsan) check_tsan ;;
    *) echo "usage: ./run check [shell|docs|headers|units|bench|tidy|compilers|operation|mouse|web|asan|tsan]..." >&2 && exit 2 ;;
  esac
  found=$?
  if [ "$found" -eq 0 ]; then
    results+=("$check: nothing found")
  else
    results+=("$check: FOUND SOMETHING, see above")
    status=1
  fi
done
printf '%s\n' "${results[@]}"
exit "$status"
