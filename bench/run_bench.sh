#!/usr/bin/env bash
# Runs the benchmarks on this machine:  bench/run_bench.sh BUILD_FOLDER [options of trocar_bench]
# Uses the scanned liver and the recorded instrument of the shared test data if they are present.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: bench/run_bench.sh BUILD_FOLDER [options of trocar_bench]}
shift
data=${TROCAR_TEST_DATA:-../shared/data}
scene=()
if [ -f "$data/organs/openhelp/Liver.stl" ] && [[ " $* " != *" --mesh "* ]]; then
  scene=(--mesh "$data/organs/openhelp/Liver.stl" --trajectory "$data/trajectories/dvrk_classic.csv")
fi
out=$build/results
mkdir -p "$out"
"$build/bench/trocar_bench" --out "$out" "${scene[@]}" "$@"
echo "Written: $out/bench.txt, bench.json, sizes.svg, trees.svg"

# Tests the statements of the literature about trees, and measures solids: a minute each.
"$build/bench/trocar_tree_claims" "${scene[@]}" | tee "$out/tree_claims.txt"
if [ -d "$data/instruments" ]; then
  "$build/bench/trocar_solids" "$data/instruments" | tee "$out/solids.txt"
fi
"$build/bench/trocar_broad_phase" | tee "$out/broad_phase.txt"
"$build/bench/trocar_planar_growth" | tee "$out/planar_growth.txt"
"$build/bench/trocar_edge_structures" | tee "$out/edge_structures.txt"
"$build/bench/trocar_proxy_meshes" | tee "$out/proxy_meshes.txt"
"$build/bench/trocar_igtl_latency" | tee "$out/igtl_latency.txt"

# Measures frames in which faces change, and the growth of such a change with the number of faces.
"$build/bench/trocar_cut_frames" | tee "$out/cut_frames.txt"
"$build/bench/trocar_change_growth" | tee "$out/change_growth.txt"

# Measures the cost of a spring of the tissue, against Bullet's soft body: about a minute.
"$build/bench/trocar_soft_body" --out "$out"
echo "Written: $out/soft_body.txt, soft_body.csv, soft_body_cost.svg"

# Measures how long a beam takes to rest within 2 % of theory, against Bullet's soft bodies: about ten minutes.
"$build/bench/trocar_beam_settling" | tee "$out/beam_settling.txt"

# Runs the long test of agreement, about ten minutes. Parts 1 and 4 run only with the shared test data.
"$build/bench/trocar_agreement" "${scene[@]}" | tee "$out/agreement.txt"
