// Defines the variants of `compute`, for the benchmark that compares them. make_compute_query of queries.hpp chooses
// the best.
#pragma once

#include "gpu_collision/queries.hpp"

namespace trocar {

struct ComputeTuning {
  bool cull_blocks = true;   // a first pass rejects blocks of faces by their boxes; off: all faces are tested at once
  bool timer_query = false;  // gpu_ms by the GPU's clock; off: 0
};

// Returns the best variant for the hardware in `info` (docs/results.md, "On a GPU").
ComputeTuning best_compute_tuning(const GlInfo& info);

std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, const ComputeTuning& tuning);

}  // namespace trocar
