#!/usr/bin/env bash
# Tests the golden hashes with other compilers and optimisation levels than the suite's:
#   tests/same_bits/other_compilers.sh [--rooms] [COMPILER:FLAGS...]     (./run check compilers)
# Builds the golden program for each, runs it with every kind of kernel, and prints a table. --rooms: only elementary
# functions, tissue and queries, which builds in a minute; otherwise also performed tasks and scores.
# Default: gcc and clang, each with -O0 and with the flags of a release.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

program=same_bits_alone
[ "${1:-}" = --rooms ] && program=same_bits_of_rooms && shift
builds=("$@")
[ ${#builds[@]} -eq 0 ] && builds=("g++:-O0" "g++:-O3 -DNDEBUG" "clang++:-O0" "clang++:-O3 -DNDEBUG")
status=0
table=()
for build in "${builds[@]}"; do
  compiler=${build%%:*} flags=${build#*:}
  if ! command -v "$compiler" >/dev/null; then
    table+=("$(printf '%-8s %-14s SKIPPED: not installed' "$compiler" "$flags")")
    continue
  fi
  folder=build/same_bits/${compiler//+/x}${flags// /_}
  mkdir -p "$folder"
  # GCC 12 at -O0 does not compile Eigen after a precompiled header with intrinsics.
  if ! cmake -G Ninja -S . -B "$folder" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS="$flags" \
      -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
      >"$folder/log.txt" 2>&1 ||
    ! nice cmake --build "$folder" --parallel "$(nproc)" --target "$program" >>"$folder/log.txt" 2>&1; then
    tail -n 20 "$folder/log.txt" >&2
    table+=("$(printf '%-8s %-14s DOES NOT BUILD' "$compiler" "$flags")")
    status=1
    continue
  fi
  for kernels in plain avx2 avx512; do
    if TROCAR_INSTRUCTIONS=$kernels "$folder/tests/same_bits/$program" \
      >"$folder/$kernels.txt" 2>&1; then verdict=agrees; else verdict=DIFFERS status=1; fi
    grep -q SKIPPED "$folder/$kernels.txt" && verdict="SKIPPED: this processor has none"
    sum=$(grep 'golden hash' "$folder/$kernels.txt" | sort | md5sum | cut -c 1-12)
    table+=("$(printf '%-8s %-14s %-7s %s   all hashes: %s' "$compiler" "$flags" "$kernels" "$verdict" "$sum")")
  done
done
printf '%s\n' "${table[@]}"
exit "$status"
