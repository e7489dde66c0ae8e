// Makes the touch queries that run on OpenGL:
//   `select`     the method of 1999: draws the organ in GL_SELECT mode, with the tool as the camera
//   `occlusion`  clips each face in a geometry shader; a samples-passed query counts the touched faces
//   `compute`    tests each face in a compute shader against the planes of all tools
#pragma once

#include <memory>

#include "geometry/touch.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

// Each function throws InputError "backend NAME: <the missing feature>" when the context cannot run its backend, and
// RunError when the driver refuses a shader or a framebuffer. The context must outlive the query and be current on the
// calling thread.
std::unique_ptr<TouchQuery> make_select_query(GlContext& context);     // compatibility profile 3.3, eight clip planes
std::unique_ptr<TouchQuery> make_occlusion_query(GlContext& context);  // OpenGL 3.3
std::unique_ptr<TouchQuery> make_compute_query(GlContext& context);    // OpenGL 4.5

}  // namespace trocar
