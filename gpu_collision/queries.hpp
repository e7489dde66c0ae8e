// The touch query on OpenGL: `select` (GL_SELECT, the 1999 method itself), `occlusion` (geometry-shader clip behind a
// samples-passed query), `compute` (outcodes per vertex, AND per face, exact clip of survivors).
#pragma once

#include <memory>

#include "geometry/touch_query.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

// Each throws InputError "backend NAME: <the missing feature>" when the context cannot run it.
// The context must outlive the query and be current on the calling thread.
std::unique_ptr<TouchQuery> make_select_query(GlContext& context);
std::unique_ptr<TouchQuery> make_occlusion_query(GlContext& context);

enum class ReadBack {
  Immediate,  // the answer of this call; waits for the GPU
  Deferred,   // the answer of the previous call, none at the first; waits only if the GPU has not finished that call
};
std::unique_ptr<TouchQuery> make_compute_query(GlContext& context, ReadBack read_back = ReadBack::Immediate);

}  // namespace trocar
