// The variants of `compute`, for the benchmark that compares them; make_compute_query of queries.hpp picks the best.
#pragma once

#include "gpu_collision/queries.hpp"

namespace trocar {

struct ComputeTuning {
  bool cull_blocks = true;  // a first pass drops blocks of faces by their boxes; off: all faces are tested at once
  bool clip_on_gpu = true;  // off: faces that only a clip can decide go to the host
  bool persistent_upload = true;  // positions through a mapped ring; off: glBufferSubData
  unsigned upload_parts = 1;      // of a mapped upload, each sent while the next is copied
  bool timer_query = true;        // gpu_ms by the GPU's clock; off: by the host's, around the dispatches
};

// What suits the kind of hardware that `info` names: software measured, GPUs by reasoning.
ComputeTuning best_compute_tuning(const GlInfo& info);

std::unique_ptr<GpuTouchQuery> make_compute_query(GlContext& context, ReadBack read_back, const ComputeTuning& tuning);

}  // namespace trocar
