#!/usr/bin/env bash
# Runs coverage-guided fuzzing with address and undefined-behaviour sanitizers: run_fuzz.sh [SECONDS [TARGET...]].
# Each target starts from its committed corpus; new inputs are kept in build/fuzz/found/TARGET. A crash saves its input in
# build/fuzz/crashes and the command fails.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-600}
[ $# -gt 0 ] && shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(mesh scene trajectory recording plan curriculum attempt igtl)

cmake --preset asan >/dev/null
cmake --build build/asan --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"
mkdir -p build/fuzz/crashes
failed=0
for target in "${targets[@]}"; do
  found=build/fuzz/found/$target
  mkdir -p "$found"
  corpora=("$found" "tests/fuzz/corpus/$target")
  [ "$target" = scene ] && corpora+=(data/scenes data/scenes/tasks)
  [ "$target" = curriculum ] && corpora+=(data/curricula)
  log=build/fuzz/$target.log
  # The readers free their memory when they refuse a file; VTK and HDF5 keep their own tables until the end.
  if ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 build/asan/tests/fuzz/"fuzz_$target" -max_total_time="$seconds" \
      -timeout=30 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 -artifact_prefix=build/fuzz/crashes/"$target"- \
      "${corpora[@]}" >"$log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, no crash"
  else
    echo "$target: crashed; see $log and build/fuzz/crashes" >&2
    failed=1
  fi
done
exit "$failed"
