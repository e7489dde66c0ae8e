// The variants of `compute`, for the benchmark that compares them; make_compute_query of queries.hpp picks the best.
#pragma once

#include "gpu_collision/queries.hpp"

namespace trocar {

struct ComputeTuning {
  bool cull_blocks = true;  // a first pass drops blocks of faces by their boxes; off: every face is tested at once
  bool persistent_upload = true;  // positions through a mapped ring; off: glBufferSubData
};

// What measured best on the kind of hardware that `info` names.
ComputeTuning best_compute_tuning(const GlInfo& info);

std::unique_ptr<GpuTouchQuery> make_compute_query(GlContext& context, ReadBack read_back, const ComputeTuning& tuning);

}  // namespace trocar
